"""Check the notations of a sample against all rows of its file, so that nothing is promised that a later row breaks.

    check_file(text, notations)     a value that does not parse makes its column a number, or text

Promises
  - a notation that comes back holds for every row among the first `CHECKED_CHARACTERS` of the file; words for a missing value
    that the sample did not have are added to it;
  - an encoding that comes back decodes all of these rows;
  - a file that is gone, or that is packed otherwise than by gzip, gives back what was known.

It takes about a second per 10 MB.
"""

import csv
import gzip
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from aegir.tables.datatype import MISSING
from aegir.tables.delimited import read_rows
from aegir.tables.notation import is_missing, parses
from aegir.tables.table import Notation, TextFormat

CHECKED_CHARACTERS = 64 << 20
REMEMBERED = 1 << 16
"""Different cells of a column that are not looked at twice."""
GZIP = b"\x1f\x8b"
TEXT = Notation()


@dataclass(frozen=True, slots=True)
class CheckedFile:
    """What holds for a whole file."""

    encoding: str | None
    notations: tuple[Notation, ...]


def check_file(text: TextFormat, notations: Sequence[Notation]) -> CheckedFile:
    """Return the encoding and the notations that hold for all rows; a notation with unparsed values becomes text."""
    known = [_weaker(each) if each.unparsed else each for each in notations]
    if text.path is None or text.encoding is None:
        return CheckedFile(text.encoding, tuple(known))
    # Windows-1252 has no character for five bytes, Latin-1 has one for each.
    for encoding in (text.encoding, *(["latin-1"] if text.encoding == "cp1252" else [])):
        try:
            return CheckedFile(encoding, _check_rows(text, encoding, known))
        except UnicodeDecodeError:
            continue
        except (OSError, EOFError, csv.Error):
            break
    return CheckedFile(text.encoding, tuple(known))


def _check_rows(
    text: TextFormat, encoding: str, notations: Sequence[Notation]
) -> tuple[Notation, ...]:
    checked = list(notations)
    accepted: list[set[str]] = [set() for _ in checked]
    typed = [index for index, each in enumerate(checked) if each.datatype not in ("string", "any")]
    for row in _body(text, encoding):
        for index in typed:
            cell = row[index] if index < len(row) else ""
            if cell in accepted[index]:
                continue
            checked[index] = _with_cell(checked[index], cell)
            if len(accepted[index]) < REMEMBERED:
                accepted[index].add(cell)
        if any(checked[index].datatype == "string" for index in typed):
            typed = [index for index in typed if checked[index].datatype != "string"]
    return tuple(checked)


def _body(text: TextFormat, encoding: str) -> Iterator[list[str]]:
    """The rows below the header, blank ones left out."""
    assert text.path is not None
    with Path(text.path).open("rb") as raw:
        packed = raw.read(2) == GZIP
        raw.seek(0)
        plain = gzip.GzipFile(fileobj=raw) if packed else raw
        lines = io.TextIOWrapper(plain, encoding, newline="")
        rows = read_rows(_first_lines(lines), text)
        for row in islice(rows, text.rows_above + text.header_rows, None):
            if row:
                yield row


def _first_lines(lines: io.TextIOWrapper) -> Iterator[str]:
    taken = 0
    for line in lines:
        yield line
        taken += len(line)
        if taken > CHECKED_CHARACTERS:
            return


def _with_cell(notation: Notation, cell: str) -> Notation:
    """The notation once it takes this cell too."""
    if is_missing(notation, cell):
        return notation
    text = cell.strip()
    if text.lower() in MISSING:
        return notation._replace(missing=tuple(sorted({*notation.missing, cell})))
    if notation.datatype == "empty":
        return TEXT
    if not parses(notation, cell):
        number = _weaker(notation)
        return number if number.datatype != "string" and parses(number, cell) else TEXT
    return notation if text == cell else notation._replace(padded=True)


def _weaker(notation: Notation) -> Notation:
    """A number for an integer whose other values parse as one, else text."""
    if notation.datatype == "integer" and not notation.unparsed:
        return notation._replace(datatype="number", decimal=".")
    return TEXT
