"""Metadata in Parquet files: written in place, read by others, nothing else lost."""

from pathlib import Path

import polars
import pyarrow.parquet
import pytest

from aegir.errors import AskedWrongly, UnreadableTable
from aegir.tables.parquet_metadata import read_parquet_metadata, write_parquet_metadata


def test_metadata_is_written_in_place_and_pyarrow_reads_it(tmp_path: Path) -> None:
    path = tmp_path / "it's [1].parquet"
    frame = polars.DataFrame({"id": [1, 2, None], "name": ["Ann", "Bøb", "'"]})
    frame.write_parquet(path)
    write_parquet_metadata(path, path, {"aegir": '{"type": "O\'Neil"}', "other": "1"})
    write_parquet_metadata(path, path, {"other": "2"})
    assert read_parquet_metadata(path) == {"aegir": '{"type": "O\'Neil"}', "other": "2"}
    stored = pyarrow.parquet.read_metadata(path).metadata
    assert stored[b"aegir"] == b'{"type": "O\'Neil"}'
    assert polars.read_parquet(path, glob=False).equals(frame)
    assert [entry.name for entry in tmp_path.iterdir()] == [path.name]


def test_a_failed_write_leaves_the_old_file_and_no_other(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    polars.DataFrame({"id": [1]}).write_parquet(path)
    with pytest.raises(AskedWrongly, match="cannot write"):
        write_parquet_metadata(path, tmp_path / "missing" / "t.parquet", {"a": "b"})
    assert [entry.name for entry in tmp_path.iterdir()] == ["t.parquet"]


def test_what_is_not_parquet_is_named(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    path.write_text("hello, this is not a Parquet file")
    with pytest.raises(UnreadableTable, match=r"t\.parquet is not a Parquet file"):
        read_parquet_metadata(path)
