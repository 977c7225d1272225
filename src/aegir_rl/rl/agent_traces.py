"""Whom did we wait for? The critical path through the recorded trace of an agent and its sub-agents.

    spans = read_spans(Path("traces.jsonl"))             # OpenTelemetry (OTLP in JSON), or traces of verifiers
    waits = find_waits(spans)
    waits.seconds                                        # {"agent": 1.0, "search": 4.0}: sums to the length
    Path("trace.svg").write_text(draw_waits(spans, waits))

A span has a begin, an end, and the span that it was started from. Going back from the end of a root: the child that ended
last, of those that ended before, is what the parent waited for; what lies between two such children is the parent's own
time. So every moment of the length belongs to one span. A span that ran beside it can be made faster without any gain.

Worked number: agent 0 to 6 s, search 1 to 5, lookup 1 to 3, both started by the agent: the agent waits 4 s for search,
works 1 + 1 s itself, and not a moment for lookup: length 6, work 6 + 4 + 2 - 4 (covered by children) = 8, parallelism 8 / 6.

Limits: a child that outlives its parent counts up to the parent's end. Clocks are taken as they are: spans of several
machines are as good as their clocks. A file of more than `MOST_SPANS` spans is refused.
"""

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aegir_rl.base.errors import UsageError, reason_of
from aegir_rl.base.text import amount

MOST_SPANS = 200_000
MOST_BYTES = 1 << 30
MOST_DRAWN = 60
"""Rows of a picture; of more spans the longest are drawn."""
COST_NAMES = ("gen_ai.usage.cost", "llm.usage.cost", "cost")
"""Attributes of OpenTelemetry spans that hold what a call cost."""


@dataclass(frozen=True, slots=True)
class Span:
    """Something that took time, in seconds of one clock."""

    id: str
    name: str
    begin: float
    end: float
    parent: str | None = None
    cost: float = 0.0


@dataclass(frozen=True, slots=True)
class Wait:
    """A stretch of the critical path."""

    span: str
    begin: float
    end: float


@dataclass(frozen=True, slots=True)
class Waits:
    """The critical path of one trace, or of several after each other."""

    path: tuple[Wait, ...]
    """In order of time."""
    seconds: Mapping[str, float]
    """By name of span, longest first."""
    length: float
    work: float
    """The own time of all spans: without what their children cover."""
    cost: float
    costs: Mapping[str, float]
    """By name of span, as the spans state them."""

    @property
    def parallelism(self) -> float | None:
        """Work over length; None if the length is 0."""
        return self.work / self.length if self.length > 0 else None

    def describe(self) -> str:
        """A line per name: seconds waited for, their share, cost."""
        lines = [
            f"{name}: {seconds:.3g} s, {seconds / self.length:.0%} of the wait, cost {self.costs.get(name, 0):.4g}"
            for name, seconds in self.seconds.items()
            if seconds > 0
        ]
        return "\n".join(
            [f"{self.length:.3g} s in all, {self.work:.3g} s of work, cost {self.cost:.4g}", *lines]
        )


def find_waits(spans: Iterable[Span]) -> Waits:
    """The critical path; roots that do not overlap follow each other, of those that do the last to end counts."""
    by_id = _check(spans)
    children: dict[str | None, list[Span]] = {}
    for span in by_id.values():
        children.setdefault(span.parent if span.parent in by_id else None, []).append(span)
    for each in children.values():
        each.sort(key=lambda span: span.end)
    _refuse_circles(by_id, children)
    path: list[Wait] = []
    first, last = min(s.begin for s in by_id.values()), max(s.end for s in by_id.values())
    stack: list[tuple[str | None, float, float]] = [(None, first, last)]
    while stack:
        name, begin, end = stack.pop()
        at = end
        for child in reversed(children.get(name, [])):
            until = min(child.end, end)
            if until > at or child.begin >= at or until <= begin:
                continue
            if name is not None and at > until:
                path.append(Wait(name, until, at))
            since = max(child.begin, begin)
            stack.append((child.id, since, until))
            at = since
        if name is not None and at > begin:
            path.append(Wait(name, begin, at))
    path.sort(key=lambda wait: wait.begin)
    return _sum_up(by_id, children, path)


