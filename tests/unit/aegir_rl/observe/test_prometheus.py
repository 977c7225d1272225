"""The text Prometheus reads, parsed back by a reader written from the format's description."""

import re

import pytest

from aegir_rl.observe.performance_tracker import APIPerformanceTracker
from aegir_rl.observe.prometheus import render_prometheus

SAMPLE = re.compile(r'([a-z_]+)\{((?:[a-z]+="(?:[^"\\\n]|\\["\\n])*",?)*)\} (\S+)')
LABEL = re.compile(r'([a-z]+)="((?:[^"\\]|\\.)*)"')
NASTY = 'a "quoted" \\ back\nline {},= ü'


def parse(text):
    """{(name, labels): value} and {family: type}; anything that is not the format fails."""
    assert text.endswith("\n")
    samples, types = {}, {}
    for line in text.splitlines():
        if line.startswith("# TYPE "):
            _, _, family, kind = line.split(" ")
            assert family not in types
            types[family] = kind
        elif not line.startswith("# HELP "):
            match = SAMPLE.fullmatch(line)
            assert match, line
            name, labels, value = match.groups()
            assert any(name.startswith(family) for family in types)
            plain = {
                key: re.sub(r"\\(.)", lambda m: {"n": "\n"}.get(m[1], m[1]), raw)
                for key, raw in LABEL.findall(labels)
            }
            key = (name, frozenset(plain.items()))
            assert key not in samples
            samples[key] = float(value)
    return samples, types


@pytest.fixture
def tracker():
    made = APIPerformanceTracker()
    for _ in range(10):
        made.record(NASTY, "forward", 0.5, items=3)
    made.record_error("other", "x", 0.25)
    made.record("silent", "never", float("nan"))
    return made


def test_every_figure_comes_back_from_the_text(tracker):
    samples, types = parse(render_prometheus(tracker))
    where = {("node", NASTY), ("operation", "forward")}
    seconds = "aegir_operation_seconds"
    assert samples[seconds, frozenset(where | {("quantile", "0.99")})] == 0.5
    assert samples[f"{seconds}_sum", frozenset(where)] == 5.0
    assert samples[f"{seconds}_count", frozenset(where)] == 10
    assert samples["aegir_items_total", frozenset(where)] == 30
    broken = frozenset({("node", "other"), ("operation", "x")})
    assert samples["aegir_errors_total", broken] == 1
    assert types[seconds] == "summary"


def test_what_was_not_measured_has_no_sample(tracker):
    samples, _ = parse(render_prometheus(tracker))
    silent = {("node", "silent"), ("operation", "never")}
    named = [name for name, labels in samples if silent <= labels]
    assert "aegir_operation_seconds" not in named
    assert "aegir_items_per_second" not in named
    assert samples["aegir_refused_total", frozenset(silent)] == 1


def test_an_empty_tracker_is_a_valid_page():
    samples, types = parse(render_prometheus(APIPerformanceTracker()))
    assert samples == {}
    assert len(types) == 5


def test_the_official_reader_agrees(tracker):
    parser = pytest.importorskip("prometheus_client.parser", reason="prometheus-client is not here")
    families = list(parser.text_string_to_metric_families(render_prometheus(tracker)))
    ours, _ = parse(render_prometheus(tracker))
    theirs = {
        (one.name, frozenset(one.labels.items())): one.value
        for family in families
        for one in family.samples
    }
    assert theirs == ours
