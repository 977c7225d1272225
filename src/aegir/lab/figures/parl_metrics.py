"""Metrics of finished runs on their held-out tables: easy and hard types, routing, time.

    hard = find_hard_types([Path("runs/bytes-fold-1")])            # types below the median F1, on tables not reported
    for row in compare_runs(sorted(Path("runs").glob("parl-*")), hard): row.mean["web/hard_f1"], row.spread["web/hard_f1"]

Runs of one name and seed are folds of each other and are judged together; mean and standard deviation are over seeds. Hard
types are fixed in a file, with the tables that they were chosen on: a run that reports one of those is refused.

    web/f1, web/macro_f1           share of labelled columns answered right, mean F1 of types
    web/easy_f1, web/hard_f1       share of right answers among columns of easy and of hard types
    open/type_right                the same on everyday tables, "none of these" included
    routing/information            mutual information of type and activation in bits, mean over specialists
    routing/information_shuffled   the same with activations shuffled among columns, mean of SHUFFLES
    time/…                         seconds of all models together and of the critical path; in threads, one after the other
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from aegir.lab.held_out import ANSWERS, HeldOut, load_answers, stack_folds
from aegir.lab.parl.evaluation import ROUTING, load_routing
from aegir.lab.parl.report import SUMMARY
from aegir.readers.bytes.heads import OUTPUTS, TYPES_HEAD
from aegir_rl.base.arrays import I64, Bools
from aegir_rl.base.errors import UsageError, reason_of
from aegir_rl.base.files import replace_file
from aegir_rl.base.metrics import F1Report, compute_f1
from aegir_rl.base.seeding import Seeds
from aegir_rl.base.text import parse_json
from aegir_rl.observe.plots import heat_plot, line_plot, write_svgs

TYPES, TYPE_NAMES = "types", OUTPUTS[TYPES_HEAD]
SHUFFLES = 20
LEAST_COLUMNS = 5
"""Columns of a type below which its F1 is not known, so that it is neither easy nor hard."""
LEARNT = "parl"
"""The variant whose activation is drawn."""
TOTAL, PATH, F1 = "time/total_work", "time/critical_path", "web/f1"


@dataclass(frozen=True, slots=True)
class HardTypes:
    """Types that the Phase 1 network finds hard."""

    types: tuple[str, ...]
    easy: tuple[str, ...]
    median: float
    f1: Mapping[str, float]
    tables: tuple[str, ...]
    """Hashes of the tables that they were chosen on."""


@dataclass(frozen=True, slots=True)
class ComparedVariant:
    """One variant over its seeds."""

    name: str
    seeds: tuple[int, ...]
    mean: dict[str, float]
    spread: dict[str, float]
    """Standard deviation over seeds; 0 with one."""
    activation: dict[str, dict[str, float]]
    """Type to specialist to the share of the type's columns that it read, of the first seed."""


def find_hard_types(runs: Sequence[Path]) -> HardTypes:
    """Return the types whose F1 in these runs, on web tables, is below the median."""
    answers = _answers(runs).get("web")
    if answers is None:
        raise UsageError(f"{runs[0]} held out no web tables; hard types are chosen on those")
    report = _report(answers, answers.known[TYPES])
    f1 = {each.label: each.f1 for each in report.classes if each.support >= LEAST_COLUMNS}
    if len(f1) < 2:
        raise UsageError(
            f"only {len(f1)} types have {LEAST_COLUMNS} columns or more; hold out more tables"
        )
    median = float(np.median(list(f1.values())))
    return HardTypes(
        types=tuple(name for name, score in f1.items() if score < median),
        easy=tuple(name for name, score in f1.items() if score >= median),
        median=median,
        f1=f1,
        tables=tuple(sorted(_tables(answers))),
    )


def save_hard_types(path: Path, hard: HardTypes) -> None:
    """Write them as JSON."""
    replace_file(path, (json.dumps(asdict(hard), indent=1, sort_keys=True) + "\n").encode())


