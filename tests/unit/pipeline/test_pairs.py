"""Reading the columns of a table together: what it changes, and what it must not change."""

from dataclasses import asdict, replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from aegir.readers.mixing import PairModel, Pairs, PairWeights, log_ratios
from aegir.vocabulary.terms import RELATION_NAMES, TYPE_INDEX, TYPE_NAMES
from aegir_rl.base.errors import UsageError

NAMES = ("telephone", "fax", "city")
WEIGHTS = PairWeights(1.0, 1.0, crowding=0.5, damping=1.0, same_damping=1.0, temperature=1.0)
COUNTS = np.array([[0, 20, 30], [0, 0, 10], [0, 0, 0]], np.float32)
"""Twenty tables have a telephone before a fax number, none two telephones."""


def pairs(**changed: float) -> Pairs:
    return Pairs(NAMES, COUNTS, replace(WEIGHTS, **changed))


def test_of_two_columns_like_telephones_the_later_one_becomes_the_fax():
    found = pairs().apply(np.array([[0.8, 0.2, 0], [0.8, 0.2, 0]], np.float32))
    assert found.argmax(axis=1).tolist() == [0, 1]


def test_ratios_are_those_of_counts_worked_out_by_hand():
    # Two names that share 4 tables, a first in 3 of them; a pair of equal names never occurs.
    # S = [[0, 4], [4, 0]], each name is in 4 pairs of 8, so E = 4 * 4 / 8 = 2 everywhere and r is 0 or 2.
    # Dampings 1 for different names and 1/4 for equal ones: log (2 + 1) / 2 and log (0 + 1/4) / (5/4).
    together, order = log_ratios(np.array([[0, 3], [1, 0]], np.float32), 1.0, same_damping=0.25)
    assert together == pytest.approx(np.log([[1 / 5, 3 / 2], [3 / 2, 1 / 5]]), abs=1e-6)
    # order: (3 + 1/2) / (2 + 1/2) and (1 + 1/2) / (2 + 1/2)
    assert order == pytest.approx(np.log([[1, 1.4], [0.6, 1]]), abs=1e-6)


def test_one_round_adds_the_messages_of_the_other_columns(monkeypatch):
    monkeypatch.setattr("aegir.readers.mixing.ROUNDS", 1)
    counts = np.array([[0, 3], [1, 0]], np.float32)
    model = Pairs(("a", "b"), counts, PairWeights(1.0, 0.0, 0.0, 1.0, 1.0, 1.0))
    before = np.array([[0.5, 0.5], [1.0, 0.0]], np.float32)
    # The first column hears of an a behind it: log(1/2) for being a itself, log(3/2) for being b, so odds 1 : 3.
    found = model.apply(before)
    assert found[0] == pytest.approx([1 / 4, 3 / 4], abs=1e-5)
    assert found[1].tolist() == [1.0, 0.0]  # b was impossible


@given(
    arrays(np.float32, (4, 3), elements=st.floats(0, 1, width=32)),
    st.floats(0, 1),
)
def test_none_keeps_its_probability_and_the_impossible_stays(given_rows, strength):
    rows = given_rows / np.maximum(given_rows.sum(axis=1, keepdims=True), 1)
    found = pairs(temperature=1.3).apply(rows, strength)
    assert np.isfinite(found).all()
    assert found.sum(axis=1) == pytest.approx(rows.sum(axis=1), abs=1e-4)
    assert (found[rows == 0] == 0).all()


def test_one_column_and_no_strength_change_nothing():
    row = np.array([[0.6, 0.3, 0.1]], np.float32)
    assert pairs().apply(row) is row
    two = np.vstack([row, row])
    assert pairs().apply(two, 0.0) is two


def test_a_column_without_values_hears_and_says_nothing():
    rows = np.array([[0.8, 0.2, 0], [0, 0, 0], [0.8, 0.2, 0]], np.float32)
    found = pairs(crowding=0.0).apply(rows)
    assert not found[1].any()
    assert found[[0, 2]] == pytest.approx(pairs(crowding=0.0).apply(rows[[0, 2]]), abs=1e-6)


def test_pairs_survive_json_and_refuse_what_is_damaged():
    counts = np.zeros((len(TYPE_NAMES), len(TYPE_NAMES)), np.float32)
    counts[TYPE_INDEX["telephone"], TYPE_INDEX["faxNumber"]] = 2.5
    relations = np.zeros((len(RELATION_NAMES), len(RELATION_NAMES)), np.float32)
    model = PairModel(Pairs(TYPE_NAMES, counts, WEIGHTS), Pairs(RELATION_NAMES, relations, WEIGHTS))
    data = model.as_json()
    again = PairModel.from_json(data)
    assert again.types.counts.tolist() == counts.tolist()
    assert again.types.weights == WEIGHTS
    with pytest.raises(UsageError, match="types and relations"):
        PairModel.from_json({"types": data["types"]})
    unknown = {"weights": asdict(WEIGHTS), "counts": {"telephone": {"carrier pigeon": 1.0}}}
    with pytest.raises(UsageError, match="cannot be read"):
        PairModel.from_json({**data, "types": unknown})
    negative = {"weights": asdict(WEIGHTS), "counts": {"telephone": {"faxNumber": -1.0}}}
    with pytest.raises(UsageError, match="negative or not finite"):
        PairModel.from_json({**data, "types": negative})
    with pytest.raises(UsageError, match="temperature of the pairs"):
        PairWeights(1.0, 1.0, 0.5, 1.0, 1.0, 0.0)
