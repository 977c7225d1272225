"""Identifiers: ISBN, GTIN, model numbers, shop numbers.

ISBN and GTIN carry valid check digits (python-stdnum), except where imitating a spreadsheet that turned them
into 9.78089e+12.
"""

from random import Random
from string import ascii_uppercase, digits

from aegir.lab.data.generators.cells import Cell, choose, listed


def isbn(random: Random) -> Cell:
    """ISBN-13 and ISBN-10 with valid check digits, plain, hyphenated, or mangled by a spreadsheet."""
    from stdnum import isbn as standard
    from stdnum.ean import calc_check_digit

    style = choose(random, {"plain": 5, "hyphens": 3, "ten": 1.5, "mangled": 2, "named": 0.7})
    group = random.choice(["0", "1", "2", "3", "84", "88", "90", "605", "963", "7"])

    def cell() -> str:
        body = "978" + group + "".join(random.choices(digits, k=9 - len(group)))
        full = body + calc_check_digit(body)
        if style == "hyphens":
            return str(standard.format(full))
        if style == "ten":
            return str(standard.to_isbn10(full))
        if style == "mangled":
            return f"{int(full):.5e}"
        return f"ISBN: {full}" if style == "named" else full

    return cell


def trade_number(random: Random) -> Cell:
    """GTIN-13, GTIN-12 and GTIN-8 with valid check digits."""
    from stdnum.ean import calc_check_digit

    length = random.choice([13, 13, 13, 12, 8])
    prefix = "".join(random.choices(digits, k=random.randint(2, 6)))

    def cell() -> str:
        body = (prefix + "".join(random.choices(digits, k=length)))[: length - 1]
        return body + str(calc_check_digit(body))

    return cell


def model_number(random: Random) -> Cell:
    """Manufacturers' model numbers: letters and digits in one pattern, or short plain numbers."""
    pattern = random.choice(listed("model number"))
    lead = "".join(random.choices(ascii_uppercase, k=random.randint(0, 3)))

    def cell() -> str:
        return lead + "".join(
            random.choice(digits)
            if mark == "#"
            else random.choice(ascii_uppercase)
            if mark == "A"
            else mark
            for mark in pattern
        )

    return cell


def product_id(random: Random) -> Cell:
    """Shop identifiers: running numbers, SKU codes, hexadecimal keys."""
    style = choose(random, {"number": 4, "code": 3, "key": 1})
    if style == "code":
        return model_number(random)
    width = random.randint(3, 9)
    if style == "key":
        return lambda: f"{random.getrandbits(48):012x}"
    return lambda: "".join(random.choices(digits, k=width))
