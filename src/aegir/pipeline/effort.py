"""What `--effort` and `--within` ask for.

    parse_effort("high")            1.0                 parse_seconds("200ms")          0.2
    Plan.of(1.0)                    which columns are searched, beside how many others, in how many steps

docs/routing.md has a table of what each effort asks for.

Effort only adds: whoever is asked at some effort is asked at every higher one.
"""

import math
import re
from dataclasses import dataclass
from typing import Self

from aegir_rl.base.errors import UsageError

EFFORTS = {"low": 0.0, "normal": 0.5, "high": 1.0}
NORMAL = EFFORTS["normal"]
WOKEN_BELOW = 0.7
"""Confidence below which the byte network reads a column from normal effort on; surer columns gained nothing (docs/log.md)."""
FEW = 2
"""Columns read beside a woken one; more of them did not change what the byte network answered (docs/routing.md)."""
SEARCHED_BELOW = 0.9
MOST_READINGS = 3
"""Further readings of a column; a fourth one gained nothing on held-out tables."""
SWARM_FROM = 0.9
"""Effort from which the swarm and the user's specialists are asked."""
LONGEST = 86_400.0
"""Seconds that a table may be given."""
_SECONDS = re.compile(r"\s*([0-9]*\.?[0-9]+)\s*(ms|s)\s*")


@dataclass(frozen=True, slots=True)
class Plan:
    """What an effort allows."""

    effort: float
    woken_below: float
    """Confidence below which the byte network is asked about a column."""
    readings: int
    """Further readings of a column that is searched."""
    asks_swarm: bool
    """Whether the swarm, and specialists of the user's pool, are asked."""
    searched_below: float = SEARCHED_BELOW
    """Confidence below which a column is searched, and above which its search ends."""

    @classmethod
    def of(cls, effort: float) -> Self:
        """Return the plan of an effort from 0 to 1."""
        if not 0 <= effort <= 1:
            raise UsageError(f"the effort is {effort}; expected a number from 0 to 1")
        more = max(effort - NORMAL, 0.0) / (1 - NORMAL)
        return cls(
            effort,
            WOKEN_BELOW * min(effort / NORMAL, 1.0),
            math.ceil(more * MOST_READINGS - 1e-9),
            effort >= SWARM_FROM,
        )


def parse_effort(text: str) -> float:
    """Return the effort that a name or a number stands for."""
    if text in EFFORTS:
        return EFFORTS[text]
    try:
        effort = float(text)
    except ValueError:
        effort = math.nan
    if not 0 <= effort <= 1:
        raise UsageError(
            f"the effort is {text!r}; expected low, normal, high or a number from 0 to 1"
        )
    return effort


def parse_seconds(text: str) -> float:
    """Return the seconds that `200ms` or `1.5s` stand for."""
    found = _SECONDS.fullmatch(text)
    seconds = float(found[1]) * (0.001 if found[2] == "ms" else 1) if found else 0.0
    if not 0 < seconds <= LONGEST:
        raise UsageError(
            f"--within is {text[:40]!r}; expected a time above 0 and up to a day, such as 200ms or 1.5s"
        )
    return seconds
