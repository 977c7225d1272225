"""How well a specialist does inside and outside its domain, on columns that it was not trained on.

Every column is read alone, as in a swarm, by the network as its file has it (rounded weights).

    type_right     share of columns whose likeliest type, or none, is acceptable; fine_right, relation_right likewise
    none_share     share of columns that it calls none of the types: low inside and high outside if it knows its domain
    columns        how many columns there are
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch.nn import functional

from aegir.lab.byte_network.batches import batch_of, draw_as_is
from aegir.lab.byte_network.evaluation import Answers, answer
from aegir.lab.byte_network.examples import TEACHER_HEAD, TableExample, examples_of
from aegir.lab.byte_network.supervised import Trained
from aegir.lab.data.sources import TrainingTable
from aegir.lab.specialists.slices import Domain, single_column
from aegir.readers.bytes.checkpoint import Checkpoint, rounded
from aegir.readers.bytes.heads import FINE_HEAD, OUTPUTS, RELATIONS_HEAD, TYPES_HEAD
from aegir.readers.swarm.weights_file import SpecialistManifest
from aegir.swarm.column_model import ByteColumnModel
from aegir_rl.base.arrays import Bools
from aegir_rl.base.errors import UsageError

SHARES = {"type_right": TYPES_HEAD, "fine_right": FINE_HEAD, "relation_right": RELATIONS_HEAD}
NONE_SHARE, COLUMNS = "none_share", "columns"
COLUMNS_AT_ONCE = 256


@dataclass(frozen=True, slots=True)
class DomainScores:
    """Measure to value, of columns inside and outside the domain."""

    inside: Mapping[str, float]
    outside: Mapping[str, float]


def measure_scores(
    checkpoint: Checkpoint, held_out: Sequence[TrainingTable], domain: Domain
) -> DomainScores:
    """Return the scores on the columns of held-out tables; none without such tables."""
    columns: list[TrainingTable] = []
    is_inside: list[bool] = []
    for table in held_out:
        for number, labels in enumerate(table.labelled.labels):
            side = None if table.source.aux else domain.place(labels)
            if side:
                single = single_column(table.labelled, number, labels)
                columns.append(TrainingTable(single, table.source))
                is_inside.append(side == "inside" and domain.covers(table.source))
    if not columns:
        return DomainScores({}, {})
    model = ByteColumnModel.of(rounded(checkpoint))
    answers = answer(model.network, examples_of(columns, dict(OUTPUTS)), model.index)
    inside = np.array(is_inside)
    return DomainScores(_scores(answers, inside), _scores(answers, ~inside))


def mean_scores(manifests: Sequence[SpecialistManifest], name: str) -> DomainScores:
    """Return the mean scores of the same specialist trained on several folds; columns are added up."""
    for manifest in manifests:
        if manifest.name != name:
            raise UsageError(
                f"scores of specialist {manifest.name!r} cannot be those of {name!r}; "
                "give files of the same specialist, trained on folds"
            )
    return DomainScores(
        _mean([manifest.scores_inside for manifest in manifests]),
        _mean([manifest.scores_outside for manifest in manifests]),
    )


@torch.no_grad()  # type: ignore[untyped-decorator]
def measure_cosine(trained: Trained, examples: Sequence[TableExample]) -> float:
    """Return the mean cosine between the student's and the teacher's vectors of columns that were rows out."""
    total, net = 0.0, trained.net
    net.eval()
    for at in range(0, len(examples), COLUMNS_AT_ONCE):
        some = [
            draw_as_is(one, net.architecture.reading) for one in examples[at : at + COLUMNS_AT_ONCE]
        ]
        batch = batch_of(some, trained.index, {TEACHER_HEAD: trained.heads[TEACHER_HEAD]})
        vectors, _ = net.read(batch.parts)
        guessed = net.heads[TEACHER_HEAD](vectors)
        cosines = functional.cosine_similarity(guessed, batch.targets[TEACHER_HEAD], dim=-1)
        total += float(cosines.sum())
    return total / max(len(examples), 1)


def _scores(answers: Answers, among: Bools) -> dict[str, float]:
    """Return the scores of the columns in `among` (columns,); a share of nothing is left out."""
    scores = {COLUMNS: float(among.sum())}
    for share, head in SHARES.items():
        rows = np.flatnonzero(among & answers.known[head])
        if len(rows):
            said = answers.logits[head][rows].argmax(axis=1)
            scores[share] = float(answers.accepted[head][rows, said].mean())
    if among.any():
        said = answers.logits[TYPES_HEAD][among].argmax(axis=1)
        scores[NONE_SHARE] = float((said == len(OUTPUTS[TYPES_HEAD]) - 1).mean())
    return scores


def _mean(several: Sequence[Mapping[str, float]]) -> dict[str, float]:
    measures = dict.fromkeys(measure for scores in several for measure in scores)
    means = {}
    for measure in measures:
        values = [scores[measure] for scores in several if measure in scores]
        means[measure] = sum(values) / (1 if measure == COLUMNS else len(values))
    return means
