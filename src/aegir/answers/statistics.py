"""Statistics of a column, as answers state them: from the profile that annotating makes anyway.

    {"rows": 200, "nulls": 3, "distinct": 1412, "distinct_is": "estimated", "min": 4.86, "max": 894.74, "mean_length": 5.1,
     "digits": 0, "emails": 0, "most_common": [{"value": "pending", "count": 81}]}

`rows` are the cells that were looked at, and `nulls` and the counts are of these; `distinct` is of the whole column: exact where all rows were
seen, estimated from the sample where the number of rows is known, else at least that many. `min` and `max` are given for numbers
and for dates written year first; `digits` counts cells of nothing but digits, `emails` cells that hold an e-mail address, alone or within other text.

Promise: no value of a personal column is given: neither its range (the largest salary is someone's) nor a frequent value, whose shape
(`xxxx 99`) stands instead.
"""

from collections import Counter

from aegir.tables.datatype import ColumnProfile

LONGEST_SHAPE = 12
LONGEST_VALUE = 80
"""Characters that are shown of a frequent value."""

EXACT, ESTIMATED, AT_LEAST = "exact", "estimated", "at least"


def statistics_as_dict(profile: ColumnProfile, *, personal: bool) -> dict[str, object]:
    """Return the statistics of a column; what is not known is None."""
    estimate = profile.estimated_distinct
    return {
        "rows": profile.rows,
        "nulls": profile.missing,
        "distinct": profile.distinct if estimate is None else estimate,
        "distinct_is": EXACT if profile.complete else AT_LEAST if estimate is None else ESTIMATED,
        "min": None if personal else _end(profile.least, profile.earliest),
        "max": None if personal else _end(profile.greatest, profile.latest),
        "mean_length": round(profile.mean_length, 1),
        "digits": profile.digits,
        "emails": profile.emails,
        "most_common": [
            {"value": value, "count": count} for value, count in _common(profile, personal)
        ],
    }


def shown_statistics(profile: ColumnProfile, *, personal: bool) -> list[str]:
    """Return the statistics in words, the frequent values last."""
    values = statistics_as_dict(profile, personal=personal)
    nulls = f"{values['nulls']:,} null" if values["nulls"] else "no nulls"
    about = {EXACT: "", ESTIMATED: "about ", AT_LEAST: "at least "}[str(values["distinct_is"])]
    said = [
        f"{values['rows']:,} {'rows' if profile.complete else 'sampled rows'}",
        nulls,
        f"{about}{values['distinct']:,} distinct",
    ]
    if values["min"] is not None:
        said.append(f"{values['min']} to {values['max']}")
    said.append(f"mean length {values['mean_length']}")
    common = [f"{value} ({count:,})" for value, count in _common(profile, personal)]
    return [*said, f"most common: {', '.join(common)}"] if common else said


def shape_of(value: str) -> str:
    """Letters as x, digits as 9, the rest as it is, up to `LONGEST_SHAPE` characters."""
    return "".join(
        "9" if char.isdigit() else "x" if char.isalnum() else char for char in value[:LONGEST_SHAPE]
    )


def _common(profile: ColumnProfile, personal: bool) -> list[tuple[str, int]]:
    if not personal:
        return [(value[:LONGEST_VALUE], count) for value, count in profile.common]
    shapes: Counter[str] = Counter()
    for value, count in profile.common:
        shapes[shape_of(value)] += count
    return shapes.most_common()


def _end(number: float | None, text: str | None) -> float | int | str | None:
    if number is None:
        return text
    whole = number.is_integer() and abs(number) < 2**53
    return int(number) if whole else number
