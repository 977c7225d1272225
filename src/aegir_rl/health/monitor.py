"""Is training healthy? One report per update, and a stop when something is wrong.

    monitor = HealthMonitor()
    for step in range(steps):
        ...
        metrics = {**measure_rewards(rewards, groups), **measure_advantages(advantages),
                   **measure_ratios(new - old, advantages, mask=mask)}
        run.record(step, **metrics)                     # `aegir runs health RUN` reads these columns later
        monitor.observe(step, metrics).raise_if_unwell()

What stops a run (verdict "unwell")
  - NaN and infinities in any column, at once;
  - a **bound** (rules.py) broken so many updates in a row that it is no chance: with n updates before the streak, b of
    them broken, chance is put at ((b + 1) / (n + 2)) per update, and the streak must be rarer than once in `mean_steps`
    steps over all columns. After 150 good updates that takes 3 in a row, after 20 good ones 5, at the start 22;
  - a **drift** (aegir_rl/observe/drift_watch.py): a sudden lasting change in the direction that is a fault, larger than the
    column usually moves and large enough to matter.
What is only reported (verdict "warning"): a bound broken for a shorter time; rewards nearly all equal because tasks are
still hard; and rewards, entropy or gradients that ended because the reward climbed to its top: learning is no fault.
What is not known ("unchecked"): columns that were not given, so that silence is not taken for health.

Promise: while every column is stationary (independent values of any distribution, or a normal AR(1) with a coefficient
up to 0.9) and breaks its bound independently with some probability, a run is stopped wrongly at most once in `mean_steps`
steps. For runs that learn the promise is measured, not proved: benchmarks/health.py. A column is watched for drift
after its first `settle` values: metrics move at the start of every run.
"""

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from aegir_rl.base.errors import UsageError, require
from aegir_rl.health.report import HealthFinding, HealthReport, advise, judge_all, list_unchecked
from aegir_rl.health.rules import RULES, HealthRule, MetricRule, match_rule
from aegir_rl.observe.drift_watch import MOST_STEPS, Drift, DriftWatch
from aegir_rl.observe.saved_state import (
    Reader,
    list_of,
    number_within,
    optional,
    read_count,
    read_flag,
    read_number,
    read_state,
    record_of,
    reject,
)

MASTERED = "a warning only: the reward climbed to its top"
CROWDED, NO_LONGER_CROWDED = 0.9, 0.7
"""Share of equal rewards, or of groups with equal rewards, from which a run may have mastered its tasks; and below which
it has not any more."""
MASTERY = 0.8
"""How far from its lowest to its highest the mean reward must have come."""
USUAL_STEPS = 4.0
"""The share and the mean reward may move by this many times their usual step; a larger one is a jump."""
LEAST_CLIMB = 5
"""Updates before a run can be said to have climbed."""


CLIMB_READERS: dict[str, Reader] = {
    **dict.fromkeys(("mean", "crowding"), read_number),
    **dict.fromkeys(("mean_squares", "crowding_squares"), number_within(0, math.inf)),
    **dict.fromkeys(("lowest", "highest", "top"), optional(read_number)),
    **dict.fromkeys(("climbed", "mastered"), read_flag),
    "updates": read_count,
}


