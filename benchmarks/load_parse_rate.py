"""How many values of everyday tables do load scripts parse? Writes tables as CSV, runs the script of each in DuckDB, counts.

    python benchmarks/load_parse_rate.py FOLDER --tables 500

FOLDER holds *.jsonl.gz with a table per line: {"columns": [{"name": …, "values": […]}]}. Printed are the share of present values
that parse (of typed columns, and of all), the share of columns with a type, and the tables whose rows are not all there.
"""

import argparse
import csv
import gzip
import json
import random
import tempfile
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import duckdb

import aegir
from aegir.answers.load_script import loaded_notation
from aegir.tables.readers import read_tables
from aegir_rl.base.errors import AegirError


def tables_in(folder: Path, count: int, seed: int) -> Iterator[list[list[str]]]:
    """Rows of tables, an equal number from each file."""
    files = sorted(folder.glob("*.jsonl.gz"))
    each = -(-count // len(files))
    for path in files:
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            tables = [json.loads(line) for line in islice(lines, 40 * each)]
        for table in random.Random(seed).sample(tables, min(each, len(tables))):
            columns = table["columns"]
            header = [column["name"] or "" for column in columns]
            yield [header, *map(list, zip(*(column["values"] for column in columns), strict=False))]


def measure(path: Path, totals: Counter[str]) -> None:
    """Load one file and count what became of its values."""
    (answer,) = aegir.annotate(path, memory=False)
    (table,) = read_tables(path)
    connection = duckdb.connect()
    connection.execute(answer_script(answer))
    totals["tables"] += 1
    (loaded,) = connection.execute("SELECT count(*) FROM t").fetchone() or (0,)
    totals["tables with other rows"] += loaded != table.total_rows
    for index, column in enumerate(table.columns):
        typed = loaded_notation(answer, index).datatype != "string"
        totals["columns"] += 1
        totals["typed columns"] += typed
        totals["columns that look typed"] += answer.columns[index].datatype not in (
            "string",
            "empty",
        )
        totals["typed values" if typed else "text values"] += len(column.present)
    (unparsed,) = connection.execute(
        "SELECT count(*) FROM t_unparsed WHERE column_name IS NOT NULL"
    ).fetchone() or (0,)
    totals["unparsed"] += unparsed


def answer_script(answer: object) -> str:
    """The load script of one answer."""
    from aegir.answers.writers import FORMATS

    return FORMATS["load"]([answer])  # type: ignore[list-item]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--tables", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    totals: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "t.csv")
        for rows in tables_in(given.folder, given.tables, given.seed):
            with path.open("w", newline="", encoding="utf-8", errors="replace") as file:
                csv.writer(file).writerows(rows)
            try:
                measure(path, totals)
            except (AegirError, duckdb.Error) as error:
                totals["failed"] += 1
                print(type(error).__name__, str(error)[:300].replace("\n", " "))
    print(json.dumps(totals, indent=2))
    values = totals["typed values"]
    print(f"parsed: {1 - totals['unparsed'] / max(1, values):.5f} of the values of typed columns")
    print(f"parsed: {1 - totals['unparsed'] / max(1, values + totals['text values']):.5f} of all")


if __name__ == "__main__":
    main()
