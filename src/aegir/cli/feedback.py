"""`aegir feedback`: record a user's corrections of a past run as outcomes of its decisions."""

import json
from pathlib import Path

import click

from aegir.cli.options import PathName, verb_options
from aegir.cli.terminal import say
from aegir.pipeline.custom_types.store import type_files, types_folder
from aegir.routing.corrections import read_corrections, record_corrections
from aegir_rl.base.errors import UsageError
from aegir_rl.base.text import amount
from aegir_rl.offline.store import DecisionStore


@click.command(epilog="Example: aegir feedback corrections.csv --store decisions.db")
@click.argument("file", type=PathName(dir_okay=False))
@verb_options("store", "feedback")
def feedback(file: Path, store: str, run: str | None, by: str, as_json: bool) -> None:
    """Record what columns of a past run really are.

    FILE is CSV with the header table,column,label, or JSON lines with these keys; a column is given by header or number.
    """
    corrections = read_corrections(file, [path.stem for path in type_files(types_folder())])
    if "://" not in store and not Path(store).is_file():
        raise UsageError(
            f"there is no store {store}; make one with: aegir annotate FILE --log-decisions {store}"
        )
    with DecisionStore.open(store) as opened:
        ids = record_corrections(opened, corrections, run, by)
    for id_, correction in zip(ids, corrections, strict=True):
        if as_json:
            record = {"id": id_, "table": correction.table, "column": correction.column}
            say(json.dumps({**record, "label": correction.label}, ensure_ascii=False))
    if not as_json:
        say(f"{amount(len(ids), 'correction')} recorded in {store}")
