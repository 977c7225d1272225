"""Parsers: read a small text format into objects."""

import re
from random import Random
from typing import Any

from aegir_rl.simulator.families.family import Draft, Family, chance, split_cases, words
from aegir_rl.simulator.source import call_source, module_source

SIGNATURE = "parse(text)"


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


def draw(random: Random, level: int) -> Draft:
    """Level 1 has keys and values, 2 comments and typed values, 3 quotes and repeated keys as lists."""
    entry, assign = random.choice(
        [
            ("\n", "="),
            ("\n", ":"),
            (";", "="),
            (";", ":"),
            ("|", "="),
            ("&", "="),
            (",", ":"),
            ("\n", ">"),
            ("/", "~"),
            (",", "="),
        ]
    )
    comment = random.choice(["#", "%", "!", "@"]) if level > 1 and chance(random, 0.8) else ""
    quote = random.choice(['"', "'"]) if level > 2 else ""
    typed = level > 1 and chance(random, 0.6)
    repeated = (
        random.choice(["last", "first", "list"]) if level > 1 else random.choice(["last", "first"])
    )
    lower = chance(random, 0.5)
    parameters = (entry, assign, comment, quote, typed, repeated, lower)

    def write(count: int, *, twice: bool = False, odd: bool = False) -> str:
        keys = random.sample(words("field"), count)
        keys += keys[:1] if twice else []
        pieces = []
        for key in keys:
            key = random.choice([key, key, key.title(), key.upper()])
            value = random.choice(
                [
                    str(random.randint(-99, 999)),
                    random.choice(words("product")),
                    random.choice(words("two_word_city")),
                    "true",
                    "false",
                    "",
                ]
            )
            if quote and chance(random, 0.4):
                value = f"{quote}{random.choice(words('city'))}{random.choice([entry if entry != chr(10) else ' ', quote * 2, assign, comment])}{random.randint(1, 9)}{quote}"
            blank = random.choice(["", " "])
            pieces.append(f"{key}{blank}{assign}{blank}{value}")
        if odd:
            pieces.insert(1, random.choice(["", "no sign here", f" {assign} 5"]))
        text = entry.join(pieces)
        if comment and chance(random, 0.5):
            text = (
                f"{comment} {random.choice(words('region'))} {assign} 3\n{text}"
                if chance(random, 0.5)
                else f"{text} {comment} done"
            )
        return text

    def pair(text: str) -> tuple[str, Any]:
        return text, parse_entries(text, *parameters)

    usual = [
        pair(write(random.randint(1, 4), twice=chance(random, 0.3), odd=chance(random, 0.2)))
        for _ in range(14)
    ]
    edges = [
        ("", {}),
        pair(write(3, twice=True)),
        pair(write(2, odd=True)),
        pair(write(2) + entry),
        pair("\n"),
        pair(f"a{assign}{assign}1"),
    ]
    public, hidden = split_cases(
        edges, [pair(write(3, twice=True)), pair(write(2, odd=True)), *usual], 5 + level
    )
    again = {
        "last": "the last value counts",
        "first": "the first value counts",
        "list": "the values become a list, in their order",
    }
    return Draft(
        f"Write parse(text), which returns an object. The text has entries with {entry!r} between them; in an entry the key stands before the first {assign!r}, the value after it (further {assign!r} belong to the value). Blanks around both are left out. "
        "Entries without that sign or with an empty key are left out; an empty value is an empty text. "
        + (f"{comment!r} begins a comment up to the end of its line. " if comment else "")
        + (
            f"A value may be quoted with {quote}: then {entry!r}{f' and {comment!r}' if comment else ''} inside it are part of the value, a doubled quote stands for one, and the value is a text without the outer quotes. "
            if quote
            else ""
        )
        + (
            "Values that are whole numbers become numbers, true and false become True and False. "
            if typed
            else "All values stay texts. "
        )
        + ("Keys are written in small letters. " if lower else "Case of keys matters. ")
        + f"If a key occurs several times, {again[repeated]}.",
        SIGNATURE,
        module_source(
            SIGNATURE,
            call_source(parse_entries, *parameters, first="text"),
            strip_comments,
            split_outside,
            read_value,
            parse_entries,
            imports="re",
        ),
        public,
        hidden,
        difficulty={"rules": bool(comment) + bool(quote) + typed + (repeated == "list")},
    )


FAMILY = Family("parsers", "Read a small text format into objects.", 3, draw)
