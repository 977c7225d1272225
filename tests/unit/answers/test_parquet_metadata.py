"""Metadata in Parquet files: written in place, read by others, nothing else touched."""

import datetime
import os
from dataclasses import replace
from pathlib import Path
from unittest.mock import patch

import duckdb
import numpy
import pandas
import polars
import pyarrow
import pyarrow.parquet
import pytest

from aegir.answers.annotation import ColumnAnnotation, TableAnnotation
from aegir.answers.parquet_metadata import (
    ANNOTATION_KEY,
    embed_annotation,
    update_parquet_metadata,
)
from aegir_rl.base.errors import UnreadableTable, UsageError
from parquet_answers import embedded_annotation, metadata_of

MOMENT = datetime.datetime(2024, 5, 1, 13, 30)
RICH = pyarrow.table(
    {
        "zoned": pyarrow.array([MOMENT, None] * 50, pyarrow.timestamp("us", "Europe/Paris")),
        "nanoseconds": pyarrow.array(range(100), pyarrow.timestamp("ns")),
        "duration": pyarrow.array(range(100), pyarrow.duration("s")),
        "category": pyarrow.array(["a", "b"] * 50).dictionary_encode(),
        "large": pyarrow.array(["x"] * 100, pyarrow.large_string()),
        "fixed": pyarrow.array([b"1234"] * 100, pyarrow.binary(4)),
        "money": pyarrow.array([None] * 100, pyarrow.decimal128(20, 3)),
        "half": pyarrow.array([numpy.float16(0.5)] * 100),
        "nested": pyarrow.array([[{"k": 1}], []] * 50),
    }
)
COLUMN = ColumnAnnotation(
    0, "id", "key", 0.9, "identifier", None, 0.8, "key", "integer", False, reasons=("it's",)
)


def answer(warning: str) -> TableAnnotation:
    return TableAnnotation("t.parquet", "caf\udce9/t.parquet", 0, (COLUMN,), "rules", (warning,))


@pytest.mark.parametrize("compression", ["none", "snappy", "zstd"])
def test_schema_data_and_other_metadata_stay_exactly_as_they_were(
    tmp_path: Path, compression: str
) -> None:
    path = tmp_path / "rich.parquet"
    pyarrow.parquet.write_table(
        RICH.replace_schema_metadata({"mine": "kept"}),
        path,
        row_group_size=30,
        compression=compression,
        write_page_index=True,
    )
    before, before_bytes = pyarrow.parquet.ParquetFile(path), path.read_bytes()
    table = before.read()
    update_parquet_metadata(path, {"added": "1"})
    after = pyarrow.parquet.ParquetFile(path)
    assert after.schema_arrow.equals(before.schema_arrow)
    assert after.schema.equals(before.schema)
    assert after.read().equals(table)
    assert after.metadata.metadata == {**before.metadata.metadata, b"added": b"1"}
    assert b"ARROW:schema" in after.metadata.metadata
    for group in range(before.num_row_groups):
        assert after.metadata.row_group(group).equals(before.metadata.row_group(group))
    data = len(before_bytes) - 8 - int.from_bytes(before_bytes[-8:-4], "little")
    assert path.read_bytes()[:data] == before_bytes[:data]


def test_pandas_reads_back_the_frame_it_wrote(tmp_path: Path) -> None:
    path = tmp_path / "frame.parquet"
    frame = pandas.DataFrame(
        {"size": pandas.Categorical(["s", "m"]), "at": pandas.to_datetime([MOMENT] * 2, utc=True)},
        index=pandas.Index(["x", "y"], name="key"),
    )
    frame.to_parquet(path)
    update_parquet_metadata(path, {"added": "1"})
    pandas.testing.assert_frame_equal(pandas.read_parquet(path), frame)


@pytest.mark.parametrize("writer", ["duckdb", "polars", "pyarrow"])
def test_files_of_every_writer_are_read_by_every_reader(tmp_path: Path, writer: str) -> None:
    path = tmp_path / "it's [1].parquet"
    frame = polars.DataFrame({"id": [1, 2, None], "name": ["Ann", "Bøb", "'"]})
    if writer == "duckdb":
        with duckdb.connect() as connection:
            connection.execute(f"COPY frame TO '{tmp_path}/d.parquet' (FORMAT parquet)")
        (tmp_path / "d.parquet").rename(path)
    elif writer == "polars":
        frame.write_parquet(path)
    else:
        pyarrow.parquet.write_table(frame.to_arrow(), path)
    update_parquet_metadata(path, {"aegir": '{"type": "O\'Neil"}', "other": "1"})
    update_parquet_metadata(path, {"other": "2"})
    held = {"aegir": '{"type": "O\'Neil"}', "other": "2"}
    assert metadata_of(path).items() >= held.items()
    stored = pyarrow.parquet.read_metadata(path).metadata
    assert stored[b"aegir"] == held["aegir"].encode()
    escaped = str(path).replace("'", "''").replace("[", "[[]")
    query = f"SELECT decode(key), decode(value) FROM parquet_kv_metadata('{escaped}')"
    assert dict(duckdb.sql(query).fetchall()).items() >= held.items()
    assert polars.read_parquet(path, glob=False).equals(frame)
    assert [entry.name for entry in tmp_path.iterdir()] == [path.name]