class HealthMonitor:
    """Follows the metrics of a run: bounds at every step, drift over time."""

    def __init__(
        self,
        mean_steps: float = 100_000,
        *,
        settle: int = 20,
        rules: Mapping[str, HealthRule] = RULES,
    ) -> None:
        require(settle >= 0, "settle", settle, "0 values or more")
        self._watched = sum(rule.drift is not None for rule in rules.values())
        most = MOST_STEPS // 2 // max(self._watched, 1)
        if not 1 < mean_steps <= most:
            raise UsageError(
                f"mean_steps is {mean_steps:g}; expected more than 1 and at most {most:,} steps "
                "between false alarms"
            )
        self.mean_steps, self.settle, self.rules = mean_steps, settle, dict(rules)
        self._columns: dict[str, _Column] = {}
        self._climb = _Climb()
        self._checks, self._unwell, self._warnings = 0, 0, 0

    def observe(self, step: int, figures: Mapping[str, Any]) -> HealthReport:
        """The report for one step."""
        findings = self.follow(step, figures)
        report = HealthReport((*findings, *list_unchecked(findings, self.rules, "given", step)))
        self._checks += 1
        self._unwell += not report.well
        self._warnings += bool(report.warnings)
        return report

    def follow(self, step: int, figures: Mapping[str, Any]) -> list[HealthFinding]:
        """The findings for one step, without what was not given: for reading many steps again, without counting them."""
        judged = list(judge_all(figures, self.rules, step))
        self._climb.update({match.column: value for _, match, value in judged})
        findings: list[HealthFinding] = []
        for finding, match, value in judged:
            if match.column is None or not math.isfinite(value):
                findings.append(finding)
                continue
            column = self._columns.get(finding.column) or self._make_column(match.rule)
            self._columns[finding.column] = column
            findings.append(self._weigh(finding, match.rule, column))
            if drift := column.update_drift(value, self.settle):
                findings.append(_describe_drift(finding.column, drift, match, step))
        return findings

    @property
    def mastered(self) -> bool:
        """Whether rewards climbed until nearly all were equal."""
        return self._climb.mastered

    def _weigh(self, finding: HealthFinding, rule: HealthRule, column: "_Column") -> HealthFinding:
        """A broken bound is a warning until it lasts too long for chance, and while it is a sign of learning."""
        column.update_streak(finding.verdict == "unwell")
        if finding.verdict != "unwell" or rule.stops_at_once:
            return finding
        needed = column.compute_needed(self.mean_steps * len(self.rules))
        if rule.seen_in_mastery and self.mastered:
            reason = MASTERED
        elif rule.seen_in_hard_starts and not column.was_kept:
            reason = "a warning only: it was so from the start"
        elif column.streak < needed:
            reason = f"update {column.streak} in a row, stops at {needed}"
        else:
            return finding
        return replace(finding, verdict="warning", sentence=f"{finding.sentence}; {reason}")

    def _make_column(self, rule: HealthRule) -> "_Column":
        if rule.drift is None:
            return _Column(None)
        watch = DriftWatch(
            self.mean_steps * self._watched,
            rule.drift,
            least_change=rule.least_change,
            least_factor=rule.least_factor,
            least_share=rule.least_share,
        )
        return _Column(watch)

    def state_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        return {
            "columns": {name: column.state_dict() for name, column in self._columns.items()},
            "climb": asdict(self._climb),
            "counts": [self._checks, self._unwell, self._warnings],
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Continue exactly where the saved monitor stood."""
        readers = {
            "columns": self._read_columns,
            "climb": record_of(CLIMB_READERS),
            "counts": list_of(read_count, 3),
        }
        saved = read_state(state, "the saved monitor", readers)
        self._columns, self._climb = saved["columns"], _Climb(**saved["climb"])
        self._checks, self._unwell, self._warnings = saved["counts"]

    def _read_columns(self, value: object, where: str) -> dict[str, "_Column"]:
        if not isinstance(value, Mapping) or not all(isinstance(name, str) for name in value):
            reject(value, where, "a mapping of columns")
        columns = {}
        for name, state in value.items():
            match = match_rule(name, self.rules)
            if match is None:
                raise UsageError(
                    f"the saved monitor has column {name!r}, for which this one has no rule; "
                    "give both the same rules"
                )
            columns[name] = self._make_column(match.rule)
            columns[name].load_state_dict(state, f"{name!r} in {where}")
        return columns

    def metrics(self) -> dict[str, float]:
        """How often it looked, how often something was unwell or worth a warning, and the drifts of each column."""
        drifts = {
            f"health/drifts/{name}": column.watch.alarms
            for name, column in self._columns.items()
            if column.watch
        }
        counts = {"health/checks": self._checks, "health/unwell": self._unwell}
        return {**counts, "health/warnings": self._warnings, **drifts}


def _describe_drift(column: str, drift: Drift, match: MetricRule, step: int) -> HealthFinding:
    sentence = (
        f"{match.label} moved from about {drift.before:.4g} to {drift.now:.4g} by step {step}"
    )
    sentence = advise(sentence, match.rule)
    return HealthFinding(column, "unwell", sentence, drift.now, step, match.column, drift.before)


class _Column:
    """What is remembered of one column: how often its bound was broken, and its drift watch."""

    def __init__(self, watch: DriftWatch | None) -> None:
        self.watch = watch
        self.seen = 0
        self.streak = 0
        self._before, self._broken_before = 0, 0

    @property
    def was_kept(self) -> bool:
        """Whether the bound was kept at least once."""
        return self._before > self._broken_before

    def update_streak(self, broken: bool) -> None:
        if broken:
            self.streak += 1
        else:
            self._before += self.streak + 1
            self._broken_before += self.streak
            self.streak = 0

    def compute_needed(self, mean_steps: float) -> int:
        """How long a streak must be to be rarer than once in `mean_steps`: 300 updates kept, 3e6 steps: 3."""
        chance = (self._broken_before + 1) / (self._before + 2)
        return max(1, math.ceil(math.log(mean_steps) / -math.log(chance)))

    def update_drift(self, value: float, settle: int) -> Drift | None:
        self.seen += 1
        if self.watch is None or self.seen <= settle:
            return None
        return self.watch.update(value)

    def state_dict(self) -> dict[str, Any]:
        watch = self.watch.state_dict() if self.watch else None
        counts = [self.seen, self.streak, self._before, self._broken_before]
        return {"watch": watch, "counts": counts}

    def load_state_dict(self, state: object, where: str) -> None:
        saved = read_state(
            state, where, {"watch": lambda watch, _: watch, "counts": list_of(read_count, 4)}
        )
        if self.watch:
            self.watch.load_state_dict(saved["watch"])
        self.seen, self.streak, self._before, self._broken_before = saved["counts"]
        if self._broken_before > self._before:
            reject(saved["counts"], f"'counts' of {where}", "no more broken bounds than checks")


@dataclass(slots=True)
class _Climb:
    """Tells rewards that climbed until nearly all are equal (mastery) from rewards that jumped there (a broken rater)."""

    updates: int = 0
    """Updates before rewards were nearly all equal; squares are summed over these."""
    mean: float = 0.0
    mean_squares: float = 0.0
    """The last mean reward, and the sum of its squared steps from one update to the next."""
    crowding: float = 0.0
    crowding_squares: float = 0.0
    """The same of the share of rewards at one end, or of groups with equal rewards."""
    lowest: float | None = None
    highest: float | None = None
    """Mean rewards."""
    top: float | None = None
    """The largest reward."""
    climbed: bool = False
    mastered: bool = False

    def update(self, figures: Mapping[str | None, float]) -> None:
        mean, top = figures.get("reward/mean"), figures.get("reward/max")
        if mean is None or not math.isfinite(mean):
            return
        mean, top = _bound(mean), _bound(mean if top is None else top)
        saturated = figures.get("reward/saturated", float(figures.get("reward/std") == 0))
        crowding = max(saturated, figures.get("dead_groups", 0.0))
        step, crowding_step = mean - self.mean, crowding - self.crowding
        if crowding < NO_LONGER_CROWDED or (crowding < CROWDED and not self.climbed):
            if self.updates:
                self.mean_squares += step**2
                self.crowding_squares += crowding_step**2
            self.updates, self.climbed = self.updates + 1, False
        elif self.crowding < CROWDED and not self.climbed:
            is_usual = self._is_usual(crowding_step, self.crowding_squares)
            self.climbed = self.updates >= LEAST_CLIMB and is_usual
        self.climbed = self.climbed and self._is_usual(step, self.mean_squares)
        self.mean, self.crowding = mean, crowding
        self.lowest = mean if self.lowest is None else min(self.lowest, mean)
        self.highest = mean if self.highest is None else max(self.highest, mean)
        self.top = top if self.top is None else max(self.top, top)
        # Equal rewards must be near the largest; groups of equal rewards may be solved or out of reach.
        goal = self.top if saturated >= NO_LONGER_CROWDED else self.highest
        self.mastered = self.climbed and mean - self.lowest >= MASTERY * (goal - self.lowest) > 0

    def _is_usual(self, step: float, squares: float) -> bool:
        return abs(step) <= USUAL_STEPS * math.sqrt(squares / max(self.updates - 1, 1))


def _bound(number: float) -> float:
    """Squares of larger numbers would overflow."""
    return min(max(number, -1e150), 1e150)
