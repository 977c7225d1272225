"""`aegir review export`, `import` and `history`: reviews as files that a team shares, and as a list."""

import sys
from pathlib import Path

import click

from aegir.cli.options import PathName, verb_options
from aegir.cli.review import open_location
from aegir.cli.terminal import say, tell
from aegir.memory.location import memory_exists
from aegir.memory.recall import ReviewMemory
from aegir.memory.review import Review
from aegir.memory.store import ReviewStore, read_lines, write_lines
from aegir_rl.base.errors import UsageError
from aegir_rl.base.files import replace_file
from aegir_rl.base.text import amount


@click.command("export", epilog="Example: aegir review export --out reviews.jsonl")
@verb_options("memory", "review export")
def export(memory: str | None, out: Path | None) -> None:
    """Write all reviews as JSON lines, oldest first.

    The same reviews give the same bytes, and new ones come last, so that the file can be kept in git.
    """
    with _existing(memory) as store:
        lines = list(write_lines(store.read()))
    if out is None:
        click.echo("".join(lines), nl=False)
        return
    replace_file(out, "".join(lines).encode())
    tell(f"{amount(len(lines), 'review')} written to {out}")


@click.command("import", epilog="Example: aegir review import reviews.jsonl")
@click.argument("file", type=PathName(dir_okay=False))
@verb_options("memory")
def import_reviews(file: Path, memory: str | None) -> None:
    """Add the reviews of a file of JSON lines to those that are kept here.

    FILE is what `aegir review export` wrote, or - for standard input. Reviews that are here already are left alone; if a
    line is damaged, nothing is added.
    """
    reviews = read_lines(_text_of(file).split("\n"), str(file))
    with ReviewStore.open(open_location(memory)) as store:
        added = store.add(reviews)
        tell(f"{amount(added, 'review')} of {len(reviews):,} added to {store.name}")
    if note := ReviewMemory(reviews).note:
        tell(note)


@click.command("history", epilog="Example: aegir review history customers.csv email")
@click.argument("table", required=False)
@click.argument("column", required=False)
@verb_options("memory", "review history")
def history(table: str | None, column: str | None, memory: str | None, as_json: bool) -> None:
    """List what was said about columns, by whom and when.

    TABLE is the name of a table or its file, COLUMN a header or a number from 0 on. Of a column, the last review counts.
    """
    with _existing(memory) as store:
        reviews = store.history(table, column)
    say(*(review.to_json() if as_json else _line(review) for review in reviews))
    if not reviews and table is not None:
        tell(f"nothing was said about {' '.join(filter(None, (table, column)))}")


def _existing(memory: str | None) -> ReviewStore:
    location = open_location(memory)
    if not memory_exists(location):
        raise UsageError(f"there is no review memory {location}; make one with: aegir review FILE")
    return ReviewStore.open(location)


def _line(review: Review) -> str:
    name = review.column.name or f"column {review.column.index + 1}"
    label = review.label or "no name fits"
    personal = {True: f", personal: {review.level}", False: ", not personal", None: ""}[
        review.personal
    ]
    instead = "" if review.said == review.label else f" (answered: {review.said or 'nothing'})"
    return f"{review.at[:19]}Z  {review.by}  {review.table}  {name}: {label}{personal}{instead}"


def _text_of(file: Path) -> str:
    try:
        content = sys.stdin.buffer.read() if str(file) == "-" else file.read_bytes()
        return content.decode("utf-8-sig")
    except OSError as error:
        raise UsageError(f"{file} cannot be read ({error.strerror or error})") from None
    except UnicodeDecodeError:
        raise UsageError(f"{file} is no UTF-8; expected a file of `aegir review export`") from None
