"""Where training tables come from, and how far each source is trusted.

A file named on the command line is gold for whatever labels of ours it has. A folder means the
known files below it: gold tables count in full, tables whose labels were translated from another vocabulary
(by `label_map.tsv`: dataset, label, our label) count for less, and only as single columns.
Tables of files called `*_val` are whole tables as users have them, and so are the everyday tables of `open/`, which
carry fine names, "none of these" and personal data too: cross-validation is over those.

Files labelled in other vocabularies also serve auxiliary heads, each with a label space of its own, untranslated: a
head that learns to tell 'jockey' from 'club' shapes the layers below it whether or not we have such a type.

    dbpedia     the property of a column, the class of the subject column
    sherlock    78 types named after VizNet headers; single columns
    wikitables  several Freebase types per column; the file's validation part is left out
"""

import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from aegir.answers.gold_labels import within_vocabulary
from aegir.lab.data.raw_tables import cut_table, without_headers
from aegir.tables.labelled import ColumnLabels, LabelledTable, read_labelled_tables
from aegir_rl.base.errors import UsageError
from aegir_rl.base.seeding import Seeds

LABEL_MAP = "label_map.tsv"


@dataclass(frozen=True, slots=True)
class Source:
    """One file of labelled tables; weight 0 leaves that task's labels out."""

    file: str
    cta_weight: float = 1.0
    cpa_weight: float = 1.0
    has_subject: bool = False
    """Column 0 is known to be the subject."""
    in_context: bool = True
    """Whether the tables are whole enough to learn from what stands beside a column."""
    translated: str | None = None
    """The dataset name under which `label_map.tsv` translates this file's types."""
    distrusted: frozenset[str] = frozenset()
    """Labels whose translation was found wrong too often when looked at."""

    everyday: bool = False
    """Tables that are not from web pages, in the open form; cross-validation is over them."""
    calibrates: bool = True
    """Whether held-out answers on this file count towards calibration, or are only reported."""
    synthetic: bool = False
    """The cells were made up by a generator."""
    weak: bool = False
    """The labels were guessed (from a header, a mapping, a model), not given by a person."""
    aux: str | None = None
    """The label space of `cta` when it is not our 82 types: such labels train an auxiliary head of this name,
    with `cta_weight`. A label may be spelt like one of ours and mean something else."""

    raw: bool = False
    """Tables without labels."""
    web: bool = True
    """Tables of the web's markup, or made up to look like them."""

    @property
    def stem(self) -> str:
        """The file's name without folders and endings; the folder's if the file is just called `tables`."""
        path = Path(self.file)
        name = path.name.split(".")[0]
        return path.parent.name if name == "tables" and path.parent.name else name

    @property
    def is_validation(self) -> bool:
        """Whether cross-validation is over this file's tables."""
        return self.everyday or self.stem.endswith("_val")


_FILES = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
KNOWN_SOURCES = tuple(
    Source(**known | {"distrusted": frozenset(known.get("distrusted", ()))})
    for known in _FILES["known"]
)


@dataclass(frozen=True, slots=True)
class TrainingTable:
    """A labelled table and the source that says how far to trust it."""

    labelled: LabelledTable
    source: Source


def read_training_tables(paths: Sequence[Path]) -> list[TrainingTable]:
    """Return all tables of the files and folders given."""
    tables = [
        TrainingTable(_prepared(labelled, source, translation), source)
        for path, source, folder in _files(paths)
        for translation in [_translation(folder / LABEL_MAP, source) if folder else {}]
        for labelled in read_labelled_tables(path)
    ]
    if not tables:
        names = ", ".join(source.file for source in KNOWN_SOURCES)
        folders = ", ".join(map(str, paths)) or "no folder at all"
        raise UsageError(f"no training tables in {folders}; expected {names}")
    return tables


