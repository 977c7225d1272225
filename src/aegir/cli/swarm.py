"""`aegir swarm add | list | remove`: the specialists of the user's pool."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

import click

from aegir.answers.gold_labels import (
    count_unknown_names,
    unknown_names_sentence,
    within_vocabulary,
)
from aegir.cli.options import PathName, verb_options
from aegir.cli.terminal import say, tell, track
from aegir.evaluation.validating import specialist_validator
from aegir.readers.swarm.pool.changes import (
    add_specialist,
    remove_specialist,
    writable_folder,
)
from aegir.readers.swarm.pool.entry import PoolEntry, SpecialistValidation
from aegir.readers.swarm.pool.loading import file_state
from aegir.readers.swarm.pool.specialist_pool import SpecialistPool
from aegir.tables.labelled import LabelledTable, read_labelled_tables
from aegir.tables.leakage import halve_by_group
from aegir_rl.base.errors import UsageError
from aegir_rl.base.text import amount

KINDS_SHOWN = 3
TYPES_SHOWN = 8
KNOWN_SHARE = 0.1
"""Share of right answers from which a kind counts as known."""


@click.command(
    "add", epilog="Example: aegir swarm add runs/specialists/tiny.safetensors --name dates"
)
@click.argument("weights", type=PathName(dir_okay=False))
@verb_options("swarm-add")
def add(weights: Path, name: str | None, tables: Path | None, as_json: bool) -> None:
    """Add a specialist to your pool.

    WEIGHTS is a file made by `aegir train specialist`, which is copied.
    With --tables, half of the tables are for the weight of its answers and half for what they gain; if the lower end of the gain is above
    zero, `aegir annotate --effort high` asks it about columns that could be several of its types.
    """
    folder = writable_folder()
    if not weights.exists():
        raise UsageError(
            f"there is no file {weights}; make one with: aegir train specialist CONFIG"
        )
    if tables is None:
        entry = add_specialist(weights, folder, name)
    else:
        labelled = _read_tables(tables)
        validate = specialist_validator(folder, *halve_by_group(labelled), _watch, tell)
        entry = add_specialist(weights, folder, name, labelled, validate)
    tell(f"{entry.name} is kept in {entry.file}; to undo: aegir swarm remove {entry.name}")
    _tell_validation(entry.name, entry.validation)
    if as_json:
        click.echo(json.dumps(entry.as_dict()))


@click.command("list", epilog="Example: aegir swarm list --json")
@click.option("--json", "as_json", is_flag=True, help="One JSON object per line.")
def list_specialists(as_json: bool) -> None:
    """List the specialists of the pool, with size, cost and the kinds that they know best.

    A file that is not the one that was added is said to be altered, missing or unreadable.
    """
    pool = SpecialistPool.open()
    for sentence in pool.refused.values():
        tell(sentence)
    if as_json:
        for entry in pool.entries.values():
            state = file_state(entry)
            asked = entry.asked and state == "unchanged"
            click.echo(json.dumps({**entry.as_dict(), "asked": asked, "file_state": state}))
        return
    width = max((len(name) for name in pool.entries), default=4)
    say(f"{'name':<{width}}  {'MB':>5}  {'µs/byte':>7}  domain; best kinds")
    for entry in pool.entries.values():
        say(
            f"{entry.name:<{width}}  {entry.size / 1e6:>5.1f}  "
            f"{entry.cost_per_byte / 1000:>7.1f}  {entry.domain or entry.family}{_best(entry)}"
            f"{_use(entry)}"
        )


@click.command("remove", epilog="Example: aegir swarm remove dates")
@click.argument("name")
@click.option("--json", "as_json", is_flag=True, help="What was done as one JSON object.")
def remove(name: str, as_json: bool) -> None:
    """Remove a specialist from your pool."""
    remove_specialist(name, writable_folder())
    tell(f"{name} is removed")
    if as_json:
        click.echo(json.dumps({"name": name, "done": "removed"}))


def _tell_validation(name: str, validation: SpecialistValidation | None) -> None:
    """Tell whether `annotate --effort high` will ask a specialist, and why."""
    refusal = f"`aegir annotate --effort high` does not ask {name}, because"
    if validation is None:
        tell(f"{refusal} nobody has measured what it gains; add it with --tables")
        return
    measured = (
        f"{100 * validation.gain:+.2f} points ({100 * validation.low:+.2f} to {100 * validation.high:+.2f}) on "
        f"{amount(validation.columns, 'column')} of {amount(validation.tables, 'table')}, weight {validation.weight:g}"
    )
    if not validation.asked:
        tell(f"{refusal} {validation.objection}" + f" ({measured})" * bool(validation.columns))
        return
    types, more = ", ".join(validation.types[:TYPES_SHOWN]), len(validation.types) - TYPES_SHOWN
    types += f" and {more} more types" if more > 0 else ""
    tell(
        f"`aegir annotate --effort high` asks {name} about columns that could be several of {types}: {measured}"
    )


def _read_tables(path: Path) -> list[LabelledTable]:
    """Read labelled tables, and tell which names in them are unknown."""
    tables = [within_vocabulary(labelled) for labelled in read_labelled_tables(path)]
    if sentence := unknown_names_sentence(count_unknown_names(tables)):
        tell(sentence)
    return tables


def _watch(numbers: Sequence[int]) -> Iterator[int]:
    return track(numbers, "searching tables")


def _use(entry: PoolEntry) -> str:
    state = file_state(entry)
    if state != "unchanged":
        return f"; its file is {state}"
    return "; asked at high effort" if entry.asked else ""


def _best(entry: PoolEntry) -> str:
    """The kinds of whose columns most are answered rightly."""
    rights = [(score.type_right or 0.0, kind) for kind, score in entry.scores.items()]
    known = [each for each in rights if each[0] >= KNOWN_SHARE]
    best = sorted(known, key=lambda each: (-each[0], each[1]))[:KINDS_SHOWN]
    listed = ", ".join(f"{kind} {right:.2f}" for right, kind in best)
    return f"; {listed}" if listed else ""
