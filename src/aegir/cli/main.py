"""`aegir VERB …`: finds the verb, runs it, and turns every error into one sentence and an exit code.

0 done · 1 failed at work · 2 asked wrongly · 3 worked, and the verdict is no · 130 interrupted · 143 terminated

`VERBS` names every verb with its module and its help line. A verb's module is imported when the verb is run,
so `aegir --help` loads none, and the modules can import what they need at the top.
"""

import io
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from typing import Any

import click

from aegir.cli.terminal import discard, say, tell
from aegir_rl.base.allocator import keep_freed_memory
from aegir_rl.base.errors import AegirError

GROUPS = {
    "review": "Say what columns really are, and be asked once; share what was said.",
    "rewards": "Test the rewards that training will follow.",
    "rl": "Learn who should handle a column from logged decisions.",
    "runs": "Look at training runs.",
    "sim": "Try solvers on software tasks in a sandbox, and learn which to ask.",
    "swarm": "Keep, measure and grow the pool of specialists.",
    "train": "Train a model from labelled tables.",
    "types": "List and explain column types, fine types and relations; teach your own.",
}
VERBS = {
    "annotate": (
        "cli.annotate:annotate",
        "Say what every column of a table is, and how columns relate.",
    ),
    "bench": (
        "cli.bench:bench",
        "Compare a routing policy with the static table on tables, and repeat such a comparison.",
    ),
    "diff": (
        "cli.diff:diff",
        "Say which columns were added, removed or renamed, changed type or became personal.",
    ),
    "doctor": (
        "cli.doctor:doctor",
        "Say which sandboxes work on this machine, and what is missing.",
    ),
    "eval": ("cli.evaluate:evaluate", "Score an annotator on labelled tables."),
    "feedback": ("cli.feedback:feedback", "Record what columns of a past run really are."),
    "rl collect": (
        "lab.cli.rl_collect:collect_decisions",
        "Route labelled tables and log every decision with the outcome of all workers.",
    ),
    "review export": ("cli.review_files:export", "Write all reviews as JSON lines, oldest first."),
    "review history": (
        "cli.review_files:history",
        "List what was said about columns, by whom and when.",
    ),
    "review import": (
        "cli.review_files:import_reviews",
        "Add the reviews of a file of JSON lines to those that are kept here.",
    ),
    "review table": (
        "cli.review:review_table",
        "Go through the unsure and personal columns of tables, and keep what you say.",
    ),
    "rewards validate": (
        "lab.cli.rewards:validate",
        "Check gradient, polarity, independence and scale of each reward.",
    ),
    "rl analyze-rewards": (
        "cli.rl_data:analyze",
        "Show distribution and sensitivity of reward_v1, and warn where it cannot teach anything.",
    ),
    "rl choose": (
        "cli.rl_policies:choose",
        "Train behaviour cloning, a reward model and conservative Q-learning, and write the best.",
    ),
    "rl collect-synth": (
        "cli.rl_data:collect_synth",
        "Make up logged decisions in a synthetic world of columns and workers.",
    ),
    "rl eval-offline": (
        "cli.rl_policies:eval_offline",
        "Evaluate a policy on a log against the static table, without running it.",
    ),
    "rl export": (
        "cli.rl_data:export",
        "Write the logged decisions of a store, with the outcomes known by now, to a file.",
    ),
    "rl train-bc": (
        "cli.rl_policies:train_bc",
        "Clone the logged behaviour, with calibrated probabilities.",
    ),
    "rl train-cql": (
        "cli.rl_policies:train_cql",
        "Train conservative Q-learning, and compare it with the static table.",
    ),
    "runs health": (
        "cli.runs:health",
        "Say whether a run is well, from the metrics in its folder.",
    ),
    "runs show": (
        "cli.runs:show",
        "Draw a run's curves, checks, heat maps and health on one HTML page.",
    ),
    "sim collect": (
        "cli.sim_train:collect",
        "Let every solver try every task for real, and keep the outcomes for training.",
    ),
    "sim eval": (
        "cli.sim_train:evaluation",
        "Compare policies, one per seed, with single solvers, the static table, their start and the oracle.",
    ),
    "sim generate": (
        "cli.sim_generate:generate",
        "Make software tasks about tables, with known solutions that were verified in the sandbox.",
    ),
    "sim log": (
        "cli.sim_train:log",
        "Log decisions of the static table with exploration, for `aegir rl train-bc` and `train-cql`.",
    ),
    "sim run": (
        "cli.sim:run",
        "Solve tasks in sandboxes, in parallel, and write a result per task; resumable.",
    ),
    "sim solvers": (
        "cli.sim_generate:list_solvers",
        "List the solvers and what each effort costs, in seconds of CPU as stated.",
    ),
    "sim table": (
        "cli.sim_generate:table",
        "Let every solver try the tasks, and show the share of each family whose hidden tests pass.",
    ),
    "sim train-ppo": (
        "cli.sim_train:train",
        "Fine-tune a routing policy by PPO in the simulator.",
    ),
    "sim verify": (
        "cli.sim_generate:verify",
        "Check in the sandbox that every task's solution passes, and that starter and trivial solutions do not.",
    ),
    "serve": ("cli.serve:serve", "Annotate over HTTP, with a page to drop files on."),
    "swarm add": (
        "cli.swarm:add",
        "Add a specialist to your pool, or switch one that ships on again.",
    ),
    "swarm grow": (
        "lab.cli.swarm_grow:grow",
        "Train specialists for the types that the swarm confuses, and keep those that help.",
    ),
    "swarm list": (
        "cli.swarm:list_specialists",
        "List the specialists of the pool, with size, cost and the kinds that they know best.",
    ),
    "swarm map": (
        "lab.cli.swarm_map:draw_map",
        "Draw who knows what, who is woken for what, and what it costs, on one HTML page.",
    ),
    "swarm remove": (
        "cli.swarm:remove",
        "Remove a specialist from your pool; one that ships is switched off instead.",
    ),
    "swarm stats": (
        "cli.swarm:stats",
        "Say how often the specialists were used, for how long, and what they were worth.",
    ),
    "train calibrate": (
        "lab.cli.train_bytes:calibrate",
        "Fit confidence, and the mixture with n-grams and rules, on answers of fold runs.",
    ),
    "train data": (
        "lab.cli.train:data_report",
        "Count the tables and labels of each source, and of each type, real or made up.",
    ),
    "train export": (
        "lab.cli.train_bytes:export",
        "Write a run's network as the small file that annotators read; a collapsed one is refused.",
    ),
    "train ngrams": (
        "lab.cli.train:ngrams",
        "Cross-validate, calibrate and train the n-gram model.",
    ),
    "train parl": (
        "lab.cli.train_parl:parl",
        "Teach a primary when to call frozen specialists, by reinforcement learning.",
    ),
    "train parl-compare": (
        "lab.cli.train_parl:parl_compare",
        "Compare finished runs on held-out tables: F1, routing, time; mean and spread over seeds.",
    ),
    "train parl-export": (
        "lab.cli.train_parl:parl_export",
        "Write the swarm of a run as a folder that can ship, with the n-gram networks that ship.",
    ),
    "train parl-hard": (
        "lab.cli.train_parl:parl_hard",
        "Choose hard types: those whose F1 in these Phase 1 runs is below the median.",
    ),
    "train pretrain": (
        "lab.cli.train_bytes:pretrain",
        "Teach the byte network to read: next bytes and headers of unlabelled tables.",
    ),
    "train search-figures": (
        "lab.cli.train_search:search_figures",
        "Search the held-out tables of fold runs with several efforts; say what is right, and at which cost.",
    ),
    "train spawning": (
        "lab.cli.train_spawning:spawning",
        "Learn how many specialists a table is worth, from every number of them on held-out tables.",
    ),
    "train specialist": (
        "lab.cli.train_specialist:specialist",
        "Train a small network for one domain, to be a frozen specialist of a swarm.",
    ),
    "train supervised": (
        "lab.cli.train_bytes:supervised",
        "Teach the byte network what columns are: types, fine types, relations, personal data.",
    ),
    "train swarm-figures": (
        "lab.cli.train_swarm_figures:swarm_figures",
        "Measure accuracy, cost and critical path against the number of specialists, and what each is worth.",
    ),
    "types forget": ("cli.custom_types:forget", "Forget a type that was taught."),
    "types learn": (
        "cli.custom_types:learn",
        "Teach a type by a few example columns; `annotate` answers with it from then on.",
    ),
    "types list": (
        "cli.types:list_types",
        "List the tree of kinds, column types, fine types and the types you taught, with a line about each.",
    ),
    "types show": (
        "cli.types:show_type",
        "Explain one name: what it means, an example, its place in the tree.",
    ),
}
"""Every verb: where its command is defined (module of `aegir`:attribute), and its help line."""


