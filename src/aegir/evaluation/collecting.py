"""Log decisions about labelled tables: with exploration, and with the true outcome of every worker.

    store.append(collect(pipeline, tables, run="…"))     # an episode per labelled column

An episode's `accuracy` is 1 if the type that was answered is acceptable (docs/labelled-tables.md), else 0. Beside it,
`accuracy_of.WORKER` says the same of every worker, asked about all columns: with it the value of any policy is known
exactly, which is what off-policy estimates are judged by. No reward counts these parts.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from aegir.pipeline.decide import decide
from aegir.pipeline.judged_columns import JudgedColumn
from aegir.pipeline.pipeline import DISPATCH, Pipeline
from aegir.readers.scores import TableScores
from aegir.tables.labelled import LabelledTable
from aegir_rl.episode import LABEL, Episode, Source
from aegir_rl.offline.known_outcomes import OF_WORKER

TABLES_AT_ONCE = 64
NO_TYPE = "none of these"
"""Stands for the answer that a column has no type, which may be right."""
Right = Sequence[bool | None]


def collect(
    pipeline: Pipeline, tables: Sequence[LabelledTable], run: str, source: Source = "real"
) -> list[Episode]:
    """Return the episodes of the labelled columns of tables, of not many more than `TABLES_AT_ONCE` of them."""
    plain = [labelled.table for labelled in tables]
    scored = pipeline.score(plain)
    by_worker = {
        worker: [_judge(*each)[1] for each in zip(tables, answers, strict=True)]
        for worker in pipeline.plan.workers
        for answers in [pipeline.answers_of(worker, plain)]
    }
    episodes: list[Episode] = []
    for index, (labelled, scores) in enumerate(zip(tables, scored, strict=True)):
        labels, right = _judge(labelled, scores)
        assert scores.routed is not None, "a pipeline says how it routed a table"
        decided = scores.routed.episodes(labels, source, f"{run}/{index}")
        workers = {worker: of_tables[index] for worker, of_tables in by_worker.items()}
        episodes += _with_outcomes(decided, labelled, right, workers)
    return episodes


def _judge(labelled: LabelledTable, scores: TableScores) -> tuple[list[str], Right]:
    """Return the type of every column, and whether it is acceptable; None where that is not labelled."""
    answer = decide(labelled.table, scores, DISPATCH)
    pairs = zip(labelled.labels, answer.columns, strict=True)
    right = [JudgedColumn(labels, column).type_right for labels, column in pairs]
    return [column.type or NO_TYPE for column in answer.columns], right


def _with_outcomes(
    episodes: Sequence[Episode],
    labelled: LabelledTable,
    right: Right,
    by_worker: dict[str, Right],
) -> Iterator[Episode]:
    """Yield the episodes of labelled columns with what came of them."""
    for index, (episode, is_right) in enumerate(zip(episodes, right, strict=True)):
        if is_right is None:
            continue
        outcomes = {
            f"{OF_WORKER}{worker}": float(bool(of_worker[index]))
            for worker, of_worker in by_worker.items()
        }
        accepted = labelled.labels[index].right_types or (None,)
        gold = tuple(name or NO_TYPE for name in accepted)
        last = replace(episode.decisions[-1], gold=gold)
        assert LABEL in last.action
        yield replace(
            episode,
            decisions=(*episode.decisions[:-1], last),
            group=labelled.group or labelled.table.name,
            rewards={**episode.rewards, "accuracy": float(is_right), **outcomes},
        )
