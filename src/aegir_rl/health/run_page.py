"""A run as one HTML page that needs nothing beside it: `python -m aegir.lab.figures run RUN --out page.html`.

    health at the top; checks on held-out tables; heat maps; every curve, grouped by the first part of its name;
    settings and environment folded away

Promises
  - one file: no request is made, no script runs, nothing from a run is obeyed (aegir_rl/base/safe_html.py);
  - a curve of any length is drawn with as many points as its pixels can show; its extremes and gaps stay;
  - it can be read in light and dark, on paper and without a mouse;
  - the page depends on nothing but the run folder.
"""

import json
import math
from collections.abc import Iterator, Sequence
from pathlib import Path

from aegir_rl.base.safe_html import content_policy, escape_text, page_style
from aegir_rl.base.text import escape_controls
from aegir_rl.health.report import HealthReport
from aegir_rl.health.run_summary import Curve, HeldOutCheck, RunSummary
from aegir_rl.observe.heat_map import HeatMap
from aegir_rl.observe.plots import line_plot, thin

STYLE = Path(__file__).parent / "run_page.css"
MOST_ROWS, MOST_COLUMNS = 300, 80
"""Of a heat map; what is left out is said."""
LEVELS = 20
"""Shades of a heat map's cells, as many as run_page.css has."""
LEVEL_STYLE = "".join(
    f".level-{level} {{ --share: {100 * level // LEVELS}%; }}\n" for level in range(LEVELS + 1)
)
SIZE = (400, 230)
"""Width and height of a curve."""
PLACES = 330
"""Pixels of a curve's width between its axes."""
TITLE_LENGTH = 46
CHECKS_SHOWN = 8
"""Checks in the table: the first, and the last ones."""


def render_run_page(run: RunSummary) -> str:
    """The whole page."""
    style = page_style(STYLE) + LEVEL_STYLE
    lines = [
        "<!doctype html>",
        '<html lang="en">',
        "<head>",
        '<meta charset="utf-8">',
        '<meta name="generator" content="python -m aegir.lab.figures run">',
        f'<meta http-equiv="Content-Security-Policy" content="{content_policy(style)}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        '<link rel="icon" href="data:,">',
        f"<title>Run {escape_text(run.name)}</title>",
        f"<style>{style}</style>",
        "</head>",
        "<body>",
        f"<header><h1>Run {escape_text(run.name)}</h1>",
        f'<p class="soft">{" · ".join(_facts(run))}</p></header>',
        "<main>",
        *_health(run.health),
        *_notes(run.notes),
        *_checks(run.checks),
        *(line for each in run.heat_maps for line in _heat_map(each)),
        *_curves(run.curves),
        *_folded(run),
        "</main>",
        '<footer class="soft"><p>Made by <code>python -m aegir.lab.figures run</code>.</p></footer>',
        "</body>",
        "</html>",
    ]
    return "\n".join(lines) + "\n"


def _facts(run: RunSummary) -> Iterator[str]:
    yield f"{run.steps:,} recorded steps" if run.steps != 1 else "1 recorded step"
    if run.last_step is not None:
        yield f"last step {run.last_step:,}"
    if run.seconds:
        yield _duration(run.seconds)
    for key, length in (("date", 10), ("commit", 12), ("device", 40)):
        if value := run.environment.get(key):
            yield f"{key} {escape_text(str(value)[:length])}"


def _health(report: HealthReport) -> Iterator[str]:
    verdict = "unwell" if not report.well else "warnings" if report.warnings else "well"
    said = {"well": "well", "warnings": "well, with warnings", "unwell": "unwell"}[verdict]
    yield f'<section class="card {verdict}"><h2>Health: {said}</h2>'
    for findings in (report.unwell, report.warnings):
        if findings:
            yield (
                "<ul>" + "".join(f"<li>{escape_text(f.sentence)}</li>" for f in findings) + "</ul>"
            )
    well = report.select("well")
    if well:
        yield f"<details><summary>{len(well)} checks passed</summary><ul>"
        yield "".join(f"<li>{escape_text(finding.sentence)}</li>" for finding in well)
        yield "</ul></details>"
    if report.unchecked:
        listed = escape_text(", ".join(report.unchecked))
        yield f"<details><summary>{len(report.unchecked)} columns were not recorded, so not checked</summary>"
        yield f"<p>{listed}</p></details>"
    yield "</section>"


