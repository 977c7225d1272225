"""The report for people: what it says, that it fits, that it cannot be abused."""

import re
from dataclasses import replace

import pytest
from rich.cells import cell_len

from aegir.answers.annotation import ColumnAnnotation, Guess, TableAnnotation
from aegir.answers.writers import render_text

NAME = ColumnAnnotation(
    index=0,
    name="full name",
    label="Person/name",
    confidence=0.972,
    kind="person",
    type="Person/name",
    type_confidence=0.972,
    fine_type=None,
    datatype="string",
    personal=True,
    personal_level="direct",
    reasons=("header says name",),
)
CODE = ColumnAnnotation(
    index=1,
    name="book code",
    label="isbn13",
    confidence=0.64,
    kind="identifier",
    type="IdentifierAT",
    type_confidence=0.7,
    fine_type="isbn13",
    datatype="integer",
    personal=False,
    relation=Guess("isbn", 0.9),
    reasons=("20 of 20 check digits hold", "13 digits"),
)
DOUBT = ColumnAnnotation(
    index=2,
    name=None,
    label=None,
    confidence=0.31,
    kind=None,
    type=None,
    type_confidence=0.2,
    fine_type=None,
    datatype="number",
    personal=False,
    runners_up=(Guess("price", 0.31),),
)
TABLE = TableAnnotation("people.csv", None, 0, (NAME, CODE, DOUBT), "rules", ("1 row was cut",))
LONG = replace(
    CODE,
    name="an endless header " * 9,
    label="EventAttendanceModeEnumeration",
    type="EventAttendanceModeEnumeration",
)


def test_the_report_reads_like_this():
    assert render_text([TABLE], colour=False, width=100) == (
        "people.csv   3 columns, subject: full name\n"
        "\n"
        "  column     type             sure  relation   personal  why\n"
        "  ---------  ---------------  ----  ---------  --------  -------------------------------------\n"
        "* full name  Person/name      0.97             yes       header says name\n"
        "  book code  isbn13           0.64  isbn 0.90            20 of 20 check digits hold; 13 digits\n"
        "  column_3   unsure (price?)  0.31\n"
        "note: 1 row was cut\n"
    )


@pytest.mark.parametrize("width", [60, 80, 100, 120])
@pytest.mark.parametrize("colour", [True, False])
def test_no_line_is_wider_than_asked(width: int, colour: bool):
    wide = replace(TABLE, table="folder/" * 40, columns=(NAME, LONG), warnings=("w" * 300,))
    text = re.sub(r"\x1b\[[0-9;]*m", "", render_text([wide], colour=colour, width=width))
    assert max(cell_len(line) for line in text.splitlines()) <= width
    assert "0.64" in text


def test_all_headings_are_readable_in_sixty_columns():
    long = replace(LONG, relation=Guess("courseModeOfDelivery", 0.91), personal=True)
    heading = render_text([replace(TABLE, columns=(long,))], colour=False, width=60).splitlines()[2]
    assert heading.split() == ["column", "type", "sure", "relation", "personal"]
    assert len(heading) <= 60


def test_reasons_are_left_out_where_there_is_no_room():
    assert "why" not in render_text([replace(TABLE, columns=(LONG,))], colour=False, width=70)
    assert "why" in render_text([replace(TABLE, columns=(LONG,))], colour=False, width=120)


def test_confidence_sets_the_colour():
    text = render_text([TABLE], colour=True, width=100)
    assert "\x1b[32m0.97\x1b[0m" in text
    assert "\x1b[33m0.64\x1b[0m" in text
    assert "\x1b[2m0.31\x1b[0m" in text


def test_without_colour_our_own_marks_are_ascii():
    assert render_text([replace(TABLE, columns=(LONG,))], colour=False, width=80).isascii()


def test_a_header_cannot_command_the_terminal():
    evil = replace(NAME, name="x\x1b[2Jy\nz\x07\u202e", reasons=("\x1b]0;title\x07",))
    text = render_text([replace(TABLE, columns=(evil,))], colour=False, width=100)
    assert "x?[2Jy z??" in text
    assert not re.search("[\x00-\x09\x0b-\x1f\u202e]", text)


def test_markup_in_a_header_is_shown_as_it_stands():
    plain = replace(NAME, name="[bold]x[/bold]")
    assert "[bold]x[/bold]" in render_text(
        [replace(TABLE, columns=(plain,))], colour=True, width=100
    )


def test_wide_characters_keep_the_columns_aligned():
    text = render_text(
        [replace(TABLE, columns=(replace(NAME, name="氏名"), CODE))], colour=False, width=100
    )
    rows = [line for line in text.splitlines() if "0.97" in line or "0.64" in line]
    assert len({cell_len(line.partition(" 0.")[0]) for line in rows}) == 1


def test_a_table_without_columns_says_so():
    assert render_text([replace(TABLE, columns=(), warnings=())], colour=False) == (
        "people.csv   0 columns\n\n"
    )


def test_several_tables_stand_apart():
    text = render_text([TABLE, TABLE], colour=False, width=100)
    assert text.count("people.csv") == 2
    assert "cut\n\npeople.csv" in text
