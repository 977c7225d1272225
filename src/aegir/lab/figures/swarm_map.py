"""`python -m aegir.lab.figures swarm-map`: the specialists of the pool, and whom the swarm activates, on one HTML page.

Who is activated comes from answers of the annotator `swarm`: for every kind, the share of its columns for which the router activated
each specialist. A column's kind is that of the answer; columns without a kind are counted apart.

Promises of the page: no request is made, no script runs, nothing from a manifest or table is obeyed (aegir_rl/base/safe_html.py);
it can be read in light and dark, and on paper.
"""

import json
import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from aegir.answers.annotation import TableAnnotation
from aegir.cli.options import verb_options
from aegir.cli.page_output import page_option, page_target, write_page
from aegir.cli.swarm import open_pool
from aegir.cli.terminal import tell, track
from aegir.evaluation.bench_tables import shipped_tables
from aegir.pipeline.run import Failure, annotate_sources, prepare
from aegir.pipeline.settings import AnnotationSettings
from aegir.readers.swarm.pool.entry import PoolEntry
from aegir.readers.swarm.pool.specialist_pool import SpecialistPool
from aegir.tables.formats import find_table_files
from aegir.vocabulary.terms import KINDS
from aegir_rl.base.errors import UsageError
from aegir_rl.base.safe_html import content_policy, escape_text, page_style
from aegir_rl.base.text import amount
from aegir_rl.health.run_page import LEVEL_STYLE, STYLE, heat_map_section
from aegir_rl.observe.heat_map import HeatMap

NO_KIND = "no kind"


@dataclass(frozen=True, slots=True)
class SwarmMap:
    """What the page shows."""

    entries: tuple[PoolEntry, ...]
    refused: Mapping[str, str]
    tables: int
    routed: tuple[str, ...]
    """The specialists of the swarm's router, which may be others than those of the pool."""
    columns: Mapping[str, int]
    """Kind to its columns."""
    shares: Mapping[str, Mapping[str, float]]
    """Kind to the share of its columns for which the router activated each specialist."""

    def as_dict(self) -> dict[str, Any]:
        """Return all of it; JSON."""
        return {
            "specialists": [entry.as_dict() for entry in self.entries],
            "refused": dict(self.refused),
            "tables": self.tables,
            "woken": {
                kind: {
                    "columns": self.columns[kind],
                    "shares": {name: round(share, 4) for name, share in shares.items()},
                }
                for kind, shares in self.shares.items()
            },
        }


@click.command(
    "swarm-map",
    epilog="Example: python -m aegir.lab.figures swarm-map --out map.html --tables examples",
)
@page_option
@verb_options("figure-draw-map")
def draw_map(out: Path | None, tables: Path | None, model: Path | None, as_json: bool) -> None:
    """Draw who knows what, who is activated for what, and what it costs, on one HTML page.

    The page needs nothing beside it.
    """
    out = page_target(out, as_json, "map.html")
    drawn = map_swarm(open_pool(), _answers(tables, model))
    if not drawn.tables:
        raise UsageError(f"{tables} has no table that can be read; give other --tables")
    text = json.dumps(drawn.as_dict()) + "\n" if as_json else render_swarm_map(drawn)
    write_page(out, text, "the swarm")


def _answers(tables: Path | None, model: Path | None) -> Iterator[TableAnnotation]:
    """Yield what the annotator `swarm` answers; files that cannot be read are left out, and said."""
    settings = AnnotationSettings(annotator="swarm", model=model, custom_types=False, memory=False)
    files = find_table_files([tables or shipped_tables()])
    for each in annotate_sources(track(files, "annotating"), prepare(settings)):
        outcome = each.answer
        if not isinstance(outcome, Failure):
            yield outcome
        elif tables is not None:
            tell(f"{outcome.source} is left out: {outcome.reason}")


