"""The n-gram network: everything known about a column and its table, to all parts of the answer at once.

    values, header  --hashed, int8-->  v, e                                       (embeddings)
    own     h = relu(norm([e, e of left, of right, mean e of others, e of the table's name, v, relu(facts)]))
    table   h + relu(norm([h, mean h of the others, max h of the table, h of the subject]))
    heads   types and none, fine types and none, relations and none, levels and none, special, web
    pool    t = relu(norm([mean h, max h, e of the table's name]))                 one vector per table
    heads   rows, person

A head's last output is "none of these". `web` is the log odds that the table is one of the web's markup rather than an
everyday one: calibration uses it. The levels of personal data depend on whose row a column stands in: the layer has one
distribution for each state of a person, and

    P(level) = sum over states s of P(person = s) P(level | s)

lab/ngram_network/torch_network.py is the same network in torch.

Promises
  - a table's outputs depend on that table alone, bit for bit (aegir_rl/base/arrays.py says how);
  - a column without header, a table without name or subject, and a table of one column are ordinary inputs.
"""

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from aegir.readers.ngrams.column_inputs import FACTS, ColumnInputs
from aegir.readers.ngrams.features import (
    BUCKETS,
    VIEWS_AT_ONCE,
    SparseRows,
    View,
    hashed_features,
)
from aegir.vocabulary.terms import (
    FINE_NAMES,
    PERSON_STATES,
    PERSONAL_LEVELS,
    RELATION_NAMES,
    ROW_NAMES,
    TYPE_NAMES,
)
from aegir_rl.base.arrays import (
    F32,
    I32,
    I64,
    PRODUCT_LIMIT,
    LayerNorm,
    Linear,
    rows_times,
    sigmoid,
    softmax,
)
from aegir_rl.base.errors import UsageError
from aegir_rl.base.safetensors_file import Arrays, MappedFile, read_safetensors

FETCHED = 2048
"""Features whose weights are fetched together, those of several rows: a call for each row would take longer than the work."""


@dataclass(frozen=True, slots=True)
class HashedLinear:
    """A linear layer over hashed features: kept buckets, their importance, quantised weights."""

    buckets: I32
    """(F,) sorted: the buckets that are kept."""
    importance: F32
    """(F,) inverse document frequency."""
    weights: npt.NDArray[np.int8]
    """(F, outputs)"""
    scale: F32
    """(F,) by which a row of `weights` is multiplied."""
    bias: F32
    """(outputs,)"""

    def check(self, name: str, outputs: int | None = None) -> None:
        """Raise UsageError unless the parts fit together, with finite numbers and as many outputs as given."""
        features, width = self.weights.shape if self.weights.ndim == 2 else (-1, -1)
        fits = (
            self.weights.dtype == np.int8
            and self.buckets.dtype == np.int32
            and self.importance.dtype == self.scale.dtype == self.bias.dtype == np.float32
            and width > 0
            and self.buckets.shape == self.importance.shape == self.scale.shape == (features,)
            and self.bias.shape == (width,)
            and width == (outputs or width)
        )
        if not fits:
            raise UsageError(f"{name} has parts that do not fit together")
        if not all(np.isfinite(part).all() for part in (self.importance, self.scale, self.bias)):
            raise UsageError(f"{name} has numbers that are not finite")
        if features and not (self.buckets[0] >= 0 and self.buckets[-1] < BUCKETS):
            raise UsageError(f"{name}.buckets has numbers outside 0 to {BUCKETS - 1}")
        if (np.diff(self.buckets) <= 0).any():
            raise UsageError(f"{name}.buckets is not in ascending order")

    @property
    def index(self) -> I32:
        """(BUCKETS,) the row of each bucket's weights, -1 if it was not kept."""
        index = np.full(BUCKETS, -1, np.int32)
        index[self.buckets] = np.arange(len(self.buckets), dtype=np.int32)
        return index

    def scores(self, views: Sequence[View], index: I32) -> F32:
        """Return the scores (views, outputs) of views; `index` is the layer's own."""
        parts = [
            self.score_rows(hashed_features(views[at : at + VIEWS_AT_ONCE], index))
            for at in range(0, len(views), VIEWS_AT_ONCE)
        ]
        return np.concatenate([np.zeros((0, len(self.bias)), np.float32), *parts])

    def score_rows(self, rows: SparseRows) -> F32:
        """Return the scores (rows, outputs) of rows whose features are numbers of kept buckets."""
        values = weigh(rows, self.importance) * self.scale[rows.features]
        scores = np.zeros((len(rows), len(self.bias)), np.float32)
        at_once = PRODUCT_LIMIT // len(self.bias)
        starts = rows.starts.tolist()
        weights, first, last = (
            np.empty((0, 0), np.float32),
            0,
            0,
        )  # of the features that were fetched
        for row, (start, end) in zip(scores, pairwise(starts), strict=True):
            for at in range(start, end, at_once):
                stop = min(at + at_once, end)
                if stop > last:
                    first, last = at, max(stop, starts[bisect_right(starts, at + FETCHED) - 1])
                    weights = self.weights.take(rows.features[first:last], axis=0).astype(
                        np.float32
                    )
                row += values[at:stop] @ weights[at - first : stop - first]
        return scores + self.bias


