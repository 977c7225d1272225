"""Whatever the probabilities, the parts of an answer do not contradict each other, and mixtures stay probabilities."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aegir.answers.annotation import ColumnAnnotation, TableAnnotation
from aegir.pipeline.agree import REPEATED, agree
from aegir.pipeline.correct import pool_siblings
from aegir.pipeline.decide import NAMED, decide
from aegir.readers.calibration import Thresholds
from aegir.readers.mixing import Mixing, Weights, with_none
from aegir.readers.scores import LIKELY, Explanation, TableScores
from aegir.tables.table import Column, Table
from aegir.vocabulary.hierarchy import goes_with, kind_of
from aegir.vocabulary.terms import (
    FINE_NAMES,
    FINE_TYPES,
    RELATION_NAMES,
    TYPE_INDEX,
    TYPE_NAMES,
    plain_name,
)

WIDTH = 4
TABLE = Table("t", tuple(Column(f"c{n}", (f"a{n}", f"b{n}")) for n in range(WIDTH)))
SEEDS = st.integers(0, 2**32 - 1)


def drawn(random: np.random.Generator, rows: int, names: int, sharpness: float) -> np.ndarray:
    """Probabilities above 0 that leave room for none of the names, now and then much of it."""
    with_rest = random.dirichlet(np.full(names + 1, sharpness), rows) + 1e-6
    with_rest[:, -1] += random.choice([0.0, 1.0], rows)
    shares = with_rest / with_rest.sum(axis=1, keepdims=True)
    return shares[:, :-1].astype(np.float32)


@st.composite
def scored(draw: st.DrawFn) -> TableScores:
    """Sharp and vague scores; half of the time fine types agree with types."""
    random = np.random.default_rng(draw(SEEDS))
    sharpness = draw(st.sampled_from([0.001, 0.01, 1.0]))
    types = drawn(random, WIDTH, len(TYPE_NAMES), sharpness)
    fine = drawn(random, WIDTH, len(FINE_NAMES), sharpness)
    for row, best in zip(fine, types.argmax(axis=1), strict=True):
        if random.random() < 0.5:
            going = [goes_with(name, TYPE_NAMES[best]) for name in FINE_NAMES]
            row *= np.where(going, 1, 0.01)
            row /= max(float(row.sum()), 1)
    return TableScores(
        types,
        drawn(random, WIDTH, len(RELATION_NAMES), sharpness),
        draw(st.none() | st.integers(0, WIDTH - 1)),
        (Explanation(),) * WIDTH,
        fine=fine,
        personal=random.random(WIDTH).astype(np.float32),
        web=draw(st.floats(0, 1)),
    )


def agreed(scores: TableScores) -> TableScores:
    """The scores that an answer is chosen from: types, fine types and relations were taken together."""
    return pool_siblings(TABLE, agree(TABLE, scores))


def shown_type(column: ColumnAnnotation) -> str | None:
    return column.type and plain_name(column.type)


def check_coherent(answer: TableAnnotation) -> None:
    for column in answer.columns:
        if column.fine_type is not None and column.type is not None:
            assert goes_with(column.fine_type, column.type)
        if column.fine_type is None and column.type_confidence < LIKELY:
            assert column.label in (shown_type(column), column.kind)
        else:
            assert column.label == (column.fine_type or shown_type(column) or column.kind)
        assert column.kind == (kind_of(column.label) if column.label else None)
        assert (column.personal_level is not None) == column.personal
        assert (column.personal_reason is not None) == column.personal
        rivals = [guess.confidence for guess in column.runners_up]
        assert rivals == sorted(rivals, reverse=True)
        assert column.label not in [guess.label for guess in column.runners_up]
        if column.label is not None:
            assert column.confidence >= max(rivals, default=0)
        if column.fine_type is not None and column.confidence < NAMED - 1e-6:
            others = [
                guess.confidence
                for guess in column.type_runners_up
                if not goes_with(column.fine_type, guess.label)
            ]
            assert column.confidence >= max(others, default=0)
        if column.index == answer.subject:
            assert (column.relation, column.relation_runners_up) == (None, ())


@given(scored())
def test_the_parts_of_an_answer_never_contradict_each_other(scores: TableScores):
    check_coherent(decide(TABLE, scores, "fake"))


@given(scored())
def test_no_type_is_given_with_a_fine_type_only_if_it_may_have_none_or_a_relation_rules_its_types_out(
    scores: TableScores,
):
    left = agreed(scores).types > 0
    for column in decide(TABLE, scores, "fake").columns:
        if column.fine_type is not None and column.type is None:
            term = FINE_TYPES[column.fine_type]
            possible = [name for name in term.types if left[column.index, TYPE_INDEX[name]]]
            assert term.may_have_no_type or not possible


@given(scored())
def test_none_of_the_types_wins_where_it_is_likelier_than_each(scores: TableScores):
    rows = agreed(scores).types
    for column, types in zip(decide(TABLE, scores, "fake").columns, rows, strict=True):
        rest = 1 - float(types.sum(dtype=np.float64))
        if column.fine_type is None and abs(rest - float(types.max())) > 1e-5:
            assert (column.type is None) == (rest > types.max())
            assert column.type_confidence == pytest.approx(max(rest, types.max()), abs=1e-5)


@given(scored())
def test_a_relation_is_likelier_than_none_and_given_once_in_a_table_with_headers(
    scores: TableScores,
):
    answer = decide(TABLE, scores, "fake")
    given_once = [column.relation for column in answer.columns if column.relation is not None]
    for column, row in zip(answer.columns, scores.relations, strict=True):
        if column.relation is not None:
            assert column.relation.confidence >= 1 - float(row.sum(dtype=np.float64)) - 1e-5
    given_once = [guess for guess in given_once if guess.label not in REPEATED]
    assert len({guess.label for guess in given_once}) == len(given_once)


@given(scored(), st.floats(0, 1), st.floats(0, 1))
def test_a_threshold_only_silences(scores: TableScores, types: float, relations: float):
    free = decide(TABLE, scores, "fake")
    held = decide(TABLE, scores, "fake", Thresholds(types, relations))
    check_coherent(held)
    for one, other in zip(free.columns, held.columns, strict=True):
        assert other.type in (one.type, None)
        assert other.fine_type in (one.fine_type, None)
        if other.label is not None:
            assert other.confidence >= types
        if other.type is not None:
            assert other.type_confidence >= types
        if other.relation is not None:
            assert other.relation.confidence >= relations


NUMBER = st.floats(-3, 3)
PAIR = st.tuples(NUMBER, NUMBER)
WEIGHTS = st.builds(
    Weights,
    PAIR,
    PAIR,
    PAIR,
    via_fine=st.floats(0, 1),
    sharpness=st.floats(0.1, 3),
)
MIXINGS = st.builds(Mixing, WEIGHTS, WEIGHTS)
NAMES = 7


@given(MIXINGS, SEEDS, st.floats(0, 1))
def test_a_mixture_of_probabilities_is_one(mixing: Mixing, seed: int, web: float):
    random = np.random.default_rng(seed)
    first, second = (drawn(random, 5, NAMES, 0.1) for _ in range(2))
    shares = np.full(5, web, np.float32)
    for head in ("types", "relations", "fine"):
        mixed = mixing.mix(head, first, second, shares)
        assert mixed.shape == first.shape
        assert (mixed >= 0).all()
        assert (mixed.sum(axis=1, dtype=np.float64) <= 1 + 1e-5).all()
    fine = drawn(random, 5, 4, 0.1)
    of_fine = random.dirichlet(np.full(NAMES + 1, 0.1), 5).astype(np.float16).astype(np.float32)
    types = mixing.with_fine(first, fine, of_fine, shares)
    assert (types >= 0).all()
    assert (types.sum(axis=1, dtype=np.float64) <= 1 + 1e-5).all()


@given(MIXINGS, SEEDS)
def test_a_column_is_mixed_the_same_whatever_is_beside_it(mixing: Mixing, seed: int):
    random = np.random.default_rng(seed)
    first, second = (drawn(random, 9, NAMES, 0.1) for _ in range(2))
    web = random.random(9).astype(np.float32)
    together = mixing.mix("types", first, second, web)
    for row in range(9):
        one = slice(row, row + 1)
        alone = mixing.mix("types", first[one], second[one], web[one])
        assert alone.tobytes() == together[one].tobytes()


@given(SEEDS)
def test_what_is_left_for_none_makes_probabilities_sum_to_1(seed: int):
    shares = drawn(np.random.default_rng(seed), 5, NAMES, 0.1)
    whole = with_none(shares)
    assert whole[:, :-1].tobytes() == shares.tobytes()
    assert whole.sum(axis=1) == pytest.approx(np.ones(5), abs=1e-5)
