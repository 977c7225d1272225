"""The true value of a policy, from logs that hold the outcome of every worker."""

import numpy as np
import pytest

from aegir_rl.base.errors import UsageError
from aegir_rl.episode import Decision, Episode, EpisodeBatch
from aegir_rl.offline.known_outcomes import true_values
from aegir_rl.offline.logged_decisions import LoggedDecisions, with_all_outcomes


def episode(name: str, worker: str, right: dict[str, float], cost: float) -> Episode:
    decision = Decision(
        action={"worker": worker},
        propensity=0.5,
        baseline={"worker": "ngrams"},
        features={"confidence": 0.5},
        cost=cost,
    )
    parts = {f"accuracy_of.{each}": value for each, value in right.items()}
    return Episode(
        id=name,
        decisions=(decision,),
        source="real",
        group=name,
        rewards={"accuracy": right[worker], **parts},
    )


FIRST = episode("a", "ngrams", {"ngrams": 0.0, "combined": 1.0}, cost=0.1)
SECOND = episode("b", "combined", {"ngrams": 1.0, "combined": 0.0}, cost=0.4)
THIRD = episode("c", "combined", {"ngrams": 1.0, "combined": 1.0}, cost=0.2)


def log_of(*episodes: Episode) -> LoggedDecisions:
    return LoggedDecisions.from_batch(EpisodeBatch.from_episodes(episodes))


def test_every_worker_pays_what_it_costs_on_average():
    log = log_of(FIRST, SECOND, THIRD)
    assert log.actions == ("combined", "ngrams")
    # combined costs (0.4 + 0.2) / 2 = 0.3, ngrams 0.1; a tenth of that is paid
    assert log.known == pytest.approx(np.array([[0.97, -0.01], [-0.03, 0.99], [0.97, 0.99]]))
    # combined for the first, ngrams for the others: 0.97, 0.99, 0.99; ngrams for all: -0.01, 0.99, 0.99
    truth = true_values(log.known, np.array([0, 1, 1]), log.baseline, log.group_numbers)
    assert truth.policy.value == pytest.approx(2.95 / 3)
    assert truth.static.value == pytest.approx(1.97 / 3)
    assert truth.difference.value == pytest.approx(0.98 / 3)
    # ngrams alone earn 1.97 / 3, combined 1.91 / 3; an oracle chooses as this policy does
    assert log.actions[truth.best] == "ngrams"
    assert truth.over_best.value == pytest.approx(0.98 / 3)
    assert truth.regret.value == pytest.approx(0)
    worse = true_values(log.known, np.array([1, 1, 0]), log.baseline, log.group_numbers)
    assert worse.regret.value == pytest.approx((0.98 + 0.02) / 3)
    assert log.select(np.array([False, True, False])).known == pytest.approx(
        np.array([[-0.03, 0.99]])
    )


def test_nothing_is_known_when_an_outcome_a_cost_or_the_end_of_a_chain_is_not():
    without = Episode(id="d", decisions=THIRD.decisions, source="real", rewards={"accuracy": 1.0})
    chain = Episode(
        id="e", decisions=THIRD.decisions * 2, source="real", rewards=dict(THIRD.rewards)
    )
    assert log_of(FIRST, SECOND, without).known is None
    assert log_of(FIRST, SECOND, chain).known is None
    assert log_of(SECOND, THIRD).known is None  # what n-grams cost was never logged


def test_all_outcomes_make_an_episode_of_every_worker():
    log = with_all_outcomes(log_of(FIRST, SECOND, THIRD))
    assert (log.episodes, len(set(log.ids)), log.groups[:3]) == (6, 6, ("a", "a", "b"))
    assert log.action.tolist() == [0, 1] * 3
    # less what ngrams, the static table's choice, earn: -0.01, 0.99, 0.99
    assert log.reward == pytest.approx([0.98, 0.0, -1.02, 0.0, -0.02, 0.0])
    assert set(log.propensity) == {0.5}
    # weighing by 1 / 0.5 the episodes in which the policy's worker was asked: exactly what it is better by
    chosen = np.array([0, 0, 1, 1, 1, 1])
    assert (2 * log.reward * (log.action == chosen)).mean() == pytest.approx(0.98 / 3)
    with pytest.raises(UsageError, match="does not hold what every worker would have earned"):
        with_all_outcomes(log_of(SECOND, THIRD))
