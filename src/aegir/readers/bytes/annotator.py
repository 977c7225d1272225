"""The `byte_model` annotator: the byte network of a weights file, calibrated.

Facts and calibration are read at once. The network of the weights that ship is built when the first column is scored
(scoring.py): most tables are answered without it.
"""

from collections.abc import Mapping, Sequence
from functools import cache, cached_property
from importlib.resources import as_file, files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aegir.readers.calibration import ByteCalibration, OperatingPoints
from aegir.readers.scores import TableScores
from aegir.tables.table import Table
from aegir_rl.base.arrays import F32
from aegir_rl.base.errors import UsageError
from aegir_rl.base.safetensors_file import map_safetensors
from aegir_rl.base.text import parse_json

if TYPE_CHECKING:
    from aegir.readers.bytes.byte_encoding import Symbols
    from aegir.readers.bytes.network import ByteModel
    from aegir.readers.bytes.scoring import TableScorer

MODEL_FILE = "bytes.safetensors"


class ByteModelAnnotator:
    """Scores tables with a `ByteModel`."""

    name = "byte_model"

    def __init__(self, model: "ByteModel | Path") -> None:
        """Annotate with this network, or with that of a file; raise UsageError if it is not made for columns alone, or
        not calibrated. What is wrong with the weights of a file is raised by the first call.
        """
        self._source = model
        self.facts = _read_facts(model) if isinstance(model, Path) else model.facts
        self.calibration = ByteCalibration.from_json(self.facts.get("calibration"))
        self.operating_points = OperatingPoints.from_facts(self.facts, self.name)
        if not isinstance(model, Path):
            _ = self._scorer

    @property
    def model(self) -> "ByteModel":
        """The network."""
        return self._scorer.model

    def score(self, tables: Sequence[Table]) -> list[TableScores]:
        """Return probabilities for every column of every table."""
        return self.score_beside(tables, [(True,) * len(table.columns) for table in tables])

    def score_beside(
        self,
        tables: Sequence[Table],
        asked: Sequence[Sequence[bool]],
        first: Sequence[TableScores] | None = None,
    ) -> list[TableScores]:
        """Return the same for the columns that are asked about; of the others fewer cells are read, as context.

        `first` is what the first layer says of the tables, from which the network begins if it has learnt to.
        """
        return self._scorer.score_beside(tables, asked, first)

    def score_vectors(
        self, tables: Sequence[Table], symbols: "Sequence[Symbols]", vectors: F32
    ) -> list[TableScores]:
        """Return the same from the symbols and the vector (columns, width) of every column: table stage and heads."""
        return self._scorer.score_vectors(tables, symbols, vectors)

    @cached_property
    def _scorer(self) -> "TableScorer":
        from aegir.readers.bytes.scoring import TableScorer

        if not isinstance(self._source, Path):
            return TableScorer(self._source, self.calibration.temperature)
        return TableScorer(_load_network(self._source), self.calibration.temperature)


def load_byte_model(path: Path | None = None) -> ByteModelAnnotator:
    """Return the annotator with the weights in `path`, or with those that ship with Aegir."""
    if path is None:
        return _shipped()
    model = _load_network(path)
    try:
        return ByteModelAnnotator(model)
    except UsageError as error:
        raise UsageError(
            f"{path} is a byte network that cannot annotate ({error}); make one with: aegir train export"
        ) from None


@cache
def _shipped() -> ByteModelAnnotator:
    with as_file(files("aegir.readers") / "weights" / MODEL_FILE) as shipped:
        return ByteModelAnnotator(shipped)


def _load_network(path: Path) -> "ByteModel":
    from aegir.readers.bytes.checkpoint import load_checkpoint
    from aegir.readers.bytes.network import ByteModel

    return ByteModel(load_checkpoint(path))


def _read_facts(path: Path) -> Mapping[str, Any]:
    _, metadata = map_safetensors(path).tensors()
    facts: Mapping[str, Any] = parse_json(metadata["facts"])
    return facts
