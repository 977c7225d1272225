"""`aegir swarm map`: the swarm on one page."""

import json
from collections.abc import Iterator
from pathlib import Path

import click

from aegir.answers.annotation import TableAnnotation
from aegir.cli.options import PathName
from aegir.cli.page_output import page_option, page_target, write_page
from aegir.cli.swarm import open_pool
from aegir.cli.terminal import tell, track
from aegir.evaluation.bench_tables import shipped_tables
from aegir.pipeline.run import Failure, annotate_sources, prepare
from aegir.pipeline.settings import AnnotationSettings
from aegir.readers.swarm.pool.map_page import render_pool_map
from aegir.readers.swarm.pool.survey import survey
from aegir.readers.swarm.pool.worth import read_worth
from aegir.tables.discovery import find_table_files
from aegir_rl.base.errors import UsageError


@click.command("map", epilog="Example: aegir swarm map --out map.html --tables examples")
@page_option
@click.option(
    "--tables",
    type=PathName(),
    help="A file or folder of tables, to see who is woken for them [default: the examples that come with Aegir].",
)
@click.option(
    "--model", type=PathName(), help="The folder of a swarm, instead of the one that ships."
)
@click.option(
    "--worth",
    type=PathName(dir_okay=False),
    help="What `aegir train swarm-figures --json` printed: also show who is worth keeping.",
)
@click.option("--json", "as_json", is_flag=True, help="The figures as one JSON object, not a page.")
def draw_map(
    out: Path | None, tables: Path | None, model: Path | None, worth: Path | None, as_json: bool
) -> None:
    """Draw who knows what, who is woken for what, and what it costs, on one HTML page.

    The page needs nothing beside it.
    """
    out = page_target(out, as_json, "map.html")
    measured = () if worth is None else read_worth(worth)
    shown = survey(open_pool(), _answers(tables, model), measured)
    if not shown.tables:
        raise UsageError(f"{tables} has no table that can be read; give other --tables")
    text = json.dumps(shown.as_dict()) + "\n" if as_json else render_pool_map(shown)
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
