"""Key-value metadata in Parquet files: where an annotation travels with its table.

Promises
  - `source` and `target` may be the same file: the copy is written beside it and renamed over it at
    once, so a crash leaves the old file;
  - the data stream through DuckDB row group by row group, whatever their size;
  - metadata already there is kept, and a key given again gets its new value.

Limits: the copy has DuckDB's compression (zstd) and row groups, not the original's. pandas' and
Arrow's own schema notes are dropped: they describe the layout of the original file.
"""

import json
import os
import uuid
from collections.abc import Mapping
from pathlib import Path

from aegir.errors import AskedWrongly, UnreadableTable
from aegir.tables.annotation import TableAnnotation
from aegir.tables.annotation_dict import annotation_as_dict, annotation_from_dict
from aegir.tables.engine import (
    connect,
    duckdb_errors,
    first_sentence,
    open_connection,
    quote_path,
    quote_text,
)

LAYOUT_KEYS = ("ARROW:schema", "pandas")
ANNOTATION_KEY = "aegir.annotation"


def write_parquet_metadata(source: Path, target: Path, metadata: Mapping[str, str]) -> None:
    """Copy a Parquet file to `target` with these keys in its metadata."""
    kept = {
        key: value for key, value in read_parquet_metadata(source).items() if key not in LAYOUT_KEYS
    }
    pairs = ", ".join(
        f"{quote_text(key)}: {quote_text(value)}" for key, value in {**kept, **metadata}.items()
    )
    options = f"FORMAT parquet, COMPRESSION zstd, KV_METADATA {{{pairs}}}"
    partial = target.with_name(f".{target.name}.{uuid.uuid4().hex}.partial")
    copy = f"COPY (SELECT * FROM {_relation(source)}) TO {quote_text(str(partial))} ({options})"  # noqa: S608
    try:
        with open_connection(":memory:") as connection:
            connection.execute(copy)
        os.replace(partial, target)  # noqa: PTH105 (the same call, and the one whose atomicity is known)
    except duckdb_errors() as error:
        raise AskedWrongly(f"cannot write {target} ({first_sentence(error)})") from error
    except OSError as error:
        raise AskedWrongly(f"cannot write {target} ({error.strerror})") from error
    finally:
        partial.unlink(missing_ok=True)


def embed_annotation(path: Path, annotation: TableAnnotation) -> None:
    """Write an annotation into its own Parquet file, as JSON under ANNOTATION_KEY."""
    text = json.dumps(annotation_as_dict(annotation), ensure_ascii=False)
    file = path.resolve()  # a link stays a link
    write_parquet_metadata(file, file, {ANNOTATION_KEY: text})


def embedded_annotation(path: Path) -> TableAnnotation | None:
    """The annotation that `embed_annotation` left in the file, if any."""
    text = read_parquet_metadata(path).get(ANNOTATION_KEY)
    return None if text is None else annotation_from_dict(json.loads(text))


def read_parquet_metadata(path: Path) -> dict[str, str]:
    """The key-value metadata of a Parquet file."""
    query = f"SELECT key, value FROM parquet_kv_metadata({quote_path(path)})"  # noqa: S608
    try:
        rows = connect().execute(query).fetchall()
    except duckdb_errors() as error:
        raise UnreadableTable(
            f"{path} is not a Parquet file that can be read ({first_sentence(error)})"
        ) from error
    return {_text(key): _text(value) for key, value in rows}


def _text(raw: bytes | str) -> str:
    return raw.decode("utf-8", "replace") if isinstance(raw, bytes) else raw


def _relation(path: Path) -> str:
    return f"read_parquet({quote_path(path)})"
