"""`python -m aegir.lab.figures drift`: what `aegir rl update` gains where organisations call the same columns differently.

Real everyday tables, each column answered by n-gram networks that have not seen its group. For a third of the labelled columns several names are
acceptable: row numbers are IdentifierAT or Number, states `category` or nothing. An organisation has one habit for each such set, drawn by seed,
so what is right differs between organisations, on real columns. Its groups of tables (repositories) come in random order; the labelled
columns of the earlier half are reviewed, and the later half is measured with what the gate let through.

Three worlds: `own` follows its habits; `mixed` has other habits for every group, so there is nothing to learn; `usual` calls a column as it
was answered, where that is acceptable. Columns for which one name alone is acceptable show what the habits cost elsewhere.
"""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import click
import numpy as np

from aegir.cli.options import verb_options
from aegir.cli.terminal import say
from aegir.lab.cli.train import training_packages
from aegir.lab.figures.text_table import text_table
from aegir.memory.conventions import Conventions, update
from aegir.memory.review import Review, kind_of_label
from aegir.tables.fingerprint import Fingerprint, fingerprint_table
from aegir.vocabulary.hierarchy import is_right
from aegir.vocabulary.terms import TYPE_NAMES
from aegir_rl.base.errors import UsageError
from aegir_rl.base.seeding import Seeds
from aegir_rl.offline.intervals import Estimate, estimate_gain

NAMES: tuple[str | None, ...] = (*TYPE_NAMES, None)
WORLDS = ("own", "mixed", "usual")
NOTHING = Conventions(())


@dataclass(frozen=True, slots=True)
class AnsweredColumn:
    """A labelled column of a real table, and what was answered without having seen its group."""

    table: str
    group: int
    said: str | None
    accepted: tuple[str | None, ...]
    column: Fingerprint


@dataclass(frozen=True, slots=True)
class DriftResult:
    """One organisation: the gate on its earlier tables, and the truth on its later ones."""

    world: str
    seed: int
    gate: float
    """The lower bound of the gain by the reviews of earlier tables."""
    passed: bool
    rules: int
    columns: int
    before: float
    after: float
    gain: Estimate
    """On later tables; 0 where the gate lets nothing through."""
    ungated: float
    """What the rules would have gained without the gate."""
    fixed: Estimate
    """The gain on the later columns for which one name alone is acceptable."""


@click.command(
    "drift",
    epilog="Example: python -m aegir.lab.figures drift --ngrams runs/ngrams-parts --data DATA",
)
@verb_options("figure-drift")
def drift(ngrams: Path, data: tuple[Path, ...], organisations: int, as_json: bool) -> None:
    """Simulate organisations whose habits differ; measure later tables with and without an update."""
    with training_packages():
        columns = read_columns(ngrams, data)
    results = [simulate(columns, world, seed) for world in WORLDS for seed in range(organisations)]
    if as_json:
        for each in results:
            say(json.dumps(asdict(each)))
        return
    rows: list[tuple[object, ...]] = [
        (
            "world seed",
            "gate",
            "rules",
            "columns",
            "without",
            "with",
            "gain, 95 %",
            "ungated",
            "one name only",
        )
    ]
    rows += [
        (
            f"{each.world} {each.seed}",
            f"{each.gate:+.4f} {'yes' if each.passed else 'no'}",
            each.rules,
            each.columns,
            f"{each.before:.4f}",
            f"{each.after:.4f}",
            f"{each.gain.value:+.4f} ({each.gain.show_interval('+.4f')})",
            f"{each.ungated:+.4f}",
            f"{each.fixed.value:+.4f} ({each.fixed.show_interval('+.4f')})",
        )
        for each in results
    ]
    say(*text_table(rows))


