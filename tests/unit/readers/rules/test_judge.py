"""The judge: what it supports, how it weighs a header, and how it explains itself."""

import time

import pytest

from aegir.readers.rules import judge as judge_module
from aegir.readers.rules.judge import RULES, RuleVerdict, judge, judge_columns
from aegir.tables.table import Column
from aegir.vocabulary.hierarchy import goes_with
from aegir.vocabulary.terms import COLUMN_TYPES, FINE_TYPES


def verdict(header: str | None, *values: str) -> RuleVerdict:
    return judge(Column(header, values))


@pytest.mark.parametrize(
    ("label", "values"),
    [
        ("email", ["info&#64;example.org", "ann@example.org"]),
        ("URL", ["https://example.org/a", "https://example.org/b"]),
        ("Photograph", ["https://example.org/a.jpg"]),
        ("telephone", ["(503) 234-9831", "(503) 234-3199"]),
        ("IdentifierAT", ["978-3-16-148410-0", "9780140449136"]),
        ("Date", ["Jan. 5, 2011", "Feb. 9, 2012"]),
        ("DateTime", ["2011-02-03T04:05:06+00:00"]),
        ("Time", ["16:00:00", "12:00"]),
        ("Duration", ["PT1H17M", "PT33M"]),
        ("Duration", ["PD7TH0M0", "PD9TH0M0"]),
        ("currency", ["EUR EUR EUR", "EUR"]),
        ("Country", ["France", "Maroc"]),
        ("Country", ["GB", "AT"]),
        ("addressRegion", ["OR", "TX", "WY"]),
        ("Language", ["English", "Català"]),
        ("CoordinateAT", ["-48.2082", "-16.3738"]),
        ("postalCode", ["97301", "83702", "83702-1234"]),
        ("postalCode", ["K1A 0B1", "SW1A 1AA"]),
        ("Boolean", ["true", "False"]),
        ("GenderType", ["Male", "http://schema.org/Female"]),
        ("DayOfWeek", ["Sunday Tuesday", "http://schema.org/Friday"]),
        ("openingHours", ["Mo-Fr 09:00-17:00", "M-F 8:15AM - 4:45PM"]),
        ("priceRange", ["$$", "€10-€20"]),
        ("price", ["12,34 €", "56,00 €"]),
        ("MonetaryAmount", ["17.75 HOUR", "£310 per day"]),
        ("Energy", ["131 calories", "317 kcal"]),
        ("Mass", ["11.7 g", "23 grams of sugar"]),
        ("Distance", ["171 cm", "5′ 7″ (171cm)"]),
        ("unitCode", ["KGM", "CMT"]),
        ("unitText", ["Kg", "troy oz"]),
        ("ItemAvailability", ["https://schema.org/InStock", "OnlineOnly; OnlineOnly", "Sold out"]),
        ("OfferItemCondition", ["http://schema.org/NewCondition", "Used"]),
        ("BookFormatType", ["Paperback", "http://schema.org/EBook"]),
        (
            "DeliveryMethod",
            ["http://purl.org/goodrelations/v1#DHL http://purl.org/goodrelations/v1#UPS"],
        ),
        ("EventStatusType", ["EventScheduled", "https://schema.org/EventCancelled"]),
        ("EventAttendanceModeEnumeration", ["https://schema.org/MixedEventAttendanceMode"]),
        ("RestrictedDiet", ["VeganDiet", "https://schema.org/HalalDiet"]),
        ("paymentAccepted", ["Cash, Visa", "Bank transfer, Debit cards"]),
        ("workHours", ["40 hours per week"]),
        ("Rating", ["PG-13", "R"]),
        ("CategoryCode", ["15-1252.00 Software Developers"]),
        ("streetAddress", ["12 Harbour Road", "7 Mill Ln."]),
    ],
)
def test_values_speak_first_for_their_column_type(label: str, values: list[str]) -> None:
    support = verdict(None, *values).support
    assert support[0][0] == label
    assert 0.5 <= support[0][1] <= 1


def test_support_is_the_measured_strength_times_the_share_of_valid_cells() -> None:
    # Three of four cells are addresses; the e-mail rule's strength is 0.98: 0.75 × 0.98 = 0.735.
    support = verdict(None, "a@example.org", "b@example.org", "c@example.org", "none yet").support
    assert dict(support)["email"] == pytest.approx(0.735)


