"""Transform a column by example: the rule is shown by pairs of value and result, not told."""

import re
from random import Random
from typing import Any

from aegir_rl.simulator.families.family import (
    Draft,
    chance,
    describe,
    options,
    split_cases,
    words,
    write_solution,
)

SHAPES = options("column_by_example", "shapes")
CASES = ("", "", "upper", "lower", "title")
JOINTS = ("-", "_", " ", ".", "/", ":", ", ", "#", "")


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


def draw(random: Random, level: int) -> Draft:
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