def test_an_annotation_embedded_again_replaces_the_first(tmp_path: Path) -> None:
    path, link = tmp_path / "t.parquet", tmp_path / "link.parquet"
    polars.DataFrame({"id": [1]}).write_parquet(path)
    path.chmod(0o640)
    link.symlink_to(path)
    assert embedded_annotation(path) is None
    embed_annotation(path, answer("first"))
    size = path.stat().st_size
    embed_annotation(link, answer("again"))
    expected = replace(answer("again"), source=r"caf\xe9/t.parquet")
    assert embedded_annotation(link) == embedded_annotation(path) == expected
    assert path.stat().st_size == size  # the two words are equally long
    assert link.is_symlink()
    assert path.stat().st_mode & 0o777 == 0o640
    keys = duckdb.sql(f"SELECT key FROM parquet_kv_metadata('{path}')").fetchall()
    assert keys.count((ANNOTATION_KEY.encode(),)) == 1


def test_forty_keys_are_kept_beside_a_new_one(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    polars.DataFrame({"id": [1]}).write_parquet(path)
    many = {f"key {number}": "v" * number for number in range(40)}
    update_parquet_metadata(path, many)
    update_parquet_metadata(path, {"more": ""})
    assert metadata_of(path).items() >= {**many, "more": ""}.items()
    assert len(pyarrow.parquet.read_metadata(path).metadata) >= 41


@pytest.mark.parametrize("fails", ["replace", "fsync"])
def test_a_failed_write_leaves_the_old_file_and_no_other(tmp_path: Path, fails: str) -> None:
    path = tmp_path / "t.parquet"
    polars.DataFrame({"id": [1]}).write_parquet(path)
    before = path.read_bytes()
    place = {"replace": Path, "fsync": os}[fails]
    full = OSError(28, "No space left on device")
    with (
        patch.object(place, fails, side_effect=full),
        pytest.raises(UsageError, match=r"t\.parquet cannot be written \(No space left"),
    ):
        update_parquet_metadata(path, {"a": "b"})
    assert [entry.name for entry in tmp_path.iterdir()] == ["t.parquet"]
    assert path.read_bytes() == before


@pytest.mark.parametrize("how", ["replaced", "written to", "removed"])
def test_a_file_that_changes_meanwhile_is_left_as_it_is(tmp_path: Path, how: str) -> None:
    path, other = tmp_path / "t.parquet", tmp_path / "other"
    polars.DataFrame({"id": [1]}).write_parquet(path)
    polars.DataFrame({"id": [2]}).write_parquet(other)
    expected = None if how == "removed" else other.read_bytes()

    def change(handle: int) -> None:
        if how == "replaced":
            other.replace(path)
        elif how == "written to":
            path.write_bytes(other.read_bytes())
        else:
            path.unlink()

    with (
        patch.object(os, "fsync", change),
        pytest.raises(UsageError, match=r"t\.parquet was changed by another program"),
    ):
        update_parquet_metadata(path, {"a": "b"})
    assert (path.read_bytes() if path.exists() else None) == expected
    assert not list(tmp_path.glob(".*"))


def test_a_file_cut_anywhere_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    polars.DataFrame({"id": [1, 2, 3]}).write_parquet(path)
    whole = path.read_bytes()
    for length in range(4, len(whole)):
        path.write_bytes(whole[:length])
        with pytest.raises(UnreadableTable, match="it may be cut short"):
            update_parquet_metadata(path, {ANNOTATION_KEY: "x"})
        assert path.read_bytes() == whole[:length]


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"hello, this is not a Parquet file", r"t\.parquet is not a Parquet file"),
        (b"", r"t\.parquet is not a Parquet file"),
        (b"PARE" + b"x" * 20 + b"PARE", "is an encrypted Parquet file; decrypt it first"),
        (b"PAR1" + b"x" * 20 + b"PARE", "is an encrypted Parquet file; decrypt it first"),
        (b"PAR1\xff\xff\0\0PAR1", "broken footer .it is longer than the file"),
        (
            b"PAR1\x15\x02\0\0\x04\0\0\0PAR1",
            "broken footer .it goes on behind its end, at byte 3 of 4",
        ),
    ],
)
def test_what_cannot_be_embedded_into_is_refused(
    tmp_path: Path, content: bytes, sentence: str
) -> None:
    path = tmp_path / "t.parquet"
    path.write_bytes(content)
    with pytest.raises(UnreadableTable, match=sentence):
        update_parquet_metadata(path, {"a": "b"})
    assert path.read_bytes() == content


def test_columns_encrypted_under_a_plain_footer_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    footer = b"\x15\x02" + b"\x7c\0" + b"\0"  # version 1, an empty struct as field 8
    path.write_bytes(b"PAR1" + footer + len(footer).to_bytes(4, "little") + b"PAR1")
    with pytest.raises(UnreadableTable, match="encrypted columns"):
        update_parquet_metadata(path, {"a": "b"})
