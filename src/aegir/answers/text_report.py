"""Annotations as a report for people: one block per table.

    customers.csv   6 columns, subject: full name

      column       type                 sure  relation   personal  why
      -----------  -------------------  ----  ---------  --------  ---------------------------
    * full name    Person/name          0.97             yes       header says name
      e-mail       email                0.99  email      yes       all 20 values are addresses

Promises
  - no line is wider than `width` (kept between 60 and 120 when it comes from the terminal);
  - without colour our own marks are ASCII only, and no escape sequence ever comes from a cell or header;
  - where room is short, long names are cut and reasons are left out; numbers never are.
"""

import shutil
from collections.abc import Sequence

from aegir.answers.annotation import ColumnAnnotation, TableAnnotation
from aegir.answers.printable import escape_surrogates

HEADINGS = ("column", "type", "sure", "relation", "personal", "why")
WIDEST = (28, 34, 4, 25, 8)
"""How wide each column but the last may grow while there is room."""
NARROWEST = (10, 18, 4, 10, 8)
"""These and the gaps between them fill 60 cells, the narrowest terminal we write for."""
GAP = 2
MARK = 2
LEAST_ROOM_FOR_REASONS = 18
SURE, DOUBTFUL = 0.8, 0.5
"""From here on an answer is green; below the second it is red; between them yellow."""


def render_text(
    annotations: Sequence[TableAnnotation], *, colour: bool, width: int | None = None
) -> str:
    """A block per table; `width` None means the terminal's, at most 120."""
    if width is None:
        width = max(60, min(120, shutil.get_terminal_size((120, 24)).columns))
    return "\n".join(_block(annotation, colour, width) for annotation in annotations)


def _block(annotation: TableAnnotation, colour: bool, width: int) -> str:
    rows = [_cells(column) for column in annotation.columns]
    widths = _choose_widths(rows, width)
    painter = _Painter(colour, width)
    lines = [_title(annotation, painter), ""]
    if rows:
        lines.append(painter.row("  ", [(text, "bold") for text in HEADINGS], widths))
        lines.append(painter.row("  ", [("-" * size, "dim") for size in widths], widths))
    for column, row in zip(annotation.columns, rows, strict=True):
        mark = "* " if column.index == annotation.subject else "  "
        lines.append(painter.row(mark, list(zip(row, _styles(column), strict=True)), widths))
    lines += [painter.line([("note: " + warning, "yellow")]) for warning in annotation.warnings]
    return "\n".join(lines) + "\n"


def _title(annotation: TableAnnotation, painter: "_Painter") -> str:
    count = len(annotation.columns)
    facts = f"   {count} column{'' if count == 1 else 's'}"
    for column in annotation.columns:
        if column.index == annotation.subject:
            facts += f", subject: {_shown_name(column)}"
    return painter.line([(annotation.table, "bold"), (facts, "dim")])


def _cells(column: ColumnAnnotation) -> tuple[str, ...]:
    if column.label is None:
        best = f" ({column.runners_up[0].label}?)" if column.runners_up else ""
        answer = f"unsure{best}"
    else:
        answer = column.label
    return (
        _shown_name(column),
        answer,
        f"{column.confidence:.2f}",
        f"{column.relation.label} {column.relation.confidence:.2f}" if column.relation else "",
        "yes" if column.personal else "",
        "; ".join(column.reasons),
    )


def _styles(column: ColumnAnnotation) -> tuple[str, ...]:
    if column.label is None:
        trust = "dim"
    elif column.confidence >= SURE:
        trust = "green"
    else:
        trust = "yellow" if column.confidence >= DOUBTFUL else "red"
    return ("", trust, trust, "cyan", "magenta", "dim")


def _shown_name(column: ColumnAnnotation) -> str:
    return column.name or f"column_{column.index + 1}"


def _choose_widths(rows: Sequence[Sequence[str]], width: int) -> list[int]:
    """Widths for all columns, or for all but the reasons when there are none or no room is left."""
    from rich.cells import cell_len

    natural = [
        max([len(HEADINGS[place]), *(min(cell_len(row[place]), cap) for row in rows)])
        for place, cap in enumerate(WIDEST)
    ]
    room = width - MARK - GAP * (len(natural) - 1)
    reasons = max((cell_len(row[-1]) for row in rows), default=0)
    if reasons:
        least = min(reasons, LEAST_ROOM_FOR_REASONS)
        beside = _narrowed(natural, room - GAP - least)
        left = room - GAP - sum(beside)
        if left >= least:
            return [*beside, max(len(HEADINGS[-1]), min(left, reasons))]
    return _narrowed(natural, room)


def _narrowed(widths: Sequence[int], room: int) -> list[int]:
    """The widths made to fit, always taking from the widest that may still give."""
    result = list(widths)
    while sum(result) > room:
        spare = [size - least for size, least in zip(result, NARROWEST, strict=True)]
        if max(spare) <= 0:
            break
        result[max(range(len(result)), key=lambda place: (spare[place] > 0, result[place]))] -= 1
    return result


class _Painter:
    """Turns styled pieces of text into one line that fits, with or without escape sequences."""

    def __init__(self, colour: bool, width: int) -> None:
        from rich.console import Console

        self.colour = colour
        self.width = width
        # Options are all given, so neither the terminal nor the environment changes the output.
        self.console = Console(
            width=10_000,
            force_terminal=colour,
            color_system="standard" if colour else None,
            no_color=not colour,
            legacy_windows=False,
            highlight=False,
            _environ={},
        )

    def row(self, mark: str, cells: Sequence[tuple[str, str]], widths: Sequence[int]) -> str:
        """Cells side by side, each cut or padded to its width; cells without a width are left out."""
        from rich.cells import cell_len

        pieces = [(mark, "bold")]
        for (text, style), size in zip(cells, widths, strict=False):
            fitted = self.elide(_printable(text), size)
            pieces += [(fitted, style), (" " * (size - cell_len(fitted) + GAP), "")]
        return self.line(pieces[:-1])

    def line(self, pieces: Sequence[tuple[str, str]]) -> str:
        """Styled pieces on one line, cut at the width, without trailing blanks."""
        from rich.cells import cell_len
        from rich.text import Text

        line, room = Text(end=""), self.width
        for text, style in pieces:
            fitted = self.elide(_printable(text), room)
            line.append(fitted, style)
            room -= cell_len(fitted)
        line.rstrip()
        with self.console.capture() as capture:
            self.console.print(line, end="", soft_wrap=True)
        return capture.get()

    def elide(self, text: str, size: int) -> str:
        """The text if it fits in `size` cells, else its beginning and a mark of omission."""
        from rich.cells import cell_len, set_cell_size

        if cell_len(text) <= size:
            return text
        mark = "…" if self.colour else ".."
        if size <= len(mark):
            return mark[:size]
        return set_cell_size(text, size - len(mark)).rstrip() + mark


def _printable(text: str) -> str:
    """The text on one line: blanks for line breaks, `?` for what a terminal might obey."""
    flat = escape_surrogates(text)
    flat = " ".join(flat.splitlines()) if "\n" in flat or "\r" in flat else flat
    return "".join(char if char.isprintable() else " " if char.isspace() else "?" for char in flat)
