"""A report flags what is sick, says what it did not see, and can stop a run."""

import json
from dataclasses import replace

import numpy as np
import pytest

from aegir_rl.base.errors import CheckFailed, UsageError
from aegir_rl.health.measures import (
    measure_advantages,
    measure_ratios,
    measure_representation,
    measure_rewards,
    measure_routing,
)
from aegir_rl.health.monitor import HealthMonitor
from aegir_rl.health.report import Unwell, check
from aegir_rl.health.rules import RULES

NAN = float("nan")


def healthy_figures(random):
    """One update of a run in which nothing is wrong."""
    rewards = (random.random(256) < 0.6).astype(float)
    groups = np.repeat(np.arange(32), 8)
    means = np.bincount(groups, rewards) / 8
    advantages = rewards - means[groups]
    return {
        **measure_rewards(rewards, groups),
        **measure_advantages(advantages),
        **measure_ratios(random.normal(-0.005, 0.1, 256), advantages),
        **measure_representation(random.standard_normal((64, 8))),
        **measure_routing(random.random((64, 4)) < 0.5),
    }


def test_a_healthy_update_is_well_and_what_was_not_given_is_said():
    report = check(healthy_figures(np.random.default_rng(0)))
    report.raise_if_unwell()
    assert report.well
    assert set(report.unchecked) == {
        *("reward/missing", "reward/bias_z", "reward/nuisance_correlation", "entropy", "loss"),
        *("gradient_norm", "prediction/most_common_share", "value/explained_variance"),
        *("length/mean", "length/truncated"),
    }


@pytest.mark.parametrize(
    ("figures", "column"),
    [
        (measure_rewards(np.full(64, 0.7)), "reward/std"),
        (measure_rewards(np.append(np.ones(99), 0)), "reward/saturated"),
        (measure_rewards([0.1, NAN, 0.3]), "reward/nonfinite"),
        (measure_rewards(np.arange(100) / 100, expected_mean=0.1), "reward/bias_z"),
        (measure_rewards([1, 1, 0, 0] * 9, groups=np.repeat(np.arange(18), 2)), "dead_groups"),
        (measure_advantages([5.0, 5.1] * 50), "advantage/centre"),
        (measure_advantages([1.0, float("inf")]), "advantage/nonfinite"),
        (measure_ratios(np.full(9, 2.0)), "kl"),
        (measure_ratios(np.append(np.zeros(99), 9.0)), "effective_sample_share"),
        (measure_ratios(np.full(9, 1.0), np.ones(9)), "clip_fraction/positive"),
        (measure_representation(np.ones((9, 4))), "representation/spread"),
        (measure_routing(np.ones((9, 4))), "routing/on_share"),
        (measure_routing(np.zeros((9, 4))), "routing/on_share"),
        (measure_routing(np.tile([1, 0], (9, 1))), "routing/same_pattern_share"),
        ({"loss": NAN}, "loss"),
        ({"my/own/figure": float("-inf")}, "my/own/figure"),
        ({"entropy": 0.001}, "entropy"),
    ],
)
def test_each_sickness_is_named(figures, column):
    report = check(figures)
    assert column in [one.column for one in report.unwell]
    with pytest.raises(Unwell, match=column):
        report.raise_if_unwell()


def test_the_sentence_says_where_what_and_what_to_try():
    (finding,) = check({"kl": 1.5}, step=12).unwell
    assert finding.sentence == (
        "kl was 1.5 at step 12; expected at most 1 "
        "(lower the learning rate or take fewer epochs per batch)"
    )
    assert issubclass(Unwell, CheckFailed)
    assert Unwell.exit_code == 3


def test_rules_can_be_changed_and_figures_of_any_number_type_are_judged():
    rules = {**RULES, "kl": replace(RULES["kl"], high=0.1)}
    assert not check({"kl": np.float32(0.2)}, rules).well
    assert not check({"kl": np.array(0.2)}, rules).well
    assert check({"kl": 0.2, "note": "text", "list": [1]}).well


