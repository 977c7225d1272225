"""Comparing finished runs on their held-out tables: easy and hard types, routing, time.

    hard = find_hard_types([Path("runs/bytes-fold-1")])            # types below the median F1, on tables not reported
    save_hard_types(Path("hard-types.json"), hard)
    for row in compare_runs(sorted(Path("runs").glob("parl-*")), hard): row.mean["web/hard_f1"], row.spread["web/hard_f1"]

Runs of one name and seed are folds of each other and are judged together; mean and standard deviation are over seeds. Hard
types are fixed in a file, with the tables that they were chosen on: a run that reports one of those is refused.

    web/f1, web/macro_f1           share of labelled columns answered right, mean F1 of types
    web/easy_f1, web/hard_f1       share of right answers among columns of easy and of hard types
    open/type_right                the same on everyday tables, "none of these" included
    routing/information            mutual information of type and activation in bits, mean over specialists
    routing/information_shuffled   the same with activations shuffled among columns, mean of SHUFFLES
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import groupby
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

TYPES = "types"
SHUFFLES = 20
LEAST_COLUMNS = 5
"""Columns of a type below which its F1 is not known, so that it is neither easy nor hard."""


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
class Judged:
    """All folds of one name and seed."""

    name: str
    seed: int
    figures: dict[str, float]
    activation: dict[str, dict[str, float]]
    """Type to specialist to the share of the type's columns that it read."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """One variant over its seeds."""

    name: str
    seeds: tuple[int, ...]
    mean: dict[str, float]
    spread: dict[str, float]
    """Standard deviation over seeds; 0 with one."""
    activation: dict[str, dict[str, float]]
    """Of the first seed."""


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
    hard = tuple(name for name, score in f1.items() if score < median)
    easy = tuple(name for name, score in f1.items() if score >= median)
    return HardTypes(hard, easy, median, f1, tuple(sorted(_tables(answers))))


def save_hard_types(path: Path, hard: HardTypes) -> None:
    """Write them as JSON."""
    replace_file(path, (json.dumps(asdict(hard), indent=1, sort_keys=True) + "\n").encode())


def load_hard_types(path: Path) -> HardTypes:
    """Read what `save_hard_types` wrote."""
    try:
        given = json.loads(path.read_text(encoding="utf-8"))
        parts = {name: tuple(given[name]) for name in ("types", "easy", "tables")}
        return HardTypes(median=float(given["median"]), f1=dict(given["f1"]), **parts)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UsageError(
            f"{path} has no hard types ({reason_of(error)}); make it with: aegir train parl-hard RUN"
        ) from None


def compare_runs(runs: Sequence[Path], hard: HardTypes | None = None) -> list[Comparison]:
    """Return one row per variant, in the order in which their runs came."""
    summaries = [(_summary(run), run) for run in runs]
    keys = list(dict.fromkeys((str(one["name"]), int(one["seed"])) for one, _ in summaries))
    judged = [
        judge_runs([run for one, run in summaries if (one["name"], one["seed"]) == key], hard)
        for key in keys
    ]
    names = list(dict.fromkeys(each.name for each in judged))
    ordered = sorted(judged, key=lambda each: names.index(each.name))
    return [_over_seeds(list(some)) for _, some in groupby(ordered, lambda each: each.name)]


def names_of_runs(runs: Sequence[Path]) -> dict[str, Path]:
    """Return the first run of every variant, by the variant's name."""
    found: dict[str, Path] = {}
    for run in runs:
        found.setdefault(str(_summary(run)["name"]), run)
    return found


def judge_runs(runs: Sequence[Path], hard: HardTypes | None = None) -> Judged:
    """Judge the folds of one name and seed together."""
    answers, summaries = _answers(runs), [_summary(run) for run in runs]
    figures: dict[str, float] = {}
    activation: dict[str, dict[str, float]] = {}
    if "web" in answers:
        web = answers["web"]
        _refuse_seen_tables(web, hard, runs[0])
        figures |= _web_figures(web, hard)
        found, activation = _routing_figures(runs, web)
        figures |= found
    if "open" in answers:
        everyday = answers["open"]
        kept = everyday.known[TYPES]
        figures["open/type_right"] = _share_right(everyday, kept)
    figures |= _times(summaries)
    return Judged(summaries[0]["name"], int(summaries[0]["seed"]), figures, activation)


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


def _web_figures(web: HeldOut, hard: HardTypes | None) -> dict[str, float]:
    kept = web.known[TYPES] & web.accepted[TYPES].any(axis=1)
    report = _report(web, kept)
    figures = {"web/f1": report.micro_f1, "web/macro_f1": report.macro_f1}
    if hard is not None:
        gold = _gold(web)
        names = np.array(OUTPUTS[TYPES_HEAD])[gold]
        for part, types in (("hard", hard.types), ("easy", hard.easy)):
            among = kept & np.isin(names, types)
            if among.any():
                figures[f"web/{part}_f1"] = _share_right(web, among)
                figures[f"web/{part}_columns"] = float(among.sum())
    return figures


