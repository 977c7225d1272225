import pytest

from aegir.answers.cells import (
    cell_length,
    first_cells,
    table_lines,
    wrapped,
)


@pytest.mark.parametrize(
    ("text", "cells"),
    [
        ("", 0),
        ("name", 4),
        ("Forlì", 5),
        ("e\u0301", 1),
        ("氏名", 4),
        ("ｆｕｌｌ", 8),
        ("\u200bx", 1),
    ],
)
def test_wide_letters_take_two_cells_and_marks_none(text: str, cells: int):
    assert cell_length(text) == cells


def test_a_beginning_never_holds_half_a_letter():
    assert first_cells("氏名氏", 5) == "氏名"
    assert first_cells("abcdef", 5) == "abcde"
    assert first_cells("e\u0301a", 1) == "e\u0301"


@pytest.mark.parametrize(
    ("text", "size", "lines"),
    [
        ("a longer sentence", 8, ["a longer", "sentence"]),
        ("", 8, [""]),
        ("abcdefghij kl", 4, ["abcd", "efgh", "ij", "kl"]),
        ("氏名 氏名", 5, ["氏名", "氏名"]),
        ("氏名", 1, ["氏", "名"]),
    ],
)
def test_text_is_broken_between_words_and_within_words_that_are_too_long(
    text: str, size: int, lines: list[str]
):
    assert [line.strip() for line in wrapped(text, size)] == lines


def test_numbers_stand_to_the_right_and_a_heading_may_stand_out():
    assert table_lines(
        ("class", "F1"), [("a very long heading",), ("Book", "0.9"), ("氏", "1")]
    ) == [
        "class   F1",
        "a very long heading",
        "Book   0.9",
        "氏       1",
    ]


def test_the_last_column_of_texts_is_broken_into_lines():
    lines = table_lines(("", "evidence"), [("yes", "word " * 12)], numbers=False, width=50)
    assert lines[0] == "     evidence"
    assert lines[1:] == ["yes  " + " ".join(["word"] * 9), "     " + " ".join(["word"] * 3)]
    assert max(map(len, lines)) <= 50


def test_a_table_without_rows_has_its_header():
    assert table_lines(("class", "F1"), []) == ["class  F1"]