@pytest.mark.parametrize("several", [list, tuple, np.array])
def test_nan_hides_in_no_list_or_array(several):
    report = check({"kl": several([0.1, 7.0, 0.1]), "weights": several([1.0, NAN])})
    assert [one.column for one in report.unwell] == ["kl", "weights"]
    assert report.unwell[0].value == 7.0
    assert check({"weights": several([1.0, 2.0]), "kl": several([])}).well


def test_nan_hides_in_no_tensor_even_with_a_gradient():
    torch = pytest.importorskip("torch", reason="tensors are torch's")
    nan = torch.tensor([1.0, NAN])
    for weights in (nan, nan.clone().requires_grad_(), nan.to(torch.bfloat16)):
        assert not check({"weights": weights}).well
    assert check({"loss": torch.tensor(0.5, requires_grad=True)}).well


def test_a_report_is_strict_json_also_with_nan():
    text = json.dumps(check({"kl": NAN}).as_dict(), allow_nan=False)
    assert json.loads(text)["well"] is False


def verdicts(monitor, column, values, start=0):
    """The verdict on the column at every step."""
    reports = (monitor.observe(start + n, {column: value}) for n, value in enumerate(values))
    return [next(f.verdict for f in report.findings if f.column == column) for report in reports]


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_settled_healthy_run_raises_no_alarm(seed):
    random, monitor = np.random.default_rng(seed), HealthMonitor()
    assert all(monitor.observe(step, healthy_figures(random)).well for step in range(300))


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_reward_that_falls_is_noticed_and_one_that_rises_is_not(seed):
    random = np.random.default_rng(seed)
    for change, sick in ((-0.6, True), (0.6, False)):
        monitor = HealthMonitor()
        means = 1 + 0.1 * random.standard_normal(300)
        means[200:] += change
        reports = [monitor.observe(step, {"reward/mean": m}) for step, m in enumerate(means)]
        first = [step for step, report in enumerate(reports) if not report.well][:1]
        assert bool(first) == sick
        if sick:
            (finding,) = reports[first[0]].unwell
            assert 200 <= first[0] < 215
            assert "reward/mean moved from about" in finding.sentence
            assert finding.value == pytest.approx(0.4, abs=0.15)
            assert finding.before == pytest.approx(1, abs=0.1)


def learning_figures(step, random):
    """One update of a run that learns: reward, KL, clipping and gradient move as they do in practice."""
    share = 1 / (1 + np.exp(-(step - 80) / 20))
    return {
        "reward/mean": 0.2 + 0.6 * share + 0.03 * random.standard_normal(),
        "reward/std": 0.4,
        "entropy": 0.9 - 0.8 * share,
        "kl": 0.002 + 0.03 * share * random.random(),
        "ratio/mean": 0.994 + 0.003 * share + 0.0005 * random.standard_normal(),
        "clip_fraction": 0.02 + 0.15 * share + 0.02 * random.random(),
        "effective_sample_share": 0.99 - 0.08 * share - 0.01 * random.random(),
        "gradient_norm": 0.5 + 2 * share + 0.2 * random.random(),
        "representation/spread": 2.05 - 0.3 * share + 0.01 * random.standard_normal(),
        "length/mean": 100 * (1 + 2 * share) + random.standard_normal(),
    }


@pytest.mark.parametrize("seed", range(5))
def test_learning_is_no_fault(seed):
    random, monitor = np.random.default_rng(seed), HealthMonitor()
    reports = [monitor.observe(step, learning_figures(step, random)) for step in range(250)]
    assert all(report.well for report in reports)


SUDDEN = {
    "entropy": (0.6, 0.15),
    "kl": (0.01, 0.08),
    "ratio/mean": (1.0, 0.93),
    "clip_fraction": (0.05, 0.25),
    "effective_sample_share": (0.95, 0.7),
    "gradient_norm": (1.0, 7.0),
    "representation/spread": (2.0, 1.2),
    "length/mean": (100.0, 350.0),
}
"""Levels before and after, all within bounds."""


