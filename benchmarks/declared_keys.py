"""How many of the declared keys of databases are found with the declarations hidden, and how many found ones are declared?

The databases of key_databases.txt have the tables, headers, keys and numbers of rows of well-known sample databases, and invented rows: a
SQLite file without declarations is written and annotated. With `--data FOLDER`, every folder in it that has a file keys.tsv is a database,
too: its other files are tables, and a line of keys.tsv is `table column other_table other_column` for a foreign key and `table column,column` for a
primary key.

Foreign keys of one column are compared, and the whole primary key.
"""

import random
import re
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

from aegir.answers.annotation import TableAnnotation
from aegir.pipeline.run import annotate
from aegir_rl.base.errors import UsageError
from aegir_rl.base.seeding import Seeds
from benchmarks.measuring import Runs
from benchmarks.options import Options
from benchmarks.result import Measurement, Result, at_least

QUESTION = "declared foreign and primary keys that are found with the declarations hidden"
SCHEMAS = Path(__file__).with_name("key_databases.txt")
PRECISION, RECALL = 0.9, 0.7
_COLUMN = re.compile(r"(?P<name>\w+?)(?P<key>!)?(?P<kind>[$#%])?(?:>(?P<to>\w+))?(?P<missing>\?)?")
_WORDS = "amber birch cedar delta ember fjord grove harbor island juniper kestrel lagoon".split()  # noqa: SIM905

Link = tuple[str, str, str, str]


@dataclass
class Declared:
    """The keys of a database, all names in lower case."""

    foreign: set[Link] = field(default_factory=set)
    primary: dict[str, tuple[str, ...]] = field(default_factory=dict)


def run(options: Options) -> Result:
    """Annotate every database, and compare."""
    measurements = []
    totals = [0, 0, 0, 0, 0]
    with tempfile.TemporaryDirectory() as folder:
        databases = dict(invented_databases(Path(folder), options.seed))
        if options.data is not None:
            databases |= dict(_given_databases(options.data))
        for name, (source, declared) in databases.items():
            counts = compare_keys(annotate(source).tables, declared)
            totals = [total + count for total, count in zip(totals, counts, strict=True)]
            measurements += _shares(name, counts)
    overall = _shares("all databases", totals)
    return Result(
        benchmark="declared_keys",
        question=QUESTION,
        data=f"{len(databases)} databases: {', '.join(databases)}",
        measurements=(*measurements, *overall),
        ratios=(),
        targets=(at_least(overall[0], PRECISION), at_least(overall[1], RECALL)),
        settings={"rows": 200},
    )


def compare_keys(tables: tuple[TableAnnotation, ...], declared: Declared) -> list[int]:
    """Return counts: right, found and declared foreign keys; right and declared primary keys."""
    found: set[Link] = set()
    right = 0
    for table in tables:
        names = [(column.name or "").lower() for column in table.columns]
        found |= {
            (
                _plain(table.table),
                names[key.columns[0]],
                _plain(key.table),
                str(key.names[0]).lower(),
            )
            for key in table.foreign_keys
        }
        if table.primary_key is not None:
            answered = {names[column] for column in table.primary_key.columns}
            right += answered == set(declared.primary.get(_plain(table.table), ()))
    return [
        len(found & declared.foreign),
        len(found),
        len(declared.foreign),
        right,
        len(declared.primary),
    ]


def invented_databases(folder: Path, seed: int) -> Iterator[tuple[str, tuple[Path, Declared]]]:
    """Write the databases of key_databases.txt with invented rows, and yield them with their keys."""
    parts = re.split(r"^\[(\w+)\]\n", SCHEMAS.read_text("utf-8"), flags=re.MULTILINE)
    for name, text in zip(parts[1::2], parts[2::2], strict=True):
        draw = random.Random(Seeds(seed).derive("keys", len(name)))
        path = folder / f"{name}.db"
        yield name, (path, _write_database(path, text.strip().split("\n"), draw))


