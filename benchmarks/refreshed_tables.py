"""How often does `aegir diff` report a change between two snapshots of an unchanged table, and does it find real changes?

`--data FOLDER` has files of tables, a JSON object per line with `id`, `source` and `columns` of `name` and `values` (`*.jsonl.gz`). Of every table with enough
rows, odd rows are the old snapshot and even rows the new one, or two slices of one file, where the file was cut (`orders.csv#0`, `orders.csv#60`). At most
PER_SOURCE tables of a source are taken.

A pair fires if a type changes or a column becomes personal or less so. Then one column of the new snapshot is really changed in one of four ways, and the change is
found if the comparison reports that column: the values of another column, two columns exchanged, e-mail addresses among notes,
another type (numbers become dates, texts become numbers).
"""

import gzip
import json
import random
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from aegir.answers.annotation import TableAnnotation, annotation_as_dict, annotation_from_dict
from aegir.answers.differences import ColumnChange, ComparedAnswer, compare
from aegir.pipeline.compared import annotate_side
from aegir.pipeline.run import prepare
from aegir.pipeline.settings import AnnotationSettings
from aegir.tables.table import Column, Table
from aegir_rl.base.errors import UsageError
from aegir_rl.base.seeding import Seeds
from benchmarks.measuring import Runs
from benchmarks.options import Options
from benchmarks.result import Measurement, Result, at_least, at_most

QUESTION = (
    "pairs of snapshots of unchanged tables on which diff fires, and real changes that it finds"
)
LEAST_ROWS, MOST_COLUMNS, PER_SOURCE, PAIRS = 30, 25, 3, 80
FIRING = ("type", "personal", "not-personal")
ALLOWED, FOUND = 1 / 40, 0.9

Pair = tuple[Table, Table]


def run(options: Options) -> Result:
    """Compare the pairs as they are, then with one change each."""
    if options.data is None:
        raise UsageError("refreshed_tables needs --data FOLDER with *.jsonl.gz files of tables")
    draw = random.Random(Seeds(options.seed).derive("refreshed"))
    pairs = choose_pairs(options.data, 4 if options.quick else PAIRS, draw)
    prepared = prepare(AnnotationSettings(memory=False, custom_types=False))
    old, new = (list(annotate_side(side, prepared)) for side in zip(*pairs, strict=True))
    fired = sum(bool(firing(*each)) for each in zip(old, new, strict=True))
    measurements = [_share("unchanged pairs that fire", fired, len(pairs))]
    stored = [ComparedAnswer(_stored(each.annotation)) for each in old]
    fired = sum(bool(firing(*each)) for each in zip(stored, new, strict=True))
    from_answers = _share("unchanged pairs that fire, old answers from JSON", fired, len(pairs))
    for name, change in CHANGES.items():
        changed = [
            (index, made) for index, (_, after) in enumerate(pairs) if (made := change(after, draw))
        ]
        if change is _emails:  # where names of persons stand already there is nothing new
            changed = [each for each in changed if not _is_direct(old[each[0]], each[1][1])]
        answers = list(annotate_side([table for _, (table, _) in changed], prepared))
        found = sum(
            any(each.new and each.new.index in columns for each in firing(old[index], answer))
            for (index, (_, columns)), answer in zip(changed, answers, strict=True)
        )
        measurements.append(_share(f"changes found: {name}", found, len(changed)))
    return Result(
        benchmark="refreshed_tables",
        question=QUESTION,
        data=f"{len(pairs)} pairs of snapshots of {len({old.source for old, _ in pairs})} sources",
        measurements=(measurements[0], from_answers, *measurements[1:]),
        ratios=(),
        targets=(
            at_most(measurements[0], ALLOWED),
            at_most(from_answers, ALLOWED),
            *(at_least(each, FOUND) for each in measurements[1:]),
        ),
        settings={"pairs": len(pairs)},
    )


def _stored(annotation: TableAnnotation) -> TableAnnotation:
    """Return an answer as it is read from a file."""
    return annotation_from_dict(json.loads(json.dumps(annotation_as_dict(annotation))))


def _is_direct(answer: ComparedAnswer, columns: set[int]) -> bool:
    return any(answer.annotation.columns[each].personal_level == "direct" for each in columns)


def firing(old: ComparedAnswer, new: ComparedAnswer) -> list[ColumnChange]:
    """Return the changes that a gate on types and personal data would report."""
    differences = compare([old], [new])
    return [change for each in differences for change in each.changes if change.change in FIRING]


def choose_pairs(folder: Path, most: int, draw: random.Random) -> list[Pair]:
    """Return pairs of snapshots of tables of many sources."""
    by_source: defaultdict[str, dict[str, list[Table]]] = defaultdict(dict)
    for file in sorted(folder.glob("*.jsonl.gz")):
        for table in _tables(file):
            if 2 <= len(table.columns) <= MOST_COLUMNS:
                by_source[table.source or ""].setdefault(table.name, []).append(table)
    pairs = []
    for name in sorted(by_source):
        tables = [pair for parts in by_source[name].values() if (pair := _snapshots(parts))]
        pairs += draw.sample(tables, min(PER_SOURCE, len(tables)))
    return draw.sample(pairs, min(most, len(pairs)))


