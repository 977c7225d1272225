"""How a delimited text is written: delimiter, quote, escape.

DuckDB's sniffer looks first (about 2 ms); where it refuses, or sees a single column, or finds no
quotes in a text that has some, a consistency scan of our own decides: the best dialect is the one
under which most rows have the same number of cells.

Limits: the scan tries the delimiters in `DELIMITERS`. Blanks and colons are not among them, because
one column of full names or of times would be torn apart.
"""

import csv
import io
import tempfile
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path

from aegir.tables.engine import connect, duckdb_errors

DELIMITERS = ",\t;|\x01\x1f^~¦§"
SNIFFED = 64 << 10
"""Characters the sniffer sees."""
CONSISTENT = 0.8
"""Share of rows that must agree in width before the scan believes a delimiter."""

csv.field_size_limit(2**31 - 1)  # the default refuses cells above 128 KB


@dataclass(frozen=True, slots=True)
class Dialect:
    """How cells are separated and protected; `quote` and `escape` may be None."""

    delimiter: str = ","
    quote: str | None = '"'
    escape: str | None = None


def parse_rows(text: str, dialect: Dialect) -> list[list[str]]:
    """All rows of a text; blank lines are left out, ragged rows are kept as they are."""
    reader = csv.reader(
        io.StringIO(text, newline=""),
        delimiter=dialect.delimiter,
        quotechar=dialect.quote,
        escapechar=dialect.escape,
        quoting=csv.QUOTE_MINIMAL if dialect.quote else csv.QUOTE_NONE,
        doublequote=dialect.escape is None,
    )
    return [row for row in reader if row]


def find_dialect(text: str) -> Dialect:
    """The dialect under which this text is most plausibly a table."""
    head = _first_lines(text)
    sniffed = _sniff(head)
    if sniffed is None or sniffed.delimiter not in head:
        scanned = _scan(head)
        sniffed = scanned if scanned or sniffed is None else sniffed
    if sniffed is None:
        return Dialect()
    if sniffed.quote is None and '"' in head:
        quoted = replace(sniffed, quote='"')
        sniffed = max([quoted, sniffed], key=lambda dialect: _consistency(head, dialect))
    elif sniffed.quote is None:
        sniffed = replace(sniffed, quote='"')  # quotes may come further on
    return sniffed


def _first_lines(text: str) -> str:
    """About 64 KB of whole lines; more when the first line is longer than that."""
    if len(text) <= SNIFFED:
        return text
    end = text.rfind("\n", 0, SNIFFED)
    return text[: end + 1] if end >= 0 else text[: text.find("\n") + 1] or text


def _sniff(head: str) -> Dialect | None:
    with tempfile.TemporaryDirectory(prefix="aegir-") as folder:
        path = Path(folder) / "head.csv"
        path.write_text(head, encoding="utf-8", errors="replace", newline="")
        query = "SELECT Delimiter, Quote, Escape FROM sniff_csv(?, strict_mode = false)"
        connection = connect()
        try:
            found = connection.execute(query, [str(path)]).fetchone()
        except duckdb_errors():
            return None
    assert found is not None, "the sniffer answers with one row"
    delimiter, quote, escape = (None if part == "(empty)" else part for part in found)
    if delimiter is None or len(delimiter) != 1:
        return None
    doubled = escape is None or escape == quote
    return Dialect(delimiter, quote, None if doubled else escape)


def _scan(head: str) -> Dialect | None:
    """The delimiter under which the most rows agree in width, None when none convinces."""
    best: tuple[float, int, Dialect] | None = None
    for delimiter in DELIMITERS:
        if delimiter not in head:
            continue
        dialect = Dialect(delimiter)
        share, width = _consistency(head, dialect)
        if width > 1 and share >= CONSISTENT and (best is None or (share, width) > best[:2]):
            best = (share, width, dialect)
    return best[2] if best else None


def _consistency(head: str, dialect: Dialect) -> tuple[float, int]:
    """The share of rows that have the most common width, and that width."""
    try:
        rows = parse_rows(head, dialect)
    except csv.Error:
        return 0.0, 0
    if not rows:
        return 0.0, 0
    width, count = Counter(map(len, rows)).most_common(1)[0]
    return count / len(rows), width
