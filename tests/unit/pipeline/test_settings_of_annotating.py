"""Settings of annotating: what efforts and time limits mean, what is refused, what crosses a border."""

import json
import math
from dataclasses import fields, replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aegir.pipeline.plan import SearchDepth
from aegir.pipeline.registry import check_settings
from aegir.pipeline.settings import DEFAULTS, AnnotationSettings, parse_effort, parse_seconds
from aegir_rl.base.errors import UsageError
from aegir_rl.base.llm_client import LlmSettings


def test_names_and_numbers_are_efforts():
    assert [parse_effort(text) for text in ("low", "normal", "high", "0.75")] == [0, 0.5, 1, 0.75]


@pytest.mark.parametrize("text", ["", "highest", "-0.1", "1.01", "nan", "inf"])
def test_other_efforts_are_refused(text):
    with pytest.raises(UsageError, match="expected low, normal, high or a number from 0 to 1"):
        parse_effort(text)


def test_times_have_a_unit():
    assert parse_seconds("200ms") == pytest.approx(0.2)
    assert parse_seconds(" 1.5 s") == pytest.approx(1.5)


@pytest.mark.parametrize("text", ["0ms", "0s", "200", "-1s", "soon", "", "1m", "9" * 400 + "s"])
def test_other_times_are_refused(text):
    with pytest.raises(UsageError, match="expected a time above 0"):
        parse_seconds(text)


@given(st.floats(0, 1), st.floats(0, 1))
def test_more_effort_never_calls_less(one, other):
    less, more = SearchDepth.of(min(one, other)), SearchDepth.of(max(one, other))
    assert less.readings <= more.readings
    assert less.calls_specialists <= more.calls_specialists


def test_only_efforts_above_normal_search():
    assert SearchDepth.of(0.5) == SearchDepth(readings=0, calls_specialists=False)
    assert SearchDepth.of(1.0) == SearchDepth(readings=3, calls_specialists=True)


CHANGED = AnnotationSettings(
    annotator="search",
    model=Path("weights"),
    effort=0.75,
    within=0.5,
    routing=Path("routing.yaml"),
    policy=Path("policy.safetensors"),
    llm=LlmSettings("http://127.0.0.1:1/v1", "m", price_in=2.0),
    timing=True,
    rows=7,
    seed=3,
    names_only=True,
    tables=("a.*", "b"),
    encoding="cp850",
    delimiter="|",
    header="none",
    skip=2,
    sheet="Orders",
    min_confidence=0.4,
    precision=0.9,
    custom_types=False,
    notations=False,
    previous=Path("answers.jsonl"),
    tags=Path("tags.toml"),
    memory="reviews.db",
)
"""Every setting is another than by default."""


def test_settings_survive_json():
    text = json.dumps(CHANGED.as_dict())
    assert AnnotationSettings.from_dict(json.loads(text)) == CHANGED
    others = CHANGED.changed(names_only=False, ignore_names=True)
    assert AnnotationSettings.from_dict(json.loads(json.dumps(others.as_dict()))) == others
    assert all(
        getattr(CHANGED, each.name) != getattr(DEFAULTS, each.name)
        for each in fields(DEFAULTS)
        if each.name != "ignore_names"
    )


def test_names_cannot_be_all_that_is_read_and_ignored():
    with pytest.raises(UsageError, match="leave nothing to read; choose one of them"):
        AnnotationSettings(names_only=True, ignore_names=True)
    with pytest.raises(UsageError, match="'rules' reads no names without values"):
        check_settings(AnnotationSettings(annotator="rules", names_only=True))


def test_a_query_may_ask_for_names_alone():
    assert AnnotationSettings.from_query({"names_only": "true"}).names_only
    assert AnnotationSettings.from_query({"ignore_names": "1"}).ignore_names


def test_the_key_of_a_language_model_is_not_sent_along():
    secret = replace(CHANGED, llm=LlmSettings("http://127.0.0.1:1/v1", "m", "secret"))
    assert "secret" not in json.dumps(secret.as_dict())
    assert "secret" not in repr(secret)


def test_a_query_chooses_settings_by_their_texts():
    query = {"rows": "5", "precision": "0.9", "custom": "false", "tables": "a, b.*"}
    assert AnnotationSettings.from_query(query) == AnnotationSettings(
        rows=5, precision=0.9, custom_types=False, tables=("a", "b.*")
    )
    assert AnnotationSettings.from_query({"effort": "high", "within": "200ms"}) == (
        AnnotationSettings(effort="high", within=0.2)
    )


@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        ({"row": "5"}, "unknown option 'row'; did you mean 'rows'?"),
        ({"rows": "many"}, "rows is 'many'; expected a whole number"),
        ({"rows": "0"}, "rows is 0; at least 1 row must be sampled"),
        ({"rows": "10001"}, "the service samples at most 10,000 rows"),
        ({"precision": "most"}, "precision is 'most'; expected a number"),
        ({"precision": "1"}, "precision is 1.0; expected a number between 0 and 1"),
        ({"min_confidence": "nan"}, "min_confidence is nan; expected a number from 0 to 1"),
        ({"memory": "maybe"}, "memory is 'maybe'; expected true or false"),
        ({"effort": "most"}, "the effort is 'most'; expected low, normal, high"),
        ({"model": "weights"}, "unknown option 'model'"),
    ],
)
def test_a_query_that_is_wrong_is_refused_in_one_sentence(query: dict[str, str], sentence: str):
    with pytest.raises(UsageError) as refusal:
        AnnotationSettings.from_query(query)
    assert sentence in str(refusal.value)


def test_an_unknown_setting_is_refused_with_one_that_is_near():
    with pytest.raises(UsageError, match="unknown setting 'efort'; did you mean 'effort'"):
        DEFAULTS.changed(efort="high")


@pytest.mark.parametrize("within", [0.0, math.nan, math.inf])
def test_a_time_that_is_none_is_refused(within: float):
    with pytest.raises(UsageError, match="expected more than 0"):
        AnnotationSettings(within=within)


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({"rows": "x"}, "rows is 'x'; expected a whole number"),
        ({"rows": True}, "rows is True; expected a whole number"),
        ({"min_confidence": "x"}, "min_confidence is 'x'; expected a number"),
        ({"within": "soon"}, "expected a time above 0"),
        ({"routing": 3}, "routing is 3; expected a path"),
        ({"effort": True}, "effort is True; expected low, normal, high"),
    ],
)
def test_a_value_of_another_kind_is_refused_in_one_sentence(
    values: dict[str, object], sentence: str
):
    with pytest.raises(UsageError) as refusal:
        DEFAULTS.changed(**values)
    assert sentence in str(refusal.value)


def test_texts_are_read_as_on_the_command_line():
    assert DEFAULTS.changed(tables="orders", within="200ms") == (
        AnnotationSettings(tables=("orders",), within=0.2)
    )
