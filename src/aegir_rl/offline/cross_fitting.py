"""The verdict on a policy from the log that it was learnt from, without judging it on what it has seen.

    fold k:  follow(recipe, log without fold k)  ──▶ a policy  ──▶ decides about the episodes of fold k
    all episodes, each decided about by a policy that has not seen its group  ──▶ evaluation.py, one verdict

Everything is followed again without the fold: training, the choice among candidates, and the confidence floor (nested cross-fitting),
so no choice flatters the verdict, and no episode is lost to a hold-out. What is judged is the recipe: policies trained on four
fifths of the groups stand for the one in the file, which was trained on all of them.

Limit: the clone of the logged behaviour that counts unsupported decisions is made once; it knows actions, not rewards.
"""

from collections.abc import Iterator

import numpy as np

from aegir_rl.base.arrays import Bools
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
    chosen, own = log.baseline.copy(), np.zeros(len(log), bool)
    probabilities = np.zeros((len(log), len(log.actions)), np.float32)
    for rows, without in fold_policies(comparison, recipe, track):
        probabilities[rows] = policy_probabilities(without, log)[rows]
        chosen[rows], own[rows], _ = choose_above_floor(
            probabilities[rows], log.baseline[rows], without.floor
        )
    coverage = float(own.mean())
    return evaluate_choices(comparison, policy, chosen, coverage, probabilities, FOLDS)


def fold_policies(
    comparison: PolicyComparison, recipe: Recipe, track: Track = lambda items, _: items
) -> Iterator[tuple[Bools, RoutingPolicy]]:
    """Yield the rows (N,) of each fold with the policy that was made without them."""
    log = comparison.log
    fold = log.fold(FOLDS)
    for number in track(range(FOLDS), "cross-fitting"):
        rows = (fold == number)[log.episode]
        if rows.any() and not rows.all():
            part = log.select(fold != number)
            yield rows, follow(recipe, part, comparison.behaviour[~rows]).policy
