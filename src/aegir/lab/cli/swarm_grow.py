"""`aegir swarm grow`: specialists for the types that the swarm confuses.

What only training needs (torch, …) is imported inside the verb: `--dry-run` works without it.
"""

import json
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from aegir.answers.gold_labels import count_unknown_names, unknown_names_sentence
from aegir.cli.options import verb_options
from aegir.cli.swarm import tell_validation
from aegir.cli.terminal import say, tell
from aegir.lab.cli.train import training_packages
from aegir.lab.cli.train_bytes import TrainingProgress
from aegir.lab.specialists.growth_tables import read_growth_tables
from aegir.pipeline.registry import load_annotator
from aegir.pipeline.settings import AnnotationSettings
from aegir.readers.swarm.confusions import ConfusedTypes, judge, propose
from aegir.readers.swarm.pool.changes import writable_folder
from aegir_rl.base.errors import CheckFailed, UsageError
from aegir_rl.base.text import amount

if TYPE_CHECKING:
    from aegir.lab.specialists.growing import GrownRound, Growth

GROUPS_SHOWN = 10


@click.command(
    "grow",
    epilog="Example: aegir swarm grow --data labelled.jsonl --from configs/specialists/tiny.toml --out runs/grown",
)
@verb_options("swarm-grow")
def grow(
    data: tuple[Path, ...],
    config: Path | None,
    out: Path | None,
    rounds: int,
    steps: int | None,
    seed: int,
    model: Path | None,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Train specialists for the types that the swarm confuses, and keep those that help.

    Of the labelled tables, three fifths are learnt from, one fifth shows which types are confused, and one fifth shows
    whether a new specialist helps. Leaves with 3 when none was kept.
    """
    tables = read_growth_tables(data, seed)
    if sentence := unknown_names_sentence(
        count_unknown_names(table.labelled for table in tables.tables)
    ):
        tell(sentence)
    swarm = load_annotator(AnnotationSettings(annotator="swarm", model=model))
    if dry_run:
        groups = propose(judge(tables.at(tables.proposal), swarm.score))
        _show_groups(groups, as_json)
        if as_json:
            click.echo(json.dumps({"proposals": [asdict(group) for group in groups]}))
        return
    if config is None or out is None:
        raise UsageError("growing needs --from CONFIG and --out FOLDER; or give --dry-run")
    with training_packages():
        from aegir.lab.specialists.config import read_specialist_training
        from aegir.lab.specialists.growing import Growth

    settings = read_specialist_training(config)
    if steps is not None:
        settings = replace(settings, supervised=replace(settings.supervised, steps=steps))
    growth = Growth(settings, tables, swarm, out, writable_folder(), seed)
    first = growth.proposals()
    _show_groups(first, as_json)
    for done in growth.rounds:
        _show_round(done, "before: ")
    with training_packages():  # some are loaded when they are needed
        _run_rounds(growth, rounds)
    if as_json:
        done_rounds = [asdict(each) for each in growth.rounds]
        click.echo(
            json.dumps({"proposals": [asdict(each) for each in first], "rounds": done_rounds})
        )
    if not any(each.kept for each in growth.rounds):
        raise CheckFailed(
            f"no specialist was kept after {amount(len(growth.rounds), 'round')}; "
            "the pool is as it was"
        )


def _run_rounds(growth: "Growth", rounds: int) -> None:
    """Run what is missing of these rounds; stop when there is nothing left to propose."""
    while len(growth.rounds) < rounds:
        progress = TrainingProgress(growth.config.supervised.steps)
        try:
            done = growth.run_round(progress)
        finally:
            progress.close()
        if done is None:
            tell("no other types are confused often enough")
            return
        _show_round(done)


def _show_groups(groups: Sequence[ConfusedTypes], as_json: bool) -> None:
    """Show the groups as a table: an answer, or talk if the answer is JSON."""
    if not groups:
        tell("no two types are confused often enough to propose a specialist")
        return
    say(f"{'confusions':>10}  {'columns':>7}  types that are mistaken for each other", err=as_json)
    for group in groups[:GROUPS_SHOWN]:
        say(f"{group.confusions:>10}  {group.columns:>7}  {', '.join(group.types)}", err=as_json)
    if len(groups) > GROUPS_SHOWN:
        say(f"and {len(groups) - GROUPS_SHOWN} more groups", err=as_json)


def _show_round(done: "GrownRound", before: str = "") -> None:
    verdict = "kept" if done.kept else "not kept"
    if done.gain is None:
        tell(f"{before}{done.name} was {verdict}: {done.reason}")
        return
    gain = done.gain
    tell(
        f"{before}{done.name} was {verdict}, because {done.reason}: {100 * gain.value:+.2f} points "
        f"({100 * gain.low:+.2f} to {100 * gain.high:+.2f}) on {amount(gain.columns, 'column')} of "
        f"{amount(gain.tables, 'table')}; {gain.better} better, {gain.worse} worse; weight {done.weight:g}"
    )
    if done.kept:
        tell_validation(done.name, done.validation)