def weigh(rows: SparseRows, importance: F32) -> F32:
    """Return square-rooted shares times importance, every row scaled to length 1."""
    values = np.sqrt(rows.shares) * importance[rows.features]
    lengths = np.diff(rows.starts)
    row_of = np.repeat(np.arange(len(rows)), lengths)
    norms = np.sqrt(np.bincount(row_of, values.astype(np.float64) ** 2, minlength=len(rows)))
    return (values / np.maximum(norms, 1e-12)[row_of]).astype(np.float32)


@dataclass(frozen=True, slots=True)
class Dense:
    """A linear layer."""

    weights: F32
    """(inputs, outputs)"""
    bias: F32

    def __call__(self, inputs: F32) -> F32:
        """Return (rows, outputs); a row's result does not depend on the other rows."""
        return rows_times(inputs, self.weights) + self.bias


RAREST = np.float32(1e-9)
"""Probabilities of levels are at least this, so that their logarithm is finite."""
LEVELS = len(PERSONAL_LEVELS) + 1
"""Levels of personal data, and none."""
HEADS: Mapping[str, int] = {
    "types": len(TYPE_NAMES) + 1,
    "fine": len(FINE_NAMES) + 1,
    "relations": len(RELATION_NAMES) + 1,
    "levels": LEVELS,
    "special": 1,
    "web": 1,
}
"""Outputs of each head for a column."""
TABLE_HEADS: Mapping[str, int] = {"rows": len(ROW_NAMES), "person": len(PERSON_STATES)}
"""Outputs of each head for a table."""
LAYER_OUTPUTS = {**HEADS, **TABLE_HEADS, "levels": len(PERSON_STATES) * LEVELS}
"""Outputs of the layers of the heads; that of `levels` has one distribution per state of a person."""
LAYERS = ("facts", "own", "table", "pool", *(f"heads.{head}" for head in LAYER_OUTPUTS))
NORMS = ("own_norm", "table_norm", "pool_norm")
SHARED = tuple(
    f"{bag}.{field}" for bag in ("headers", "values") for field in ("buckets", "importance")
)
"""Tensors that networks may have in common; a file then has those of the first network only."""
HEADER_VECTORS = 5
"""Vectors of headers that a column is read with: its own, left, right, the others, the table's name."""


@dataclass(frozen=True, slots=True)
class ColumnReadings:
    """Columns as the networks read them, one row per column, for others to learn from (custom types)."""

    names: F32
    """(N, fine types + 1) the probability of every fine type, and last that of none of them."""
    vectors: F32
    """(N, D) what the networks' heads read: header, values, statistics, rules and table together."""
    values: F32
    """(N, V) the values alone."""
    headers: tuple[str, ...]
    """The words of each header, separated by spaces; empty for a column without a header."""

    def __len__(self) -> int:
        return len(self.headers)

    def at(self, indices: slice | Sequence[int] | I64) -> "ColumnReadings":
        """Return the columns at these indices, in this order."""
        if isinstance(indices, slice):
            indices = range(len(self))[indices]
        rows = np.asarray(indices, np.int64)
        headers = tuple(self.headers[i] for i in rows.tolist())
        return ColumnReadings(self.names[rows], self.vectors[rows], self.values[rows], headers)

    @staticmethod
    def join(parts: Sequence["ColumnReadings"]) -> "ColumnReadings":
        """Return all columns of at least one part, in order."""
        return ColumnReadings(
            np.concatenate([part.names for part in parts]),
            np.concatenate([part.vectors for part in parts]),
            np.concatenate([part.values for part in parts]),
            tuple(header for part in parts for header in part.headers),
        )


