"""Data sets as one table, and addresses read in part: local folders, a web server and an S3 server on loopback."""

import json
import random
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest

import aegir
from aegir.pipeline.run import Annotations
from aegir.tables.datasets import describe_taken, find_dataset, partition_of
from aegir.tables.formats import show_address
from aegir.tables.parquet_footer import BrokenFooter, Field, number_of, of_number, split_list
from aegir.tables.parquet_part import fetch_part, read_footer
from aegir.tables.readers import read_tables
from aegir_rl.base.errors import UnreadableTable, UsageError
from command_line import refused, run, run_process
from lake_servers import BUCKET, s3_server, upload, upload_many, web_server

MONTHS = [f"{month:02}" for month in range(1, 13)]


def orders(count: int, seed: int) -> Any:
    draw = random.Random(seed)
    return pyarrow.table(
        {
            "order_id": [f"O-{seed}-{number}" for number in range(count)],
            "email": [f"u{draw.randrange(10**6)}@example.org" for _ in range(count)],
            "price": [round(draw.random() * 90, 2) for _ in range(count)],
        }
    )


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Path:
    top = tmp_path_factory.mktemp("lake")
    for year in (2030, 2031):
        for month in MONTHS:
            folder = top / "orders" / f"year={year}" / f"month={month}"
            folder.mkdir(parents=True)
            table = orders(50, year * 100 + int(month))
            pyarrow.parquet.write_table(table, folder / "part-0.parquet")
    pyarrow.parquet.write_table(orders(60_000, 1), top / "big.parquet", row_group_size=1_000)
    (top / "plain.csv").write_text("id,name\n1,Ann Lee\n2,Bob Ray\n3,Eve Fox\n")
    lines = [f"{number},u{number}@example.org,{number % 97}.50\n" for number in range(400_000)]
    (top / "big.csv").write_text("id,email,price\n" + "".join(lines))
    return top


@pytest.fixture(scope="module")
def web(lake: Path) -> Iterator[Any]:
    with web_server(lake) as server:
        yield server


