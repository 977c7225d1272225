"""Whom we waited for: the worked number, files of OpenTelemetry and verifiers, the picture, and what is refused."""

import json
from xml.etree import ElementTree

import pytest

from aegir_rl.base.errors import UsageError
from aegir_rl.rl import draw_waits, find_waits, read_spans
from aegir_rl.rl.agent_traces import Span

SPANS = [
    Span("a", "agent", 0, 6, cost=1.0),
    Span("s", "search", 1, 5, "a", 0.5),
    Span("l", "lookup", 1, 3, "a", 2.0),
]


def test_the_wait_is_that_of_the_worked_number():
    waits = find_waits(SPANS)
    assert waits.seconds == {"search": 4.0, "agent": 2.0, "lookup": 0.0}
    assert [(wait.span, wait.begin, wait.end) for wait in waits.path] == [
        ("a", 0, 1),
        ("s", 1, 5),
        ("a", 5, 6),
    ]
    assert (waits.length, waits.work, waits.cost) == (6, 8, 3.5)
    assert waits.parallelism == 8 / 6
    assert "search: 4 s, 67% of the wait, cost 0.5" in waits.describe()
    assert "lookup" not in waits.describe()


def test_children_after_each_other_are_both_waited_for():
    spans = [Span("a", "agent", 0, 10), Span("x", "x", 1, 4, "a"), Span("y", "y", 4, 9, "a")]
    assert find_waits(spans).seconds == {"y": 5.0, "x": 3.0, "agent": 2.0}


def test_what_a_sub_agent_waits_for_is_found_below_it():
    spans = [*SPANS, Span("m", "model", 2, 4.5, "s")]
    assert find_waits(spans).seconds == {"model": 2.5, "agent": 2.0, "search": 1.5, "lookup": 0.0}


def test_a_child_that_outlives_its_parent_counts_up_to_its_end():
    spans = [Span("a", "agent", 0, 2), Span("late", "late", 1, 5, "a")]
    assert find_waits(spans).seconds == {"agent": 1.0, "late": 1.0}


def test_roots_follow_each_other():
    spans = [Span("1", "first", 0, 2), Span("2", "second", 3, 5)]
    assert find_waits(spans).length == 4  # nothing is waited for between them


def otlp(spans):
    return {
        "resourceSpans": [
            {
                "scopeSpans": [
                    {
                        "spans": [
                            {
                                "spanId": span.id,
                                "parentSpanId": span.parent or "",
                                "name": span.name,
                                "startTimeUnixNano": str(int(span.begin * 1e9)),
                                "endTimeUnixNano": str(int(span.end * 1e9)),
                                "attributes": [
                                    {
                                        "key": "gen_ai.usage.cost",
                                        "value": {"doubleValue": span.cost},
                                    }
                                ],
                            }
                            for span in spans
                        ]
                    }
                ]
            }
        ]
    }


@pytest.mark.parametrize("lines", [False, True])
def test_spans_of_opentelemetry_are_read(tmp_path, lines):
    path = tmp_path / "spans.json"
    parts = [SPANS[:1], SPANS[1:]] if lines else [SPANS]
    path.write_text("\n".join(json.dumps(otlp(part)) for part in parts))
    assert read_spans(path) == SPANS


def test_traces_of_verifiers_are_read(tmp_path):
    trace = {
        "id": "t",
        "agent": {"name": "solver"},
        "timing": {
            "start": 10.0,
            "boot": {"start": 0.0, "end": 0.0},
            "setup": {"start": 10.0, "end": 11.0},
            "agent": {"start": 11.0, "end": 15.0},
            "scoring": {"start": 15.0, "end": 15.5},
        },
        "calls": [
            {"time": {"start": 12.0, "end": 14.5}, "usage": {"cost": 0.25}},
            {"time": {"start": 0.0, "end": 0.0}, "usage": None},
        ],
    }
    path = tmp_path / "traces.jsonl"
    path.write_text(json.dumps({"traces": [trace]}) + "\n")
    waits = find_waits(read_spans(path))
    assert waits.seconds["solver model call"] == 2.5
    assert waits.seconds["solver agent"] == 1.5
    assert (waits.length, waits.cost) == (5.5, 0.25)


def test_the_picture_has_a_bar_per_span_and_the_path_on_top():
    spans = [*SPANS, Span("<", "<script>", 2, 3, "a")]
    drawn = draw_waits(spans, find_waits(spans))
    bars = ElementTree.fromstring(drawn).findall("{http://www.w3.org/2000/svg}rect")
    assert len(bars) == 4 + 3
    assert [bar.get("fill") for bar in bars[-3:]] == ["#d55e00"] * 3
    assert "<script>" not in drawn
    assert drawn == draw_waits(spans, find_waits(spans))


def test_of_many_spans_the_longest_are_drawn():
    spans = [Span("a", "agent", 0, 1000)]
    spans += [Span(str(n), "step", n, n + 1 + n / 100, "a") for n in range(100)]
    assert "41 shorter spans not drawn" in draw_waits(spans, find_waits(spans))


@pytest.mark.parametrize(
    ("spans", "sentence"),
    [
        ([], "there are no spans"),
        ([SPANS[0], SPANS[0]], "two spans have the id 'a'"),
        ([Span("a", "agent", 2, 1)], "'agent' goes from 2 to 1; expected an end"),
        ([Span("a", "x", 0, 1, "b"), Span("b", "y", 0, 1, "a")], "among its own ancestors"),
    ],
)
def test_what_is_no_trace_is_refused(spans, sentence):
    with pytest.raises(UsageError, match=sentence):
        find_waits(spans)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("no json", "holds no JSON"),
        ("[1]", "holds JSON that is no object"),
        ('{"traces": [{}]}', "record 1 of .* has no spans that can be read"),
        ('{"resourceSpans": [{"scopeSpans": [{"spans": [{}]}]}]}', "record 1 of"),
    ],
)
def test_files_that_hold_no_traces_are_refused(tmp_path, text, sentence):
    path = tmp_path / "traces.json"
    path.write_text(text)
    with pytest.raises(UsageError, match=sentence):
        read_spans(path)
    with pytest.raises(UsageError, match="cannot read"):
        read_spans(tmp_path / "missing")
