"""The door: `aegir VERB …`. Verbs are thin; what fails leaves as one sentence and an exit code.

0 done · 1 failed at work · 2 asked wrongly · 3 worked, and the verdict is no · 130 interrupted
"""

import os
import sys
from typing import Annotated

import typer

from aegir.cli import annotate, evaluate, train, types
from aegir.errors import AegirError

app = typer.Typer(
    name="aegir",
    help="Reads any table and says what every column is, and how columns relate.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("annotate", epilog=annotate.EXAMPLE)(annotate.annotate)
app.command("eval", epilog=evaluate.EXAMPLE)(evaluate.evaluate)
app.add_typer(types.app, name="types")
app.add_typer(train.app, name="train")


def _show_version(wanted: bool) -> None:
    if wanted:
        from aegir import __version__

        typer.echo(f"aegir {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Say which.")
    ] = False,
) -> None:
    """Reads any table and says what every column is, and how columns relate."""


def main() -> None:
    """Run the command line; every error a user can cause ends here."""
    try:
        app()
    except AegirError as error:
        complain(str(error))
        sys.exit(error.exit_code)
    except KeyboardInterrupt:
        complain("interrupted")
        sys.exit(130)
    except BrokenPipeError:
        # The reader went away (`aegir … | head`): nothing is wrong, and nobody is left to tell.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)


def complain(sentence: str) -> None:
    """One line on stderr."""
    typer.echo(f"aegir: {sentence}", err=True)
