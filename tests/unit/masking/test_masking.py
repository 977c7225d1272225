"""Whole files masked and read back: formats, encodings, odd rows, and that no original value is left."""

import csv
import gzip
import io
import json
import re
from datetime import date
from pathlib import Path

import pytest

import aegir
from aegir.masking.checking import CHANCE_LENGTH, MOST_REMEMBERED, Originals
from aegir.masking.delimited_files import find_structure
from aegir.masking.masking import mask
from aegir.masking.report import MaskReport
from aegir.tables.text_decoding import TextSample
from aegir_rl.base.errors import CheckFailed, UnreadableTable, UsageError
from aegir_rl.base.files import NewContent

KEY = b"0123456789abcdef0123456789abcdef"
MARK = "[redacted]"
NAMES = [
    "Ada Okafor",
    "Grace Lindqvist",
    "Linus Meyer",
    "Mary Novak",
    "Olof Brandt",
    "Ines Keller",
    "Jonas Rossi",
    "Petra Silva",
    "Amir Haddad",
    "Yuki Tanaka",
    "Lena Fischer",
    "Omar Farouk",
    "Sofia Petrova",
    "Hugo Marchand",
    "Nora Byrne",
    "Ivan Horvat",
]
HEADER = ("customer_id", "full_name", "email", "phone", "birth_date", "postcode", "country", "note")


def people(count: int = 16) -> list[tuple[str, ...]]:
    """Rows of customers, each value longer than chance."""
    return [
        (
            f"CUST-{70000 + 7 * number}",
            NAMES[number % len(NAMES)],
            f"{NAMES[number % len(NAMES)].lower().replace(' ', '.')}{number}@mail.example.org",
            f"+43 660 {1000000 + 7919 * number}",
            f"{1950 + number % 50}-{1 + number % 12:02}-{1 + number % 28:02}",
            f"{10115 + 137 * number}",
            "Austria",
            f"asked for a receipt of order {number}",
        )
        for number in range(count)
    ]


def as_csv(rows: list[tuple[str, ...]], header: tuple[str, ...] | None = HEADER, **how: object) -> str:  # fmt: skip
    text = io.StringIO(newline="")
    writer = csv.writer(text, **({"lineterminator": "\n"} | how))
    writer.writerows([header, *rows] if header else rows)
    return text.getvalue()


def masked_csv(
    folder: Path, content: str | bytes, name: str = "people.csv", **options: object
) -> tuple[str, MaskReport]:
    """Mask a file of this content; its new content and the report."""
    source, out = folder / name, folder / f"masked-{name}"
    source.write_bytes(content if isinstance(content, bytes) else content.encode())
    report = mask(source, out, key=KEY, memory=False, **options)
    return out.read_bytes().decode("utf-8", "surrogateescape"), report


def policy_file(folder: Path, text: str) -> Path:
    path = folder / "policy.toml"
    path.write_text(text, encoding="utf-8")
    return path


def actions(report: MaskReport) -> dict[str | None, str]:
    return {each.column: each.action for each in report.columns}


def test_no_original_value_of_a_masked_column_is_left_anywhere(tmp_path: Path):
    rows = people(300)
    text, report = masked_csv(tmp_path, as_csv(rows))
    masked = [each.index for each in report.columns if each.state == "masked"]
    assert {HEADER[index] for index in masked} >= {*HEADER[:6]}
    back = list(csv.reader(io.StringIO(text)))
    assert back[0] == list(HEADER)
    assert len(back) == 301
    for index in masked:
        for value in {row[index] for row in rows}:
            if len(value) >= CHANCE_LENGTH:
                assert value not in text
        assert all(new[index] != old[index] for new, old in zip(back[1:], rows, strict=True))


def test_kept_columns_are_as_they_were_and_the_report_says_what_was_done(tmp_path: Path):
    rows = people()
    text, report = masked_csv(tmp_path, as_csv(rows))
    country = report.columns[6]
    assert (country.action, country.level, country.left) == ("keep", "indirect", len(rows))
    assert [row[6] for row in csv.reader(io.StringIO(text))][1:] == ["Austria"] * len(rows)
    chosen = actions(report)
    assert chosen["email"] == chosen["full_name"] == "tokenise"
    assert chosen["birth_date"] == chosen["postcode"] == "generalise"
    email = report.columns[2]
    assert (email.changed, email.left, email.missing, email.kind) == (16, 0, 0, "person")
    assert "email" in str(report)


