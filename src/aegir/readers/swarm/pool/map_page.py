"""The map of a swarm as one HTML page that needs nothing beside it: `aegir swarm map --out map.html`.

    size, cost, use and worth of every specialist; who is worth keeping, if that was measured; kinds that each answers rightly;
    who was woken for which kinds

Promises: no request is made, no script runs, nothing from a manifest or table is obeyed (aegir_rl/base/safe_html.py); it can be read in
light and dark, and on paper.
"""

import math
from collections.abc import Iterator, Sequence

from aegir.readers.swarm.pool.entry import PoolEntry
from aegir.readers.swarm.pool.survey import PoolMap
from aegir.readers.swarm.pool.usage import Usage
from aegir.readers.swarm.pool.worth import GAINS, LOSES, NOT_SHOWN, OVERALL
from aegir.vocabulary.terms import KINDS
from aegir_rl.base.safe_html import content_policy, escape_text, page_style
from aegir_rl.base.wording import amount
from aegir_rl.health.heat_map_section import LEVEL_STYLE, STYLE, heat_map_section
from aegir_rl.observe.heat_map import HeatMap

HEADINGS = (
    "from",
    "MB",
    "MB in memory",
    "µs per byte",
    "columns read",
    "times loaded",
    "ms per column",
    "worth",
)

WORTH_HEADINGS = ("points", "95 %", "columns read", "CPU ms per column", "of the cost", "verdict")
KEEPING = {GAINS: "keep", LOSES: "drop", NOT_SHOWN: "not shown"}


def render_pool_map(shown: PoolMap) -> str:
    """The whole page."""
    style = page_style(STYLE) + LEVEL_STYLE
    names = amount(len(shown.entries), "specialist")
    tables = f"woken on {amount(shown.tables, 'table')}" if shown.tables else "no tables were read"
    lines = [
        "<!doctype html>",
        '<html lang="en">',
        "<head>",
        '<meta charset="utf-8">',
        '<meta name="generator" content="aegir swarm map">',
        f'<meta http-equiv="Content-Security-Policy" content="{content_policy(style)}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        '<link rel="icon" href="data:,">',
        "<title>The swarm</title>",
        f"<style>{style}</style>",
        "</head>",
        "<body>",
        f'<header><h1>The swarm</h1><p class="soft">{names} in the pool · {tables}</p></header>',
        "<main>",
        *_specialists(shown),
        *_worth(shown),
        *heat_map_section(_known(shown), "Who knows what"),
        *heat_map_section(_woken(shown), "Who is woken"),
        *_refused(shown),
        "</main>",
        '<footer class="soft"><p>Made by <code>aegir swarm map</code>.</p></footer>',
        "</body>",
        "</html>",
    ]
    return "\n".join(lines) + "\n"


def _specialists(shown: PoolMap) -> Iterator[str]:
    """A line per specialist."""
    yield from _table_begins("Specialists", HEADINGS, '<th scope="col">domain</th>')
    for entry in shown.entries:
        cells = "".join(
            f'<td class="number">{cell}</td>' for cell in _cells(entry, shown.usage[entry.name])
        )
        domain = escape_text(entry.domain or f"a model of the family {entry.family}")
        yield f'<tr><th scope="row">{escape_text(entry.name)}</th>{cells}<td>{domain}</td></tr>'
    yield "</tbody></table></div>"
    yield (
        '<p class="soft">µs per byte: CPU time per byte of column text, measured when a specialist was added. Worth: the mean gain '
        "that was noted for it. Columns, loads and worth are those kept by <code>save_stats</code>.</p></section>"
    )


def _table_begins(title: str, headings: Sequence[str], last: str = "") -> Iterator[str]:
    """A card with a table whose first column is names, then numbers under these headings, up to its first row."""
    yield f'<section class="card"><h2>{title}</h2>'
    yield f'<div class="wide" tabindex="0" role="region" aria-label="{title}"><table><thead><tr>'
    yield '<th scope="col">name</th>'
    yield "".join(f'<th scope="col" class="number">{name}</th>' for name in headings)
    yield f"{last}</tr></thead><tbody>"


def _cells(entry: PoolEntry, usage: Usage) -> Iterator[str]:
    yield entry.origin
    yield f"{entry.size / 1e6:.1f}"
    yield f"{entry.memory / 1e6:.1f}"
    yield f"{entry.cost_per_byte / 1000:.1f}"
    yield f"{usage.columns:,}"
    yield f"{usage.cold:,}"
    yield f"{1000 * usage.seconds / usage.columns:.2f}" if usage.columns else "–"
    yield "–" if usage.worth is None else f"{usage.worth:+.4f}"


def _worth(shown: PoolMap) -> Iterator[str]:
    """A line per specialist whose worth was measured by leaving it out."""
    if not shown.worth:
        return
    yield from _table_begins("Who is worth keeping", WORTH_HEADINGS)
    for each in shown.worth:
        gain = each.gain[OVERALL]
        cells = (
            f"{100 * gain.value:+.2f}",
            f"{100 * gain.low:+.2f} to {100 * gain.high:+.2f}",
            f"{each.usage:.0%}",
            f"{each.milliseconds:.2f}",
            f"{each.cost_share:.0%}",
            KEEPING[each.verdict],
        )
        row = "".join(f'<td class="number">{cell}</td>' for cell in cells)
        yield f'<tr><th scope="row">{escape_text(each.name)}</th>{row}</tr>'
    yield "</tbody></table></div>"
    yield (
        '<p class="soft">Points: answers on held-out tables that are right with all specialists and lost without this one, per hundred. '
        "A specialist that others can stand in for is worth little alone. Measured by <code>aegir train swarm-figures</code>.</p></section>"
    )


def _known(shown: PoolMap) -> HeatMap:
    """Specialist by kind: the share of columns that it answers rightly, each read alone."""
    kinds = [kind for kind in KINDS if any(kind in entry.scores for entry in shown.entries)]
    values = [[_right(entry, kind) for kind in kinds] for entry in shown.entries]
    return HeatMap.of(
        "known",
        [entry.name for entry in shown.entries],
        kinds,
        values,
        "share of columns with a type that are answered rightly, each read alone",
    )


def _right(entry: PoolEntry, kind: str) -> float:
    score = entry.scores.get(kind)
    return math.nan if score is None or score.type_right is None else round(score.type_right, 2)


def _woken(shown: PoolMap) -> HeatMap:
    """Specialist by kind: the share of columns for which the router woke it."""
    kinds = [f"{kind} ({each.columns:,})" for kind, each in shown.waking.items()]
    values = [
        [round(each.share(name), 2) for each in shown.waking.values()] for name in shown.routed
    ]
    return HeatMap.of(
        "woken",
        shown.routed,
        kinds,
        values,
        "share of the columns of a kind that each specialist of the swarm has read",
    )


def _refused(shown: PoolMap) -> Iterator[str]:
    if shown.refused:
        yield '<section class="card unwell"><h2>Cannot be used</h2><ul>'
        yield from (f"<li>{escape_text(sentence)}</li>" for sentence in shown.refused.values())
        yield "</ul></section>"
