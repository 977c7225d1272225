"""Avro and ORC files, which need an extra: `pip install 'aegir-tables[avro]'` or `[orc]`.

Records of Avro and their nested values are read as those of JSON are (nesting.py). An Avro file has no index, so all of its
blocks are decoded, `SCANNED_ROWS` records at most, and a reservoir of them is kept. Stripes of ORC are read one at a time by
PyArrow and sampled by DuckDB, as Arrow data is.
"""

from collections.abc import Iterator
from contextlib import ExitStack
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from typing import Any

from aegir.tables.assembling import Request
from aegir.tables.columnar import read_opened
from aegir.tables.formats import Format
from aegir.tables.nesting import Columns, nested_tables
from aegir.tables.table import Table
from aegir_rl.base.errors import UnreadableTable, reason_of

SCANNED_ROWS = 1_000_000
PACKAGES = {Format.AVRO: "fastavro", Format.ORC: "pyarrow"}


def read_extra(path: Path, format_: Format, request: Request) -> Iterator[Table]:
    """Yield the tables of an Avro or ORC file; raise `UnreadableTable` if its extra is not installed."""
    if find_spec(PACKAGES[format_]) is None:
        extra = f"aegir-tables[{format_.lower()}]"
        raise UnreadableTable(
            f"{request.label} is {format_} data; to read it: pip install '{extra}', or convert it to Parquet"
        )
    yield from _read_avro(path, request) if format_ is Format.AVRO else _read_orc(path, request)


def _read_avro(path: Path, request: Request) -> Iterator[Table]:
    import fastavro

    generator = request.generator("rows")
    with path.open("rb") as file:
        try:
            records = islice(iter(fastavro.reader(file)), SCANNED_ROWS)
            sampled: list[tuple[int, Any]] = list(enumerate(islice(records, request.rows)))
            seen = len(sampled)
            for record in records:
                seen += 1
                slot = int(generator.integers(seen))
                if slot < request.rows:
                    sampled[slot] = (seen - 1, record)
        except (UnreadableTable, MemoryError):
            raise
        except Exception as error:  # fastavro raises whatever its decoders stumble over
            raise UnreadableTable(
                f"{request.label} is Avro data that cannot be read ({reason_of(error)})"
            ) from error
    rows = [record for _, record in sorted(sampled, key=lambda pair: pair[0])]
    rows = [row if isinstance(row, dict) else {"": row} for row in rows]
    warnings = []
    if seen == SCANNED_ROWS:
        warnings.append(f"only the first {SCANNED_ROWS:,} records were read")
    if not any(rows):
        raise UnreadableTable(f"{request.label} is Avro data without records")
    total = None if warnings else seen
    yield from nested_tables(Columns.of_records(rows, total, warnings, typed=True), request)


def _read_orc(path: Path, request: Request) -> list[Table]:
    import pyarrow
    import pyarrow.orc

    def open_stream(_: ExitStack) -> Any:
        file = pyarrow.orc.ORCFile(str(path))
        stripes = (file.read_stripe(index) for index in range(file.nstripes))
        return pyarrow.RecordBatchReader.from_batches(file.schema, stripes)

    return read_opened(open_stream, request, "ORC data")
