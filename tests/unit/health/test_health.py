"""A report flags what is sick, says what it did not see, and can stop a run."""

import json
from dataclasses import replace

import numpy as np
import pytest

from aegir.errors import CheckFailed, UsageError
from aegir.health.measures import (
    measure_advantages,
    measure_ratios,
    measure_representation,
    measure_rewards,
    measure_routing,
)
from aegir.health.monitor import HealthMonitor, Unwell, check
from aegir.health.rules import RULES

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
        *("gradient_norm", "prediction/most_common_share"),
    }


@pytest.mark.parametrize(
    ("figures", "column"),
    [
        (measure_rewards(np.full(64, 0.7)), "reward/std"),
        (measure_rewards(np.append(np.ones(99), 0)), "reward/saturated"),
        (measure_rewards([0.1, NAN, 0.3]), "reward/nonfinite"),
        (measure_rewards(np.arange(100) / 100, expected_mean=0.1), "reward/bias_z"),
        (measure_rewards([1, 1, 0, 0] * 9, groups=np.repeat(np.arange(18), 2)), "dead_groups"),
        (measure_advantages([5.0, 5.1] * 50), "advantage/centre_z"),
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
    report = check({"weights": several([1.0, NAN]), "kl": several([0.1, 7.0, 0.1])})
    assert [one.column for one in report.unwell] == ["kl", "weights"]
    assert report.unwell[0].value == 7.0
    assert check({"weights": several([1.0, 2.0]), "kl": several([])}).well


def test_nan_hides_in_no_tensor_even_with_a_gradient():
    torch = pytest.importorskip("torch", reason="tensors are torch's")
    for weights in (torch.tensor([1.0, NAN]), torch.tensor([1.0, NAN], requires_grad=True)):
        assert not check({"weights": weights}).well
    assert check({"loss": torch.tensor(0.5, requires_grad=True)}).well


def test_a_report_is_strict_json_also_with_nan():
    text = json.dumps(check({"kl": NAN}).as_dict(), allow_nan=False)
    assert json.loads(text)["well"] is False


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_settled_healthy_run_raises_no_alarm(seed):
    random, monitor = np.random.default_rng(seed), HealthMonitor(seed=seed)
    assert all(monitor.observe(step, healthy_figures(random)).well for step in range(300))


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_reward_that_falls_is_noticed_and_one_that_rises_is_not(seed):
    random = np.random.default_rng(seed)
    for slope, sick in ((-0.5, True), (0.5, False)):
        monitor = HealthMonitor()
        means = 1 + 0.1 * random.standard_normal(300)
        means[200:] += slope
        reports = [monitor.observe(step, {"reward/mean": m}) for step, m in enumerate(means)]
        first = [step for step, report in enumerate(reports) if not report.well][:1]
        assert bool(first) == sick
        if sick:
            assert 200 <= first[0] < 225
            assert "reward/mean moved from about" in reports[first[0]].unwell[0].sentence
            assert reports[first[0]].unwell[0].value == pytest.approx(0.5, abs=0.15)


def test_all_watches_together_keep_the_false_alarm_rate():
    monitor = HealthMonitor(1000)
    assert len(monitor.watches) == 8
    assert {one.mean_steps for one in monitor.watches.values()} == {8000}


def test_figures_may_move_while_a_run_settles():
    monitor = HealthMonitor(100, settle=100)
    assert all(monitor.observe(step, {"kl": step / 1000}).well for step in range(100))


def test_saved_and_restored_the_monitor_goes_on():
    random = np.random.default_rng(3)
    first, second = HealthMonitor(settle=5), HealthMonitor(settle=5)
    for step in range(30):
        first.observe(step, {"kl": random.random() / 10})
    second.load_state_dict(json.loads(json.dumps(first.state_dict())))
    for step in range(30, 80):
        figures = {"kl": 0.5 + random.random() / 10}
        assert first.observe(step, figures) == second.observe(step, figures)
    assert first.metrics() == second.metrics()
    assert first.metrics()["health/drifts/kl"] >= 1


def test_a_monitor_of_other_columns_cannot_be_restored():
    with pytest.raises(UsageError, match="watches other columns"):
        HealthMonitor().load_state_dict(HealthMonitor(rules={}).state_dict())
    with pytest.raises(UsageError, match="settle is -1"):
        HealthMonitor(settle=-1)