def _routing_figures(
    runs: Sequence[Path], web: HeldOut
) -> tuple[dict[str, float], dict[str, dict[str, float]]]:
    """Return figures of activation, and its rate per type and specialist; nothing if none was used."""
    parts = [load_routing(run / ROUTING) for run in runs if (run / ROUTING).exists()]
    parts = [part for part in parts if part.activation.size]
    if not parts:
        return {}, {}
    known = dict(pair for part in parts for pair in zip(part.columns, part.activation, strict=True))
    kept = np.flatnonzero(web.known[TYPES] & web.accepted[TYPES].any(axis=1))
    active = np.array([known[web.names[place]] for place in kept])
    gold = _gold(web)[kept]
    random = Seeds(0).generator("shuffled activation")
    shuffled = [compute_information(gold, random.permutation(active)) for _ in range(SHUFFLES)]
    names, specialists = OUTPUTS[TYPES_HEAD], parts[0].specialists
    rates = {
        names[number]: dict(
            zip(specialists, active[gold == number].mean(axis=0).tolist(), strict=True)
        )
        for number in np.unique(gold)
    }
    figures = {
        "activation/rate": float(active.mean()),
        "routing/information": compute_information(gold, active),
        "routing/information_shuffled": float(np.mean(shuffled)),
        "time/critical_path": sum(part.times.critical_path for part in parts),
        "time/total_work": sum(part.times.total_work for part in parts),
    }
    return figures, rates


def _times(summaries: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """Return wall seconds with specialists in threads and one after the other, and their ratio."""
    found = [each["figures"] for each in summaries if "time/parallel_wall" in each["figures"]]
    if not found:
        return {}
    walls = [
        sum(each[f"time/{name}_wall"] for each in found) for name in ("parallel", "sequential")
    ]
    return {"time/parallel_wall": walls[0], "time/sequential_wall": walls[1]}


def _over_seeds(judged: Sequence[Judged]) -> Comparison:
    names = [name for name in judged[0].figures if all(name in each.figures for each in judged)]
    values = {name: [each.figures[name] for each in judged] for name in names}
    return Comparison(
        judged[0].name,
        tuple(each.seed for each in judged),
        {name: float(np.mean(some)) for name, some in values.items()},
        {
            name: float(np.std(some, ddof=1)) if len(some) > 1 else 0.0
            for name, some in values.items()
        },
        judged[0].activation,
    )


def _answers(runs: Sequence[Path]) -> dict[str, HeldOut]:
    for run in runs:
        if not (run / ANSWERS).exists():
            raise UsageError(
                f"{run} has no {ANSWERS}; give finished runs that keep tables out (--fold 0, not -1)"
            )
    return stack_folds([load_answers(run / ANSWERS) for run in runs])


def _summary(run: Path) -> dict[str, Any]:
    try:
        found = json.loads((run / SUMMARY).read_text(encoding="utf-8"))
        return {name: found[name] for name in ("name", "seed", "figures")}
    except (OSError, ValueError, KeyError):
        raise UsageError(
            f"{run} has no {SUMMARY} of a finished run; make it with: aegir train parl CONFIG"
        ) from None


def _refuse_seen_tables(web: HeldOut, hard: HardTypes | None, run: Path) -> None:
    shared = _tables(web) & set(hard.tables if hard else ())
    if shared:
        raise UsageError(
            f"{len(shared)} of the tables that {run} reports are among those the hard types were chosen on; "
            "choose them on other folds"
        )


def _tables(answers: HeldOut) -> set[str]:
    names = {name.rpartition("#")[0] for name in answers.names}
    return {hashlib.blake2b(name.encode(), digest_size=6).hexdigest() for name in names}


def _gold(answers: HeldOut) -> I64:
    """(columns,) the first acceptable type."""
    return np.asarray(answers.accepted[TYPES].argmax(axis=1), np.int64)


def _share_right(answers: HeldOut, among: Bools) -> float:
    kept = np.flatnonzero(among)
    best = answers.logits[TYPES][kept].argmax(axis=1)
    return float(answers.accepted[TYPES][kept, best].mean())


def _report(answers: HeldOut, among: Bools) -> F1Report:
    names, kept = OUTPUTS[TYPES_HEAD], np.flatnonzero(among)
    accepted = [
        [names[number] for number in np.flatnonzero(row)] for row in answers.accepted[TYPES][kept]
    ]
    best = answers.logits[TYPES][kept].argmax(axis=1)
    return compute_f1(accepted, [names[number] for number in best])
