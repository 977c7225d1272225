"""Names of persons: take them apart and write them in one form."""

from random import Random
from typing import Any, NamedTuple

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


class NameRule(NamedTuple):
    """The parameters of `read_name`."""

    titles: list[str]
    particles: list[str]
    suffixes: list[str]
    form: str
    missing: str | None


def _draw_name(random: Random, rule: NameRule, *, single: bool, particle: bool) -> Name:
    given = [] if single else random.sample(words("given"), random.choice([1, 1, 2]))
    surname = random.choice(words("surname"))
    if rule.particles and (particle or chance(random, 0.4)):
        surname = f"{random.choice(rule.particles)} {surname}"
    elif rule.particles and chance(random, 0.3):
        surname = f"{surname}-{random.choice(words('surname'))}"
    return given, surname


def _write(random: Random, rule: NameRule, name: Name, *, title: bool, turned: bool) -> str:
    front, back = " ".join(name[0]), name[1]
    if rule.titles and (title or chance(random, 0.3)):
        front = f"{random.choice(rule.titles)} {front}".strip()
    turned = (turned or chance(random, 0.3)) and bool(front and name[0])
    text = f"{back}, {front}" if turned else f"{front} {back}".strip()
    if rule.suffixes and (title or chance(random, 0.3)):
        text = f"{text}, {random.choice(rule.suffixes)}"
    text = random.choice([text, text, text.upper(), text.lower()])
    before, blank = random.choice(["", "", " "]), random.choice([" ", " ", "  "])
    return before + text.replace(" ", blank)


def draw(random: Random, level: int) -> Draft:
    """Level 1 has plain names in both orders, 2 titles and suffixes, 3 particles and hyphens."""
    about, form = random.choice(list(options("names", "forms").items()))
    missing = random.choice([None, "", "unknown", "?", "anonymous", "n/a"])
    titles = sample(random, TITLES, 1, 4) if level > 1 else []
    suffixes = sample(random, SUFFIXES, 1, 3) if level > 1 else []
    particles = sample(random, PARTICLES, 2, 4) if level > 2 else []
    rule = NameRule(titles, particles, suffixes, form, missing)

    def pair(
        title: bool = False, particle: bool = False, turned: bool = False, single: bool = False
    ) -> tuple[str, Any]:
        name = _draw_name(random, rule, single=single, particle=particle)
        text = _write(random, rule, name, title=title, turned=turned)
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
        solution=write_solution("names", read_name, *rule),
        public=public,
        hidden=hidden,
        difficulty={"rules": len(titles) + len(particles) + len(suffixes)},
    )
