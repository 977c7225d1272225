"""The tables that a run of `aegir train parl` kept out, with its swarm and what is right about every column.

    tables = load_swarm_tables(Path("runs/parl-0"), [Path("data")])
    right, chances = tables.judge(scores)                             # of the annotator `swarm`

Tables and labels are those of the run's held_out.safetensors, which neither primary nor router has seen; the swarm is not
calibrated. Used by spawning/ (how many specialists a table is worth) and swarm_figures/ (what they are worth).
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from aegir.lab.data.sources import TrainingTable, read_training_tables
from aegir.lab.held_out import ANSWERS, HeldOut, column_names, load_answers
from aegir.readers.bytes.heads import FINE_HEAD, HEAD_SIZES, RELATIONS_HEAD, TYPES_HEAD
from aegir.readers.mixing import with_none
from aegir.readers.scores import TableScores, table_spans
from aegir.readers.swarm.annotator import find_specialist
from aegir.readers.swarm.network import SWARM_NAME, SwarmModel
from aegir.tables.table import Table
from aegir_rl.base.arrays import I64, Bools, Floats
from aegir_rl.base.errors import UsageError

HEADS = ("types", "relations", "fine")
"""Parts of the answer that are judged."""
OUTPUTS = dict(zip(HEADS, (TYPES_HEAD, RELATIONS_HEAD, FINE_HEAD), strict=True))
WEB = "web"
"""The origin of web tables among held-out answers; the others are everyday tables."""
SWARM = "swarm"
"""The folder of a run that holds its swarm."""
NOT_CALIBRATED: Mapping[str, object] = {"calibration": {"bytes": {"cta": 1.0, "cpa": 1.0}}}


@dataclass(frozen=True, slots=True, eq=False)
class SwarmTables:
    """C columns of T tables, and a swarm that has not seen them."""

    swarm: SwarmModel
    tables: tuple[Table, ...]
    web: Bools
    """(T,)"""
    group: I64
    """(T,) what must stay on one side of a split, from 0 on."""
    table: I64
    """(C,) the table of each column."""
    accepted: Mapping[str, Bools]
    """Part of HEADS to (C, outputs): what is right."""
    known: Mapping[str, Bools]
    """Part to (C,): whether that is known."""
    sha256: str
    """Of the names and labels of all columns."""

    def judge(
        self, scores: Sequence[TableScores], columns: slice = slice(None)
    ) -> tuple[Floats, Floats]:
        """Return (heads, C) whether the likeliest answer is right, and the probability of what is; nan without a label."""
        right, chances = [], []
        for head in HEADS:
            accepted, known = self.accepted[head][columns], self.known[head][columns]
            said = with_none(np.concatenate([getattr(each, head) for each in scores]))
            is_right = accepted[np.arange(len(said)), said.argmax(axis=1)]
            right.append(np.where(known, is_right, np.nan))
            chances.append(np.where(known, (said * accepted).sum(axis=1, dtype=np.float64), np.nan))
        return np.array(right), np.array(chances)


def load_swarm_tables(
    run: Path, data: Sequence[Path], swarm: Path | None = None, workers: int | None = None
) -> SwarmTables:
    """Read the tables that a run held out, and its swarm or that of another folder."""
    for part in (*(() if swarm else (SWARM,)), ANSWERS):
        if not (run / part).exists():
            raise UsageError(
                f"{run} has no {part}; give the folder of a finished run of: aegir train parl --fold N"
            )
    folder = swarm or run / SWARM
    if not (folder / SWARM_NAME).exists():
        raise UsageError(f"{folder} has no {SWARM_NAME}; give the folder of a trained swarm")
    held_out = load_answers(run / ANSWERS)
    _check_vocabulary(run, held_out)
    model = SwarmModel.load(folder, workers, find_specialist)
    model.primary.facts = dict(NOT_CALIBRATED)
    found, places = _held_out_tables(read_training_tables(data), held_out)
    tables = tuple(each.labelled.table for each in found)
    accepted, known = _labels(held_out, places)
    groups = _groups(held_out, places, tables)
    return SwarmTables(
        swarm=model,
        tables=tables,
        web=np.array([name.startswith(f"{WEB}/") for name in groups], bool),
        group=np.unique(groups, return_inverse=True)[1].astype(np.int64),
        table=np.repeat(np.arange(len(tables)), [len(table.columns) for table in tables]),
        accepted=accepted,
        known=known,
        sha256=_data_sha256(held_out, places),
    )


def mean_known(values: Floats) -> Floats:
    """Return the mean over the first axis of what is not nan; nan where nothing is known."""
    known = np.isfinite(values)
    total, count = np.where(known, values, 0.0).sum(axis=0), known.sum(axis=0)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)


def mean_by_table(columns: Floats, table: I64, tables: int) -> Floats:
    """Return (T,) the mean of what is known of columns (C,), whose tables (C,) are given; nan where nothing is."""
    known = np.isfinite(columns)
    total = np.bincount(table, np.where(known, columns, 0.0), tables)
    count = np.bincount(table, known, tables)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)


_Place = tuple[str, int] | None
"""Origin and number of a column among the held-out ones."""


def _check_vocabulary(run: Path, held_out: Mapping[str, HeldOut]) -> None:
    for some in held_out.values():
        for head, output in OUTPUTS.items():
            outputs = some.accepted[head].shape[1] if head in some.accepted else 0
            if outputs != HEAD_SIZES[output]:
                raise UsageError(
                    f"{run / ANSWERS} has {outputs} outputs for {head} but the vocabulary has {HEAD_SIZES[output]}; "
                    "it was made with another vocabulary, train the run again"
                )


def _held_out_tables(
    tables: Sequence[TrainingTable], held_out: Mapping[str, HeldOut]
) -> tuple[list[TrainingTable], list[_Place]]:
    """Return the tables of which columns were held out, and the places of all their columns."""
    place = {
        name: (origin, number)
        for origin, some in held_out.items()
        for number, name in enumerate(some.names)
    }
    if not place:
        raise UsageError("the run held out no tables; train it with --fold N")
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
    for head, output in OUTPUTS.items():
        nothing = np.zeros(HEAD_SIZES[output], bool)
        accepted[head] = np.array(
            [nothing if at is None else held_out[at[0]].accepted[head][at[1]] for at in places],
            bool,
        )
        known[head] = np.array(
            [at is not None and held_out[at[0]].known[head][at[1]] for at in places], bool
        )
    return accepted, known


def _groups(
    held_out: Mapping[str, HeldOut], places: Sequence[_Place], tables: Sequence[Table]
) -> list[str]:
    """Return origin and group of every table."""
    names = []
    for span in table_spans(tables):
        origin, number = next(at for at in places[span] if at is not None)
        names.append(f"{origin}/{held_out[origin].group[number]}")
    return names


def _data_sha256(held_out: Mapping[str, HeldOut], places: Sequence[_Place]) -> str:
    digest = hashlib.sha256()
    for at in places:
        if at is not None:
            some = held_out[at[0]]
            digest.update(some.names[at[1]].encode())
            for head in HEADS:
                digest.update(np.packbits(some.accepted[head][at[1]]).tobytes())
    return digest.hexdigest()
