"""Reports on health: findings about columns, and the check of one set of metrics against the rules.

    report = check({"kl": 1.5, "loss": 0.3})
    report.raise_if_unwell()                            # Unwell: kl was 1.5; expected at most 1 (lower the …)

A check has no history: every broken bound is unwell. HealthMonitor (monitor.py) weighs the same findings over a run.
"""

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np

from aegir_rl.base.arrays import read_floats
from aegir_rl.base.errors import CheckFailed, UsageError
from aegir_rl.health.rules import RULES, HealthRule, MetricRule, match_rule

Verdict = Literal["well", "warning", "unwell", "unchecked"]


@dataclass(frozen=True, slots=True)
class HealthFinding:
    """The result of one check of one column."""

    column: str
    """As it was recorded."""
    verdict: Verdict
    sentence: str
    value: float | None = None
    step: int | None = None
    rule: str | None = None
    """The column of RULES it was held to; None for a check for NaN only."""
    before: float | None = None
    """Of a drift: the level before it; `value` is the level now."""


class Unwell(CheckFailed):
    """Training should stop; `report` has all findings."""

    def __init__(self, report: "HealthReport") -> None:
        super().__init__("; ".join(finding.sentence for finding in report.unwell))
        self.report = report


@dataclass(frozen=True, slots=True)
class HealthReport:
    """All findings; `well` when none of them is unwell."""

    findings: tuple[HealthFinding, ...]
    notes: tuple[str, ...] = ()

    def select(self, verdict: Verdict) -> tuple[HealthFinding, ...]:
        """The findings with this verdict."""
        return tuple(finding for finding in self.findings if finding.verdict == verdict)

    @property
    def unwell(self) -> tuple[HealthFinding, ...]:
        """What should stop the run."""
        return self.select("unwell")

    @property
    def warnings(self) -> tuple[HealthFinding, ...]:
        """What is worth a look and does not stop the run."""
        return self.select("warning")

    @property
    def unchecked(self) -> tuple[str, ...]:
        """Columns that were not given."""
        return tuple(finding.column for finding in self.select("unchecked"))

    @property
    def well(self) -> bool:
        return not self.unwell

    def raise_if_unwell(self) -> None:
        """Raise `Unwell` with a sentence per column that is unwell."""
        if not self.well:
            raise Unwell(self)

    def as_dict(self) -> dict[str, Any]:
        """One JSON-ready object; a value that is NaN or infinite becomes text."""
        findings = [asdict(finding) for finding in self.findings]
        for finding in findings:
            if finding["value"] is not None and not math.isfinite(finding["value"]):
                finding["value"] = str(finding["value"])
        return {"well": self.well, "findings": findings, "notes": list(self.notes)}


def check(
    figures: Mapping[str, Any], rules: Mapping[str, HealthRule] = RULES, step: int | None = None
) -> HealthReport:
    """Hold one set of metrics to the rules; columns without a rule are checked for NaN and infinities, also in arrays."""
    findings = [finding for finding, _, _ in judge_all(figures, rules, step)]
    return HealthReport((*findings, *list_unchecked(findings, rules, "given", step)))


def judge_all(
    figures: Mapping[str, Any], rules: Mapping[str, HealthRule], step: int | None
) -> Iterator[tuple[HealthFinding, MetricRule, float]]:
    """For every column with a number: the finding, the rule it was held to, and the value as the rule measures it."""
    for column, given in figures.items():
        match = match_rule(column, rules, figures) or MetricRule.without_rule(column)
        value = _read_worst(given, match)
        if value is not None:
            yield judge(column, value, match, step), match, value


def _read_worst(given: Any, match: MetricRule) -> float | None:
    """The value as the rule measures it; of an array the first not finite, else the first out of bounds, else the last."""
    if isinstance(given, int | float):
        return match.factor * as_float(given)
    if given is None or isinstance(given, str | bytes | Mapping):
        return None
    try:
        values = match.factor * read_floats(given, match.label).ravel()
    except UsageError:
        return None
    for wrong in (~np.isfinite(values), (values < match.rule.low) | (values > match.rule.high)):
        if wrong.any():
            return float(values[wrong][0])
    return float(values[-1]) if values.size else None


def as_float(number: float) -> float:
    """A float; an integer beyond the range of floats becomes infinite."""
    try:
        return float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf


def list_unchecked(
    findings: Iterable[HealthFinding],
    rules: Mapping[str, HealthRule],
    how: str,
    step: int | None = None,
) -> list[HealthFinding]:
    """A finding for each rule that no column was held to."""
    known = {finding.rule for finding in findings}
    return [
        HealthFinding(column, "unchecked", f"{column} was not {how}", step=step, rule=column)
        for column in rules
        if column not in known
    ]


def judge(column: str, value: float, match: MetricRule, step: int | None = None) -> HealthFinding:
    """One value against one rule."""
    where = "" if step is None else f" at step {step}"
    sentence = f"{match.label} was {value:.4g}{where}"
    if math.isfinite(value) and not match.rule.is_broken_by(value):
        return HealthFinding(column, "well", sentence, value, step, match.column)
    expected = match.rule.describe_bounds() if math.isfinite(value) else "a finite number"
    sentence = advise(f"{sentence}; expected {expected}", match.rule)
    return HealthFinding(column, "unwell", sentence, value, step, match.column)


def advise(sentence: str, rule: HealthRule) -> str:
    """The sentence with the advice of the rule."""
    return f"{sentence} ({rule.advice})" if rule.advice else sentence
