"""Split the footer of a Parquet file into its fields and join them again, byte for byte.

    PAR1 | data pages, indexes … | FileMetaData | length of FileMetaData, 4 bytes | PAR1
                                   ^ a struct in Thrift's compact protocol

    fields = split_struct(footer)                      # [Field(1, version), Field(2, schema), …]
    fields = with_metadata(fields, {b"key": b"value"})
    footer = join_struct(fields)

Only key_value_metadata (field 5) is understood; every other field is copied as it stands, also those
that no reader knows yet. Data pages are addressed from the beginning of the file, so a footer that
grows or shrinks leaves them valid.

Promises
  - `join_struct(split_struct(footer))` holds the same fields, with the same bytes in each;
  - bytes that are no such struct raise `BrokenFooter`, whatever they are; nothing else is raised.

Format: https://github.com/apache/parquet-format (parquet.thrift) and
https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

BINARY, LIST, STRUCT = 8, 9, 12
_TRUE, _FALSE, _SET, _MAP = 1, 2, 10, 11
_FIXED = {3: 1, 7: 8, 13: 16}
"""Bytes of the kinds of one size: byte, double, uuid."""
_VARINTS = (4, 5, 6)
_DEEPEST = 64
KEY_VALUE_METADATA = 5
ENCRYPTION_ALGORITHM, SIGNING_KEY = 8, 9


class BrokenFooter(ValueError):
    """These bytes are not a struct of the compact protocol."""


@dataclass(frozen=True, slots=True)
class Field:
    """One field of a struct: its number, its kind on the wire, its value as it was written."""

    number: int
    kind: int
    body: bytes


def split_struct(raw: bytes) -> list[Field]:
    """The fields of a struct that fills these bytes."""
    fields = []
    at = 0
    try:
        for number, kind, start, end in _fields(raw, 0, 0):
            fields.append(Field(number, kind, raw[start:end]))
            at = end
    except IndexError:
        raise BrokenFooter("it ends inside a value") from None
    if at + 1 != len(raw):  # one more byte ends the struct
        raise BrokenFooter(f"it goes on behind its end, at byte {at + 1} of {len(raw)}")
    return fields


def join_struct(fields: Sequence[Field]) -> bytes:
    """The struct that holds these fields, which come in ascending order."""
    pieces = []
    before = 0
    for field in fields:
        step = field.number - before
        if 0 < step < 16:
            pieces.append(bytes([step << 4 | field.kind]))
        else:
            zigzag = field.number << 1 ^ field.number >> 63
            pieces.append(bytes([field.kind]) + _varint(zigzag))
        pieces.append(field.body)
        before = field.number
    return b"".join([*pieces, b"\0"])


def with_metadata(fields: Sequence[Field], added: Mapping[bytes, bytes]) -> list[Field]:
    """The fields of a footer with these keys in its metadata; other keys keep their bytes and order."""
    unchanged = [pair for pair in _pairs(fields) if _text(pair, 1) not in added]
    new = [
        join_struct([Field(1, BINARY, _sized(key)), Field(2, BINARY, _sized(value))])
        for key, value in added.items()
    ]
    pairs = [*unchanged, *new]
    short = len(pairs) < 15
    size = bytes([(len(pairs) if short else 15) << 4 | STRUCT])
    body = b"".join([size, b"" if short else _varint(len(pairs)), *pairs])
    others = [field for field in fields if field.number != KEY_VALUE_METADATA]
    return sorted([*others, Field(KEY_VALUE_METADATA, LIST, body)], key=lambda field: field.number)


def split_list(body: bytes) -> list[bytes]:
    """The structs of a list of structs, given as the body of its field."""
    try:
        count, kind, at = _list_header(body, 0)
        if count and kind != STRUCT:
            raise BrokenFooter("a list holds something else than structs")
        structs = []
        for _ in range(count):
            end = _skip(body, at, STRUCT, 0)
            structs.append(body[at:end])
            at = end
    except IndexError:
        raise BrokenFooter("it ends inside a list") from None
    return structs


def join_list(structs: Sequence[bytes]) -> bytes:
    """The body of a list of these structs."""
    count = len(structs)
    head = bytes([count << 4 | STRUCT]) if count < 15 else bytes([0xF0 | STRUCT]) + _varint(count)
    return head + b"".join(structs)


def number_of(field: Field) -> int:
    """The whole number that a field holds."""
    try:
        zigzag, _ = _read_varint(field.body, 0)
    except IndexError:
        raise BrokenFooter("it ends inside a number") from None
    return zigzag >> 1 ^ -(zigzag & 1)


def of_number(value: int) -> bytes:
    """The body of a field that holds a whole number."""
    return _varint((value << 1) ^ (value >> 63))


def _pairs(fields: Sequence[Field]) -> list[bytes]:
    """Each entry of the key-value metadata as it was written."""
    empty = Field(KEY_VALUE_METADATA, LIST, bytes([STRUCT]))
    field = next((field for field in fields if field.number == KEY_VALUE_METADATA), empty)
    body = field.body
    count, kind, at = _list_header(body, 0) if field.kind == LIST else (0, 0, 0)
    if kind != STRUCT:
        raise BrokenFooter("its metadata is no list of pairs")
    pairs = []
    for _ in range(count):
        end = _skip(body, at, STRUCT, 0)
        pairs.append(body[at:end])
        at = end
    return pairs


def _fields(raw: bytes, at: int, depth: int) -> Iterator[tuple[int, int, int, int]]:
    """Number, kind, start and end of each field of the struct that begins at `at`."""
    if depth > _DEEPEST:
        raise BrokenFooter("it is nested too deep")
    number = 0
    while head := raw[at]:
        kind, step = head & 15, head >> 4
        at += 1
        if step:
            number += step
        else:
            zigzag, at = _read_varint(raw, at)
            number = zigzag >> 1 ^ -(zigzag & 1)
        end = at if kind in (_TRUE, _FALSE) else _skip(raw, at, kind, depth)
        yield number, kind, at, end
        at = end


def _skip(raw: bytes, at: int, kind: int, depth: int) -> int:
    """Where the value of this kind that begins at `at` ends."""
    if kind == STRUCT:
        for _, _, _, end in _fields(raw, at, depth + 1):
            at = end
        return at + 1
    if kind in _VARINTS:
        return _read_varint(raw, at)[1]
    if kind == BINARY:
        size, at = _read_varint(raw, at)
        return _within(raw, at + size)
    if kind in (LIST, _SET):
        count, inner, at = _list_header(raw, at)
        return _skip_many(raw, at, (inner,), count, depth)
    if kind == _MAP:
        count, at = _read_varint(raw, at)
        kinds = (raw[at] >> 4, raw[at] & 15) if count else ()
        return _skip_many(raw, at + bool(count), kinds, count, depth)
    if kind in _FIXED:
        return _within(raw, at + _FIXED[kind])
    raise BrokenFooter(f"it holds a value of unknown kind {kind}")


def _skip_many(raw: bytes, at: int, kinds: tuple[int, ...], count: int, depth: int) -> int:
    if depth > _DEEPEST:
        raise BrokenFooter("it is nested too deep")
    for _ in range(count):
        for kind in kinds:
            # Inside lists a truth value has a byte of its own.
            at = at + 1 if kind in (_TRUE, _FALSE) else _skip(raw, at, kind, depth + 1)
        _within(raw, at)
    return at


def _list_header(raw: bytes, at: int) -> tuple[int, int, int]:
    """How many elements, of which kind, and where the first begins."""
    count, kind = raw[at] >> 4, raw[at] & 15
    if count < 15:
        return count, kind, at + 1
    count, at = _read_varint(raw, at + 1)
    return count, kind, at


def _within(raw: bytes, end: int) -> int:
    if end > len(raw):
        raise BrokenFooter("it ends inside a value")
    return end


def _read_varint(raw: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = raw[at]
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, at
        shift += 7
        if shift > 63:
            raise BrokenFooter("it holds a number of more than 64 bits")


def _varint(value: int) -> bytes:
    pieces = bytearray()
    while value > 127:
        pieces.append(value & 127 | 128)
        value >>= 7
    return bytes([*pieces, value])


def _sized(content: bytes) -> bytes:
    return _varint(len(content)) + content


def _text(pair: bytes, number: int) -> bytes:
    """The binary value of one field of a pair, empty when there is none."""
    for field in split_struct(pair):
        if field.number == number and field.kind == BINARY:
            return field.body[_read_varint(field.body, 0)[1] :]
    return b""