def test_the_same_key_gives_the_same_bytes_and_joinable_keys_another_key_others(tmp_path: Path):
    rows = people()
    first, _ = masked_csv(tmp_path, as_csv(rows))
    again, _ = masked_csv(tmp_path, as_csv(rows), "again.csv")
    assert first == again
    orders = as_csv([(row[2], "19.90") for row in rows], ("email", "amount"))
    tokens = {row[2] for row in csv.reader(io.StringIO(first))}
    other, _ = masked_csv(tmp_path, orders, "orders.csv")
    assert {row[0] for row in csv.reader(io.StringIO(other))} == tokens
    mask(tmp_path / "people.csv", tmp_path / "random.csv", memory=False)
    assert (tmp_path / "random.csv").read_text() != first


def test_line_ends_after_a_key_do_not_count(tmp_path: Path):
    first, _ = masked_csv(tmp_path, as_csv(people()))
    for end in (b"\n", b"\r\n"):
        mask(tmp_path / "people.csv", tmp_path / "again.csv", key=KEY + end, memory=False)
        assert (tmp_path / "again.csv").read_text() == first
    with pytest.raises(UsageError, match="has 15 bytes"):
        mask(tmp_path / "people.csv", tmp_path / "short.csv", key=KEY[:15] + b"\n", memory=False)


def test_a_policy_is_not_written_over(tmp_path: Path):
    (tmp_path / "people.csv").write_text(as_csv(people()))
    policy = policy_file(tmp_path, 'redacted = "xxx"\n')
    with pytest.raises(UsageError, match="is the mask policy"):
        mask(tmp_path / "people.csv", policy, policy=policy, memory=False)


def test_missing_values_stay_missing(tmp_path: Path):
    rows = [list(row) for row in people()]
    rows[3][2], rows[4][2], rows[5][4] = "", "N/A", "NULL"
    text, report = masked_csv(tmp_path, as_csv([tuple(row) for row in rows]))
    back = list(csv.reader(io.StringIO(text)))[1:]
    assert (back[3][2], back[4][2], back[5][4]) == ("", "N/A", "NULL")
    assert report.columns[2].missing == 2


def test_values_that_do_not_fit_their_column_are_redacted(tmp_path: Path):
    rows = [list(row) for row in people(40)]
    rows[3][4] = "the day after his brother"
    rows[4][4] = "31/12/1980"
    rows[5][5] = "ines@mail.example.org"
    text, report = masked_csv(tmp_path, as_csv([tuple(row) for row in rows]))
    back = list(csv.reader(io.StringIO(text)))[1:]
    assert back[3][4] == back[4][4] == back[5][5] == MARK
    assert report.columns[4].redacted == 2
    assert report.columns[5].redacted == 1


def test_an_unsure_column_is_redacted_or_left_and_listed_as_the_policy_says(tmp_path: Path):
    names = "desk lamp|oak chair|wall clock|tea kettle|wool rug|bread knife|book shelf|garden hose"
    rows = [(f"SKU-{100 + 7 * n}", name, f"{4 * n}.50") for n, name in enumerate(names.split("|"))]
    content = as_csv(rows, ("sku", "product", "price"))
    text, report = masked_csv(tmp_path, content, policy=policy_file(tmp_path, "unsure_from = 0\n"))
    assert {each.state for each in report.columns} == {"masked"}
    assert "oak chair" not in text
    listing = policy_file(tmp_path, 'unsure = "list"\nunsure_from = 0\n')
    text, report = masked_csv(tmp_path, content, policy=listing)
    assert {each.state for each in report.columns} == {"listed"}
    assert text == content
    assert "left as they are although they may be personal: sku, product, price" in report.notes


