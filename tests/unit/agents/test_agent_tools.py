"""What an agent may ask: folders it may read, values it never sees, and bounded answers."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from aegir.agents.folders import ReadableFolders
from aegir.agents.tools import MOST_FILES, MOST_ROWS, AgentTools
from aegir.masking.policy import load_policy
from aegir.pipeline.settings import AnnotationSettings
from aegir_rl.base.errors import UsageError

KEY = b"0123456789abcdef0123456789abcdef"
PEOPLE = [
    (f"CUST-{70000 + 7 * number}", f"{name} Okafor", f"{name.lower()}{number}@mail.example.org", f"{'Austria' if number % 2 else 'Chile'}", f"{name} Okafor asked twice about order {number}")
    for number, name in enumerate(["Adaeze", "Gracelyn", "Linusson", "Maryanne", "Olofsson", "Ineskaya", "Jonasson", "Petronia", "Amirhan", "Yukihiro"])
]  # fmt: skip
HEADER = ("customer_id", "full_name", "email", "country", "remark")


def write_table(path: Path, rows: list[tuple[str, ...]], header: tuple[str, ...] = HEADER) -> Path:
    path.write_text("".join(",".join(row) + "\n" for row in (header, *rows)))
    return path


@pytest.fixture
def lake(tmp_path: Path) -> Path:
    folder = tmp_path / "lake"
    folder.mkdir()
    write_table(folder / "people.csv", PEOPLE)
    write_table(
        folder / "stock.csv",
        [(f"P-{n}", f"{n}.50", str(n * 3)) for n in range(1, 9)],
        ("sku", "price", "count"),
    )
    return folder


def tools_for(*folders: Path, write: Path | None = None, said: list[str] | None = None) -> AgentTools:  # fmt: skip
    said = [] if said is None else said
    settings = AnnotationSettings(memory=False, custom_types=False)
    return AgentTools(
        ReadableFolders(folders), settings, load_policy(None), KEY, write=write, say=said.append
    )


@pytest.fixture
def tools(lake: Path) -> AgentTools:
    return tools_for(lake)


def personal_values() -> list[str]:
    return [value.lower() for row in PEOPLE for value in row[:3]]


def test_annotate_says_what_columns_are_and_shows_no_value(tools: AgentTools, lake: Path):
    answer = tools.annotate(".")
    people, stock = answer["tables"]
    assert people["file"] == str(lake / "people.csv")
    columns = {column["name"]: column for column in people["columns"]}
    assert columns["email"]["personal"] == "direct"
    assert columns["email"]["masked"] is not None
    assert columns["country"]["kind"] == "place"
    assert [column["masked"] for column in stock["columns"]] == [None, None, None]
    shown = json.dumps(answer).lower()
    assert not [value for value in personal_values() if value in shown]


def test_a_sample_has_the_shape_of_rows_and_no_person(tools: AgentTools):
    sample = tools.sample("people.csv", rows=4)
    assert sample["columns"] == list(HEADER)
    assert len(sample["rows"]) == 4
    shown = json.dumps(sample).lower()
    assert not [value for value in personal_values() if value in shown]
    assert {row[3] for row in sample["rows"]} <= {"Austria", "Chile"}
    assert sample["masked"]["email"].startswith("tokenise (direct: ")


def test_what_nobody_masks_is_shown_as_it_is(tools: AgentTools):
    sample = tools.sample("stock.csv", rows=MOST_ROWS)
    assert sample["masked"] == {}
    assert sample["rows"][0] == ["P-1", "1.50", "3"]


def test_a_direct_value_in_a_kept_column_of_another_row_is_redacted(lake: Path):
    names = [row[1] for row in PEOPLE]
    rows = [
        (*row[:4], names[(number + 1) % len(names)] if number < 2 else "Vienna")
        for number, row in enumerate(PEOPLE)
    ]
    write_table(lake / "moved.csv", rows, (*HEADER[:4], "city"))
    policy = lake.parent / "policy.toml"
    policy.write_text('[columns]\ncity = "keep"\n')
    keeping = AgentTools(
        ReadableFolders([lake]),
        AnnotationSettings(memory=False, custom_types=False),
        load_policy(policy),
        KEY,
        say=print,
    )
    cells = [row[4] for row in keeping.sample("moved.csv")["rows"]]
    assert cells == ["[redacted]"] * 2 + ["Vienna"] * 8
    assert "okafor" not in json.dumps(keeping.explain("moved.csv")).lower()


def test_a_column_whose_name_holds_an_address_is_called_by_its_number(lake: Path):
    header = (*HEADER[:3], "ada@mail.example.org", "remark")
    write_table(lake / "odd.csv", PEOPLE, header)
    tools = tools_for(lake)
    assert tools.sample("odd.csv", rows=1)["columns"][3] == "#4"
    assert "ada@mail" not in json.dumps([tools.annotate("odd.csv"), tools.explain("odd.csv")])


def test_explain_gives_reasons_of_one_column_without_masked_values(tools: AgentTools):
    answer = tools.explain("people.csv", "email")
    (column,) = answer["columns"]
    assert column["mask"]["action"] == "tokenise"
    assert any("e-mail" in reason for reason in column["reasons"])
    assert (column["statistics"]["min"], column["statistics"]["rows"]) == (None, 10)
    everything = json.dumps(tools.explain("people.csv")).lower()
    assert not [value for value in personal_values() if value in everything]
    price = tools.explain("stock.csv", "#2")["columns"][0]
    assert price["statistics"]["max"] == 8.5


def test_an_unknown_column_or_table_is_refused_with_those_there_are(tools: AgentTools, lake: Path):
    with pytest.raises(UsageError, match=r"no column 'mail'; it has customer_id, full_name"):
        tools.explain("people.csv", "mail")
    with pytest.raises(UsageError, match=r"no table 'x'; give one as `table`: people\.csv"):
        tools.sample("people.csv", table="x")
    with pytest.raises(UsageError, match=r"is a folder; name a file"):
        tools.sample(str(lake))
    with pytest.raises(UsageError, match=r"rows is 101; ask for 1 to 100"):
        tools.sample("people.csv", rows=101)


def test_tables_of_one_file_are_chosen_by_name(lake: Path):
    (lake / "shop.json").write_text(
        json.dumps({"orders": [{"id": 1, "n": 2}], "items": [{"sku": "a", "n": 3}]})
    )
    tools = tools_for(lake)
    with pytest.raises(
        UsageError, match=r"has 2 tables; give one as `table`: shop\.json#orders, shop"
    ):
        tools.sample("shop.json")
    assert tools.sample("shop.json", table="items")["columns"] == ["sku", "n"]


@pytest.mark.parametrize(
    "name",
    ["../secret.csv", "{parent}/secret.csv", "/etc/passwd", "link.csv", "deep/secret.csv", ".hidden.csv", "{lake}/.hidden.csv"],
)  # fmt: skip
@pytest.mark.parametrize("ask", ["annotate", "explain", "sample", "mask", "diff"])
def test_what_lies_outside_is_refused_by_every_tool(lake: Path, name: str, ask: str):
    secret = write_table(lake.parent / "secret.csv", PEOPLE)
    (lake / "link.csv").symlink_to(secret)
    (lake / "deep").symlink_to(lake.parent)
    write_table(lake / ".hidden.csv", PEOPLE)
    written = lake.parent / "out"
    written.mkdir()
    tools = tools_for(lake, write=written)
    path = name.format(parent=lake.parent, lake=lake)
    calls: dict[str, Callable[[], Any]] = {
        "annotate": lambda: tools.annotate(path),
        "explain": lambda: tools.explain(path),
        "sample": lambda: tools.sample(path),
        "mask": lambda: tools.mask(path, "copy.csv"),
        "diff": lambda: tools.diff("people.csv", path),
    }
    with pytest.raises(UsageError, match="outside of the folders that may be read, or hidden"):
        calls[ask]()
    assert list(written.iterdir()) == []


def test_a_missing_file_outside_is_refused_in_the_same_words(tools: AgentTools):
    for name in ("/etc/passwd", "/etc/there-is-no-such-file"):
        with pytest.raises(UsageError, match="outside of the folders"):
            tools.annotate(name)
    with pytest.raises(UsageError, match=r"there is no file or folder none\.csv in"):
        tools.annotate("none.csv")


@pytest.mark.parametrize("name", ["-", "", "https://example.org/x.csv", "sqlite:///x.db", "a\0b"])
def test_addresses_and_standard_input_are_no_files(tools: AgentTools, name: str):
    with pytest.raises(UsageError, match="no name of a file"):
        tools.annotate(name)


def test_links_that_lead_outside_are_left_out_of_a_folder(lake: Path):
    secret = write_table(lake.parent / "secret.csv", PEOPLE)
    (lake / "link.csv").symlink_to(secret)
    answer = tools_for(lake).annotate(".")
    assert [table["table"] for table in answer["tables"]] == ["people.csv", "stock.csv"]
    assert answer["notes"] == [
        "1 file in . left out: a link leads outside of the folders that may be read"
    ]


def test_a_file_that_cannot_be_read_is_one_failure_among_answers(lake: Path):
    (lake / "empty.csv").write_text("")
    answer = tools_for(lake).annotate(".")
    assert [table["table"] for table in answer["tables"]] == ["people.csv", "stock.csv"]
    (failure,) = answer["failures"]
    assert "is empty" in failure["reason"]
    with pytest.raises(UsageError.__mro__[1], match="is empty"):
        tools_for(lake).sample("empty.csv")


def test_what_a_large_folder_leaves_out_is_said(lake: Path):
    for number in range(MOST_FILES):
        write_table(lake / f"t{number:03}.csv", [("1", "2")], ("a", "b"))
    answer = tools_for(lake).annotate(".")
    assert len(answer["tables"]) == MOST_FILES
    assert answer["notes"][0].startswith(f"only the first {MOST_FILES} of {MOST_FILES + 2} files")
    write_table(lake / "wide.csv", [("1",) * 1_001], tuple(f"c{n}" for n in range(1_001)))
    (lake / "two").mkdir()
    for name in ("a.csv", "b.csv"):
        shutil.copy(lake / "wide.csv", lake / "two" / name)
    answer = tools_for(lake).annotate("two")
    assert [table["table"] for table in answer["tables"]] == ["a.csv"]
    assert "left out, from" in answer["notes"][0]
    assert answer["notes"][0].endswith("b.csv on; name a file")


def test_a_partitioned_folder_is_one_table_without_links_to_elsewhere(lake: Path):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    secret = lake.parent / "secret.parquet"
    parquet.write_table(pyarrow.table({"code": ["top-secret-1"] * 5}), secret)
    for year in (2030, 2031):
        (lake / "sales" / f"year={year}").mkdir(parents=True)
        parquet.write_table(
            pyarrow.table({"code": [f"A-{n}" for n in range(5)]}),
            lake / "sales" / f"year={year}" / "part.parquet",
        )
    (lake / "sales" / "year=2031" / "link.parquet").symlink_to(secret)
    tools = tools_for(lake)
    assert "sales" in [table["table"] for table in tools.annotate(".")["tables"]]
    sample = tools.sample("sales", rows=100)
    assert sample["columns"] == ["code", "year"]
    assert {row[1] for row in sample["rows"]} == {"2030", "2031"}
    assert "top-secret" not in json.dumps(sample)


def test_mask_writes_a_new_file_where_it_may_and_nothing_elsewhere(lake: Path, tmp_path: Path):
    with pytest.raises(UsageError, match=r"nothing may be written; .* --write FOLDER"):
        tools_for(lake).mask("people.csv", "copy.csv")
    written = tmp_path / "masked"
    written.mkdir()
    tools = tools_for(lake, write=written)
    report = tools.mask("people.csv", "copy.csv")
    assert {column["column"]: column["action"] for column in report["columns"]}["email"] == (
        "tokenise"
    )
    copy = (written / "copy.csv").read_text().lower()
    assert not [value for value in personal_values() if value in copy]
    with pytest.raises(UsageError, match="exists already"):
        tools.mask("people.csv", "copy.csv")
    for name in ("../people.csv", "/tmp/x.csv", "a/b.csv", "..", "", ".x"):
        with pytest.raises(UsageError, match="no plain name of a file"):
            tools.mask("people.csv", name)
    assert [path.name for path in written.iterdir()] == ["copy.csv"]


def test_diff_compares_two_versions(lake: Path, tools: AgentTools):
    write_table(lake / "later.csv", [row[:4] for row in PEOPLE], HEADER[:4])
    report = tools.diff("people.csv", "later.csv")
    assert report["counts"]["removed"] == 1


def test_types_explains_names_and_lists_kinds(tools: AgentTools):
    assert tools.types("email_address")["types"][0]["level"] == "fine type"
    assert {each["level"] for each in tools.types()["types"]} == {"kind"}
    assert {each["name"] for each in tools.types(under="money")["types"]} >= {"money", "price"}
    with pytest.raises(UsageError, match="did you mean"):
        tools.types("emial_address")
    names = {each["name"] for each in json.loads(tools.vocabulary())}
    assert {"email_address", "author", "money", "Book/name"} <= names


def test_folders_that_are_not_there_are_refused(tmp_path: Path):
    with pytest.raises(UsageError, match="there is no folder"):
        ReadableFolders([tmp_path / "none"])
    with pytest.raises(UsageError, match="no folder may be read"):
        ReadableFolders([])
    with pytest.raises(UsageError, match=r"make it, or leave --write out"):
        tools_for(tmp_path, write=tmp_path / "none")