@pytest.mark.parametrize("column", SUDDEN)
def test_a_sudden_change_within_bounds_is_a_fault_and_a_gradual_one_is_not(column):
    random = np.random.default_rng(4)
    before, after = SUDDEN[column]
    for width, sick in ((0.1, True), (15.0, False)):
        monitor = HealthMonitor()
        shares = 1 / (1 + np.exp(-np.clip((np.arange(250) - 120) / width, -50, 50)))
        values = (before + (after - before) * shares) * (1 + 0.005 * random.standard_normal(250))
        reports = [monitor.observe(step, {column: value}) for step, value in enumerate(values)]
        assert all(report.well for report in reports) != sick


def test_advantages_that_are_no_longer_centred_are_a_fault():
    random, monitor = np.random.default_rng(5), HealthMonitor()
    for step in range(120):
        advantages = random.standard_normal(64)
        figures = measure_advantages(advantages - advantages.mean())
        assert monitor.observe(step, figures).well
    reports = [
        monitor.observe(step, measure_advantages(random.standard_normal(64) + 1))
        for step in range(120, 132)
    ]
    assert {finding.column for report in reports for finding in report.unwell} == {
        "advantage/centre"
    }


def test_raw_advantages_of_a_critic_that_lags_behind_are_no_fault():
    # As stock PPO on CartPole: 0.5 to 2.7 while it learns, 7 from the full length of an episode on.
    random, monitor = np.random.default_rng(6), HealthMonitor()
    levels = np.append(random.uniform(0.5, 2.7, 150), random.uniform(6.3, 7.3, 100))
    reports = [monitor.observe(n, {"advantage/centre": level}) for n, level in enumerate(levels)]
    assert all(report.well for report in reports)


@pytest.mark.parametrize("coefficient", [0.5, 0.9])
def test_a_stationary_autocorrelated_run_raises_no_alarm(coefficient):
    random = np.random.default_rng(3)
    for _ in range(5):
        monitor, state = HealthMonitor(), random.standard_normal(2)
        for step in range(400):
            figures = {"reward/mean": 1 + 0.1 * state[0], "ratio/mean": 1 + 0.02 * state[1]}
            assert monitor.observe(step, figures).well
            noise = np.sqrt(1 - coefficient**2) * random.standard_normal(2)
            state = coefficient * state + noise


def test_a_broken_bound_is_a_warning_until_it_lasts_too_long_for_chance():
    monitor = HealthMonitor()
    assert set(verdicts(monitor, "kl", [0.1] * 150)) == {"well"}
    # Chance (0 + 1) / (150 + 2) per update: two in a row once in 23,000, three once in 3.5 million steps.
    assert verdicts(monitor, "kl", [2.0] * 3, 150) == ["warning", "warning", "unwell"]
    assert verdicts(monitor, "kl", [0.1, 2.0], 153) == ["well", "warning"]


def test_at_the_start_a_broken_bound_stops_the_run_after_22_updates():
    # 1 / 2 per update: 2^-22 is the first below 1 in 3 million.
    assert verdicts(HealthMonitor(), "kl", [2.0] * 22) == ["warning"] * 21 + ["unwell"]


def test_a_bound_that_is_often_broken_takes_a_longer_streak():
    monitor = HealthMonitor()
    assert "unwell" not in verdicts(monitor, "reward/std", [0.0, 0.3] * 50)
    assert verdicts(monitor, "reward/std", [0.0] * 24, 100)[:21] == ["warning"] * 21


@pytest.mark.parametrize("column", ["reward/nonfinite", "advantage/nonfinite", "ratio/nonfinite"])
def test_values_that_are_not_finite_stop_a_run_at_once(column):
    assert verdicts(HealthMonitor(), column, [0.0, 0.01]) == ["well", "unwell"]
    assert verdicts(HealthMonitor(), "loss", [1.0, NAN]) == ["well", "unwell"]


def test_a_warning_says_how_long_it_may_last():
    monitor = HealthMonitor()
    verdicts(monitor, "kl", [0.1] * 150)
    report = monitor.observe(150, {"kl": 2.0})
    report.raise_if_unwell()
    assert report.well
    assert report.warnings[0].sentence == (
        "kl was 2 at step 150; expected at most 1 (lower the learning rate or take fewer epochs per "
        "batch); update 1 in a row, stops at 3"
    )


