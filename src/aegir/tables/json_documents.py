"""JSON to tables: lines, arrays of records, and other shapes in which tables are stored.

    {"a": 1}\\n{"a": 2}         JSON lines                   [{"a": 1}, {"a": 2}]    records
    {"a": [1, 2]}              columns                      {"rows": [{"a": 1}]}    records under a key
    {"x": {"a": 1}}            records by key               [["a"], [1]]            a grid
    {\\n "a": 1\\n}\\n{\\n…       one object after another, over any number of lines
    {"Customer": [{…}], "Invoice": [{…}]}                   several tables: file.json#Customer, file.json#Invoice

Promises
  - numbers keep the digits they were written with (1.50 stays 1.50); objects and lists of objects in records become
    columns and tables (nesting.py), other lists become JSON;
  - every list of objects up to `SEARCH_DEPTH` objects below the top is a table; what is beside them is named in a warning;
  - a document that breaks off gives the records before the break, with a warning;
  - large files are sampled in blocks: the records of a block are recognised by the first key of the first
    record of the document;
  - time is linear in the size of the sample, however deep it is nested.

Limits: a document above 4 MB must be lines, records, or an object of lists of records (json_outline.py); columns need the
whole document. Of an object above 256 MB, or whose end is not found, the first list is read, with a warning.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from aegir.tables.assembling import COLUMN_LIMIT, Request, choose_rows, merge_pieces
from aegir.tables.cell_text import cell_text
from aegir.tables.delimited import table_from_grid
from aegir.tables.json_outline import MARK, SEARCH_DEPTH
from aegir.tables.nesting import Columns, TableBudget, is_list_of_objects, nested_tables
from aegir.tables.table import Table
from aegir.tables.text_decoding import TextSample
from aegir_rl.base.errors import UnreadableTable
from aegir_rl.base.text import amount

FAILED_STARTS = 20
"""Positions that begin like a record and cannot be decoded, after which no more are tried.

