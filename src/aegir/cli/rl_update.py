"""`aegir rl update`: learn again from what people reviewed, behind the gate."""

import json
from dataclasses import asdict
from pathlib import Path

import click

from aegir.cli.options import verb_options
from aegir.cli.review import open_location
from aegir.cli.terminal import say, tell
from aegir.memory.conventions import conventions_file, update
from aegir.memory.location import memory_exists
from aegir.memory.store import ReviewStore
from aegir_rl.base.errors import CheckFailed, UsageError
from aegir_rl.base.text import amount

RULES_SHOWN = 10


@click.command("update", epilog="Example: aegir rl update --memory memory.db")
@verb_options("memory", "rl update")
def update_conventions(memory: str | None, out: Path | None, seed: int, as_json: bool) -> None:
    """Learn what your corrections have in common, and use it from then on, if that is shown to help.

    What is learnt is judged on tables that it was not learnt from. Leaves with 3, and writes nothing, unless the lower bound of the
    gain is above 0. What was learnt before is kept beside the new file.
    """
    location = open_location(memory)
    if not memory_exists(location):
        raise UsageError(
            f"there is no review memory {location}; make one with: aegir review FILE --memory {location}"
        )
    if out is None and "://" in location:
        raise UsageError(
            "conventions are used from beside a review memory that is a file, but --memory is a database; "
            "name a file to look at with --out"
        )
    with ReviewStore.open(location) as store:
        found = update(store.memory().current, seed)
    if as_json:
        record = {
            "better": found.is_better,
            "gain": found.gain.as_dict(),
            "before": found.before,
            "after": found.after,
            "reviews": found.reviews,
            "tables": found.tables,
            "changed": found.changed,
            "conventions": [asdict(rule) for rule in found.conventions.rules],
        }
        click.echo(json.dumps(record, allow_nan=False))
    if not found.is_better:
        raise CheckFailed(found.sentence)
    path = out or conventions_file(location)
    kept = found.conventions.save(path, found.gain)
    tell(f"wrote {path}" + (f"; what was there is kept as {kept}" if kept else ""))
    if as_json:
        return
    say(found.sentence)
    rules = sorted(found.conventions.rules, key=lambda rule: -rule.agree)
    for rule in rules[:RULES_SHOWN]:
        say(f"  {rule}")
    if len(rules) > RULES_SHOWN:
        say(f"  and {amount(len(rules) - RULES_SHOWN, 'more convention')}, in the file")
