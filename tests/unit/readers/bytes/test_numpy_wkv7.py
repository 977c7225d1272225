"""The recurrence: worked numbers, and chunks against steps.

Tolerance: answers reach about 80, and float32 keeps them within 1e-5 of it over any number of steps.
"""

import numpy as np
import pytest

from aegir.readers.bytes.ragged import Ragged
from aegir.readers.bytes.wkv7 import Recurrence, Steps, wkv7_chunked, wkv7_short, wkv7_steps
from aegir_rl.base.arrays import F32

every = pytest.mark.parametrize("wkv7", [wkv7_steps, wkv7_chunked, wkv7_short])


def draw(lengths: list[int], heads: int = 2, size: int = 32) -> tuple[Steps, F32, Ragged]:
    random = np.random.default_rng(len(lengths))
    shape = (sum(lengths), heads, size)
    r, k, v, key = (random.standard_normal(shape, dtype=np.float32) for _ in range(4))
    key /= np.linalg.norm(key, axis=-1, keepdims=True)
    rate = random.random(shape, dtype=np.float32)
    w = np.exp(np.float32(-0.607) * random.random(shape, dtype=np.float32))
    state = random.standard_normal((len(lengths), heads, size, size), dtype=np.float32)
    return Steps(r, w, k, v, -key, key * rate), state, Ragged.of(np.array(lengths))


@every
def test_two_steps_worked_out_by_hand(wkv7: Recurrence) -> None:
    """K = V = 2, S = 0: after the first step S = k v^T = [[1, 2], [0, 0]], so y = S^T r = [3, 6].

    The second fades rows by 1/2 and 1: [[.5, 1], [0, 0]]; a = [-1, 0] asks the state before: [-1, -2];
    b = [1, 0] takes it off: [[-.5, -1], [0, 0]]; k v^T adds [[0, 0], [4, 4]]; y with r = [2, 1] is [3, 2].
    """
    one = lambda *rows: np.array(rows, np.float32)[:, None, :]  # noqa: E731
    steps = Steps(
        r=one([3, 1], [2, 1]),
        w=one([1, 1], [0.5, 1]),
        k=one([1, 0], [0, 1]),
        v=one([1, 2], [4, 4]),
        a=one([-1, 0], [-1, 0]),
        b=one([1, 0], [1, 0]),
    )
    y, state = wkv7(steps, np.zeros((1, 1, 2, 2), np.float32), Ragged.of(np.array([2])))
    np.testing.assert_allclose(y[:, 0], [[3, 6], [3, 2]], atol=1e-6)
    np.testing.assert_allclose(state[0, 0], [[-0.5, -1], [4, 4]], atol=1e-6)


@pytest.mark.parametrize(
    "lengths", [[1], [7], [15], [16], [17], [63], [100], [5, 0, 33, 16, 1], [4, 8, 3], [0], [0, 0]]
)
@pytest.mark.parametrize("wkv7", [wkv7_chunked, wkv7_short])
@pytest.mark.parametrize("begins", [0.0, 1.0])
def test_chunks_give_what_steps_give(lengths: list[int], wkv7: Recurrence, begins: float) -> None:
    steps, state, rows = draw(lengths)
    state *= np.float32(begins)
    (y, after), (expected, left) = (each(steps, state, rows) for each in (wkv7, wkv7_steps))
    np.testing.assert_allclose(y, expected, rtol=0, atol=1e-4)
    np.testing.assert_allclose(after, left, rtol=0, atol=1e-4)


def test_equal_keys_that_never_fade_cost_no_precision() -> None:
    """The worst case of the triangular system: a run of equal bytes, rewritten fully at each step."""
    steps, state, rows = draw([64], heads=1)
    key = np.broadcast_to(steps.a[:1], steps.a.shape).copy()
    hard = Steps(steps.r, np.ones_like(steps.w), -3 * key, steps.v, key, -key)
    y, _ = wkv7_chunked(hard, state, rows)
    exact, _ = wkv7_steps(hard, state, rows)
    assert np.abs(exact).max() > 5
    np.testing.assert_allclose(y, exact, rtol=0, atol=1e-4)


@every
def test_an_empty_row_keeps_its_state(wkv7: Recurrence) -> None:
    steps, state, rows = draw([3, 0, 20])
    _, after = wkv7(steps, state, rows)
    np.testing.assert_array_equal(after[1], state[1])
    assert np.abs(after[0] - state[0]).max() > 0.1


@every
def test_the_state_given_is_left_as_it_was(wkv7: Recurrence) -> None:
    steps, state, rows = draw([20, 3])
    kept = state.copy()
    wkv7(steps, state, rows)
    np.testing.assert_array_equal(state, kept)


@pytest.mark.parametrize(
    ("wkv7", "lengths"), [(wkv7_chunked, [40, 17, 80]), (wkv7_short, [6, 3, 20])]
)
def test_rows_do_not_see_each_other_bit_for_bit(wkv7: Recurrence, lengths: list[int]) -> None:
    steps, state, rows = draw(lengths)
    y, after = wkv7(steps, state, rows)
    own = slice(lengths[0], lengths[0] + lengths[1])
    alone = Steps(*(getattr(steps, name)[own] for name in ("r", "w", "k", "v", "a", "b")))
    answer, left = wkv7(alone, state[1:2], Ragged.of(np.array(lengths[1:2])))
    np.testing.assert_array_equal(answer, y[own])
    np.testing.assert_array_equal(left[0], after[1])