def _notes(notes: Sequence[str]) -> Iterator[str]:
    if notes:
        yield '<section class="card"><h2>Notes</h2><ul>'
        yield from (f"<li>{escape_text(note)}</li>" for note in notes[:20])
        if len(notes) > 20:
            yield f"<li>and {len(notes) - 20:,} more like these</li>"
        yield "</ul></section>"


def _checks(checks: Sequence[HeldOutCheck]) -> Iterator[str]:
    """A line per metric, a column per check."""
    if not checks:
        return
    shown = checks if len(checks) <= CHECKS_SHOWN else [checks[0], *checks[1 - CHECKS_SHOWN :]]
    names = dict.fromkeys(name for check in shown for name in check.figures)
    yield '<section class="card"><h2>Checks on held-out tables</h2>'
    yield '<div class="wide" tabindex="0" role="region" aria-label="Checks"><table><thead><tr>'
    yield '<th scope="col">figure</th>'
    yield "".join(f'<th scope="col" class="number">step {check.step:,}</th>' for check in shown)
    yield "</tr></thead><tbody>"
    for name in names:
        cells = "".join(
            f'<td class="number">{_number(check.figures.get(name))}</td>' for check in shown
        )
        yield f'<tr><th scope="row">{escape_text(name)}</th>{cells}</tr>'
    yield "</tbody></table></div>"
    if len(shown) < len(checks):
        yield f'<p class="soft">The first and the last {CHECKS_SHOWN - 1} of {len(checks)} checks.</p>'
    yield "</section>"


def _heat_map(heat_map: HeatMap) -> Iterator[str]:
    """A table whose cells are the darker the larger their value; negative ones have another colour."""
    finite = [abs(value) for row in heat_map.values for value in row if math.isfinite(value)]
    most = max(finite, default=0.0)
    title = f": {heat_map.title}" if heat_map.title else ""
    yield f'<section class="card"><h2>{escape_text(heat_map.name + title)}</h2>'
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


def _curves(curves: Sequence[Curve]) -> Iterator[str]:
    for group in dict.fromkeys(["", *(curve.group for curve in curves)]):
        members = [curve for curve in curves if curve.group == group]
        if members:
            yield f'<section class="card"><h2>{escape_text(group or "Curves")}</h2><div class="plots">'
            for curve in members:
                yield from _curve(curve)
            yield "</div></section>"


def _curve(curve: Curve) -> Iterator[str]:
    title = curve.name if len(curve.name) <= TITLE_LENGTH else curve.name[: TITLE_LENGTH - 1] + "…"
    lines = {escape_controls(name): thin(x, y, PLACES) for name, (x, y) in curve.lines.items()}
    figures = curve.figures()
    last = figures["last"]
    shown = _number(last) if not isinstance(last, dict) else ", ".join(map(_number, last.values()))
    yield f'<figure title="{escape_text(curve.name)}">'
    yield line_plot(
        escape_controls(title), lines, x_label="step", y_label=_unit(curve.name), size=SIZE
    ).rstrip()
    yield f"<figcaption>last <b>{shown}</b> at step {figures['last_step']:,}"
    if figures["least"] is not None:
        yield f' <span class="soft">from {_number(figures["least"])} to {_number(figures["most"])}</span>'
    if figures["not_finite"]:
        yield f' <span class="bad">{figures["not_finite"]:,} not finite</span>'
    yield "</figcaption></figure>"


def _unit(name: str) -> str:
    """What the values of a curve are: the last part of its name, if that is short."""
    last = name.rpartition("/")[2]
    return escape_controls(last if len(last) <= 24 else "value")


def _folded(run: RunSummary) -> Iterator[str]:
    if run.texts:
        yield '<details class="card"><summary>Last values that are no numbers</summary><table><tbody>'
        for name, value in run.texts.items():
            yield f'<tr><th scope="row">{escape_text(name)}</th><td>{escape_text(value[:500])}</td></tr>'
        yield "</tbody></table></details>"
    if run.config is not None:
        yield '<details class="card"><summary>Settings</summary>'
        yield f"<pre>{escape_text(run.config)}</pre></details>"
    if run.environment:
        text = json.dumps(run.environment, indent=1, ensure_ascii=False)
        yield '<details class="card"><summary>Environment</summary>'
        yield f"<pre>{escape_text(text)}</pre></details>"


def _number(value: float | str | None) -> str:
    """A number in four digits, or whole from 1,000 on; text as it stands; nothing for None."""
    if value is None or isinstance(value, str):
        return escape_text(value or "")
    return f"{value:,.0f}" if 1000 <= abs(value) < 1e9 else f"{value:.4g}"


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min {rest} s" if minutes else f"{seconds:.3g} s"