@pytest.fixture(scope="module")
def store(lake: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with s3_server() as endpoint:
        upload(endpoint, lake, "x/")
        yield endpoint


@pytest.fixture
def s3(store: str, monkeypatch: pytest.MonkeyPatch) -> str:
    import fsspec

    fsspec.filesystem("s3").clear_instance_cache()
    names = {"ENDPOINT_URL": store, "ACCESS_KEY_ID": "key", "SECRET_ACCESS_KEY": "secret"}
    for name, value in names.items():
        monkeypatch.setenv(f"AWS_{name}", value)
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    return f"s3://{BUCKET}/x"


def names(answers: Annotations) -> list[list[str | None]]:
    return [[column.name for column in table] for table in answers]


def test_a_partitioned_folder_is_one_table_with_a_column_per_folder(lake: Path):
    answers = aegir.annotate(lake / "orders", memory=False)
    assert names(answers) == [["order_id", "email", "price", "year", "month"]]
    (table,) = read_tables(lake / "orders")
    years = table.columns[3].values
    assert len(years) == 200
    assert set(years) == {"2030", "2031"}
    assert table.warnings == ("sampled 20 of 24 files",)
    assert [len(column.values) for column in table.columns] == [200] * 5
    assert {value.split("-")[1][:4] for value in table.columns[0].values} == set(years)


def test_data_sets_stand_among_the_files_of_a_folder(lake: Path):
    answers = aegir.annotate(lake, memory=False, rows=20)
    assert [table.table for table in answers] == ["big.csv", "big.parquet", "orders", "plain.csv"]


def test_files_of_another_kind_beside_partitions_stay_tables_of_their_own(tmp_path: Path):
    folder = tmp_path / "notes" / "year=2031"
    folder.mkdir(parents=True)
    (folder / "a.csv").write_text("a,b\n1,2\n")
    assert [table.table for table in aegir.annotate(tmp_path)] == ["a.csv"]


def test_missing_columns_and_partitions_are_missing_cells(tmp_path: Path):
    for name, columns in (("k=1", {"a": [1, 2]}), ("k=__HIVE_DEFAULT_PARTITION__", {"b": ["x"]})):
        (tmp_path / "t" / name).mkdir(parents=True)
        pyarrow.parquet.write_table(pyarrow.table(columns), tmp_path / "t" / name / "p.parquet")
    (table,) = read_tables(tmp_path / "t")
    cells = {column.name: column.values for column in table.columns}
    assert cells == {"a": ("1", "2", ""), "b": ("", "", "x"), "k": ("1", "1", "")}
    assert table.total_rows == 3


def test_a_damaged_file_of_a_data_set_is_a_warning(lake: Path, tmp_path: Path):
    shutil.copytree(lake / "orders" / "year=2030", tmp_path / "t" / "year=2030")
    broken = tmp_path / "t" / "year=2030" / "month=03" / "part-0.parquet"
    broken.write_bytes(b"PAR1 not quite PAR1")
    (table,) = read_tables(tmp_path / "t")
    assert f"not all of this table could be read: {broken} begins like Parquet" in table.warnings[0]


def test_a_folder_that_is_no_data_set_is_still_refused(tmp_path: Path):
    with pytest.raises(UnreadableTable, match="is a folder; give a file in it"):
        list(read_tables(tmp_path))
    assert find_dataset(tmp_path) is None


def test_values_of_folders_are_unquoted():
    assert partition_of("city=S%C3%A3o%20Paulo/n=a=b/part.parquet") == (("city", "São Paulo"), ("n", "a=b"))  # fmt: skip


def test_a_part_of_a_parquet_file_is_a_parquet_file(lake: Path, tmp_path: Path):
    content = (lake / "big.parquet").read_bytes()
    footer = read_footer(lambda start, end: content[start:end], len(content), "big.parquet")
    assert (footer.rows, len(footer.groups)) == (60_000, 60)
    part = tmp_path / "part.parquet"
    for budget, groups in ((0, 0), (1, 1), (1 << 30, 20)):
        fetch_part(lambda start, end: content[start:end], footer, part, np.random.default_rng(0), budget)  # fmt: skip
        table = pyarrow.parquet.read_table(part)
        assert table.num_rows == groups * 1_000
        assert set(table["order_id"].to_pylist()) <= {f"O-1-{n}" for n in range(60_000)}


@pytest.mark.parametrize("cut", [0, 3, 11, 12, 400, 1_000])
def test_what_is_no_whole_parquet_file_is_refused(lake: Path, cut: int):
    content = (lake / "orders" / "year=2030" / "month=01" / "part-0.parquet").read_bytes()
    for damaged in (
        content[:cut],
        content[:cut] + content[cut + 1 :][:-9] + b"\xff\xff\xff\x00PAR1",
    ):
        with pytest.raises(UnreadableTable, match="cannot be read"):
            read_footer(lambda start, end: damaged[start:end], len(damaged), "x.parquet")  # noqa: B023


def test_numbers_of_a_footer_are_read_as_they_are_written():
    for value in (0, 1, -1, 300, 2**40, -(2**40)):
        assert number_of(Field(3, 6, of_number(value))) == value
    with pytest.raises(BrokenFooter):
        number_of(Field(3, 6, b""))
    with pytest.raises(BrokenFooter):
        split_list(b"\xfc\xff")


def test_an_address_of_the_web_is_read_in_part_and_says_how_much(web: Any, lake: Path):
    web.requests.clear()
    (table,) = read_tables(f"{web.address}/big.parquet?token=secret")
    assert (table.name, table.total_rows) == ("big.parquet", 60_000)
    assert table.source == f"{web.address}/big.parquet"
    size = (lake / "big.parquet").stat().st_size
    ranges = [headers["Range"].removeprefix("bytes=").split("-") for _, headers in web.requests if "Range" in headers]  # fmt: skip
    taken = sum(int(last) - int(first) + 1 for first, last in ranges)
    assert taken < size / 2
    assert table.warnings == (describe_taken(taken, size),)
    (text,) = read_tables(f"{web.address}/big.csv")
    assert re.fullmatch(r"read \d\.\d MB of 1\d\.\d MB \(\d\d %\)", text.warnings[0])
    assert [column.name for column in text.columns] == ["id", "email", "price"]


def test_a_small_file_of_the_web_is_what_it_is_here(web: Any, lake: Path):
    far = aegir.annotate(f"{web.address}/plain.csv", memory=False)
    near = aegir.annotate(lake / "plain.csv", memory=False)
    assert far[0].columns == near[0].columns
    assert far[0].warnings == ()


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("elsewhere/plain.csv", r"leads to http://other\.example\.org/secret, which was not asked"),
        ("none.csv", r"cannot be read \(404 Not Found\)"),
        ("whole/big.parquet", "does not answer requests for a part of a file"),
        ("cut/big.csv", "ended early"),
    ],
)
def test_a_web_server_that_fails_is_one_sentence(web: Any, path: str, reason: str):
    with pytest.raises(UnreadableTable, match=reason) as failed:
        aegir.annotate(f"{web.address}/{path}?token=secret")
    assert "token" not in str(failed.value)