def test_a_header_turns_a_telephone_into_a_fax() -> None:
    plain = dict(verdict(None, "(212) 664-7665", "(415) 626-1234").support)
    fax = dict(verdict("Fax", "(212) 664-7665", "(415) 626-1234").support)
    assert plain["telephone"] > plain["faxNumber"]
    assert fax["faxNumber"] > fax["telephone"]


def test_a_header_never_wins_against_the_values_and_the_contradiction_is_told() -> None:
    found = verdict("e-mail", "17", "23", "42")
    assert found.fine_type is None
    assert "email" not in dict(found.support)
    assert found.evidence[-1] == (
        "header 'e-mail' suggests an email address, but the values do not agree"
    )


def test_evidence_names_count_kind_and_an_example() -> None:
    found = verdict("dob", "1984-03-07", "1990-12-31", "")
    assert found.evidence == (
        "2 of 2 values are dates, such as '1984-03-07'",
        "header 'dob' suggests a date of birth",
    )


def test_one_bare_number_with_a_lucky_check_digit_is_not_called_an_identifier() -> None:
    assert verdict(None, "5035550194").fine_type is None  # ten digits, a valid ISBN-10 by chance
    assert verdict(None, "4006381333931").fine_type is None  # one GTIN alone
    assert verdict("ean", "4006381333931").fine_type == "gtin"


def test_an_identity_number_is_told_with_its_country() -> None:
    strong = verdict(None, "30784853C", "90071284H", "04349886B")
    assert strong.evidence[0] == (
        "3 of 3 values are Spanish (DNI) identity numbers, such as '04349886B'"
    )
    bare = ("29928464308", "12107035300", "23477051807")  # valid CPF, eleven digits each
    assert verdict(None, *bare).fine_type is None
    assert verdict("cpf", *bare).fine_type == "national_id"
    assert FINE_TYPES["national_id"].personal


@pytest.mark.parametrize("values", [(), ("", "  "), ("NaN", "N/A", "null")])
def test_a_column_without_values_has_no_opinion(values: tuple[str, ...]) -> None:
    found = verdict("email", *values)
    assert (found.support, found.vetoes, found.fine_type) == ((), frozenset(), None)


def test_one_bad_column_does_not_break_the_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    sound = vars(judge_module)["summarise_column"]

    def read(column: Column) -> object:
        if column.name == "bad":
            raise RuntimeError("boom")
        return sound(column)

    monkeypatch.setattr(judge_module, "summarise_column", read)
    first, bad, last = judge_columns(
        [Column(None, ("a@b.org",)), Column("bad", ("x",)), Column(None, ("PT3M",))]
    )
    assert (first.fine_type, last.fine_type) == ("email_address", "iso_duration")
    assert "boom" in bad.evidence[0]


def test_rules_name_half_of_the_fine_types_and_every_label_is_known() -> None:
    assert len(set(FINE_TYPES) & {rule.name for rule in RULES}) >= 165
    labels = {label for rule in RULES for label, _ in rule.support}
    assert labels <= set(COLUMN_TYPES)


def test_a_rule_writes_its_fine_type_as_a_column_type_that_goes_with_it() -> None:
    written = {(rule.name, rule.column_type) for rule in RULES if rule.column_type}
    assert all(goes_with(*each) for each in written)


@pytest.mark.parametrize(
    "unit",
    ["1", "A", "a", "/a", "1,", "1.", "a-", "A1", " ", "1 ", "<", "{", "'1", "é", "5'", "m "],
)
@pytest.mark.parametrize("end", ["", "!", "\n!"])
def test_no_cell_makes_a_rule_slow(unit: str, end: str) -> None:
    """Patterns that backtrack would need minutes on these; 50 ms is a hundred times the usual cost. A pause of the
    collector counts as CPU time too, so the shortest of three tries is judged."""
    cells = [(unit * 600)[:length] + end for length in (15, 40, 80, 120, 500)]
    for header in (None, "height", "address", "account number"):
        judge(Column(header, (cells[0],)))  # patterns are compiled on first use
        for cell in cells:
            assert any(_judged_within(0.05, Column(header, (cell,))) for _ in range(3)), cell[:20]


def _judged_within(seconds: float, column: Column) -> bool:
    started = time.process_time()
    judge(column)
    return time.process_time() - started < seconds
