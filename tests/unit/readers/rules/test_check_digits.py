"""Check digits that are computed here, beside python-stdnum's."""

import random

from stdnum import ean, isbn

from aegir.readers.rules.codes import has_isbn_digit, is_gtin


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