def read_columns(ngrams: Path, data: Sequence[Path]) -> list[AnsweredColumn]:
    """Return the labelled everyday columns that the folds of `aegir train ngrams` have held-out answers to."""
    from aegir.lab.data.sources import everyday_files, read_training_tables
    from aegir.lab.held_out import column_names, load_answers

    files = sorted(ngrams.glob("network-fold*.safetensors"))
    if not files:
        raise UsageError(
            f"{ngrams} has no network-fold*.safetensors; make them with: aegir train ngrams"
        )
    prints: dict[str, tuple[str, Fingerprint]] = {}
    for table in read_training_tables(everyday_files(data)):
        names = column_names(table)
        of_table = names[0].rpartition("#")[0] if names else ""
        for name, column in zip(names, fingerprint_table(table.labelled.table), strict=True):
            prints[name] = of_table, column
    columns = []
    for path in files:
        answers = load_answers(path)["open"]
        best = answers.logits["types"].argmax(axis=1)
        for row in np.flatnonzero(answers.known["types"]).tolist():
            if answers.names[row] in prints:
                table_name, column = prints[answers.names[row]]
                right = np.flatnonzero(answers.accepted["types"][row])
                accepted = tuple(NAMES[i] for i in right)
                columns.append(
                    AnsweredColumn(
                        table_name, int(answers.group[row]), NAMES[best[row]], accepted, column
                    )
                )
    if not columns:
        raise UsageError(
            f"none of the columns that {ngrams} answers is among the tables given; name their folder with --data"
        )
    return columns


def simulate(columns: Sequence[AnsweredColumn], world: str, seed: int) -> DriftResult:
    """Review an organisation's earlier tables, update behind the gate, measure its later ones."""
    random = Seeds(seed).generator("organisation")
    groups = random.permutation(sorted({each.group for each in columns}))
    own = set(groups[: len(groups) // 2].tolist())  # the other half belongs to others
    order = [group for group in groups.tolist() if group in own]
    early = set(order[: len(order) // 2])
    mine = [each for each in columns if each.group in own]
    truth = [_habit(each, world, seed) for each in mine]
    is_early = np.array([each.group in early for each in mine])
    reviews = [_review(mine[i], truth[i], i) for i in np.flatnonzero(is_early).tolist()]
    found = update(reviews, seed)
    used = found.conventions if found.is_better else NOTHING
    later = np.flatnonzero(~is_early).tolist()
    said = np.array([_right(mine[i].said, truth[i]) for i in later], float)
    given = np.array(
        [_right(used.name(mine[i].said, mine[i].column), truth[i]) for i in later], float
    )
    free = [_right(found.conventions.name(mine[i].said, mine[i].column), truth[i]) for i in later]
    group = np.array([mine[i].group for i in later], np.int64)
    alone = np.array([len(mine[i].accepted) == 1 for i in later])
    return DriftResult(
        world=world,
        seed=seed,
        gate=found.gain.low,
        passed=found.is_better,
        rules=len(found.conventions.rules),
        columns=len(later),
        before=float(said.mean()),
        after=float(given.mean()),
        gain=estimate_gain(given - said, group),
        ungated=float(np.mean(free) - said.mean()),
        fixed=estimate_gain((given - said)[alone], group[alone]),
    )


def _habit(column: AnsweredColumn, world: str, seed: int) -> str | None:
    """What the organisation calls a column: one of the acceptable names."""
    if world == "usual" and column.said in column.accepted:
        return column.said
    of = str(column.group) if world == "mixed" else ""
    drawn = Seeds(seed).derive("habit", of, *map(str, column.accepted))
    return column.accepted[drawn % len(column.accepted)]


def _review(column: AnsweredColumn, label: str | None, number: int) -> Review:
    return Review(
        id=f"simulated-{number}",
        at="2030-01-01T00:00:00.000000+00:00",
        by="simulated",
        label=label,
        kind=kind_of_label(label, {}),
        personal=None,
        level=None,
        said=column.said,
        table=column.table,
        source=f"group {column.group}/{column.table}",
        column=column.column,
    )


def _right(answered: str | None, truth: str | None) -> bool:
    return answered is None if truth is None else is_right(answered, truth)
