"""Annotations as a report for people: one block per table.

    people.csv   one row is a member (person 0.97)   4 columns, subject: full name, 2 personal

      column     label                    sure  relation   personal  why
      ---------  -----------------------  ----  ---------  --------  ---------------------------
    * full name  full_name (Person/name)  0.97             direct    header says name
      e-mail     email                    0.99  email 0.9  direct    20 of 20 values are e-mail...
      state      maybe category           0.41                       3 different words
      note       unsure (price?)          0.12

`label` is the most specific name, with the type in brackets where that is another name; `sure` is the probability of the
label. The special category of a personal column stands in brackets behind its level. What is less likely than not begins with `maybe`. With `why`, every reason is printed whole below its column, with
the next-best labels. Below a table stand its likely keys, and below one that a swarm has read which specialists were
activated for how many columns.

Promises
  - no line is wider than `width` (kept between 60 and 120 when it comes from the terminal);
  - without colour our own marks are ASCII only, and no escape sequence ever comes from a cell or header;
  - where room is short, long names are cut, and types and categories in brackets and reasons are left out; numbers never are;
  - reasons are cut between words, and end in a mark of omission then.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, starmap

from aegir.answers.annotation import ColumnAnnotation, Guess, TableAnnotation
from aegir.answers.cells import cell_length, first_cells, terminal_width, wrapped
from aegir.answers.wording import (
    SURE,
    is_unsure,
    maybe,
    shown_confidence,
    shown_declared,
    shown_keys,
    shown_label,
    shown_level,
    shown_name,
    shown_offer,
    shown_personal,
    shown_routing,
    shown_row,
    shown_special,
    shown_specialists,
    shown_subject,
    shown_type,
    worth_listing,
)
from aegir_rl.base.text import amount, escape_surrogates

HEADINGS = ("column", "label", "sure", "relation", "personal", "why")
WIDEST = (28, 36, 4, 25, 22)
"""How wide each column but the last may grow while there is room."""
NARROWEST = (10, 18, 4, 10, 8)
"""These and the gaps between them fill 60 cells, the narrowest terminal we write for."""
GAP = 2
MARK = 2
INDENT = 4
"""How far reasons stand in below their column."""
LEAST_ROOM_FOR_REASONS = 24
STYLES = {"bold": "1", "dim": "2", "green": "32", "yellow": "33", "magenta": "35", "cyan": "36"}
"""The escape sequence of each style."""
DANGLING = frozenset(("and", "as", "by", "header", "like", "reads", "such", "with"))
"""Words a cut sentence should not end in: what they announce is gone."""


@dataclass(frozen=True, slots=True)
class _Cell:
    """A text that may be cut, a remark that is left out where room is short, and a number that is always shown."""

    text: str
    style: str = ""
    remark: str = ""
    number: str = ""

    @property
    def pieces(self) -> list[tuple[str, str]]:
        """Texts with their styles."""
        return [(self.text, self.style), (self.remark, "dim"), (self.number, self.style)]


def render_text(
    annotations: Sequence[TableAnnotation],
    *,
    colour: bool,
    width: int | None = None,
    why: bool = False,
) -> str:
    """A block per table; `width` None means the terminal's, at most 120; `why` prints all reasons whole."""
    if width is None:
        width = max(60, terminal_width())
    return "\n".join(_block(annotation, colour, width, why) for annotation in annotations)


def _block(annotation: TableAnnotation, colour: bool, width: int, why: bool) -> str:
    rows = [_cells(column) for column in annotation.columns]
    reasons = [] if why else [_in_one_line(column) for column in annotation.columns]
    widths = _choose_widths(rows, reasons, width)
    painter = _Painter(colour, width)
    lines = [*_title(annotation, painter), ""]
    if rows:
        lines.append(painter.row("  ", [_Cell(text, "bold") for text in HEADINGS], widths))
        lines.append(painter.row("  ", [_Cell("-" * size, "dim") for size in widths], widths))
    for index, column in enumerate(annotation.columns):
        mark = "* " if column.index == annotation.subject else "  "
        cells = [*rows[index]]
        if len(widths) > len(cells):
            cells.append(_Cell(painter.cut_between_words(reasons[index], widths[-1]), "dim"))
        lines.append(painter.row(mark, cells, widths))
        if why:
            lines += chain.from_iterable(starmap(painter.paragraph, _explanation(column)))
    if keys := shown_keys(annotation):
        lines += painter.paragraph("keys: ", "; ".join(keys), indent=2)
    if routed := shown_routing(annotation):
        lines += painter.paragraph("", routed, indent=2)
    lines += [painter.line([("note: " + warning, "yellow")]) for warning in annotation.warnings]
    return "\n".join(lines) + "\n"


