"""Specialists that the user added: asked about columns that could be several of the types that they tell apart.

    added = AddedSpecialists.open()                     None if nobody in the user's pool is to be asked
    for entry in added.entries:                         in the order in which they were added
        rows = added.doubtful(entry, types)             columns that it is to be asked about, if they are ambiguous
        added.answer(entry, columns, types[rows], spawning)

    p'(t) = M p(t) q(t)^w / sum over the group of p q^w           readers/swarm/added_answer.py

Only specialists whose gain on labelled tables was above zero are asked (`SpecialistValidation` in their manifests), each with the weight that was fitted
after those that were added before it. Their files are checked when the pool is opened: one that was altered or is missing costs a sentence.

Promise: what a specialist says of a table depends on that table and the pool alone, bit for bit.
"""

import warnings
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Self

import numpy as np

from aegir.readers.mixing import with_none
from aegir.readers.scores import Probabilities
from aegir.readers.swarm.added_answer import add_answer, type_indices
from aegir.readers.swarm.pool.entry import PoolEntry
from aegir.readers.swarm.pool.loading import file_state
from aegir.readers.swarm.pool.location import swarm_folder
from aegir.readers.swarm.pool.measuring import specialist_types
from aegir.readers.swarm.pool.specialist_pool import Spawning, SpecialistPool
from aegir.tables.table import Column
from aegir_rl.base.arrays import I64, Bools

CANDIDATE = 0.05
"""Probability from which a type is a candidate."""


class AddedSpecialists:
    """The specialists of a pool that a search asks."""

    def __init__(self, pool: SpecialistPool, entries: Sequence[PoolEntry]) -> None:
        """Ask these entries of a pool, in this order."""
        self.pool, self.entries = pool, tuple(entries)
        self.columns_read: Counter[str] = Counter()
        self._members = {
            each.name: type_indices(each.validation.types) for each in entries if each.validation
        }

    @classmethod
    def open(
        cls, folder: Path | None = None, say: Callable[[str], None] = warnings.warn
    ) -> Self | None:
        """Return those of the user's pool, or of the pool in `folder`; None if nobody is to be asked.

        `say` is called with a sentence for each file that cannot be used. Raises UsageError for a file in place of the folder.
        """
        folder = folder if folder is not None else swarm_folder()
        pool = SpecialistPool.open(folder)
        for sentence in pool.refused.values():
            say(sentence)
        own = [each for each in pool.entries.values() if each.asked]
        entries = []
        for entry in sorted(own, key=lambda entry: (entry.added, entry.name)):
            if (state := file_state(entry)) == "unchanged":
                entries.append(entry)
                continue
            say(
                f"the specialist {entry.name!r} is not asked, because {entry.file} is {state}; add it again, or: "
                f"aegir swarm remove {entry.name}"
            )
        return cls(pool, entries) if entries else None

    @classmethod
    def beside(cls, added: "AddedSpecialists | None", entry: PoolEntry) -> Self:
        """Return the same, and one more that is asked after them."""
        entries = (*(added.entries if added else ()), entry)
        return cls(SpecialistPool({each.name: each for each in entries}), entries)

    def doubtful(self, entry: PoolEntry, types: Probabilities) -> Bools:
        """(columns,) which columns could be several of the types that a specialist tells apart."""
        return could_be_several(types, self._members[entry.name])

    def load(self) -> None:
        """Load them, as many as the pool keeps in memory."""
        spawning = self.pool.begin()
        for entry in self.entries:
            self.pool.get(entry.name, spawning)

    def answer(
        self,
        entry: PoolEntry,
        columns: Sequence[Column],
        types: Probabilities,
        spawning: Spawning,
    ) -> Probabilities | None:
        """Return type probabilities (columns, 82) with a specialist's answer; None if it cannot be asked."""
        model = self.pool.get(entry.name, spawning)
        if model is None or entry.validation is None:
            return None
        answers = specialist_types(model, columns)
        self.columns_read[entry.name] += len(columns)
        weight, members = entry.validation.weight, self._members[entry.name]
        changed = add_answer(with_none(types), answers, members, weight)[:, :-1]
        # Weights of any size are accepted: one that overflows on a column says nothing about it.
        usable = np.isfinite(answers).all(axis=1, keepdims=True)
        return np.where(usable, changed, types)

    def why_not(self, entry: PoolEntry) -> str:
        """Return a sentence that says why a specialist could not be asked."""
        budget = self.pool.budget
        reason = self.pool.refused.get(entry.name) or (
            f"a table wakes at most {budget.count} specialists of {budget.bytes / 1e6:g} MB together"
        )
        return f"the specialist {entry.name!r} was not asked: {reason}"


def could_be_several(types: Probabilities, members: I64) -> Bools:
    """(columns,) for which columns the two likeliest types (columns, 82) are candidates and both of a group."""
    likeliest = np.argsort(-types, axis=1, kind="stable")[:, :2]
    second = np.take_along_axis(types, likeliest, axis=1)[:, 1]
    result: Bools = np.isin(likeliest, members).all(axis=1) & (second >= CANDIDATE)
    return result