def map_swarm(pool: SpecialistPool, answers: Iterable[TableAnnotation]) -> SwarmMap:
    """Return the map of a pool, with who was activated according to these answers."""
    columns: Counter[str] = Counter()
    activated: dict[str, Counter[str]] = defaultdict(Counter)
    routed: dict[str, None] = {}
    tables = 0
    for answer in answers:
        tables += 1
        for column in answer.columns:
            kind = column.kind or NO_KIND
            columns[kind] += 1
            for decision in column.routing or ():
                routed[decision.specialist] = None
                activated[kind][decision.specialist] += decision.woken
    shares = {
        kind: {name: activated[kind][name] / columns[kind] for name in routed}
        for kind in (*KINDS, NO_KIND)
        if columns[kind]
    }
    return SwarmMap(
        tuple(pool.entries.values()), pool.refused, tables, tuple(routed), columns, shares
    )


def render_swarm_map(drawn: SwarmMap) -> str:
    """Return the whole page."""
    style = page_style(STYLE) + LEVEL_STYLE
    names = amount(len(drawn.entries), "specialist")
    tables = f"{amount(drawn.tables, 'table')} read" if drawn.tables else "no tables were read"
    lines = [
        "<!doctype html>",
        '<html lang="en">',
        "<head>",
        '<meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{content_policy(style)}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        '<link rel="icon" href="data:,">',
        "<title>The swarm</title>",
        f"<style>{style}</style>",
        "</head>",
        "<body>",
        f'<header><h1>The swarm</h1><p class="soft">{names} in the pool · {tables}</p></header>',
        "<main>",
        *_specialists(drawn),
        *heat_map_section(_known(drawn), "Who knows what"),
        *heat_map_section(_activated(drawn), "Who is activated"),
        *_refused(drawn),
        "</main>",
        "</body>",
        "</html>",
    ]
    return "\n".join(lines) + "\n"


def _specialists(drawn: SwarmMap) -> Iterator[str]:
    heads = ("from", "MB", "MB in memory", "µs per byte")
    yield '<section class="card"><h2>Specialists</h2>'
    yield '<div class="wide" tabindex="0" role="region" aria-label="Specialists"><table><thead><tr>'
    yield '<th scope="col">name</th>'
    yield "".join(f'<th scope="col" class="number">{head}</th>' for head in heads)
    yield '<th scope="col">domain</th></tr></thead><tbody>'
    for entry in drawn.entries:
        sizes = (entry.size / 1e6, entry.memory / 1e6, entry.cost_per_byte / 1000)
        cells = (entry.origin, *(f"{size:.1f}" for size in sizes))
        row = "".join(f'<td class="number">{cell}</td>' for cell in cells)
        domain = escape_text(entry.domain or f"a model of the family {entry.family}")
        yield f'<tr><th scope="row">{escape_text(entry.name)}</th>{row}<td>{domain}</td></tr>'
    yield "</tbody></table></div>"
    yield '<p class="soft">µs per byte: CPU time per byte of column text, measured when a specialist was added.</p></section>'


def _known(drawn: SwarmMap) -> HeatMap:
    """Return specialist by kind: the share of columns that it answers rightly, each read alone."""
    kinds = [kind for kind in KINDS if any(kind in entry.scores for entry in drawn.entries)]
    right = [
        [math.nan if x is None or x.type_right is None else round(x.type_right, 2) for x in scores]
        for scores in ([entry.scores.get(kind) for kind in kinds] for entry in drawn.entries)
    ]
    about = "share of columns with a type that are answered rightly, each read alone"
    return HeatMap.of("known", [entry.name for entry in drawn.entries], kinds, right, about)


def _activated(drawn: SwarmMap) -> HeatMap:
    """Return specialist by kind: the share of columns for which the router activated it."""
    kinds = [f"{kind} ({drawn.columns[kind]:,})" for kind in drawn.shares]
    shares = [[round(each[name], 2) for each in drawn.shares.values()] for name in drawn.routed]
    about = "share of the columns of a kind that each specialist of the swarm has read"
    return HeatMap.of("woken", drawn.routed, kinds, shares, about)


def _refused(drawn: SwarmMap) -> Iterator[str]:
    if drawn.refused:
        yield '<section class="card unwell"><h2>Cannot be used</h2><ul>'
        yield from (f"<li>{escape_text(sentence)}</li>" for sentence in drawn.refused.values())
        yield "</ul></section>"