def _sum_up(
    by_id: Mapping[str, Span], children: Mapping[str | None, list[Span]], path: list[Wait]
) -> Waits:
    seconds = dict.fromkeys((span.name for span in by_id.values()), 0.0)
    for wait in path:
        seconds[by_id[wait.span].name] += wait.end - wait.begin
    costs = dict.fromkeys(seconds, 0.0)
    work = 0.0
    for span in by_id.values():
        costs[span.name] += span.cost
        work += span.end - span.begin - _covered(span, children.get(span.id, []))
    return Waits(
        path=tuple(path),
        seconds=dict(sorted(seconds.items(), key=lambda item: -item[1])),
        length=math.fsum(wait.end - wait.begin for wait in path),
        work=work,
        cost=math.fsum(costs.values()),
        costs=costs,
    )


def _covered(span: Span, children: Sequence[Span]) -> float:
    """How much of a span its children cover."""
    total, until = 0.0, span.begin
    for child in sorted(children, key=lambda each: each.begin):
        since, end = max(child.begin, until), min(child.end, span.end)
        if end > since:
            total += end - since
            until = end
    return total


def _check(spans: Iterable[Span]) -> dict[str, Span]:
    by_id: dict[str, Span] = {}
    for span in spans:
        if span.id in by_id:
            raise UsageError(f"two spans have the id {span.id!r}; expected ids that differ")
        if not (math.isfinite(span.begin) and span.begin <= span.end < math.inf):
            raise UsageError(
                f"span {span.name!r} goes from {span.begin} to {span.end}; expected an end that is not before the begin"
            )
        by_id[span.id] = span
    if not by_id:
        raise UsageError("there are no spans; expected at least one that has ended")
    return by_id


def _refuse_circles(by_id: Mapping[str, Span], children: Mapping[str | None, list[Span]]) -> None:
    reached = [span.id for span in children.get(None, [])]
    for name in reached:  # grows while it is read
        reached += [child.id for child in children.get(name, [])]
    if len(reached) < len(by_id):
        first = next(span for span in by_id.values() if span.id not in set(reached))
        raise UsageError(f"span {first.name!r} is among its own ancestors; expected a tree")


def read_spans(path: Path) -> list[Span]:
    """The spans of a file of OpenTelemetry (OTLP in JSON, one object or one a line) or of verifiers (`traces.jsonl`)."""
    try:
        if path.stat().st_size > MOST_BYTES:
            raise UsageError(f"{path} is larger than {MOST_BYTES >> 20} MB; split it")
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read {path}: {reason_of(error)}") from None
    spans: list[Span] = []
    for number, record in _records(text, path):
        try:
            spans += _spans_of(record, number)
        except (KeyError, TypeError, ValueError, AttributeError):
            raise UsageError(
                f"record {number} of {path} has no spans that can be read; expected OTLP in JSON or traces of verifiers"
            ) from None
        if len(spans) > MOST_SPANS:
            raise UsageError(f"{path} holds more than {MOST_SPANS:,} spans; split it")
    return list(_check(spans).values())


def _records(text: str, path: Path) -> list[tuple[int, dict[str, Any]]]:
    """The JSON objects of a file: one, or one a line."""
    try:
        found = [json.loads(text)]
    except (ValueError, RecursionError):
        try:
            found = [json.loads(line) for line in text.splitlines() if line.strip()]
        except (ValueError, RecursionError) as error:
            raise UsageError(f"{path} holds no JSON ({reason_of(error)})") from None
    if len(found) == 1 and isinstance(found[0], list):
        found = found[0]
    if not all(isinstance(record, dict) for record in found):
        raise UsageError(f"{path} holds JSON that is no object; expected traces")
    return list(enumerate(found, start=1))


def _spans_of(record: dict[str, Any], number: int) -> list[Span]:
    if "resourceSpans" in record:
        return [
            _otlp_span(span)
            for resource in record["resourceSpans"]
            for scope in resource.get("scopeSpans", [])
            for span in scope.get("spans", [])
        ]
    traces = record.get("traces", [record])
    return [
        span
        for place, trace in enumerate(traces)
        for span in _verifiers_spans(trace, f"{number}.{place}")
    ]


def _otlp_span(span: dict[str, Any]) -> Span:
    attributes = {each["key"]: each.get("value", {}) for each in span.get("attributes", [])}
    cost: dict[str, Any] = next((attributes[name] for name in COST_NAMES if name in attributes), {})
    return Span(
        id=str(span["spanId"]),
        name=str(span["name"]),
        begin=int(span["startTimeUnixNano"]) / 1e9,
        end=int(span["endTimeUnixNano"]) / 1e9,
        parent=str(span["parentSpanId"]) if span.get("parentSpanId") else None,
        cost=float(cost.get("doubleValue", cost.get("intValue", 0.0))),
    )


