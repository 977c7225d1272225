"""Forms: what every value of a kind has, whatever else is asked of it, so that most values never meet a pattern.

    pattern cas  \\d{2,7}-\\d{2}-\\d   --benchmarks/build_forms.py-->   forms.tsv   cas  DIGIT|DASH  DIGIT|DASH  6-12
    values, rules --FormTable.fits--> (R, V) which value may be of which kind

A form names the traits (column_summary.py) that a value must have, those that it may have, and its length. A pattern has one or more
forms, computed from its expression and kept in tables/forms.tsv; a test computes them again. A rule has the forms of its pattern, or of those that its option
`form` names.

Promise: a value that fits none of the forms of a pattern does not match it, so that answers do not depend on forms.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from aegir.readers.rules.column_summary import LONGEST_CELL, TRAITS
from aegir_rl.base.arrays import Bools
from aegir_rl.base.text import read_tsv

FORMS = Path(__file__).parent / "tables" / "forms.tsv"
COLUMNS = "pattern needs allows length"
ANYTHING = "*"
ALL_TRAITS = sum(TRAITS.values()) - TRAITS["NUMERIC"]
"""Of a value; only a whole column is NUMERIC."""


class Form(NamedTuple):
    """What a value has."""

    needs: int = 0
    """Traits that it has."""
    allows: int = ALL_TRAITS
    """Traits that it may have."""
    least: int = 0
    """Fewest characters."""
    most: int = LONGEST_CELL


ANY_FORM = Form()


@cache
def read_forms() -> dict[str, tuple[Form, ...]]:
    """Return the forms in tables/forms.tsv by what names a pattern there."""
    forms: dict[str, tuple[Form, ...]] = {}
    for _, (pattern, needs, allows, length) in read_tsv(FORMS, COLUMNS):
        least, most = map(int, length.split("-"))
        form = Form(_read_traits(needs), _read_traits(allows), least, most)
        forms[pattern] = (*forms.get(pattern, ()), form)
    return forms


def write_forms(forms: dict[str, Sequence[Form]]) -> str:
    """Return the text of tables/forms.tsv."""
    lines = [COLUMNS.replace(" ", "\t")]
    for pattern, each in forms.items():
        for form in each:
            needs, allows = _write_traits(form.needs), _write_traits(form.allows)
            lines.append(f"{pattern}\t{needs}\t{allows}\t{form.least}-{form.most}")
    return "\n".join(lines) + "\n"


def _read_traits(text: str) -> int:
    if text == ANYTHING:
        return ALL_TRAITS
    return sum(TRAITS[name] for name in text.split("|")) if text else 0


def _write_traits(traits: int) -> str:
    if traits == ALL_TRAITS:
        return ANYTHING
    return "|".join(name for name, bit in TRAITS.items() if traits & bit)


@dataclass(frozen=True, slots=True)
class FormTable:
    """The F forms of R rules, side by side."""

    looked_at: npt.NDArray[np.uint32]
    """(F,) the traits that a form needs or does not allow."""
    needs: npt.NDArray[np.uint32]
    least: npt.NDArray[np.int64]
    most: npt.NDArray[np.int64]
    starts: npt.NDArray[np.intp]
    """(R,) the first form of each rule."""

    @classmethod
    def of(cls, forms: Sequence[Sequence[Form]]) -> "FormTable":
        """Put together the forms of each rule, at least one."""
        every = [form for each in forms for form in each]
        needs = np.array([form.needs for form in every], np.uint32)
        refused = np.array([ALL_TRAITS & ~form.allows for form in every], np.uint32)
        return cls(
            looked_at=needs | refused,
            needs=needs,
            least=np.array([form.least for form in every], np.int64),
            most=np.array([form.most for form in every], np.int64),
            starts=np.cumsum([0, *map(len, forms)], dtype=np.intp)[:-1],
        )

    def within(self, rules: Bools, traits: int) -> tuple[list[int], "FormTable"]:
        """Return those of the rules (R,) of which a value in a column of these traits can have a form, and these forms alone."""
        rule = np.repeat(np.arange(len(self.starts)), np.diff(self.starts, append=len(self.needs)))
        possible = (self.needs & np.uint32(ALL_TRAITS & ~traits)) == 0
        possible &= rules[rule]
        chosen, starts = np.unique(rule[possible], return_index=True)
        parts = (part[possible] for part in (self.looked_at, self.needs, self.least, self.most))
        return chosen.tolist(), FormTable(*parts, starts)

    def fits(self, traits: npt.NDArray[np.uint32], lengths: npt.NDArray[np.int64]) -> Bools:
        """Return (R, V) whether each value, by its traits and its length, has a form of each rule."""
        fitting = (traits & self.looked_at[:, None]) == self.needs[:, None]  # (F, V)
        fitting &= lengths >= self.least[:, None]
        fitting &= lengths <= self.most[:, None]
        if len(self.starts) == len(fitting):
            return fitting
        return np.bitwise_or.reduceat(fitting, self.starts, axis=0)
