"""The reader and writer of safetensors files, against the library and against damaged files."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from safetensors.numpy import load, save

from aegir_rl.base.errors import UsageError
from aegir_rl.base.safetensors_file import map_safetensors, read_safetensors, safetensors_bytes

ARRAYS = st.dictionaries(
    st.text(min_size=1, max_size=5).filter(lambda name: name != "__metadata__"),
    hnp.arrays(
        st.sampled_from([np.float32, np.float16, np.int8, np.int32, np.int64, np.uint8, np.bool_]),
        hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4),
    ),
    max_size=4,
)
GOOD = {"a": {"dtype": "I8", "shape": [2, 3], "data_offsets": [0, 6]}}


@given(arrays=ARRAYS, text=st.text(max_size=5))
def test_files_are_those_of_the_library(tmp_path_factory, arrays, text):
    path = tmp_path_factory.mktemp("files") / "x.safetensors"
    ours = safetensors_bytes(arrays, {"text": text})
    for content in (ours, save(arrays, {"text": text})):
        path.write_bytes(content)
        for read, metadata in (read_safetensors(path), map_safetensors(path).tensors()):
            assert metadata == {"text": text}
            assert_equal(read, arrays)
    assert_equal(load(ours), arrays)
    assert safetensors_bytes(dict(reversed(arrays.items())), {"text": text}) == ours


def assert_equal(read, arrays):
    assert set(read) == set(arrays)
    for name, array in arrays.items():
        assert (read[name].dtype, read[name].shape) == (array.dtype, array.shape)
        assert read[name].tobytes() == array.tobytes()


def content(header: object, data: bytes = b"123456") -> bytes:
    text = json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + data


@pytest.mark.parametrize(
    ("damaged", "reason"),
    [
        (b"", "no header"),
        (b"PK\x03\x04 something else altogether", "no header"),
        (content(GOOD)[:20], "no header"),
        (content(GOOD)[:-1], "end at byte"),
        (content(GOOD, b"1234567"), "end at byte"),
        (content([]), "no JSON object"),
        (content({"__metadata__": {"a": 1}, **GOOD}), "metadata are no texts"),
        (content({"a": 3}), "'a' is not described as a tensor"),
        (content({"a": GOOD["a"] | {"dtype": "BF16"}}), "'a' is not described as a tensor"),
        (content({"a": GOOD["a"] | {"shape": [2, -3]}}), "'a' is not described as a tensor"),
        (content({"a": GOOD["a"] | {"shape": [True, 6]}}), "'a' is not described as a tensor"),
        (content({"a": GOOD["a"] | {"shape": [2, 4]}}), "'a' is not described as a tensor"),
        (
            content({"a": GOOD["a"] | {"data_offsets": [2, 8]}}, b"12345678"),
            "overlap or leave gaps",
        ),
        (content({**GOOD, "b": GOOD["a"]}), "overlap or leave gaps"),
        ((2).to_bytes(8, "little") + b"{]", "Expecting"),
        ((4).to_bytes(8, "little") + b"\xff\xfe\xff\xfe", "decode"),
    ],
)
def test_damaged_files_are_refused_in_a_sentence(tmp_path: Path, damaged: bytes, reason: str):
    path = tmp_path / "x.safetensors"
    path.write_bytes(damaged)
    with pytest.raises(UsageError, match=rf"x\.safetensors cannot be read as a model \(.*{reason}"):
        read_safetensors(path)
    with pytest.raises(UsageError, match=r"x\.safetensors cannot be read as a model \("):
        map_safetensors(path).tensors()
