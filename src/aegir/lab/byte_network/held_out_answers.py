"""The answers of a run to its held-out tables, as calibration reads them (lab/held_out.py)."""

from pathlib import Path

import numpy as np
import numpy.typing as npt

from aegir.lab.byte_network.corpus import Corpus
from aegir.lab.byte_network.evaluation import Answers
from aegir.lab.held_out import HeldOut, save_answers
from aegir.readers.bytes.heads import FINE_HEAD, PERSONAL_HEAD, RELATIONS_HEAD, TYPES_HEAD
from aegir_rl.base.arrays import I64, Bools

HEAD_OF_PART = {
    "types": TYPES_HEAD,
    "relations": RELATIONS_HEAD,
    "fine": FINE_HEAD,
    "personal": PERSONAL_HEAD,
}


def save_held_out(path: Path, answers: Answers, corpus: Corpus) -> None:
    """Write the answers to held-out labelled columns."""
    names = np.array([name for origin in corpus.origins for name in origin.columns])
    group = answers.per_column([origin.group for origin in corpus.origins])
    everyday = answers.per_column([origin.everyday for origin in corpus.origins])
    labelled = np.any(list(answers.known.values()), axis=0)
    save_answers(
        path,
        {
            origin: _held_out(answers, names, group, labelled & chosen)
            for origin, chosen in (("web", ~everyday), ("open", everyday))
            if (labelled & chosen).any()
        },
    )


def _held_out(answers: Answers, names: npt.NDArray[np.str_], group: I64, chosen: Bools) -> HeldOut:
    kept = np.flatnonzero(chosen)
    return HeldOut(
        {part: answers.logits[head][kept] for part, head in HEAD_OF_PART.items()},
        {part: answers.accepted[head][kept] for part, head in HEAD_OF_PART.items()},
        {part: answers.known[head][kept] for part, head in HEAD_OF_PART.items()},
        np.unique(answers.table[kept], return_inverse=True)[1],
        group[kept],
        tuple(names[kept].tolist()),
    )
