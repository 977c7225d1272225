"""Files that real life produces and readers trip over, written on demand.

`REFUSED` names those that hold no table: reading them must raise `UnreadableTable`. All others must give
at least one table.
"""

import bz2
import gzip
import io
import json
import os
import sqlite3
import struct
import zipfile
from pathlib import Path

CSV = "id,name,price\n" + "".join(f"{row},Item {row},{row}.50\n" for row in range(1, 31))
REFUSED = (
    "empty.csv",
    "blank.csv",
    "photo.csv",
    "program.csv",
    "random.csv",
    "folder.csv",
    "pipe.csv",
    "half.parquet",
    "broken.xlsx",
    "encrypted.zip",
    "no_tables.zip",
    "nested.zip",
    "nothing_unpacked.csv.gz",
    "garbage.sqlite",
    "no_tables.sqlite",
    "garbage.duckdb",
    "no_record.json",
    "empty_list.json",
    "deep.json",
    "garbage.arrow",
    "zeros.csv.gz",
    "archive.tar",
)


def write_nasty_files(folder: Path) -> dict[str, Path]:
    """Write every nasty file into `folder`; return their paths by file name."""
    files = {**_texts(), **_binaries(), **_archives(), **_documents()}
    for name, content in files.items():
        (folder / name).write_bytes(content)
    (folder / "folder.csv").mkdir()
    os.mkfifo(folder / "pipe.csv")
    (folder / "loop").symlink_to(folder, target_is_directory=True)
    _write_databases(folder)
    (folder / "half.parquet").write_bytes(_parquet()[:-200])
    return {path.name: path for path in sorted(folder.iterdir()) if path.name != "loop"}


def _texts() -> dict[str, bytes]:
    wide = ",".join(f"column {index}" for index in range(12_000))
    return {
        "empty.csv": b"",
        "blank.csv": b"  \n\n \t \n",
        "header_only.csv": b"id,name,price\n",
        "one_column.csv": b"city\nParis\nRome\nOslo\n",
        "one_cell.csv": b"hello",
        "ragged.csv": b"id,name,city\n1,Ann\n2,Bob,Oslo,extra,cells\n3\n4,Eve,Rome\n5,Max,Bonn\n",
        "duplicate_headers.csv": b"id,name,name,,name\n1,a,b,c,d\n2,e,f,g,h\n",
        "semicolons.csv": b"id;price\n1;2,50\n2;3,75\n3;1,00\n",
        "utf8_bom.csv": b"\xef\xbb\xbf" + "id,città\n1,Forlì\n2,Cantù\n".encode(),
        "utf16_le.csv": CSV.encode("utf-16"),
        "utf16_be_no_bom.csv": CSV.encode("utf-16-be"),
        "latin1.csv": "id,ville\n1,Orléans\n2,Nîmes\n3,Besançon\n".encode("latin-1"),
        "mixed_encodings.csv": "id,ville\n1,Orléans\n".encode() + "2,Nîmes\n".encode("latin-1"),
        "nul_bytes.csv": b"id,name\n1,An\0n\n2,Bob\n3,Eve\n",
        "old_mac.csv": CSV.replace("\n", "\r").encode(),
        "huge_cell.csv": b'id,text\n1,"' + b"word " * 200_000 + b'"\n2,short\n',
        "many_columns.csv": f"{wide}\n{wide.replace('column', 'value')}\n".encode(),
        "unclosed_quote.csv": b'id,name\n1,"Ann\n2,Bob\n3,Eve\n',
        "preamble.csv": b"Sales report\n# made by hand\n\nid,name,price\n1,Tea,3.5\n2,Rum,9.0\n",
        "no_header.csv": b"1,Ann,1990-01-02\n2,Bob,1985-11-30\n3,Eve,1979-06-01\n",
    }


def _binaries() -> dict[str, bytes]:
    scrambled = bytes((index * index * 31 + index // 7) % 256 for index in range(5000))
    return {
        "photo.csv": b"\x89PNG\r\n\x1a\n" + scrambled,
        "program.csv": b"\x7fELF\x02\x01\x01" + scrambled,
        "random.csv": b"a" + scrambled,
        "garbage.arrow": b"ARROW1\0\0" + scrambled,
        "garbage.duckdb": b"\0" * 8 + b"DUCK" + scrambled,
        "garbage.sqlite": b"SQLite format 3\0" + scrambled,
        "archive.tar": b"a.csv".ljust(257, b"\0") + b"ustar\0" + b"\0" * 1000,
    }


def _archives() -> dict[str, bytes]:
    packed = gzip.compress(CSV.encode() * 40)
    return {
        "truncated.csv.gz": packed[: len(packed) // 2],
        "nothing_unpacked.csv.gz": packed[:5],
        "zeros.csv.gz": gzip.compress(b"\0" * 2_000_000),
        "packed.csv.bz2": bz2.compress(CSV.encode()),
        "tables.zip": _zip({"a.csv": CSV.encode(), "b.json": b'[{"x": 1}]', "notes.pdf": b"%PDF"}),
        "no_tables.zip": _zip({"readme.md": b"hello"}),
        "nested.zip": _zip({"inner.zip": _zip({"a.csv": CSV.encode()})}),
        "encrypted.zip": _mark_encrypted(_zip({"a.csv": CSV.encode()})),
        "broken.xlsx": _zip({"xl/workbook.xml": b"<workbook/>"})[:60],
    }


def _documents() -> dict[str, bytes]:
    records = [{"id": index, "name": f"Item {index}"} for index in range(50)]
    return {
        "truncated.json": json.dumps(records).encode()[:700],
        "no_record.json": b'[{"id": 1, "na',
        "empty_list.json": b"[]",
        "deep.json": b"[" * 100_000,
        "bad_line.jsonl": b'{"a": 1}\n{"a": 2}\n{"a": \n{"a": 4}\n',
        "surrogate.json": b'[{"name": "\\ud800 alone"}, {"name": "fine"}]',
    }


def _zip(members: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def _mark_encrypted(archive: bytes) -> bytes:
    """Set the flag that says a member needs a password, in both of its headers."""
    local, central = archive.index(b"PK\x03\x04") + 6, archive.index(b"PK\x01\x02") + 8
    marked = bytearray(archive)
    for place in (local, central):
        marked[place : place + 2] = struct.pack("<H", 1)
    return bytes(marked)


def _write_databases(folder: Path) -> None:
    with sqlite3.connect(folder / "no_tables.sqlite") as empty:
        empty.execute("CREATE TABLE t (a)")
        empty.execute("DROP TABLE t")
    empty.close()
    with sqlite3.connect(folder / "half_broken.sqlite") as database:
        database.execute("CREATE TABLE good (id INTEGER PRIMARY KEY, name TEXT)")
        database.executemany("INSERT INTO good (name) VALUES (?)", [("Ann",), ("Bob",)])
        database.execute("CREATE VIEW broken AS SELECT * FROM missing_table")
    database.close()


def _parquet() -> bytes:
    import pyarrow
    import pyarrow.parquet

    buffer = io.BytesIO()
    pyarrow.parquet.write_table(pyarrow.table({"id": list(range(1000))}), buffer)
    return buffer.getvalue()