def _title(annotation: TableAnnotation, painter: "_Painter") -> list[str]:
    """The table, what a row is, and what it has; the last on a line of its own where one line is too short."""
    row = shown_row(annotation.row)
    said = f"   {row}" if row else ""
    facts = amount(len(annotation.columns), "column")
    if subject := shown_subject(annotation):
        facts += f", subject: {subject}"
    personal = sum(column.personal for column in annotation.columns)
    facts += f", {personal} personal" if personal else ""
    special = sum(map(bool, map(shown_special, annotation.columns)))
    facts += f", {special} special" if special else ""
    if row and _length(_Cell(f"{annotation.table}{said}   {facts}")) > painter.width:
        first = painter.line([(annotation.table, "bold"), (said, "dim")])
        return [first, painter.line([(f"  {facts}", "dim")])]
    return [painter.line([(annotation.table, "bold"), (f"{said}   {facts}", "dim")])]


def _cells(column: ColumnAnnotation) -> tuple[_Cell, ...]:
    trust = "dim" if is_unsure(column) else "green" if column.confidence >= SURE else "yellow"
    beside, special = shown_type(column), shown_special(column)
    return (
        _Cell(shown_name(column)),
        _Cell(shown_label(column), trust, remark=f" ({beside})" if beside else ""),
        _Cell("", trust, number=shown_confidence(column)),
        _relation(column.relation) if column.relation else _Cell(""),
        _Cell(shown_level(column), "magenta", remark=f" ({special})" if special else ""),
    )


def _relation(guess: Guess) -> _Cell:
    return _Cell(maybe(guess.confidence) + guess.label, "cyan", number=f" {guess.confidence:.2f}")


def _in_one_line(column: ColumnAnnotation) -> str:
    return _printable("; ".join(column.reasons))


def _explanation(column: ColumnAnnotation) -> Iterator[tuple[str, str]]:
    """A bullet and a paragraph per reason, why the column is personal, who was activated, what is offered and was likely next."""
    yield from (("- ", reason) for reason in column.reasons)
    if column.all_missing:
        yield "missing: ", "every value"
    if declared := shown_declared(column.declared):
        yield "declared: ", declared
    if personal := shown_personal(column):
        yield "personal: ", personal
    if column.routing:
        yield "specialists: ", shown_specialists(column.routing)
    yield from (("offered: ", shown_offer(offer)) for offer in column.offers)
    for start, guesses in (
        ("next best: " if column.label else "perhaps: ", column.runners_up),
        (
            "other relations: " if column.relation else "no relation, perhaps: ",
            column.relation_runners_up,
        ),
    ):
        if likely := worth_listing(guesses):
            yield start, ", ".join(f"{guess.label} {guess.confidence:.2f}" for guess in likely)


def _choose_widths(
    rows: Sequence[Sequence[_Cell]], reasons: Sequence[str], width: int
) -> list[int]:
    """Widths for all columns, or for all but the reasons when there are none or no room is left."""
    room = width - MARK - GAP * (len(WIDEST) - 1)
    natural = _natural_widths(rows)
    if sum(natural) > room:
        natural = _natural_widths([[replace(cell, remark="") for cell in row] for row in rows])
    longest = max(map(cell_length, reasons), default=0)
    left = room - GAP - sum(natural)
    if longest and left >= min(longest, LEAST_ROOM_FOR_REASONS):
        return [*natural, max(len(HEADINGS[-1]), min(left, longest))]
    return _narrowed(natural, room)


