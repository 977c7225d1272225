"""Names of persons: take them apart and write them in one form."""

from random import Random
from typing import Any

from aegir_rl.simulator.families.family import (
    Draft,
    Family,
    chance,
    listing,
    sample,
    split_cases,
    words,
)
from aegir_rl.simulator.source import module_source

SIGNATURE = "normalise_name(value)"
TITLES = ("Dr.", "Prof.", "Mr.", "Ms.", "Mrs.", "Sir")
PARTICLES = ("von", "van", "de", "della", "ter", "du")
SUFFIXES = ("Jr.", "PhD", "MD", "Esq.", "III")
FORMS = {
    "surname, comma, given names: `Berg, Maria Eva`": "listed",
    "given names, surname: `Maria Eva Berg`": "plain",
    "the initials of the given names, each with a point, then the surname: `M. E. Berg`": "initials",
    "surname, comma, initials without points or blanks: `Berg, ME`": "short",
    "the first given name, then the whole surname in capitals (particles too): `Maria BERG`": "capitals",
    "an object with the keys `given` and `surname`": "object",
}


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


def draw(random: Random, level: int) -> Draft:
    """Level 1 has plain names in both orders, 2 titles and suffixes, 3 particles and hyphens."""
    about, form = random.choice(list(FORMS.items()))
    missing = random.choice([None, "", "unknown", "?", "anonymous", "n/a"])
    titles = sample(random, TITLES, 1, 4) if level > 1 else []
    suffixes = sample(random, SUFFIXES, 1, 3) if level > 1 else []
    particles = sample(random, PARTICLES, 2, 4) if level > 2 else []

    def pair(
        title: bool = False, particle: bool = False, turned: bool = False, single: bool = False
    ) -> tuple[str, Any]:
        given = [] if single else random.sample(words("given"), random.choice([1, 1, 2]))
        surname = random.choice(words("surname"))
        if particles and (particle or chance(random, 0.4)):
            surname = f"{random.choice(particles)} {surname}"
        elif level > 2 and chance(random, 0.3):
            surname = f"{surname}-{random.choice(words('surname'))}"
        expected = write_name(given, surname, form)
        front, back = " ".join(given), surname
        if titles and (title or chance(random, 0.3)):
            front = f"{random.choice(titles)} {front}".strip()
        text = (
            f"{back}, {front}"
            if (turned or chance(random, 0.3)) and front and not single
            else f"{front} {back}".strip()
        )
        if suffixes and (title or chance(random, 0.3)):
            text = f"{text}, {random.choice(suffixes)}"
        text = random.choice([text, text, text.upper(), text.lower()])
        before, blank = random.choice(["", "", " "]), random.choice([" ", " ", "  "])
        return before + text.replace(" ", blank), expected

    usual = [pair() for _ in range(16)]
    edges = [
        ("", missing),
        ("  ", missing),
        pair(turned=True),
        pair(title=True),
        pair(particle=True, turned=True),
    ]
    edges += [pair(particle=True), pair(single=True)]
    public, hidden = split_cases(
        edges, [pair(turned=True), pair(particle=True, title=True), *usual], 5 + level
    )
    return Draft(
        f"Write normalise_name(value), which returns the name of a person as {about}. A value is `given names surname` or "
        "`surname, given names`, in any case, with any blanks; the surname is one word unless more is said, and may stand alone. Words of the result begin with a capital letter, the rest is small"
        + ("; so do both parts of a word with a hyphen" if level > 2 else "")
        + ". "
        + (
            f"The titles {listing(titles)} and the suffixes {listing(suffixes)} are left out, in any case, as are commas with nothing else before or after. "
            if titles
            else ""
        )
        + (
            f"The particles {listing(particles)} belong to the surname and stay small. "
            if particles
            else ""
        )
        + (
            "With an empty list of given names only the surname is written (as an object, `given` is then empty). "
        )
        + f"A blank value gives {missing!r}.",
        SIGNATURE,
        module_source(
            SIGNATURE,
            f"read_name(value, {titles!r}, {particles!r}, {suffixes!r}, {form!r}, {missing!r})",
            write_name,
            read_name,
        ),
        public,
        hidden,
        difficulty={"rules": len(titles) + len(particles) + len(suffixes)},
    )


FAMILY = Family("names", "Take names of persons apart and write them in one form.", 3, draw)
