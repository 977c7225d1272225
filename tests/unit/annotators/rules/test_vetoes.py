"""Vetoes: the impossible is ruled out, the merely odd is not."""

from aegir.annotators.rules.judge import judge
from aegir.tables.table import Column
from aegir.vocabulary.types import COLUMN_TYPES


def vetoes(*values: str) -> frozenset[str]:
    return judge(Column(None, values)).vetoes


def test_text_without_an_at_sign_is_no_email() -> None:
    assert "email" in vetoes("Harbour", "Mill")
    assert "email" not in vetoes("ann@example.org", "none")


def test_text_without_digits_is_no_measure() -> None:
    assert {"DateTime", "CoordinateAT", "Mass", "faxNumber"} <= vetoes("Harbour", "Mill")


def test_numbers_are_no_prose_and_no_enumeration_but_may_be_titles() -> None:
    ruled_out = vetoes("1984", "1917")
    assert {"Recipe/description", "Review", "ItemAvailability", "Person/name"} <= ruled_out
    assert not {"Book/name", "Movie/name", "MusicAlbum/name", "Boolean", "Date"} & ruled_out


def test_long_cells_are_no_codes() -> None:
    assert {"postalCode", "Country", "telephone"} <= vetoes(
        "a sentence of forty characters and some more"
    )


def test_links_are_no_dates_but_may_be_enumeration_members() -> None:
    ruled_out = vetoes("https://schema.org/InStock")
    assert "Date" in ruled_out
    assert "ItemAvailability" not in ruled_out


def test_every_vetoed_label_is_a_column_type() -> None:
    for cells in (("x",), ("1",), ("y" * 90,), ("https://example.org/a",), ("½",)):
        assert vetoes(*cells) <= set(COLUMN_TYPES)
