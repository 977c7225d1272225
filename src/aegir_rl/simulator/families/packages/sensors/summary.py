"""Summaries of clean readings."""

import itertools
from typing import Any


def by_hour(readings: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Mean (2 decimals), largest value and count by sensor and hour, in the order of sensors, then of hours."""
    groups: dict[tuple[str, int], list[float]] = {}
    for reading in readings:
        key = reading["sensor"], reading["minute"] // 60
        groups.setdefault(key, []).append(reading["value"])
    return [
        {
            "sensor": sensor,
            "hour": hour,
            "mean": round(sum(values) / len(values), 2),
            "most": max(values),
            "count": len(values),
        }
        for (sensor, hour), values in sorted(groups.items())
    ]


def longest_gap(readings: list[dict[str, Any]], sensor: str) -> int | None:
    """The most minutes between neighbouring readings of a sensor; None with fewer than two."""
    minutes: list[int] = [reading["minute"] for reading in readings if reading["sensor"] == sensor]
    if len(minutes) < 2:
        return None
    return max(after - before for before, after in itertools.pairwise(minutes))