def test_a_kept_cell_that_gives_away_its_row_is_redacted(tmp_path: Path):
    rows = [list(row) for row in people()]
    rows[2][7] = f"spoke to {rows[2][1].upper()} today"
    rows[3][7] = "write to someone.else@mail.example.org"
    policy = policy_file(tmp_path, '[columns]\nnote = "keep"\n')
    text, report = masked_csv(tmp_path, as_csv([tuple(row) for row in rows]), policy=policy)
    back = list(csv.reader(io.StringIO(text)))[1:]
    assert back[2][7] == back[3][7] == MARK
    assert back[4][7] == rows[4][7]
    assert (report.columns[7].redacted, report.columns[7].left) == (2, 14)


def test_a_value_of_another_row_in_a_kept_column_is_reported(tmp_path: Path):
    rows = [list(row) for row in people()]
    rows[2][7] = rows[9][1]
    policy = policy_file(tmp_path, '[columns]\nnote = "keep"\n')
    _, report = masked_csv(tmp_path, as_csv([tuple(row) for row in rows]), policy=policy)
    assert any("1 cell of note" in note and "full_name" in note for note in report.notes)


def test_dates_move_by_one_shift_per_person_or_per_table(tmp_path: Path):
    rows = [(row[0], row[2], "2024-03-01 10:15:00", "2024-03-11") for row in people()] * 2
    header = ("customer_id", "email", "joined_at", "left_on")
    by_subject = '[columns]\njoined_at = "shift"\nleft_on = "shift"\n'
    text, report = masked_csv(
        tmp_path, as_csv(rows, header), policy=policy_file(tmp_path, by_subject)
    )
    back = list(csv.reader(io.StringIO(text)))[1:]
    assert report.shifted_by == "customer_id"
    assert back[:16] == back[16:]  # the same person, the same shift
    assert len({row[2] for row in back}) > 5
    assert all(row[2].endswith(" 10:15:00") for row in back)
    gaps = {(_day(row[3]) - _day(row[2][:10])).days for row in back}
    assert gaps == {10}
    by_table = policy_file(tmp_path, by_subject + '[shift]\nby = "table"\ndays = 30\n')
    text, report = masked_csv(tmp_path, as_csv(rows, header), policy=by_table)
    assert report.shifted_by == "table"
    (moved,) = {row[3] for row in csv.reader(io.StringIO(text))} - {"left_on"}
    assert 1 <= abs((_day(moved) - _day("2024-03-11")).days) <= 30
    assert "whole table" in str(report)


def _day(text: str) -> date:
    return date.fromisoformat(text)


def test_a_date_without_its_person_is_redacted(tmp_path: Path):
    rows = [(row[0], row[2], "2024-03-01") for row in people()]
    rows[4] = ("", rows[4][1], "2024-03-01")
    policy = policy_file(
        tmp_path, '[columns]\njoined_at = "shift"\n[shift]\nsubject = "customer_id"\n'
    )
    text, _ = masked_csv(
        tmp_path, as_csv(rows, ("customer_id", "email", "joined_at")), policy=policy
    )
    assert list(csv.reader(io.StringIO(text)))[5][2] == MARK


@pytest.mark.parametrize(
    ("how", "name"),
    [
        ({"delimiter": ";"}, "semicolon.csv"),
        ({"delimiter": "\t", "lineterminator": "\r\n"}, "windows.tsv"),
        ({"quoting": csv.QUOTE_ALL}, "quoted.csv"),
        ({"quotechar": "'", "quoting": csv.QUOTE_ALL, "delimiter": "|"}, "single.csv"),
    ],
)
def test_the_dialect_stays(tmp_path: Path, how: dict[str, object], name: str):
    rows = [(*row[:7], f'said "yes", {row[0][-3:]}; twice') for row in people()]
    policy = policy_file(tmp_path, '[columns]\nnote = "keep"\n')
    given = as_csv(rows, **how)
    text, _ = masked_csv(tmp_path, given, name, policy=policy)
    options = {"delimiter": ",", "quotechar": '"'} | {
        key: value for key, value in how.items() if key in ("delimiter", "quotechar")
    }
    back = list(csv.reader(io.StringIO(text, newline=""), **options))
    assert back[0] == list(HEADER)
    assert [row[7] for row in back[1:]] == [row[7] for row in rows]
    assert text.split("\n")[0] == given.split("\n")[0]  # quotes and line ends of the header
    again = as_csv([tuple(row) for row in back[1:]], tuple(back[0]), **how)
    assert again == text


