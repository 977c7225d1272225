"""The networks of the n-gram model as a specialist of a swarm: a vector per column, no matrix states.

    symbols of a column --decode--> header and cells --column_inputs.py--> networks --before their heads--> vector

A specialist reads a column alone, so the networks see a table of one column without a name. Header and cells are as the
byte encoding has them: six or eight cells, cut to its lengths.

`contribute` is what `aegir.model.swarm.SwarmModel` calls; training/specialists/ngram_model.py is the same for torch.

Promise: a column's vector depends on that column alone, bit for bit.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from aegir.annotators.ngrams.annotator import group_by_reading, load_ngrams
from aegir.annotators.ngrams.column_inputs import read_columns
from aegir.annotators.ngrams.network import NgramNetwork, load_networks, network_tensors
from aegir.annotators.rules.judge import judge_columns
from aegir.arrays import F32
from aegir.errors import UsageError
from aegir.model.architecture import StateShape
from aegir.model.byte_encoding import Symbols, decode_column
from aegir.model.specialists import Contribution
from aegir.model.swarm_file import tensors_sha256
from aegir.tables.table import Table

NGRAMS = "ngrams"
"""The family, as a swarm's settings name it."""


class NgramSpecialist:
    """Gives what the heads of n-gram networks read, the vectors of several networks beside each other."""

    state_shapes: tuple[StateShape, ...] = ()

    def __init__(self, networks: Sequence[NgramNetwork]) -> None:
        if not networks:
            raise UsageError("a specialist of n-grams needs at least one network")
        self.networks = tuple(networks)
        self.vector_width = sum(network.layers["own"].bias.size for network in networks)
        self._readers = group_by_reading(networks)

    @classmethod
    def load(cls, path: Path | None = None) -> "NgramSpecialist":
        """Return the networks of a file that a swarm or `aegir train ngrams` has, or those that ship."""
        return cls(load_networks(path) if path else load_ngrams().model.networks)

    def contribute(self, symbols: Symbols) -> Contribution:
        """Read columns (B, T), filled with PAD on the right."""
        return Contribution((), self.vectors(symbols))

    def vectors(self, symbols: Symbols) -> F32:
        """Return one vector per column (B, D)."""
        tables = [Table("", (decode_column(row),)) for row in symbols]
        verdicts = judge_columns([table.columns[0] for table in tables])
        found = {
            id(network): network.read(inputs)[0]
            for members, index in self._readers
            for inputs in (read_columns(tables, verdicts, *index),)
            for network in members
        }
        return np.hstack([found[id(network)] for network in self.networks])

    def fingerprint(self) -> str:
        """Return the SHA-256 of all weights."""
        return tensors_sha256(network_tensors(self.networks))
