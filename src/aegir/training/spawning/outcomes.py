"""What the swarm of a run answers to its held-out tables with 0, 1, 2, … of its specialists: all outcomes are known.

    outcomes = collect_outcomes(Path("runs/parl-0"), [Path("data")])

The tables are those of the run's held_out.safetensors, which neither primary nor router has seen; answers are those of the
annotator `swarm` without calibration. With n specialists, a table may wake the n with the highest total router score.
"""

import hashlib
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from aegir.annotators.byte_model import batches_by_length, encode_tables
from aegir.annotators.scores import TableScores, table_spans
from aegir.annotators.spawning import ALL, Count, column_features
from aegir.annotators.swarm import SwarmAnnotator, find_specialist
from aegir.arrays import F32, I64, Bools, Floats
from aegir.data.sources import TrainingTable, read_training_tables
from aegir.errors import UsageError
from aegir.model.byte_encoding import Symbols, pad
from aegir.model.swarm import SwarmModel
from aegir.tables.table import Table
from aegir.training.held_out import ANSWERS, HeldOut, column_names, load_answers

HEADS = ("types", "relations", "fine")
"""Parts of the answer that are judged."""
WEB = "web"
"""The origin of web tables among held-out answers; the others are everyday tables."""
SWARM = "swarm"
"""The folder of a run that holds its swarm."""
NOT_CALIBRATED: Mapping[str, object] = {"calibration": {"bytes": {"cta": 1.0, "cpa": 1.0}}}
TIMED_COLUMNS = 256
"""Columns on which the cost of every model is measured."""
Track = Callable[[Sequence[int], str], Iterable[int]]


def no_progress(counts: Sequence[int], label: str) -> Iterable[int]:
    """Return the counts, without showing progress."""
    del label
    return counts


@dataclass(frozen=True, slots=True, eq=False)
class Outcomes:
    """C columns of T tables, answered with 0 to N specialists."""

    swarm: SwarmModel
    tables: tuple[str, ...]
    """(T,) names."""
    web: Bools
    """(T,)"""
    group: I64
    """(T,) what must stay on one side of a split, from 0 on."""
    table: I64
    """(C,) the table of each column."""
    features: Floats
    """(C, F)"""
    chances: Floats
    """(N + 1, heads, C) probability of what is right, nan without a label."""
    right: Floats
    """(N + 1, heads, C) whether the likeliest answer is right, nan without a label."""
    activation: Bools
    """(N + 1, C, N)"""
    symbols: I64
    """(C,) length of each column."""
    primary_seconds: float
    specialist_seconds: Floats
    """(N,) CPU seconds per symbol."""
    sha256: str
    """Of the names and labels of all columns."""

    def at(self, count: Count) -> int:
        """Return the place of a count among the outcomes."""
        most = len(self.swarm.names)
        return most if count is ALL else min(count, most)


def collect_outcomes(run: Path, data: Sequence[Path], track: Track = no_progress) -> Outcomes:
    """Answer the tables that a run held out with every number of its specialists."""
    for part in (SWARM, ANSWERS):
        if not (run / part).exists():
            raise UsageError(
                f"{run} has no {part}; give the folder of a finished run of: aegir train parl --fold N"
            )
    held_out = load_answers(run / ANSWERS)
    swarm = SwarmModel.load(run / SWARM, find=find_specialist)
    swarm.primary.facts = dict(NOT_CALIBRATED)
    found, places = _held_out_tables(read_training_tables(data), held_out)
    tables = [each.labelled.table for each in found]
    symbols = encode_tables(tables, swarm.primary)
    routed = SwarmAnnotator(swarm).route(symbols)
    columns = [column for table in tables for column in table.columns]
    accepted, known = _labels(held_out, places)
    chances, right, activation = [], [], []
    for count in track(range(len(swarm.names) + 1), "numbers of specialists"):
        scores = SwarmAnnotator(swarm, most_specialists=count).score(tables)
        judged = [_judge(scores, head, accepted[head], known[head]) for head in HEADS]
        chances.append([chance for chance, _ in judged])
        right.append([is_right for _, is_right in judged])
        activation.append(_woken(scores, len(swarm.names)))
    primary, specialists = _measure_costs(swarm, symbols)
    sizes = [len(table.columns) for table in tables]
    groups = _groups(held_out, places, tables)
    return Outcomes(
        swarm=swarm,
        tables=tuple(table.name for table in tables),
        web=np.array([name.startswith(f"{WEB}/") for name in groups]),
        group=np.unique(groups, return_inverse=True)[1].astype(np.int64),
        table=np.repeat(np.arange(len(tables)), sizes),
        features=column_features(columns, routed),
        chances=np.array(chances),
        right=np.array(right),
        activation=np.array(activation),
        symbols=np.array([len(each) for each in symbols]),
        primary_seconds=primary,
        specialist_seconds=specialists,
        sha256=_data_sha256(held_out, places),
    )