def _natural_widths(rows: Sequence[Sequence[_Cell]]) -> list[int]:
    """How wide each column but the last would be if there were room."""
    return [
        max([len(HEADINGS[index]), *(min(_length(row[index]), cap) for row in rows)])
        for index, cap in enumerate(WIDEST)
    ]


def _length(cell: _Cell) -> int:
    return sum(cell_length(_printable(text)) for text, _ in cell.pieces)


def _narrowed(widths: Sequence[int], room: int) -> list[int]:
    """The widths made to fit, always taking from the widest that may still give."""
    result = list(widths)
    while sum(result) > room:
        spare = [size - least for size, least in zip(result, NARROWEST, strict=True)]
        if max(spare) <= 0:
            break
        result[max(range(len(result)), key=lambda index: (spare[index] > 0, result[index]))] -= 1
    return result


class _Painter:
    """Turns styled pieces of text into one line that fits, with or without escape sequences."""

    def __init__(self, colour: bool, width: int) -> None:
        self.width = width
        self.colour = colour
        self.omission = "…" if colour else "..."

    def row(self, mark: str, cells: Sequence[_Cell], widths: Sequence[int]) -> str:
        """Cells side by side, each cut or padded to its width; cells without a width are left out."""
        pieces = [(mark, "bold")]
        for cell, size in zip(cells, widths, strict=False):
            shown = cell if _length(cell) <= size else self._narrow(cell, size)
            pieces += [*shown.pieces, (" " * (size - _length(shown) + GAP), "")]
        return self.line(pieces[:-1])

    def _narrow(self, cell: _Cell, size: int) -> _Cell:
        text = self.cut(_printable(cell.text), size - len(cell.number))
        return replace(cell, text=text, remark="")

    def line(self, pieces: Sequence[tuple[str, str]]) -> str:
        """Styled pieces on one line, cut at the width, without trailing blanks."""
        fitted, room = [], self.width
        for text, style in pieces:
            fitted.append((self.cut(_printable(text), room), style))
            room -= cell_length(fitted[-1][0])
        while fitted and not (last := fitted[-1][0].rstrip()):
            fitted.pop()
        if fitted:
            fitted[-1] = (last, fitted[-1][1])
        return "".join(self._styled(text, style) for text, style in fitted)

    def _styled(self, text: str, style: str) -> str:
        return f"\x1b[{STYLES[style]}m{text}\x1b[0m" if self.colour and style and text else text

    def paragraph(self, start: str, text: str, indent: int = INDENT) -> Iterator[str]:
        """The whole text in lines below a column; only a word longer than a line is broken."""
        room = self.width - indent - len(start)
        for number, part in enumerate(wrapped(_printable(text), room)):
            margin = " " * indent + (start if number == 0 else " " * len(start))
            yield self.line([(margin + part.strip(), "dim")])

    def cut(self, text: str, size: int) -> str:
        """The text if it fits in `size` cells, else its beginning and a mark of omission."""
        if cell_length(text) <= size:
            return text
        if size <= len(self.omission):
            return self.omission[:size]
        size -= len(self.omission)
        return first_cells(text, size).rstrip() + self.omission

    def cut_between_words(self, text: str, size: int) -> str:
        """The text if it fits in `size` cells, else as many whole words as do and a mark of omission."""
        if cell_length(text) <= size:
            return text
        words: list[str] = []
        room = size - len(self.omission)
        for word in text.split():
            room -= cell_length(word) + bool(words)
            if room < 0:
                break
            words.append(word)
        while words and words[-1] in DANGLING:
            words.pop()
        return " ".join(words).rstrip(",;:") + self.omission


def _printable(text: str) -> str:
    """The text on one line: blanks for line breaks, `?` for what a terminal might interpret."""
    flat = escape_surrogates(text)
    flat = " ".join(flat.splitlines()) if "\n" in flat or "\r" in flat else flat
    return "".join(char if char.isprintable() else " " if char.isspace() else "?" for char in flat)