def test_a_file_without_quotes_keeps_its_stray_ones_and_refuses_a_mark_with_its_delimiter(
    tmp_path: Path,
):
    lines = ["mail|size", *(f'{row[2]}|"{number} inch' for number, row in enumerate(people()))]
    keep = '[columns]\nsize = "keep"\nmail = "redact"\n'
    text, _ = masked_csv(tmp_path, "\n".join(lines) + "\n", policy=policy_file(tmp_path, keep))
    assert text.splitlines()[4] == f'{MARK}|"3 inch'
    wrong = policy_file(tmp_path, 'redacted = "a|b"\n' + keep)
    with pytest.raises(UsageError, match="holds its delimiter"):
        masked_csv(tmp_path, "\n".join(lines) + "\n", policy=wrong)


def test_a_first_row_of_values_is_never_taken_for_a_header(tmp_path: Path):
    rows = [f"{number},{row[2]}" for number, row in enumerate(people())]
    rows[0] = f"id,{people()[0][2]}"
    structure = find_structure(TextSample("\n".join(rows)))
    assert structure.header_rows == 0
    assert (structure.columns, structure.above) == (2, 0)
    text, _ = masked_csv(tmp_path, "\n".join(rows) + "\n")
    assert people()[0][2] not in text


def test_quoted_line_breaks_stay_in_their_cells(tmp_path: Path):
    rows = [(*row[:7], f"first line\nsecond {number}") for number, row in enumerate(people())]
    rows[2] = (rows[2][0], "Linus\nMeyer", *rows[2][2:])
    policy = policy_file(tmp_path, '[columns]\nnote = "keep"\n')
    text, report = masked_csv(tmp_path, as_csv(rows), policy=policy)
    back = list(csv.reader(io.StringIO(text, newline="")))
    assert [row[7] for row in back[1:]] == [row[7] for row in rows]
    assert back[3][1].startswith("tok_")
    assert report.rows == 16


@pytest.mark.parametrize("codec", ["utf-8-sig", "utf-16", "cp1252"])
def test_encoding_and_byte_order_mark_stay(tmp_path: Path, codec: str):
    rows = [(*row[:6], "Österreich", "für später notiert") for row in people()]
    source, out = tmp_path / "people.csv", tmp_path / "masked.csv"
    source.write_bytes(as_csv(rows).encode(codec))
    policy = policy_file(tmp_path, '[columns]\nnote = "keep"\n')
    mask(source, out, key=KEY, memory=False, policy=policy)
    raw = out.read_bytes()
    assert raw[:2] == source.read_bytes()[:2]
    back = list(csv.reader(io.StringIO(raw.decode(codec), newline="")))
    assert back[0] == list(HEADER)
    assert {row[7] for row in back[1:]} == {"für später notiert"}
    assert back[1][2].startswith("tok_")


def test_bytes_outside_of_the_encoding_survive_in_kept_cells(tmp_path: Path):
    content = as_csv(people(400)).encode()
    broken = content.replace(b"receipt of order 399", b"receipt \xff\xfe of 399")
    policy = policy_file(tmp_path, '[columns]\nnote = "keep"\n')
    masked_csv(tmp_path, broken, policy=policy)
    assert b"receipt \xff\xfe of 399" in (tmp_path / "masked-people.csv").read_bytes()


def test_a_file_without_headers_is_masked_from_its_first_row_on(tmp_path: Path):
    rows = people()
    text, report = masked_csv(tmp_path, as_csv(rows, None))
    assert report.rows == len(rows)
    assert report.columns[2].column is None
    assert rows[0][2] not in text
    assert rows[0][1] not in text
    policy = policy_file(tmp_path, '[columns]\n"#3" = "redact"\n')
    _, report = masked_csv(tmp_path, as_csv(rows, None), policy=policy)
    assert report.columns[2].action == "redact"