_Place = tuple[str, int] | None
"""Origin and number of a column among the held-out ones."""


def _held_out_tables(
    tables: Sequence[TrainingTable], held_out: Mapping[str, HeldOut]
) -> tuple[list[TrainingTable], list[_Place]]:
    """Return the tables of which columns were held out, and the places of all their columns."""
    place = {
        name: (origin, number)
        for origin, some in held_out.items()
        for number, name in enumerate(some.names)
    }
    found, places = [], []
    for table in tables:
        validates = table.source.is_validation
        own = [place.get(name) for name in column_names(table)] if validates else []
        if any(own):
            found.append(table)
            places += own
    if missing := len(place) - sum(each is not None for each in places):
        raise UsageError(
            f"{missing} of {len(place)} held-out columns of the run are not in these data; give the --data of the run"
        )
    return found, places


def _labels(
    held_out: Mapping[str, HeldOut], places: Sequence[_Place]
) -> tuple[dict[str, Bools], dict[str, Bools]]:
    """Return for every head (C, outputs) what is right, and (C,) whether that is known."""
    accepted, known = {}, {}
    for head in HEADS:
        width = next(iter(held_out.values())).accepted[head].shape[1]
        nothing = np.zeros(width, bool)
        accepted[head] = np.array(
            [nothing if at is None else held_out[at[0]].accepted[head][at[1]] for at in places]
        )
        known[head] = np.array(
            [at is not None and held_out[at[0]].known[head][at[1]] for at in places]
        )
    return accepted, known


def _judge(
    scores: Sequence[TableScores], head: str, accepted: Bools, known: Bools
) -> tuple[Floats, Floats]:
    """Return (C,) the probability of what is right, and whether the likeliest answer is."""
    named: F32 = np.concatenate([getattr(each, head) for each in scores])
    none = np.maximum(1 - named.sum(axis=1, dtype=np.float64), 0)
    whole = np.concatenate([named, none[:, None]], axis=1)
    chance = (whole * accepted).sum(axis=1)
    is_right = accepted[np.arange(len(whole)), whole.argmax(axis=1)]
    return np.where(known, chance, np.nan), np.where(known, is_right, np.nan)


def _woken(scores: Sequence[TableScores], specialists: int) -> Bools:
    """Return (C, N) who read which column."""
    rows = [[each.woken for each in column] for one in scores for column in one.routing or ()]
    return np.array(rows, bool).reshape(-1, specialists)


def _groups(
    held_out: Mapping[str, HeldOut], places: Sequence[_Place], tables: Sequence[Table]
) -> list[str]:
    """Return origin and group of every table."""
    names = []
    for span in table_spans(tables):
        origin, number = next(at for at in places[span] if at is not None)
        names.append(f"{origin}/{held_out[origin].group[number]}")
    return names


def _measure_costs(swarm: SwarmModel, symbols: Sequence[Symbols]) -> tuple[float, Floats]:
    """Return the CPU seconds per symbol of the primary and of every specialist, on the first columns."""
    some = symbols[:TIMED_COLUMNS]
    batches = [pad([some[i] for i in batch])[0] for batch in batches_by_length(some)]
    read = sum(map(len, some))

    def seconds(work: Callable[[Symbols], object]) -> float:
        work(batches[0])
        start = time.thread_time()
        for batch in batches:
            work(batch)
        return (time.thread_time() - start) / max(read, 1)

    primary = swarm.primary
    alone = seconds(lambda batch: primary.vectors(primary.read(batch)))
    return alone, np.array([seconds(each.contribute) for each in swarm.specialists])


def _data_sha256(held_out: Mapping[str, HeldOut], places: Sequence[_Place]) -> str:
    digest = hashlib.sha256()
    for at in places:
        if at is not None:
            some = held_out[at[0]]
            digest.update(some.names[at[1]].encode())
            for head in HEADS:
                digest.update(np.packbits(some.accepted[head][at[1]]).tobytes())
    return digest.hexdigest()
