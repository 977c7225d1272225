"""Small files of every format, and seeded mutations of them.

    samples = sample_files()
    suffix, content = mutated_file(samples, Random("0/17"))     # always the same file

A mutation flips bits, overwrites, deletes, repeats or splices runs of bytes, cuts the file, or edits a
number that may be a length. Formats that would notice any of it are opened first: members of zip archives
and compressed data are mutated before they are packed, blocks of DuckDB files get a valid checksum again.
"""

import bz2
import gzip
import io
import lzma
import sqlite3
import struct
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from random import Random

import numpy as np

EXAMPLES = Path(__file__).parent.parent / "examples"
EXAMPLE_SUFFIXES = ("csv", "tsv", "json", "jsonl", "parquet", "xlsx")
NUMBERS = (0, 1, -1, 0x7F, 0xFF, 0xFFFF, 0x7FFFFFFF, -0x80000000, 1 << 20, 1 << 24)
TEXT_SNIPPETS = (
    b'"',
    b"'",
    b",",
    b"\n",
    b"\r",
    b"\0",
    b"\\",
    b"\xff\xfe",
    b"[{",
    b"}]",
    b"\x1b[31m",
)
DUCKDB_HEADERS, DUCKDB_BLOCK = 4096, 262144

Samples = dict[str, list[bytes]]


def mutated_file(samples: Samples, draw: Random) -> tuple[str, bytes]:
    """The suffix and the content of one mutated file."""
    suffix = draw.choice(sorted(samples))
    content = draw.choice(samples[suffix])
    other = draw.choice(samples[suffix])
    if suffix in ("xlsx", "ods", "zip") and draw.random() < 0.7:
        return suffix, _mutate_members(content, draw)
    packing = PACKINGS.get(suffix.rpartition(".")[2])
    if packing is not None and draw.random() < 0.5:
        pack, unpack = packing
        return suffix, pack(mutate(unpack(content), unpack(other), draw))
    mutated = mutate(content, other, draw)
    if suffix == "duckdb" and draw.random() < 0.8:
        mutated = _with_checksums(mutated)
    return suffix, mutated


def mutate(content: bytes, other: bytes, draw: Random) -> bytes:
    """One to four mutations; `other` is what spliced runs may be taken from."""
    data = bytearray(content)
    for _ in range(draw.choice((1, 1, 1, 2, 4))):
        draw.choice(MUTATIONS)(data, other, draw)
    return bytes(data)


def _flip_bits(data: bytearray, _: bytes, draw: Random) -> None:
    for _ in range(draw.randint(1, 8)):
        if data:
            data[draw.randrange(len(data))] ^= 1 << draw.randrange(8)


def _overwrite(data: bytearray, _: bytes, draw: Random) -> None:
    start, length = _run(data, draw)
    fill = draw.choice((b"\0", b"\xff", b"", b"A"))
    data[start : start + length] = fill * length if fill else draw.randbytes(length)


def _delete(data: bytearray, _: bytes, draw: Random) -> None:
    start, length = _run(data, draw)
    del data[start : start + length]


def _repeat(data: bytearray, _: bytes, draw: Random) -> None:
    start, length = _run(data, draw)
    data[start:start] = data[start : start + length] * draw.choice((1, 2, 50))


def _splice(data: bytearray, other: bytes, draw: Random) -> None:
    start, length = _run(other, draw)
    at = draw.randint(0, len(data))
    data[at : at + draw.choice((0, length))] = other[start : start + length]


def _cut(data: bytearray, _: bytes, draw: Random) -> None:
    del data[draw.randint(0, len(data)) :]


