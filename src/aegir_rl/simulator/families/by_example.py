"""Rules that examples show: a column transformed by pairs of value and result, a form by values that have it."""

import re
from random import Random
from typing import Any

from aegir_rl.simulator.families.family import (
    Draft,
    chance,
    describe,
    options,
    sample,
    split_cases,
    to_cases,
    words,
    write_solution,
)

SHAPES = options("column_by_example", "shapes")
CASES = ("", "", "upper", "lower", "title")
JOINTS = ("-", "_", " ", ".", "/", ":", ", ", "#", "")
CLASSES = {
    "[A-Z]": "ABCDEFGHIJKLMNOPQRSTUVWXYZ",
    "[a-z]": "abcdefghijklmnopqrstuvwxyz",
    "[0-9]": "0123456789",
}
SEPARATORS = ("-", "/", ".", ":", "_", "#")


def build(value: str, pieces: list[Any]) -> str:
    """Join the pieces: constants, and parts of the value cut to a slice and put into a case."""
    if not value.strip():
        return ""
    parts = [part for part in re.split(r"[^A-Za-z0-9]+", value) if part]
    result = ""
    for piece in pieces:
        if isinstance(piece, str):
            result += piece
            continue
        index, start, stop, case = piece
        text = parts[index][start:stop] if -len(parts) <= index < len(parts) else ""
        result += getattr(text, case)() if case else text
    return result


def _value(random: Random, shape: str) -> str:
    names = ("given", "surname", "city", "region", "folder", "ending")
    filled = {name: random.choice(words(name)) for name in names}
    code = "".join(random.choice("ABCDEFGHKLMNPQRSTUVWXYZ") for _ in range(random.randint(2, 3)))
    digits = str(random.randint(10, 99_999))
    return re.sub(
        r"\{(\w+)\}",
        lambda found: {
            **filled,
            "CODE": code,
            "digits": digits,
            "word": random.choice(words("product")),
        }[found[1]],
        shape,
    )


def _pieces(random: Random, level: int, parts: int) -> list[Any]:
    pieces: list[Any] = []
    for number in range(level if level > 1 else random.randint(1, 2)):
        if number:
            pieces.append(random.choice(JOINTS))
        index = random.randrange(parts)
        start, stop = random.choice([(0, None), (0, None), (0, 1), (0, 3), (1, None), (-2, None)])
        index = index - parts if chance(random, 0.3) else index
        pieces.append((index, start, stop, random.choice(CASES)))
    if chance(random, 0.3):
        pieces.insert(0, random.choice(["id-", "#", "x_", "REF ", "@"]))
    return [piece for piece in pieces if piece != ""]


def draw_column_by_example(random: Random, level: int) -> Draft:
    """A value of a known shape becomes one to three of its parts, cut, in a case, with constants between."""
    kind = random.choice(list(SHAPES))
    shape = random.choice(SHAPES[kind])
    pieces = _pieces(random, level, len(re.findall(r"\{\w+\}", shape)))
    usual = [(value, build(value, pieces)) for value in (_value(random, shape) for _ in range(18))]
    public, hidden = split_cases([("", ""), ("   ", "")], usual, 7)
    return Draft(
        statement=describe("column_by_example", "start", kind=kind, example=usual[0][0]),
        solution=write_solution("column_by_example", build, pieces),
        public=public,
        hidden=hidden,
        difficulty={"pieces": len(pieces)},
    )


def has_form(value: str, pattern: str) -> bool:
    """The whole value has the form."""
    return re.fullmatch(pattern, value) is not None


def _fields(random: Random, level: int) -> list[tuple[str, int, int]]:
    """Classes or words (of equal rank: alternatives) with the fewest and the most repetitions."""
    fields: list[tuple[str, int, int]] = []
    for number in range(level + random.randint(1, 2)):
        if number and chance(random, 0.8):
            fields.append((random.choice(SEPARATORS), 1, 1))
        if chance(random, 0.25):
            starts = sample(random, ["AB", "ID", "No", "REF", "x", "KT", "EU", "ab"], 1, 3)
            fields.append(("|".join(sorted(starts)), 1, 1))
        else:
            least = random.randint(1, 4)
            fields.append(
                (random.choice(list(CLASSES)), least, least + random.choice([0, 0, 1, 3]))
            )
    return fields


def _pattern(fields: list[tuple[str, int, int]], optional: bool) -> str:
    parts = []
    for text, least, most in fields:
        if text in CLASSES:
            parts.append(f"{text}{{{least},{most}}}" if most > least else f"{text}{{{least}}}")
        else:
            parts.append(f"(?:{'|'.join(map(re.escape, text.split('|')))})")
    if optional:
        parts[-2:] = [f"(?:{''.join(parts[-2:])})?"]
    return "".join(parts)


def _value_of_form(
    random: Random, fields: list[tuple[str, int, int]], size: int | None = None
) -> str:
    """A value of the form; `size` 0 takes the fewest repetitions, 1 the most."""
    text = ""
    for kind, least, most in fields:
        length = random.randint(least, most) if size is None else (least, most)[size]
        letters = CLASSES.get(kind)
        text += (
            "".join(random.choice(letters) for _ in range(length))
            if letters
            else random.choice(kind.split("|"))
        )
    return text


def _spoil(random: Random, value: str) -> str:
    place = random.randrange(len(value))
    letter = value[place]
    kind = random.randrange(5)
    if kind == 0:
        return value[:place] + value[place + 1 :]
    if kind == 1:
        return value[:place] + letter * 4 + value[place:]
    if kind == 2:
        return value[:place] + letter.swapcase() + value[place + 1 :]
    if kind == 3:
        return value + random.choice([" ", "-", "7", "z"])
    return value[:place] + random.choice("x7Q-. ") + value[place + 1 :]


def draw_regular_expressions(random: Random, level: int) -> Draft:
    """Level 1 has two or three fields, 3 up to five; from 2 on the last field may be optional."""
    fields = _fields(random, level)
    optional = level > 1 and len(fields) > 3 and fields[-2][0] in SEPARATORS and chance(random, 0.5)
    pattern = _pattern(fields, optional)
    shown = [
        _value_of_form(random, fields, 0),
        _value_of_form(random, fields, 1),
        *(_value_of_form(random, fields) for _ in range(8)),
    ]
    shown += [  # every alternative is shown
        _value_of_form(random, [(word, 1, 1) if field[0] == text else field for field in fields])
        for text, _, _ in fields
        if "|" in text
        for word in text.split("|")
    ]
    if optional:
        shown += [_value_of_form(random, fields[:-2], 0), _value_of_form(random, fields[:-2], 1)]
    more = [_value_of_form(random, fields) for _ in range(6)] + [
        _value_of_form(random, fields[:-2] if optional else fields)
    ]
    wrong = [_spoil(random, random.choice(shown)) for _ in range(24)]
    wrong = [value for value in dict.fromkeys(wrong) if not has_form(value, pattern)]
    public = to_cases(
        [*((value, True) for value in shown), *((value, False) for value in wrong[:9])]
    )
    random.shuffle(public)
    seen = {case.arguments for case in public}
    hidden = to_cases(
        [("", False), *((value, True) for value in more), *((value, False) for value in wrong[9:])]
    )
    return Draft(
        statement=describe("regular_expressions", "start", example=shown[2]),
        solution=write_solution("regular_expressions", has_form, pattern),
        public=public,
        hidden=[case for case in hidden if case.arguments not in seen],
        difficulty={"fields": len(fields)},
    )
