"""The check of a masked file: none of the values that were masked stands in it.

    originals = Originals(columns=3)
    originals.add("ada@example.org")            while masking
    check_rows(rows, {2: originals}, columns)   while the result is read back

Of redacted and tokenised columns, values of at least `CHANCE_LENGTH` characters are remembered: shorter ones (a first name, a
year) occur elsewhere by chance. Memory is bounded: when there are too many, half of them are forgotten by their hash, so that
what stays is an even sample of the distinct values, and `share` says how large. Shifted and generalised values are drawn from the same
set as the originals (another date, a rounded number), so they are not looked for; each differs from its own original, which rows.py holds.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from aegir.masking.plan import ColumnPlan

CHANCE_LENGTH = 8
MOST_REMEMBERED = 200_000
"""Values of all columns together; about 25 MB."""


class Originals:
    """An even sample of the distinct values of one masked column."""

    def __init__(self, columns: int) -> None:
        self._most = max(1000, MOST_REMEMBERED // max(1, columns))
        self._mask = 0
        self._values: set[str] = set()

    @property
    def share(self) -> float:
        """The share of the distinct values that is looked for."""
        return 1 / (self._mask + 1)

    def __len__(self) -> int:
        return len(self._values)

    def add(self, value: str) -> None:
        """Remember a value, if it is long enough and belongs to the sample."""
        if len(value) < CHANCE_LENGTH or hash(value) & self._mask:
            return
        self._values.add(value)
        while len(self._values) > self._most:
            self._mask = self._mask * 2 + 1
            self._values = {kept for kept in self._values if not hash(kept) & self._mask}

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)


@dataclass(slots=True)
class Check:
    """What was found when the masked file was read back."""

    rows: int = 0
    same_column: Counter[int] = field(default_factory=Counter)
    """By column: cells that hold an original value of that column."""
    elsewhere: Counter[tuple[int, int]] = field(default_factory=Counter)
    """By masked column and kept column: cells of the second that hold a value of the first."""


def check_rows(
    rows: Iterable[Sequence[tuple[int, str]]],
    originals: Mapping[int, Originals],
    columns: Sequence[ColumnPlan],
) -> Check:
    """Look for original values in rows of (column, cell); a column that is not in the plan has any other number."""
    check = Check()
    owners: dict[str, list[int]] = {}
    for masked, known in originals.items():
        for value in known:
            owners.setdefault(value, []).append(masked)
    for row in rows:
        check.rows += 1
        for index, cell in row:
            for masked in owners.get(cell.strip(), ()):
                if masked == index:
                    check.same_column[index] += 1
                elif index >= len(columns) or columns[index].action == "keep":
                    check.elsewhere[masked, index] += 1
    return check