def types_of_relations(tables: Sequence[TrainingTable]) -> dict[str, dict[str, float]]:
    """Return for each relation the share of each type among its columns that have both labels."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for table in tables:
        for labels in table.labelled.labels:
            if labels.type and labels.relation:
                counts[labels.relation][labels.type] += 1
    return {
        relation: {name: count / types.total() for name, count in types.items()}
        for relation, types in counts.items()
    }


def raw_files(paths: Sequence[Path]) -> list[Path]:
    """Return files of unlabelled tables: those named, and those in `raw/` below the folders given."""
    files: list[Path] = []
    for path in paths:
        if path.is_dir():
            below = path / "raw" if (path / "raw").is_dir() else path
            files += sorted(below.glob("*.jsonl.gz"))
        elif path.parent.name == "raw":
            files.append(path)
    return files


def everyday_files(paths: Sequence[Path]) -> list[Path]:
    """Return the files of labelled everyday tables among the files and folders given."""
    return [path for path, source, _ in _files(paths) if source.everyday]


def _files(paths: Sequence[Path]) -> Iterator[tuple[Path, Source, Path | None]]:
    """Yield every file with its source and the given folder that it is in; None if the file itself was given."""
    for path in paths:
        if path.is_dir():
            for source in KNOWN_SOURCES:
                if (path / source.file).is_file():
                    yield path / source.file, source, path
        else:
            yield path, _known_source(path) or Source(path.name, has_subject=True), None


def _known_source(path: Path) -> Source | None:
    """Return the source of a file that is named by itself; `tables` alone says nothing, so its folder counts too."""
    for source in KNOWN_SOURCES:
        known = Path(source.file)
        if path.name == known.name and (
            not source.everyday or path.parent.name == known.parent.name
        ):
            return source
    return None


def _translation(path: Path, source: Source) -> dict[str, str]:
    """Return the map from the labels of one dataset to ours."""
    if source.translated is None:
        return {}
    if not path.is_file():
        raise UsageError(f"{source.file} needs {path} to translate its labels, which is missing")
    rows = (line.split("\t") for line in path.read_text(encoding="utf-8").splitlines())
    return {
        row[1]: row[2]
        for row in rows
        if row[0] == source.translated and row[1] not in source.distrusted
    }


def _prepared(
    labelled: LabelledTable, source: Source, translation: Mapping[str, str]
) -> LabelledTable:
    stated = labelled.table.subject is not None or labelled.in_open_form
    if source.has_subject and labelled.table.columns and not stated:
        labelled = labelled.with_subject(0)
    if source.translated is None:
        return within_vocabulary(labelled)
    # What the map leaves untranslated is another vocabulary's, and no mistake in the file.
    return replace(within_vocabulary(_with_types(labelled, translation)), unknown_names=())


def _with_types(labelled: LabelledTable, translation: Mapping[str, str]) -> LabelledTable:
    """Return the table with its types translated; those without a translation are left out."""
    types = (
        tuple(translation[name] for name in labels.accepted("cta") if name in translation)
        for labels in labelled.labels
    )
    labels = zip(labelled.labels, types, strict=True)
    return replace(
        labelled,
        labels=tuple(replace(own, types=translated or None) for own, translated in labels),
    )


COLUMNS_PER_LABEL = 10
"""Labels of fewer columns are left out: an auxiliary head cannot learn from a handful."""


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """A file labelled in another vocabulary."""

    file: str
    aux: str
    by_property: bool = False
    """Whether a column's property, where it has one, says more than its type."""


VOCABULARIES = {name: Vocabulary(aux=name, **each) for name, each in _FILES["vocabularies"].items()}


def auxiliary_tables(path: Path, vocabulary: Vocabulary, seed: int) -> list[TrainingTable]:
    """Return the tables of a file labelled in another vocabulary, cut down and without headers."""
    source = Source(
        vocabulary.file,
        cpa_weight=0,
        in_context=vocabulary.aux != "sherlock",
        aux=vocabulary.aux,
    )
    tables = [
        _prepared_auxiliary(table, vocabulary, Seeds(seed)) for table in read_labelled_tables(path)
    ]
    counts = Counter(
        name for table in tables for labels in table.labels for name in labels.accepted("cta")
    )
    frequent = {name: name for name, count in counts.items() if count >= COLUMNS_PER_LABEL}
    return [
        TrainingTable(trimmed, source)
        for table in tables
        if any((trimmed := _with_types(table, frequent)).types)
    ]


def _prepared_auxiliary(
    labelled: LabelledTable, vocabulary: Vocabulary, seeds: Seeds
) -> LabelledTable:
    table = without_headers(cut_table(labelled.table, seeds))
    labels = tuple(
        ColumnLabels((labels.relations if vocabulary.by_property else None) or labels.types)
        for labels in labelled.labels[: len(table.columns)]
    )
    return replace(labelled, table=table, labels=labels)