def _edit_number(data: bytearray, _: bytes, draw: Random) -> None:
    """Replace a small little-endian number, which may be a length, an offset or an index."""
    width = draw.choice((1, 2, 4, 8))
    for _ in range(200):
        at = draw.randrange(max(1, len(data) - width))
        at -= at % draw.choice((1, width))
        value = int.from_bytes(data[at : at + width], "little", signed=True)
        if abs(value) < 1 << 20:
            break
    value = draw.choice((*NUMBERS, value + 1, value - 1, value * 2, value << 16, 1 << 62))
    data[at : at + width] = (value & ((1 << 8 * width) - 1)).to_bytes(width, "little")


def _insert_snippets(data: bytearray, _: bytes, draw: Random) -> None:
    snippet = draw.choice(TEXT_SNIPPETS) * draw.choice((1, 2, 1000))
    at = draw.randint(0, len(data))
    data[at:at] = snippet


MUTATIONS: tuple[Callable[[bytearray, bytes, Random], None], ...] = (
    *(_flip_bits, _overwrite, _delete, _repeat, _splice, _cut),
    *(_edit_number, _edit_number, _edit_number, _insert_snippets),
)


def _run(data: bytes | bytearray, draw: Random) -> tuple[int, int]:
    """Where a run of bytes starts and how long it is; short ones are more likely."""
    length = min(len(data), int(2 ** draw.uniform(0, 10)))
    return draw.randint(0, len(data) - length), length


def _mutate_members(content: bytes, draw: Random) -> bytes:
    """The archive with one member mutated; now and then its directory also states a false size."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    chosen = draw.choice(sorted(members))
    members[chosen] = mutate(members[chosen], draw.choice(sorted(members.values())), draw)
    packed = bytearray(zipped(members))
    if draw.random() < 0.1:
        true = struct.pack("<I", len(members[chosen]))
        packed = packed.replace(true, struct.pack("<I", draw.choice((0, 1, 1 << 31))))
    return bytes(packed)


def zipped(members: dict[str, bytes]) -> bytes:
    """A zip archive of these members."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(
                zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED
            )  # no time of writing
    return buffer.getvalue()


def _with_checksums(content: bytes) -> bytes:
    """A DuckDB file whose headers and blocks have valid checksums, so that their content is parsed."""
    data = bytearray(content)
    starts = [(start, DUCKDB_HEADERS) for start in range(0, 3 * DUCKDB_HEADERS, DUCKDB_HEADERS)]
    blocks = range(3 * DUCKDB_HEADERS, len(data), DUCKDB_BLOCK)
    for start, size in (*starts, *((start, DUCKDB_BLOCK) for start in blocks)):
        if start + size <= len(data):
            words = np.frombuffer(data[start + 8 : start + size], "<u8")
            mixed = np.bitwise_xor.reduce(words * np.uint64(0xBF58476D1CE4E5B9))
            data[start : start + 8] = struct.pack("<Q", int(mixed) ^ 5381)
    return bytes(data)


def _zstd_packing() -> tuple[Callable[[bytes], bytes], Callable[[bytes], bytes]]:
    try:
        from compression import zstd
    except ImportError:
        from backports import zstd
    return zstd.compress, zstd.decompress


PACKINGS = {
    "gz": (lambda content: gzip.compress(content, mtime=0), gzip.decompress),
    "bz2": (bz2.compress, bz2.decompress),
    "xz": (lzma.compress, lzma.decompress),
    "zst": _zstd_packing(),
}


def sample_files() -> Samples:
    """Small files of every format by suffix: the examples, and what can be written here."""
    samples: Samples = {
        suffix: [path.read_bytes() for path in sorted(EXAMPLES.glob(f"*.{suffix}"))]
        for suffix in EXAMPLE_SUFFIXES
    }
    text = samples["csv"][0]
    with tempfile.TemporaryDirectory() as folder:
        samples["sqlite"] = [_sqlite(Path(folder))]
        samples["duckdb"] = [_duckdb(Path(folder))]
        samples["parquet"] += _parquet(Path(folder))
    samples |= {f"csv.{ending}": [pack(text)] for ending, (pack, _) in PACKINGS.items()}
    samples["zip"] = [zipped({"a.csv": text, "b.json": samples["json"][0], "c.txt": b"a;b\n1;2\n"})]
    samples["ods"] = [_ods()]
    samples["xls"] = [_xls()]
    samples |= _arrow()
    return samples