def _snapshots(parts: Sequence[Table]) -> Pair | None:
    """Return two slices of a file with the same headers, or the odd and the even rows of one."""
    first = parts[0]
    headers = [column.name for column in first.columns]
    for other in parts[1:]:
        enough = min(len(each.columns[0].values) for each in (first, other)) >= LEAST_ROWS
        if enough and headers == [column.name for column in other.columns]:
            return first, other
    if len(first.columns[0].values) < 2 * LEAST_ROWS:
        return None
    halves = [
        replace(first, columns=tuple(Column(c.name, c.values[start::2]) for c in first.columns))
        for start in (0, 1)
    ]
    return halves[0], halves[1]


def _tables(file: Path) -> Iterator[Table]:
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        for line in lines:
            data = json.loads(line)
            rows = max((len(column["values"]) for column in data["columns"]), default=0)
            columns = tuple(
                Column(each["name"], tuple(map(str, each["values"])))
                for each in data["columns"]
                if len(each["values"]) == rows
            )
            if len(columns) == len(data["columns"]) and any(each.name for each in columns):
                yield Table(data["id"].partition("#")[0], columns, source=data["source"])


Made = tuple[Table, set[int]]


def _kind(column: Column) -> str:
    present = column.present
    if len(present) < LEAST_ROWS // 2 or len(set(present)) < 8:
        return ""
    if sum(cell.strip().lstrip("-").replace(".", "", 1).isdigit() for cell in present) == len(
        present
    ):
        return "number"
    return "text" if sum(any(map(str.isalpha, cell)) for cell in present) == len(present) else ""


def _with(table: Table, values: dict[int, tuple[str, ...]]) -> Made:
    columns = tuple(
        Column(column.name, values.get(index, column.values))
        for index, column in enumerate(table.columns)
    )
    return replace(table, columns=columns), set(values)


def _two_kinds(table: Table, draw: random.Random) -> tuple[int, int] | None:
    kinds = [_kind(column) for column in table.columns]
    numbers = [index for index, kind in enumerate(kinds) if kind == "number"]
    texts = [index for index, kind in enumerate(kinds) if kind == "text"]
    return (draw.choice(numbers), draw.choice(texts)) if numbers and texts else None


def _other_values(table: Table, draw: random.Random) -> Made | None:
    places = _two_kinds(table, draw)
    if places is None:
        return None
    to, source = draw.sample(places, 2)
    return _with(table, {to: table.columns[source].values})


def _exchanged(table: Table, draw: random.Random) -> Made | None:
    places = _two_kinds(table, draw)
    if places is None:
        return None
    first, second = (table.columns[place].values for place in places)
    return _with(table, {places[0]: second, places[1]: first})


def _are_notes(column: Column) -> bool:
    """Return whether most cells are sentences, or at least several words, and no addresses of the web."""
    several = sum(len(cell.split()) > 3 for cell in column.present)
    return 2 * several > len(column.present) and "://" not in "".join(column.present)


def _emails(table: Table, draw: random.Random) -> Made | None:
    """Put an e-mail address into every other cell of a column of texts that holds none."""
    texts = [
        index
        for index, column in enumerate(table.columns)
        if _kind(column) == "text" and "@" not in "".join(column.values) and _are_notes(column)
    ]
    if not texts:
        return None
    place = draw.choice(texts)
    values = [
        f"{cell}, write to {draw.choice(NAMES)}.{draw.choice(NAMES)}{number}@example.org"
        if number % 2
        else cell
        for number, cell in enumerate(table.columns[place].values)
    ]
    return _with(table, {place: tuple(values)})


def _other_type(table: Table, draw: random.Random) -> Made | None:
    kinds = Counter({index: 1 for index, column in enumerate(table.columns) if _kind(column)})
    if not kinds:
        return None
    place = draw.choice(sorted(kinds))
    rows = range(len(table.columns[place].values))
    if _kind(table.columns[place]) == "number":
        values = [
            f"20{draw.randint(10, 25)}-{draw.randint(1, 12):02}-{draw.randint(1, 28):02}"
            for _ in rows
        ]
    else:
        values = [f"{draw.uniform(-5, 900):.2f}" for _ in rows]
    return _with(table, {place: tuple(values)})


NAMES = ("ada", "bo", "cleo", "dana", "eli", "finn", "gus", "hana", "ivo", "jun", "kai", "lena")
CHANGES = {
    "values of another column": _other_values,
    "two columns exchanged": _exchanged,
    "e-mail addresses among notes": _emails,
    "another type": _other_type,
}


def _share(name: str, part: int, whole: int) -> Measurement:
    return Measurement(f"{name} ({part} of {whole})", "share", Runs((part / max(whole, 1),)))
