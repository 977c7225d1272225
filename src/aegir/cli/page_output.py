"""Where a verb that draws an HTML page puts it: a file, or stdout if that is no terminal."""

import sys
from pathlib import Path

import click

from aegir.cli.options import verb_options
from aegir.cli.terminal import tell
from aegir_rl.base.errors import UsageError
from aegir_rl.base.files import replace_file

page_option = verb_options("page")


def page_target(out: Path | None, as_json: bool, example: str) -> Path | None:
    """The file a page goes to, None for stdout; raise if it would be printed to a terminal."""
    if out is None and not as_json and sys.stdout.isatty():
        raise UsageError(
            f"the page would be printed to the terminal; give --out {example}, or --json"
        )
    return out


def write_page(out: Path | None, text: str, drawn: str) -> None:
    """Write a page, or its figures, to stdout, or to a file and say what is drawn there."""
    if out is None:
        click.echo(text, nl=False)
    else:
        replace_file(out, text.encode())
        tell(f"{drawn} is drawn in {out}")