def reward_figures(chance, random, count=64):
    rewards = (random.random(count) < chance).astype(float)
    groups = np.repeat(np.arange(count // 8), 8)
    means = (np.bincount(groups, rewards) / 8)[groups]
    return measure_rewards(rewards, groups) | measure_advantages(rewards - means)


@pytest.mark.parametrize("seed", range(5))
def test_a_run_that_masters_its_tasks_is_not_stopped(seed):
    random, monitor = np.random.default_rng(seed), HealthMonitor()
    chances = np.append(np.linspace(0.2, 1, 150), np.ones(50))
    reports = [
        monitor.observe(step, reward_figures(chance, random)) for step, chance in enumerate(chances)
    ]
    assert all(report.well for report in reports)
    assert monitor.mastered
    columns = {finding.column for finding in reports[-1].warnings}
    assert columns == {"reward/std", "reward/saturated", "dead_groups", "advantage/std"}


@pytest.mark.parametrize("constant", [0.0, 0.5, 1.0])
def test_a_reward_that_suddenly_is_constant_stops_the_run(constant):
    random, monitor = np.random.default_rng(1), HealthMonitor()
    for step in range(100):
        assert monitor.observe(step, reward_figures(0.2 + step / 200, random)).well
    broken = measure_rewards(np.full(64, constant), np.repeat(np.arange(8), 8))
    reports = [monitor.observe(100 + step, broken) for step in range(4)]
    assert not reports[-1].well
    assert not monitor.mastered


def test_a_constant_reward_from_the_first_update_stops_the_run():
    broken = measure_rewards(np.ones(64), np.repeat(np.arange(8), 8))
    monitor = HealthMonitor()
    reports = [monitor.observe(step, broken) for step in range(25)]
    assert "reward/std" in {finding.column for finding in reports[-1].unwell}


def test_hard_tasks_with_few_rewards_at_the_start_are_a_warning():
    random, monitor = np.random.default_rng(2), HealthMonitor()
    for step in range(150):
        assert monitor.observe(step, reward_figures(0.005 + step / 3000, random, 512)).well
    assert monitor.metrics()["health/warnings"] > 20


def test_all_watches_together_keep_the_false_alarm_rate():
    watched = sum(rule.drift is not None for rule in RULES.values())
    monitor = HealthMonitor(1000)
    monitor.observe(0, {"kl": 0.1, "router/kl": 0.1})
    assert {c.watch.mean_steps for c in monitor._columns.values()} == {1000 * watched}


def test_figures_may_move_while_a_run_settles():
    monitor = HealthMonitor(100, settle=100)
    jump = [0.01] * 50 + [0.9] * 50
    assert all(monitor.observe(step, {"kl": kl}).well for step, kl in enumerate(jump))


def test_saved_and_restored_the_monitor_continues():
    random = np.random.default_rng(3)
    first, second = HealthMonitor(settle=5), HealthMonitor(settle=5)
    for step in range(150):
        first.observe(step, reward_figures(0.5, random) | {"train/approx_kl": random.random() / 50})
    second.load_state_dict(json.loads(json.dumps(first.state_dict(), allow_nan=False)))
    for step in range(150, 180):
        figures = reward_figures(1.0, random) | {"train/approx_kl": 0.8 + random.random() / 10}
        assert first.observe(step, figures) == second.observe(step, figures)
    assert first.metrics() == second.metrics()
    assert first.metrics()["health/drifts/train/approx_kl"] >= 1


def test_a_monitor_of_other_columns_cannot_be_restored():
    saved = HealthMonitor()
    saved.observe(0, {"kl": 0.1})
    with pytest.raises(
        UsageError, match="saved monitor has column 'kl', for which this one has no"
    ):
        HealthMonitor(rules={}).load_state_dict(saved.state_dict())


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"settle": -1}, "settle is -1"),
        ({"mean_steps": 1}, "mean_steps is 1; expected more than 1 and at most 1,001,500"),
        ({"mean_steps": 1e9}, "mean_steps is 1e.09"),
    ],
)
def test_wrong_settings_get_a_sentence(settings, sentence):
    with pytest.raises(UsageError, match=sentence):
        HealthMonitor(**settings)
