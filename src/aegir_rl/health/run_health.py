"""The health of a whole run, read from its metrics.jsonl.

    report = check_run(RunFolder("runs/tiny").history())

Any run folder will do: columns are matched to the rules by name, alias or suffix (rules.py), and the report says which rules
had no column. Every other number is checked for NaN and infinities. A bound counts as broken when the median of the last
20 values is outside (a spike that passed is no fault; NaN is, at any step), a drift when it has not been undone: the
median of the last 20 values is still on the far side. As in a live run (monitor.py), what a mastered reward explains is a
warning.
"""

import math
from collections.abc import Collection, Mapping
from dataclasses import replace
from statistics import median

from aegir_rl.base.run_folder import RunHistory
from aegir_rl.health.monitor import MASTERED, HealthMonitor
from aegir_rl.health.report import (
    HealthFinding,
    HealthReport,
    advise,
    as_float,
    judge,
    list_unchecked,
)
from aegir_rl.health.rules import RULES, HealthRule, MetricRule, match_rule

LAST = 20
ALWAYS = ("step", "time")

Stream = list[tuple[int, float]]


def check_run(
    history: RunHistory, rules: Mapping[str, HealthRule] = RULES, mean_steps: float = 100_000
) -> HealthReport:
    """All findings about a run; a run without any step, or without any column that has a rule, is unwell."""
    if not history.steps:
        nothing = HealthFinding("step", "unwell", "the run recorded no step")
        return HealthReport((nothing,), history.notes)
    names = dict.fromkeys(name for row in history.steps for name in row if name not in ALWAYS)
    matches = {
        name: match_rule(name, rules, names) or MetricRule.without_rule(name) for name in names
    }
    streams = {
        name: _read_numbers(history.column(name), match.factor) for name, match in matches.items()
    }
    monitor = HealthMonitor(mean_steps, rules=rules)
    ruled = {name for name, match in matches.items() if match.column is not None}
    drifts = _find_lasting_drifts(history, monitor, streams, ruled)
    findings = []
    for name, stream in streams.items():
        if not stream:
            continue
        finding = _judge_stream(name, stream, matches[name])
        if (
            finding.verdict == "unwell"
            and matches[name].rule.seen_in_mastery
            and monitor.mastered
            and math.isfinite(finding.value or 0.0)
        ):
            sentence = f"{finding.sentence}; {MASTERED}"
            finding = replace(finding, verdict="warning", sentence=sentence)
        findings.append(finding)
    unchecked = list_unchecked(findings, rules, "recorded")
    if len(unchecked) == len(rules):
        findings.append(_describe_nothing_checked(rules, names))
    return HealthReport((*findings, *drifts, *unchecked), history.notes)


def _describe_nothing_checked(rules: Collection[str], names: Collection[str]) -> HealthFinding:
    shown = ", ".join(list(names)[:5]) + (", …" if len(names) > 5 else "")
    sentence = (
        f"none of the {len(rules)} columns with a rule was recorded, so nothing was checked but NaN; "
        f"the run has {shown or 'only its steps'}, expected names such as {', '.join(list(rules)[:3])} "
        "(docs/health.md has all, and those of other programs)"
    )
    return HealthFinding("step", "unwell", sentence)


def _read_numbers(column: list[tuple[int, object]], factor: float) -> Stream:
    """Numbers, and the numbers in lists; text and booleans are left out."""
    stream: Stream = []
    for step, value in column:
        parts = value if isinstance(value, list) else [value]
        stream += [
            (step, factor * as_float(part))
            for part in parts
            if isinstance(part, int | float) and not isinstance(part, bool)
        ]
    return stream


def _judge_stream(name: str, stream: Stream, match: MetricRule) -> HealthFinding:
    wrong = [(step, value) for step, value in stream if not math.isfinite(value)]
    if wrong:
        step, value = wrong[0]
        sentence = (
            f"{match.label} was {value} at step {step}, and not finite {len(wrong)} times in all"
        )
        return HealthFinding(name, "unwell", sentence, value, step, match.column)
    level = _last_level(stream)
    finding = judge(name, level, match, stream[-1][0])
    if finding.verdict == "well":
        return finding
    outside = sum(match.rule.is_broken_by(value) for _, value in stream)
    sentence = (
        f"{match.label} was {level:.4g} at the end, and outside {outside} of {len(stream)} times; "
        f"expected {match.rule.describe_bounds()}"
    )
    return replace(finding, sentence=advise(sentence, match.rule))


def _find_lasting_drifts(
    history: RunHistory,
    monitor: HealthMonitor,
    streams: Mapping[str, Stream],
    ruled: Collection[str],
) -> list[HealthFinding]:
    """The last drift of each column with a rule, unless its level has returned since."""
    latest: dict[str, tuple[HealthFinding, float, float]] = {}
    for row in history.steps:
        figures = {name: value for name, value in row.items() if name in ruled}
        for finding in monitor.follow(row["step"], figures) if figures else ():
            if (
                finding.verdict == "unwell"
                and finding.before is not None
                and finding.value is not None
            ):
                latest[finding.column] = (finding, finding.before, finding.value)
    lasting = []
    for name, (finding, before, now) in latest.items():
        level, halfway = _last_level(streams[name]), (before + now) / 2
        if (level > halfway) == (now > halfway):
            lasting.append(finding)
    return lasting


def _last_level(stream: Stream) -> float:
    return median(value for _, value in stream[-LAST:])
