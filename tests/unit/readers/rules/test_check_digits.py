"""Check digits that are computed here, beside python-stdnum's; what is said of values that fail them."""

import random

import pytest
from stdnum import ean, isbn

from aegir.readers.rules.codes import has_isbn_digit, is_gtin
from aegir.readers.rules.judge import judge
from aegir.tables.table import Column


def test_check_digits_of_books_and_goods_are_those_of_stdnum():
    draw = random.Random(0)
    digits = ["".join(draw.choices("0123456789", k=9)) for _ in range(500)]
    tens = [each + draw.choice("0123456789X") for each in digits]
    thirteens = [draw.choice(("978", "979")) + each for each in tens]
    for number in (*tens, *thirteens):
        assert has_isbn_digit(number) == isbn.is_valid(number), number
        assert is_gtin(number) == (len(number) == 13 and ean.is_valid(number)), number
    assert sum(map(has_isbn_digit, tens)) > 20
    assert sum(map(has_isbn_digit, thirteens)) > 20


def test_the_last_character_of_a_short_number_may_be_an_x_in_either_case():
    # 0·1 + 8·2 + 0·3 + 4·4 + 4·5 + 2·6 + 9·7 + 5·8 + 7·9 = 230 = 20 · 11 + 10, which is written X
    assert has_isbn_digit("080442957X")
    assert has_isbn_digit("080442957x")
    assert not has_isbn_digit("0804429571")


@pytest.mark.parametrize(
    ("header", "fine_type", "values"),
    [
        ("credit_card", "payment_card", ("4111111111111112", "1234567812345678")),
        ("Card number", "payment_card", ("5500 0000 0000 0001", "4222 2222 2222 2223")),
        ("iban", "iban", ("DE00370400440532013000", "GB11NWBK60161331926819")),
        ("isbn", "isbn", ("9783161484101", "978-0-14-044913-9")),
        ("orcid", "orcid", ("0000-0002-1825-0090", "0000-0001-5109-3701")),
    ],
)
def test_numbers_made_up_for_tests_are_named_under_their_header_with_the_failing_check(
    header: str, fine_type: str, values: tuple[str, ...]
):
    verdict = judge(Column(header, values))
    assert (verdict.fine_type, verdict.failing) == (fine_type, 1.0)
    assert "2 of 2 values fail their check digit" in verdict.evidence
    assert verdict.fine_confidence < 0.9
    assert judge(Column(None, values)).fine_type != fine_type
    assert judge(Column("order_no", values)).fine_type != fine_type


def test_only_the_values_that_fail_are_counted():
    valid, wrong = "4111111111111111", "4111111111111112"
    verdict = judge(Column("credit_card", (valid, wrong, "5500005555555558", "5500005555555551")))
    assert verdict.failing == 0.75
    assert "3 of 4 values fail their check digit" in verdict.evidence
    assert judge(Column("credit_card", (valid, "5500005555555559"))).failing == 0


def test_masked_card_numbers_are_named_under_their_header():
    values = ("XXXX-XXXX-XXXX-1333", "**** **** **** 9120", "411111******1111")
    verdict = judge(Column("card_number", values))
    assert (verdict.fine_type, verdict.failing) == ("payment_card", 0)
    assert verdict.evidence[0].startswith("3 of 3 values are masked payment card numbers")
