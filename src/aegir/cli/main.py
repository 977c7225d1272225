"""`aegir VERB …`: finds the verb, runs it, and turns every error into one sentence and an exit code.

0 done · 1 failed at work · 2 asked wrongly · 3 worked, and the verdict is no · 130 interrupted · 143 terminated

verbs.tsv names every verb with its module, which is imported when the verb is run: `aegir --help` imports none, and the
modules can import what they need at the top. A verb's help line is the first line of its docstring.
"""

import io
import os
import signal
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from typing import Any

import click

from aegir.cli.terminal import discard, say, tell
from aegir_rl.base.errors import AegirError
from aegir_rl.processes.allocator import keep_freed_memory

GROUPS = {
    "review": "Say what columns really are, and be asked once; share what was said.",
    "types": "List and explain column types, fine types and relations; teach your own.",
    "swarm": "Add, list and remove specialists of your own.",
    "train": "Train a model from labelled tables.",
    "rl": "Learn who should handle a column from logged decisions.",
    "rewards": "Test the rewards that training will follow.",
    "sim": "Try solvers on software tasks in a sandbox, and learn which to ask.",
    "runs": "Look at training runs.",
}
PACKAGE = Path(__file__).parents[1]
_LINES = Path(__file__).with_name("verbs.tsv").read_text(encoding="utf-8").splitlines()
VERBS = dict(line.split("\t", 1) for line in _LINES[1:])
"""Every verb, and where its command is defined: module of `aegir`:function."""
HEADINGS = {
    "Tables": ("annotate", "diff", "mask", "eval", "review", "types", "serve"),
    "More": ("feedback", "doctor", "swarm"),
    "Training": ("train",),
    "Research": ("rl", "rewards", "sim", "runs", "bench"),
}
"""The sections of `aegir --help`."""


def find_help_line(home: str) -> str:
    """Return the first line of a command's docstring, read from the source so that nothing is imported."""
    module, _, function = home.partition(":")
    source = PACKAGE.joinpath(*module.split(".")).with_suffix(".py").read_text(encoding="utf-8")
    _, _, body = source.partition(f"\ndef {function}(")
    return body.split('"""', 2)[1].split("\n")[0]


class LazyVerb(click.Command):
    """Stands for a verb in `--help` until it is run."""

    def __init__(self, name: str, home: str) -> None:
        super().__init__(name)
        self.home = home

    def get_short_help_str(self, limit: int = 45) -> str:  # noqa: ARG002 (lines are short)
        return find_help_line(self.home)

    def load(self) -> click.Command:
        """Import the verb's command."""
        module, _, function = self.home.partition(":")
        command: click.Command = getattr(import_module(f"aegir.{module}"), function)
        return command


DEFAULT_VERBS = {"review": "table"}
"""Groups whose verb may be left out: `aegir review FILE` is `aegir review table FILE`."""


