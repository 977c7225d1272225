"""Columns find their rule by name, by the name another program gives them, or by suffix."""

import numpy as np
import pytest

from aegir_rl.health.monitor import HealthMonitor
from aegir_rl.health.report import check
from aegir_rl.health.rules import RULES, load_aliases, match_rule

SB3_ROW = {
    "rollout/ep_len_mean": 22.0,
    "rollout/ep_rew_mean": 22.0,
    "time/fps": 900,
    "train/approx_kl": 0.008,
    "train/clip_fraction": 0.1,
    "train/clip_range": 0.2,
    "train/entropy_loss": -0.68,
    "train/explained_variance": -0.01,
    "train/learning_rate": 0.0003,
    "train/loss": 9.5,
    "train/n_updates": 10,
    "train/policy_gradient_loss": -0.01,
    "train/value_loss": 50.0,
}
TRL_ROW = {
    "loss": 0.01,
    "grad_norm": 0.4,
    "learning_rate": 1e-6,
    "num_tokens": 90_000,
    "reward": 0.4,
    "reward_std": 0.3,
    "frac_reward_zero_std": 0.1,
    "rewards/accuracy_reward/mean": 0.4,
    "rewards/accuracy_reward/std": 0.0,
    "entropy": 0.5,
    "kl": 0.02,
    "clip_ratio/low_mean": 0.0,
    "clip_ratio/high_mean": 0.01,
    "clip_ratio/region_mean": 0.01,
    "completions/mean_length": 200.0,
    "completions/clipped_ratio": 0.1,
}


def read_as(row):
    """Recorded column to the column of its rule."""
    matches = {name: match_rule(name, RULES, row) for name in row}
    return {name: match.column for name, match in matches.items() if match}


def test_the_columns_of_stable_baselines3_are_known():
    assert read_as(SB3_ROW) == {
        "rollout/ep_rew_mean": "reward/mean",
        "train/approx_kl": "kl",
        "train/clip_fraction": "clip_fraction",
        "train/entropy_loss": "entropy",
        "train/explained_variance": "value/explained_variance",
        "train/loss": "loss",
    }
    assert check(SB3_ROW).well


def test_the_columns_of_trl_are_known():
    assert read_as(TRL_ROW) == {
        "loss": "loss",
        "grad_norm": "gradient_norm",
        "reward": "reward/mean",
        "reward_std": "reward/std",
        "frac_reward_zero_std": "dead_groups",
        "entropy": "entropy",
        "kl": "kl",
        "clip_ratio/low_mean": "clip_fraction/negative",
        "clip_ratio/high_mean": "clip_fraction/positive",
        "clip_ratio/region_mean": "clip_fraction",
        "completions/mean_length": "length/mean",
        "completions/clipped_ratio": "length/truncated",
    }
    assert check(TRL_ROW).well


def test_entropy_loss_is_the_negative_of_entropy():
    (finding,) = check({"train/entropy_loss": -0.001}).unwell
    assert finding.value == 0.001
    assert finding.sentence.startswith("train/entropy_loss (entropy) was 0.001; expected at least")
    assert check({"train/entropy_loss": np.array([-0.5, -0.6])}).well


def test_the_entropy_of_continuous_actions_has_no_lower_bound():
    # SB3 records train/std for continuous actions only; a normal with deviation 0.1 has entropy -0.88.
    assert check({"train/entropy_loss": 0.88, "train/std": 0.1}).well
    assert not check({"train/entropy_loss": 0.88}).well


@pytest.mark.parametrize("column", ["router/kl", "annotator/kl", "a/b/kl"])
def test_a_column_with_a_prefix_is_held_to_the_rule_of_its_suffix(column):
    (finding,) = check({column: 1.5}).unwell
    assert (finding.column, finding.rule) == (column, "kl")
    assert finding.sentence.startswith(f"{column} was 1.5; expected at most 1")
    assert "kl" not in check({column: 0.1}).unchecked


def test_two_columns_of_one_rule_are_followed_apart():
    monitor = HealthMonitor()
    for step in range(150):
        assert monitor.observe(step, {"router/kl": 0.1, "annotator/kl": 0.1}).well
    for step in range(150, 153):
        report = monitor.observe(step, {"router/kl": 0.1, "annotator/kl": 3.0})
    assert [finding.column for finding in report.unwell] == ["annotator/kl"]


@pytest.mark.parametrize(
    "column",
    ["objective/kl", "objective/entropy", "train/learning_rate", "rewards/format/std", "ankle"],
)
def test_what_only_looks_alike_is_held_to_no_rule(column):
    assert match_rule(column) is None
    assert check({column: 0.0}).well


def test_every_alias_stands_for_a_column_with_a_rule():
    aliases = load_aliases()
    assert {alias.column for alias in aliases.values()} <= {*RULES, ""}
    assert not set(aliases) & set(RULES)