def test_duplicated_headers_are_masked_by_position(tmp_path: Path):
    rows = [(row[2], row[0], f"other.{row[2]}") for row in people()]
    text, _ = masked_csv(tmp_path, as_csv(rows, ("email", "customer_id", "email")))
    assert text.splitlines()[0] == "email,customer_id,email"
    assert "@" not in text


def test_rows_of_another_width_are_redacted_as_a_whole(tmp_path: Path):
    lines = as_csv(people()).splitlines()
    lines.insert(
        4, "CUST-1,Okafor, Ada,ada@mail.example.org,+43 660 5,1980-01-01,10115,Austria,new"
    )
    lines.insert(9, "Grace Lindqvist,")
    text, report = masked_csv(tmp_path, "\n".join(lines) + "\n")
    assert text.splitlines()[4] == ",".join([MARK] * 9)
    assert text.splitlines()[9] == f"{MARK},"
    assert any(note.startswith("2 rows of another width: redacted") for note in report.notes)


def test_blank_lines_stay_and_titles_above_the_table_are_left_out(tmp_path: Path):
    lines = as_csv(people()).splitlines()
    lines.insert(5, "")
    text, report = masked_csv(tmp_path, "Customers of Ada Okafor\n" + "\n".join(lines) + "\n")
    assert text.splitlines()[0] == ",".join(HEADER)
    assert text.splitlines()[5] == ""
    assert "left out: 1 line above the table" in report.notes


def test_json_lines_keep_their_shape_numbers_and_nested_values(tmp_path: Path):
    records = [
        {"id": number, "full_name": row[1], "email": row[2], "spent": "@@", "tags": ["a", "b"], "gone": None}
        for number, row in enumerate(people())
    ]  # fmt: skip
    text = "".join(json.dumps(record) + "\n" for record in records).replace('"@@"', "1.50")
    masked, report = masked_csv(tmp_path, text, "people.jsonl")
    back = [json.loads(line) for line in masked.splitlines()]
    assert report.format == "JSON lines"
    assert [list(record) for record in back] == [list(record) for record in records]
    assert back[0]["gone"] is None
    assert all(record["email"].startswith("tok_") for record in back)
    if actions(report)["spent"] == "keep":
        assert masked.count('"spent": 1.50,') == len(records)
    assert not any(row[2] in masked or row[1] in masked for row in people())


def test_numbers_keep_the_digits_they_were_written_with(tmp_path: Path):
    lines = [f'{{"email":"{row[2]}","spent":1{number}.50}}' for number, row in enumerate(people())]
    policy = policy_file(tmp_path, '[columns]\nspent = "keep"\n')
    masked, _ = masked_csv(tmp_path, "\n".join(lines) + "\n", "p.jsonl", policy=policy)
    assert '"spent":112.50}' in masked


def test_a_key_that_the_answer_does_not_know_is_redacted_or_listed(tmp_path: Path):
    lines = [json.dumps({"email": row[2], "city": "Graz"}) for row in people()]
    nested = json.dumps({"email": "x@mail.example.org", "city": "Graz", "late": {"phone": "+43 660 77"}})  # fmt: skip
    content = "\n".join([*lines * 40, nested, *lines * 40]) + "\n"
    masked, report = masked_csv(tmp_path, content, "p.jsonl", rows=20)
    assert "+43 660 77" not in masked
    assert any("outside of the known columns: redacted" in note for note in report.notes)
    policy = policy_file(tmp_path, 'unsure = "list"\n')
    masked, report = masked_csv(tmp_path, content, "p.jsonl", policy=policy, rows=20)
    assert any("outside of the known columns: left as they are" in note for note in report.notes)


def test_broken_json_lines_are_left_out(tmp_path: Path):
    lines = [json.dumps({"email": row[2], "name": row[1]}) for row in people()]
    content = "\n".join([*lines[:8], '{"email": "ada@mail.example.org"', *lines[8:]])
    masked, report = masked_csv(tmp_path, content, "p.jsonl")
    assert "ada@mail" not in masked
    assert "left out: 1 line without a JSON object" in report.notes