@dataclass(frozen=True, slots=True)
class NgramNetwork:
    """The layers of the network, for inference in numpy."""

    headers: HashedLinear
    values: HashedLinear
    layers: Mapping[str, Linear]
    norms: Mapping[str, LayerNorm]

    @classmethod
    def of(cls, tensors: Mapping[str, npt.NDArray[Any]]) -> "NgramNetwork":
        """Return the network with these tensors; raise UsageError if some are missing or do not fit."""
        bags = {}
        for bag in ("headers", "values"):
            parts = {field: _tensor(tensors, f"{bag}.{field}") for field in _BAG_FIELDS}
            halved = {field: parts[field].astype(np.float32) for field in _HALVED}
            bags[bag] = HashedLinear(**(parts | halved))
            bags[bag].check(bag)
        floats = {
            name: np.asarray(_tensor(tensors, name), np.float32)
            for layer in (*LAYERS, *NORMS)
            for name in (f"{layer}.weight", f"{layer}.bias")
        }
        network = cls(
            **bags,
            layers={layer: Linear.of(floats, layer) for layer in LAYERS},
            norms={norm: LayerNorm.of(floats, norm) for norm in NORMS},
        )
        network.check()
        return network

    def tensors(self) -> dict[str, npt.NDArray[np.generic]]:
        """Return what `of` reads; all but int8 embeddings and their buckets in float16."""
        tensors: dict[str, npt.NDArray[np.generic]] = {
            f"{bag}.{field}": getattr(getattr(self, bag), field)
            for bag in ("headers", "values")
            for field in _BAG_FIELDS
        }
        for bag in ("headers", "values"):
            for field in _HALVED:
                tensors[f"{bag}.{field}"] = getattr(getattr(self, bag), field).astype(np.float16)
        for name, layer in self.layers.items():
            tensors[f"{name}.weight"] = np.ascontiguousarray(layer.weight.T).astype(np.float16)
            tensors[f"{name}.bias"] = layer.bias.astype(np.float16)
        for name, norm in self.norms.items():
            tensors[f"{name}.weight"] = norm.weight.astype(np.float16)
            tensors[f"{name}.bias"] = norm.bias.astype(np.float16)
        return tensors

    def check(self) -> None:
        """Raise UsageError unless all layers fit together and all numbers are finite."""
        width, facts = self.layers["own"].bias.size, self.layers["facts"].bias.size
        header, value = len(self.headers.bias), len(self.values.bias)
        shapes: dict[str, tuple[int, ...]] = {
            "facts": (FACTS + 1, facts),
            "own": (HEADER_VECTORS * header + value + facts, width),
            "table": (4 * width, width),
            "pool": (2 * width + header, width),
            **{f"heads.{head}": (width, count) for head, count in LAYER_OUTPUTS.items()},
            **dict.fromkeys(NORMS, (width,)),
        }
        layers: dict[str, Linear | LayerNorm] = {**self.layers, **self.norms}
        for name, layer in layers.items():
            expected = shapes[name]
            if layer.weight.shape != expected or layer.bias.shape != expected[-1:]:
                raise UsageError(f"layer {name} is {layer.weight.shape}, expected {expected}")
            if not (np.isfinite(layer.weight).all() and np.isfinite(layer.bias).all()):
                raise UsageError(f"layer {name} has numbers that are not finite")

    def knows_the_same(self, other: "NgramNetwork") -> bool:
        """Return whether both networks have embeddings for the same n-grams, so that they read the same inputs."""
        return np.array_equal(self.headers.buckets, other.headers.buckets) and np.array_equal(
            self.values.buckets, other.values.buckets
        )

    def outputs(self, inputs: ColumnInputs) -> dict[str, F32]:
        """Return the outputs (columns, HEADS[head]) of every head, and (tables, TABLE_HEADS[head]) of those for tables.

        The inputs were read with the network's indices.
        """
        reading = self.read(inputs)
        pooled = self._pool(inputs, reading)
        outputs = {head: self.head(head, pooled) for head in TABLE_HEADS}
        for head in HEADS:
            outputs[head] = self.head(head, reading.vectors)
        person = softmax(outputs["person"])[inputs.table]
        outputs["levels"] = levels_of(person, outputs["levels"])
        return outputs

    def head(self, name: str, vectors: F32) -> F32:
        """Return the outputs (columns, LAYER_OUTPUTS[name]) of the layer of one head for what it reads."""
        return self.layers[f"heads.{name}"](vectors)

    def read(self, inputs: ColumnInputs) -> "NetworkReading":
        """Return what the heads read."""
        values = self.values.score_rows(inputs.values)
        names = self.headers.score_rows(inputs.names)
        own = self._own(inputs, values, names)
        context = [
            table_context(own[span], inputs.is_subject[span])
            for span in _spans(inputs)
            if span.stop > span.start
        ]
        if not context:
            return NetworkReading(own, values, names)
        mixed = self.norms["table_norm"](self.layers["table"](np.concatenate(context)))
        return NetworkReading(own + np.maximum(mixed, 0), values, names)

    def _own(self, inputs: ColumnInputs, values: F32, names: F32) -> F32:
        headers = self.headers.score_rows(inputs.headers)
        around = [
            header_context(headers[span], name)
            for span, name in zip(_spans(inputs), names, strict=True)
        ]
        facts = self.layers["facts"](np.hstack([inputs.facts, inputs.is_subject[:, None]]))
        parts = [
            np.concatenate([np.zeros((0, HEADER_VECTORS * headers.shape[1]), np.float32), *around]),
            values,
            np.maximum(facts, 0),
        ]
        return np.maximum(self.norms["own_norm"](self.layers["own"](np.hstack(parts))), 0)

    def _pool(self, inputs: ColumnInputs, reading: "NetworkReading") -> F32:
        """Return one vector (tables, width) per table."""
        width = reading.vectors.shape[1]
        pooled = np.zeros((len(reading.names), 2 * width), np.float32)
        for row, span in zip(pooled, _spans(inputs), strict=True):
            if span.stop > span.start:
                vectors = reading.vectors[span]
                row[:width], row[width:] = vectors.mean(axis=0), vectors.max(axis=0)
        layer = self.layers["pool"](np.hstack([pooled, reading.names]))
        return np.maximum(self.norms["pool_norm"](layer), 0)


