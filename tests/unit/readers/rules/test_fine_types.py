"""Each fine type of a rule is found where it is, and its nearest look-alike is not."""

import pytest
from cases_people_and_places import CASES as PEOPLE_AND_PLACES
from cases_things_and_money import CASES as THINGS_AND_MONEY
from cases_time_and_values import CASES as TIME_AND_VALUES
from cases_web_and_software import CASES as WEB_AND_SOFTWARE

from aegir.readers.rules.judge import RULES, judge
from aegir.tables.table import Column
from aegir.vocabulary.terms import FINE_TYPES

CASES = PEOPLE_AND_PLACES | THINGS_AND_MONEY | TIME_AND_VALUES | WEB_AND_SOFTWARE


def fine_type_of(header: str | None, cells: str) -> str | None:
    return judge(Column(header, tuple(cells.split(" ¦ ")))).fine_type


def test_every_fine_type_of_a_rule_has_a_case() -> None:
    assert set(CASES) == {rule.name for rule in RULES} & set(FINE_TYPES)


@pytest.mark.parametrize("name", CASES)
def test_it_is_found(name: str) -> None:
    header, cells, _, _ = CASES[name]
    assert fine_type_of(header, cells) == name


@pytest.mark.parametrize("name", CASES)
def test_a_look_alike_is_refused(name: str) -> None:
    _, _, header, cells = CASES[name]
    assert fine_type_of(header, cells) != name
