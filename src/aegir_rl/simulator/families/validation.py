"""Validation: say whether a value is of a semantic type, by form, by range or by check digit."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Any

from aegir_rl.simulator.families.family import (
    Draft,
    chance,
    describe,
    options,
    split_cases,
    write_solution,
)

LETTERS = "ABCDEFGHJKLMNPQRSTUVWXYZ"
CLASSES = options("validation", "classes")


def valid_form(value: str, fields: list[tuple[str, int, int]], separator: str) -> bool:
    """Fields of letters (A), digits (0) or either (X), each of a least and most length, with a separator between."""
    kinds = {"A": "[A-Z]", "0": "[0-9]", "X": "[A-Z0-9]", "h": "[0-9a-f]"}
    parts = [f"{kinds[kind]}{{{least},{most}}}" for kind, least, most in fields]
    return bool(re.fullmatch(re.escape(separator).join(parts), value))


def valid_ranges(value: str, ranges: list[tuple[int, int]], separator: str, padded: bool) -> bool:
    """Numbers with a separator between, each in its range; padded ones have as many digits as the largest."""
    parts = value.split(separator)
    if len(parts) != len(ranges):
        return False
    for part, (least, most) in zip(parts, ranges, strict=True):
        if not re.fullmatch("[0-9]+", part) or not least <= int(part) <= most:
            return False
        if len(part) != len(str(most)) if padded else len(part) > 1 and part[0] == "0":
            return False
    return True


def valid_check(value: str, prefix: str, weights: list[int], modulus: int, gaps: str) -> bool:
    """A prefix and digits whose weighted sum is divisible by the modulus; X is a last digit of 10 for modulus 11."""
    for gap in gaps:
        value = value.replace(gap, "")
    last = "[0-9X]" if modulus == 11 else "[0-9]"
    if not re.fullmatch(f"{prefix}[0-9]{{{len(weights) - 1}}}{last}", value):
        return False
    digits = [10 if digit == "X" else int(digit) for digit in value[len(prefix) :]]
    return sum(weight * digit for weight, digit in zip(weights, digits, strict=True)) % modulus == 0


def valid_luhn(value: str, prefixes: list[str], length: int, gaps: str) -> bool:
    """Digits of a length with one of the prefixes and a right Luhn check digit."""
    for gap in gaps:
        value = value.replace(gap, "")
    if not re.fullmatch(f"[0-9]{{{length}}}", value) or not value.startswith(tuple(prefixes)):
        return False
    doubled = [int(digit) * (1 + place % 2) for place, digit in enumerate(reversed(value))]
    return sum(digit - 9 if digit > 9 else digit for digit in doubled) % 10 == 0


@dataclass(frozen=True, slots=True)
class ValidationRule:
    """What makes a value valid, and values to try."""

    statement: str
    function: Callable[..., bool]
    parameters: tuple[Any, ...]
    values: list[str]


def _draw_form(random: Random) -> ValidationRule:
    fields = []
    for _ in range(random.randint(2, 4)):
        least = random.randint(1, 4)
        fields.append((random.choice("A00Xh"), least, least + random.choice([0, 0, 1, 2])))
    separator = random.choice(["-", ".", "/", ":", " "])
    letters = {kind: pair["letters"] for kind, pair in CLASSES.items()}
    described = ", then ".join(
        f"{least} {'' if least == most else f'to {most} '}{CLASSES[kind]['name']}"
        for kind, least, most in fields
    )

    def make(change: int) -> str:
        return separator.join(
            "".join(
                random.choice(letters[kind])
                for _ in range(random.randint(least, most) + (change if place == 0 else 0))
            )
            for place, (kind, least, most) in enumerate(fields)
        )

    longest = separator.join(random.choice(letters[kind]) * most for kind, _, most in fields)
    values = [*(make(0) for _ in range(14)), longest, longest + "7", make(3)]
    values += [make(0).lower(), make(0).replace(separator, "_")]
    statement = describe("validation", "form", "end", fields=described, separator=separator)
    return ValidationRule(statement, valid_form, (fields, separator), values)


def _draw_ranges(random: Random) -> ValidationRule:
    separator, padded = random.choice([".", ":", "-", "x", "/"]), chance(random, 0.4)
    ranges = []
    for _ in range(random.randint(2, 4)):
        least = random.choice([0, 0, 1, 10])
        ranges.append((least, least + random.choice([11, 23, 30, 59, 99, 254, 255, 365])))
    listed = ", ".join(f"{least} to {most}" for least, most in ranges)
    width = [len(str(most)) for _, most in ranges]

    def write(numbers: list[int]) -> str:
        return separator.join(
            f"{number:0{size}}" if padded else str(number)
            for number, size in zip(numbers, width, strict=True)
        )

    values = [write([random.randint(*bounds) for bounds in ranges]) for _ in range(12)]
    for place, (least, most) in enumerate(ranges):
        for number in (least, most, most + 1):
            numbers = [random.randint(*bounds) for bounds in ranges]
            numbers[place] = number
            values.append(write(numbers))
    values += [values[0] + separator + "1", "0" + values[1], values[2].replace(separator, ",")]
    values += [separator.join(["7"] * len(ranges))]
    parts = ("ranges", "padded" if padded else "unpadded", "listed", "end")
    statement = describe("validation", *parts, separator=separator, listed=listed)
    return ValidationRule(statement, valid_ranges, (ranges, separator, padded), values)


def _draw_check(random: Random) -> ValidationRule:
    gaps = random.choice(["", " ", "-", " -"])
    return (_draw_luhn if chance(random, 0.35) else _draw_weighted)(random, gaps)


def _draw_luhn(random: Random, gaps: str) -> ValidationRule:
    prefixes = sorted({str(random.randint(3, 69)) for _ in range(random.randint(1, 3))})
    length = random.randint(9, 16)
    good = _numbers(random, prefixes, length, lambda text: valid_luhn(text, prefixes, length, ""))
    statement = describe(
        "validation",
        *("luhn", gaps and "gaps", "end"),
        length=length,
        prefixes=" or ".join(prefixes),
        gaps=" and ".join(map(repr, gaps)),
    )
    values = _with_errors(random, good, gaps)
    return ValidationRule(statement, valid_luhn, (prefixes, length, gaps), values)


def _draw_weighted(random: Random, gaps: str) -> ValidationRule:
    prefix = "".join(random.choice(LETTERS) for _ in range(random.randint(0, 2)))
    modulus = random.choice([7, 10, 11, 11, 13])
    weights = [random.randint(1, 9) for _ in range(random.randint(6, 10))]

    def right(text: str) -> bool:
        return valid_check(text, prefix, weights, modulus, "")

    good = _numbers(random, [prefix], len(prefix) + len(weights), right)
    if modulus == 11:
        good += [text[:-1] + "X" for text in good if right(text[:-1] + "X")]
    statement = describe(
        "validation",
        *("weighted", gaps and "gaps", "end"),
        start=f"{prefix!r} and " if prefix else "",
        count=len(weights),
        ten=" (the last may be X, which counts 10)" if modulus == 11 else "",
        weights=", ".join(map(str, weights)),
        modulus=modulus,
        gaps=" and ".join(map(repr, gaps)),
    )
    values = _with_errors(random, good, gaps)
    return ValidationRule(statement, valid_check, (prefix, weights, modulus, gaps), values)


def _with_errors(random: Random, good: list[str], gaps: str) -> list[str]:
    """Right values, and some with another digit, another length or with gaps."""
    values = list(good)
    for text in good[:6]:
        place = random.randrange(len(text) // 2, len(text) - 1)
        values.append(f"{text[:place]}{(int(text[place]) + 1) % 10}{text[place + 1 :]}")
    values += [good[0] + "0", good[1][:-1]]
    return values + [
        f"{text[:4]}{gap}{text[4:]}" for text, gap in zip(good[2:], gaps + "_", strict=False)
    ]


def _numbers(
    random: Random, prefixes: list[str], length: int, right: Callable[[str], bool]
) -> list[str]:
    """Twelve values of this length that are right."""
    made: list[str] = []
    while len(made) < 12:
        text = random.choice(prefixes)
        text += "".join(str(random.randint(0, 9)) for _ in range(length - len(text)))
        made += [text] if right(text) else []
    return made


def draw_validation(random: Random, level: int) -> Draft:
    """Level 1 has forms, 2 ranges of numbers, 3 check digits."""
    rule = (_draw_form, _draw_ranges, _draw_check)[level - 1](random)

    def judge(value: str) -> tuple[str, bool]:
        return value, rule.function(value, *rule.parameters)

    judged = [judge(value) for value in dict.fromkeys(rule.values)]
    random.shuffle(judged)
    good = [pair for pair in judged if pair[1]]
    bad = [pair for pair in judged if not pair[1]]
    usual = [pair for both in zip(good, bad, strict=False) for pair in both]
    rest = [pair for pair in judged if pair not in usual]
    public, hidden = split_cases([judge(""), judge(f"{good[-1][0]}!"), *rest], usual, 10)
    return Draft(
        statement=rule.statement,
        solution=write_solution("validation", rule.function, *rule.parameters),
        public=public,
        hidden=hidden,
    )
