"""Clean readings: one unit, one reading a minute, values in the range of the sensors."""

from typing import Any


def to_celsius(value: float, unit: str) -> float | None:
    """Degrees Celsius of C, F or K, rounded to 3 decimals; None for another unit."""
    if unit == "C":
        return value
    if unit == "F":
        return round((value - 32) * 5 / 9, 3)
    if unit == "K":
        return round(value - 273.15, 3)
    return None


def drop_repeated(readings: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Of several readings of a sensor in a minute the last, where the first stood."""
    kept: dict[tuple[str, int], dict[str, Any]] = {}
    for reading in readings:
        kept[reading["sensor"], reading["minute"]] = reading
    return list(kept.values())


def clean(readings: list[dict[str, Any]], settings: dict[str, Any]) -> list[dict[str, Any]]:
    """Readings in Celsius within the range, its ends included, without repeated ones, in the order of time, then of sensors."""
    result = []
    for reading in drop_repeated(readings):
        value = to_celsius(reading["value"], reading["unit"])
        if value is not None and settings["low"] <= value <= settings["high"]:
            result.append(
                {"minute": reading["minute"], "sensor": reading["sensor"], "value": value}
            )
    return sorted(result, key=lambda reading: (reading["minute"], reading["sensor"]))
