"""How the probabilities of two models become one answer, on tables of the web and on everyday ones.

    log P = a log P(first) + b log P(second) + const        "none of these" is one of the names
    types   P = (1 - v) P(type) + v sum over fine types of P(fine type) P(type | fine type), then P^s / sum of P^s
    fine    P = (1 - t) P(fine type) + t for the fine type that a rule names, one t per fine type

The rules' names count last, and only among fine types. The weights a, b, v and s differ between the two kinds of tables; a table that is web with probability w gets
w times those of the web plus 1 - w times the others. All were fitted on held-out tables (lab/calibrate.py).

The columns of a table are then read together: which names stand beside each other, and which of them comes first.

    C(a, b)         how often a column of name a stands before one of name b, in labelled tables
    together(a, b)  log (r + damping) / (1 + damping), r how much oftener a and b share a table than if drawn alone;
                    a name beside itself has a damping of its own, because some names are repeated often and most never
    order(a, b)     log of how much oftener a stands before b than in half of these cases
    A = together_weight * together + order_weight * order

    s_i(a) = log P_i(a) + (n - 1)^-crowding * (sum over later j, b: A(a, b) q_j(b) + sum over earlier j, b: A(b, a) q_j(b))
    q_i = P_i(any name) * softmax(s_i)                      at most ROUNDS times, beginning with q = P

This is mean field inference in a fully connected pairwise model (Wainwright and Jordan 2008, section 5). Of two columns that read
like a title, the one that a price follows is the product's name, if that is how labelled tables have it.

Promises
  - a table's result depends on that table alone, bit for bit;
  - what was impossible stays impossible, and the probability of "none of these" does not change;
  - a table of one column stays as it is.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Self

import numpy as np

from aegir.readers.scores import Probabilities
from aegir.vocabulary.terms import FINE_INDEX, FINE_NAMES, RELATION_NAMES, TYPE_NAMES
from aegir_rl.base.arrays import F32, rows_times, sigmoid, softmax
from aegir_rl.base.errors import UsageError

FLOOR = np.float32(1e-6)
NUMBERS = {"types": 2, "relations": 2, "fine": 2}
"""How many weights each part of the answer has."""
LARGEST_WEIGHT = 1_000
SHARPEST = 20
"""1/83, which the largest of 83 probabilities is at least, raised to this power is a float32 above 0."""


@dataclass(frozen=True, slots=True)
class Weights:
    """What the log probabilities of two models are multiplied by."""

    types: tuple[float, float]
    relations: tuple[float, float]
    fine: tuple[float, float]
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
        if lengths != NUMBERS or not (np.abs(numbers) <= LARGEST_WEIGHT).all():
            raise UsageError(
                "the weights of a mixture in the calibration are not finite numbers, two per part, "
                f"of at most {LARGEST_WEIGHT:,}"
            )
        if not (0 <= weights.via_fine <= 1 and 0 < weights.sharpness <= SHARPEST):
            raise UsageError(
                f"via_fine of the calibration is {weights.via_fine} and sharpness {weights.sharpness}; "
                f"expected a share from 0 to 1 and a number above 0, at most {SHARPEST}"
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


FAILING_TRUST = 0.75
"""Trust in a rule under a header that agrees, where all values have the form of its fine type and fail their check digit."""


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

    def apply(
        self, fine: Probabilities, named: Sequence[str | None], failing: Sequence[float] = ()
    ) -> Probabilities:
        """Return fine type probabilities (columns, names) in which what rules name is trusted.

        `failing` are the shares of values that fail their check digit; FAILING_TRUST is for columns where all do.
        """
        trusted = fine.copy()
        for row, name, share in zip(trusted, named, failing or (0.0,) * len(named), strict=True):
            if name is not None:
                trust = self.shares[name] + share * (FAILING_TRUST - self.shares[name])
                row *= np.float32(1 - trust)
                row[FINE_INDEX[name]] += np.float32(trust)
        return trusted


@dataclass(frozen=True, slots=True)
class Powers:
    """How the networks' probabilities of the parts that nothing is mixed with are calibrated: P^p / sum of P^p."""

    levels: float = 1.0
    rows: float = 1.0
    person: float = 1.0
    special: tuple[float, float] = (1.0, 0.0)
    """What the log odds of a special category are multiplied by, and what is then added."""

    def __post_init__(self) -> None:
        numbers = (self.levels, self.rows, self.person, *self.special)
        fits = all(isinstance(number, int | float) for number in numbers)
        if not fits or len(self.special) != 2 or not (np.abs(numbers) <= SHARPEST).all():
            raise UsageError(
                f"the powers in the calibration are {numbers}; expected numbers of at most {SHARPEST}"
            )

    @classmethod
    def from_json(cls, data: Any) -> Self:
        """Read what `asdict` made of it; raise UsageError for anything else."""
        try:
            return cls(data["levels"], data["rows"], data["person"], tuple(data["special"]))
        except (KeyError, TypeError):
            raise UsageError("the calibration has no powers of levels, rows and persons") from None

    def apply(self, head: str, probabilities: Probabilities) -> Probabilities:
        """Return calibrated probabilities (…, names) of one head; `levels` leave the rest to 1 for none."""
        if head == "special":
            factor, constant = self.special
            odds = np.float32(factor) * log_odds(probabilities) + np.float32(constant)
            return sigmoid(odds)
        whole = with_none(probabilities) if head == "levels" else probabilities
        raised = (whole + FLOOR) ** np.float32(getattr(self, head))
        raised /= raised.sum(axis=1, keepdims=True)
        return np.asarray(raised[:, :-1] if head == "levels" else raised, np.float32)


UNCHANGED = Powers()


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


