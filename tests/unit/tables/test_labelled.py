"""Labelled tables: what a line may look like, and what is said of a line that does not."""

import gzip
import json
from pathlib import Path

import pytest

from aegir.tables.labelled import UNLABELLED, ColumnLabels, LabelledTable, read_labelled_tables
from aegir_rl.base.errors import UsageError

LINE = {
    "id": "t1",
    "domain": "Book",
    "source": "library",
    "columns": [
        {"name": "title", "values": ["Dune", None, 3], "cta": "Book/name"},
        {"name": None, "values": ["x"], "cta": ["a", "b"], "cpa": "isbn"},
        {"values": []},
    ],
}


def read(path: Path, text: str) -> list[LabelledTable]:
    path.write_text(text, encoding="utf-8")
    return list(read_labelled_tables(path))


def test_a_line_becomes_a_table_with_labels(tmp_path: Path):
    (found,) = read(tmp_path / "t.jsonl", json.dumps(LINE) + "\n\n")
    assert found.table.name == "t1"
    assert [column.name for column in found.table.columns] == ["title", None, None]
    assert found.table.columns[0].values == ("Dune", "", "3")
    assert found.table.columns[1].values == ("x", "", "")
    assert found.labels == (
        ColumnLabels.of("Book/name"),
        ColumnLabels(("a", "b"), ("isbn",)),
        UNLABELLED,
    )
    assert (found.types, found.relations) == (("Book/name", "a", None), (None, "isbn", None))
    assert not found.in_open_form
    assert (found.domain, found.group, found.origin) == ("Book", None, {"source": "library"})
    assert found.table.subject is None
    assert found.with_subject(1).table.subject == 1


OPEN_LINE = {
    "id": "staff.csv",
    "source": "example/payroll",
    "group": "example/payroll",
    "domain": "hr",
    "language": "en",
    "columns": [
        {
            "name": "salary",
            "values": ["3100", "2800"],
            "types": ["MonetaryAmount", "Number"],
            "fine": ["salary"],
            "relation": [],
            "personal": True,
            "meaning": "monthly pay",
        },
        {"name": "status", "values": ["on leave"], "types": [], "fine": [], "personal": False},
        {"name": "x", "values": ["1"]},
    ],
}


def test_the_open_form_becomes_the_same_labels(tmp_path: Path):
    (found,) = read(tmp_path / "t.jsonl", json.dumps(OPEN_LINE))
    assert found.labels == (
        ColumnLabels(
            ("MonetaryAmount", "Number"), (), ("salary",), personal=True, meaning="monthly pay"
        ),
        ColumnLabels(types=(), relations=None, fine=(), personal=False),
        UNLABELLED,
    )
    assert found.types == ("MonetaryAmount", None, None)
    assert found.in_open_form
    assert (found.group, found.domain, found.language) == ("example/payroll", "hr", "en")
    assert found.origin == {"source": "example/payroll"}


def test_none_of_the_types_is_a_label_and_no_label_is_not():
    none, unknown = ColumnLabels(types=()), UNLABELLED
    assert none.in_open_form
    assert not unknown.in_open_form
    assert none.accepted("cta") == unknown.accepted("cta") == ()


def test_a_subject_may_be_given(tmp_path: Path):
    (found,) = read(tmp_path / "t.jsonl", json.dumps({**LINE, "subject": 2}))
    assert (found.table.subject, found.subjects) == (2, (2,))


@pytest.mark.parametrize(
    ("subject", "first", "all_of_them"),
    [([2, 0], 2, (2, 0)), ([1], 1, (1,)), ([], None, ()), (None, None, None)],
)
def test_several_subjects_may_be_acceptable_or_none(
    tmp_path: Path,
    subject: list[int] | None,
    first: int | None,
    all_of_them: tuple[int, ...] | None,
):
    (found,) = read(tmp_path / "t.jsonl", json.dumps({**LINE, "subject": subject}))
    assert (found.table.subject, found.subjects) == (first, all_of_them)


def test_none_may_be_acceptable_beside_types():
    labels = ColumnLabels(("category", "CategoryCode"))
    assert labels.right_types == ("category", "CategoryCode")
    assert [labels.accepts_type(name) for name in ("category", "Date", None)] == [
        True,
        False,
        False,
    ]
    too = ColumnLabels(("category",), none_too=True)
    assert too.right_types == ("category", None)
    assert [too.accepts_type(name) for name in ("category", "Date", None)] == [True, False, True]
    assert ColumnLabels(()).right_types == (None,)
    assert ColumnLabels(()).accepts_type(None) is True
    assert ColumnLabels(()).accepts_type("Date") is False
    assert UNLABELLED.right_types is None
    assert UNLABELLED.accepts_type(None) is None


def test_rows_and_levels_are_labels_of_the_open_form(tmp_path: Path):
    line = {
        "row": "employee",
        "row_class": "person",
        "person": "self",
        "columns": [
            {"values": [], "personal_level": "direct"},
            {"values": [], "personal": False},
            {"values": [], "personal": True, "special": True},
        ],
    }
    (found,) = read(tmp_path / "t.jsonl", json.dumps(line))
    assert (found.row, found.row_class, found.person) == ("employee", "person", "self")
    assert [labels.personal for labels in found.labels] == [True, False, True]
    assert [labels.level_known for labels in found.labels] == [True, True, False]
    assert found.in_open_form
    (bare,) = read(tmp_path / "t.jsonl", '{"row_class": "person", "columns": []}')
    assert bare.in_open_form


