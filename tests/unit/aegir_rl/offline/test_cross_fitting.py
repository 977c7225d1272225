"""The verdict on a policy from the log that it was learnt from."""

from dataclasses import replace

import numpy as np
import pytest

from aegir_rl.base.errors import UsageError
from aegir_rl.offline.choosing import (
    Candidate,
    Recipe,
    choose_policy,
    follow,
    train_conservative,
)
from aegir_rl.offline.cross_fitting import FOLDS, evaluate_cross_fitted, fold_policies
from aegir_rl.offline.evaluation import PolicyComparison
from aegir_rl.offline.learning import LearningSettings
from aegir_rl.offline.policy import RoutingPolicy
from offline_worlds import SMOOTH, log_of

FAST = LearningSettings(hidden=(16,), steps=50, learning_rate=0.01, weight_decay=0.1)


def test_every_episode_is_judged_by_a_policy_that_has_not_seen_its_group():
    log = SMOOTH.log(200, seed=0)
    comparison = PolicyComparison(log, FAST)
    recipe = Recipe((Candidate(alpha=0.0),), FAST)
    judged = np.zeros(len(log), int)
    for rows, policy in fold_policies(comparison, recipe):
        judged += rows
        others = log.select(~rows[log.first])
        assert policy.training["data_sha256"] == others.digest
        assert not set(others.groups) & {log.groups[row] for row in np.flatnonzero(rows)}
    assert (judged == 1).all()


def test_all_episodes_count_and_a_gain_is_shown():
    log = SMOOTH.log(1500, seed=1)
    chosen = train_conservative(log, 0.1, FAST)
    recipe = Recipe.of_policy(chosen.policy)
    found = evaluate_cross_fitted(log, chosen.policy, recipe)
    assert (found.folds, found.compared.support.episodes) == (FOLDS, 1500)
    assert found.compared.verdict == "better"
    # The best policy earns the largest of 0.3, 0.5 x0, 0.5 x1 and -0.5 x0; that is 0.043 above 0.3 (by simulation, two million rows).
    assert 0 < found.compared.difference.value < 0.043 + 3 * found.compared.difference.error


def test_nothing_is_shown_where_the_static_table_is_best():
    random = np.random.default_rng(0)
    action = random.integers(2, size=800)
    reward = 0.2 * (action == 0) + random.normal(size=800)
    log = log_of(random.normal(size=(800, 3)), action, reward, 0.5, baseline=0)
    chosen = choose_policy(log, FAST, alphas=())
    found = evaluate_cross_fitted(log, chosen.policy, Recipe.of_policy(chosen.policy))
    assert found.compared.verdict == "not better"


def test_a_recipe_survives_the_file_and_a_broken_one_is_one_sentence(tmp_path):
    log = SMOOTH.log(200, seed=0)
    policy = choose_policy(log, FAST, alphas=()).policy
    policy.save(tmp_path / "p.safetensors")
    loaded = RoutingPolicy.load(tmp_path / "p.safetensors")
    recipe = Recipe.of_policy(loaded)
    assert recipe.settings == FAST
    assert [each.name for each in recipe.candidates] == [
        *(f"always {name}" for name in "abcd"),
        *("behaviour cloning", "reward model"),
    ]
    loaded.training["recipe"]["settings"]["steps"] = -3
    with pytest.raises(UsageError, match="steps is -3; expected at least 1"):
        Recipe.of_policy(loaded)
    loaded.training["recipe"]["settings"]["steps"] = 10**9
    with pytest.raises(UsageError, match="1000000000 steps"):
        Recipe.of_policy(loaded)
    loaded.training["recipe"]["settings"]["steps"] = 50
    loaded.training["recipe"]["candidates"] = [{"alpha": "much"}]
    with pytest.raises(UsageError, match="'much'} is no candidate"):
        Recipe.of_policy(loaded)
    del loaded.training["recipe"]["settings"]
    with pytest.raises(UsageError, match="does not say how it was chosen"):
        Recipe.of_policy(loaded)
    loaded = replace(loaded, training={})
    assert Recipe.of_policy(loaded) is None


def test_a_worker_that_is_best_for_everything_is_chosen_and_can_be_deployed(tmp_path):
    random = np.random.default_rng(0)
    action = random.integers(3, size=600)
    reward = np.array([0.2, 0.9, 0.1])[action] + 0.1 * random.normal(size=600)
    log = log_of(random.normal(size=(600, 2)), action, reward, 1 / 3, baseline=0)
    chosen = choose_policy(log, FAST, alphas=())
    assert chosen.best.name == "always b"
    chosen.policy.save(tmp_path / "p.safetensors")
    loaded = RoutingPolicy.load(tmp_path / "p.safetensors", features=log.feature_names)
    assert loaded.choose(np.full((2, 2), np.nan), np.zeros(2, int))[0].tolist() == [1, 1]
    found = evaluate_cross_fitted(log, chosen.policy, Recipe.of_policy(chosen.policy))
    assert found.compared.verdict == "better"
    assert found.singles.best == "b"
    # Against itself nothing is left.
    assert found.singles.gain.value == pytest.approx(0)
    assert "is not shown to beat always b, the best single worker" in found.singles.sentence
    assert found.singles.values["b"].low <= 0.9 <= found.singles.values["b"].high


def test_a_recipe_for_other_workers_is_one_sentence():
    recipe = Recipe((Candidate(worker="owl"),), FAST)
    with pytest.raises(UsageError, match="always owl, whom a made-up log does not have"):
        follow(recipe, SMOOTH.log(60, seed=0))


@pytest.mark.parametrize(
    ("action", "reward", "sentence"),
    [
        (np.zeros(50, int), np.arange(50.0), "every decision of a made-up log is 'a'"),
        (np.arange(50) % 2, np.full(50, 0.5), "every episode of a made-up log has the reward 0.5"),
    ],
)
def test_one_action_or_one_reward_teaches_nothing(action, reward, sentence):
    with pytest.raises(UsageError, match=sentence):
        choose_policy(log_of(np.zeros((50, 1)), action, reward, 0.5), FAST)
