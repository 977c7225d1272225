"""Tables of rules: how a line becomes a rule, and which lines are refused."""

from pathlib import Path

import pytest

from aegir.readers.rules import rule
from aegir.readers.rules.column_summary import DIGIT, LETTER, SPACE, ColumnSummary
from aegir.readers.rules.judge import RULES
from aegir.readers.rules.rule import COLUMNS, PATTERNS, TABLES, Pattern, ValueRule, read_rules


def is_even(value: str) -> bool:
    return int(value) % 2 == 0


def share_of_all(summary: ColumnSummary) -> float:
    return float(summary.total > 0)


ODD = Pattern(r"\d*[13579]")
TESTS = {"is_even": is_even, "share_of_all": share_of_all, "ODD": ODD}


def read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *cells: str) -> ValueRule:
    """The rule of a table with one line, filled with empty fields on the right."""
    fields = [*cells, *[""] * (len(COLUMNS.split()) - len(cells))]
    lines = ["\t".join(COLUMNS.split()), "\t".join(fields)]
    (tmp_path / "made_up.tsv").write_text("\n".join(lines) + "\n")
    monkeypatch.setattr(rule, "TABLES", tmp_path)
    (made,) = read_rules("made_up", TESTS)
    return made


def test_every_field_of_a_line_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cells = ("even", "even numbers", "is_even", "DIGIT", "LETTER|SPACE", "1-9", "0.8", "0.9", "3")
    support, options = "Number 0.5|Rating 0.1", "weak max_values=30 column_type=Number"
    assert read(tmp_path, monkeypatch, *cells, support, options, "4 of 7") == ValueRule(
        "even",
        "even numbers",
        is_even,
        support=(("Number", 0.5), ("Rating", 0.1)),
        confidence=0.8,
        confidence_with_header=0.9,
        needs=DIGIT,
        excludes=LETTER | SPACE,
        length=(1, 9),
        min_distinct=3,
        max_values=30,
        weak=True,
        column_type="Number",
    )


def test_empty_fields_stand_for_defaults_and_a_share_is_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = read(tmp_path, monkeypatch, "any", "values", "share_of_all")
    assert made == ValueRule("any", "values", measure=share_of_all)


def test_a_test_may_be_a_method_of_a_pattern(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = read(tmp_path, monkeypatch, "odd", "odd numbers", "ODD.fullmatch")
    assert made.accepts is not None
    assert made.accepts("13")
    assert not made.accepts("12")


def test_a_pattern_may_name_another_and_all_compile() -> None:
    assert PATTERNS["md5"].fullmatch("d41d8cd98f00b204e9800998ecf8427e")
    assert PATTERNS["percentage"].fullmatch("12.5 %")  # it names `number`
    for each in PATTERNS.values():
        each.search("")


@pytest.mark.parametrize(
    ("column", "cell"),
    [(2, "is_prime"), (3, "DIGITS"), (5, "9"), (6, "high"), (9, "Number"), (10, "loud")],
)
def test_a_line_that_names_what_there_is_not_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, column: int, cell: str
) -> None:
    cells = ["even", "even numbers", "is_even", *[""] * (len(COLUMNS.split()) - 3)]
    cells[column] = cell
    with pytest.raises((KeyError, ValueError)):
        read(tmp_path, monkeypatch, *cells)


def test_every_line_of_every_table_is_a_rule() -> None:
    lines = [
        line.split("\t")
        for path in TABLES.glob("*.tsv")
        if path.name not in ("allowed_types.tsv", "patterns.tsv")
        for line in path.read_text(encoding="utf-8").splitlines()[1:]
    ]
    named = {(made.name, made.noun) for made in RULES}
    assert {(line[0], line[1]) for line in lines} <= named
    assert all(made.accepts or made.measure for made in RULES)
