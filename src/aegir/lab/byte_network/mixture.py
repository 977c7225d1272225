"""Which tables each training step reads: every table of a source in turn, or those that a curriculum draws.

    draws = mixture.draw(step)                 as many tables of each source as configured
    mixture.update(draws, successes)           how well each was answered: 0 to 1, NaN where unknown

Without a curriculum each source is read in shuffled rounds, and a step's tables depend on seed and step alone. With one
(docs/curriculum.md) tables are drawn by how well they were answered before; every source has a curriculum of its own, so
that the shares of the sources stay as configured, and steps must be drawn in order. `state_dict` and `load_state_dict`
carry what the curricula have measured across a stop.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from aegir.lab.byte_network.config import NO_CURRICULUM, TableCurriculum
from aegir.lab.byte_network.examples import TableExample
from aegir_rl.base.arrays import I64, Floats
from aegir_rl.base.errors import UsageError
from aegir_rl.base.seeding import Seeds
from aegir_rl.rl.curriculum import Curriculum


class Draw(NamedTuple):
    """One table of a step."""

    source: str
    number: int
    """Of the table among those of its source."""
    example: TableExample


class TableMixture:
    """How many tables of each source every step reads, and which."""

    def __init__(
        self,
        examples: Mapping[str, Sequence[TableExample]],
        per_step: Mapping[str, int],
        seed: int = 0,
        curriculum: TableCurriculum = NO_CURRICULUM,
    ) -> None:
        self.examples, self.per_step, self.seed = examples, per_step, seed
        self._rounds: dict[tuple[str, int], I64] = {}
        self._curricula = {
            source: Curriculum(
                len(examples[source]),
                curriculum.strategy,
                exploration=curriculum.exploration,
                forgetting=curriculum.forgetting,
                seed=Seeds(seed).derive("curriculum", source) >> 1,
            )
            for source in (per_step if curriculum.on else ())
        }

    def draw(self, step: int) -> list[Draw]:
        """Return the tables of a step."""
        return [
            Draw(source, int(number), self.examples[source][number])
            for source, count in self.per_step.items()
            for number in self._numbers(source, count, step)
        ]

    def update(self, draws: Sequence[Draw], successes: Floats) -> None:
        """Tell the curricula how well each table was answered."""
        for source, curriculum in self._curricula.items():
            indices = [index for index, draw in enumerate(draws) if draw.source == source]
            curriculum.update([draws[index].number for index in indices], successes[indices])

    def metrics(self) -> dict[str, float]:
        """Return the metrics of every curriculum as `curriculum/SOURCE/…`."""
        return {
            name.replace("curriculum/", f"curriculum/{source}/"): value
            for source, curriculum in self._curricula.items()
            for name, value in curriculum.metrics().items()
        }

    def state_dict(self) -> dict[str, dict[str, Any]]:
        """Return the state of every curriculum by source: numpy arrays and JSON-ready values."""
        return {source: one.state_dict() for source, one in self._curricula.items()}

    def load_state_dict(self, state: Mapping[str, dict[str, Any]]) -> None:
        """Continue where the saved curricula stood."""
        if state.keys() != self._curricula.keys():
            raise UsageError(
                f"the checkpoint has curricula for {', '.join(state) or 'no source'}, the "
                f"configuration for {', '.join(self._curricula) or 'none'}; resume with its own settings"
            )
        for source, curriculum in self._curricula.items():
            curriculum.load_state_dict(state[source])

    def _numbers(self, source: str, count: int, step: int) -> Sequence[int] | I64:
        if source in self._curricula:
            curriculum = self._curricula[source]
            return curriculum.draw(count, distinct=count <= curriculum.items)
        return [self._in_round(source, step * count + offset) for offset in range(count)]

    def _in_round(self, source: str, position: int) -> int:
        """Return the table at `position` of a sequence of shuffled rounds through a source."""
        size = len(self.examples[source])
        turn, within = divmod(position, size)
        if (source, turn) not in self._rounds:
            generator = Seeds(self.seed).generator("round", source, turn)
            self._rounds[source, turn] = generator.permutation(size)
        return int(self._rounds[source, turn][within])
