"""reward_v1: the worked number, chains, clipping, what is refused."""

import numpy as np
import pytest

from aegir_rl.base.errors import UsageError
from aegir_rl.episode import LABEL, Decision, Episode, EpisodeBatch
from aegir_rl.offline.reward_v1 import RewardWeights, compute_reward_v1


def reward_of(*decisions: Decision, **rewards: float):
    episode = Episode(id="a", decisions=decisions, source="synthetic", rewards=rewards)
    return compute_reward_v1(EpisodeBatch.from_episodes([episode]))


def test_the_worked_number():
    spent = Decision(action={"worker": "llm"}, cost=2.0, seconds=0.4)
    # 1 + 0.05 - 0.1 * 2 - 0.05 * 0.4 - 0.02 * 1 = 0.81
    assert reward_of(spent, accuracy=1, verified=1, retries=1).total[0] == pytest.approx(0.81)
    # 0 - 0.2 - 0.02 - 0.1 * 2 timeouts - 0.2 failure = -0.62
    assert reward_of(spent, accuracy=0, timeouts=2, failures=1).total[0] == pytest.approx(-0.62)


def test_a_chain_is_paid_step_by_step_and_adds_up():
    cheap = Decision(action={"worker": "rules"}, cost=1.0)
    dear = Decision(action={"worker": "llm"}, cost=3.0, seconds=2.0)
    found = reward_of(cheap, dear, accuracy=0.5)
    # First -0.1; last -0.3 - 0.1 + 0.5 = 0.1.
    assert found.steps[0] == pytest.approx([-0.1, 0.1])
    assert found.total[0] == pytest.approx(0.0)


def test_what_clipping_takes_away_is_taken_from_the_last_step():
    first, last = (Decision(action={"worker": "llm"}, cost=cost) for cost in (5.0, 10.0))
    found = reward_of(first, last, accuracy=0)
    # -0.5 - 1.0 = -1.5, clipped to -1: the last step pays -0.5.
    assert found.total[0] == -1
    assert found.steps[0] == pytest.approx([-0.5, -0.5])
    assert found.clipped == 1


def test_accuracy_follows_from_label_and_gold_and_is_missing_without_them():
    right = Decision(action={"worker": "rules", LABEL: "Date"}, gold=("Time", "Date"))
    wrong = Decision(action={"worker": "rules", LABEL: None}, gold=("Date",))
    unknown = Decision(action={"worker": "rules", LABEL: "Date"})
    totals = [float(reward_of(each).total[0]) for each in (right, wrong, unknown)]
    assert totals[:2] == [1.0, 0.0]
    assert np.isnan(totals[2])
    assert reward_of(right, accuracy=0.25).total[0] == 0.25  # what was logged counts


@pytest.mark.parametrize(
    ("part", "value", "expected"),
    [("accuracy", 1.7, "a number from 0 to 1"), ("retries", -1.0, "0 or more")],
)
def test_a_part_out_of_range_is_refused_with_the_episode(part: str, value: float, expected: str):
    with pytest.raises(UsageError, match=rf"reward part '{part}' of episode 'a' is .*{expected}"):
        reward_of(Decision(action={"worker": "rules"}), **{part: value})


def test_weights_that_cannot_be_are_refused():
    with pytest.raises(UsageError, match="reward weight cost is -1"):
        RewardWeights(cost=-1)
    with pytest.raises(UsageError, match="expected low < high"):
        RewardWeights(low=2.0)
