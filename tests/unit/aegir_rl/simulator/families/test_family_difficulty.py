"""Levels of families: more rules at a higher level, statements that say what was drawn, starters that fail."""

import json
import re
from random import Random
from statistics import fmean

import pytest

from aegir_rl.simulator.checking import equal_values
from aegir_rl.simulator.families.family import (
    LEVELS,
    Draft,
    Family,
    describe,
    listing,
    sample,
    split_cases,
    to_cases,
    words,
    write_solution,
)
from aegir_rl.simulator.families.registry import FAMILIES
from aegir_rl.simulator.task import FUNCTION

families = pytest.mark.parametrize("family", FAMILIES.values(), ids=list(FAMILIES))
of_functions = [family for family in FAMILIES.values() if family.kind == FUNCTION]
MEASURES = {
    "column_by_example": "pieces",
    "dates": "layouts",
    "deduplication": "keys",
    "join_keys": "steps",
    "names": "rules",
    "numbers": "rules",
    "parsers": "rules",
    "regular_expressions": "fields",
    "repair": "bugs",
    "schema_mapping": "columns",
    "unit_conversion": "units",
}


def drafts(family: Family, level: int, count: int = 25) -> list[Draft]:
    return [family.draw(Random(1000 * level + seed), level) for seed in range(count)]


@pytest.mark.parametrize(("name", "measure"), MEASURES.items())
def test_a_higher_level_has_more_of_what_makes_a_task_hard(name: str, measure: str):
    means = [
        fmean(draft.difficulty[measure] for draft in drafts(FAMILIES[name], level))
        for level in range(1, LEVELS + 1)
    ]
    assert means[0] < means[1] < means[2]


@families
def test_starters_fail_and_stubs_name_the_function(family: Family):
    failing = 0
    for draft in drafts(family, 2, 10):
        names: dict = {}
        exec(draft.starter or family.stub, names)
        try:
            values = [names[family.function](*case.arguments) for case in draft.hidden]
            expected = [case.expected for case in draft.hidden]
            failing += not all(map(equal_values, json.loads(json.dumps(values)), expected))
        except Exception:
            failing += 1
    assert failing == 10


@families
def test_cases_are_json_and_statements_are_complete_sentences(family: Family):
    for level in range(1, LEVELS + 1):
        for draft in drafts(family, level, 10):
            for case in [*draft.public, *draft.hidden]:
                json.dumps([case.arguments, case.expected], allow_nan=False)
            assert draft.statement.rstrip()[-1] in ".)\n" or draft.files
            assert not re.search(r"\{[a-z_]+(!r)?\}", draft.statement)  # every value is filled in
            if family.kind == FUNCTION:
                assert all(name in draft.statement for name in draft.files)


@pytest.mark.parametrize("family", of_functions, ids=lambda family: family.name)
def test_solutions_define_the_signature_and_use_nothing_of_this_package(family: Family):
    for draft in drafts(family, 3, 5):
        assert f"\ndef {family.signature}:\n    return " in draft.solution
        assert "aegir" not in draft.solution


def test_sentences_are_chosen_by_name_and_filled_in():
    said = describe("outliers", "start", "", False, "high", method="far away")
    assert said.startswith("Write flag(values), which")
    assert "if it is far away;" in said
    assert said.endswith("Only values that are too large count.")
    with pytest.raises(KeyError):
        describe("outliers", "middle")


def test_solutions_call_our_function_with_the_arguments_of_the_signature():
    source = write_solution("join_keys", listing, [1], "x", helpers=[sample])
    assert source.endswith("def join(left, right):\n    return listing(left, right, [1], 'x')\n")
    assert source.index("def sample(") < source.index("def listing(")


def test_cases_with_the_same_argument_are_one_case():
    assert len(to_cases([("a", 1), ("a", 1), ("b", 2)])) == 2
    public, hidden = split_cases([("", 0)], [("a", 1), ("b", 2), ("c", 3)], 3)
    assert {case.arguments for case in public}.isdisjoint({case.arguments for case in hidden})


def test_lists_of_words_and_items():
    assert listing(["a"]) == "a"
    assert listing(["a", "b", "c"]) == "a, b and c"
    assert len(words("given")) == len(set(words("given")))
    drawn = sample(Random(0), "abc", 2, 9)
    assert len(drawn) == len(set(drawn)) <= 3
