"""A policy against the static table: paired, guarded, and silent when the log says too little."""

import numpy as np
import pytest

from aegir_rl.base.errors import UsageError
from aegir_rl.offline.choosing import CLONING, choose_policy
from aegir_rl.offline.evaluation import PolicyComparison, evaluate_policy, policy_probabilities
from aegir_rl.offline.learning import LearningSettings
from aegir_rl.offline.pages import evaluation_page
from aegir_rl.offline.q_learning import learn_values
from offline_worlds import SMOOTH, UNSUPPORTED, log_of

FAST = LearningSettings(hidden=(32,), steps=250, learning_rate=0.005, weight_decay=0.1)


def test_the_static_table_differs_from_itself_by_nothing():
    log = SMOOTH.log(300, seed=0)
    compared = PolicyComparison(log, FAST).compare(log.baseline)
    assert compared.difference.value == 0
    assert compared.difference.error == 0
    assert compared.disagreement == 0
    assert compared.verdict == "not better"


def test_a_better_policy_is_shown_to_be_better_and_a_worse_one_is_not():
    log = SMOOTH.log(1500, seed=1)
    comparison = PolicyComparison(log, FAST)
    x = log.features
    # Action 1 pays 0.5 x0: above 0.6 that is more than the 0.3 of action 0, by 0.1 on average on a fifth of the rows.
    better = comparison.compare(np.where(x[:, 0] > 0.6, 1, 0))
    assert better.verdict == "better"
    assert better.difference.low <= 0.1 / 5 <= better.difference.high
    worse = comparison.compare(
        np.where(x[:, 0] < 0, 1, 0)
    )  # pays -0.25 instead of 0.3 on half of them
    assert worse.verdict == "not better"
    assert worse.difference.low <= -0.55 / 2 <= worse.difference.high
    assert "not shown to beat the static table" in worse.sentence


def test_support_that_is_too_thin_is_said():
    log = UNSUPPORTED.log(600, seed=0)
    comparison = PolicyComparison(log, FAST)
    third_everywhere = comparison.compare(np.full(len(log), 2))
    assert third_everywhere.verdict == "too thin"
    assert "hardly ever tried (mostly 'c')" in third_everywhere.sentence
    assert third_everywhere.lower_bound < third_everywhere.difference.low - 0.5
    few = log.select(np.arange(log.episodes) < 15)
    assert (
        "15 groups of episodes; at least 20"
        in PolicyComparison(few, FAST).compare(few.baseline).sentence
    )
    thin = PolicyComparison(log.select(np.arange(log.episodes) < 60), FAST)
    assert "effective sample size" in thin.compare(np.ones(60, int)).sentence


def test_a_log_without_the_static_table_is_refused():
    log = log_of(np.zeros((30, 1)), np.zeros(30, int), np.ones(30), 1.0, baseline=-1)
    with pytest.raises(UsageError, match="30 of 30 decisions of a made-up log do not say what"):
        PolicyComparison(log, FAST)


def test_conservative_q_learning_beats_the_reward_model_where_bad_actions_were_never_tried():
    for seed in range(3):
        log = UNSUPPORTED.log(1200, seed)
        plain = UNSUPPORTED.value(learn_values(log, 0.0, FAST))
        careful = UNSUPPORTED.value(learn_values(log, 0.5, FAST))
        # The best policy earns 0.35 · 1 + 0.65 · 0.5 = 0.68; always the third action -0.3; always the first 0.5.
        assert careful > 0.6
        assert plain < careful - 0.2


def test_the_chooser_is_careful_where_bad_actions_were_never_tried():
    chosen = choose_policy(UNSUPPORTED.log(1200, 0), FAST, alphas=(0.5,))
    assert chosen.best.candidate.alpha == 0.5
    assert UNSUPPORTED.value(chosen.policy) > 0.6
    assert chosen.best_of("reward model").point.lower_bound < chosen.best.point.lower_bound


def test_the_chooser_takes_the_reward_model_in_a_smooth_world():
    for seed in range(3):
        log = SMOOTH.log(2000, seed)
        chosen = choose_policy(log, FAST, alphas=(0.5, 2.0))
        assert chosen.best.name == "reward model"
        assert chosen.best.point.lower_bound > 0
        assert {each.name for each in chosen.trials} >= {CLONING, "reward model"}


def test_policy_and_floor_are_evaluated_as_one():
    log = SMOOTH.log(600, seed=5)
    policy = learn_values(log, 0.0, FAST)
    never = evaluate_policy(log, policy.with_floor(1.0), FAST)
    assert never.coverage < 0.05
    assert never.compared.disagreement < 0.05
    always = evaluate_policy(log, policy.with_floor(0.0), FAST)
    assert always.coverage == 1
    coverage = [point.coverage for point in always.curve]
    assert coverage == sorted(coverage, reverse=True)
    assert (coverage[0], coverage[-1]) == (1.0, 0.0)
    assert always.curve[0].difference == always.compared.difference
    assert always.curve[-1].difference.value == 0
    page = evaluation_page(always)
    assert page.count("<svg") == 2
    assert always.as_dict() == evaluate_policy(log, policy, FAST).as_dict()  # deterministic


def test_policies_of_other_features_or_workers_are_refused():
    log = SMOOTH.log(50, seed=0)
    short = LearningSettings(steps=1)
    other = learn_values(log_of(np.zeros((9, 3)), np.arange(9) % 4, np.ones(9), 1.0), 0.0, short)
    with pytest.raises(UsageError, match="features that a made-up log does not have: x2"):
        policy_probabilities(other, log)
    fewer = learn_values(log_of(np.zeros((9, 2)), np.arange(9) % 2, np.ones(9), 1.0), 0.0, short)
    with pytest.raises(UsageError, match="has the worker 'c', which the policy does not know"):
        policy_probabilities(fewer, log)
