"""`aegir train data`: what there is to learn from, counted before anything is trained."""

import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

import click

from aegir.cli.options import data_folders
from aegir.cli.training_packages import training_packages
from aegir.errors import UsageError


@click.command(
    "data", epilog="Example: aegir train data --source gold --source synthetic=400 --data data/"
)
@click.argument("config", type=click.Path(path_type=Path, dir_okay=False), required=False)
@data_folders
@click.option(
    "--source",
    "sources",
    metavar="NAME[=TABLES]",
    multiple=True,
    help="A source to switch on, whole or as many tables of it, instead of the file's; may be repeated.",
)
@click.option("--seed", type=int, help="Which tables are drawn or made up, instead of the file's.")
@click.option("--json", "as_json", is_flag=True, help="The counts as one JSON object.")
def data_report(
    config: Path | None,
    data: tuple[Path, ...],
    sources: tuple[str, ...],
    seed: int | None,
    as_json: bool,
) -> None:
    """Count the tables and labels of each source, and of each type, real or made up.

    CONFIG is the configuration whose [data] to look at; without one, name sources.
    """
    switches: Mapping[str, bool | int] = dict(map(_switch, sources))
    if config is None and not switches:
        raise UsageError("give a configuration or at least one --source, such as gold")
    with (
        training_packages()
    ):  # also around the work: what makes tables up is loaded when it is asked to
        from aegir.data.engine import build_tables
        from aegir.data.report import EngineReport

        if config is not None:
            from aegir.training.byte_network.config import read_byte_training

            settings = read_byte_training(config)
            seed = settings.seed if seed is None else seed
            switches = switches or settings.data.sources
            data = data or tuple(map(Path, settings.data.folders))
        report = EngineReport.of(build_tables(data, switches, seed or 0))
    click.echo(json.dumps(asdict(report)) if as_json else str(report))


def _switch(text: str) -> tuple[str, bool | int]:
    """`gold` is all of gold; `gold=40` is forty tables of it."""
    name, given, count = text.partition("=")
    if given and not count.isdecimal():
        raise UsageError(f"--source {text} gives {count!r} tables; expected a whole number")
    return name, int(count) if given else True
