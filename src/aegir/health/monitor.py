"""Is training well? One report per update, one for a whole run, and a stop when something is sick.

    monitor = HealthMonitor()
    for step in range(steps):
        ...
        figures = {**measure_rewards(rewards, groups), **measure_advantages(advantages),
                   **measure_ratios(new - old, advantages)}
        run.record(step, **figures)                     # `aegir runs health RUN` reads these columns later
        monitor.observe(step, figures).raise_if_unwell()

Three kinds of findings
  - **bounds** (health_rules.py): NaN and infinities anywhere, and figures no healthy run shows;
  - **drift** (drift_watch.py): a figure that changed for the worse, tested sequentially. Over *all* watched columns
    together a settled run raises a false alarm at most once in `mean_steps` steps on average;
  - **unchecked**: columns that were not given, so that silence is not taken for health.

A column is watched for drift after its first `settle` values: figures move at the start of every run.
"""

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np

from aegir.errors import CheckFailed, UsageError
from aegir.health.measures import measure_advantages as measure_advantages
from aegir.health.measures import measure_entropy as measure_entropy
from aegir.health.measures import measure_predictions as measure_predictions
from aegir.health.measures import measure_ratios as measure_ratios
from aegir.health.measures import measure_representation as measure_representation
from aegir.health.measures import measure_rewards as measure_rewards
from aegir.health.measures import measure_routing as measure_routing
from aegir.health.rules import RULES, Rule
from aegir.observe.drift_watch import Drift, DriftWatch
from aegir.observe.saved_state import check_state
from aegir.seeding import Seeds


@dataclass(frozen=True, slots=True)
class Finding:
    """What one check of one column found."""

    column: str
    verdict: Literal["well", "unwell", "unchecked"]
    sentence: str
    value: float | None = None
    step: int | None = None


class Unwell(CheckFailed):
    """Training should stop; `report` has all findings."""

    def __init__(self, report: "HealthReport") -> None:
        super().__init__("; ".join(one.sentence for one in report.unwell))
        self.report = report


@dataclass(frozen=True, slots=True)
class HealthReport:
    """All findings; `well` when none of them is unwell."""

    findings: tuple[Finding, ...]
    notes: tuple[str, ...] = ()

    @property
    def unwell(self) -> tuple[Finding, ...]:
        return tuple(one for one in self.findings if one.verdict == "unwell")

    @property
    def unchecked(self) -> tuple[str, ...]:
        """Columns nothing is known about."""
        return tuple(one.column for one in self.findings if one.verdict == "unchecked")

    @property
    def well(self) -> bool:
        return not self.unwell

    def raise_if_unwell(self) -> None:
        """Raise `Unwell` with a sentence per sick column."""
        if not self.well:
            raise Unwell(self)

    def as_dict(self) -> dict[str, Any]:
        """One JSON-ready object; a value that is NaN or infinite is named in text."""
        findings = [asdict(one) for one in self.findings]
        for one in findings:
            if one["value"] is not None and not math.isfinite(one["value"]):
                one["value"] = str(one["value"])
        return {"well": self.well, "findings": findings, "notes": list(self.notes)}


def check(
    figures: Mapping[str, Any], rules: Mapping[str, Rule] = RULES, step: int | None = None
) -> HealthReport:
    """Hold one set of figures against the rules; other numbers, also in arrays, are checked for NaN and infinities."""
    findings = []
    for column in dict.fromkeys((*rules, *figures)):
        rule = rules.get(column) or Rule(column)
        value = _worst(figures.get(column), rule)
        if value is not None:
            findings.append(judge(column, value, rule, step))
        elif column in rules:
            findings.append(Finding(column, "unchecked", f"{column} was not given", step=step))
    return HealthReport(tuple(findings))


def _worst(value: Any, rule: Rule) -> float | None:
    """The number; of a list or an array the first that is not finite, or is out of bounds, or the last."""
    if hasattr(value, "detach"):
        value = value.detach().cpu()  # of torch, perhaps with a gradient or on another device
    number = as_number(value)
    if number is not None or value is None or isinstance(value, str | bytes | Mapping):
        return number
    try:
        many = np.asarray(value, np.float64).ravel()
    except (TypeError, ValueError, RuntimeError):
        return None
    for wrong in (~np.isfinite(many), (many < rule.low) | (many > rule.high)):
        if wrong.any():
            return float(many[wrong][0])
    return float(many[-1]) if many.size else None


