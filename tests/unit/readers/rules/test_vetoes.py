"""Vetoes: the impossible is ruled out, the merely odd is not."""

from aegir.readers.rules.judge import judge
from aegir.tables.table import Column
from aegir.vocabulary.terms import COLUMN_TYPES


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


def test_what_is_measured_in_a_unit_is_no_postal_code_and_no_place_on_a_map() -> None:
    distances = judge(Column("odometer_km", ("14511", "16745", "99120", "54002")))
    degrees = judge(Column("temperature_c", ("18.204", "17.911", "16.352", "-3.118")))
    assert {"postalCode", "telephone", "Date"} <= distances.vetoes
    assert "CoordinateAT" in degrees.vetoes
    assert not {"Number", "QuantitativeValue", "Distance"} & distances.vetoes
    assert "postalCode" not in vetoes("14511", "16745", "99120", "54002")


def test_yes_and_no_under_their_header_are_no_names() -> None:
    answers = judge(Column("brakes_ok", ("yes", "no", "yes")))
    assert {"Person/name", "addressRegion", "Organization"} <= answers.vetoes
    assert "Boolean" not in answers.vetoes
    assert "Organization" not in vetoes("yes", "no", "yes")


def test_a_key_is_not_dialled() -> None:
    assert "telephone" in judge(Column("customer_id", ("C-10420", "C-10421", "C-10433"))).vetoes
    assert "telephone" not in judge(Column("id", ("+43 1 58858 0", "+44 20 7946 0018"))).vetoes
    assert "IdentifierAT" not in judge(Column("customer_id", ("10420", "10421"))).vetoes
    assert "Country" in judge(Column("customer_id", ("C-10420", "C-10421"))).vetoes
    assert "Country" not in judge(Column("country_id", ("AUT", "PRT"))).vetoes