ROUNDS = 4
SETTLED = 1e-3
"""Rounds end early when no probability has moved further than this."""
IMPOSSIBLE = np.float32(-1e4)
"""The log probability of what cannot be; nothing that stands beside it makes up for it."""
HALF_A_PAIR = 0.5
"""Added to both directions of a pair, so that one table does not settle an order."""


@dataclass(frozen=True, slots=True)
class PairWeights:
    """Numbers fitted on held-out tables."""

    together: float
    order: float
    crowding: float
    """From 0, every other column counts in full, to 1, their mean counts."""
    damping: float
    """Bounds what is said by names that never stand together: tables of thousands do not prove that they cannot."""
    same_damping: float
    """The same for a name beside itself."""
    temperature: float
    """What scores are divided by in the end."""

    def __post_init__(self) -> None:
        for name, value in asdict(self).items():
            least = 0.0 if name in ("together", "order", "crowding") else 1e-6
            if not isinstance(value, int | float) or not math.isfinite(value) or value < least:
                raise UsageError(
                    f"{name} of the pairs in the calibration is {value!r}; expected a number from {least:g}"
                )


@dataclass(frozen=True, slots=True, eq=False)
class Pairs:
    """What is known of the pairs of names of one part of the answer."""

    names: Sequence[str]
    counts: F32
    """(names, names): C."""
    weights: PairWeights
    _matrix: F32 = field(init=False)
    """(2 names, names): messages from later columns, then from earlier ones."""

    def __post_init__(self) -> None:
        together, order = log_ratios(self.counts, self.weights.damping, self.weights.same_damping)
        together *= np.float32(self.weights.together)
        order *= np.float32(self.weights.order)
        both = together + order
        object.__setattr__(self, "_matrix", np.ascontiguousarray(np.vstack([both.T, both])))

    @classmethod
    def from_json(cls, data: Any, names: Sequence[str]) -> Self:
        """Read what `as_json` wrote; raise UsageError for anything else."""
        index_of = {name: i for i, name in enumerate(names)}
        counts = np.zeros((len(names), len(names)), np.float32)
        try:
            weights = PairWeights(**data["weights"])
            for before, row in data["counts"].items():
                for after, count in row.items():
                    counts[index_of[before], index_of[after]] = count
        except UsageError:
            raise
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise UsageError(f"the pairs in the calibration cannot be read ({error!r})") from None
        if not np.isfinite(counts).all() or (counts < 0).any():
            raise UsageError(
                "the pairs in the calibration have counts that are negative or not finite"
            )
        return cls(names, counts, weights)

    def as_json(self) -> dict[str, object]:
        """Return weights, and the counts that are not 0 by the names of both columns."""
        counts: dict[str, dict[str, float]] = {}
        for i, j in np.argwhere(self.counts).tolist():
            counts.setdefault(self.names[i], {})[self.names[j]] = round(float(self.counts[i, j]), 3)
        return {"weights": asdict(self.weights), "counts": counts}

    def apply(self, probabilities: Probabilities, strength: float = 1.0) -> Probabilities:
        """Return the probabilities (columns, names) of one table's columns, read together.

        `strength` from 0 to 1 says how far that is to be trusted; the rest to 1 of a row stays "none of these".
        """
        if len(probabilities) < 2 or strength <= 0:
            return probabilities
        some = probabilities.sum(axis=1, keepdims=True)
        possible = probabilities > 0
        alone: F32 = np.where(possible, np.log(probabilities + FLOOR), IMPOSSIBLE)
        scale = np.float32(strength * (len(probabilities) - 1) ** -self.weights.crowding)
        believed: F32 = probabilities
        scores = alone
        for _ in range(ROUNDS):
            earlier = np.cumsum(believed, axis=0, dtype=np.float32) - believed
            later = believed.sum(axis=0, dtype=np.float32) - believed - earlier
            scores = alone + scale * rows_times(np.hstack([later, earlier]), self._matrix)
            before, believed = believed, some * softmax(scores)
            if np.abs(believed - before).max() < SETTLED:
                break
        temperature = 1 + strength * (self.weights.temperature - 1)
        return np.asarray(softmax(scores / np.float32(temperature)) * some, np.float32)


@dataclass(frozen=True, slots=True)
class PairModel:
    """Pairs of types, and pairs of relations, of tables of the web."""

    types: Pairs
    relations: Pairs

    @classmethod
    def from_json(cls, data: Any) -> Self:
        """Read what `as_json` wrote; raise UsageError for anything else."""
        if not isinstance(data, Mapping) or not {"types", "relations"} <= data.keys():
            raise UsageError("the pairs in the calibration are not those of types and relations")
        return cls(
            Pairs.from_json(data["types"], TYPE_NAMES),
            Pairs.from_json(data["relations"], RELATION_NAMES),
        )

    def as_json(self) -> dict[str, object]:
        """Return the JSON object that is stored under "pairs" in the mixture."""
        return {"types": self.types.as_json(), "relations": self.relations.as_json()}


def log_ratios(counts: F32, damping: float, same_damping: float) -> tuple[F32, F32]:
    """Return (names, names) `together` and `order` of counted pairs; 0 for names that were never seen."""
    both = (counts + counts.T).astype(np.float64)
    often = both.sum(axis=1)
    expected = np.outer(often, often) / max(often.sum(), 1e-9)
    ratio = np.divide(both, expected, out=np.ones_like(both), where=expected > 0)
    dampings = np.where(np.eye(len(ratio), dtype=bool), same_damping, damping)
    together = np.log((ratio + dampings) / (1 + dampings))
    order = np.log((counts + HALF_A_PAIR) / (both / 2 + HALF_A_PAIR))
    return together.astype(np.float32), order.astype(np.float32)