@pytest.mark.parametrize(("stated", "trust"), [(0, 0.0), (0.7, 0.7), (None, 1.0)])
def test_a_reader_is_trusted_as_far_as_it_says(tmp_path: Path, stated: float | None, trust: float):
    column: dict[str, object] = {"values": [], "read": "Date", "read_confidence": stated}
    (found,) = read(tmp_path / "t.jsonl", json.dumps({"columns": [column]}))
    assert (found.labels[0].types, found.labels[0].trust) == (("Date",), trust)


def test_a_web_table_stays_one_where_a_reader_found_no_type(tmp_path: Path):
    columns = [{"values": [], "read": "none"}, {"values": [], "read_relation": None}]
    (found,) = read(tmp_path / "t.jsonl", json.dumps({"columns": columns}))
    assert [labels.types for labels in found.labels] == [(), None]
    assert found.labels[1].relations == ()
    assert not found.in_open_form


def test_a_packed_file_reads_like_a_plain_one(tmp_path: Path):
    line = json.dumps(LINE)
    (tmp_path / "t.jsonl.gz").write_bytes(gzip.compress(line.encode()))
    assert list(read_labelled_tables(tmp_path / "t.jsonl.gz")) == read(tmp_path / "t.jsonl", line)


def test_a_table_without_id_is_named_by_its_line(tmp_path: Path):
    (found,) = read(tmp_path / "t.jsonl", '{"columns": []}')
    assert found.table.name.endswith("t.jsonl:1")


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("{", r"t\.jsonl:2 is not JSON"),
        ("[" * 100_000, r"t\.jsonl:2 is not JSON"),
        ("[1]", r"t\.jsonl:2 has no list of columns"),
        ('{"columns": 3}', r"t\.jsonl:2 has no list of columns"),
        ('{"columns": ["x"]}', r"t\.jsonl:2 has no list of columns"),
        ('{"columns": [{"name": "a"}]}', r"t\.jsonl:2, column 0 has no list of values"),
        (
            '{"table": "t", "annotator": "rules", "columns": [{"name": "a", "type": "URL"}]}',
            r"t\.jsonl:2 is an answer of `aegir annotate`",
        ),
        ('{"columns": [{"name": 3, "values": []}]}', r"t\.jsonl:2, column 0: name is 3"),
        (
            '{"columns": [{"values": [], "personal": false, "personal_level": "about"}]}',
            r"t\.jsonl:2, column 0: personal_level is 'about' but personal is false",
        ),
        (
            '{"columns": [{"values": [], "read": "Date", "read_confidence": true}]}',
            r"t\.jsonl:2, column 0: read_confidence is True; expected a share from 0 to 1",
        ),
        ('{"subject": [0, 3], "columns": [{"values": []}]}', r"subject is \[0, 3\]; expected a"),
        ('{"subject": true, "columns": [{"values": []}]}', r"t\.jsonl:2: subject is True"),
        ('{"columns": [{"values": [], "cta": 7}]}', r"t\.jsonl:2, column 0: cta is 7"),
        ('{"columns": [{"values": [], "cpa": [7]}]}', r"t\.jsonl:2, column 0: cpa is \[7\]"),
        ('{"columns": [{"values": [], "types": [7]}]}', r"t\.jsonl:2, column 0: types is \[7\]"),
        ('{"columns": [{"values": [], "fine": {}}]}', r"t\.jsonl:2, column 0: fine is {}"),
        (
            '{"columns": [{"values": [], "personal": "no"}]}',
            r"column 0: personal is 'no'; expected",
        ),
        (
            '{"columns": [{"values": [], "cta": "URL", "types": []}]}',
            r"t\.jsonl:2, column 0 has labels of both forms; expected cta and cpa, or types, fine",
        ),
        ('{"columns": [], "group": 3}', r"t\.jsonl:2: group is 3; expected text or null"),
        ('{"columns": [{"values": []}], "subject": 1}', r"t\.jsonl:2: subject is 1"),
        ('{"columns": [{"values": []}], "subject": true}', r"t\.jsonl:2: subject is True"),
    ],
    ids=lambda text: text[:40],
)
def test_a_line_that_is_no_table_is_named(tmp_path: Path, line: str, sentence: str):
    with pytest.raises(UsageError, match=sentence) as refused:
        read(tmp_path / "t.jsonl", f"{json.dumps(LINE)}\n{line}\n")
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "is empty"),
        (b'{"columns": []}\n\xff\xfe', "is not UTF-8 text"),
        (gzip.compress(b'{"columns": []}\n' * 500)[:40], "cannot read labelled tables"),
        (gzip.compress(b"")[:10] + b"\xff" * 30, "cannot read labelled tables"),
        (b"not packed", "cannot read labelled tables"),
    ],
    ids=["empty", "other encoding", "breaks off", "scrambled", "not packed"],
)
def test_a_file_that_breaks_off_or_is_something_else_is_named(
    tmp_path: Path, content: bytes, sentence: str
):
    path = tmp_path / ("t.jsonl.gz" if "labelled" in sentence else "t.jsonl")
    path.write_bytes(content)
    with pytest.raises(UsageError, match=sentence) as refused:
        list(read_labelled_tables(path))
    assert str(path) in str(refused.value)


def test_a_missing_file_and_a_folder_are_named(tmp_path: Path):
    for path, reason in ((tmp_path / "no.jsonl", "No such file"), (tmp_path, "directory")):
        with pytest.raises(UsageError, match=reason):
            list(read_labelled_tables(path))
