"""The networks of the n-gram model as a specialist of a swarm: a vector per column, no matrix states.

    symbols of a column --decode--> header and cells --column_inputs.py--> networks --> their answer, as a vector

The vector is the mean answer of the networks (readers/bytes/heads.py). Networks that were trained on other tables give vectors
of the same meaning: one may replace another.

A specialist reads a column alone, so the networks see a table of one column without a name. Header and cells are as the
byte encoding has them: six or eight cells, cut to its lengths.

`contribute` is what `aegir.readers.swarm.network.SwarmModel` calls; lab/specialists/ngram_model.py is the same for torch.

Promise: a column's vector depends on that column alone, bit for bit.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from aegir.readers.bytes.architecture import StateShape
from aegir.readers.bytes.byte_encoding import Symbols, decode_column
from aegir.readers.bytes.heads import (
    ANSWER_WIDTH,
    FINE_HEAD,
    PERSONAL_HEAD,
    RELATIONS_HEAD,
    TYPES_HEAD,
    join_answer,
)
from aegir.readers.ngrams.annotator import group_by_reading, load_ngrams
from aegir.readers.ngrams.column_inputs import ColumnInputs, read_columns
from aegir.readers.ngrams.network import (
    NgramNetwork,
    load_networks,
    network_tensors,
)
from aegir.readers.rules.judge import judge_columns
from aegir.readers.swarm.specialists import Contribution
from aegir.readers.swarm.weights_file import tensors_sha256
from aegir.tables.table import Table
from aegir_rl.base.arrays import F32, softmax
from aegir_rl.base.errors import UsageError

NGRAMS = "ngrams"
"""The family, as a swarm's settings name it."""
HEAD_OF = {
    TYPES_HEAD: "types",
    RELATIONS_HEAD: "relations",
    FINE_HEAD: "fine",
    PERSONAL_HEAD: "levels",
}
"""What the networks call the heads of an answer."""
RAREST = 1e-9
"""Probabilities are at least this, so that their logarithm is finite."""


class NgramSpecialist:
    """Gives the mean answer of n-gram networks."""

    state_shapes: tuple[StateShape, ...] = ()
    vector_width = ANSWER_WIDTH

    def __init__(self, networks: Sequence[NgramNetwork]) -> None:
        if not networks:
            raise UsageError("a specialist of n-grams needs at least one network")
        self.networks = tuple(networks)
        self._readers = group_by_reading(networks)

    @classmethod
    def load(cls, path: Path | None = None) -> "NgramSpecialist":
        """Return the networks of a file that a swarm or `aegir train ngrams` has, or those that ship."""
        return cls(load_networks(path) if path else load_ngrams().model.networks)

    def contribute(self, symbols: Symbols) -> Contribution:
        """Read columns (B, T), filled with PAD on the right."""
        answers = self.vectors(symbols)
        return Contribution((), answers, answers)

    def vectors(self, symbols: Symbols) -> F32:
        """Return one vector per column (B, D)."""
        tables = [Table("", (decode_column(row),)) for row in symbols]
        verdicts = judge_columns([table.columns[0] for table in tables])
        answers = [
            _probabilities(network, inputs)
            for members, index in self._readers
            for inputs in (read_columns(tables, verdicts, *index),)
            for network in members
        ]
        logits = {}
        for head in HEAD_OF:
            mean = np.clip(np.mean([each[head] for each in answers], axis=0), RAREST, 1 - RAREST)
            logits[head] = np.log(mean) - (np.log1p(-mean) if mean.shape[1] == 1 else 0)
        return join_answer(logits, len(symbols))

    def fingerprint(self) -> str:
        """Return the SHA-256 of all weights."""
        return tensors_sha256(network_tensors(self.networks))


def _probabilities(network: NgramNetwork, inputs: ColumnInputs) -> dict[str, F32]:
    """Return the probabilities (columns, outputs) of every head."""
    outputs = network.outputs(inputs)
    probabilities = {head: softmax(outputs[name]) for head, name in HEAD_OF.items()}
    probabilities[PERSONAL_HEAD] = 1 - probabilities[PERSONAL_HEAD][:, -1:]
    return probabilities
