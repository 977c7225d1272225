"""Persons and places: names in one form, addresses taken apart with abbreviations written out."""

import re
from random import Random
from typing import Any

from aegir_rl.simulator.families.family import (
    Draft,
    chance,
    describe,
    listing,
    options,
    sample,
    split_cases,
    words,
    write_solution,
)

TITLES = ("Dr.", "Prof.", "Mr.", "Ms.", "Mrs.", "Sir")
PARTICLES = ("von", "van", "de", "della", "ter", "du")
SUFFIXES = ("Jr.", "PhD", "MD", "Esq.", "III")
Name = tuple[list[str], str]
"""Given names and surname."""
KINDS = dict(pair.split() for pair in words("street_kind"))
"""Abbreviation to what it stands for."""


def read_name(
    text: str, titles: list[str], particles: list[str], suffixes: list[str], form: str, missing: Any
) -> Any:
    """Take off titles and suffixes, find the surname with its particles, and write the name."""
    text = " ".join(text.split())
    dropped = [word.lower() for word in [*titles, *suffixes]]
    pieces = [
        [word for word in piece.split() if word.lower() not in dropped] for piece in text.split(",")
    ]
    pieces = [piece for piece in pieces if piece]
    if not pieces:
        return missing
    if len(pieces) > 1:
        surname, given = pieces[0], pieces[1]
    else:
        start = len(pieces[0]) - 1
        while start > 0 and pieces[0][start - 1].lower() in particles:
            start -= 1
        given, surname = pieces[0][:start], pieces[0][start:]
    given = ["-".join(part.capitalize() for part in word.split("-")) for word in given]
    family = " ".join(
        word.lower()
        if word.lower() in particles
        else "-".join(part.capitalize() for part in word.split("-"))
        for word in surname
    )
    return write_name(given, family, form)


def write_name(given: list[str], surname: str, form: str) -> Any:
    """A name in one of the forms."""
    if form == "object":
        return {"given": " ".join(given), "surname": surname}
    if form == "listed":
        return f"{surname}, {' '.join(given)}" if given else surname
    if form == "initials":
        return " ".join([*(f"{word[0]}." for word in given), surname])
    if form == "short":
        return f"{surname}, {''.join(word[0] for word in given)}" if given else surname
    if form == "capitals":
        return " ".join([*given[:1], surname.upper()])
    return " ".join([*given, surname])


def _draw_name(random: Random, particles: list[str], *, single: bool, particle: bool) -> Name:
    given = [] if single else random.sample(words("given"), random.choice([1, 1, 2]))
    surname = random.choice(words("surname"))
    if particles and (particle or chance(random, 0.4)):
        surname = f"{random.choice(particles)} {surname}"
    elif particles and chance(random, 0.3):
        surname = f"{surname}-{random.choice(words('surname'))}"
    return given, surname


def _write(
    random: Random,
    titles: list[str],
    suffixes: list[str],
    name: Name,
    *,
    title: bool,
    turned: bool,
) -> str:
    front, back = " ".join(name[0]), name[1]
    if titles and (title or chance(random, 0.3)):
        front = f"{random.choice(titles)} {front}".strip()
    turned = (turned or chance(random, 0.3)) and bool(front and name[0])
    text = f"{back}, {front}" if turned else f"{front} {back}".strip()
    if suffixes and (title or chance(random, 0.3)):
        text = f"{text}, {random.choice(suffixes)}"
    text = random.choice([text, text, text.upper(), text.lower()])
    before, blank = random.choice(["", "", " "]), random.choice([" ", " ", "  "])
    return before + text.replace(" ", blank)


def draw_names(random: Random, level: int) -> Draft:
    """Level 1 has plain names in both orders, 2 titles and suffixes, 3 particles and hyphens."""
    about, form = random.choice(list(options("names", "forms").items()))
    missing = random.choice([None, "", "unknown", "?", "anonymous", "n/a"])
    titles = sample(random, TITLES, 1, 4) if level > 1 else []
    suffixes = sample(random, SUFFIXES, 1, 3) if level > 1 else []
    particles = sample(random, PARTICLES, 2, 4) if level > 2 else []

    def pair(
        title: bool = False, particle: bool = False, turned: bool = False, single: bool = False
    ) -> tuple[str, Any]:
        name = _draw_name(random, particles, single=single, particle=particle)
        text = _write(random, titles, suffixes, name, title=title, turned=turned)
        return text, write_name(*name, form)

    usual = [pair() for _ in range(16)]
    edges = [("", missing), ("  ", missing), pair(turned=True), pair(title=True)]
    edges += [pair(particle=True, turned=True), pair(particle=True), pair(single=True)]
    usual = [pair(turned=True), pair(particle=True, title=True), *usual]
    public, hidden = split_cases(edges, usual, 5 + level)
    kinds = {"titles": titles, "suffixes": suffixes, "particles": particles}
    statement = describe(
        "names",
        *("start", "hyphens" if level > 2 else "plain", titles and "titles"),
        *(particles and "particles", "missing"),
        about=about,
        missing=missing,
        **{kind: listing(listed or [""]) for kind, listed in kinds.items()},
    )
    return Draft(
        statement=statement,
        solution=write_solution("names", read_name, titles, particles, suffixes, form, missing),
        public=public,
        hidden=hidden,
        difficulty={"rules": len(titles) + len(particles) + len(suffixes)},
    )


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


def _draw_parts(
    random: Random, abbreviations: dict[str, str], form: str, short: str
) -> tuple[dict[str, str], dict[str, str]]:
    """The parts of an address, and the same as they are written: with a street's abbreviation."""
    name, kind = random.choice(words("street")), random.choice(list(KINDS.values()))
    written = kind
    if abbreviations and (short or chance(random, 0.6)):
        key = short or random.choice(list(abbreviations))
        kind = abbreviations[key]
        written = random.choice([key, key.title(), f"{key.title()}."])
    number = f"{random.randint(1, 240)}{random.choice(['', '', 'a', 'b', 'c'])}"
    city = random.choice(words("two_word_city" if chance(random, 0.3) else "city"))
    part = {"number": number, "street": f"{name} {kind}", "city": city}
    part["postcode"] = _postcode(random, form)
    return part, {**part, "street": f"{name} {written}"}


def draw_addresses(random: Random, level: int) -> Draft:
    """Level 1 has one layout, 2 abbreviations from a file, 3 a flat or unit at the end and missing parts."""
    layout, pattern = random.choice(list(options("addresses", "layouts").items()))
    about, result = random.choice(list(options("addresses", "results").items()))
    shorts = sample(random, list(KINDS), 3, 6) if level > 1 else []
    unit = random.choice(["apt", "flat", "unit", "floor"]) if level > 2 else ""
    missing: Any = random.choice([None, "", "?", [], {}])
    abbreviations = {key: KINDS[key] for key in shorts}
    parameters = (pattern, abbreviations, result, unit, missing)
    form = random.choice(["00000", "0000", "A0A0", "AA00", "000"])

    def pair(short: str = "", flat: bool = False) -> tuple[str, Any]:
        part, written = _draw_parts(random, abbreviations, form, short)
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
    table = "".join(f"{key},{name}\n" for key, name in abbreviations.items())
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
        solution=write_solution("addresses", read_address, *parameters),
        public=public,
        hidden=hidden,
        files={"abbreviations.csv": f"short,long\n{table}"} if table else {},
        difficulty={"abbreviations": len(shorts)},
    )
