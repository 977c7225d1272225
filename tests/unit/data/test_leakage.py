"""Tables of one origin stay together, and folds are the same every time."""

from collections import Counter

from aegir.data.leakage import fold_of_group, group_tables
from aegir.tables.labelled import UNLABELLED, LabelledTable
from aegir.tables.table import Column, Table

LONG = ("A distinctive first cell", "Another distinctive one", "And a third of them")


def table(name: str, *columns: tuple[str, ...]) -> LabelledTable:
    found = Table(name, tuple(Column(None, values) for values in columns))
    return LabelledTable(found, (UNLABELLED,) * len(columns), {})


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