def test_a_list_of_json_objects_is_masked_with_its_indentation(tmp_path: Path):
    records = [{"full_name": row[1], "email": row[2]} for row in people()]
    masked, report = masked_csv(tmp_path, json.dumps(records, indent=2) + "\n", "people.json")
    assert report.format == "JSON"
    assert masked.startswith('[\n  {\n    "full_name": "tok_')
    assert json.dumps(json.loads(masked), indent=2) + "\n" == masked


def test_parquet_keeps_kept_types_and_the_order_of_rows(tmp_path: Path):
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    rows = people(200)
    table = pa.table(
        {name: [row[index] for row in rows] for index, name in enumerate(HEADER[:4])}
        | {
            "born": [_day(row[4]) for row in rows],
            "joined": [_day("2024-03-01")] * 200,
            "points": pa.array(range(200), pa.int32()),
            "shop": pa.array(["Graz", None, "Lienz", "Graz"] * 50).dictionary_encode(),
        }
    )
    source, out = tmp_path / "people.parquet", tmp_path / "masked.parquet"
    pq.write_table(table, source, row_group_size=64)
    policy = policy_file(
        tmp_path,
        '[columns]\npoints = "keep"\nshop = "keep"\njoined = "shift"\nborn = "generalise"\n',
    )
    report = mask(source, out, key=KEY, policy=policy, memory=False)
    back = pq.read_table(out)
    assert back.column_names == table.column_names
    assert back["points"].to_pylist() == list(range(200))
    assert back.schema.field("points").type == pa.int32()
    assert back["shop"].to_pylist() == ["Graz", None, "Lienz", "Graz"] * 50
    assert back.schema.field("joined").type == pa.date32()
    assert len({*back["joined"].to_pylist()}) > 50
    assert back["born"].to_pylist() == [row[4][:4] for row in rows]
    assert all(token.startswith("tok_") for token in back["email"].to_pylist())
    text = out.read_bytes()
    assert not any(value.encode() in text for row in rows for value in row[:4])
    assert report.rows == 200
    assert {each.changed + each.missing + each.left for each in report.columns} == {200}
    assert any("now text" in note and "born" in note for note in report.notes)


def test_an_interruption_in_a_parquet_file_stays_one_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    pq.write_table(pa.table({"email": [row[2] for row in people()]}), tmp_path / "a.parquet")

    def interrupt(*_: object) -> str:
        raise KeyboardInterrupt

    monkeypatch.setattr("aegir.masking.rows.RowMasker.mask_cell", interrupt)
    with pytest.raises(KeyboardInterrupt):
        mask(tmp_path / "a.parquet", tmp_path / "b.parquet", key=KEY, memory=False)
    assert [each.name for each in tmp_path.iterdir()] == ["a.parquet"]


def test_a_struct_is_redacted_as_a_whole_if_part_of_it_is_personal(tmp_path: Path):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    users = [{"email": row[2], "points": number} for number, row in enumerate(people())]
    pq.write_table(pa.table({"user": users, "size": range(16)}), tmp_path / "a.parquet")
    policy = policy_file(tmp_path, '[columns]\n"user*" = "tokenise"\nsize = "keep"\n')
    mask(tmp_path / "a.parquet", tmp_path / "b.parquet", key=KEY, policy=policy, memory=False)
    back = pq.read_table(tmp_path / "b.parquet")
    assert {*back["user"].to_pylist()} == {MARK}
    assert back["size"].to_pylist() == list(range(16))


def test_tokens_join_between_formats(tmp_path: Path):
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    ids = [70000 + number for number in range(16)]
    policy = policy_file(tmp_path, '[columns]\ncustomer_id = "tokenise"\n')
    pq.write_table(pa.table({"customer_id": ids, "email": [r[2] for r in people()]}), tmp_path / "a.parquet")  # fmt: skip
    mask(tmp_path / "a.parquet", tmp_path / "b.parquet", key=KEY, policy=policy, memory=False)
    tokens = pq.read_table(tmp_path / "b.parquet")["customer_id"].to_pylist()
    rows = [(str(each), row[2]) for each, row in zip(ids, people(), strict=True)]
    text, _ = masked_csv(tmp_path, as_csv(rows, ("customer_id", "email")), policy=policy)
    assert [row[0] for row in csv.reader(io.StringIO(text))][1:] == tokens
    lines = "".join(json.dumps({"customer_id": each, "email": "a@b.example"}) + "\n" for each in ids)  # fmt: skip
    text, _ = masked_csv(tmp_path, lines, "c.jsonl", policy=policy)
    assert [json.loads(line)["customer_id"] for line in text.splitlines()] == tokens


