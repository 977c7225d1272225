"""The report for people: what it says, that it fits, that it cannot be abused."""

import re
from dataclasses import replace

import pytest

from aegir.answers.annotation import ColumnAnnotation, Guess, TableAnnotation
from aegir.answers.cells import cell_length
from aegir.answers.routing import RouterScore, Timing
from aegir.answers.text_report import render_text
from aegir.tables.table import Declared

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
FLAG = ColumnAnnotation(
    index=3,
    name="state",
    label="category",
    confidence=0.41,
    kind="category",
    type=None,
    type_confidence=0.8,
    fine_type=None,
    datatype="string",
    personal=False,
    relation=Guess("status", 0.4),
    reasons=("3 different words",),
)
TABLE = TableAnnotation(
    "people.csv", None, 0, (NAME, CODE, DOUBT, FLAG), "rules", ("1 row was cut",)
)
LONG = replace(
    CODE,
    name="an endless header " * 9,
    label="EventAttendanceModeEnumeration",
    type="EventAttendanceModeEnumeration",
)


def lines_of(*columns: ColumnAnnotation, width: int = 100, why: bool = False) -> list[str]:
    """The lines below the headings."""
    table = replace(TABLE, columns=columns, warnings=())
    return render_text([table], colour=False, width=width, why=why).splitlines()[4:]


def test_the_report_reads_like_this():
    assert render_text([TABLE], colour=False, width=108) == (
        "people.csv   4 columns, subject: full name, 1 personal\n"
        "\n"
        "  column     label                sure  relation           personal  why\n"
        "  ---------  -------------------  ----  -----------------  --------  -------------------------------------\n"
        "* full name  Person/name          0.97                     direct    header says name\n"
        "  book code  isbn13 (identifier)  0.64  isbn 0.90                    20 of 20 check digits hold; 13 digits\n"
        "  column_3   unsure (price?)      0.31\n"
        "  state      maybe category       0.41  maybe status 0.40            3 different words\n"
        "note: 1 row was cut\n"
    )


def test_maybe_goes_by_the_number_that_is_shown():
    for confidence, shown in ((0.4949, "maybe category  0.49"), (0.4951, "category  0.50")):
        text = render_text(
            [replace(TABLE, columns=(replace(FLAG, confidence=confidence),))], colour=False
        )
        assert f"  {shown} " in text


def test_asked_why_it_prints_every_reason_whole_and_the_next_best_answers():
    name = replace(
        NAME,
        personal_reason="names a person",
        runners_up=(Guess("author_name", 0.02), Guess("Book/name", 0.001)),
        reasons=(
            "20 of 20 values are capitalised names of two words or more, such as 'Ann Lee'",
            "b",
        ),
    )
    code = replace(CODE, relation_runners_up=(Guess("gtin", 0.07),))
    flag = replace(FLAG, relation=None, relation_runners_up=(Guess("status", 0.3),))
    table = replace(TABLE, columns=(name, code, DOUBT, flag))
    assert render_text([table], colour=False, width=72, why=True) == (
        "people.csv   4 columns, subject: full name, 1 personal\n"
        "\n"
        "  column     label                sure  relation   personal\n"
        "  ---------  -------------------  ----  ---------  --------\n"
        "* full name  Person/name          0.97             direct\n"
        "    - 20 of 20 values are capitalised names of two words or more, such\n"
        "      as 'Ann Lee'\n"
        "    - b\n"
        "    personal: names a person\n"
        "    next best: author_name 0.02\n"
        "  book code  isbn13 (identifier)  0.64  isbn 0.90\n"
        "    - 20 of 20 check digits hold\n"
        "    - 13 digits\n"
        "    other relations: gtin 0.07\n"
        "  column_3   unsure (price?)      0.31\n"
        "    perhaps: price 0.31\n"
        "  state      maybe category       0.41\n"
        "    - 3 different words\n"
        "    no relation, perhaps: status 0.30\n"
        "note: 1 row was cut\n"
    )


def test_a_sure_fine_type_stands_before_its_unsure_type():
    (line,) = lines_of(replace(CODE, confidence=0.96, type_confidence=0.3))
    assert " isbn13 (maybe identifier)  0.96 " in line


def test_where_room_is_short_types_go_first_and_numbers_never():
    wide = replace(CODE, label="cloud_resource", relation=Guess("courseModeOfDelivery", 0.91))
    assert lines_of(wide, width=60) == ["  book code  cloud_resource  0.64  courseM... 0.91"]
    (roomy,) = lines_of(wide, width=100)
    assert " cloud_resource (identifier)  0.64  courseModeOfDelivery 0.91" in roomy


