"""What every specialist of a swarm is worth: left out, how many answers are lost, and what is saved.

    figures = read_worth(Path("figures.json"))       what `aegir train swarm-figures --json` printed
    figures[0].name, figures[0].gain["right"].low

Measured by training/swarm_figures; shown by `aegir swarm map --worth figures.json`.
"""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aegir_rl.base.errors import UsageError
from aegir_rl.offline.intervals import Estimate

OVERALL = "right"
"""The part of the answer that stands for all: the share of a column's labels that are answered right."""

GAINS, LOSES, NOT_SHOWN = "gains", "loses", "not shown"


@dataclass(frozen=True, slots=True)
class SpecialistWorth:
    """What a swarm loses without one specialist."""

    name: str
    usage: float
    """Share of the columns that it read."""
    milliseconds: float
    """CPU time per column of all tables that it spends reading."""
    cost_share: float
    """The same as a share of the cost of the whole swarm."""
    gain: Mapping[str, Estimate]
    """Part of the answer to the share right with all specialists minus that without this one; OVERALL is always there."""

    @property
    def verdict(self) -> str:
        """Whether it is worth keeping, as far as the interval of OVERALL can tell."""
        overall = self.gain[OVERALL]
        if overall.low > 0:
            return GAINS
        return LOSES if overall.high < 0 else NOT_SHOWN

    def as_dict(self) -> dict[str, Any]:
        """Return a record that `of` reads; JSON."""
        return {
            "name": self.name,
            "usage": self.usage,
            "milliseconds": self.milliseconds,
            "cost_share": self.cost_share,
            "verdict": self.verdict,
            "gain": {part: each.as_dict() for part, each in self.gain.items()},
        }

    @classmethod
    def of(cls, record: Mapping[str, Any]) -> "SpecialistWorth":
        """Read what `as_dict` made; raise KeyError, TypeError or ValueError for anything else."""
        gain = {str(part): _estimate(each) for part, each in record["gain"].items()}
        usage, spent, share = (
            float(record[key]) for key in ("usage", "milliseconds", "cost_share")
        )
        if OVERALL not in gain or not (
            0 <= usage <= 1 and 0 <= share <= 1 and 0 <= spent < math.inf
        ):
            raise ValueError(f"a specialist has no gain {OVERALL!r}, or a share outside 0 to 1")
        return cls(str(record["name"]), usage, spent, share, gain)


def read_worth(path: Path) -> tuple[SpecialistWorth, ...]:
    """Read the specialists of a file that `aegir train swarm-figures --json` printed."""
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
        return tuple(map(SpecialistWorth.of, record["worth"]))
    except OSError as error:
        raise UsageError(f"{path} cannot be read ({error.strerror or error})") from None
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise UsageError(
            f"{path} has no figures of specialists ({type(error).__name__}: {error}); "
            "make them with: aegir train swarm-figures RUN --data DATA --json"
        ) from None


def _estimate(record: Mapping[str, Any]) -> Estimate:
    value, low, high = (float(record[name]) for name in ("value", "low", "high"))
    if not -1 <= low <= value <= high <= 1:
        raise ValueError(f"a gain is {value} ({low} to {high}); expected numbers from -1 to 1")
    error = record["error"]
    return Estimate(value, math.nan if error is None else float(error), low, high)
