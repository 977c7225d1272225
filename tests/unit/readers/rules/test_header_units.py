"""Units in headers: what they measure, and words that only look like units."""

import pytest

from aegir.readers.rules.headers import hints_of
from aegir.readers.rules.judge import judge
from aegir.tables.table import Column

NUMBERS = ("4012", "4714", "3998.5", "1800", "2044")


@pytest.mark.parametrize(
    ("header", "name"),
    [
        ("length_mm", "length"),
        ("Width (cm)", "length"),
        ("odometer_km", "length"),
        ("depth_m", "length"),
        ("mass_kg", "mass"),
        ("Weight [g]", "mass"),
        ("duration_ms", "duration"),
        ("elapsed_s", "duration"),
        ("wait_min", "duration"),
        ("co_percent", "percentage"),
        ("share_pct", "percentage"),
        ("Humidity (%)", "percentage"),
        ("temperature_c", "temperature"),
        ("outside_celsius", "temperature"),
        ("engine_cc", "volume"),
        ("energy_kcal", "energy"),
        ("transferred_bytes", "file_size"),
        ("power_kw", "measurement"),
        ("noise_db", "measurement"),
        ("pressure_hpa", "measurement"),
    ],
)
def test_the_unit_in_a_header_says_what_bare_numbers_measure(header: str, name: str) -> None:
    verdict = judge(Column(header, NUMBERS))
    assert verdict.fine_type == name
    assert verdict.support[0][0] == "Number"


@pytest.mark.parametrize(
    "header",
    ["vitamin_c", "check_in", "price_min", "group_a", "model_s", "player_h", "mm", "class f"],
)
def test_a_short_word_without_its_dimension_is_no_unit(header: str) -> None:
    measured = {"length", "mass", "duration", "temperature", "volume", "measurement"}
    assert not measured & set(hints_of(header))


def test_a_unit_wins_against_a_word_of_another_dimension() -> None:
    assert "duration" in hints_of("length")
    assert set(hints_of("length_mm")) == {"length"}


def test_years_are_not_seen_in_widths_nor_postal_codes_in_distances() -> None:
    widths = judge(Column("width_mm", ("1855", "1874", "1801", "1790", "1822")))
    distances = judge(Column("odometer_km", ("14511", "16745", "99120", "54002", "10115")))
    assert "Date" not in dict(widths.support)
    assert "Date" in dict(judge(Column(None, ("1855", "1874", "1801", "1790"))).support)
    assert dict(distances.support).get("postalCode", 0) < 0.2
    assert dict(judge(Column("zip", ("14511", "16745"))).support)["postalCode"] > 0.8


def test_a_header_with_a_unit_does_not_win_against_text() -> None:
    assert judge(Column("length_mm", ("long", "short", "long"))).fine_type is None
