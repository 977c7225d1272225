"""What holds for any columns that the byte network reads."""

import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from aegir.readers.bytes.architecture import Reading
from aegir.readers.bytes.byte_encoding import (
    PAD,
    SYMBOLS,
    Symbols,
    decode_column,
    encode_column,
    pad,
)
from aegir.readers.bytes.hierarchy import state_from_arrays, state_to_arrays
from aegir.tables.table import Column, clean_cell
from byte_models import LAYOUTS, closest_call, random_model

MODELS = {layout: random_model(layout) for layout in LAYOUTS}
UNDECIDED = 1e-5
"""Rounding may turn a boundary over where its probability is this near to one half."""

texts = st.text(st.characters(exclude_categories=("Cs",)), max_size=8)
layouts = st.sampled_from(sorted(LAYOUTS))
symbol = st.one_of(
    st.integers(0, SYMBOLS - 1).filter(lambda one: one != PAD), st.sampled_from([*b"aA0 .", 258])
)
batches = st.lists(st.lists(symbol, max_size=60), min_size=1, max_size=4).filter(any)


def padded(rows: list[list[int]]) -> Symbols:
    return pad([np.array(row, np.int16) for row in rows])[0]


@given(name=st.none() | texts, cells=st.lists(texts, max_size=8))
def test_what_is_encoded_whole_is_decoded_again(name: str | None, cells: list[str]) -> None:
    column = Column(name, tuple(cells))
    found = decode_column(encode_column(column, Reading(cells=8)))
    assert found.name == ((name or "").strip() or None)
    assert found.values == tuple(clean_cell(cell) for cell in column.present)


@settings(max_examples=40)
@given(layout=layouts, rows=batches, cut=st.integers(0, 60))
def test_cutting_anywhere_and_carrying_the_state_changes_nothing(
    layout: str, rows: list[list[int]], cut: int
) -> None:
    model, symbols = MODELS[layout], padded(rows)
    whole = model.read(symbols)
    assume(closest_call(whole) > UNDECIDED)
    first = model.read(symbols[:, :cut])
    state = state_from_arrays(state_to_arrays(first.state), model.architecture)
    second = model.read(symbols[:, cut:], state)
    answers = np.zeros_like(whole.output.padded())
    parts = [part.output.padded() for part in (first, second)]
    answers[:, : parts[0].shape[1]] += parts[0]
    answers[:, cut : cut + parts[1].shape[1]] += parts[1]
    np.testing.assert_allclose(answers, whole.output.padded(), rtol=0, atol=1e-4)
    ours, theirs = state_to_arrays(second.state), state_to_arrays(whole.state)
    for name, array in theirs.items():
        np.testing.assert_allclose(ours[name], array, rtol=0, atol=1e-4, err_msg=name)


@settings(max_examples=15)
@given(layout=layouts, rows=batches)
def test_steps_give_what_reading_at_once_gives(layout: str, rows: list[list[int]]) -> None:
    model, symbols = MODELS[layout], padded(rows)
    whole = model.read(symbols)
    assume(closest_call(whole) > UNDECIDED)
    state, answers = model.start(len(symbols)), np.zeros_like(whole.output.padded())
    for at in range(symbols.shape[1]):
        step = model.step(symbols[:, at], state)
        answers[symbols[:, at] != PAD, at] = step.output.x
        state = step.state
    np.testing.assert_allclose(answers, whole.output.padded(), rtol=0, atol=1e-4)


@settings(max_examples=40)
@given(layout=layouts, rows=batches, more=st.integers(0, 40))
def test_company_and_padding_change_no_bit(layout: str, rows: list[list[int]], more: int) -> None:
    model, symbols = MODELS[layout], padded(rows)
    together = model.vectors(model.read(np.pad(symbols, ((0, 0), (0, more)), constant_values=PAD)))
    for row, vector in zip(rows, together, strict=True):
        alone = model.vectors(model.read(np.array([row], np.int16).reshape(1, -1)))
        np.testing.assert_array_equal(alone[0], vector)


@settings(max_examples=30)
@given(layout=layouts, rows=batches, at=st.integers(0, 59), other=st.sampled_from([*b"xZ9-"]))
def test_what_comes_later_does_not_change_what_was_said(
    layout: str, rows: list[list[int]], at: int, other: int
) -> None:
    model, symbols = MODELS[layout], padded(rows)
    changed = symbols.copy()
    changed[:, at:] = np.where(changed[:, at:] == PAD, PAD, other)
    before, after = (model.read(one).output.padded() for one in (symbols, changed))
    np.testing.assert_allclose(after[:, :at], before[:, :at], rtol=0, atol=1e-4)
