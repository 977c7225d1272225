"""A reward function over a batch: arguments, missing rewards, failures, async functions."""

import asyncio
import logging
import math

import numpy as np
import pytest

from aegir_rl.base.errors import UsageError
from aegir_rl.plugins.batch_reward import BatchReward, completion_text


def lengths(completions):
    return np.array([len(one) for one in completions], np.float32)


async def lengths_later(completions):
    await asyncio.sleep(0.001)
    return lengths(completions)


def broken(completions):
    raise RuntimeError("the judge is away")


def some(completions):
    return [1.0, None, float("nan"), float("inf"), 3.0]


def test_rewards_are_plain_floats():
    reward = BatchReward(lengths)
    assert reward.compute(["a", "bcd"], solution=["not asked for"]) == [1.0, 3.0]
    assert all(type(one) is float for one in reward.compute(["a"]))
    assert reward.name == "lengths"
    assert reward.compute([]) == []


def test_a_score_is_given_the_arguments_it_names_or_all():
    named = BatchReward(lambda completions, answers: [float(len(answers))])
    assert named.compute(["x"], answers=[1, 2], states=[{}]) == [2.0]
    everything = BatchReward(lambda completions, **kwargs: [float(len(kwargs))])
    assert everything.compute(["x"], answers=1, states=2) == [2.0]


def test_a_missing_reward_is_the_mean_of_the_others_and_never_0():
    assert BatchReward(some).compute(list("abcde")) == [1.0, 2.0, 2.0, 2.0, 3.0]


def test_missing_rewards_may_stay_nan():
    found = BatchReward(some, missing="nan").compute(list("abcde"))
    assert (found[0], found[4]) == (1.0, 3.0)
    assert all(math.isnan(one) for one in found[1:4])


def test_a_batch_without_any_reward_gets_the_mean_so_far():
    answers = iter([[None, None], [1.0, 5.0], [None, None]])
    reward = BatchReward(lambda completions: next(answers), name="late")
    assert all(math.isnan(one) for one in reward.compute("ab"))  # nothing is known yet
    assert reward.compute("ab") == [1.0, 5.0]
    assert reward.compute("ab") == [3.0, 3.0]
    assert reward.metrics() == {
        "reward/late/scored": 2,
        "reward/late/missing": 4,
        "reward/late/failures": 0,
        "reward/late/mean": 3.0,
    }


def test_a_score_that_raises_is_logged_once_and_counted(caplog):
    reward = BatchReward(broken)
    with caplog.at_level(logging.WARNING, "aegir"):
        for _ in range(3):
            assert all(math.isnan(one) for one in reward.compute(["a", "b"]))
    assert [record.getMessage() for record in caplog.records] == [
        "reward broken failed (the judge is away); its rewards are missing"
    ]
    assert reward.metrics()["reward/broken/failures"] == 3
    assert reward.metrics()["reward/broken/missing"] == 6
    other = BatchReward(broken)
    other.load_state_dict(reward.state_dict())
    assert other.metrics() == reward.metrics()


@pytest.mark.parametrize(
    ("result", "said"),
    [([1.0], "1 numbers for 2 completions"), (7, "not iterable"), (["a", "b"], "'a'")],
)
def test_results_that_cannot_be_assigned_to_completions_are_all_missing(caplog, result, said):
    found = BatchReward(lambda completions: result).compute(["a", "b"])
    assert all(math.isnan(one) for one in found)
    assert said in caplog.text


def test_an_async_score_is_awaited_with_and_without_a_running_loop():
    reward = BatchReward(lengths_later)
    assert reward.is_async
    assert reward.compute(["ab"]) == [2.0]

    async def train():
        return reward.compute(["a"]), await reward.compute_async(["abc"])

    assert asyncio.run(train()) == ([1.0], [3.0])
    assert BatchReward(lambda completions: lengths_later(completions)).compute(["ab"]) == [2.0]


def test_an_async_score_that_raises_is_missing(caplog):
    async def away(completions):
        raise RuntimeError("the judge is away")

    reward = BatchReward(away, missing="nan")
    assert math.isnan(reward.compute(["a"])[0])
    assert math.isnan(asyncio.run(reward.compute_async(["a"]))[0])
    assert reward.metrics()["reward/away/failures"] == 2


def test_an_unknown_way_to_fill_is_refused():
    with pytest.raises(UsageError, match="missing is 'zero'; expected 'mean' or 'nan'"):
        BatchReward(lengths, missing="zero")


@pytest.mark.parametrize(
    "completion",
    [
        "yes",
        {"role": "assistant", "content": "yes"},
        [{"role": "assistant", "content": "no"}, {"role": "assistant", "content": "yes"}],
        [{"role": "assistant", "content": "yes"}, {"role": "user", "content": "sure?"}],
    ],
)
def test_the_text_of_a_completion_is_read_from_every_form(completion):
    assert completion_text(completion) == "yes"


def test_a_completion_without_an_answer_is_empty_text():
    assert completion_text([]) == completion_text([{"role": "user", "content": "x"}]) == ""
