"""The router of the deep layers finds the columns that gain, under a price, and clipping acts."""

from dataclasses import replace

import numpy as np
import pytest

from aegir.lab.engine.router import (
    Decisions,
    RouterTraining,
    learn_by_reward,
    score_columns,
    warm_start,
)

TABLES, COLUMNS = 200, 6
SETTINGS = RouterTraining(
    price=0.05, warm_steps=120, rl_steps=60, tables=32, stretch=10, learning_rate=0.02
)


@pytest.fixture(scope="module")
def decisions() -> Decisions:
    """Columns gain one right answer in two where the first number is positive, and lose one in ten elsewhere."""
    random = np.random.default_rng(0)
    hidden = random.standard_normal((TABLES * COLUMNS, 4)).astype(np.float32)
    hidden[:, -1] = 1
    gaining = hidden[:, 0] > 0
    luck = random.random(len(hidden))
    gains = np.where(gaining, (luck < 0.5).astype(float), -(luck < 0.1).astype(float))
    return Decisions(hidden, gains, np.repeat(np.arange(TABLES), COLUMNS))


def net_gain(decisions: Decisions, scores: np.ndarray, price: float) -> float:
    return float(((decisions.gains - price) * (scores > 0.5)).mean())


@pytest.mark.parametrize("seed", range(3))
def test_supervised_and_rewarded_routers_activate_what_gains(decisions: Decisions, seed: int):
    """Activating everything nets 0.15, the best routing 0.225 of a right answer per column."""
    settings = replace(SETTINGS, seed=seed)
    router = warm_start(decisions, settings)
    assert net_gain(decisions, score_columns(router, decisions.hidden), 0.05) > 0.2
    log = learn_by_reward(router, decisions, settings)
    assert net_gain(decisions, score_columns(router, decisions.hidden), 0.05) > 0.2
    assert log.clip_fraction[0] == 0  # the first update has ratio 1
    assert max(log.clip_fraction[1:]) > 0
    assert log.cut > 0


def test_reward_alone_teaches_a_router_that_knew_nothing(decisions: Decisions):
    settings = replace(SETTINGS, warm_steps=0, supervised=0.0, rl_steps=150)
    router = warm_start(decisions, settings)
    assert net_gain(decisions, score_columns(router, decisions.hidden), 0.05) == 0
    learn_by_reward(router, decisions, settings)
    assert net_gain(decisions, score_columns(router, decisions.hidden), 0.05) > 0.18


def test_a_price_above_every_gain_switches_all_off(decisions: Decisions):
    settings = replace(SETTINGS, price=2.0)
    router = warm_start(decisions, settings)
    learn_by_reward(router, decisions, settings)
    assert (score_columns(router, decisions.hidden) > 0.5).mean() < 0.02


def test_tables_are_drawn_whole(decisions: Decisions):
    part = decisions.of_tables(np.array([3, 7]))
    assert part.table.tolist() == [0] * COLUMNS + [1] * COLUMNS
    np.testing.assert_array_equal(part.gains[COLUMNS:], decisions.gains[7 * COLUMNS : 8 * COLUMNS])