class LazyVerb(click.Command):
    """Stands for a verb in `--help` until it is run."""

    def __init__(self, name: str, home: str, help_line: str) -> None:
        super().__init__(name, short_help=help_line)
        self.home = home

    def load(self) -> click.Command:
        """Import the verb's command."""
        module, _, attribute = self.home.partition(":")
        command: click.Command = getattr(import_module(f"aegir.{module}"), attribute)
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


class _TopGroup(VerbGroup):
    """Treats a reader that went away (`aegir … | head`) as success; click would exit with 1."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            discard(sys.stdout)
            ctx.exit(0)


@click.group(
    cls=_TopGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(package_name="aegir-tables", message="aegir %(version)s")
def app() -> None:
    """Reads any table and says what every column is, and how columns relate."""


def _add_verbs() -> None:
    groups: dict[str, click.Group] = {"": app}
    for name, help_text in GROUPS.items():
        groups[name] = VerbGroup(name, help=help_text)
        app.add_command(groups[name])
    for path, (home, help_line) in VERBS.items():
        group, _, name = path.rpartition(" ")
        groups[group].add_command(LazyVerb(name, home, help_line))


_add_verbs()


def main() -> None:
    """Run the command line; every error a user can cause ends here."""
    # Our matrices are too small for BLAS threads, and starting them takes time. Read by numpy when it is
    # loaded, which is later.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    keep_freed_memory()
    _open_closed_streams()
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # for terminals that cannot show every letter
    with _exit_on_signals():
        sys.exit(_run())


def _run() -> int:
    """Run the command line and return its exit code."""
    try:
        return app(prog_name="aegir", standalone_mode=False) or 0
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

    names = [
        name for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)
    ]  # Windows has no SIGHUP
    changed = {}
    with suppress(ValueError):  # signals can be set in the main thread only
        for number in (getattr(signal, name) for name in names):
            if signal.getsignal(number) is signal.SIG_DFL:
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