def test_what_cannot_be_rewritten_is_refused_and_leaves_nothing(tmp_path: Path):
    packed = tmp_path / "people.csv.gz"
    packed.write_bytes(gzip.compress(as_csv(people()).encode()))
    with pytest.raises(UsageError, match=r"is a gzip file; .* convert or unpack it first"):
        mask(packed, tmp_path / "out.csv")
    document = tmp_path / "people.json"
    document.write_text(json.dumps({"customers": [{"email": row[2]} for row in people()]}))
    with pytest.raises(UnreadableTable, match="no list of objects"):
        mask(document, tmp_path / "out.json", memory=False)
    assert not [*tmp_path.glob("out*"), *tmp_path.glob(".aegir*")]


def test_a_cell_whose_quotes_never_end_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("aegir.masking.delimited_files.LINE_LIMIT", 5000)
    lines = as_csv(people(3000)).splitlines()
    lines[2500] = lines[2500].replace("asked", '"asked')
    lines[2500] = lines[2500].rpartition(",")[0] + ',"never closed'
    with pytest.raises(UnreadableTable, match="a quote may be missing"):
        masked_csv(tmp_path, "\n".join(lines) + "\n")
    assert not [*tmp_path.glob("masked*"), *tmp_path.glob(".aegir*")]


def test_a_masked_copy_that_holds_an_original_value_is_not_put_in_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("aegir.masking.actions.Tokens.__call__", lambda _self, value: f" {value}")
    with pytest.raises(CheckFailed, match=r"still holds values of .*email"):
        masked_csv(tmp_path, as_csv(people()))
    assert not [*tmp_path.glob("masked*"), *tmp_path.glob(".aegir*")]


@pytest.mark.parametrize("name", ["people.csv", "people.jsonl"])
def test_rows_are_written_while_later_ones_are_still_to_be_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
):
    for module in ("text_streams", "delimited_files", "json_files"):
        monkeypatch.setattr(f"aegir.masking.{module}.PIECE", 20_000)
    monkeypatch.setattr("aegir.masking.delimited_files.ROWS_AT_ONCE", 100)
    rows = people(3000)
    lines = "".join(json.dumps(dict(zip(HEADER, row, strict=True))) + "\n" for row in rows)
    source = tmp_path / name
    source.write_text(as_csv(rows) if name.endswith("csv") else lines)
    events: list[str] = []
    write = NewContent.write

    def noted(new: NewContent, content: bytes) -> None:
        events.append("write")
        write(new, content)

    monkeypatch.setattr(NewContent, "write", noted)

    def read(done: int, total: int) -> None:
        if 2 * done <= total:  # the second half is the check
            events.append("read")

    mask(source, tmp_path / "out", key=KEY, memory=False, watch=read)
    assert events.count("read") > 10
    between_writes = "".join(each[0] for each in events).split("w")
    assert max(map(len, between_writes)) <= 8


