"""The tables that a run of `aegir train parl` kept out, with its swarm and what is right about every column.

    tables = load_swarm_tables(Path("runs/parl-0"), [Path("data")])
    right = tables.judge(scores)                                      # of the annotator `swarm`

Tables and labels are those of the run's held_out.safetensors, which neither primary nor router has seen; the swarm is not
calibrated. Used by swarm_metrics.py.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from aegir.lab.data.sources import read_training_tables
from aegir.lab.held_out import ANSWERS, column_names, load_answers
from aegir.readers.bytes.heads import FINE_HEAD, HEAD_SIZES, RELATIONS_HEAD, TYPES_HEAD
from aegir.readers.mixing import with_none
from aegir.readers.scores import TableScores
from aegir.readers.swarm.network import SWARM_NAME, SwarmModel
from aegir.tables.table import Table
from aegir_rl.base.arrays import I64, Bools, Floats
from aegir_rl.base.errors import UsageError

HEADS = ("types", "relations", "fine")
"""Parts of the answer that are judged."""
SIZES = {
    head: HEAD_SIZES[output]
    for head, output in zip(HEADS, (TYPES_HEAD, RELATIONS_HEAD, FINE_HEAD), strict=True)
}
WEB = "web"
"""The origin of web tables among held-out answers; the others are everyday tables."""
SWARM = "swarm"
"""The folder of a run that holds its swarm."""
NOT_HELD_OUT = -1
"""The row of the labels for a column without any."""
NOT_CALIBRATED: Mapping[str, object] = {"calibration": {"bytes": {"cta": 1.0, "cpa": 1.0}}}


@dataclass(frozen=True, slots=True, eq=False)
class SwarmTables:
    """C columns of T tables, and a swarm that has not seen them."""

    swarm: SwarmModel
    tables: tuple[Table, ...]
    web: Bools
    """(T,)"""
    table: I64
    """(C,) the table of each column."""
    accepted: Mapping[str, Bools]
    """Part of HEADS to (C, outputs): what is right."""
    known: Mapping[str, Bools]
    """Part to (C,): whether that is known."""

    def judge(self, scores: Sequence[TableScores]) -> Floats:
        """Return (heads, C) whether the likeliest answer is right; nan without a label."""
        right = []
        for head in HEADS:
            accepted, known = self.accepted[head], self.known[head]
            said = with_none(np.concatenate([getattr(each, head) for each in scores]))
            is_right = accepted[np.arange(len(said)), said.argmax(axis=1)]
            right.append(np.where(known, is_right, np.nan))
        return np.array(right)


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
    labels = _read_labels(run / ANSWERS)
    row_of = dict(zip(labels.names, range(len(labels.names)), strict=True))
    model = SwarmModel.load(folder, workers)
    model.primary.facts = dict(NOT_CALIBRATED)
    tables, columns, groups = [], [], []
    for table in read_training_tables(data):
        names = column_names(table) if table.source.is_validation else []
        if held_out := [row_of[name] for name in names if name in row_of]:
            tables.append(table.labelled.table)
            columns += names
            groups.append(labels.groups[held_out[0]])
    rows = np.array([row_of.get(name, NOT_HELD_OUT) for name in columns], np.int64)
    if missing := len(row_of) - int((rows != NOT_HELD_OUT).sum()):
        raise UsageError(
            f"{missing} of {len(row_of)} held-out columns of the run are not in these data; give the --data of the run"
        )
    return SwarmTables(
        swarm=model,
        tables=tuple(tables),
        web=np.array([group.startswith(f"{WEB}/") for group in groups], bool),
        table=np.repeat(np.arange(len(tables)), [len(table.columns) for table in tables]),
        accepted={head: flags[rows] for head, flags in labels.accepted.items()},
        known={head: flags[rows] for head, flags in labels.known.items()},
    )


@dataclass(frozen=True, slots=True)
class _Labels:
    """What is right about the held-out columns of all origins; a last row, without a label, is for other columns."""

    names: tuple[str, ...]
    groups: tuple[str, ...]
    """Origin and group of each column."""
    accepted: Mapping[str, Bools]
    known: Mapping[str, Bools]


def _read_labels(path: Path) -> _Labels:
    answers = load_answers(path)
    for some in answers.values():
        for head, size in SIZES.items():
            outputs = some.accepted[head].shape[1] if head in some.accepted else 0
            if outputs != size:
                raise UsageError(
                    f"{path} has {outputs} outputs for {head} but the vocabulary has {size}; "
                    "it was made with another vocabulary, train the run again"
                )
    parts = answers.values()
    if not any(map(len, parts)):
        raise UsageError("the run held out no tables; train it with --fold N")
    return _Labels(
        names=tuple(name for some in parts for name in some.names),
        groups=tuple(f"{origin}/{group}" for origin in answers for group in answers[origin].group),
        accepted={
            head: np.concatenate(
                [*(some.accepted[head] for some in parts), np.zeros((1, size), bool)]
            )
            for head, size in SIZES.items()
        },
        known={
            head: np.concatenate([*(some.known[head] for some in parts), np.zeros(1, bool)])
            for head in HEADS
        },
    )


def mean_known(values: Floats) -> Floats:
    """Return the mean over the first axis of what is not nan; nan where nothing is known."""
    known = np.isfinite(values)
    total, count = np.where(known, values, 0.0).sum(axis=0), known.sum(axis=0)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)
