"""JSON that others wrote: what it holds is bounded, and anything wrong with it is a ValueError.

    parse_json(metadata["facts"])         a ValueError for text that is no JSON, is nested too deep, or has a number too long

`json.loads` raises RecursionError for deep nesting and gives whole numbers of any length, which later
raise OverflowError where they are made a float.
"""

import json
from typing import Any

LONGEST_NUMBER = 40
"""Digits and sign of a whole number: those of random generators have up to 39 digits."""


def parse_json(text: str | bytes) -> Any:
    """Return what JSON text holds."""
    try:
        return json.loads(text, parse_int=_parse_whole_number)
    except RecursionError:
        raise ValueError("it is nested too deep") from None


def _parse_whole_number(digits: str) -> int:
    if len(digits) > LONGEST_NUMBER:
        raise ValueError(f"the number {digits[:12]}… is longer than {LONGEST_NUMBER} digits")
    return int(digits)
