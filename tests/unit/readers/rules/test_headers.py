"""Header words: splitting, languages, and which phrase counts."""

import pytest

from aegir.readers.rules.gazetteers import header_phrases
from aegir.readers.rules.headers import MEASURES, hints_of, words_of
from aegir.readers.rules.judge import judge
from aegir.tables.table import Column
from aegir.vocabulary.terms import FINE_TYPES


@pytest.mark.parametrize(
    "header",
    ["dateOfBirth", "date_of_birth", "Date of Birth", "DATE-OF-BIRTH", "customer.date.of.birth"],
)
def test_case_and_separators_do_not_matter(header: str) -> None:
    assert hints_of(header)["date_of_birth"] == "date of birth"
    assert "date" not in hints_of(header)


@pytest.mark.parametrize(
    ("header", "name"),
    [
        ("Vorname", "first_name"),
        ("apellidos", "last_name"),
        ("fecha de nacimiento", "date_of_birth"),
        ("date de naissance", "date_of_birth"),
        ("Preis (EUR)", "item_price"),
        ("precio", "item_price"),
        ("PLZ", "postal_code"),
        ("code postal", "postal_code"),
        ("Telefonnummer", "telephone_number"),
        ("customerEmail2", "email_address"),
    ],
)
def test_common_headers_are_known_in_several_languages(header: str, name: str) -> None:
    assert name in hints_of(header)


@pytest.mark.parametrize(
    ("header", "name"),
    [
        ("petal length", "duration"),
        ("total sulfur dioxide", "currency_amount"),
        ("percent of students who read", "percentage"),
        ("army_size", "file_size"),
        ("name", "full_name"),
    ],
)
def test_words_that_only_qualify_are_no_hint(header: str, name: str) -> None:
    assert name not in hints_of(header)


def test_brackets_and_units_are_not_words() -> None:
    assert words_of("Body height (approx.) 2 cm") == ("body", "height")
    assert words_of("HTTPServerURL") == ("http", "server", "url")


def test_every_hint_is_at_a_fine_type() -> None:
    assert set(header_phrases()) <= set(FINE_TYPES)
    assert set(FINE_TYPES) >= MEASURES


@pytest.mark.parametrize(
    ("header", "values", "fine_type"),
    [
        ("GEBDAT", "19840307 ¦ 19901231 ¦ 19720115", "date_of_birth"),
        ("Дата рождения", "07.03.1984 ¦ 31.12.1990", "date_of_birth"),
        ("生年月日", "1984/03/07 ¦ 1990/12/31", "date_of_birth"),
        ("性別", "男 ¦ 女 ¦ 女", "gender"),
        ("Пол", "М ¦ Ж ¦ Ж", "gender"),
        ("الجنس", "ذكر ¦ أنثى", "gender"),
        ("Оклад", "45000 ¦ 70000 ¦ 52000", "salary"),
        ("gross_pay", "4500.10 ¦ 3900.00", "salary"),
        ("Паспорт", "4512 345678 ¦ 4509 112233", "passport_number"),
        ("FAMST", "ledig ¦ verh. ¦ gesch.", "marital_status"),
        ("Situation familiale", "marié ¦ célibataire", "marital_status"),
        ("手机号", "13800138000 ¦ 13912345678", "telephone_number"),
    ],
)
def test_headers_of_other_languages_and_abbreviations_are_read(
    header: str, values: str, fine_type: str
) -> None:
    assert judge(Column(header, tuple(values.split(" ¦ ")))).fine_type == fine_type


def test_a_status_of_persons_is_not_said_to_be_one_of_http() -> None:
    verdict = judge(Column("employment_status", ("full time", "part time", "full time")))
    assert not any("http" in sentence for sentence in verdict.evidence)
    wrong = judge(Column("md5", ("x", "y", "z")))
    assert wrong.evidence == ("header 'md5' suggests an md5 hash, but the values do not agree",)


def test_a_numbered_week_is_no_pay() -> None:
    assert "pay" not in " ".join(judge(Column("VISIT", ("WEEK 4", "WEEK 8"))).evidence)