def test_a_column_without_values_is_not_called_unsure():
    empty = replace(DOUBT, datatype="empty", confidence=0.0, runners_up=())
    assert lines_of(empty) == ["  column_3  no values"]
    assert lines_of(replace(empty, datatype="string")) == ["  column_3  unsure"]


def test_a_personal_column_of_unknown_level_says_yes():
    assert lines_of(replace(NAME, personal_level=None, reasons=()))[0].endswith("  yes")


@pytest.mark.parametrize("width", range(96, 121))
def test_reasons_are_cut_between_words(width: int):
    reason = "20 of 20 values are e-mail addresses, such as 'ann.lee@example.org'"
    words = reason.split()
    (line,) = lines_of(replace(CODE, reasons=(reason, "header 'mail' suggests it")), width=width)
    shown = line.partition("isbn 0.90")[2].strip()
    whole = [f"{' '.join(words[:count]).rstrip(',')}..." for count in range(1, len(words) + 5)]
    assert shown in whole or shown == f"{reason}; header 'mail' suggests it"
    assert not shown.endswith(("such...", "as..."))


def test_a_word_longer_than_its_room_is_left_out_or_broken_over_lines():
    link = "https://example.org/" + "x" * 200
    assert lines_of(replace(CODE, reasons=(f"such as {link}",)))[0].endswith("  ...")
    explained = lines_of(replace(CODE, reasons=(link,)), width=60, why=True)[1:]
    assert "".join(line.strip(" -") for line in explained) == link


@pytest.mark.parametrize("width", [60, 80, 100, 120])
@pytest.mark.parametrize("colour", [True, False])
def test_no_line_is_wider_than_asked(width: int, colour: bool):
    wide = replace(
        TABLE,
        table="folder/" * 40,
        columns=(NAME, replace(LONG, reasons=("名" * 99, "r" * 200))),
        warnings=("w" * 300,),
    )
    for why in (False, True):
        report = render_text([wide], colour=colour, width=width, why=why)
        text = re.sub(r"\x1b\[[0-9;]*m", "", report)
        assert max(cell_length(line) for line in text.splitlines()) <= width
        assert "0.64" in text


def test_all_headings_are_readable_in_sixty_columns():
    long = replace(LONG, relation=Guess("courseModeOfDelivery", 0.91), personal=True)
    heading = render_text([replace(TABLE, columns=(long,))], colour=False, width=60).splitlines()[2]
    assert heading.split() == ["column", "label", "sure", "relation", "personal"]
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
    for why in (False, True):
        text = render_text([replace(TABLE, columns=(evil,))], colour=False, width=100, why=why)
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
    assert len({cell_length(line.partition(" 0.")[0]) for line in rows}) == 1


def test_a_table_without_columns_says_so():
    assert render_text([replace(TABLE, columns=(), warnings=())], colour=False) == (
        "people.csv   0 columns\n\n"
    )


def test_several_tables_stand_apart():
    text = render_text([TABLE, TABLE], colour=False, width=100)
    assert text.count("people.csv") == 2
    assert "cut\n\npeople.csv" in text


def test_a_swarm_has_a_line_that_says_who_was_woken():
    routing = (RouterScore("names", 0.12, False), RouterScore("geo", 0.83, True))
    columns = tuple(replace(each, routing=routing) for each in (NAME, CODE))
    table = replace(TABLE, columns=columns, warnings=())
    last = render_text([table], colour=False, width=100).splitlines()[-1]
    assert last == "  woken: geo 2 of 2 columns"
    timed = replace(table, timing=Timing(0.0123, 0.0456, ()))
    last = render_text([timed], colour=False, width=100).splitlines()[-1]
    assert last == "  woken: geo 2 of 2 columns; critical path 0.012 s, cost 0.046 CPU s"
    nobody = replace(table, columns=(replace(NAME, routing=routing[:1]),))
    assert "woken: no specialist of 1 column" in render_text([nobody], colour=False)
    why = render_text([table], colour=False, width=100, why=True)
    assert "    specialists: geo 0.83, names 0.12 (not woken)\n" in why
    assert "woken" not in render_text([TABLE], colour=False)


def test_asked_why_it_says_what_is_declared_and_that_nothing_was_seen():
    declared = Declared("DATE", True, "people.born", "day of birth")
    shown = "\n".join(lines_of(replace(CODE, all_missing=True, declared=declared), why=True))
    assert "declared: DATE, primary key, references people.born, 'day of birth'" in shown
    assert "missing: every value" in shown