class VerbGroup(click.Group):
    """A group that loads the verb it is asked for."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        default = DEFAULT_VERBS.get(self.name or "")
        if default and args and args[0] not in (*self.commands, *ctx.help_option_names):
            args = [default, *args]
        return super().parse_args(ctx, args)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name, command, rest = super().resolve_command(ctx, args)
        return name, command.load() if isinstance(command, LazyVerb) else command, rest


class TopGroup(VerbGroup):
    """The group of a whole command line, with its verbs under headings if there are any.

    A reader that went away (`aegir … | head`) is a success; click would exit with 1.
    """

    def __init__(self, *arguments: Any, **settings: Any) -> None:
        self.headings: Mapping[str, Sequence[str]] = settings.pop("headings", {})
        super().__init__(*arguments, **settings)

    def list_commands(self, ctx: click.Context) -> list[str]:
        shown = [name for names in self.headings.values() for name in names]
        return [name for name in shown if name in self.commands] or super().list_commands(ctx)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        if not self.headings:
            return super().format_commands(ctx, formatter)
        for heading, names in self.headings.items():
            with formatter.section(heading):
                formatter.write_dl(
                    [(name, self._find(name).get_short_help_str(200)) for name in names], 16
                )
        return None

    def _find(self, path: str) -> click.Command:
        command: click.Command = self
        for name in path.split():
            assert isinstance(command, click.Group), "only groups have verbs"
            command = command.commands[name]
        return command

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            discard(sys.stdout)
            ctx.exit(0)


CONTEXT = {"help_option_names": ["-h", "--help"], "max_content_width": 100}


@click.group(cls=TopGroup, context_settings=CONTEXT, headings=HEADINGS)
@click.version_option(package_name="aegir-tables", message="aegir %(version)s")
def app() -> None:
    """Reads any table and says what every column is, and how columns relate."""


def add_verbs(top: click.Group, verbs: Mapping[str, str]) -> None:
    """Add verbs, given by path and home, to a group and its groups."""
    for path, home in verbs.items():
        group, _, name = path.rpartition(" ")
        if group and group not in top.commands:
            top.add_command(VerbGroup(group, help=GROUPS[group]))
        parent = top.commands[group] if group else top
        assert isinstance(parent, click.Group), "no verb has the name of a group"
        parent.add_command(LazyVerb(name, home))


add_verbs(app, VERBS)


def main(group: click.Group = app, name: str = "aegir") -> None:
    """Run a command line; every error a user can cause ends here."""
    # Our matrices are too small for BLAS threads, and starting them takes time. Read by numpy when it is
    # loaded, which is later.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    keep_freed_memory()
    _open_closed_streams()
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # for terminals that cannot show every letter
    with _exit_on_signals():
        sys.exit(_run(group, name))


def _run(group: click.Group, name: str) -> int:
    """Run a command line and return its exit code."""
    try:
        return group(prog_name=name, standalone_mode=False) or 0
    except click.ClickException as error:
        text = io.StringIO()
        error.show(text)
        say(*text.getvalue().rstrip("\n").split("\n"), err=True)
        return error.exit_code
    except AegirError as error:
        tell(str(error))
        return error.exit_code
    except OSError as error:  # a full disk behind `aegir … > file`, a terminal that is gone
        discard(sys.stdout)
        reason = error.strerror or type(error).__name__
        tell(f"cannot write {error.filename or 'the answer'}: {reason}")
        return 1
    except (KeyboardInterrupt, click.Abort):
        tell("interrupted")
        return 130
    except _Terminated as signalled:
        tell("terminated")
        return 128 + signalled.number


class _Terminated(SystemExit):
    """The process was asked to end by a signal."""

    def __init__(self, number: int) -> None:
        super().__init__(128 + number)
        self.number = number


@contextmanager
def _exit_on_signals() -> Iterator[None]:
    """Let SIGTERM and SIGHUP raise, so that files are closed and kept as after Ctrl-C; ignored ones stay ignored."""

    def stop(number: int, _frame: object) -> None:
        raise _Terminated(number)

    changed = {}
    with suppress(ValueError):  # signals can be set in the main thread only
        for name in ("SIGTERM", "SIGHUP"):
            number = getattr(signal, name, None)  # Windows has no SIGHUP
            if number is not None and signal.getsignal(number) is signal.SIG_DFL:
                changed[number] = signal.signal(number, stop)
    try:
        yield
    finally:
        for number, handler in changed.items():
            signal.signal(number, handler)


def _open_closed_streams() -> None:
    """Give closed standard streams (`aegir … >&-`) a file: the next one to be opened would get their number.

    Writing to stdout then fails as on a full disk; stdin stays None, which reading it reports.
    """
    if sys.stdin is None:
        os.open(os.devnull, os.O_RDONLY)
    if sys.stdout is None:
        sys.stdout = os.fdopen(os.open(os.devnull, os.O_RDONLY), "w")
    if sys.stderr is None:
        sys.stderr = os.fdopen(os.open(os.devnull, os.O_WRONLY), "w")