Each failure costs up to the rest of the text. In a document that breaks off, only the records around the
break fail, so this is how deep they may be nested.
"""
LINES_LOOKED_AT = 20
"""Lines below the first object, of which one must begin as an object in JSON lines."""
MOST_DIGITS = 4000
NAMED = 5
"""Values beside the lists of a document that a warning names."""
_BLANK = re.compile(r"[\s,]*")


class WrittenNumber(float):
    """A float that remembers how it was written."""

    text: str

    def __new__(cls, text: str) -> "WrittenNumber":
        number = super().__new__(cls, text)
        number.text = text
        return number

    def __str__(self) -> str:
        return self.text


def written_integer(text: str) -> int | str:
    """A whole number, or its text if it has more digits than Python computes with."""
    return int(text) if len(text) <= MOST_DIGITS else text


DECODER = json.JSONDecoder(parse_float=WrittenNumber, parse_int=written_integer, strict=False)


def looks_like_lines(text: str) -> bool:
    """Whether the first line is a JSON object by itself and one of the next lines begins as another one."""
    first, _, rest = text.lstrip().partition("\n")
    if not first.startswith("{") or not isinstance(_decode(first), dict):
        return False
    following = islice(re.finditer(r"\S[^\n]*", rest), LINES_LOOKED_AT)
    return any(line[0].startswith("{") for line in following)


def read_json_lines(sample: TextSample, request: Request) -> list[Table]:
    """Sample JSON lines; only the chosen lines are decoded."""
    head, *blocks = (_present_lines(part) for part in (sample.head, *sample.blocks))
    lines = merge_pieces(head, blocks, request.generator("pieces"))
    chosen = choose_rows(len(lines), request.rows, request.generator("rows"))
    decoded = [_decode(lines[index]) for index in chosen]
    records = [record for record in decoded if isinstance(record, dict)]
    warnings = list(sample.warnings)
    if len(records) < len(decoded):
        others = amount(len(decoded) - len(records), "line")
        warnings.append(f"left out: {others} without a JSON object")
    if not records:
        raise UnreadableTable(f"{request.label} has no line that is a JSON object")
    return _from_records(records, request, len(lines) if sample.whole else None, warnings)


def read_json_document(sample: TextSample, request: Request) -> list[Table]:
    """Read a document that is one JSON value, whole or sampled."""
    document = _decode(sample.head) if sample.whole else None
    if document is not None:
        return tables_from_json(document, request, sample.warnings)
    if not sample.whole and (found := _search_outline(sample, request)) is not None:
        return _from_lists(found, request, sample.warnings)
    records, complete = _records_in_a_row(sample.head)
    in_a_row = len(records) >= 2
    if not in_a_row:
        records, complete = _partial_records(sample.head), False
    if not records:
        raise UnreadableTable(_why_unreadable(sample, request))
    warnings = list(sample.warnings)
    if sample.whole and not complete:
        warnings.append(
            f"the JSON breaks off; what came before was read: {amount(len(records), 'record')}"
        )
    blocks = [_records_in_block(block, records[0]) for block in sample.blocks]
    if not in_a_row and not sample.whole and sample.head.lstrip().startswith("{"):
        warnings.append(
            "a JSON document above 4 MB whose end was not found: only its first list of objects was read, and what follows it "
            "is in no table; write its lists to files of their own"
        )
    records = merge_pieces(records, blocks, request.generator("pieces"))
    chosen = choose_rows(len(records), request.rows, request.generator("rows"))
    total = len(records) if complete and sample.whole else None
    return _from_records([records[index] for index in chosen], request, total, warnings)


def tables_from_json(document: Any, request: Request, warnings: Sequence[str] = ()) -> list[Table]:
    """The tables in a decoded document, whatever its shape."""
    found = _Search(document)
    if found.lists:
        return _from_lists(found, request, warnings)
    if isinstance(document, list) and document:
        if all(isinstance(row, list) and row for row in document):
            grid = [[cell_text(cell) for cell in row] for row in document]
            return [table_from_grid(grid, request, warnings)]
        return _from_columns({"": document}, request, warnings)
    if isinstance(document, dict) and document:
        if _is_columns(document):
            return _from_columns(_plain_columns(document), request, warnings)
        return _from_records([document], request, 1, warnings)
    raise UnreadableTable(f"{request.label} is JSON without records; expected a list of objects")


def decode_list(text: str) -> list[Any]:
    """The items of a list, up to where its text breaks off."""
    whole = _decode(text)
    if isinstance(whole, list):
        return whole
    start = len(text) - len(text[1:].lstrip())
    return [value for value, _ in _elements(text, start)]


def _present_lines(text: str) -> list[str]:
    return [line for line in text.split("\n") if line.strip()]


def _decode(text: str) -> Any:
    """The value of a JSON text; None for a text that is not exactly one value."""
    try:
        value, end = DECODER.raw_decode(text.strip())
    except (ValueError, RecursionError):
        return None
    return value if end == len(text.strip()) else None


@dataclass(frozen=True, slots=True)
class _List:
    """A list of objects in a document, and the keys that lead to it."""

    path: str
    records: Sequence[Mapping[str, Any]]
    others: int = 0
    """Items of the list that are no objects."""
    whole: bool = True


class _Search:
    """The lists of objects in a document, in its order, and the paths of what is in none of them.

    `large` has the records of the values that are marks in an outline.
    """

    def __init__(self, document: Any, large: Sequence[Sequence[Mapping[str, Any]]] = ()) -> None:
        self.lists: list[_List] = []
        self.beside: list[str] = []
        self._large = large
        self._look(document, (), 0)

    def _look(self, value: Any, path: tuple[str, ...], depth: int) -> None:
        name = ".".join(path)
        if self._large and (records := self._large_records(value)):
            self.lists.append(_List(name, records, whole=False))
        elif isinstance(value, list) and is_list_of_objects(value):
            objects = [item for item in value if isinstance(item, dict)]
            self.lists.append(_List(name, objects, len(value) - len(objects)))
        elif isinstance(value, dict) and depth < SEARCH_DEPTH and not _is_columns(value):
            if (by_key := _records_by_key(value)) is not None:
                self.lists.append(_List(name, by_key))
                return
            for key, below in value.items():
                self._look(below, (*path, key), depth + 1)
        elif value != "FeatureCollection":  # what GeoJSON calls itself
            self.beside.append(name)

    def _large_records(self, value: Any) -> Sequence[Mapping[str, Any]]:
        number = value.removeprefix(MARK) if isinstance(value, str) else ""
        is_mark = number != value and number.isdecimal() and len(number) < 4
        return self._large[int(number)] if is_mark and int(number) < len(self._large) else ()


def _search_outline(sample: TextSample, request: Request) -> _Search | None:
    """The lists of objects in a document of which the outline is known; None if there are none."""
    if sample.outline is None or not sample.outline.complete or sample.encoding is None:
        return None
    encoding = sample.encoding
    document = _decode(sample.outline.text.decode(encoding, "replace"))
    openings: list[list[Mapping[str, Any]]] = [
        [
            item
            for item in decode_list(opening.decode(encoding, "replace"))
            if isinstance(item, dict)
        ]
        for opening in sample.outline.openings
    ]
    large = [
        _with_blocks(
            records, [other for other in openings if other is not records], sample, request
        )
        for records in openings
    ]
    found = _Search(document, large)
    return found if any(not each.whole for each in found.lists) else None


def _with_blocks(
    records: list[Mapping[str, Any]],
    others: Sequence[Sequence[Mapping[str, Any]]],
    sample: TextSample,
    request: Request,
) -> list[Mapping[str, Any]]:
    """The records at the beginning of a large list with those in later blocks, unless these may be of a list that is alike."""
    if not records or any(other and _alike(records[0], other[0]) for other in others):
        return records
    blocks = [_records_in_block(block, records[0]) for block in sample.blocks]
    return merge_pieces(records, blocks, request.generator("pieces"))


def _from_lists(found: _Search, request: Request, warnings: Sequence[str]) -> list[Table]:
    """The tables of all lists that were found; of a single one the table is called like its file."""
    budget = TableBudget()
    read = [each for each in found.lists if budget.take()]
    notes = list(warnings)
    if found.beside:
        shown = ", ".join(repr(name) for name in found.beside[:NAMED]) + (
            "…" if len(found.beside) > NAMED else ""
        )
        notes.append(f"in no table, because beside the lists of objects: {shown}")
    if len(read) < len(found.lists):
        others = amount(len(found.lists) - len(read), "more list")
        notes.append(f"only the first {len(read)} tables of the document are read; {others} left")
    tables: list[Table] = []
    for each in read:
        part = request
        if len(found.lists) > 1:
            part = request.part(each.path, each.path.rpartition(".")[2])
        chosen = choose_rows(len(each.records), part.rows, part.generator("rows"))
        sampled = [each.records[index] for index in chosen]
        others = amount(each.others, "item")
        left = [f"left out: {others} of the list, no objects"] if each.others else []
        columns = Columns.of_records(
            sampled, len(each.records) if each.whole else None, [*notes, *left]
        )
        tables += nested_tables(columns, part, root=request, path=each.path, budget=budget)
        notes = []
    return tables


def _records_by_key(document: Mapping[str, Any]) -> list[Mapping[str, Any]] | None:
    """{"x": {…}, "y": {…}} as records that begin with their key."""
    values = list(document.values())
    if len(values) < 2 or not all(isinstance(value, dict) and value for value in values):
        return None
    if _is_columns(document) or not _alike(values[0], values[1]):
        return None
    return [{"": key, **value} for key, value in document.items()]


def _alike(first: Mapping[str, Any], second: Mapping[str, Any]) -> bool:
    """Whether two objects share half of their keys, and lists of objects under these hold alike ones."""
    shared = [key for key in first if key in second]
    if len(shared) * 2 < len(first):
        return False
    lists = [(first[key], second[key]) for key in shared]
    pairs = [
        (one[0], other[0])
        for one, other in lists
        if isinstance(one, list) and isinstance(other, list) and one and other
    ]
    return all(
        _alike(one, other)
        for one, other in pairs
        if isinstance(one, dict) and isinstance(other, dict)
    )


def _is_columns(document: Mapping[str, Any]) -> bool:
    """Lists of one length, or objects that number their values as pandas does."""
    values = list(document.values())
    if all(isinstance(value, list) for value in values):
        plain = not any(isinstance(item, dict) for value in values for item in value[:5])
        return len({len(value) for value in values}) == 1 and plain
    return all(
        isinstance(value, dict) and value and all(map(str.isdigit, value)) for value in values
    )


def _plain_columns(document: Mapping[str, Any]) -> dict[str, list[Any]]:
    return {
        name: list(values.values()) if isinstance(values, dict) else values
        for name, values in document.items()
    }


def _from_columns(
    columns: Mapping[str, list[Any]], request: Request, warnings: Sequence[str]
) -> list[Table]:
    total = max(map(len, columns.values()), default=0)
    chosen = choose_rows(total, request.rows, request.generator("rows"))
    values = [
        [cells[index] if index < len(cells) else None for index in chosen]
        for cells in islice(columns.values(), COLUMN_LIMIT)
    ]
    return list(nested_tables(Columns(list(columns), values, total, warnings), request))


def _from_records(
    records: Sequence[Mapping[str, Any]],
    request: Request,
    total: int | None,
    warnings: Sequence[str],
) -> list[Table]:
    if not any(records):
        raise UnreadableTable(
            f"{request.label} holds empty JSON objects; expected records with keys"
        )
    return list(nested_tables(Columns.of_records(records, total, warnings), request))


def _records_in_a_row(text: str) -> tuple[list[Mapping[str, Any]], bool]:
    """Objects that follow each other from the beginning, and whether they are all there is."""
    start = len(text) - len(text.lstrip())
    records: list[Mapping[str, Any]] = []
    for value, end in _elements(text, start):
        if not isinstance(value, dict):
            return records, False
        records.append(value)
        start = end
    return records, start == len(text)


def _partial_records(text: str) -> list[Mapping[str, Any]]:
    """The records of a document that breaks off, from the first list of objects in it."""
    for opening in islice(re.finditer(r"\[\s*(?=\{)", text), FAILED_STARTS):
        records: list[Mapping[str, Any]] = [
            value for value, _ in _elements(text, opening.end()) if isinstance(value, dict)
        ]
        if records:
            return records
    return []


def _elements(text: str, position: int) -> Iterator[tuple[Any, int]]:
    """Values separated by blanks or commas, and where each ends, until one cannot be decoded."""
    while position < len(text):
        try:
            value, position = DECODER.raw_decode(text, position)
        except (ValueError, RecursionError):
            return
        blank = _BLANK.match(text, position)
        assert blank is not None, "the pattern matches the empty text"
        position = blank.end()
        yield value, position


def _records_in_block(block: str, example: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The whole records in a piece of a document, recognised by the keys of an example."""
    if not example:
        return []
    beginning = re.compile(
        r"\{\s*" + re.escape(json.dumps(next(iter(example)), ensure_ascii=False))
    )
    records: list[Mapping[str, Any]] = []
    position = failures = 0
    while failures < FAILED_STARTS and (opening := beginning.search(block, position)):
        position = opening.end()
        try:
            value, end = DECODER.raw_decode(block, opening.start())
        except (ValueError, RecursionError):
            failures += 1
            continue
        if 2 * len(value.keys() & example.keys()) >= len(example):
            records.append(value)
            position = end
    return records


def _why_unreadable(sample: TextSample, request: Request) -> str:
    if not sample.whole:
        return (
            f"{request.label} is a JSON document above 4 MB without a list of objects near its "
            "beginning; write it as JSON lines, CSV or Parquet"
        )
    try:
        json.loads(sample.head)
    except json.JSONDecodeError as error:
        location = f"line {error.lineno} column {error.colno}"
        return f"{request.label} is not valid JSON ({error.msg} at {location}) and holds no whole record"
    except (ValueError, RecursionError):
        pass
    return f"{request.label} is JSON too deep or too odd to be a table; expected a list of objects"
