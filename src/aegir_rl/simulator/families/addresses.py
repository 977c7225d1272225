"""Addresses: one line becomes its parts, with abbreviations written out."""

import re
from random import Random
from typing import Any

from aegir_rl.simulator.families.family import Draft, Family, chance, sample, split_cases, words
from aegir_rl.simulator.source import module_source

SIGNATURE = "parse_address(value)"
KINDS = {
    "st": "Street",
    "rd": "Road",
    "ave": "Avenue",
    "ln": "Lane",
    "blvd": "Boulevard",
    "sq": "Square",
    "dr": "Drive",
}
LAYOUTS = {
    "number street, city, postcode": r"(?P<number>\d+[a-z]?) (?P<street>[^,]+), (?P<city>[^,]+), (?P<postcode>\w+)",
    "street number, postcode city": r"(?P<street>[^,]+) (?P<number>\d+[a-z]?), (?P<postcode>\w+) (?P<city>[^,]+)",
    "number, street; postcode; city": r"(?P<number>\d+[a-z]?), (?P<street>[^;]+); (?P<postcode>\w+); (?P<city>[^;]+)",
    "city (postcode), street number": r"(?P<city>[^(]+) \((?P<postcode>\w+)\), (?P<street>[^,]+) (?P<number>\d+[a-z]?)",
    "postcode city | street number": r"(?P<postcode>\w+) (?P<city>[^|]+) \| (?P<street>[^|]+) (?P<number>\d+[a-z]?)",
}
RESULTS = {
    "an object with the keys number, street, city and postcode, all texts": "object",
    "a list of street, number, postcode and city": "list",
    "the text `street number, postcode city`": "text",
    "the postcode and the city, as `postcode city`": "place",
}


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


def _postcode(random: Random, form: str) -> str:
    return "".join(
        random.choice("ABCEHKLNPRST") if letter == "A" else str(random.randint(1, 9))
        for letter in form
    )


def draw(random: Random, level: int) -> Draft:
    """Level 1 has one layout, 2 abbreviations from a file, 3 a flat or unit at the end and missing parts."""
    layout, pattern = random.choice(list(LAYOUTS.items()))
    about, result = random.choice(list(RESULTS.items()))
    abbreviations = (
        {key: KINDS[key] for key in sample(random, list(KINDS), 3, 6)} if level > 1 else {}
    )
    unit = random.choice(["apt", "flat", "unit", "floor"]) if level > 2 else ""
    missing: Any = random.choice([None, "", "?", [], {}])
    form = random.choice(["00000", "0000", "A0A0", "AA00", "000"])

    def pair(short: str = "", flat: bool = False) -> tuple[str, Any]:
        name, kind = random.choice(words("street")), random.choice(list(KINDS.values()))
        written = kind
        if abbreviations and (short or chance(random, 0.6)):
            key = short or random.choice(list(abbreviations))
            kind, written = abbreviations[key], random.choice([key, key.title(), f"{key.title()}."])
        number = f"{random.randint(1, 240)}{random.choice(['', '', 'a', 'b', 'c'])}"
        city = random.choice(words("two_word_city" if chance(random, 0.3) else "city"))
        part = {
            "number": number,
            "street": f"{name} {kind}",
            "city": city,
            "postcode": _postcode(random, form),
        }
        given = {**part, "street": f"{name} {written}"}
        text = re.sub(r"number|street|city|postcode", lambda found: given[found[0]], layout)
        if unit and (flat or chance(random, 0.4)):
            text += f", {unit.title()} {random.randint(1, 30)}"
        text = random.choice([text, text, text.upper(), text.lower(), text.replace(" ", "  ", 1)])
        written_out = {
            "object": part,
            "list": [part["street"], part["number"], part["postcode"], part["city"]],
            "text": f"{part['street']} {part['number']}, {part['postcode']} {part['city']}",
            "place": f"{part['postcode']} {part['city']}",
        }
        return text, written_out[result]

    usual = [pair() for _ in range(14)]
    edges = [
        ("", missing),
        ("no address", missing),
        *(pair(short=key) for key in abbreviations),
        pair(flat=True),
    ]
    edges.append((usual[0][0].split(",")[0].split("|")[0], missing))
    public, hidden = split_cases(edges, [pair(flat=True), *usual], 5 + level)
    files = {
        "abbreviations.csv": "short,long\n"
        + "".join(f"{key},{name}\n" for key, name in abbreviations.items())
    }
    return Draft(
        f"Write parse_address(value), which reads an address written as `{layout}` and returns {about}. A number may end in a letter, a city may have "
        "two words, a postcode is one word. Any case and any blanks may come; streets and cities are returned with capital first letters, postcodes in capitals, the letter of a number small. "
        + (
            "The last word of a street may be one of the abbreviations in the file abbreviations.csv (columns short and long), in any case and with or without a point; it is written out. "
            if abbreviations
            else ""
        )
        + (f"A last part such as `, {unit.title()} 5` is left out. " if unit else "")
        + f"What is no such address gives {missing!r}.",
        SIGNATURE,
        module_source(
            SIGNATURE,
            f"read_address(value, {pattern!r}, {abbreviations!r}, {result!r}, {unit!r}, {missing!r})",
            read_address,
            imports="re",
        ),
        public,
        hidden,
        files=files if abbreviations else {},
        difficulty={"abbreviations": len(abbreviations)},
    )


FAMILY = Family("addresses", "Take addresses apart and write out abbreviations.", 3, draw)
