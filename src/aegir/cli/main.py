"""The door: `aegir VERB …`. Verbs are thin; what fails leaves as one sentence and an exit code.

0 done · 1 failed at work · 2 asked wrongly · 3 worked, and the verdict is no · 130 interrupted
"""

import io
import os
import sys
from contextlib import suppress
from typing import Any

import click

from aegir.cli.annotate import annotate
from aegir.cli.evaluate import evaluate
from aegir.cli.rewards import rewards
from aegir.cli.runs import runs
from aegir.cli.talk import tell
from aegir.cli.train import train
from aegir.cli.types import types
from aegir.errors import AegirError


class _Verbs(click.Group):
    """Takes a reader that went away (`aegir … | head`) for success; click would leave with 1."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            _let_go_of_stdout()
            ctx.exit(0)


@click.group(
    cls=_Verbs, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100}
)
@click.version_option(package_name="aegir", message="aegir %(version)s")
def app() -> None:
    """Reads any table and says what every column is, and how columns relate."""


for verb in (annotate, evaluate, types, train, rewards, runs):
    app.add_command(verb)


def main() -> None:
    """Run the command line; every error a user can cause ends here."""
    # Our matrices are too small for BLAS threads, and starting them takes time. Read by numpy when it is
    # loaded, which is later.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # for terminals that cannot show every letter
    try:
        sys.exit(app(prog_name="aegir", standalone_mode=False) or 0)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except AegirError as error:
        tell(str(error))
        sys.exit(error.exit_code)
    except OSError as error:  # a full disk behind `aegir … > file`, a terminal that is gone
        _let_go_of_stdout()
        reason = error.strerror or type(error).__name__
        tell(f"cannot write {error.filename or 'the answer'}: {reason}")
        sys.exit(1)
    except (KeyboardInterrupt, click.Abort):
        tell("interrupted")
        sys.exit(130)


def _let_go_of_stdout() -> None:
    """Send what is still to be written nowhere: Python flushes stdout once more at exit."""
    with suppress(OSError):  # a stdout that is no file
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
