"""The health of a whole run, read from its metrics.jsonl.

    report = check_run(RunFolder("runs/tiny").history())

Any run folder will do: the columns it knows are those of health_rules.py, and it says which of them were missing. Every
other number is searched for NaN and infinities. A bound counts as broken when the median of the last 20 values is outside
(a spike that passed is not sickness; NaN is, wherever it stands). A drift counts when it has not been undone: the median
of the last 20 values is still on the far side.
"""

import math
from collections.abc import Mapping
from statistics import median

from aegir.health.monitor import Finding, HealthMonitor, HealthReport, expected, judge, moved
from aegir.health.rules import RULES, Rule
from aegir.observe.drift_watch import Drift
from aegir.run_folder import RunHistory

LAST = 20
ALWAYS = ("step", "time")

Stream = list[tuple[int, float]]


def check_run(
    history: RunHistory, rules: Mapping[str, Rule] = RULES, mean_steps: float = 100_000
) -> HealthReport:
    """All findings about a run; a run without any step is reported as unwell."""
    if not history.steps:
        nothing = Finding("step", "unwell", "the run recorded no step")
        return HealthReport((nothing,), history.notes)
    names = dict.fromkeys(name for row in history.steps for name in row if name not in ALWAYS)
    findings = []
    for name in dict.fromkeys((*rules, *names)):
        stream = _numbers(history.column(name))
        if stream:
            findings.append(_judge_stream(name, stream, rules.get(name) or Rule(name)))
        elif name in rules:
            findings.append(Finding(name, "unchecked", f"{name} was not recorded"))
    drifts = _lasting_drifts(history, rules, mean_steps)
    return HealthReport((*findings, *drifts), history.notes)


def _numbers(column: list[tuple[int, object]]) -> Stream:
    """Numbers, and the numbers in lists; text and booleans are left out."""
    found: Stream = []
    for step, value in column:
        parts = value if isinstance(value, list) else [value]
        found += [
            (step, float(part))
            for part in parts
            if isinstance(part, int | float) and not isinstance(part, bool)
        ]
    return found


def _judge_stream(name: str, stream: Stream, rule: Rule) -> Finding:
    wrong = [(step, value) for step, value in stream if not math.isfinite(value)]
    if wrong:
        step, value = wrong[0]
        sentence = f"{name} was {value} at step {step}, and not finite {len(wrong)} times in all"
        return Finding(name, "unwell", sentence, value, step)
    level = median(value for _, value in stream[-LAST:])
    last = stream[-1][0]
    if rule.broken_by(level):
        outside = sum(rule.broken_by(value) for _, value in stream)
        advice = f" ({rule.advice})" if rule.advice else ""
        sentence = (
            f"{name} was {level:.4g} at the end, and outside {outside} of {len(stream)} times; "
            f"expected {expected(rule)}{advice}"
        )
        return Finding(name, "unwell", sentence, level, last)
    return judge(name, level, rule, last)


def _lasting_drifts(
    history: RunHistory, rules: Mapping[str, Rule], mean_steps: float
) -> list[Finding]:
    monitor = HealthMonitor(mean_steps, rules=rules)
    latest: dict[str, tuple[int, Drift]] = {}
    for row in history.steps:
        for name, drift in monitor.follow(row).items():
            latest[name] = (row["step"], drift)
    found = []
    for name, (step, drift) in latest.items():
        level = median(value for _, value in _numbers(history.column(name))[-LAST:])
        halfway = (drift.before + drift.now) / 2
        if (level > halfway) == (drift.now > halfway):
            found.append(moved(name, drift, rules[name], step))
    return found
