"""Fingerprints of columns: enough to find a column again when its table has grown, too little to read its values.

    fingerprint_table(table)                one `Fingerprint` per column: name, form, values, and the headers beside it
    compute_similarity(first, second)       how alike the contents of two columns are, from 0 to 1, names aside

What is stored of the values: their datatype and number, the shapes of the most frequent ones (`Aa@a.a`), quantiles of
lengths and numbers, how frequent groups of three characters are (hashed into 128 buckets), and a sketch of the distinct
values: 64 bins, of each four bits of its least hash. From two sketches follows which share of the values is shared.

Promises
  - the order of the rows does not matter;
  - a column that gets more rows of the same sort keeps a similarity near 1;
  - no value is written down, and none can be computed from a fingerprint.

Limits: columns with very few cells are hard to distinguish. Numbers are compared by their size alone. Whoever guesses a value
can check whether the column may hold it: one value in 15 fits the sketch of a long column by chance, one in 50 that of 20
values. `without_values` leaves the sketch out.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from hashlib import blake2b
from typing import Any

import numpy as np

from aegir.tables.contents import contents_of
from aegir.tables.table import Column, Table
from aegir_rl.base.arrays import Floats

BUCKETS, BINS = 128, 64
EMPTY_BIN = 0
CODES = 15
"""A bin holds 0 if it is empty, else one of this many codes."""
MOST = 255
"""The largest number of the texture."""
LONGEST_CELL, LONGEST_SHAPE, MOST_SHAPES, MOST_HEADERS = 80, 24, 8, 64
QUANTILES = (0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0)
NUMBERS, TIMES = ("integer", "number"), ("date", "datetime")
ALL_DISTINCT = 0.95
"""From this share of distinct values on, a column of integers may be a key that grows with the table."""
UNRELATED_TEXTURE = 0.55
"""How alike the groups of characters of unrelated columns are; counts as 0."""
HALVED = 1.0
"""Numbers whose quantiles differ by a factor of e have half the similarity."""
FEWEST_EQUAL = 3
"""Fewer equal bins may be chance, unless they are half of all."""
KNOWN_SHAPES = 0.5
"""Shapes are compared if the stored ones cover this share of the cells; lengths otherwise."""


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """What is remembered of a column's content and position."""

    name: str | None
    """The header as it stands in the table."""
    index: int
    others: tuple[str, ...]
    """The spellings of the other headers of the table, sorted."""
    datatype: str
    cells: int
    """Cells that are not missing, of those that were sampled."""
    distinct: int
    shapes: tuple[tuple[str, float], ...]
    """The most frequent shapes with their shares."""
    lengths: tuple[float, ...]
    """Quantiles of the logarithm of the lengths."""
    numbers: tuple[float, ...]
    """Quantiles of the inverse hyperbolic sine of the numbers; empty if there are none."""
    texture: str
    """Square roots of the frequencies of groups of three characters, a byte per bucket, as hexadecimal digits."""
    values: str
    """A hexadecimal digit per bin."""

    @property
    def spelling(self) -> str | None:
        """The header without case, blanks and punctuation; None without a header."""
        return None if self.name is None else spelling_of(self.name)

    def without_values(self) -> "Fingerprint":
        """Return the same without the sketch of the values, for columns that hold personal data."""
        return replace(self, values=str(EMPTY_BIN) * BINS)

    def as_dict(self) -> dict[str, Any]:
        """Return a JSON-ready object."""
        return asdict(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "Fingerprint":
        """Return the fingerprint that `as_dict` wrote; raises ValueError, KeyError or TypeError for anything else."""
        if unknown := set(data) - {field.name for field in fields(cls)}:
            raise ValueError(f"unknown key {min(unknown)!r}")
        fingerprint = cls(
            name=None if data["name"] is None else _text(data["name"]),
            index=_count(data["index"]),
            others=tuple(_text(name) for name in data["others"]),
            datatype=_text(data["datatype"]),
            cells=_count(data["cells"]),
            distinct=_count(data["distinct"]),
            shapes=tuple((_text(shape), float(share)) for shape, share in data["shapes"]),
            lengths=tuple(map(float, data["lengths"])),
            numbers=tuple(map(float, data["numbers"])),
            texture=_text(data["texture"]),
            values=_text(data["values"]),
        )
        if len(bytes.fromhex(fingerprint.texture)) != BUCKETS or not re.fullmatch(
            f"[0-9a-f]{{{BINS}}}", fingerprint.values
        ):
            raise ValueError("a sketch of the wrong length")
        if not np.isfinite(
            [*fingerprint.lengths, *fingerprint.numbers, *dict(fingerprint.shapes).values()]
        ).all():
            raise ValueError("a number that is not finite")
        if any(
            len(each) not in (0, len(QUANTILES))
            for each in (fingerprint.lengths, fingerprint.numbers)
        ):
            raise ValueError("quantiles of the wrong number")
        return fingerprint


def fingerprint_table(table: Table) -> tuple[Fingerprint, ...]:
    """Return the fingerprint of every column."""
    spellings = [spelling_of(column.name or "") for column in table.columns]
    return tuple(
        fingerprint_column(column, index, (*spellings[:index], *spellings[index + 1 :]))
        for index, column in enumerate(table.columns)
    )


def fingerprint_column(column: Column, index: int = 0, others: Sequence[str] = ()) -> Fingerprint:
    """Return the fingerprint of a column that stands at this index beside these headers."""
    contents = contents_of(column)
    texts = contents.cleaned(LONGEST_CELL)
    cells = [texts[cell] for cell in column.present]
    counts = Counter(cells)
    datatype = contents.datatype
    numbers = _numbers(counts) if datatype in NUMBERS else []
    return Fingerprint(
        name=column.name,
        index=index,
        others=tuple(sorted(filter(None, others))[:MOST_HEADERS]),
        datatype=datatype,
        cells=len(cells),
        distinct=len(counts),
        shapes=_shapes(counts),
        lengths=_quantiles(np.log1p([len(cell) for cell in cells])),
        numbers=_quantiles(np.arcsinh(numbers)),
        texture=_texture(cells).hex(),
        values=_sketch(counts),
    )


def spelling_of(name: str) -> str:
    """Return a header without case, accents' variants, blanks and punctuation; as it is if nothing is left."""
    plain = unicodedata.normalize("NFKC", name).casefold()
    return "".join(filter(str.isalnum, plain)) or plain.strip()


def compute_similarity(first: Fingerprint, second: Fingerprint) -> float:
    """Return how alike the contents of two columns are, from 0 to 1; two empty columns are alike."""
    if not first.cells or not second.cells:
        return float(first.cells == second.cells)
    if _family(first.datatype) != _family(second.datatype):
        return 0.0
    if first.numbers and second.numbers:
        return _number_similarity(first, second)
    texture = max(_affinity(first, second) - UNRELATED_TEXTURE, 0) / (1 - UNRELATED_TEXTURE)
    return max(compute_overlap(first, second), (texture + _form_similarity(first, second)) / 2)


def compute_overlap(first: Fingerprint, second: Fingerprint) -> float:
    """Return which share of the distinct values of the smaller column the other one has, too, as estimated."""
    one, other = (
        np.frombuffer(each.values.encode(), np.uint8) - ord("0") for each in (first, second)
    )
    used = int(((one != EMPTY_BIN) | (other != EMPTY_BIN)).sum())
    both = (one != EMPTY_BIN) & (other != EMPTY_BIN)
    equal = int((both & (one == other)).sum())
    by_chance = int((both & (one != other)).sum()) / (CODES - 1)
    shared = max(equal - by_chance, 0) / max(used, 1)
    if equal < FEWEST_EQUAL and 2 * equal < used:
        return 0.0
    # |A and B| = J (|A| + |B|) / (1 + J) for the share J of the union
    common = shared * (first.distinct + second.distinct) / (1 + shared)
    return float(min(common / max(min(first.distinct, second.distinct), 1), 1.0))


def compute_context(first: Fingerprint, second: Fingerprint) -> float:
    """Return the share of headers that the tables of two columns have in common; 1 if both columns stand alone."""
    one, other = set(first.others), set(second.others)
    return len(one & other) / len(one | other) if one | other else 1.0


def unit_textures(columns: Sequence[Fingerprint]) -> Floats:
    """Return the textures (columns, BUCKETS) as vectors of length 1, or 0 where there is no text."""
    textures = b"".join(bytes.fromhex(column.texture) for column in columns)
    roots = np.frombuffer(textures, np.uint8).reshape(-1, BUCKETS).astype(np.float64)
    lengths: Floats = np.linalg.norm(roots, axis=1, keepdims=True)
    return np.asarray(roots / np.maximum(lengths, 1e-9), np.float64)


def _family(datatype: str) -> str:
    if datatype in NUMBERS:
        return "number"
    return "time" if datatype in TIMES else datatype


def _number_similarity(first: Fingerprint, second: Fingerprint) -> float:
    one, other = np.array(first.numbers), np.array(second.numbers)
    if all(
        each.datatype == "integer" and each.distinct >= ALL_DISTINCT * each.cells
        for each in (first, second)
    ):
        # A key grows: 1 … 100 lies within 1 … 1,000.
        lowest, highest = max(one[0], other[0]), min(one[-1], other[-1])
        narrower = min(one[-1] - one[0], other[-1] - other[0])
        if narrower > 0 and lowest < highest:
            return float(min((highest - lowest) / narrower, 1.0))
    distance = float(np.abs(one - other)[1:-1].mean())
    return float(0.5 ** (distance / HALVED))


def _form_similarity(first: Fingerprint, second: Fingerprint) -> float:
    shapes, others = dict(first.shapes), dict(second.shapes)
    covered = min(sum(shapes.values()), sum(others.values()))
    if covered >= KNOWN_SHAPES:
        shared = sum(min(share, others.get(shape, 0.0)) for shape, share in shapes.items())
        return float(min(shared / covered, 1.0))
    distance = float(np.abs(np.subtract(first.lengths, second.lengths))[1:-1].mean())
    return float(0.5 ** (distance / HALVED))


def _affinity(first: Fingerprint, second: Fingerprint) -> float:
    """Return the sum of the square roots of the products of frequencies: 1 for equal ones."""
    one, other = unit_textures([first, second])
    return float(min(one @ other, 1.0))


def _shapes(counts: Counter[str]) -> tuple[tuple[str, float], ...]:
    shapes: Counter[str] = Counter()
    for cell, count in counts.items():
        shapes[_shape(cell)] += count
    frequent = sorted(shapes.items(), key=lambda item: (-item[1], item[0]))[:MOST_SHAPES]
    return tuple((shape, round(count / counts.total(), 3)) for shape, count in frequent)


def _shape(cell: str) -> str:
    """Return a cell with A, a, x or 0 for runs of capital, small and other letters and digits; the rest is unchanged."""
    classes = "".join(
        "0" if char.isdigit()
        else "A" if char.isupper()
        else "a" if char.islower()
        else "x" if char.isalpha()
        else " " if char.isspace()
        else char
        for char in cell
    )  # fmt: skip
    return _RUNS.sub(r"\1", classes)[:LONGEST_SHAPE]


_RUNS = re.compile(r"([Aax ])\1+")
_DIGITS = str.maketrans(dict.fromkeys("0123456789", "0"))


def _texture(cells: Sequence[str]) -> bytes:
    """Return the square roots of the frequencies of groups of three characters, scaled to bytes."""
    # Two line feeds between cells: no group then has characters of two cells, so their order does not matter.
    text = "\n\n" + "\n\n".join(cells).casefold().translate(_DIGITS) + "\n\n"
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), "<u4").astype(np.uint64)
    mixed = codes[:-2] * np.uint64(0x9E3779B185EBCA87)
    mixed ^= codes[1:-1] * np.uint64(0xC2B2AE3D27D4EB4F)
    mixed ^= codes[2:] * np.uint64(0x165667B19E3779F9)
    bucket = (mixed * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(
        57
    )  # the upper 7 bits: 128 buckets
    roots = np.sqrt(np.bincount(bucket.astype(np.int64), minlength=BUCKETS))
    return np.rint(roots * (MOST / max(float(roots.max()), 1.0))).astype(np.uint8).tobytes()


def _sketch(counts: Counter[str]) -> str:
    """Return a code per bin from the least hash of the distinct values that fall into it."""
    codes = np.full(BINS, EMPTY_BIN, np.uint8)
    digests = b"".join(
        blake2b(cell.casefold().encode("utf-8", "surrogatepass"), digest_size=8).digest()
        for cell in counts
    )
    hashes = np.sort(np.frombuffer(digests, "<u8"))[::-1]  # the least one is written last
    codes[hashes % np.uint64(BINS)] = hashes // np.uint64(BINS) % np.uint64(CODES) + np.uint64(1)
    return "".join(f"{code:x}" for code in codes.tolist())


def _numbers(counts: Counter[str]) -> list[float]:
    numbers = []
    for cell, count in counts.items():
        try:
            number = float(_plain_number(cell))
        except ValueError:  # a word for a missing number
            continue
        if np.isfinite(number):
            numbers += [number] * count
    return numbers


def _plain_number(cell: str) -> str:
    """Return a number as Python reads it: without separators of thousands, with a decimal point."""
    if re.fullmatch(r"[+-]?(?:\d+|\d{1,3}(?:\.\d{3})+),\d{1,2}", cell):
        return cell.replace(".", "").replace(",", ".")
    return cell.replace(",", "")


def _quantiles(numbers: Any) -> tuple[float, ...]:
    if not len(numbers):
        return ()
    return tuple(np.round(np.quantile(numbers, QUANTILES, method="inverted_cdf"), 3).tolist())


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r} where text was expected")
    return value


def _count(value: object) -> int:
    if type(value) is not int or value < 0:
        raise TypeError(f"{value!r} where a number from 0 on was expected")
    return value