def _sqlite(folder: Path) -> bytes:
    path = folder / "sample.sqlite"
    with sqlite3.connect(path) as database:
        database.execute(
            "CREATE TABLE items (id INTEGER PRIMARY KEY, name TEXT, price REAL, photo BLOB)"
        )
        rows = [(number, f"Item {number}", number / 3, bytes([number])) for number in range(100)]
        database.executemany("INSERT INTO items VALUES (?, ?, ?, ?)", rows)
        database.execute("CREATE TABLE pairs (a TEXT PRIMARY KEY, b) WITHOUT ROWID")
        database.execute("INSERT INTO pairs VALUES ('x', 1), ('y', NULL)")
        database.execute("CREATE VIEW cheap AS SELECT name FROM items WHERE price < 3")
        database.execute("CREATE INDEX by_name ON items (name)")
    database.close()
    return path.read_bytes()


def _duckdb(folder: Path) -> bytes:
    import duckdb

    path = folder / "sample.duckdb"
    with duckdb.connect(str(path)) as database:
        database.execute(
            "CREATE TABLE items AS SELECT range AS id, 'Item ' || range AS name, range / 3 AS price, "
            "{'a': range, 'b': [range, 1]} AS nested, (range % 3)::VARCHAR AS category "
            "FROM range(300)"
        )
        database.execute("CREATE VIEW cheap AS SELECT name FROM items WHERE price < 3")
    return path.read_bytes()


def _parquet(folder: Path) -> list[bytes]:
    import duckdb

    contents = []
    rows = (
        "SELECT range AS id, 'Item ' || (range % 7) AS name, [range, 2] AS list, "
        "{'k': range, 'm': MAP {'a': range}} AS nested, DATE '2024-01-01' + range::INT AS day, "
        "range::DECIMAL(9, 2) AS price FROM range(200)"
    )
    for compression in ("uncompressed", "snappy", "zstd"):
        path = folder / f"{compression}.parquet"
        duckdb.execute(f"COPY ({rows}) TO '{path}' (COMPRESSION {compression}, ROW_GROUP_SIZE 100)")
        contents.append(path.read_bytes())
    return contents


def _arrow() -> Samples:
    """Arrow files, streams and Feather with dictionaries, views and nesting; none without PyArrow."""
    try:
        import pyarrow
        import pyarrow.feather
        import pyarrow.ipc
    except ImportError:
        return {}
    texts = [f"a text of more than twelve bytes, {number}" for number in range(50)]
    plain = {
        "id": pyarrow.array(range(50)),
        "name": pyarrow.array(texts),
        "list": pyarrow.array([[number, None] for number in range(50)]),
        "nested": pyarrow.array([{"a": number, "b": str(number)} for number in range(50)]),
    }
    others = {
        "size": pyarrow.array(["s", "m", None, "l", "m"] * 10).dictionary_encode(),
        "view": pyarrow.array(texts, pyarrow.string_view()),
    }
    tables = [pyarrow.table(plain), pyarrow.table({**plain, **others})]
    files, streams, feathers = [], [], []
    for table in tables:
        buffers = [io.BytesIO() for _ in range(4)]
        with pyarrow.ipc.new_file(buffers[0], table.schema) as writer:
            writer.write_table(table, max_chunksize=20)
        with pyarrow.ipc.new_stream(buffers[1], table.schema) as writer:
            writer.write_table(table, max_chunksize=20)
        pyarrow.feather.write_feather(table, buffers[2], compression="lz4")
        pyarrow.feather.write_feather(table, buffers[3], compression="zstd")
        files.append(buffers[0].getvalue())
        streams.append(buffers[1].getvalue())
        feathers += [buffers[2].getvalue(), buffers[3].getvalue()]
    return {"arrow": files, "arrows": streams, "feather": feathers}


