"""What a person can ask of a benchmark run."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Options:
    """The same for every benchmark; each uses what concerns it."""

    seed: int = 0
    repeats: int = 5
    quick: bool = False
    """Small enough for a test: the form is right, the figures are rough and never recorded."""
    size: int = 2_000_000_000
    """Bytes of the large file."""
    files: int = 5_000
    """Mutated files to be annotated."""
    count: int = 10_000
    """Programs of the long run in a sandbox."""
    data: Path | None = None
    """A folder of labelled tables, for the accuracy of the reference and for taught types."""
    types: tuple[str, ...] = ()
    """Fine names of the labels to learn; a list of everyday types if none is given."""
    csv_detective: Path | None = None
    """A Python that has csv-detective; it cannot share an environment with Aegir."""


def parse_size(text: str) -> int:
    """`2GB`, `500MB` or a number of bytes; ValueError says what was expected."""
    units = {"KB": 10**3, "MB": 10**6, "GB": 10**9}
    number, factor = text.strip().upper(), 1
    for unit, bytes_in_unit in units.items():
        if number.endswith(unit):
            number, factor = number.removesuffix(unit), bytes_in_unit
    try:
        size = int(float(number) * factor)
    except (ValueError, OverflowError):
        size = 0
    if size <= 0:
        raise ValueError(f"size is {text!r}; expected a positive number such as 500MB or 2GB")
    return size
