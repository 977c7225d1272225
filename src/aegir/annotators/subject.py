"""Which column is the table about: the one most like the name of a thing, rather on the left.

Any model can say how much a column reads like a subject; what it cannot see, that values repeat or hold no
letter, and that people put subjects first, is added here, the same way for all of them.
"""

import numpy as np

from aegir.annotators.ngrams.features import CELLS_PER_VIEW
from aegir.arrays import F32
from aegir.tables.table import Table

LEFTNESS = 0.15
"""How much a column further left is preferred, per column, in units of a score between -1 and 1."""
LEFTNESS_REACH = 6
REPEATS, WORDLESS = 2.0, 8.0


def choose_subject(table: Table, likeness: F32, scale: float = 1.0) -> int:
    """As the table says, else the likeliest; `likeness` (columns,) may be on another `scale`."""
    if table.subject is not None:
        return table.subject
    place = np.minimum(np.arange(len(likeness)), LEFTNESS_REACH)
    cells = [column.present for column in table.columns]
    repeats = np.array([_repetition(some) for some in cells])
    wordless = np.array([not any(map(_has_letter, some[:CELLS_PER_VIEW])) for some in cells])
    against = LEFTNESS * place + REPEATS * repeats + WORDLESS * wordless
    return int(np.argmax(likeness / scale - against))


def _has_letter(cell: str) -> bool:
    return any(map(str.isalpha, cell))


def _repetition(cells: tuple[str, ...]) -> float:
    """0 when all cells differ, towards 1 when they are all the same; 1 for an empty column."""
    return 1 - len(set(cells)) / len(cells) if cells else 1.0
