"""Addresses: one line becomes its parts, with abbreviations written out."""

import re
from random import Random
from typing import Any, NamedTuple

from aegir_rl.simulator.families.family import (
    Draft,
    chance,
    describe,
    options,
    sample,
    split_cases,
    words,
    write_solution,
)

KINDS = dict(pair.split() for pair in words("street_kind"))
"""Abbreviation to what it stands for."""


def read_address(
    text: str, pattern: str, abbreviations: dict[str, str], result: str, unit: str, missing: Any
) -> Any:
    """Find the parts by the pattern, write out the street's last word, and return the result that is asked for."""
    text = " ".join(text.split())
    if unit:
        text = re.sub(rf",? {unit} \w+$", "", text, flags=re.IGNORECASE)
    match = re.fullmatch(pattern, text, re.IGNORECASE)
    if not match:
        return missing
    part = {name: value.strip() for name, value in match.groupdict().items()}
    *first, last = part["street"].split()
    last = abbreviations.get(last.lower().rstrip("."), last)
    street = " ".join([*first, last]).title()
    number, postcode, city = part["number"].lower(), part["postcode"].upper(), part["city"].title()
    if result == "object":
        return {"number": number, "street": street, "city": city, "postcode": postcode}
    if result == "list":
        return [street, number, postcode, city]
    return f"{postcode} {city}" if result == "place" else f"{street} {number}, {postcode} {city}"


class AddressRule(NamedTuple):
    """The parameters of `read_address`."""

    pattern: str
    abbreviations: dict[str, str]
    result: str
    unit: str
    missing: Any


def _postcode(random: Random, form: str) -> str:
    return "".join(
        random.choice("ABCEHKLNPRST") if letter == "A" else str(random.randint(1, 9))
        for letter in form
    )


def _draw_parts(
    random: Random, rule: AddressRule, form: str, short: str
) -> tuple[dict[str, str], dict[str, str]]:
    """The parts of an address, and the same as they are written: with a street's abbreviation."""
    name, kind = random.choice(words("street")), random.choice(list(KINDS.values()))
    written = kind
    if rule.abbreviations and (short or chance(random, 0.6)):
        key = short or random.choice(list(rule.abbreviations))
        kind = rule.abbreviations[key]
        written = random.choice([key, key.title(), f"{key.title()}."])
    number = f"{random.randint(1, 240)}{random.choice(['', '', 'a', 'b', 'c'])}"
    city = random.choice(words("two_word_city" if chance(random, 0.3) else "city"))
    part = {"number": number, "street": f"{name} {kind}", "city": city}
    part["postcode"] = _postcode(random, form)
    return part, {**part, "street": f"{name} {written}"}


def draw(random: Random, level: int) -> Draft:
    """Level 1 has one layout, 2 abbreviations from a file, 3 a flat or unit at the end and missing parts."""
    layout, pattern = random.choice(list(options("addresses", "layouts").items()))
    about, result = random.choice(list(options("addresses", "results").items()))
    shorts = sample(random, list(KINDS), 3, 6) if level > 1 else []
    unit = random.choice(["apt", "flat", "unit", "floor"]) if level > 2 else ""
    missing: Any = random.choice([None, "", "?", [], {}])
    rule = AddressRule(pattern, {key: KINDS[key] for key in shorts}, result, unit, missing)
    form = random.choice(["00000", "0000", "A0A0", "AA00", "000"])

    def pair(short: str = "", flat: bool = False) -> tuple[str, Any]:
        part, written = _draw_parts(random, rule, form, short)
        text = re.sub(r"number|street|city|postcode", lambda found: written[found[0]], layout)
        if unit and (flat or chance(random, 0.4)):
            text += f", {unit.title()} {random.randint(1, 30)}"
        text = random.choice([text, text, text.upper(), text.lower(), text.replace(" ", "  ", 1)])
        results = {
            "object": part,
            "list": [part["street"], part["number"], part["postcode"], part["city"]],
            "text": f"{part['street']} {part['number']}, {part['postcode']} {part['city']}",
            "place": f"{part['postcode']} {part['city']}",
        }
        return text, results[result]

    usual = [pair() for _ in range(14)]
    edges = [("", missing), ("no address", missing), *(pair(short=key) for key in shorts)]
    edges += [pair(flat=True), (usual[0][0].split(",")[0].split("|")[0], missing)]
    public, hidden = split_cases(edges, [pair(flat=True), *usual], 5 + level)
    table = "".join(f"{key},{name}\n" for key, name in rule.abbreviations.items())
    statement = describe(
        "addresses",
        *("start", shorts and "abbreviations", unit and "unit", "missing"),
        layout=layout,
        about=about,
        unit=unit.title(),
        missing=missing,
    )
    return Draft(
        statement=statement,
        solution=write_solution("addresses", read_address, *rule),
        public=public,
        hidden=hidden,
        files={"abbreviations.csv": f"short,long\n{table}"} if table else {},
        difficulty={"abbreviations": len(shorts)},
    )
