"""JSON lines, and lists of JSON objects, rewritten record by record.

Objects inside records are walked down: the column of `{"user": {"email": …}}` is `user`, or `user.email` where the answer has it.
A value that belongs to no column of the answer (a key that the sample did not have) is redacted, or left and counted if the
policy lists what is unsure. Numbers keep the digits they were written with. A masked value becomes text.

Limits: a list of objects is held in memory as a whole, up to `LIST_LIMIT` bytes; keys are not masked.
"""

import json
import secrets
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import islice
from typing import Any, NamedTuple

from aegir.masking.rows import RowMasker
from aegir.masking.text_streams import PIECE, Progress, Sink, TextFile, Write
from aegir.tables.cell_text import cell_text
from aegir_rl.base.errors import UnreadableTable, UsageError
from aegir_rl.base.text import amount

LIST_LIMIT = 64 << 20
RECORDS_AT_ONCE = 512
_NUMBER_MARK = f"\ue000{secrets.token_hex(8)}:"
"""Stands before a number that would be written differently than it was read."""


def _written(text: str) -> float | str:
    number = float(text)
    return number if repr(number) == text else _NUMBER_MARK + text


_loads = partial(json.loads, parse_float=_written, strict=False)


class RecordMasker:
    """Masks the records of one table by the names of their columns."""

    def __init__(self, masker: RowMasker) -> None:
        self.masker = masker
        self._indices: dict[str | None, list[int]] = {}
        for each in masker.plan.columns:
            self._indices.setdefault(each.name, []).append(each.index)
        for name, shared in self._indices.items():
            masked = [index for index in shared if index in masker.masked]
            if len({masker.plan.columns[index].action for index in shared}) > 1:
                self._indices[name] = masked[:1]  # which is which may be seen wrongly
        self._paths: dict[str, dict[tuple[str, ...], int]] = {}

    def mask(self, records: Sequence[dict[str, Any]]) -> None:
        """Mask the values of records in place."""
        masker = self.masker
        leaves = [list(self.leaves(record)) for record in records]
        rows = []
        for found in leaves:
            cells = [""] * len(masker.plan.columns)
            for leaf in reversed(found):  # the first of a column's values in a record is its cell
                if leaf.column is not None:
                    cells[leaf.column] = leaf.text
            rows.append(cells)
        for found, masked in zip(leaves, masker.mask_rows(rows), strict=True):
            seen = set()
            for leaf in found:
                if leaf.column is None:
                    text = masker.mask_outside(leaf.text)
                elif leaf.column in seen:
                    text = masker.mask_cell(leaf.column, leaf.text, 0, ())
                else:
                    text = masked[leaf.column]
                    seen.add(leaf.column)
                if text != leaf.text:
                    leaf.holder[leaf.key] = text

    def leaves(self, holder: dict[str, Any], above: tuple[str, ...] = ()) -> Iterator["Leaf"]:
        """Every value of a record that is masked as one."""
        for key, value in holder.items():
            path = (*above, key)
            index = self._column(path)
            if index is None and isinstance(value, dict) and value:
                yield from self.leaves(value, path)
            else:
                yield Leaf(holder, key, index, _text(value))

    def _column(self, path: tuple[str, ...]) -> int | None:
        """The column of a path; of paths with one name (a.b, and b in a), each has its own, in the order they are met."""
        name = ".".join(path)
        indices = self._indices.get(name)
        if indices is None:
            return None
        if len(indices) == 1:
            return indices[0]
        known = self._paths.setdefault(name, {})
        return indices[min(known.setdefault(path, len(known)), len(indices) - 1)]


class Leaf(NamedTuple):
    """A value of a record: its object and key there, its column if it has one, and its text."""

    holder: dict[str, Any]
    key: str
    column: int | None
    text: str


def _text(value: Any) -> str:
    return cell_text(value).replace(_NUMBER_MARK, "")


def _dumps(value: Any, source: str, **options: Any) -> str:
    """JSON with escapes where its source has nothing else, or holds halves of a character that only escapes can write."""
    escapes = source.isascii() or "\\ud" in source
    text = json.dumps(value, ensure_ascii=escapes, **options)
    if escapes:
        text = text.replace(json.dumps(_NUMBER_MARK)[1:-1], _NUMBER_MARK)
    while (start := text.find('"' + _NUMBER_MARK)) >= 0:
        end = text.index('"', start + 1)
        text = text[:start] + text[start + 1 + len(_NUMBER_MARK) : end] + text[end + 1 :]
    return text


def rewrite_lines(file: TextFile, masker: RowMasker, write: Write, progress: Progress) -> list[str]:
    """Write masked JSON lines; return notes."""
    sink, records, broken = Sink(write, file), RecordMasker(masker), 0
    lines = file.lines(progress)
    while batch := list(islice(lines, RECORDS_AT_ONCE)):
        read = [(line, _record(line)) for line in batch]
        records.mask([record for _, record in read if record is not None])
        for line, record in read:
            if record is not None:
                end = line[len(line.rstrip("\r\n")) :]
                options = {} if '": ' in line else {"separators": (",", ":")}
                sink.buffer.write(_dumps(record, line, **options) + end)
            elif line.strip():
                broken += 1
            else:
                sink.buffer.write(line)
        sink.flush(PIECE)
    sink.flush()
    return [f"left out: {amount(broken, 'line')} without a JSON object"] if broken else []


def _record(line: str) -> dict[str, Any] | None:
    try:
        record = _loads(line)
    except (ValueError, RecursionError):
        return None
    return record if isinstance(record, dict) else None


def rewrite_list(file: TextFile, masker: RowMasker, write: Write) -> list[str]:
    """Write a masked list of objects, indented as it was; return notes."""
    text = "".join(file.lines())
    masked = _list(file, text)
    RecordMasker(masker).mask(masked)
    start = text.lstrip()[1:]
    indent = len(start) - len(start.lstrip(" \r\n")) - 1 if start[:1] in "\r\n" else None
    sink = Sink(write, file)
    sink.buffer.write(_dumps(masked, text, indent=indent) + ("\n" if text.endswith("\n") else ""))
    sink.flush()
    return []


def _list(file: TextFile, text: str) -> list[dict[str, Any]]:
    """The objects of a document that is a list of them; refuse other documents."""
    if file.path.stat().st_size > LIST_LIMIT:
        raise UsageError(
            f"{file.path} is a JSON document above {LIST_LIMIT >> 20} MB; write it as JSON lines to mask it"
        )
    try:
        document = _loads(text)
    except (ValueError, RecursionError):
        document = None
    if not isinstance(document, list) or not all(isinstance(each, dict) for each in document):
        raise UnreadableTable(
            f"{file.path} is a JSON document that is no list of objects; write it as JSON lines to mask it"
        )
    return document


def read_masked(
    file: TextFile, masker: RowMasker, progress: Progress, *, lines: bool
) -> Iterator[list[tuple[int, str]]]:
    """The records of a file that was written here, each value with its column; one past the last for none."""
    reader = RecordMasker(masker)
    outside = masker.plan.unnamed_index
    found: Iterable[dict[str, Any] | None] = (
        map(_record, file.lines(progress)) if lines else _list(file, "".join(file.lines()))
    )
    for record in found:
        if record is not None:
            yield [
                (outside if leaf.column is None else leaf.column, leaf.text)
                for leaf in reader.leaves(record)
            ]
