"""Tables of text: names on the left, numbers aligned on the right."""

import math
from collections.abc import Mapping, Sequence


def text_table(rows: Sequence[Sequence[object]]) -> list[str]:
    """Return a line per row; the first column is aligned left, the others right. The first row holds the headings."""
    cells = [[str(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    return [
        "  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]).rstrip()
        for row in cells
    ]


def number(value: float | None, digits: int = 2) -> str:
    """Return a number with so many decimals, or a dash for one that is not known."""
    return f"{value:.{digits}f}" if value is not None and math.isfinite(value) else "–"


def points(estimate: Mapping[str, float | None]) -> str:
    """Return an estimate of a share, as a JSON record, with its interval, in hundredths; a dash for an end that is not known."""
    parts = (estimate[name] for name in ("value", "low", "high"))
    shown = ("–" if part is None else f"{100 * part:+.2f}" for part in parts)
    return "{} ({} to {})".format(*shown)
