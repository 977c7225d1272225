"""The shipped network: steps, cuts, threads, and answers that depend on one column or table alone."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from aegir.readers.bytes.architecture import Architecture, Reading
from aegir.readers.bytes.byte_encoding import PAD
from aegir.readers.bytes.hierarchy import state_from_arrays, state_to_arrays
from aegir.readers.bytes.network import ByteModel, _groups
from aegir.readers.bytes.rwkv7 import GROUP_NUMBERS
from aegir.readers.bytes.table_mixer import OTHER, SUBJECT, UNKNOWN
from aegir_rl.base.errors import UsageError
from aegir_rl.base.files import replace_file
from aegir_rl.base.safetensors_file import read_safetensors, safetensors_bytes
from byte_models import LAYOUTS, closest_call, random_checkpoint, random_model, text_columns

every_layout = pytest.mark.parametrize("layout", LAYOUTS)


@every_layout
def test_symbol_by_symbol_gives_what_reading_at_once_gives(layout: str) -> None:
    model = random_model(layout)
    symbols = text_columns([40, 3, 18, 1, 0])
    whole = model.read(symbols)
    assert closest_call(whole) > 1e-5
    state = model.start(len(symbols))
    answers = np.zeros_like(whole.output.padded())
    for at in range(symbols.shape[1]):
        step = model.step(symbols[:, at], state)
        answers[symbols[:, at] != PAD, at] = step.output.x
        state = step.state
    np.testing.assert_allclose(answers, whole.output.padded(), rtol=0, atol=5e-5)
    ours, theirs = state_to_arrays(state), state_to_arrays(whole.state)
    for name, array in theirs.items():
        np.testing.assert_allclose(ours[name], array, rtol=0, atol=5e-5, err_msg=name)


def test_a_row_longer_than_the_cache_reads_as_if_it_were_cut_by_hand() -> None:
    model = random_model("one level")
    symbols = text_columns([GROUP_NUMBERS // 64 + 50])
    whole = model.read(symbols)
    first = model.read(symbols[:, :900])
    second = model.read(symbols[:, 900:], first.state)
    pieces = np.concatenate([first.output.x, second.output.x])
    np.testing.assert_allclose(pieces, whole.output.x, rtol=0, atol=5e-5)


@every_layout
def test_a_column_gets_the_same_bits_in_any_company(layout: str) -> None:
    model = random_model(layout)
    lengths = [int(one) for one in np.random.default_rng(0).integers(1, 180, 64)]
    symbols = text_columns(lengths)
    together = model.vectors(model.read(symbols))
    some = model.vectors(model.read(np.pad(symbols[7:14], ((0, 0), (0, 9)), constant_values=PAD)))
    np.testing.assert_array_equal(some, together[7:14])
    for row in (0, 7, 33, 63):
        alone = model.vectors(model.read(symbols[row : row + 1, : lengths[row]]))
        np.testing.assert_array_equal(alone[0], together[row])


@every_layout
def test_a_table_gets_the_same_bits_in_any_company(layout: str) -> None:
    model = random_model(layout)
    counts = np.array([3, 1, 40, 7, 2])
    random = np.random.default_rng(0)
    width = model.architecture.column_width
    vectors = random.standard_normal((counts.sum(), width)).astype(np.float32)
    roles = random.integers(0, 3, len(vectors))
    together = model.types(model.mix(vectors, roles, counts))
    for end, count in zip(np.cumsum(counts), counts, strict=True):
        own = slice(end - count, end)
        alone = model.types(model.mix(vectors[own], roles[own]))
        np.testing.assert_array_equal(alone, together[own])


def test_reading_leaves_the_state_it_was_given_as_it_was() -> None:
    model = random_model("two levels")
    symbols = text_columns([30, 12])
    state = model.read(symbols[:, :10]).state
    kept = {name: array.copy() for name, array in state_to_arrays(state).items()}
    model.read(symbols[:, 10:], state)
    model.step(symbols[:, 10], state)
    for name, array in state_to_arrays(state).items():
        np.testing.assert_array_equal(array, kept[name], err_msg=name)


def test_a_state_saved_to_a_file_goes_on_with_the_same_bits(tmp_path: Path) -> None:
    model = random_model("two levels")
    symbols = text_columns([30, 12])
    state = model.read(symbols[:, :10]).state
    replace_file(tmp_path / "state", safetensors_bytes(state_to_arrays(state), {}))
    arrays, _ = read_safetensors(tmp_path / "state")
    restored = state_from_arrays(arrays, model.architecture)
    expected, found = (model.read(symbols[:, 10:], one) for one in (state, restored))
    np.testing.assert_array_equal(found.output.x, expected.output.x)


def test_a_state_of_another_layout_is_refused() -> None:
    one, two = LAYOUTS["one level"], LAYOUTS["two levels"]
    arrays = state_to_arrays(ByteModel(random_checkpoint(one)).start(2))
    with pytest.raises(UsageError, match=r"^the state (lacks|has an unknown) stage\.\S+; it was"):
        state_from_arrays(arrays, two)
    narrow = Architecture(layout=one.layout, widths=(32, 96), column_width=64)
    with pytest.raises(UsageError, match=r"stage\.encoder\.0\.time_shift of the state is float32"):
        state_from_arrays(arrays, narrow)
    with pytest.raises(UsageError, match=r"has no stage\.started"):
        state_from_arrays({}, one)


def test_two_threads_share_one_model() -> None:
    model = random_model("one level")
    batches = [text_columns([90, 20, 55], seed) for seed in range(8)]
    expected = [model.vectors(model.read(batch)) for batch in batches]
    with ThreadPoolExecutor(2) as threads:
        found = list(threads.map(lambda batch: model.vectors(model.read(batch)), batches))
    np.testing.assert_array_equal(found, expected)


def test_a_table_that_fits_is_mixed_whole_and_a_wide_one_in_parts() -> None:
    reading = Reading(context_bytes=200)
    architecture = Architecture(layout=["w1"], widths=(32,), column_width=32, reading=reading)
    model = ByteModel(random_checkpoint(architecture))
    columns = [row[row != PAD] for row in text_columns([50, 60, 40, 70, 30])]
    vectors = np.random.default_rng(0).standard_normal((5, 32)).astype(np.float32)
    roles = np.array([OTHER, OTHER, SUBJECT, OTHER, OTHER])
    narrow = model.mix_tables(vectors[:3], roles[:3], [columns[:3]])
    np.testing.assert_array_equal(narrow, model.mix(vectors[:3], roles[:3]))
    wide = model.mix_tables(vectors, roles, [columns])
    assert wide.shape == (5, 32)
    both = model.mix_tables(
        np.concatenate([vectors, vectors[:3]]), np.append(roles, roles[:3]), [columns, columns[:3]]
    )
    np.testing.assert_array_equal(both, np.concatenate([wide, narrow]))
    assert not np.allclose(wide, model.mix(vectors, roles), atol=1e-3)


def test_many_columns_are_mixed_a_few_at_a_time_with_the_same_result(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    model = random_model("one level")
    tables = [[row[row != PAD] for row in text_columns([20] * count)] for count in (3, 1, 2, 2, 5)]
    vectors = np.random.default_rng(0).standard_normal((13, 64)).astype(np.float32)
    roles = np.full(13, UNKNOWN)
    at_once = model.mix_tables(vectors, roles, tables)
    monkeypatch.setattr("aegir.readers.bytes.network.MIXED_AT_ONCE", 4)
    assert list(_groups([3, 1, 2, 2, 5])) == [[3, 1], [2, 2], [5]]
    np.testing.assert_array_equal(model.mix_tables(vectors, roles, tables), at_once)


def test_the_subject_is_seen_by_the_others_and_roles_matter() -> None:
    model = random_model("one level")
    vectors = np.random.default_rng(0).standard_normal((3, 64)).astype(np.float32)
    answers = [
        model.relations(model.mix(vectors, np.array(roles)))
        for roles in ([SUBJECT, OTHER, OTHER], [OTHER, SUBJECT, OTHER], [UNKNOWN] * 3)
    ]
    assert all(np.abs(one - answers[0]).max() > 0.05 for one in answers[1:])


def test_numpy_is_all_that_reading_needs() -> None:
    code = (
        "import sys, aegir.readers.bytes.network; "
        "print(sorted({'torch', 'numba', 'scipy', 'sklearn', 'duckdb'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
