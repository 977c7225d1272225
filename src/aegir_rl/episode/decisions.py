"""One decision, and the episode of decisions it belongs to, with their JSON form.

An action has one or more *factors*, each with its own choice and log probability: 0 or 1 for every specialist of a
router, a name for a dispatcher's worker, a class number or name for the annotation itself (factor `LABEL`).

The `propensity` is the probability with which the action *was executed*: after a cap on activations, exploration or
a fall-back changed it. The log probabilities are the policy's own, before that; objectives need both.

Promises
  - episode -> JSON -> episode loses nothing, floats bit for bit;
  - a value that is missing is left out, never 0 and never nan;
  - a value that cannot be (a propensity of 0, a positive log probability, nan) is refused at construction.
"""

import json
import math
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, field, fields
from typing import Any, Literal, get_args

from aegir_rl.base.errors import UsageError, reason_of, require
from aegir_rl.base.text import SURROGATE

Source = Literal["real", "synthetic", "proxy"]
"""Where an episode's outcome comes from; a proxy is a judgement by another model."""
Choice = int | str | None
"""What one factor chose: a number from 0 on, a name, or None for an abstention."""

LABEL = "label"
"""The factor that holds the annotation itself; every other factor is routing."""
FORMAT = 1
"""Version of the JSON form, in every line."""


@dataclass(frozen=True, slots=True)
class TimedStep:
    """One piece of work: how long it took (any unit), and what had to end before it."""

    name: str
    duration: float
    after: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """One decision of a policy, with what was known before it and what came of it."""

    action: Mapping[str, Choice]
    """Factor to choice."""
    log_probabilities: Mapping[str, float] = field(default_factory=dict)
    """Factor to log probability of its choice under the policy."""
    propensity: float | None = None
    """Probability of the whole action as executed; None when unknown."""
    features: Mapping[str, float] = field(default_factory=dict)
    """What was seen, by name."""
    policy: str = ""
    policy_version: str = ""
    decided_by: str = "policy"
    """Who decided in the end: the policy, a static table, a fall-back, a cap."""
    reason: str = ""
    baseline: Mapping[str, Choice] = field(default_factory=dict)
    """Factor to what the static table would have chosen, for comparing a policy with it; empty when unknown."""
    cost: float = 0.0
    seconds: float = 0.0
    gold: tuple[int | str, ...] = ()
    """Labels that would have been right; empty when unknown."""
    score_gain: Mapping[str, float] = field(default_factory=dict)
    """Factor to what its choice changed in the score, against the same decision without it."""
    path_gain: Mapping[str, float] = field(default_factory=dict)
    """Factor to the time its choice saved on the critical path."""

    def __post_init__(self) -> None:
        _check_choices("action", self.action)
        _check_choices("baseline", self.baseline)
        for factor in self.baseline:
            if factor not in self.action:
                raise UsageError(f"baseline names {factor!r}, which is no factor of the action")
        for name in ("log_probabilities", "features", "score_gain", "path_gain"):
            for key, value in getattr(self, name).items():
                require(_is_finite(value), f"{name} of {key!r}", value, "a finite number")
                if name != "features" and key not in self.action:
                    raise UsageError(f"{name} names {key!r}, which is no factor of the action")
        for factor, value in self.log_probabilities.items():
            require(value <= 0, f"log probability of {factor!r}", value, "0 or less")
        if self.propensity is not None:
            require(0 < self.propensity <= 1, "propensity", self.propensity, "above 0, at most 1")
        for name in ("cost", "seconds"):
            value = getattr(self, name)
            require(0 <= value < math.inf, name, value, "a finite number, 0 or more")
        for label in self.gold:
            if isinstance(label, bool) or not isinstance(label, int | str):
                raise UsageError(f"gold holds {label!r}; expected label numbers or names")


@dataclass(frozen=True, slots=True, kw_only=True)
class Episode:
    """The decisions about one task, such as a table, and what they earned."""

    id: str
    decisions: tuple[Decision, ...]
    source: Source
    group: str = ""
    """Episodes of one group are compared with each other (advantages), or must not be split (folds)."""
    task: str = ""
    rewards: Mapping[str, float] = field(default_factory=dict)
    """Part to value; a part that is missing is left out."""
    terminated: bool = True
    """False: cut off (truncated), so that a value function should bootstrap from its end."""
    steps: tuple[TimedStep, ...] = ()
    """The work that was done, for its critical path (aegir_rl.rl.critical_path)."""

    def __post_init__(self) -> None:
        if self.source not in get_args(Source):
            known = ", ".join(get_args(Source))
            raise UsageError(f"source of episode {self.id!r} is {self.source!r}; expected {known}")
        for part, value in self.rewards.items():
            require(_is_finite(value), f"reward {part!r}", value, "finite, or left out")

    def to_json(self) -> str:
        """One line of JSON without a line break; fields that hold their default are left out."""
        record = {"format": FORMAT, **_record(self)}
        record["decisions"] = [_record(decision) for decision in self.decisions]
        if self.steps:
            record["steps"] = [_record(step) for step in self.steps]
        text = json.dumps(record, allow_nan=False, ensure_ascii=False, separators=(",", ":"))
        # Lone surrogates, such as those of a file name that is not UTF-8, as JSON writes them in ASCII.
        return SURROGATE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)

    @classmethod
    def from_json(cls, line: str, where: str = "this line") -> "Episode":
        """Read what `to_json` wrote; raise for anything else, naming `where`."""
        try:
            record = json.loads(line)
            version = record.pop("format")
            if version != FORMAT:
                raise UsageError(f"its format is {version!r}; this version of Aegir reads {FORMAT}")
            record["decisions"] = tuple(_read_decision(each) for each in record["decisions"])
            record["steps"] = tuple(
                TimedStep(**{**each, "after": tuple(each.get("after", ()))})
                for each in record.get("steps", ())
            )
            return cls(**record)
        except UsageError as error:
            raise UsageError(f"{where} is no episode: {error}") from None
        except KeyError as error:
            raise UsageError(
                f"{where} is no episode: it has no {error}; expected what `aegir rl export` writes"
            ) from None
        except (json.JSONDecodeError, RecursionError) as error:
            reason = reason_of(error)
            raise UsageError(f"{where} is no episode: it is no whole JSON ({reason})") from None
        except (AttributeError, TypeError, ValueError) as error:
            raise UsageError(f"{where} is no episode ({type(error).__name__}: {error})") from None


def id_part(name: str) -> str:
    """A name as a part of an id: what cannot be printed is written as an escape."""
    return "".join(
        char if char.isprintable() else char.encode("unicode_escape").decode() for char in name
    )


def _record(item: Decision | Episode | TimedStep) -> dict[str, Any]:
    """The fields that differ from their defaults."""
    record = {}
    for each in fields(item):
        value = getattr(item, each.name)
        default = each.default_factory() if each.default_factory is not MISSING else each.default
        if value != default:
            record[each.name] = dict(value) if isinstance(value, Mapping) else value
    return record


def _read_decision(record: dict[str, Any]) -> Decision:
    return Decision(**{**record, "gold": tuple(record.get("gold", ()))})


def _check_choices(name: str, choices: Mapping[str, Choice]) -> None:
    for factor, choice in choices.items():
        if isinstance(choice, bool) or not isinstance(choice, int | str | None):
            raise UsageError(f"{name} {factor!r} is {choice!r}; expected a number, name or None")
        if isinstance(choice, int) and choice < 0:
            raise UsageError(f"{name} {factor!r} is {choice}; expected 0 or more, or None")


def _is_finite(value: object) -> bool:
    return isinstance(value, int | float) and math.isfinite(value)
