"""Where training tables come from, and how far each source is trusted.

A file named on the command line is gold for whatever labels of ours it carries. A folder stands for the
known files below it; each has a weight for types and for relations, so that weak labels count for less.
Tables of files called `*_val` are whole tables as users have them: cross-validation is over those.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from aegir.errors import AskedWrongly
from aegir.tables.labelled import LabelledTable, read_labelled_tables


@dataclass(frozen=True, slots=True)
class Source:
    """One file of labelled tables; weight 0 leaves that task's labels out."""

    file: str
    cta_weight: float = 1.0
    cpa_weight: float = 1.0
    has_subject: bool = False
    """Column 0 is known to be the subject."""

    @property
    def is_validation(self) -> bool:
        return Path(self.file).name.split(".")[0].endswith("_val")


KNOWN_SOURCES = (
    Source("sotab_cta_train.jsonl", cpa_weight=0),
    Source("sotab_cta_val.jsonl", cpa_weight=0),
    Source("sotab_cpa_train.jsonl", cta_weight=0, has_subject=True),
    Source("sotab_cpa_val.jsonl", cta_weight=0, has_subject=True),
)


@dataclass(frozen=True, slots=True)
class TrainingTable:
    """A labelled table and the source that says how far to trust it."""

    labelled: LabelledTable
    source: Source


def read_training_tables(paths: Sequence[Path]) -> list[TrainingTable]:
    """All tables of the files and folders given."""
    found = [
        TrainingTable(
            labelled.with_subject(0) if source.has_subject and labelled.table.columns else labelled,
            source,
        )
        for path, source in _files(paths)
        for labelled in read_labelled_tables(path)
    ]
    if not found:
        names = ", ".join(source.file for source in KNOWN_SOURCES)
        raise AskedWrongly(f"no training tables in {', '.join(map(str, paths))}; expected {names}")
    return found


def raw_files(paths: Sequence[Path]) -> list[Path]:
    """Files of unlabelled tables: those named, and those in `raw/` below the folders given."""
    found = []
    for path in paths:
        if path.is_dir():
            below = path / "raw" if (path / "raw").is_dir() else path
            found += sorted([*below.glob("*.jsonl.gz")])
        elif path.name.endswith((".jsonl.gz", ".jsonl")) and path.parent.name == "raw":
            found.append(path)
    return found


def _files(paths: Sequence[Path]) -> Iterator[tuple[Path, Source]]:
    known = {Path(source.file).name: source for source in KNOWN_SOURCES}
    for path in paths:
        if path.is_dir():
            yield from (
                (path / source.file, source)
                for source in KNOWN_SOURCES
                if (path / source.file).is_file()
            )
        else:
            yield path, known.get(path.name, Source(path.name, has_subject=True))
