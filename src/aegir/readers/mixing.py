"""How the probabilities of two models become one answer, on tables of the web and on everyday ones.

    log P = a log P(first) + b log P(second) + const        "none of these" is one of the names
    types   P = (1 - v) P(type) + v sum over fine types of P(fine type) P(type | fine type), then P^s / sum of P^s
    fine    P = (1 - t) P(fine type) + t for the fine type that a rule names, one t per fine type

The rules' names count last, and only among fine types. The weights a, b, v and s differ between the two kinds of tables; a table that is web with probability w gets
w times those of the web plus 1 - w times the others. All were fitted on held-out tables (lab/calibrate.py).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from aegir.readers.scores import Probabilities
from aegir.vocabulary.terms import FINE_INDEX, FINE_NAMES
from aegir_rl.base.arrays import F32, softmax
from aegir_rl.base.dense import rows_times, sigmoid
from aegir_rl.base.errors import UsageError

FLOOR = np.float32(1e-6)
NUMBERS = {"types": 2, "relations": 2, "fine": 2, "personal": 3}
"""How many weights each part of the answer has."""


@dataclass(frozen=True, slots=True)
class Weights:
    """What the log probabilities of two models are multiplied by; personal data have a constant beside."""

    types: tuple[float, float]
    relations: tuple[float, float]
    fine: tuple[float, float]
    personal: tuple[float, float, float]
    via_fine: float = 0.0
    """v: the weight of the types that fine types imply."""
    sharpness: float = 1.0
    """s: the power to which the types' probabilities are then raised."""

    @classmethod
    def from_json(cls, data: Any) -> Self:
        """Read what `asdict` made of it; raise UsageError for anything else."""
        try:
            parts: dict[str, Any] = {head: tuple(map(float, data[head])) for head in NUMBERS}
            weights = cls(
                **parts, via_fine=float(data["via_fine"]), sharpness=float(data["sharpness"])
            )
        except (KeyError, TypeError, ValueError):
            raise UsageError("the calibration has no weights of a mixture") from None
        lengths = {head: len(part) for head, part in parts.items()}
        numbers = [number for part in parts.values() for number in part]
        numbers += [weights.via_fine, weights.sharpness]
        if lengths != NUMBERS or not np.isfinite(numbers).all():
            raise UsageError(
                "the weights of a mixture in the calibration are not finite numbers, two per part"
            )
        if not 0 <= weights.via_fine <= 1 or weights.sharpness <= 0:
            raise UsageError(
                f"via_fine of the calibration is {weights.via_fine} and sharpness {weights.sharpness}; "
                "expected a share from 0 to 1 and a number above 0"
            )
        return weights


@dataclass(frozen=True, slots=True)
class Mixing:
    """The weights on tables of the web and on everyday tables."""

    web: Weights
    everyday: Weights

    @classmethod
    def from_json(cls, data: Any) -> Self:
        """Read what `asdict` made of it."""
        if not isinstance(data, Mapping) or not {"web", "everyday"} <= data.keys():
            raise UsageError("the calibration has no mixture for web and everyday tables")
        return cls(Weights.from_json(data["web"]), Weights.from_json(data["everyday"]))

    def at(self, head: str, web: F32) -> F32:
        """Return the weights (columns, n) of a head for columns of tables that are web with probability (columns,)."""
        a, b = (
            np.atleast_1d(np.array(getattr(w, head), np.float32)) for w in (self.web, self.everyday)
        )
        return np.asarray(web[:, None] * a + (1 - web[:, None]) * b, np.float32)

    def mix(
        self, head: str, first: Probabilities, second: Probabilities, web: F32
    ) -> Probabilities:
        """Return the mixture (columns, names) of two such arrays; the rest to 1 is "none of these" in all three."""
        weights = self.at(head, web)
        logits = [
            weights[:, index, None] * np.log(with_none(part) + FLOOR)
            for index, part in enumerate((first, second))
        ]
        return softmax(logits[0] + logits[1])[:, :-1]

    def mix_personal(self, first: F32, second: F32, web: F32) -> F32:
        """Return the mixture (columns,) of two probabilities of personal data."""
        weights = self.at("personal", web)
        logits = weights[:, 0] * log_odds(first) + weights[:, 1] * log_odds(second) + weights[:, 2]
        return sigmoid(logits)

    def with_fine(
        self, types: Probabilities, fine: Probabilities, types_of_fine: F32, web: F32
    ) -> Probabilities:
        """Return type probabilities (columns, 82) mixed with those that the fine types imply, then sharpened.

        `types_of_fine` (fine types + 1, 83) is P(type | fine type), with "none of these" last on both sides.
        """
        share = self.at("via_fine", web)
        by_fine = rows_times(with_none(fine), types_of_fine)
        by_fine /= by_fine.sum(axis=1, keepdims=True)  # `types_of_fine` was rounded
        both = (1 - share) * with_none(types) + share * by_fine
        sharp = both ** self.at("sharpness", web)
        return np.asarray(sharp / sharp.sum(axis=1, keepdims=True), np.float32)[:, :-1]


@dataclass(frozen=True, slots=True)
class RuleTrust:
    """How far the fine types that rules name are trusted: P = (1 - t) P + t for such a name."""

    shares: Mapping[str, float]
    """Fine type to its t, from 0 to 1."""

    def __post_init__(self) -> None:
        for name in FINE_NAMES:
            share = self.shares.get(name)
            if not isinstance(share, int | float) or not 0 <= share <= 1:
                raise UsageError(
                    f"the trust in rules for {name} in the calibration is {share}; "
                    "expected a share from 0 to 1"
                )

    @classmethod
    def from_json(cls, data: Any) -> Self:
        """Read what `asdict` made of it; raise UsageError for anything else."""
        if not isinstance(data, Mapping) or not isinstance(data.get("shares"), Mapping):
            raise UsageError("the calibration has no trust in rules")
        return cls(data["shares"])

    def apply(self, fine: Probabilities, named: Sequence[str | None]) -> Probabilities:
        """Return fine type probabilities (columns, names) in which what rules name is trusted."""
        trusted = fine.copy()
        for row, name in zip(trusted, named, strict=True):
            if name is not None:
                row *= np.float32(1 - self.shares[name])
                row[FINE_INDEX[name]] += np.float32(self.shares[name])
        return trusted


def with_none(probabilities: Probabilities) -> Probabilities:
    """Return (columns, names + 1): the last is what is left for "none of these"."""
    rest = np.maximum(1 - probabilities.sum(axis=1, keepdims=True), 0)
    return np.hstack([probabilities, rest]).astype(np.float32)


def log_odds(probability: F32) -> F32:
    """Return the log odds of probabilities, kept finite."""
    return np.asarray(np.log((probability + FLOOR) / (1 - probability + FLOOR)), np.float32)


def per_column(web: Sequence[float], widths: Sequence[int]) -> F32:
    """Return each table's number once per column."""
    return np.repeat(np.array(web, np.float32), widths)
