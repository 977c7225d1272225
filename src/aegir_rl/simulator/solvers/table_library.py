"""Functions that the solver `templates` fits: whole operations on tables, series and small formats.

Each takes the task's arguments and its parameters. Their source becomes the solution, so they use modules of the standard library and
each other only.
"""

import itertools
import re
import statistics
import unicodedata
from typing import Any


def unique_rows(
    rows: list[Any], keys: list[str], loose: list[str], keep: str, by: str
) -> list[Any]:
    """One row for each combination of keys; rows with an empty key stay as they are."""
    groups: dict[str, list[Any]] = {}
    for number, row in enumerate(rows):
        found = [row.get(key) for key in keys]
        if any(value is None for value in found):
            groups[f"row {number}"] = [row]
            continue
        parts = [
            re.sub(r"\s", "", value).lower() if key in loose and isinstance(value, str) else value
            for key, value in zip(keys, found, strict=True)
        ]
        groups.setdefault(repr(parts), []).append(row)
    chosen = []
    for group in groups.values():
        if keep == "last":
            chosen.append(group[-1])
        elif keep == "most":
            chosen.append(max(group, key=lambda row: row[by]))
        elif keep == "filled":
            chosen.append(
                max(group, key=lambda row: sum(value is not None for value in row.values()))
            )
        else:
            chosen.append(group[0])
    return chosen


def normal_key(value: Any, steps: list[str]) -> str:
    """A key in the form that is compared."""
    text = str(value or "")
    if "prefix" in steps:
        text = text[text.find(":") + 1 :]
    if "accents" in steps:
        text = "".join(
            sign for sign in unicodedata.normalize("NFKD", text) if not unicodedata.combining(sign)
        )
    if "case" in steps:
        text = text.casefold()
    if "signs" in steps:
        text = re.sub(r"[\W_]", "", text)
    text = re.sub(r"\s", "", text) if "blanks" in steps else text.strip()
    return text.lstrip("0") if "zeros" in steps else text


def joined_ids(
    left: list[Any], right: list[Any], keys: tuple[str, str], steps: list[str], kind: str
) -> list[Any]:
    """Ids of rows with the same key."""
    pairs: list[Any] = []
    for row in left:
        key = normal_key(row[keys[0]], steps)
        others = [
            other["id"] for other in right if key and normal_key(other[keys[1]], steps) == key
        ]
        if kind == "anti":
            pairs += [] if others else [row["id"]]
        else:
            pairs += [[row["id"], other] for other in others or ([None] if kind == "left" else [])]
    return pairs


def wide_table(
    rows: list[Any], names: tuple[str, str, str], how: str, fill: Any, prefix: str
) -> list[Any]:
    """A column for each value of the second name, a row for each value of the first."""
    index, column, value = names
    cells: dict[Any, list[Any]] = {}
    for row in rows:
        if row[value] is not None:
            cells.setdefault((row[index], row[column]), []).append(row[value])
    made: dict[str, Any] = {
        "sum": sum,
        "max": max,
        "min": min,
        "count": len,
        "last": lambda values: values[-1],
    }
    columns = sorted({key[1] for key in cells})
    return [
        {
            index: first,
            **{
                f"{prefix}{name}": made[how](cells[first, name]) if (first, name) in cells else fill
                for name in columns
            },
        }
        for first in sorted({key[0] for key in cells})
    ]


def long_table(
    rows: list[Any], ids: list[str], names: tuple[str, str], skip: bool, prefix: str
) -> list[Any]:
    """A row for each cell that is not of the ids."""
    return [
        {
            **{name: row[name] for name in ids},
            names[0]: key.removeprefix(prefix),
            names[1]: row[key],
        }
        for row in rows
        for key in row
        if key not in ids and not (skip and row[key] is None)
    ]


def far_values(values: list[Any], method: str, k: float, fewest: int, side: str) -> list[bool]:
    """True for values outside the limits of a method."""
    known = [value for value in values if value is not None]
    if len(known) < max(2, fewest):
        return [False for _ in values]
    middle, spread, lower, upper = 0.0, 0.0, 0.0, 0.0
    if method in ("pstdev", "stdev"):
        middle, spread = statistics.fmean(known), getattr(statistics, method)(known)
    elif method == "mad":
        middle = statistics.median(known)
        spread = statistics.median(abs(value - middle) for value in known)
    elif method == "steps":
        steps = [abs(after - before) for before, after in itertools.pairwise(known)]
        spread = statistics.fmean(steps)
    if method == "quartiles":
        first, _, third = statistics.quantiles(known, n=4, method="inclusive")
        lower, upper = first - k * (third - first), third + k * (third - first)
    else:
        lower, upper = middle - k * spread, middle + k * spread
    flags, last = [], None
    for value in values:
        seen = (
            value if method != "steps" or value is None else value - last if last is not None else 0
        )
        high, low = (
            value is not None and seen > upper + 1e-9,
            value is not None and seen < lower - 1e-9,
        )
        flags.append({"both": high or low, "high": high, "low": low}[side])
        last = last if value is None else value
    return flags


def key_values(
    text: str, entry: str, assign: str, comment: str, options: str, again: str
) -> dict[str, Any]:
    """Entries of a key and a value; options: t typed values, l keys in small letters."""
    if comment:
        text = re.sub(rf"{re.escape(comment)}[^\n]*", "", text)
    result: dict[str, Any] = {}
    for piece in text.split(entry):
        key, sign, value = (part.strip() for part in piece.partition(assign))
        if not sign or not key:
            continue
        key = key.lower() if "l" in options else key
        read: Any = value
        if "t" in options:
            read = (
                int(value)
                if re.fullmatch("-?[0-9]+", value)
                else {"true": True, "false": False}.get(value, value)
            )
        if again == "list" and key in result:
            result[key] = [*(result[key] if isinstance(result[key], list) else [result[key]]), read]
        elif again != "first" or key not in result:
            result[key] = read
    return result


def weighted_check(text: str, prefix: str, weights: list[int], modulus: int, gaps: str) -> bool:
    """A prefix and digits, whose weighted sum the modulus divides."""
    text = "".join(sign for sign in text if sign not in gaps)
    if not text.startswith(prefix) or len(text) != len(prefix) + len(weights):
        return False
    digits = text[len(prefix) :]
    if not re.fullmatch("[0-9]+[0-9X]" if modulus == 11 else "[0-9]+", digits):
        return False
    values = [10 if digit == "X" else int(digit) for digit in digits]
    return sum(weight * value for weight, value in zip(weights, values, strict=True)) % modulus == 0


def numbers_in_ranges(
    text: str, ranges: list[tuple[int, int]], separator: str, padded: bool
) -> bool:
    """Numbers with a separator between them, each within its range."""
    parts = text.split(separator)
    if len(parts) != len(ranges) or not all(re.fullmatch("[0-9]+", part) for part in parts):
        return False
    for part, (least, most) in zip(parts, ranges, strict=True):
        written = part.zfill(len(str(most))) if padded else str(int(part))
        if part != written or not least <= int(part) <= most:
            return False
    return True


def rolling_mean(values: list[float], size: int, digits: int) -> list[float]:
    """The mean of up to `size` values that end at each place."""
    windows = [values[max(0, place - size + 1) : place + 1] for place in range(len(values))]
    return [round(sum(window) / len(window), digits) for window in windows]


def clipped(values: list[Any], low: float, high: float) -> list[Any]:
    """The values without None, moved into a range."""
    return [min(high, max(low, value)) for value in values if value is not None]
