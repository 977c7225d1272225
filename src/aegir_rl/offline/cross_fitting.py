"""The verdict on a policy from the log that it was learnt from, without judging it on what it has seen.

    fold k:  follow(recipe, log without fold k)  ──▶ a policy  ──▶ decides about the episodes of fold k
    all episodes, each decided about by a policy that has not seen its group  ──▶ evaluation.py, one verdict

Everything is followed again without the fold: training, the choice among candidates, and the confidence floor (nested cross-fitting),
so no choice flatters the verdict, and no episode is lost to a hold-out. What is judged is the recipe: policies trained on four
fifths of the groups stand for the one in the file, which was trained on all of them.

Limit: the clone of the logged behaviour that counts unsupported decisions is made once; it knows actions, not rewards.
"""

import numpy as np

from aegir_rl.base.arrays import F32, Bools, Ints
from aegir_rl.offline.choosing import Recipe, Track, follow
from aegir_rl.offline.evaluation import (
    PolicyComparison,
    PolicyEvaluation,
    evaluate_choices,
    policy_probabilities,
)
from aegir_rl.offline.logged_decisions import LoggedDecisions
from aegir_rl.offline.policy import RoutingPolicy, choose_above_floor

FOLDS = 5


def evaluate_cross_fitted(
    log: LoggedDecisions,
    policy: RoutingPolicy,
    recipe: Recipe,
    track: Track = lambda items, _: items,
) -> PolicyEvaluation:
    """Evaluate how a policy was made on the log that it was made from."""
    comparison = PolicyComparison(log, recipe.settings)
    chosen, own, probabilities = _decide(comparison, recipe, track)
    coverage = float(own.mean())
    return evaluate_choices(comparison, policy, chosen, coverage, probabilities, FOLDS)


def _decide(comparison: PolicyComparison, recipe: Recipe, track: Track) -> tuple[Ints, Bools, F32]:
    """Actions (N,), whether a policy or the static table chose them (N,), and probabilities (N, A)."""
    log = comparison.log
    fold = log.fold(FOLDS)
    chosen, own = log.baseline.copy(), np.zeros(len(log), bool)
    probabilities = np.zeros((len(log), len(log.actions)), np.float32)
    for number in track(range(FOLDS), "cross-fitting"):
        rows = (fold == number)[log.episode]
        if not rows.any() or rows.all():
            continue
        part = log.select(fold != number)
        policy = follow(recipe, part, comparison.behaviour[~rows]).policy
        probabilities[rows] = policy_probabilities(policy, log)[rows]
        chosen[rows], own[rows], _ = choose_above_floor(
            probabilities[rows], log.baseline[rows], policy.floor
        )
    return chosen, own, probabilities
