"""The reward report: sensitivity, correlations, and the warning that nothing can be learnt."""

import json
from dataclasses import replace

import numpy as np
import pytest

from aegir_rl.episode import Decision, Episode, EpisodeBatch
from aegir_rl.offline.pages import reward_page
from aegir_rl.offline.reward_report import analyze_rewards
from aegir_rl.offline.synthetic import explore, simulate


def log_where(reward_of, rows: int = 400, propensity: float | None = 0.5) -> EpisodeBatch:
    """Two workers drawn evenly; the accuracy of each is a function of a feature."""
    random = np.random.default_rng(0)
    episodes = []
    for number in range(rows):
        x, worker = float(random.uniform(-1, 1)), ("a", "b")[random.integers(2)]
        decision = Decision(action={"worker": worker}, propensity=propensity, features={"x": x})
        rewards = {"accuracy": float(reward_of(x, worker))}
        episodes.append(
            Episode(id=str(number), decisions=(decision,), source="real", rewards=rewards)
        )
    return EpisodeBatch.from_episodes(episodes)


def test_it_warns_when_one_worker_is_always_best():
    report = analyze_rewards(log_where(lambda x, worker: 0.9 if worker == "a" else 0.2), "a log")
    assert any("a constant policy would win: always 'a'" in each for each in report.warnings)
    assert report.constant["a"].value == pytest.approx(0.9, abs=0.05)


def test_it_does_not_warn_when_features_decide():
    report = analyze_rewards(log_where(lambda x, worker: (x > 0) == (worker == "a")), "a log")
    assert report.warnings == ()
    assert report.by_features.value > report.constant["a"].value + 0.3


def test_constant_rewards_are_said_and_workers_need_propensities():
    report = analyze_rewards(log_where(lambda *_: 1.0, propensity=None), "a log")
    assert any("every episode has the reward 1.000" in each for each in report.warnings)
    assert any(each.startswith("workers were not compared: 400 of 400") for each in report.warnings)
    assert report.constant == {}


@pytest.mark.parametrize(("episodes", "groups"), [(2, 2), (40, 1)])
def test_nothing_is_concluded_from_too_few_episodes_or_one_group(episodes: int, groups: int):
    log = log_where(lambda x, worker: worker == "a", episodes).episodes()
    some = [replace(each, group=str(number % groups)) for number, each in enumerate(log)]
    report = analyze_rewards(EpisodeBatch.from_episodes(some), "a log")
    held = f"a log holds too little to compare workers or parts (episodes: {episodes}, groups: {groups})"
    assert [each for each in report.warnings if not each.startswith("every")] == [
        f"{held}; log at least 10 episodes of 2 tables"
    ]
    assert report.constant == {}
    assert (report.logged.show_interval() == "no interval") == (groups == 1)


def test_sensitivity_varies_each_weight():
    report = analyze_rewards(simulate(explore(0.5), 400), "a log")
    rows = {(row["weight"], row["factor"]): row for row in report.sensitivity}
    assert len(rows) == 6 * 3
    # Without a cost the mean rises by 0.1 times the mean cost, clipping aside.
    rise = rows["cost", 0.0]["mean"] - report.totals.mean()
    assert rise == pytest.approx(0.1 * report.parts["cost"].mean(), abs=0.01)
    assert rows["cost", 2.0]["rank_correlation"] < 1
    assert rows["retries", 2.0]["rank_correlation"] == pytest.approx(1)  # there are none
    assert report.correlations["cost"]["cost"] == pytest.approx(1)
    assert report.correlations["cost"]["retries"] is None
    record = json.loads(json.dumps(report.as_dict(), allow_nan=False))
    assert record["distribution"]["reward"]["mean"] == pytest.approx(report.totals.mean())
    assert reward_page(report).count("<svg") == 3
