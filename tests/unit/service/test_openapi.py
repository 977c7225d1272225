"""The description of the service against what the service does: every parameter at its bounds and outside of them."""

from collections.abc import Iterator
from typing import Any

import pytest

from aegir.answers.writers import FORMATS
from aegir.pipeline.custom_types import store
from aegir.pipeline.settings import QUERY, ROWS_IN_QUERY, AnnotationSettings
from aegir.service import sources
from aegir.service.jobs import REPORT, read_query
from aegir.service.kept_answers import KeptAnswers
from aegir.service.limits import RequestLimits
from aegir.service.openapi import REFUSALS, describe_api
from aegir.vocabulary.terms import KINDS
from aegir_rl.base.errors import UsageError

ABOUT = {"version": "7", "formats": ["text", *FORMATS], "kinds": list(KINDS)}
DOCUMENT = describe_api(ABOUT, RequestLimits(files=3))
ANNOTATE = DOCUMENT["paths"]["/annotate"]["post"]
OPTIONS = {each["name"]: each["schema"] for each in ANNOTATE["parameters"]}
NEAR = 1e-9
NONSENSE = ("", "no such thing", "1,5", "1_0", "\u0663", "nan", "inf", "-inf", "[1]")


def is_valid(text: str, schema: dict[str, Any]) -> bool:
    """Whether a text is a value of the schema of a parameter."""
    if "anyOf" in schema:
        return any(is_valid(text, each) for each in schema["anyOf"])
    if "enum" in schema:
        return text in schema["enum"]
    if schema["type"] == "boolean":
        return text in ("true", "false")
    if schema["type"] == "string":
        return "pattern" not in schema or text in schema["examples"]
    try:
        number = int(text) if schema["type"] == "integer" else float(text)
    except ValueError:
        return False
    return (
        text not in NONSENSE
        and schema.get("minimum", number) <= number <= schema.get("maximum", number)
        and schema.get("exclusiveMinimum", number - 1) < number
        and number < schema.get("exclusiveMaximum", number + 1)
    )


def edges(schema: dict[str, Any]) -> Iterator[str]:
    """Values at the bounds of a schema, beside them, and some that are of another kind."""
    for each in schema.get("anyOf", [schema]):
        yield from each.get("enum", [])
        yield from each.get("examples", [])
        step = NEAR if each["type"] == "number" else 1
        for name in ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"):
            if name in each:
                yield from (str(each[name] + way * step) for way in (-1, 0, 1))
        if each["type"] == "boolean":
            yield from ("true", "false")
        if "default" in each and each["type"] != "boolean":
            yield str(each["default"])
    yield from NONSENSE


CASES = [
    (name, text, is_valid(text, schema))
    for name, schema in OPTIONS.items()
    for text in dict.fromkeys(edges(schema))
    if name
    # format is checked where it is written; any text is a pattern, or a name of a sheet
    not in ("format", "tables", "sheet")
]


@pytest.mark.parametrize(("name", "text", "valid"), CASES)
def test_the_service_takes_what_the_description_allows_and_nothing_else(
    name: str, text: str, valid: bool
):
    try:
        read_query([(name, text)])
    except UsageError:
        taken = False
    else:
        taken = True
    assert taken == valid


def test_every_bound_is_walked():
    walked = {(name, valid) for name, _, valid in CASES}
    assert walked == {
        (name, valid)
        for name in QUERY
        if name not in ("tables", "sheet")
        for valid in (True, False)
    }
    assert ("precision", "0.0", False) in CASES
    assert ("precision", str(NEAR), True) in CASES
    assert ("rows", "10001", False) in CASES


def test_the_description_lists_the_options_that_a_query_may_have():
    assert list(OPTIONS) == ["format", *QUERY]
    assert OPTIONS["format"]["enum"] == ["text", *FORMATS, REPORT]
    usual = AnnotationSettings()
    assert (OPTIONS["rows"]["default"], OPTIONS["seed"]["default"]) == (usual.rows, usual.seed)
    assert OPTIONS["rows"]["maximum"] == ROWS_IN_QUERY
    assert OPTIONS["min_confidence"]["default"] == usual.min_confidence
    assert not [each for each in ANNOTATE["parameters"] if "--" in each["description"]]


def test_the_description_has_the_bounds_of_this_service():
    assert DOCUMENT["info"]["version"] == "7"
    description = DOCUMENT["info"]["description"]
    assert "may hold 3 files of 64 MB together with 2,000 columns" in description
    for path in ("/annotate", "/feedback", "/types"):
        form = DOCUMENT["paths"][path]["post"]["requestBody"]["content"]["multipart/form-data"]
        assert form["schema"]["properties"]["file"]["maxItems"] == 3
    document = ANNOTATE["requestBody"]["content"]["application/json"]["schema"]
    assert document["properties"]["name"]["maxLength"] == sources.LONGEST_NAME
    assert set(document["properties"]) == set(sources.JSON_KEYS)
    lesson = DOCUMENT["components"]["schemas"]["Lesson"]["properties"]
    assert lesson["name"]["maxLength"] == store.LONGEST_NAME
    assert lesson["kind"]["enum"] == list(KINDS)


def test_the_bounds_of_a_page_of_answers_are_those_of_the_service():
    kept = KeptAnswers()
    kept.keep("run", "now", [])
    pages = DOCUMENT["paths"]["/tables/{run}"]["get"]["parameters"]
    for option in pages[1:]:
        for text in dict.fromkeys(edges(option["schema"])):
            try:
                kept.page("run", [(option["name"], text)])
            except UsageError:
                taken = False
            else:
                taken = True
            assert taken == is_valid(text, option["schema"]), (option["name"], text)


def test_the_description_lists_the_refusals():
    assert REFUSALS.keys() <= ANNOTATE["responses"].keys()
    assert {"507", "431", "503"} <= REFUSALS.keys()
    assert "404" in DOCUMENT["paths"]["/runs/{name}"]["get"]["responses"]
