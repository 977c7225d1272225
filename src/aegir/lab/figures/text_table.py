"""Tables of text: names on the left, numbers aligned on the right."""

import math
from collections.abc import Sequence


def text_table(rows: Sequence[Sequence[object]]) -> list[str]:
    """Return a line per row; the first column is aligned left, the others right. The first row holds the headings."""
    cells = [[str(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    return [
        "  ".join(
            [row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])],
        ).rstrip()
        for row in cells
    ]


def number(value: float | None, digits: int = 2) -> str:
    """Return a number with so many decimals, or a dash for one that is not known."""
    return f"{value:.{digits}f}" if value is not None and math.isfinite(value) else "–"


def points(value: float, low: float, high: float) -> str:
    """Return a share with its interval, as hundredths."""
    return f"{100 * value:+.2f} ({100 * low:+.2f} to {100 * high:+.2f})"
