"""Which tables a step reads: every table in turn, or those a curriculum draws."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aegir.lab.byte_network.config import TableCurriculum
from aegir.lab.byte_network.examples import TableExample
from aegir.lab.byte_network.mixture import TableMixture
from aegir.tables.table import Table
from aegir_rl.base.errors import UsageError

COMPETENCE = TableCurriculum("competence")


def tables(count: int, source: str = "a") -> list[TableExample]:
    return [TableExample(Table(f"{source}{i}", ()), {}, {}, source) for i in range(count)]


@given(st.integers(1, 9), st.integers(0, 5), st.integers(0, 99))
def test_without_a_curriculum_every_table_of_a_source_is_read_once_per_round(
    size: int, per_step: int, seed: int
) -> None:
    mixture = TableMixture({"a": tables(size)}, {"a": per_step}, seed)
    steps = 2 * size if per_step else 1
    read = [draw.number for step in range(steps) for draw in mixture.draw(step)]
    assert len(read) == steps * per_step
    for start in range(0, len(read) - size + 1, size):
        assert sorted(read[start : start + size]) == list(range(size))


def test_without_a_curriculum_a_step_is_the_same_whatever_was_drawn_before() -> None:
    mixture = TableMixture({"a": tables(7)}, {"a": 4}, seed=5)
    fresh = TableMixture({"a": tables(7)}, {"a": 4}, seed=5)
    mixture.draw(0)
    mixture.update(mixture.draw(1), np.zeros(4))
    assert mixture.draw(3) == fresh.draw(3)
    assert mixture.state_dict() == mixture.metrics() == {}


def practise(mixture: TableMixture, steps: range) -> list[list[int]]:
    """Tables 0 to 9 are answered right always, 10 to 19 every other step, 20 to 29 never."""
    drawn = []
    for step in steps:
        draws = mixture.draw(step)
        share = {0: 1.0, 1: float(step % 2), 2: 0.0}
        mixture.update(draws, np.array([share[draw.number // 10] for draw in draws]))
        drawn.append([draw.number for draw in draws])
    return drawn


def test_a_curriculum_draws_what_is_sometimes_answered_right_most_and_forgets_nothing() -> None:
    mixture = TableMixture({"a": tables(30)}, {"a": 6}, curriculum=COMPETENCE)
    practise(mixture, range(60))
    late = Counter(number // 10 for some in practise(mixture, range(60, 160)) for number in some)
    assert late[1] > 2 * max(late[0], late[2])
    assert min(late[0], late[2]) > 20
    assert mixture.metrics()["curriculum/a/tried_share"] == 1


def test_a_step_has_as_many_different_tables_of_each_source_as_configured() -> None:
    sources = {"a": tables(9), "b": tables(2, "b")}
    mixture = TableMixture(sources, {"a": 5, "b": 3}, curriculum=COMPETENCE)
    for step in range(5):
        draws = mixture.draw(step)
        assert [draw.source for draw in draws] == ["a"] * 5 + ["b"] * 3  # b has only two tables
        assert len({draw.number for draw in draws[:5]}) == 5
        assert all(sources[draw.source][draw.number] is draw.example for draw in draws)
        mixture.update(draws, np.full(8, np.nan))


def test_saved_and_restored_curricula_go_on_with_the_same_draws() -> None:
    whole, first, second = (
        TableMixture({"a": tables(30)}, {"a": 6}, seed=2, curriculum=COMPETENCE) for _ in range(3)
    )
    wanted = practise(whole, range(20))
    assert practise(first, range(8)) == wanted[:8]
    second.load_state_dict(first.state_dict())
    assert practise(second, range(8, 20)) == wanted[8:]


def test_curricula_of_other_sources_are_refused_in_one_sentence() -> None:
    mixture = TableMixture({"a": tables(3)}, {"a": 1}, curriculum=COMPETENCE)
    with pytest.raises(UsageError, match=r"has curricula for no source, the configuration for a; "):
        mixture.load_state_dict({})