def as_number(value: Any) -> float | None:
    """Anything with one number in it, also of numpy or torch; None for text, lists and nothing."""
    if value is None or isinstance(value, str | bytes | list | tuple | Mapping):
        return None
    try:
        return float(value)
    except (TypeError, ValueError, RuntimeError):  # torch raises the last one for several numbers
        return None


def judge(column: str, value: float, rule: Rule, step: int | None = None) -> Finding:
    """One value against one rule."""
    where = "" if step is None else f" at step {step}"
    if not math.isfinite(value):
        sentence = f"{column} was {value}{where}; expected a finite number"
        return Finding(column, "unwell", _advised(sentence, rule), value, step)
    if rule.broken_by(value):
        sentence = f"{column} was {value:.4g}{where}; expected {expected(rule)}"
        return Finding(column, "unwell", _advised(sentence, rule), value, step)
    return Finding(column, "well", f"{column} was {value:.4g}{where}", value, step)


def expected(rule: Rule) -> str:
    """The bounds in words."""
    if math.isinf(rule.low) and math.isinf(rule.high):
        return "finite"
    if math.isinf(rule.high):
        return f"at least {rule.low:g}"
    if math.isinf(rule.low):
        return f"at most {rule.high:g}"
    return f"{rule.low:g} to {rule.high:g}"


def moved(column: str, drift: Drift, rule: Rule, step: int) -> Finding:
    """A drift as a finding."""
    sentence = f"{column} moved from about {drift.before:.4g} to {drift.now:.4g} by step {step}"
    return Finding(column, "unwell", _advised(sentence, rule), drift.now, step)


def _advised(sentence: str, rule: Rule) -> str:
    return f"{sentence} ({rule.advice})" if rule.advice else sentence


class HealthMonitor:
    """Follows the figures of a run: bounds at every step, drift over time."""

    def __init__(
        self,
        mean_steps: float = 100_000,
        *,
        settle: int = 50,
        rules: Mapping[str, Rule] = RULES,
        seed: int = 0,
    ) -> None:
        if settle < 0:
            raise UsageError(f"settle is {settle}; expected 0 values or more")
        self.settle, self.rules = settle, dict(rules)
        watched = {name: rule.drift for name, rule in rules.items() if rule.drift}
        # An alarm of any of k watches at k A implies that their mean reached A: together they keep the rate.
        self.watches = {
            name: DriftWatch(
                mean_steps * len(watched), drift, seed=Seeds(seed).derive("health", name)
            )
            for name, drift in watched.items()
        }
        self._seen = dict.fromkeys(watched, 0)
        self._checks, self._unwell = 0, 0

    def observe(self, step: int, figures: Mapping[str, Any]) -> HealthReport:
        """The report for one step."""
        report = check(figures, self.rules, step)
        drifts = [
            moved(name, drift, self.rules[name], step)
            for name, drift in self.follow(figures).items()
        ]
        report = HealthReport((*report.findings, *drifts))
        self._checks += 1
        self._unwell += not report.well
        return report

    def follow(self, figures: Mapping[str, Any]) -> dict[str, Drift]:
        """Feed the drift watches; the columns that moved just now."""
        found = {}
        for name, watch in self.watches.items():
            value = as_number(figures.get(name))
            if value is None or not math.isfinite(value):
                continue
            self._seen[name] += 1
            if self._seen[name] > self.settle and (drift := watch.update(value)):
                found[name] = drift
        return found

    def state_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        watches = {name: one.state_dict() for name, one in self.watches.items()}
        counts = [self._checks, self._unwell]
        return {"watches": watches, "seen": dict(self._seen), "counts": counts}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Continue exactly where the saved monitor stood."""
        check_state(state, "the saved monitor", "watches", "seen", "counts")
        if set(state["watches"]) != set(self.watches):
            raise UsageError(
                "the saved monitor watches other columns than this one; give both the same rules"
            )
        for name, saved in state["watches"].items():
            self.watches[name].load_state_dict(saved)
        self._seen = dict(state["seen"])
        self._checks, self._unwell = state["counts"]

    def metrics(self) -> dict[str, float]:
        """How often it looked, how often something was unwell, and the alarms of each column."""
        alarms = {f"health/drifts/{name}": one.alarms for name, one in self.watches.items()}
        return {"health/checks": self._checks, "health/unwell": self._unwell, **alarms}