def _ods() -> bytes:
    names = " ".join(
        f'xmlns:{short}="urn:oasis:names:tc:opendocument:xmlns:{short}:1.0"'
        for short in ("office", "table", "text", "manifest")
    )
    cell = '<table:table-cell office:value-type="string"><text:p>{}</text:p></table:table-cell>'
    number = '<table:table-cell office:value-type="float" office:value="{0}"/>'
    rows = "".join(
        f"<table:table-row>{cell.format(f'Item {row}')}{number.format(row)}</table:table-row>"
        for row in range(20)
    )
    blank = '<table:table-row table:number-rows-repeated="3"><table:table-cell/></table:table-row>'
    sheet = f'<table:table table:name="S">{blank}{rows}</table:table>'
    return zipped(
        {
            "mimetype": b"application/vnd.oasis.opendocument.spreadsheet",
            "META-INF/manifest.xml": f"<manifest:manifest {names}/>".encode(),
            "content.xml": f"<office:document-content {names}><office:body><office:spreadsheet>"
            f"{sheet}</office:spreadsheet></office:body></office:document-content>".encode(),
        }
    )


def _xls() -> bytes:
    """An Excel 97 workbook: BIFF8 records in the only stream of a compound file."""

    def record(kind: int, body: bytes = b"") -> bytes:
        return struct.pack("<HH", kind, len(body)) + body

    def label(row: int, column: int, text: str) -> bytes:
        cell = struct.pack("<HHHHB", row, column, 0, len(text), 0)
        return record(0x0204, cell + text.encode("latin-1"))

    cells = label(0, 0, "name") + label(0, 1, "price")
    for row in range(1, 30):
        cells += label(row, 0, f"Item {row}")
        cells += record(0x0203, struct.pack("<HHHd", row, 1, 0, row * 1.25))
    dimensions = record(0x0200, struct.pack("<IIHHH", 0, 30, 0, 2, 0))
    sheet = record(0x0809, struct.pack("<HHHHII", 0x0600, 0x0010, 0, 0, 0, 0))
    sheet += dimensions + cells + record(0x000A)
    start = record(0x0809, struct.pack("<HHHHII", 0x0600, 0x0005, 0, 0, 0, 0))
    named = (
        len(start) + 4 + 10 + 4
    )  # the sheet's place: after this part, its own record and the end
    start += record(0x0085, struct.pack("<IBBBB", named - 1, 0, 0, 1, 0) + b"S") + record(0x000A)
    stream = (start + sheet).ljust(8192, b"\0")
    return _compound_file("Workbook", stream)


def _compound_file(name: str, stream: bytes) -> bytes:
    """An OLE compound file: a header, one sector of allocations, one of names, then the stream."""
    free, end, allocation = 0xFFFFFFFF, 0xFFFFFFFE, 0xFFFFFFFD
    sectors = len(stream) // 512
    chain = [allocation, end, *(number + 3 for number in range(sectors - 1)), end]
    table = struct.pack("<128I", *chain, *[free] * (128 - len(chain)))
    header = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(16)
    header += struct.pack("<HHHHH6x", 0x3E, 3, 0xFFFE, 9, 6)
    header += struct.pack("<IIIIIIIII", 0, 1, 1, 0, 4096, end, 0, end, 0)
    header += struct.pack("<109I", 0, *[free] * 108)

    def entry(title: str, kind: int, child: int, start: int, size: int) -> bytes:
        encoded = (title + "\0").encode("utf-16-le")
        links = struct.pack("<HBBIII", len(encoded), kind, 1, free, free, child)
        return encoded.ljust(64, b"\0") + links + bytes(36) + struct.pack("<IQ", start, size)

    root = entry("Root Entry", 5, 1, end, 0)
    directory = root + entry(name, 2, free, 2, len(stream)) + bytes(256)
    return header + table + directory + stream