def load_hard_types(path: Path) -> HardTypes:
    """Read what `save_hard_types` wrote."""
    try:
        record = parse_json(path.read_text(encoding="utf-8"))
        parts = {name: tuple(record[name]) for name in ("types", "easy", "tables")}
        return HardTypes(median=float(record["median"]), f1=dict(record["f1"]), **parts)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UsageError(
            f"{path} has no hard types ({reason_of(error)}); "
            "make it with: python -m aegir.lab.figures parl-hard RUN"
        ) from None


def compare_runs(runs: Sequence[Path], hard: HardTypes | None = None) -> list[ComparedVariant]:
    """Return one row per variant, in the order in which their runs came."""
    variants: dict[str, dict[int, list[Path]]] = {}
    for run in runs:
        summary = _summary(run)
        variants.setdefault(summary["name"], {}).setdefault(int(summary["seed"]), []).append(run)
    rows = []
    for name, seeds in variants.items():
        measured = [_measure(folds, hard) for folds in seeds.values()]
        metrics, (activation, *_) = zip(*measured, strict=True)
        shared = [key for key in metrics[0] if all(key in each for each in metrics)]
        values = {key: [each[key] for each in metrics] for key in shared}
        mean = {key: float(np.mean(some)) for key, some in values.items()}
        spread = {
            key: float(np.std(some, ddof=1)) if len(some) > 1 else 0.0
            for key, some in values.items()
        }
        rows.append(ComparedVariant(name, tuple(seeds), mean, spread, activation))
    return rows


def compute_information(types: I64, active: Bools) -> float:
    """Return the mutual information of type (columns,) and activation (columns, N) in bits, mean over specialists.

    Worked number: two types of equal share, a specialist that reads exactly one of them: 1 bit.
    """
    numbers = np.unique(types, return_inverse=True)[1].reshape(-1)
    per_type = np.bincount(numbers) / len(numbers)
    total = 0.0
    for on in active.T:
        both = np.stack([np.bincount(numbers, on == value) for value in (0, 1)]) / len(numbers)
        expected = both.sum(axis=1, keepdims=True) * per_type
        present = both > 0
        total += float((both[present] * np.log2(both[present] / expected[present])).sum())
    return float(total / max(active.shape[1], 1))


def save_plots(folder: Path, rows: Sequence[ComparedVariant]) -> list[Path]:
    """Write activation.svg of the learnt router, critical_path.svg and cost.svg of all variants; return the files."""
    learnt = next((row for row in rows if row.name == LEARNT), None)
    if learnt is None:
        raise UsageError(
            f"none of the runs is of the variant {LEARNT!r}; there is nothing to draw of its routing"
        )
    types = sorted(learnt.activation)
    specialists = list(learnt.activation[types[0]]) if types else []
    plots = {
        "activation": heat_plot(
            "share of a type's columns that each specialist read",
            types,
            specialists,
            [[learnt.activation[name][each] for each in specialists] for name in types],
        )
    }
    for name, metric, title, label in (
        ("critical_path", PATH, "time on held-out tables", "seconds of the critical path"),
        ("cost", F1, "accuracy against cost", "F1 of web types"),
    ):
        means = {row.name: row.mean for row in rows if TOTAL in row.mean and metric in row.mean}
        points = {row: ([mean[TOTAL]], [mean[metric]]) for row, mean in means.items()}
        x_label = "seconds of all models together"
        plots[name] = line_plot(title, points, x_label=x_label, y_label=label, dots=True)
    return write_svgs(folder, plots)


