"""`python -m aegir.lab.figures data`: what there is to learn from."""

import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

import click

from aegir.answers.gold_labels import count_unknown_names, unknown_names_sentence
from aegir.cli.options import PathName, verb_options
from aegir.cli.terminal import say
from aegir.lab.cli.train import data_option, training_packages
from aegir.lab.data.engine import build_tables
from aegir.lab.data.report import EngineReport
from aegir_rl.base.errors import UsageError


@click.command(
    "data",
    epilog="Example: python -m aegir.lab.figures data --source gold --source synthetic=400 --data data/",
)
@click.argument("config", type=PathName(dir_okay=False), required=False)
@data_option
@verb_options("figure-data-report")
def data_report(
    config: Path | None,
    data: tuple[Path, ...],
    sources: tuple[str, ...],
    seed: int | None,
    as_json: bool,
) -> None:
    """Count the tables and labels of each source, and of each type, real or made up.

    CONFIG is the configuration whose [data] is counted; without one, name sources.
    """
    switches: Mapping[str, bool | int] = dict(map(_switch, sources))
    if config is None and not switches:
        raise UsageError("give a configuration or at least one --source, such as gold")
    teacher = None
    with training_packages():  # also around the work: what makes tables up is loaded when needed
        if config is not None:
            from aegir.lab.byte_network.config import read_byte_training

            settings = read_byte_training(config)
            seed = settings.seed if seed is None else seed
            switches = switches or settings.data.sources
            data = data or tuple(map(Path, settings.data.folders))
            teacher = settings.data.teacher
        tables = build_tables(data, switches, seed or 0, teacher)
    if sentence := unknown_names_sentence(count_unknown_names(table.labelled for table in tables)):
        say(sentence, err=True)
    report = EngineReport.of(tables)
    say(*([json.dumps(asdict(report))] if as_json else str(report).split("\n")))


def _switch(text: str) -> tuple[str, bool | int]:
    """`gold` is all of gold; `gold=40` is forty tables of it."""
    name, sign, count = text.partition("=")
    if sign and not count.isdecimal():
        raise UsageError(f"--source {text} gives {count!r} tables; expected a whole number")
    return name, int(count) if sign else True