def test_the_check_remembers_an_even_sample_within_bounds():
    originals = Originals(MOST_REMEMBERED // 1000)
    for number in range(20_000):
        originals.add(f"value-{number:06}")
    assert 300 <= len(originals) <= 1000
    assert 1 / originals.share in (16, 32, 64)
    originals.add("short")
    assert "short" not in list(originals)


def test_mask_is_a_name_of_the_package(tmp_path: Path):
    source = tmp_path / "people.csv"
    source.write_text(as_csv(people()))
    report = aegir.mask(source, tmp_path / "masked.csv", key=KEY, rows=10, memory=False)
    assert re.search(r"customer_id\s+direct\s+identifier\s+tokenise\s+16", str(report))


@pytest.mark.parametrize("key", [b"", b"short"])
def test_a_short_key_is_refused(tmp_path: Path, key: bytes):
    source = tmp_path / "people.csv"
    source.write_text(as_csv(people()))
    with pytest.raises(UsageError, match="expected at least 16"):
        mask(source, tmp_path / "masked.csv", key=key)


def test_a_header_of_two_rows_stays_in_two(tmp_path: Path):
    body = [f"{100 + n},{200 + 3 * n},{50 + n},{70 + 2 * n}" for n in range(12)]
    header = ["Sales,,Costs,", "2023,2024,2023,2024"]
    text, report = masked_csv(tmp_path, "\n".join([*header, *body]) + "\n", "sales.csv")
    assert [each.column for each in report.columns] == ["Sales 2023", "Sales 2024", "Costs 2023", "Costs 2024"]  # fmt: skip
    assert text.splitlines()[:2] == header
    assert (report.rows, len(text.splitlines())) == (12, 14)
    assert not any("joined" in note for note in report.notes)


def test_repeated_headers_are_left_out_and_totals_are_masked_as_the_notes_say(tmp_path: Path):
    rows = [(row[0], row[2], str(10 + n)) for n, row in enumerate(people())]
    header = ("customer_id", "email", "visits")
    total = ("Total", "", "280")
    content = as_csv([*rows[:5], header, *rows[5:], total], header)
    text, report = masked_csv(tmp_path, content)
    back = list(csv.reader(io.StringIO(text)))
    assert (report.rows, len(back)) == (17, 18)
    assert back[0] == list(header)
    assert "left out: 1 row that repeats the header" in report.notes
    assert back[-1][0].startswith("tok_")
    assert "totals at the end are masked like other rows" in report.notes
    assert not any("left out" in note and "totals" in note for note in report.notes)


def test_paths_that_share_a_name_are_masked_and_counted_each_by_itself(tmp_path: Path):
    mails = [row[2] for row in people()]
    records = [{"a": {"b": mail}, "a.b": "x" + mail} for mail in mails]
    text, report = masked_csv(tmp_path, json.dumps(records), "collide.json")
    assert [(each.column, each.changed, each.missing) for each in report.columns] == [("a.b", 16, 0)] * 2  # fmt: skip
    back = json.loads(text)
    assert len({record["a"]["b"] for record in back} | {record["a.b"] for record in back}) == 32
    mixed = policy_file(tmp_path, '[columns]\n"#1" = "keep"\n"#2" = "redact"\n')
    text, _ = masked_csv(tmp_path, json.dumps(records), "collide.json", policy=mixed)
    assert {record["a"]["b"] for record in json.loads(text)} == {MARK}


def test_what_is_said_about_the_file_is_followed_in_rewriting(tmp_path: Path):
    rows = [(row[0], row[2], "Żółć") for row in people()]
    content = "made by hand\n" + as_csv(rows, ("customer_id", "email", "word"), delimiter=":")
    policy = policy_file(tmp_path, '[columns]\nword = "keep"\n')
    how = {"encoding": "cp1250", "delimiter": ":", "header": 1, "skip": 1}
    source, out = tmp_path / "people.txt", tmp_path / "masked.txt"
    source.write_bytes(content.encode("cp1250"))
    report = mask(source, out, key=KEY, policy=policy, memory=False, **how)
    back = list(csv.reader(io.StringIO(out.read_bytes().decode("cp1250")), delimiter=":"))
    assert back[0] == ["customer_id", "email", "word"]
    assert {row[2] for row in back[1:]} == {"Żółć"}
    assert not any(row[1] in {old[1] for old in rows} for row in back[1:])
    assert "left out: 1 line above the table" in report.notes
    report = mask(source, out, key=KEY, memory=False, **how | {"header": "none"})
    assert report.rows == 17


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_a_byte_order_mark_is_written_once_if_the_encoding_is_given(tmp_path: Path, encoding: str):
    content = as_csv(people()).encode(encoding)
    source, out = tmp_path / "people.csv", tmp_path / "masked.csv"
    source.write_bytes(content)
    mask(source, out, key=KEY, memory=False, encoding=encoding)
    text = out.read_bytes().decode(encoding)
    assert out.read_bytes()[:2] == content[:2]
    assert "\ufeff" not in text
    assert text.splitlines()[0] == ",".join(HEADER)
