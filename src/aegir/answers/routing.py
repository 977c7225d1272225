"""What an answer says about the specialists of a swarm: those activated for a column, and times.

All are optional: only the annotator `swarm` has specialists, and times are measured only when asked for, because they
differ from run to run. docs/answers.md explains every field.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

SCORE_DECIMALS, SECONDS_DECIMALS = 4, 6


@dataclass(frozen=True, slots=True)
class RouterScore:
    """What the router decided about one specialist and one column."""

    specialist: str
    score: float
    """How much the router expects of the specialist, from 0 to 1."""
    woken: bool
    """Whether the specialist has read the column."""


@dataclass(frozen=True, slots=True)
class Timing:
    """How long a table took to annotate, in seconds, as measured."""

    critical_path: float
    """The longest chain: router, longest specialist, primary, table stage."""
    cost: float
    """CPU seconds of everything together."""
    steps: tuple[tuple[str, float], ...]
    """The seconds of each step, in order."""


Routing = tuple[RouterScore, ...]


def routing_as_dict(routing: Routing | None) -> dict[str, object]:
    """The keys of the routing of a column; none if there was no router."""
    if routing is None:
        return {}
    scores = {each.specialist: round(each.score, SCORE_DECIMALS) for each in routing}
    woken = [
        {"specialist": each.specialist, "score": scores[each.specialist]}
        for each in routing
        if each.woken
    ]
    return {"routing": woken, "routing_scores": scores}


def routing_from_dict(data: Mapping[str, Any]) -> Routing | None:
    """The routing that `routing_as_dict` wrote, up to rounding."""
    if "routing" not in data and "routing_scores" not in data:
        return None
    woken, scores = {each["specialist"] for each in data["routing"]}, data["routing_scores"]
    if unknown := woken - scores.keys():
        raise ValueError(f"{unknown.pop()!r} is woken but has no score")
    return tuple(RouterScore(name, float(score), name in woken) for name, score in scores.items())


def timing_as_dict(timing: Timing | None) -> dict[str, object]:
    """The key of the times of a table; none if they were not measured."""
    if timing is None:
        return {}
    return {
        "timing": {
            "critical_path": round(timing.critical_path, SECONDS_DECIMALS),
            "cost": round(timing.cost, SECONDS_DECIMALS),
            "steps": {name: round(seconds, SECONDS_DECIMALS) for name, seconds in timing.steps},
        }
    }


def timing_from_dict(data: Mapping[str, Any]) -> Timing | None:
    """The times that `timing_as_dict` wrote, up to rounding."""
    if "timing" not in data:
        return None
    entry = data["timing"]
    steps = tuple((name, float(seconds)) for name, seconds in entry["steps"].items())
    return Timing(float(entry["critical_path"]), float(entry["cost"]), steps)


def woken_first(routing: Sequence[RouterScore]) -> list[RouterScore]:
    """The specialists in the order in which people read them: woken ones first, then by score."""
    return sorted(routing, key=lambda each: (not each.woken, -each.score))
