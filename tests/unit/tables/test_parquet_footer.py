"""The walker over Thrift's compact protocol, on bytes worked out by hand and on any bytes."""

import io

import polars
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from aegir.tables.parquet_footer import (
    BrokenFooter,
    Field,
    _pairs,
    _text,
    join_struct,
    split_struct,
    with_metadata,
)


def metadata_pairs(fields: list[Field]) -> dict[bytes, bytes]:
    return {_text(pair, 1): _text(pair, 2) for pair in _pairs(fields)}


# Field 1 (i32 varint 300), field 2 (true, no body), field 20 (long form: number zigzag 40; "hi").
BY_HAND = b"\x15\xac\x02" + b"\x11" + b"\x08\x28\x02hi" + b"\0"


def footer_of_polars() -> bytes:
    buffer = io.BytesIO()
    polars.DataFrame({"id": [1, 2], "tags": [["a"], []]}).write_parquet(buffer)
    raw = buffer.getvalue()
    return raw[-8 - int.from_bytes(raw[-8:-4], "little") : -8]


def test_fields_are_found_with_their_bytes() -> None:
    assert split_struct(BY_HAND) == [
        Field(1, 5, b"\xac\x02"),
        Field(2, 1, b""),
        Field(20, 8, b"\x02hi"),
    ]
    assert join_struct(split_struct(BY_HAND)) == BY_HAND


@pytest.mark.parametrize(
    "value",
    [
        b"\x19\x25\x02\x04",  # a list of two i32
        b"\x19\x21\x01\x02",  # a list of two truth values, a byte each
        b"\x1a\xf3\x10" + b"x" * 16,  # a set of 16 bytes, its size behind the header
        b"\x1b\0",  # an empty map
        b"\x1b\x01\x85\x01a\x02",  # a map of one text to one i32
        b"\x17" + b"x" * 8,  # a double
        b"\x1d" + b"x" * 16,  # a uuid
        b"\x13x",  # a byte
        b"\x1c\x15\x02\x1c\0\0",  # a struct in a struct
    ],
)
def test_values_of_every_kind_are_stepped_over(value: bytes) -> None:
    first, second = split_struct(value + b"\x16\x08" + b"\0")
    assert (first.body, second) == (value[1:], Field(2, 6, b"\x08"))
    for length in range(len(value)):
        with pytest.raises(BrokenFooter):
            split_struct(value[:length])


def test_a_key_is_added_replaced_and_kept_in_order() -> None:
    fields = split_struct(footer_of_polars())
    old = metadata_pairs(fields)
    fields = with_metadata(fields, {b"a": b"1", b"b": b"2"})
    fields = with_metadata(fields, {b"a": b"3"})
    assert metadata_pairs(fields) == {**old, b"b": b"2", b"a": b"3"}
    numbers = [field.number for field in split_struct(join_struct(fields))]
    assert numbers == sorted(numbers)
    assert numbers.count(5) == 1


def test_values_nested_without_end_are_refused() -> None:
    with pytest.raises(BrokenFooter, match="nested too deep"):
        split_struct(b"\x1c" * 5000)
    with pytest.raises(BrokenFooter, match="nested too deep"):
        split_struct(b"\x19" + b"\x19" * 5000)


def test_a_list_of_a_billion_is_refused_at_once() -> None:
    for kind in (1, 3, 5, 8, 12):
        with pytest.raises(BrokenFooter):
            split_struct(b"\x19" + bytes([0xF0 | kind]) + b"\xff\xff\xff\xff\x07" + b"\0" * 5)


@pytest.mark.parametrize("field", [b"\x55\x02", b"\x51", b"\x59\x15\x02"])
def test_metadata_that_is_no_list_of_pairs_is_refused(field: bytes) -> None:
    with pytest.raises(BrokenFooter, match="no list of pairs"):
        metadata_pairs(split_struct(field + b"\0"))


def test_a_pair_whose_key_is_no_text_is_kept() -> None:
    fields = split_struct(b"\x59\x1c\x11\0\0")  # one pair, its key is `true`
    assert metadata_pairs(with_metadata(fields, {b"a": b"b"})) == {b"": b"", b"a": b"b"}


@given(raw=st.binary(max_size=200))
@example(raw=b"\x08\x01\0\0")  # a field numbered -1
def test_any_bytes_are_a_struct_that_survives_or_are_refused(raw: bytes) -> None:
    try:
        fields = split_struct(raw)
        metadata_pairs(fields)
    except BrokenFooter:
        return
    assert split_struct(join_struct(fields)) == fields


@given(place=st.integers(0, 2000), byte=st.integers(0, 255))
def test_a_flipped_byte_never_raises_anything_else(place: int, byte: int) -> None:
    raw = bytearray(footer_of_polars())
    raw[place % len(raw)] = byte
    try:
        fields = split_struct(bytes(raw))
        join_struct(with_metadata(fields, {b"a": b"b"}))
        metadata_pairs(fields)
    except BrokenFooter:
        pass