def _write_database(path: Path, lines: list[str], draw: random.Random) -> Declared:
    declared = Declared()
    heads = [line.partition(": ") for line in lines]
    columns = {
        head.split()[0]: [_parsed(column) for column in rest.split()] for head, _, rest in heads
    }
    sizes = {head.split()[0]: int(head.split()[1]) for head, _, _ in heads}
    keys = {table: _key_values(parsed[0], sizes[table], draw) for table, parsed in columns.items()}
    with closing(sqlite3.connect(path)) as connection:
        for table, parsed in columns.items():
            cells = _unique_rows(table, parsed, sizes, keys, draw)
            names = ", ".join(f'"{each["name"]}"' for each in parsed)
            marks = ", ".join("?" for _ in parsed)
            connection.execute(f'CREATE TABLE "{table}" ({names})')
            connection.executemany(f'INSERT INTO "{table}" VALUES ({marks})', cells)
            key = tuple(each["name"].lower() for each in parsed if each["key"])
            declared.primary[table.lower()] = key
            for each in parsed:
                if each["to"]:
                    other = columns[each["to"]][0]["name"].lower()
                    link = (table.lower(), each["name"].lower(), each["to"].lower(), other)
                    declared.foreign.add(link)
        connection.commit()
    return declared


def _parsed(text: str) -> dict[str, str]:
    match = _COLUMN.fullmatch(text)
    assert match, text
    return {name: value or "" for name, value in match.groupdict().items()}


def _key_values(column: dict[str, str], count: int, draw: random.Random) -> list[object]:
    if column["kind"] != "$":
        return list(range(1, count + 1))
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
    texts: dict[object, None] = {}
    while len(texts) < count:
        texts["".join(draw.choices(letters, k=5))] = None
    return list(texts)


def _unique_rows(
    table: str,
    parsed: list[dict[str, str]],
    sizes: dict[str, int],
    keys: dict[str, list[object]],
    draw: random.Random,
) -> list[tuple[object, ...]]:
    """Return rows that differ in their key."""
    single = sum(bool(each["key"]) for each in parsed) == 1 and not parsed[0]["to"]
    rows: dict[object, tuple[object, ...]] = {}
    tries = 0
    while len(rows) < sizes[table] and tries < 20 * sizes[table]:
        tries += 1
        number = len(rows)
        row = tuple(
            keys[table][number] if single and each["key"] else _cell(each, keys, draw)
            for each in parsed
        )
        key = tuple(cell for cell, each in zip(row, parsed, strict=True) if each["key"])
        rows.setdefault(key, row)
    return list(rows.values())


def _cell(column: dict[str, str], keys: dict[str, list[object]], draw: random.Random) -> object:
    if column["missing"] and draw.random() < 0.4:
        return None
    if column["to"]:
        values = keys[column["to"]]
        return values[min(int(draw.betavariate(1, 1.5) * len(values)), len(values) - 1)]
    if column["kind"] == "#":
        return draw.randint(1, 500)
    if column["kind"] == "%":
        return round(draw.uniform(0.5, 90), 2)
    if column["name"].lower().endswith(("date", "update")):
        return f"20{draw.randint(10, 25)}-{draw.randint(1, 12):02}-{draw.randint(1, 28):02}"
    return " ".join(draw.choices(_WORDS, k=draw.randint(1, 3)))


def _given_databases(folder: Path) -> Iterator[tuple[str, tuple[list[Path], Declared]]]:
    for file in sorted(folder.glob("*/keys.tsv")):
        declared = Declared()
        for line in file.read_text("utf-8").lower().split("\n"):
            parts = line.split()
            if len(parts) == 4:
                declared.foreign.add((parts[0], parts[1], parts[2], parts[3]))
            elif len(parts) == 2:
                declared.primary[parts[0]] = tuple(parts[1].split(","))
            elif parts:
                raise UsageError(f"{file}: {line!r} has {len(parts)} words; expected 2 or 4")
        tables = [path for path in sorted(file.parent.iterdir()) if path != file]
        yield file.parent.name, (tables, declared)


def _plain(table: str) -> str:
    """Return the name of a table without its file or suffix."""
    return table.rpartition("#")[2].partition(".")[0].lower()


def _shares(name: str, counts: list[int]) -> list[Measurement]:
    right, found, declared, keys, tables = counts
    shares = [("precision", right, found), ("recall", right, declared)]
    texts = [(f"{name}: {what} of foreign keys ({a} of {b})", a, b) for what, a, b in shares]
    texts.append((f"{name}: primary keys found ({keys} of {tables})", keys, tables))
    return [Measurement(text, "share", Runs((a / b,))) for text, a, b in texts if b]