@dataclass(frozen=True, slots=True)
class NetworkReading:
    """What a network makes of columns before its heads."""

    vectors: F32
    """(columns, width) what the heads of columns read."""
    values: F32
    """(columns, D) the embeddings of the values alone."""
    names: F32
    """(tables, D) the embeddings of the tables' names."""


def probabilities_of(head: str, outputs: F32) -> F32:
    """Return the probabilities of the names of a head, without "none of these" where it has that."""
    if outputs.shape[1] == 1:
        return sigmoid(outputs)
    probabilities = softmax(outputs)
    return probabilities if head in TABLE_HEADS else probabilities[:, :-1]


def levels_of(person: F32, outputs: F32) -> F32:
    """Return (columns, LEVELS) log probabilities of the levels, none being the last.

    `person` (columns, PERSON_STATES) are the probabilities of a column's table, `outputs` those of the layer of `levels`.
    """
    by_state = softmax(outputs.reshape(-1, LEVELS)).reshape(*person.shape, LEVELS)
    levels = (person[:, :, None] * by_state).sum(axis=1)
    return np.asarray(np.log(np.maximum(levels, RAREST)), np.float32)


def network_tensors(networks: Sequence[NgramNetwork]) -> Arrays:
    """Return the tensors of several networks, as `load_networks` reads them."""
    return {
        f"{number}.{name}": tensor
        for number, network in enumerate(networks)
        for name, tensor in network.tensors().items()
    }


def load_networks(path: Path, mapped: MappedFile | None = None) -> tuple[NgramNetwork, ...]:
    """Return the networks of a file of `network_tensors`, or of its mapped content; raise UsageError for anything else."""
    by_number: dict[str, Arrays] = {}
    for name, tensor in (mapped.tensors() if mapped else read_safetensors(path))[0].items():
        number, _, own = name.partition(".")
        by_number.setdefault(number, {})[own] = tensor
    try:
        return tuple(NgramNetwork.of(by_number[number]) for number in sorted(by_number))
    except UsageError as error:
        raise UsageError(f"{path} does not hold n-gram networks ({error})") from None


def header_context(headers: F32, name: F32) -> F32:
    """Return (columns, 5 D) for one table: each header's vector (columns, D), its neighbours', and the name's (D,)."""
    count = len(headers)
    left, right = np.zeros_like(headers), np.zeros_like(headers)
    left[1:], right[:-1] = headers[:-1], headers[1:]
    others = (headers.sum(axis=0) - headers) / np.float32(max(count - 1, 1))
    return np.hstack([headers, left, right, others, np.broadcast_to(name, headers.shape)])


def table_context(own: F32, is_subject: F32) -> F32:
    """Return (columns, 4 D) for one table: a column's vector (columns, D), the others' mean, the maximum, the subject's."""
    count = len(own)
    others = (own.sum(axis=0) - own) / np.float32(max(count - 1, 1))
    subject = (own * is_subject[:, None]).sum(axis=0)
    wide = [np.broadcast_to(vector, own.shape) for vector in (own.max(axis=0), subject)]
    return np.hstack([own, others, *wide])


def _spans(inputs: ColumnInputs) -> list[slice]:
    bounds = np.searchsorted(inputs.table, np.arange(len(inputs.names) + 1)).tolist()
    return [slice(start, end) for start, end in pairwise(bounds)]


_BAG_FIELDS = tuple(HashedLinear.__dataclass_fields__)
_HALVED = ("importance", "scale")


def _tensor(tensors: Mapping[str, npt.NDArray[Any]], name: str) -> npt.NDArray[Any]:
    if name not in tensors:
        raise UsageError(f"network.{name} is missing")
    return tensors[name]