def test_a_slow_server_and_none_at_all_are_told_apart(web: Any, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("aegir.tables.remote_files.SECONDS", 0.2)
    with pytest.raises(UnreadableTable, match=r"did not answer within 0\.2 seconds"):
        aegir.annotate(f"{web.address}/slow/plain.csv")
    with pytest.raises(UnreadableTable, match=r"http://127\.0\.0\.1:9/x\.csv cannot be reached"):
        aegir.annotate("http://user:secret@127.0.0.1:9/x.csv")


def test_secrets_of_an_address_are_not_shown():
    assert show_address("https://user:pw@host:8/a/b.csv?token=x#y") == "https://host:8/a/b.csv"


def test_the_command_reads_addresses_and_refuses_in_one_sentence(web: Any):
    done = run("annotate", f"{web.address}/plain.csv", "--json", "--no-memory")
    assert json.loads(done.out)["source"] == f"{web.address}/plain.csv"
    refused(run("annotate", f"{web.address}/none.csv"), "404 Not Found")
    refused(run("annotate", "https://"), "needs a host")
    refused(run("annotate", "ftp://example.org/a.csv"), "ftp:// addresses cannot be read")


def test_a_partitioned_folder_of_a_store_is_one_table(s3: str, lake: Path):
    (far,) = read_tables(f"{s3}/orders/")
    (near,) = read_tables(lake / "orders")
    assert [column.name for column in far.columns] == [column.name for column in near.columns]
    assert far.columns == near.columns
    assert (far.name, far.source) == ("orders", f"{s3}/orders/")


def test_a_folder_of_a_store_holds_files_and_data_sets(s3: str):
    answers = aegir.annotate(s3, memory=False, rows=20)
    assert [table.table for table in answers] == ["big.csv", "big.parquet", "orders", "plain.csv"]
    done = run("annotate", f"{s3}/plain.csv", f"{s3}/orders", "--json", "--no-memory")
    assert [json.loads(line)["table"] for line in done.out.splitlines()] == ["plain.csv", "orders"]


def test_names_alone_of_a_store_read_footers_alone(s3: str):
    (table,) = read_tables(f"{s3}/big.parquet", names_only=True)
    assert [(column.name, column.values) for column in table.columns] == [
        ("order_id", ()),
        ("email", ()),
        ("price", ()),
    ]


def test_a_store_that_refuses_or_lacks_the_file_is_one_sentence(
    s3: str, monkeypatch: pytest.MonkeyPatch
):
    with pytest.raises(UnreadableTable, match=rf"there is no file {s3}/none\.csv"):
        aegir.annotate(f"{s3}/none.csv")
    with pytest.raises(UsageError, match="holds no tables"):
        aegir.annotate(f"{s3}/nothing")
    import fsspec

    fsspec.filesystem("s3").clear_instance_cache()
    for name in ("ACCESS_KEY_ID", "SECRET_ACCESS_KEY"):
        monkeypatch.delenv(f"AWS_{name}")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    with pytest.raises(UnreadableTable, match=r"may not be read .* set AWS_ACCESS_KEY_ID"):
        aegir.annotate(f"{s3}/plain.csv")


def test_a_store_without_its_package_says_what_to_install(monkeypatch: pytest.MonkeyPatch):
    pytest.importorskip("fsspec")
    with pytest.raises(UsageError, match=r"gs:// addresses need gcsfs; pip install"):
        aegir.annotate("gs://bucket/a.csv")


@pytest.fixture
def delta(tmp_path: Path) -> Path:
    deltalake = pytest.importorskip("deltalake", reason="deltalake is not installed")
    folder = tmp_path / "sales"
    countries = pyarrow.array(["AT", None] * 25)
    for seed in (1, 2):
        table = orders(50, seed).append_column("country", countries)
        deltalake.write_deltalake(folder, table, mode="append", partition_by=["country"])
    deltalake.DeltaTable(folder).delete("order_id < 'O-2'")
    return folder


def test_a_delta_table_is_its_newest_version(delta: Path):
    answers = aegir.annotate(delta.parent, memory=False)
    assert names(answers) == [["order_id", "email", "price", "country"]]
    (table,) = read_tables(delta)
    assert table.total_rows == 50
    assert {value[:3] for value in table.columns[0].values} == {"O-2"}
    assert set(table.columns[3].values) == {"AT", ""}


def test_a_delta_log_that_names_files_outside_is_refused(delta: Path):
    secret = delta.parent / "secret.parquet"
    pyarrow.parquet.write_table(orders(5, 9), secret)
    log = delta / "_delta_log" / f"{3:020}.json"
    add = {
        "path": f"{secret}",
        "partitionValues": {"country": "AT"},
        "size": secret.stat().st_size,
        "modificationTime": 0,
        "dataChange": True,
    }
    log.write_text(json.dumps({"add": add}) + "\n")
    with pytest.raises(UnreadableTable, match=r"names a file outside of it|cannot be read"):
        list(read_tables(delta))


def test_a_broken_delta_log_is_one_sentence(tmp_path: Path):
    pytest.importorskip("deltalake", reason="deltalake is not installed")
    (tmp_path / "t" / "_delta_log").mkdir(parents=True)
    (tmp_path / "t" / "_delta_log" / f"{0:020}.json").write_text("{ broken")
    with pytest.raises(UnreadableTable, match="is a Delta table that cannot be read"):
        aegir.annotate(tmp_path / "t")


@pytest.fixture
def iceberg(tmp_path: Path) -> Path:
    pytest.importorskip("pyiceberg", reason="pyiceberg is not installed")
    from pyiceberg.catalog.memory import InMemoryCatalog

    catalog = InMemoryCatalog("test", warehouse=f"file://{tmp_path}/house")
    catalog.create_namespace("shop")
    table = catalog.create_table("shop.orders", schema=orders(1, 1).schema)
    for seed in (1, 2, 3):
        table.append(orders(30, seed))
    table.overwrite(orders(40, 4))
    return Path(table.location().removeprefix("file://"))


@pytest.mark.filterwarnings("ignore")
def test_an_iceberg_table_is_its_current_snapshot(iceberg: Path):
    answers = aegir.annotate(iceberg.parent, memory=False)
    assert names(answers) == [["order_id", "email", "price"]]
    (table,) = read_tables(iceberg)
    assert (table.name, table.total_rows) == (iceberg.name, 40)
    assert {value[:3] for value in table.columns[0].values} == {"O-4"}


@pytest.mark.filterwarnings("ignore")
def test_iceberg_metadata_that_leads_elsewhere_is_refused(iceberg: Path, tmp_path: Path):
    moved = tmp_path / "moved"
    shutil.copytree(iceberg, moved)
    with pytest.raises(UnreadableTable, match="names a file outside of it"):
        list(read_tables(moved))


@pytest.mark.slow
def test_of_ten_thousand_objects_one_percent_is_read_in_flat_memory(tmp_path: Path):
    part = tmp_path / "part.parquet"
    pyarrow.parquet.write_table(orders(100, 1), part)
    code = (
        "import json, resource, sys; from aegir.tables.readers import read_tables\n"
        "(table,) = read_tables(sys.argv[1])\n"
        "print(json.dumps([table.warnings, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss]))"
    )
    with s3_server() as endpoint:
        access = {"ENDPOINT_URL": endpoint, "ACCESS_KEY_ID": "key", "SECRET_ACCESS_KEY": "secret", "DEFAULT_REGION": "us-east-1"}  # fmt: skip
        environment = {f"AWS_{name}": value for name, value in access.items()}
        peaks = []
        for count in (100, 10_000):
            upload_many(endpoint, part.read_bytes(), f"n{count}", count)
            address = f"s3://{BUCKET}/n{count}/"
            done = run_process(address, python=code, **environment)
            warnings, peak = json.loads(done.out)
            peaks.append(peak)
    assert warnings[0] == "sampled 20 of 10,000 files"
    share = re.search(r"\(([\d.e-]+) %\)", warnings[1])
    assert share is not None
    assert float(share[1]) <= 1
    assert peaks[1] < 1.3 * peaks[0]
