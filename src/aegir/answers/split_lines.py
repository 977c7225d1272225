"""Split lines of delimited text into cells in SQL, for files that the readers of databases refuse: ragged rows, titles, odd signs.

    aegir_lines (n, line)  ->  records: lines joined where a quoted cell goes on  ->  cells  ->  row, c1, c2, …, extra

A quote opens a cell at its beginning and closes it at its end; elsewhere it is a letter, as for Python's `csv`. Empty lines
between rows are left out.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator

from aegir.tables.table import TextFormat
from aegir_rl.base.duckdb_engine import quote_text


class TextFunctions(ABC):
    """Functions on text; databases name some of them differently."""

    join = "string_agg(line, chr(10) ORDER BY n)"
    flags: str
    """Of a replacement of all matches, in which a dot matches line ends."""

    @abstractmethod
    def count(self, pattern: str) -> str:
        """The number of matches in a line."""

    @abstractmethod
    def matches(self, text: str, pattern: str) -> str:
        """The list of all matches."""

    @abstractmethod
    def beyond(self, width: int) -> str:
        """What follows the last column."""

    def group(self, text: str, pattern: str, groups: str) -> str:
        """The groups of the match of a pattern in a text."""
        return f"regexp_replace({text}, {quote_text(pattern)}, {quote_text(groups)})"

    def unescaped(self, text: str) -> str:
        """A text without the backslash before any character."""
        return f"regexp_replace({text}, '\\\\(.)', '\\1', '{self.flags}')"


def records_query(text: TextFormat, width: int, functions: TextFunctions) -> Iterator[str]:
    """Yield a query for the rows of `aegir_lines`."""
    edge, quote = _sign(text.delimiter), _sign(text.quote) if text.quote else ""
    inner = f"(?:[^{quote}\\\\]|\\\\.)*" if text.escape else f"(?:[^{quote}]|{quote}{quote})*"
    cell = f"{edge}[^{_inside(text.delimiter)}]*"
    marks = "0"
    if text.quote:
        cell = f"{edge}(?:{quote}{inner}{quote}[^{_inside(text.delimiter)}]*|[^{_inside(text.delimiter)}]*)"
        opening, closing = f"(?:^|{edge}){quote}", f"{quote}(?:{edge}|$)"
        marks = f"{functions.count(opening)} + {functions.count(closing)}"
    yield "WITH marked AS ("
    yield f"  SELECT n, line, {marks} AS marks FROM aegir_lines"
    yield "), opened AS ("
    yield "  SELECT n, line, coalesce(sum(marks) OVER (ORDER BY n ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS before FROM marked"
    yield "), numbered AS ("
    yield "  SELECT n, line, sum(CASE WHEN before % 2 = 0 THEN 1 ELSE 0 END) OVER (ORDER BY n) AS record FROM opened"
    yield "), records AS ("
    yield f"  SELECT record, {functions.join} AS line FROM numbered GROUP BY record"
    yield "), split AS ("
    whole = f"{sign_literal(text.delimiter)} || line"
    yield f"  SELECT record, {functions.matches(whole, cell)} AS cells FROM records WHERE line <> ''"
    yield ")"
    yield "SELECT row_number() OVER (ORDER BY record) AS row,"
    for number in range(1, width + 1):
        yield f"  {_cell(number, text, inner, quote, functions)} AS c{number},"
    yield f"  {functions.beyond(width)} AS extra"
    yield "FROM split;"


def _cell(number: int, text: TextFormat, inner: str, quote: str, functions: TextFunctions) -> str:
    """The text of one cell: without the delimiter before it, and without its quotes."""
    raw = f"coalesce(substr(cells[{number}], 2), '')"
    if not text.quote:
        return raw
    bare = functions.group(raw, f"(?s)^{quote}({inner}){quote}(.*)$", "\\1\\2")
    if text.escape:
        bare = functions.unescaped(bare)
    else:
        mark = quote_text(text.quote)
        bare = f"replace({bare}, {mark} || {mark}, {mark})"
    return f"CASE WHEN {raw} LIKE {quote_text(text.quote + '%')} THEN {bare} ELSE {raw} END"


def _sign(char: str) -> str:
    return char if char.isalnum() or char in "\"',;" else f"[{_inside(char)}]"


def _inside(char: str) -> str:
    """A character inside brackets."""
    if not char.isprintable():
        return f"\\x{ord(char):02x}"
    return f"\\{char}" if char in "^]\\-" else char


def sign_literal(char: str) -> str:
    """An expression for one character; the script holds no control characters."""
    return quote_text(char) if char.isprintable() else f"chr({ord(char)})"
