"""Rewards in the form of a verifiers rubric: the documented form always, the package where it is."""

import asyncio
import inspect
import math

import pytest

from aegir_rl.plugins.verifiers import as_group_reward, as_single_reward


def lengths(completions):
    return [float(len(one)) for one in completions]


def test_group_rewards_have_the_signature_verifiers_looks_for():
    group = as_group_reward(lengths, name="size")
    assert "completions" in inspect.signature(group).parameters
    assert group.__name__ == "size"
    assert group(completions=["ab"], answers=["x"], states=[{}]) == [2.0]


def test_one_missing_rating_leaves_the_advantages_of_its_group_alone():
    group = as_group_reward(lambda completions: [1.0, None, 3.0], name="judge")
    rewards = group(completions=["a", "b", "c"])
    mean = sum(rewards) / len(rewards)
    assert [reward - mean for reward in rewards] == [-1.0, 0.0, 1.0]
    assert group.metrics()["reward/judge/missing"] == 1


def test_failures_that_were_counted_can_be_read(caplog):
    group = as_group_reward(lambda completions: 1 / 0, name="judge")
    group(completions=["a", "b"])
    assert group.metrics() == {
        "reward/judge/scored": 0,
        "reward/judge/missing": 2,
        "reward/judge/failures": 1,
    }


def test_single_rewards_take_one_completion_and_its_answer():
    single = as_single_reward(lambda completions, answers: [float(completions == answers)])
    assert "completions" not in inspect.signature(single).parameters
    assert single(completion="4", answer="4", state={}) == 1.0
    assert single(completion="4", answer="5", state={}) == 0.0


def test_a_missing_single_reward_is_the_mean_so_far():
    answers = iter([[None], [2.0], [4.0], [None]])
    single = as_single_reward(lambda completions: next(answers))
    found = [single(completion="x") for _ in range(4)]
    assert math.isnan(found[0])
    assert found[1:] == [2.0, 4.0, 3.0]


def test_async_scores_are_awaited_in_the_loop_of_the_rubric():
    loops = []

    async def judge(completions):
        loops.append(asyncio.get_running_loop())
        return lengths(completions)

    async def rubric():
        group, single = as_group_reward(judge), as_single_reward(judge)
        found = await group(completions=["a", "bb"]), await single(completion="ccc")
        assert loops == [asyncio.get_running_loop()] * 2
        return found

    assert asyncio.run(rubric()) == ([1.0, 2.0], 3.0)


def test_a_rubric_of_verifiers_scores_with_ours():
    verifiers = pytest.importorskip(
        "verifiers", reason="verifiers is not here (it needs datasets, openai, …)"
    )
    if not hasattr(verifiers, "Rubric"):
        pytest.skip("this version of verifiers has no rubrics; they are in 0.1")

    async def judge(completions, answers):
        return [1.0, None, 0.5]

    ours = as_group_reward(judge, name="ours")
    single = as_single_reward(lengths, name="size")
    rubric = verifiers.Rubric(funcs=[ours, single], weights=[2.0, 1.0])
    states = [
        {"prompt": "?", "completion": text, "answer": "4", "timing": {}, "trajectory": []}
        for text in "456"
    ]
    asyncio.run(rubric.score_group(states))
    assert [state["reward"] for state in states] == [3.0, 2.5, 2.0]
    assert states[0]["metrics"] == {"ours": 1.0, "size": 1.0}
    assert [state["advantage"] for state in states] == [0.5, 0.0, -0.5]
