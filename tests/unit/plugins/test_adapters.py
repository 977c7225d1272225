"""Rewards in other trainers' forms: against the documented form always, against the packages where they are."""

import asyncio
import inspect
import logging
import math
import sys

import numpy as np
import pytest

from aegir.errors import UsageError
from aegir.plugins.adapters import (
    AtroposReward,
    as_group_reward,
    as_single_reward,
    completion_text,
    make_atropos_class,
)


def lengths(completions):
    return np.array([len(one) for one in completions], np.float32)


def broken(completions):
    raise RuntimeError("the judge is away")


def test_compute_gives_plain_floats_and_calling_gives_weighted_ones():
    reward = AtroposReward(lengths, weight=0.5)
    assert reward.compute(["a", "bcd"], solution=["not asked for"]) == [1.0, 3.0]
    assert all(type(one) is float for one in reward.compute(["a"]))
    assert reward(["a", "bcd"]) == [0.5, 1.5]
    assert reward.name == "lengths"
    assert reward.compute([]) == []


def test_a_score_is_given_the_arguments_it_names_or_all():
    named = AtroposReward(lambda completions, answers: [float(len(answers))])
    assert named.compute(["x"], answers=[1, 2], states=[{}]) == [2.0]
    everything = AtroposReward(lambda completions, **kwargs: [float(len(kwargs))])
    assert everything.compute(["x"], answers=1, states=2) == [2.0]


def test_what_could_not_be_computed_is_missing_and_never_0():
    def some(completions):
        return [1.0, None, float("nan"), float("inf"), 3.0]

    found = AtroposReward(some).compute(list("abcde"))
    assert (found[0], found[4]) == (1.0, 3.0)
    assert all(math.isnan(one) for one in found[1:4])
    assert AtroposReward(some, missing="mean").compute(list("abcde")) == [1.0, 2.0, 2.0, 2.0, 3.0]


def test_a_score_that_raises_is_logged_once_and_the_run_goes_on(caplog):
    reward = AtroposReward(broken, missing="mean")
    with caplog.at_level(logging.WARNING, "aegir"):
        for _ in range(3):
            assert all(math.isnan(one) for one in reward.compute(["a", "b"]))
    assert [record.getMessage() for record in caplog.records] == [
        "reward broken failed (the judge is away); its rewards are missing"
    ]
    assert reward.metrics() == {
        "reward/broken/scored": 0,
        "reward/broken/missing": 6,
        "reward/broken/failures": 3,
    }
    other = AtroposReward(broken)
    other.load_state_dict(reward.state_dict())
    assert other.metrics() == reward.metrics()


def test_too_few_rewards_are_all_missing_because_nobody_knows_whose_they_are(caplog):
    found = AtroposReward(lambda completions: [1.0]).compute(["a", "b"])
    assert all(math.isnan(one) for one in found)
    assert "gave 1 numbers for 2 completions" in caplog.text


def test_wrong_settings_are_refused():
    with pytest.raises(UsageError, match="weight is nan"):
        AtroposReward(lengths, weight=math.nan)
    with pytest.raises(UsageError, match="missing is 'zero'; expected 'nan' or 'mean'"):
        AtroposReward(lengths, missing="zero")


@pytest.mark.parametrize(
    "completion",
    [
        "yes",
        {"role": "assistant", "content": "yes"},
        [{"role": "assistant", "content": "no"}, {"role": "assistant", "content": "yes"}],
        [{"role": "assistant", "content": "yes"}, {"role": "user", "content": "sure?"}],
    ],
)
def test_the_text_of_a_completion_is_found_in_every_form(completion):
    assert completion_text(completion) == "yes"


def test_a_completion_without_an_answer_is_empty_text():
    assert completion_text([]) == completion_text([{"role": "user", "content": "x"}]) == ""


def test_group_rewards_have_the_signature_verifiers_looks_for():
    group = as_group_reward(lengths, name="size")
    assert "completions" in inspect.signature(group).parameters
    assert group.__name__ == "size"
    assert group(completions=["ab"], answers=["x"], states=[{}]) == [2.0]


def test_single_rewards_take_one_completion_and_its_answer():
    single = as_single_reward(lambda completions, answers: [float(completions == answers)])
    assert "completions" not in inspect.signature(single).parameters
    assert single(completion="4", answer="4", state={}) == 1.0
    assert single(completion="4", answer="5", state={}) == 0.0


def test_the_registry_of_atropos_takes_ours():
    functions = pytest.importorskip(
        "atroposlib.envs.reward_fns",
        reason="atroposlib is not here (it needs transformers, wandb, …)",
    )
    functions.registry.register(make_atropos_class(lengths, name="size"), name="aegir_size")
    functions.registry.register(make_atropos_class(broken, name="gone"), name="aegir_gone")
    made = functions.registry.create("aegir_size", weight=2.0)
    assert isinstance(made, functions.RewardFunction)
    assert made(["ab"]) == [4.0]
    assert all(math.isnan(one) for one in functions.registry.create("aegir_gone")(["ab"]))
    combined = functions.CombinedReward(["aegir_size", "aegir_size"])
    assert combined.compute(["ab"]) == [4.0]


def test_without_atropos_its_class_cannot_be_made(monkeypatch):
    monkeypatch.setitem(sys.modules, "atroposlib.envs.reward_fns.reward_function", None)
    monkeypatch.setitem(sys.modules, "atroposlib", None)
    with pytest.raises(UsageError, match="atroposlib is not installed"):
        make_atropos_class(lengths, name="size")


def test_a_rubric_of_verifiers_scores_with_ours():
    verifiers = pytest.importorskip(
        "verifiers", reason="verifiers is not here (it needs datasets, openai, …)"
    )
    if not hasattr(verifiers, "Rubric"):
        pytest.skip("this version of verifiers has no rubrics; they are in 0.1")
    group = as_group_reward(lambda completions, answers: [1.0, 0.25], name="ours")
    rubric = verifiers.Rubric(funcs=[group], weights=[2.0])
    states = [
        {"prompt": "?", "completion": text, "answer": "4", "timing": {}, "trajectory": []}
        for text in ("4", "5")
    ]
    asyncio.run(rubric.score_group(states))
    assert [state["reward"] for state in states] == [2.0, 0.5]
    assert states[0]["metrics"] == {"ours": 1.0}
