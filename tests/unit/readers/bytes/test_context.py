"""The columns read beside a column of a wide table."""

import numpy as np
import pytest

from aegir.readers.bytes.byte_encoding import Symbols
from aegir.readers.bytes.table_mixer import TableContext


def column(text: str) -> Symbols:
    return np.array([*text.encode()], np.int16)


def choose_context(
    columns: list[Symbols], target: int, budget: int, subject: int | None = None
) -> list[int]:
    return TableContext.of(columns).choose([target], budget, subject)


CITIES = [column(text) for text in ("oslo bergen oslo", "bergen oslo bergen", "bergen bergen o")]
DATES = [column(text) for text in ("2021-03-04 2020-0", "2020-03-04 2021-0")]
PRICES = [column("12.50 in bergen 9")]
TABLE = [*CITIES, *DATES, *PRICES]


def test_all_columns_are_taken_when_they_fit() -> None:
    assert choose_context(TABLE, 2, 1000) == [0, 1, 2, 3, 4, 5]


def test_what_resembles_the_target_comes_first() -> None:
    assert choose_context(TABLE, 4, 40) == [3, 4]


def test_the_second_choice_differs_from_the_first() -> None:
    """Likeness alone would take both other columns of cities."""
    chosen = choose_context(TABLE, 0, 60)
    assert len(chosen) == 3
    assert 0 in chosen
    assert len({0, 1, 2} & set(chosen)) == 2


def test_the_subject_is_always_there() -> None:
    for target in range(len(TABLE)):
        assert {5, target} <= set(choose_context(TABLE, target, 60, subject=5))
    assert choose_context(TABLE, 5, 20, subject=5) == [5]


def test_target_and_subject_stay_even_beyond_the_budget() -> None:
    assert choose_context(TABLE, 1, 0, subject=3) == [1, 3]


@pytest.mark.parametrize("budget", [20, 35, 60, 80])
def test_the_budget_is_kept(budget: int) -> None:
    context = TableContext.of(TABLE)
    for target in range(len(TABLE)):
        assert sum(len(TABLE[one]) for one in context.choose([target], budget)) <= budget


def test_ties_go_to_the_left() -> None:
    same = [column("abcabc")] * 5
    assert choose_context(same, 4, 18) == [0, 1, 4]


def test_the_order_of_the_others_does_not_matter() -> None:
    texts = {one.tobytes() for one in (TABLE[i] for i in choose_context(TABLE, 0, 60))}
    turned = [TABLE[0], *TABLE[:0:-1]]
    assert {turned[i].tobytes() for i in choose_context(turned, 0, 60)} == texts


def test_columns_of_one_symbol_resemble_nothing() -> None:
    assert choose_context([column("a"), column("b"), column("abc")], 0, 2) == [0, 1]


def test_a_block_of_neighbours_shares_its_context() -> None:
    context = TableContext.of(TABLE)
    assert context.choose([0, 1], 60) == [0, 1, 2]  # of the rest, other cities resemble cities most
    assert context.choose([3, 4], 20) == [3, 4]
    assert context.choose([0, 1], 1000, subject=3, most=3) == [0, 1, 3]


def test_a_table_of_thousands_of_columns_offers_a_spread_of_them() -> None:
    many = [column(f"cell {number}") for number in range(3000)]
    context = TableContext.of(many)
    assert context.likeness.shape == (3000, 125)
    chosen = context.choose([2999], 6144, subject=1)
    assert len(chosen) == 12
    assert {1, 2999} <= set(chosen)


def test_neighbours_are_typed_together_as_far_as_the_budget_goes() -> None:
    context = TableContext.of([column("abcd")] * 20)
    assert context.neighbours(1000) == [range(8), range(8, 16), range(16, 20)]
    assert context.neighbours(13)[0] == range(3)
    assert context.neighbours(1) == [range(i, i + 1) for i in range(20)]
