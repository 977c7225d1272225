"""Declared types, keys and comments as evidence."""

import numpy as np
import pytest

from aegir.pipeline.declared_evidence import apply_declared, as_read, declared_datatype
from aegir.readers.scores import Explanation, TableScores
from aegir.tables.table import Column, Declared, Table
from aegir.vocabulary.terms import FINE_INDEX, FINE_NAMES, TYPE_INDEX, TYPE_NAMES

CELLS = ("a", "b")


def weighed(
    declared: Declared | None, types: dict[str, float], fine: dict[str, float]
) -> TableScores:
    rows = np.zeros((1, len(TYPE_NAMES)), np.float32), np.zeros((1, len(FINE_NAMES)), np.float32)
    for row, index, given in zip(rows, (TYPE_INDEX, FINE_INDEX), (types, fine), strict=True):
        for name, probability in given.items():
            row[0, index[name]] = probability
    scores = TableScores(
        rows[0], np.zeros((1, 108), np.float32), None, (Explanation(),), fine=rows[1]
    )
    return apply_declared(Table("t", (Column("a", CELLS, declared),)), scores)


def likeliest(scores: TableScores) -> tuple[str, str]:
    assert scores.fine is not None
    return TYPE_NAMES[int(scores.types[0].argmax())], FINE_NAMES[int(scores.fine[0].argmax())]


@pytest.mark.parametrize(
    ("declared", "types", "fine", "expected"),
    [
        ("BOOLEAN", {"Number": 0.7, "Boolean": 0.2}, {"count": 0.7, "boolean_flag": 0.2}, ("Boolean", "boolean_flag")),
        ("tinyint(1)", {"Number": 0.7, "Boolean": 0.2}, {"count": 0.7, "boolean_flag": 0.2}, ("Boolean", "boolean_flag")),
        ("date", {"Number": 0.6, "Date": 0.3}, {"count": 0.6, "date_of_birth": 0.3}, ("Date", "date_of_birth")),
        ("timestamp with time zone", {"Number": 0.6, "DateTime": 0.3}, {"count": 0.6, "datetime": 0.3}, ("DateTime", "datetime")),
        ("UUID", {"CategoryCode": 0.6, "IdentifierAT": 0.3}, {"status": 0.6, "uuid": 0.3}, ("IdentifierAT", "uuid")),
        ("BIGINT", {"Person/name": 0.6, "Number": 0.3}, {"full_name": 0.6, "count": 0.3}, ("Number", "count")),
        ("VARCHAR(20)", {"Person/name": 0.6, "Number": 0.3}, {"full_name": 0.6, "count": 0.3}, ("Person/name", "full_name")),
    ],
)  # fmt: skip
def test_a_declared_type_rules_out_what_it_cannot_hold(
    declared: str, types: dict[str, float], fine: dict[str, float], expected: tuple[str, str]
):
    assert likeliest(weighed(Declared(declared), types, fine)) == expected


def test_values_of_which_readers_are_sure_win_against_a_wrong_declaration():
    scores = weighed(Declared("DATE"), {"Person/name": 0.998, "Date": 0.001}, {"full_name": 0.998})
    assert likeliest(scores) == ("Person/name", "full_name")


def test_a_key_speaks_for_identifiers_and_says_so():
    types, fine = {"Number": 0.6, "IdentifierAT": 0.3}, {"count": 0.6, "primary_key": 0.3}
    scores = weighed(Declared(None, True, "people.id"), types, fine)
    assert likeliest(scores) == ("IdentifierAT", "primary_key")
    assert scores.types[0, TYPE_INDEX["IdentifierAT"]] == pytest.approx(
        1.5 / 2.2
    )  # 0.3 * 5 of 0.6 + 1.5 + 0.1
    assert scores.explanations[0].evidence == (
        "declared as a primary key",
        "declared to reference people.id",
    )


def test_a_comment_is_read_behind_the_header_and_never_without_names():
    column = Column(
        "c17", CELLS, Declared(comment="date of birth of the patient who came to see us")
    )
    table = Table("t", (column, Column("d", CELLS)))
    assert [each.name for each in as_read(table).columns] == [
        "c17 date of birth of the patient who came",
        "d",
    ]
    hidden = as_read(table, ignore_names=True)
    assert (hidden.name, [each.name for each in hidden.columns]) == ("", [None, None])
    plain = Table("t", (Column("d", CELLS),))
    assert as_read(plain) is plain


def test_declared_types_tell_the_datatype_of_what_was_not_read():
    known = {
        "INTEGER": "integer",
        "int(11) unsigned": "integer",
        "numeric(8,2)": "number",
        "BOOL": "boolean",
    }
    assert {name: declared_datatype(Declared(name)) for name in known} == known
    assert declared_datatype(Declared("VARCHAR")) is declared_datatype(None) is None