def _verifiers_spans(trace: dict[str, Any], name: str) -> list[Span]:
    """The run of an agent, its stages, and the calls of its model."""
    agent, timing = str(trace["agent"].get("name", "agent")), trace["timing"]
    root = str(trace.get("id", name))
    stages = {
        stage: timing[stage]
        for stage in ("boot", "setup", "agent", "finalize", "scoring")
        if timing.get(stage, {}).get("end")
    }
    if not stages:
        raise ValueError(name)
    begin = min([each["start"] for each in stages.values()])
    end = max(each["end"] for each in stages.values())
    spans = [Span(root, agent, begin, end)]
    for stage, time in stages.items():
        spans.append(Span(f"{root}/{stage}", f"{agent} {stage}", time["start"], time["end"], root))
    parent = f"{root}/agent" if "agent" in stages else root
    for place, call in enumerate(trace.get("calls", [])):
        if call["time"].get("end"):
            usage, time = call.get("usage") or {}, call["time"]
            label, price = f"{agent} model call", float(usage.get("cost") or 0.0)
            spans.append(
                Span(f"{root}/call{place}", label, time["start"], time["end"], parent, price)
            )
    return spans


ROW, LEFT, WIDTH, TOP = 18, 190, 900, 42


def draw_waits(spans: Sequence[Span], waits: Waits, title: str = "Whom we waited for") -> str:
    """An `<svg>`: a bar per span under the one that started it, the critical path dark."""
    from html import escape  # 10 ms that reading a trace does not need

    begin, end = min(s.begin for s in spans), max(s.end for s in spans)
    scale = (WIDTH - LEFT - 20) / max(end - begin, 1e-12)
    rows = _rows(spans)
    place = {span.id: TOP + ROW * row for row, (span, _) in enumerate(rows)}
    parts = [f'<text x="10" y="20" font-size="14">{escape(title)}</text>']
    for span, depth in rows:
        x, y = LEFT + scale * (span.begin - begin), place[span.id]
        width = max(1.0, scale * (span.end - span.begin))
        label = span.name if len(span.name) <= 26 else f"{span.name[:25]}…"
        about = escape(f"{span.name}: {span.end - span.begin:.3g} s, cost {span.cost:.4g}")
        if span.parent in place:
            up = place[span.parent] + ROW - 5
            parts.append(f'<path d="M{x:.1f} {up}V{y + 6}" stroke="#999" fill="none"/>')
        parts.append(
            f'<text x="{10 + 8 * depth}" y="{y + 10}">{escape(label)}</text>'
            f'<rect x="{x:.1f}" y="{y}" width="{width:.1f}" height="12" fill="#c6dbef">'
            f"<title>{about}</title></rect>"
        )
    for wait in waits.path:
        if wait.span in place:
            x, width = LEFT + scale * (wait.begin - begin), scale * (wait.end - wait.begin)
            parts.append(
                f'<rect x="{x:.1f}" y="{place[wait.span]}" width="{max(width, 1):.1f}" height="12" fill="#d55e00"/>'
            )
    height = TOP + ROW * len(rows) + 26
    left_out = len(spans) - len(rows)
    more = f"; {amount(left_out, 'shorter span')} not drawn" if left_out else ""
    parts.append(
        f'<text x="10" y="{height - 8}">dark: the critical path, {waits.length:.3g} s; all work {waits.work:.3g} s; '
        f"cost {waits.cost:.4g}{more}</text>"
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" font-family="sans-serif" '
        f'font-size="10" role="img" aria-label="{escape(title)}">{"".join(parts)}</svg>\n'
    )


def _rows(spans: Sequence[Span]) -> list[tuple[Span, int]]:
    """The longest spans in the order of a tree, each with its depth."""
    drawn = sorted(spans, key=lambda span: span.begin - span.end)[:MOST_DRAWN]
    known = {span.id for span in drawn}
    below: dict[str | None, list[Span]] = {}
    for span in sorted(drawn, key=lambda each: -each.begin):
        below.setdefault(span.parent if span.parent in known else None, []).append(span)
    rows, waiting = [], [(span, 0) for span in below.get(None, [])]
    while waiting:
        span, depth = waiting.pop()
        rows.append((span, depth))
        waiting += [(child, depth + 1) for child in below.get(span.id, [])]
    return rows
