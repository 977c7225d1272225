"""Tables of one origin stay together, and folds are the same every time."""

from collections import Counter

import pytest

from aegir.tables.labelled import UNLABELLED, LabelledTable
from aegir.tables.leakage import HeldOutGroups, fold_of_group, group_tables
from aegir.tables.table import Column, Table

LONG = ("A distinctive first cell", "Another distinctive one", "And a third of them")


def table(
    name: str, *columns: tuple[str, ...], source: str | None = None, group: str | None = None
) -> LabelledTable:
    found = Table(name, tuple(Column(None, values) for values in columns))
    return LabelledTable(found, (UNLABELLED,) * len(columns), {"source": source}, group)


def test_tables_of_one_site_are_one_group():
    tables = [
        table("Book_shop.example.org_September2020"),
        table("Hotel_inn.example.org_September2020"),
        table("Person_shop.example.org_September2020"),
    ]
    assert group_tables(tables) == [0, 1, 0]


def test_tables_that_share_a_distinctive_column_are_one_group():
    other = tuple(cell.upper() + ";" for cell in LONG)  # case and semicolons do not hide it
    tables = [table("a", ("1", "2"), LONG), table("b", ("3", "4")), table("c", other)]
    assert group_tables(tables) == [0, 1, 0]


def test_a_column_that_many_tables_could_have_joins_nothing():
    flags, same = ("yes", "no", "yes", "no"), ("a long cell that is repeated",) * 5
    assert group_tables([table("a", flags, same), table("b", flags, same)]) == [0, 1]


def test_groups_join_through_a_third_table():
    second = tuple(reversed(LONG))
    tables = [table("a", LONG), table("b", second), table("c", LONG, second)]
    assert group_tables(tables) == [0, 0, 0]


def test_only_the_beginning_of_a_column_is_compared():
    five = (*LONG, "four", "five")
    assert group_tables([table("a", (*five, "x")), table("b", (*five, "y"))]) == [0, 0]


def test_folds_are_even_and_depend_on_the_seed_alone():
    groups = [number // 2 for number in range(40)]
    folds = fold_of_group(groups, 4, seed=3)
    assert folds == fold_of_group(groups[::-1], 4, seed=3)
    assert folds != fold_of_group(groups, 4, seed=4)
    assert Counter(folds.values()) == {0: 5, 1: 5, 2: 5, 3: 5}
    assert set(folds) == set(range(20))


def test_tables_of_one_stated_group_stay_together_and_still_join_by_columns():
    tables = [
        table("data/a.csv", group="ann/shop"),
        table("data/a.csv", PASSENGERS, group="ben/shop"),
        table("b.csv", group="ann/shop"),
        table("Book_shop.example.org_0", PASSENGERS),
    ]
    assert group_tables(tables) == [0, 1, 0, 1]


def test_flags_years_and_running_numbers_join_no_stated_groups():
    columns = [
        ("true", "false", "true", "true", "false"),
        ("10001", "10002", "10003", "10004", "10005"),
        ("1990", "1995", "2000", "2005", "2010"),
        ("male", "female", "male", "male", "female"),
    ]
    tables = [table("a", *columns, group="ann/a"), table("b", *columns, group="ben/b")]
    assert group_tables(tables) == [0, 1]
    assert group_tables([table("a", *columns), table("b", *columns)]) == [0, 0]


PASSENGERS = ("Allen, Ms Ada", "Bird, Mr Bo", "Chen, Dr Cy", "Diaz, Mrs Di")
REPOSITORY = "ann/data"


@pytest.mark.parametrize(
    ("labelled", "group", "raw", "belongs"),
    [
        ("a.csv", "ann/data", "far/away.csv", True),
        ("2021/week 3/a.csv", "ann/data:2021/week 3", "2021/week 3/deeper/b.csv", True),
        ("2021/week 3/a.csv", "ann/data:2021/week 3", "2021/week 4/b.csv", False),
        ("lite/DEATH/DEATH/A.json", "ann/data:death", "snow/Death/other/B.json", True),
        ("lite/DEATH/DEATH/A.json", "ann/data:death", "lite/births/B.json", False),
        ("polls/2020.csv", "ann/data:polls/#.csv", "polls/2021.csv", True),
        ("prices.csv#120", "ann/data:prices.csv##", "prices.csv#4000", True),
        ("iris.csv", "ann/data:iris.csv", "cars.csv", False),
        ("hype/paths.csv", "ann/data:hype/paths.csv", "hype/players.csv", True),
    ],
)
def test_a_raw_table_is_held_out_with_its_group(labelled: str, group: str, raw: str, belongs: bool):
    held_out = [table(labelled, group=group)]
    assert (table(raw, source=REPOSITORY) in HeldOutGroups(held_out)) is belongs
    assert table(raw, source="ben/data") not in HeldOutGroups(held_out)
    joined = group_tables([*held_out, table(raw, source=REPOSITORY)])
    assert joined == ([0, 0] if belongs else [0, 1])


def test_a_copy_in_another_repository_is_held_out_too():
    held_out = HeldOutGroups([table("titanic.csv", PASSENGERS, group="ann/data")])
    assert table("copy.csv", ("1", "2"), PASSENGERS, source="ben/notes") in held_out
    assert table("other.csv", ("1", "2"), source="ben/notes") not in held_out
