"""Read a log of sensors: a line is `HH:MM name=value unit`, separated by blanks."""

import re
from typing import Any

LINE = re.compile(r"([0-9]{2}):([0-9]{2})\s+(\w+)=(-?[0-9]+(?:\.[0-9]+)?)\s*([A-Za-z]*)")


def read_line(line: str, settings: dict[str, Any]) -> dict[str, Any] | None:
    """Minute of the day, sensor in small letters, value and unit (the usual one if there is none); None for another line."""
    match = LINE.fullmatch(line.strip())
    if match is None or int(match[1]) > 23 or int(match[2]) > 59:
        return None
    return {
        "minute": int(match[1]) * 60 + int(match[2]),
        "sensor": match[3].lower(),
        "value": float(match[4]),
        "unit": match[5] or settings["unit"],
    }


def read_log(text: str, settings: dict[str, Any]) -> list[dict[str, Any]]:
    """All readings, in the order of their lines."""
    readings = [read_line(line, settings) for line in text.split("\n")]
    return [reading for reading in readings if reading is not None]
