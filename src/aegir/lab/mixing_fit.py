"""Fits the weights with which two models are mixed (readers/mixing.py), by least log loss on held-out columns.

Where several names are acceptable, the loss is that of the sum of their probabilities.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np

from aegir.readers.mixing import (
    FLOOR,
    UNCHANGED,
    Mixing,
    Powers,
    RuleTrust,
    Weights,
    log_odds,
    with_none,
)
from aegir.readers.scores import LIKELY, Probabilities
from aegir.vocabulary.hierarchy import goes_with
from aegir.vocabulary.terms import FINE_INDEX, FINE_NAMES, TYPE_NAMES
from aegir_rl.base.arrays import F32, Bools

VIA_FINE = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6)
SHARPNESS = (0.9, 1.0, 1.1, 1.2, 1.3, 1.4)
TRUSTS = np.round(np.arange(0.0, 1.0, 0.02), 2)
RARE = 6
PRIOR_COLUMNS = 4
PRIOR = 0.5
"""Columns' worth of the types that a fine type goes with, added to those that were counted."""
Parts = Mapping[str, Probabilities]
"""Part of the answer to (columns, names) probabilities, the rest to 1 being none; special and web to (columns,)."""
POWERS = np.round(np.geomspace(0.5, 2.0, 41), 3)


def fit_pair(first: Probabilities, second: Probabilities, accepted: Bools) -> tuple[float, float]:
    """Return the weights of two models' log probabilities (columns, names) with least log loss, both at least 0."""
    from scipy.optimize import minimize

    logs = np.stack([np.log(with_none(part) + FLOOR) for part in (first, second)])

    def loss(weights: F32) -> tuple[float, F32]:
        logits = np.tensordot(weights, logs, 1)
        logits -= logits.max(axis=1, keepdims=True)
        powers = np.exp(logits)
        right = np.where(accepted, powers, 0)
        total, of_right = powers.sum(axis=1), right.sum(axis=1) + 1e-9
        slope = (logs * (powers / total[:, None] - right / of_right[:, None])).sum(axis=(1, 2))
        value = (np.log(total) - np.log(of_right)).mean()
        return float(value), slope / len(accepted)

    bounds = [(0.0, 3.0), (0.0, 3.0)]
    fitted = minimize(loss, np.array([0.5, 0.5]), jac=True, bounds=bounds, method="L-BFGS-B")
    return float(fitted.x[0]), float(fitted.x[1])


def fit_powers(
    known: Mapping[str, Bools], accepted: Mapping[str, Bools], chosen: Bools, parts: Parts
) -> Powers:
    """Fit how levels, special categories, rows and persons are calibrated, on the chosen columns."""
    found: dict[str, float] = {}
    for head in ("levels", "rows", "person"):
        used = np.flatnonzero(chosen & known[head])
        right, probabilities = accepted[head][used], parts[head][used]

        def loss(
            power: float, head: str = head, right: Bools = right, p: Probabilities = probabilities
        ) -> float:
            changed: dict[str, Any] = {head: float(power)}
            raised = replace(UNCHANGED, **changed).apply(head, p)
            whole = with_none(raised) if head == "levels" else raised
            return float(-np.log((whole * right).sum(axis=1) + 1e-6).mean())

        found[head] = float(min(POWERS, key=loss)) if len(used) else 1.0
    used = np.flatnonzero(chosen & known["special"])
    special = _fit_odds(parts["special"][used], accepted["special"][used, 0])
    return Powers(found["levels"], found["rows"], found["person"], special)


def _fit_odds(probabilities: F32, right: Bools) -> tuple[float, float]:
    """Return the factor of log odds, and the constant, with least log loss."""
    from sklearn.linear_model import LogisticRegression

    if len(set(right.tolist())) < 2:
        return 1.0, 0.0
    fitted = LogisticRegression(C=10.0).fit(log_odds(probabilities)[:, None], right)
    return float(fitted.coef_[0, 0]), float(fitted.intercept_[0])


def types_of_fine_from(fine: Bools, types: Bools) -> F32:
    """Return (fine types and none, types and none) shares of types among columns with both labels, and what goes together."""
    prior = np.array(
        [[goes_with(name, other) for other in (*TYPE_NAMES, None)] for name in FINE_NAMES]
        + [[True] * (len(TYPE_NAMES) + 1)],
        float,
    )
    prior *= PRIOR / prior.sum(axis=1, keepdims=True)
    shares = fine / np.maximum(fine.sum(axis=1, keepdims=True), 1)
    counts = shares.T @ (types / np.maximum(types.sum(axis=1, keepdims=True), 1)) + prior
    # as the weights file has it
    rounded = np.asarray(counts / counts.sum(axis=1, keepdims=True), np.float16)
    return rounded.astype(np.float32)


def fit_rule_trust(fine: Probabilities, named: Sequence[str | None], accepted: Bools) -> RuleTrust:
    """Fit the trust by least log loss on the columns where the models find the rule's name unlikely.

    Every fine type starts from what suits the rare ones, those that rules name in RARE columns at most, and moves away from
    it as its own columns ask for: the start counts as much as PRIOR_COLUMNS of them.
    """
    indices = np.array([FINE_INDEX.get(name or "", -1) for name in named], np.int64)
    rows = np.flatnonzero((indices >= 0) & (fine[np.arange(len(fine)), indices] < LIKELY))
    indices = indices[rows]
    right = accepted[rows, indices]
    before = (with_none(fine[rows]) * accepted[rows]).sum(axis=1)
    gains = np.log(before[:, None] * (1 - TRUSTS) + right[:, None] * TRUSTS + FLOOR)
    rare = np.bincount(indices, minlength=len(FINE_NAMES))[indices] <= RARE
    usual = gains[rare].sum(axis=0) / max(int(rare.sum()), 1)
    best = {
        name: np.argmax(gains[indices == index].sum(axis=0) + PRIOR_COLUMNS * usual)
        for index, name in enumerate(FINE_NAMES)
    }
    return RuleTrust({name: float(TRUSTS[index]) for name, index in best.items()})


def fit_weights(
    known: Mapping[str, Bools],
    accepted: Mapping[str, Bools],
    chosen: Bools,
    first: Parts,
    second: Parts,
    types_of_fine: F32,
) -> Weights:
    """Fit how two models are mixed on the chosen columns (columns,) of one origin."""
    pairs: dict[str, tuple[float, float]] = {}
    for part in ("types", "relations", "fine"):
        used = np.flatnonzero(chosen & known[part])
        pairs[part] = (0.5, 0.5)
        if len(used):
            pairs[part] = fit_pair(first[part][used], second[part][used], accepted[part][used])
    weights = Weights(pairs["types"], pairs["relations"], pairs["fine"])
    used = np.flatnonzero(chosen & known["types"] & known["fine"])
    if not len(used):
        return weights
    mixing, web = Mixing(weights, weights), np.ones(len(used), np.float32)
    types = mixing.mix("types", first["types"][used], second["types"][used], web)
    fine = mixing.mix("fine", first["fine"][used], second["fine"][used], web)

    def loss(settings: tuple[float, float]) -> float:
        share, sharpness = settings
        tried = Mixing(*[replace(weights, via_fine=share, sharpness=sharpness)] * 2)
        mixed = with_none(tried.with_fine(types, fine, types_of_fine, web))
        return float(-np.log((mixed * accepted["types"][used]).sum(axis=1) + 1e-6).mean())

    share, sharpness = min(product(VIA_FINE, SHARPNESS), key=loss)
    return replace(weights, via_fine=share, sharpness=sharpness)
