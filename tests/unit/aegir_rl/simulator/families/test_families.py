"""Families: drafts that are the same for the same state, enough cases, and known solutions that agree with their cases.

Solutions are the text of functions of this package, so these tests run them in this process; test_generate.py does it in the sandbox.
"""

import json
from random import Random

import pytest

from aegir_rl.base.errors import UsageError
from aegir_rl.simulator.checking import equal_values, find_trivial_solution
from aegir_rl.simulator.families.family import LEVELS, Draft, Family, options, split_cases
from aegir_rl.simulator.families.registry import FAMILIES, find_families
from aegir_rl.simulator.families.repair import FUNCTIONS
from aegir_rl.simulator.source import function_source
from aegir_rl.simulator.task import FUNCTION

DRAWS = 12
FUNCTIONS_OF = {name: family for name, family in FAMILIES.items() if family.kind == FUNCTION}
families = pytest.mark.parametrize("family", FUNCTIONS_OF.values(), ids=list(FUNCTIONS_OF))
every_family = pytest.mark.parametrize("family", FAMILIES.values(), ids=list(FAMILIES))


def drafts(family: Family) -> list[Draft]:
    return [
        family.draw(Random(seed), level) for level in range(1, LEVELS + 1) for seed in range(DRAWS)
    ]


@families
def test_known_solutions_give_the_expected_values(family: Family):
    for draft in drafts(family):
        names: dict = {}
        exec(draft.solution, names)
        for case in [*draft.public, *draft.hidden]:
            arguments = json.loads(json.dumps(case.arguments))
            value = json.loads(json.dumps(names[family.function](*arguments)))
            assert equal_values(value, case.expected), (draft.statement, case, value)


@families
def test_hidden_cases_are_new_and_most_drafts_have_no_trivial_solution(family: Family):
    made = drafts(family)
    for draft in made:
        shown = {repr(case.arguments) for case in draft.public}
        new = [case for case in draft.hidden if repr(case.arguments) not in shown]
        assert len(new) >= 5
        assert family.function in draft.statement
    trivial = [find_trivial_solution(draft.public, draft.hidden) for draft in made]
    assert sum(reason is not None for reason in trivial) <= len(made) // 10


@every_family
def test_the_same_state_gives_the_same_draft_and_another_state_another(family: Family):
    first, again, other = (family.draw(Random(seed), 2) for seed in (5, 5, 6))
    assert first == again
    assert (first.public, first.solution) != (other.public, other.solution)


@families
def test_statements_of_a_family_are_worded_in_several_ways(family: Family):
    statements = {draft.statement for draft in drafts(family)}
    assert len(statements) >= 0.75 * LEVELS * DRAWS
    assert len({" ".join(statement.split()[:4]) for statement in statements}) >= 3


def test_no_hidden_number_of_a_unit_is_rounded_to_nothing():
    numbers = [
        case.expected
        for draft in drafts(FAMILIES["unit_conversion"])
        for case in draft.hidden
        if case.expected is not None
    ]
    assert len(numbers) > 300
    assert 0.0 not in numbers


def test_there_are_at_least_twelve_families_and_an_unknown_one_is_refused():
    assert len(FAMILIES) >= 12
    assert [family.name for family in find_families(["pivot", "dates"])] == ["dates", "pivot"]
    with pytest.raises(UsageError, match="there is no family 'date'; choose from addresses, "):
        find_families(["date"])


def test_every_seeded_bug_stands_in_the_text_of_its_function_once():
    for each in FUNCTIONS:
        text = function_source(each.function)
        bugs = options("repair", "bugs")[each.function.__name__]
        assert [good for good, _ in bugs if text.count(good) != 1] == []


def test_the_first_edge_is_public_and_the_others_are_hidden():
    public, hidden = split_cases([("", 0), ("x", 1)], [("a", 2), ("b", 3), ("c", 4)], 3)
    assert [case.arguments[0] for case in public] == ["", "a", "b"]
    assert [case.arguments[0] for case in hidden] == ["x", "c"]
