"""Which tokens are critical, and how much more they weigh in the policy loss.

Tokens where a column begins, and those that say more than others about the answer, weigh more; those above the mean are
critical. What a token says about the answer is

    information_t = KL(p_t ‖ q) = Σ_c p_t(c) log (p_t(c) / q(c))        in nats, 0 or more

where p_t is the policy's distribution over answers at token t, and q the mean of p over all tokens that count
(against="marginal": how much the answer here differs from the usual answer; its mean is the mutual information of token
and answer) or the distribution at the token before (against="previous": what reading this token changed; a row's first
token is compared with the mean). With mean information m and boundary b_t, 1 where a column begins,

    weight_t ∝ 1 + information · information_t / (information_t + m) + boundary · b_t,    mean 1 over tokens that count

so that no token weighs more than 1 + information + boundary times an ordinary one, however unequal the information.
Worked number, strengths 1 and 1: information 0 and 0.4 (m = 0.2), a column begins at the first token: 1 + 0 + 1 = 2 and
1 + 0.4 / 0.6 = 1.6667, mean 1.8333: weights 1.0909 and 0.9091.

Promises
  - weights depend on what the policy sees, never on what it chose, so the expected gradient at each token keeps its direction;
  - tokens that do not count have weight 0 and change no other weight.

Not here: what the weights do (clipped_objective.py).
"""

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from aegir_rl.base.arrays import Bools, Floats, read_array, read_floats
from aegir_rl.base.errors import UsageError, require
from aegir_rl.rl.tokens import describe_place, read_mask, read_tokens, require_finite

Against = Literal["marginal", "previous"]
ROUNDING = 1e-9
"""A weight this close to 1 is the mean."""
SUM_TOLERANCE = 1e-3
"""How far from 1 the sum of probabilities may be: those of float16 are rough."""


@dataclass(frozen=True, slots=True, eq=False)
class TokenWeights:
    """Weights of tokens, and what they were computed from; all arrays have the shape of the tokens."""

    weights: Floats
    """Mean 1 over tokens that count, 0 elsewhere."""
    information: Floats
    """In nats, 0 where it was not given."""
    boundaries: Bools
    counted: Bools

    @property
    def critical(self) -> Bools:
        """Tokens that weigh more than the mean."""
        return self.weights > 1 + ROUNDING

    def describe(self, most: int = 10, names: npt.ArrayLike | None = None) -> str:
        """A line about all tokens, and one for each of the `most` heaviest critical ones.

        `names`, in the shape of the tokens, says what each token is, such as a header or a value.
        """
        critical = self.critical
        labels = None if names is None else read_array(names, "names")
        if labels is not None and labels.shape != self.weights.shape:
            raise UsageError(
                f"names have shape {labels.shape} but the tokens {self.weights.shape}; expected the same"
            )
        lines = [self._summarise(critical)]
        order = np.argsort(-np.where(critical, self.weights, -1.0), axis=None, kind="stable")
        for flat in order[: min(most, int(critical.sum()))]:
            place = tuple(int(axis) for axis in np.unravel_index(flat, critical.shape))
            name = "" if labels is None else f" {labels[place]!s}"
            boundary = ", column begins" if self.boundaries[place] else ""
            lines.append(
                f"{describe_place(place)}{name}: weight {self.weights[place]:.2f}, "
                f"information {self.information[place]:.2f} nats{boundary}"
            )
        return "\n".join(lines)

    def _summarise(self, critical: Bools) -> str:
        total, number = int(self.counted.sum()), int(critical.sum())
        text = f"{number} of {total} tokens are critical"
        if not 0 < number < total:
            return text
        others = self.counted & ~critical
        return (
            f"{text}: mean weight {self.weights[critical].mean():.2f}, "
            f"of the others {self.weights[others].mean():.2f}"
        )

    @property
    def figures(self) -> dict[str, float]:
        """Share of critical tokens and the largest weight, for a log; empty if no token counts."""
        if not self.counted.any():
            return {}
        return {
            "token_weight/critical_share": float(self.critical.sum() / self.counted.sum()),
            "token_weight/max": float(self.weights.max()),
        }


