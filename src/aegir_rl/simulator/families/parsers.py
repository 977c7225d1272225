"""Parsers: read a small text format into objects."""

import re
from random import Random
from typing import Any, NamedTuple

from aegir_rl.simulator.families.family import (
    Draft,
    chance,
    describe,
    split_cases,
    words,
    write_solution,
)

SIGNS = ("\n=", "\n:", ";=", ";:", "|=", "&=", ",:", "\n>", "/~", ",=")
"""What stands between entries, and between key and value."""


def parse_entries(
    text: str,
    entry: str,
    assign: str,
    comment: str,
    quote: str,
    typed: bool,
    repeated: str,
    lower: bool,
) -> dict[str, Any]:
    """Keys and values; quoted values may hold separators, `comment` begins what is left out up to the line's end."""
    result: dict[str, Any] = {}
    for piece in split_outside(strip_comments(text, comment, quote), entry, quote):
        key, sign, value = piece.partition(assign)
        key, value = key.strip(), value.strip()
        key = key.lower() if lower else key
        if not sign or not key:
            continue
        read: Any = read_value(value, typed)
        if quote and len(value) > 1 and value[0] == quote == value[-1]:
            read = value[1:-1].replace(quote * 2, quote)
        if repeated == "list" and key in result:
            result[key] = [*(result[key] if isinstance(result[key], list) else [result[key]]), read]
        elif repeated != "first" or key not in result:
            result[key] = read
    return result


def read_value(value: str, typed: bool) -> Any:
    """A whole number, true or false as such if asked for; otherwise the text."""
    if typed and re.fullmatch("-?[0-9]+", value):
        return int(value)
    return value == "true" if typed and value in ("true", "false") else value


def strip_comments(text: str, comment: str, quote: str) -> str:
    """The text without comments."""
    if not comment:
        return text
    lines = []
    for line in text.split("\n"):
        inside = False
        for place, letter in enumerate(line):
            inside = inside != (letter == quote)
            if letter == comment and not inside:
                line = line[:place]
                break
        lines.append(line)
    return "\n".join(lines)


def split_outside(text: str, separator: str, quote: str) -> list[str]:
    """The pieces between separators that do not stand in quotes."""
    pieces, inside = [""], False
    for letter in text:
        inside = inside != (letter == quote)
        if letter == separator and not inside:
            pieces.append("")
        else:
            pieces[-1] += letter
    return pieces


class TextFormat(NamedTuple):
    """The parameters of `parse_entries`."""

    entry: str
    assign: str
    comment: str
    quote: str
    typed: bool
    repeated: str
    lower: bool


def _draw_format(random: Random, level: int) -> TextFormat:
    signs = random.choice(SIGNS)
    return TextFormat(
        entry=signs[0],
        assign=signs[1],
        comment=random.choice("#%!@") if level > 1 and chance(random, 0.8) else "",
        quote=random.choice("\"'") if level > 2 else "",
        typed=level > 1 and chance(random, 0.6),
        repeated=random.choice(["last", "first", "list"][: 3 if level > 1 else 2]),
        lower=chance(random, 0.5),
    )


def _write_value(random: Random, form: TextFormat) -> str:
    value = random.choice(
        [
            str(random.randint(-99, 999)),
            *(random.choice(words(kind)) for kind in ("product", "two_word_city")),
            *("true", "false", ""),
        ]
    )
    if not form.quote or not chance(random, 0.4):
        return value
    city, entry = random.choice(words("city")), " " if form.entry == "\n" else form.entry
    sign = random.choice([entry, form.quote * 2, form.assign, form.comment])
    return f"{form.quote}{city}{sign}{random.randint(1, 9)}{form.quote}"


def _write_text(
    random: Random, form: TextFormat, count: int, *, twice: bool = False, odd: bool = False
) -> str:
    """Entries with different keys, the first once more if `twice`; one that is none if `odd`."""
    keys = random.sample(words("field"), count)
    pieces = []
    for key in [*keys, *(keys[:1] if twice else [])]:
        key = random.choice([key, key, key.title(), key.upper()])
        value = _write_value(random, form)
        blank = random.choice(["", " "])
        pieces.append(f"{key}{blank}{form.assign}{blank}{value}")
    if odd:
        pieces.insert(1, random.choice(["", "no sign here", f" {form.assign} 5"]))
    text = form.entry.join(pieces)
    if not form.comment or not chance(random, 0.5):
        return text
    if chance(random, 0.5):
        return f"{form.comment} {random.choice(words('region'))} {form.assign} 3\n{text}"
    return f"{text} {form.comment} done"


def _describe(form: TextFormat) -> str:
    return describe(
        "parsers",
        "start",
        form.comment and "comment",
        form.quote and "quote",
        "typed" if form.typed else "texts",
        "lower" if form.lower else "case",
        form.repeated,
        quoted=f"{form.entry!r}{f' and {form.comment!r}' if form.comment else ''}",
        **form._asdict(),
    )


def draw_parsers(random: Random, level: int) -> Draft:
    """Level 1 has keys and values, 2 comments and typed values, 3 quotes and repeated keys as lists."""
    form = _draw_format(random, level)

    def pair(count: int, *, twice: bool = False, odd: bool = False) -> tuple[str, Any]:
        return judge(_write_text(random, form, count, twice=twice, odd=odd))

    def judge(text: str) -> tuple[str, Any]:
        return text, parse_entries(text, *form)

    usual = [
        pair(random.randint(1, 4), twice=chance(random, 0.3), odd=chance(random, 0.2))
        for _ in range(14)
    ]
    edges = [("", {}), pair(3, twice=True), pair(2, odd=True)]
    edges += [judge(pair(2)[0] + form.entry), judge("\n"), judge(f"a{form.assign}{form.assign}1")]
    usual = [pair(3, twice=True), pair(2, odd=True), *usual]
    public, hidden = split_cases(edges, usual, 5 + level)
    rules = bool(form.comment) + bool(form.quote) + form.typed + (form.repeated == "list")
    helpers = (strip_comments, split_outside, read_value)
    return Draft(
        statement=_describe(form),
        solution=write_solution("parsers", parse_entries, *form, helpers=helpers),
        public=public,
        hidden=hidden,
        difficulty={"rules": rules},
    )
