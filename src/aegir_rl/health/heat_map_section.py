"""A heat map as a section of a page: a table whose cells are the darker the larger their value.

Pages that show one have `STYLE` and `LEVEL_STYLE` in their style sheet.
"""

import math
from collections.abc import Iterator
from pathlib import Path

from aegir_rl.base.safe_html import escape_text
from aegir_rl.observe.heat_map import HeatMap

STYLE = Path(__file__).parent / "run_page.css"
MOST_ROWS, MOST_COLUMNS = 300, 80
"""Of a heat map; what is left out is said."""
LEVELS = 20
"""Shades of a heat map's cells, as many as run_page.css has."""
LEVEL_STYLE = "".join(
    f".level-{level} {{ --share: {100 * level // LEVELS}%; }}\n" for level in range(LEVELS + 1)
)


def heat_map_section(heat_map: HeatMap, heading: str | None = None) -> Iterator[str]:
    """A table whose cells are the darker the larger their value; negative ones have another colour.

    The heading is the name of the heat map, unless another is given, and its title.
    """
    finite = [abs(value) for row in heat_map.values for value in row if math.isfinite(value)]
    most = max(finite, default=0.0)
    title = f": {heat_map.title}" if heat_map.title else ""
    yield f'<section class="card"><h2>{escape_text((heading or heat_map.name) + title)}</h2>'
    yield '<div class="wide" tabindex="0" role="region" aria-label="Heat map"><table class="heat"><thead><tr><td></td>'
    for column in heat_map.columns[:MOST_COLUMNS]:
        yield f'<th scope="col"><span>{escape_text(column)}</span></th>'
    yield "</tr></thead><tbody>"
    for name, row in zip(heat_map.rows[:MOST_ROWS], heat_map.values, strict=False):
        cells = "".join(_cell(value, most) for value in row[:MOST_COLUMNS])
        yield f'<tr><th scope="row">{escape_text(name)}</th>{cells}</tr>'
    yield "</tbody></table></div>"
    if len(heat_map.rows) > MOST_ROWS or len(heat_map.columns) > MOST_COLUMNS:
        size = f"{len(heat_map.rows):,} rows and {len(heat_map.columns):,} columns"
        yield f'<p class="soft">Of {size}, the first {MOST_ROWS} and {MOST_COLUMNS} are shown.</p>'
    yield "</section>"


def _cell(value: float, most: float) -> str:
    if not math.isfinite(value):
        return '<td class="missing">–</td>'
    level = round(LEVELS * abs(value) / most) if most else 0
    sign = "below" if value < 0 else "above"
    return f'<td class="{sign} level-{level}">{value:.3g}</td>'