def compute_token_weights(
    information: npt.ArrayLike | None = None,
    boundaries: npt.ArrayLike | None = None,
    *,
    mask: npt.ArrayLike | None = None,
    information_strength: float = 1.0,
    boundary_strength: float = 1.0,
) -> TokenWeights:
    """Weights of tokens from their information and from where columns begin; at least one of the two is needed."""
    strengths = {
        "information_strength": information_strength,
        "boundary_strength": boundary_strength,
    }
    for name, strength in strengths.items():
        require(0 <= strength < np.inf, name, strength, "a number, 0 or more")
    both = {"information": information, "boundaries": boundaries}
    given = {name: read_tokens(each, name) for name, each in both.items() if each is not None}
    shapes = {name: each.shape for name, each in given.items()}
    if len(set(shapes.values())) != 1:
        raise UsageError(
            f"the shapes are {shapes}; expected information, boundaries or both, in one shape"
        )
    (shape,) = set(shapes.values())
    counted = read_mask(mask, shape)
    carried = _read_information(given.get("information", np.zeros(shape)), counted)
    marked = counted & read_mask(given.get("boundaries", np.zeros(shape)), shape, "boundaries")
    typical = float(carried[counted].mean()) if counted.any() else 0.0
    relative = carried / (carried + typical) if typical > 0 else np.zeros(shape)
    raw = np.where(counted, 1 + information_strength * relative + boundary_strength * marked, 0.0)
    mean = float(raw[counted].mean()) if counted.any() else 1.0
    return TokenWeights(raw / mean, carried, marked, counted)


def compute_information(
    probabilities: npt.ArrayLike,
    against: Against = "marginal",
    *,
    mask: npt.ArrayLike | None = None,
) -> Floats:
    """(B, T) what each token says about the answer, from the policy's probabilities (B, T, C); 0 where masked."""
    require(against in get_args(Against), "against", against, " or ".join(get_args(Against)))
    given = read_floats(probabilities, "probabilities")
    if given.ndim != 3 or given.shape[2] == 0:
        raise UsageError(
            f"probabilities have shape {given.shape}; expected (rows, tokens, classes)"
        )
    counted = read_mask(mask, given.shape[:2])
    wrong = counted & ~((given >= 0).all(axis=2) & (abs(given.sum(axis=2) - 1) < SUM_TOLERANCE))
    if wrong.any():
        row, token = (int(axis[0]) for axis in np.nonzero(wrong))
        raise UsageError(
            f"probabilities at {describe_place((row, token))} are none: expected numbers of 0 or more that add "
            "up to 1"
        )
    if not counted.any():
        return np.zeros(counted.shape)
    marginal = given[counted].mean(axis=0)
    compared = np.broadcast_to(marginal, given.shape)
    if against == "previous":
        compared = _previous(given, counted, marginal)
    given, compared = given[counted], compared[counted]
    floor = np.finfo(np.float64).tiny
    logs = np.log(np.maximum(given, floor)) - np.log(np.maximum(compared, floor))
    information = np.zeros(counted.shape)
    information[counted] = np.maximum((given * logs).sum(axis=1), 0.0)  # rounding can give -1e-17
    return information


def mark_boundaries(columns: npt.ArrayLike, *, mask: npt.ArrayLike | None = None) -> Bools:
    """(B, T) true at the first token of every column, from the column (B, T) that each token belongs to."""
    given = read_array(columns, "columns")
    if given.ndim != 2:
        raise UsageError(f"columns have shape {given.shape}; expected (rows, tokens)")
    counted = read_mask(mask, given.shape)
    begins = np.zeros(given.shape, bool)
    for row, tokens in enumerate(counted):
        indices = np.flatnonzero(tokens)
        names = given[row, indices]
        begins[row, indices] = np.append(True, names[1:] != names[:-1])[: len(indices)]
    return begins


def _previous(probabilities: Floats, counted: Bools, first: Floats) -> Floats:
    """The distribution at the counted token before each counted token; `first` for a row's first."""
    before = probabilities.copy()
    for row, tokens in enumerate(counted):
        indices = np.flatnonzero(tokens)
        before[row, indices[1:]] = probabilities[row, indices[:-1]]
        before[row, indices[:1]] = first
    return before


def _read_information(information: Floats, counted: Bools) -> Floats:
    """Information, 0 where a token does not count."""
    require_finite(information, counted, "information", "check the probabilities")
    if (information[counted] < 0).any():
        raise UsageError(
            f"information holds {information[counted].min()}; expected nats, 0 or more"
        )
    return np.where(counted, information, 0.0)