def _measure(
    runs: Sequence[Path], hard: HardTypes | None
) -> tuple[dict[str, float], dict[str, dict[str, float]]]:
    """Return the metrics of the folds of one name and seed together, and activation per type and specialist."""
    answers = _answers(runs)
    metrics: dict[str, float] = {}
    activation: dict[str, dict[str, float]] = {}
    if (web := answers.get("web")) is not None:
        if shared := _tables(web) & set(hard.tables if hard else ()):
            raise UsageError(
                f"{len(shared)} of the tables that {runs[0]} reports are among those the hard types were chosen on; "
                "choose them on other folds"
            )
        typed = web.known[TYPES] & web.accepted[TYPES].any(axis=1)
        report = _report(web, typed)
        metrics |= {F1: report.micro_f1, "web/macro_f1": report.macro_f1}
        right, names = _right(web), np.array(TYPE_NAMES)[_gold(web)]
        for part, types in (("hard", hard.types), ("easy", hard.easy)) if hard else ():
            among = typed & np.isin(names, types)
            if among.any():
                metrics[f"web/{part}_f1"] = float(right[among].mean())
                metrics[f"web/{part}_columns"] = float(among.sum())
        routing, activation = _routing_metrics(runs, web, typed)
        metrics |= routing
    if (everyday := answers.get("open")) is not None:
        metrics["open/type_right"] = float(_right(everyday)[everyday.known[TYPES]].mean())
    recorded = [_summary(run)["figures"] for run in runs]
    for name in ("time/parallel_wall", "time/sequential_wall"):
        if seconds := [each[name] for each in recorded if name in each]:
            metrics[name] = sum(seconds)
    return metrics, activation


def _routing_metrics(
    runs: Sequence[Path], web: HeldOut, typed: Bools
) -> tuple[dict[str, float], dict[str, dict[str, float]]]:
    """Return metrics of activation, and its rate per type and specialist; nothing if there are no specialists."""
    parts = [load_routing(run / ROUTING) for run in runs if (run / ROUTING).exists()]
    parts = [part for part in parts if part.activation.size]
    if not parts:
        return {}, {}
    known = dict(pair for part in parts for pair in zip(part.columns, part.activation, strict=True))
    rows = np.flatnonzero(typed)
    active, gold = np.array([known[web.names[row]] for row in rows]), _gold(web)[rows]
    random = Seeds(0).generator("shuffled activation")
    shuffled = [compute_information(gold, random.permutation(active)) for _ in range(SHUFFLES)]
    rates = {
        TYPE_NAMES[number]: dict(
            zip(parts[0].specialists, active[gold == number].mean(axis=0).tolist(), strict=True)
        )
        for number in np.unique(gold)
    }
    metrics = {
        "activation/rate": float(active.mean()),
        "routing/information": compute_information(gold, active),
        "routing/information_shuffled": float(np.mean(shuffled)),
        PATH: sum(part.times.critical_path for part in parts),
        TOTAL: sum(part.times.total_work for part in parts),
    }
    return metrics, rates


def _answers(runs: Sequence[Path]) -> dict[str, HeldOut]:
    for run in runs:
        if not (run / ANSWERS).exists():
            raise UsageError(
                f"{run} has no {ANSWERS}; give finished runs that keep tables out (--fold 0, not -1)"
            )
    return stack_folds([load_answers(run / ANSWERS) for run in runs])


def _summary(run: Path) -> dict[str, Any]:
    try:
        summary = parse_json((run / SUMMARY).read_text(encoding="utf-8"))
        return {name: summary[name] for name in ("name", "seed", "figures")}
    except (OSError, ValueError, KeyError):
        raise UsageError(
            f"{run} has no {SUMMARY} of a finished run; make it with: aegir train parl CONFIG"
        ) from None


def _tables(answers: HeldOut) -> set[str]:
    names = {name.rpartition("#")[0] for name in answers.names}
    return {hashlib.blake2b(name.encode(), digest_size=6).hexdigest() for name in names}


def _gold(answers: HeldOut) -> I64:
    """(columns,) the first acceptable type."""
    return np.asarray(answers.accepted[TYPES].argmax(axis=1), np.int64)


def _right(answers: HeldOut) -> Bools:
    """(columns,) whether the likeliest type is acceptable."""
    accepted: Bools = answers.accepted[TYPES]
    best = answers.logits[TYPES].argmax(axis=1)
    return np.take_along_axis(accepted, best[:, None], axis=1)[:, 0]


def _report(answers: HeldOut, among: Bools) -> F1Report:
    accepted = [
        [TYPE_NAMES[number] for number in np.flatnonzero(row)]
        for row in answers.accepted[TYPES][among]
    ]
    best = answers.logits[TYPES][among].argmax(axis=1)
    return compute_f1(accepted, [TYPE_NAMES[number] for number in best])
