"""Rewards and advantages of rollouts, with numbers worked out by hand."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

from aegir.lab.nets.annotator import TableBatch
from aegir.lab.parl.config import RlSettings
from aegir.lab.parl.rewarding import ParlRewards, Performance
from aegir.lab.parl.step_tables import StepTables
from aegir_rl.rewards.combined import combine_rewards
from aegir_rl.rewards.parallelism import ParallelWeights

NAN = np.nan


def test_training_reads_the_lambdas_of_the_orchestrator_and_keeps_their_proportions():
    # 0.6 is twice 0.3 and 0 leaves r_finish out: at the end 2 * 0.05 and 0
    for smooth in (False, True):
        rewards = ParlRewards(RlSettings(smooth_lambdas=smooth), 0.6, 0.0)
        assert rewards.combined.lambdas_at(0.0) == (0.6, 0.0)
        assert rewards.combined.lambdas_at(1.0) == (0.1, 0.0)
        usual = ParlRewards(RlSettings(smooth_lambdas=smooth)).combined
        assert [usual.lambdas_at(each) for each in (0.0, 0.5, 1.0)] == [
            (0.3, 0.1),
            (0.1, 0.3),
            (0.05, 0.05),
        ]


def two_tables() -> Any:
    """Columns 0 and 1 are the first table, column 2 is the second."""
    columns, mask = torch.tensor([[0, 1], [2, 0]]), torch.tensor([[True, True], [True, False]])
    batch = SimpleNamespace(tables=TableBatch(columns, mask, torch.zeros_like(columns)))
    return StepTables(batch, [None, None], ("a",), 0)


def advantages(settings: RlSettings, columns: list[list[float]], longer: list[float]) -> np.ndarray:
    """Before they are scaled: a normaliser that has not warmed up changes nothing."""
    perf = np.array(columns)
    means = np.concatenate([[np.nanmean(row[:2]), row[2]] for row in perf])
    nothing = np.zeros(len(means))
    breakdown = combine_rewards(means, nothing, nothing, (0.0, 0.0))
    found = ParlRewards(settings).advantages(
        Performance(perf, means),
        breakdown,
        np.array(longer),
        two_tables(),
        [np.full((3, 0), NAN)] * len(perf),
        [np.zeros((3, 0), bool)] * len(perf),
    )
    return found[..., 0]


def test_a_column_is_compared_with_its_other_rollouts():
    # columns 1 and 0 in the first rollout, 0 and 0 in the second: left one out, the first gets +1 and -1, the others 0
    found = advantages(RlSettings(path_cost=0), [[1, 0, 0.5], [0, 0, 0.5]], [0] * 4)
    assert found.tolist() == [[1, 0, 0], [-1, 0, 0]]


def test_with_the_credit_of_tables_all_columns_of_a_table_get_its_advantage():
    # means of the first table 0.5 and 0: +0.5 and -0.5 for both of its columns
    settings = RlSettings(path_cost=0, credit="table")
    found = advantages(settings, [[1, 0, 0.5], [0, 0, 0.5]], [0] * 4)
    assert found.tolist() == [[0.5, 0.5, 0], [-0.5, -0.5, 0]]


def test_group_advantages_are_divided_by_the_deviation():
    # rewards 1 and 0: mean 0.5, standard deviation 0.5
    settings = RlSettings(path_cost=0, advantages="group")
    found = advantages(settings, [[1, 0, 0.5], [0, 0, 0.5]], [0] * 4)
    assert found.tolist() == [[1, 0, 0], [-1, 0, 0]]


def test_a_longer_critical_path_costs_the_whole_table():
    # the first table's path is twice as long in the first rollout: 0.1 less for both of its columns
    found = advantages(RlSettings(path_cost=0.1), [[0, 0, 0], [0, 0, 0]], [1, 0, 0, 0])
    assert found == pytest.approx(np.array([[-0.1, -0.1, 0], [0.1, 0.1, 0]]))


def test_a_table_without_labels_has_no_advantage_and_a_column_without_one_no_score_of_its_own():
    found = advantages(RlSettings(path_cost=0), [[1, NAN, NAN], [0, NAN, NAN]], [0] * 4)
    assert found[:, :2].tolist() == [[1, 0], [-1, 0]]
    assert np.isnan(found[:, 2]).all()


def routed(settings: RlSettings, gains: list[list[list[float]]], on: list[list[list[int]]]) -> Any:
    """Two rollouts of equal scores, with two specialists."""
    perf, means = np.zeros((2, 3)), np.zeros(4)
    breakdown = combine_rewards(means, np.zeros(4), np.zeros(4), (0.0, 0.0))
    return ParlRewards(settings).advantages(
        Performance(perf, means),
        breakdown,
        np.array([1.0, 0, 0, 0]),
        two_tables(),
        [np.array(each) for each in gains],
        [np.array(each, bool) for each in on],
    )


def test_credit_of_columns_gives_activations_and_label_the_same_advantage():
    nothing = [[[NAN, NAN]] * 3] * 2
    found = routed(RlSettings(path_cost=0.1), nothing, [[[1, 1]] * 3] * 2)
    assert found[0, 0] == pytest.approx([-0.1] * 3)
    assert found[1, 0] == pytest.approx([0.1] * 3)


def test_credit_of_differences_gives_an_activation_what_it_was_measured_to_gain():
    # the first column has two specialists, the second of which gained 0.3: 2 * (0.3 - 0.1); the second column has one,
    # which gained nothing: -0.1; the longer path of the first table in the first rollout costs its columns 0.1 more
    settings = RlSettings(
        path_cost=0.1, credit="difference", parallel=ParallelWeights(least_gain=0.1)
    )
    gains = [[[NAN, 0.3], [0.0, NAN], [NAN, NAN]], [[NAN, NAN]] * 3]
    on = [[[1, 1], [1, 0], [0, 0]], [[0, 0]] * 3]
    found = routed(settings, gains, on)
    assert found[0, :, :2] == pytest.approx(np.array([[-0.1, 0.3], [-0.2, -0.1], [0, 0]]))
    assert found[1, :, :2] == pytest.approx(np.array([[0.1, 0.1], [0.1, 0.1], [0, 0]]))
    assert found[0, :, 2] == pytest.approx([-0.1, -0.1, 0])


def test_r_perf_is_the_mean_of_the_raters_that_have_an_opinion():
    # first column: label 1, type 0.5, others missing: 0.75; second: relation 0.4 alone; the table's mean 0.575
    ratings = np.array([[1, NAN, NAN], [0.5, NAN, NAN], [NAN, 0.4, NAN], [NAN, NAN, NAN]])
    perf = ParlRewards(RlSettings()).rate([ratings], two_tables())
    assert perf.columns[0, :2] == pytest.approx([0.75, 0.4])
    assert perf.tables[0] == pytest.approx(0.575)
    assert np.isnan(perf.tables[1])


def test_successes_for_the_curriculum_are_means_over_rollouts_within_0_and_1():
    perf = Performance(np.zeros((2, 3)), np.array([0.2, -0.3, 0.6, -0.1]))
    assert ParlRewards(RlSettings()).successes(perf, 2).tolist() == [0.4, 0.0]


def test_its_state_continues_bit_for_bit():
    first, second = ParlRewards(RlSettings()), ParlRewards(RlSettings())
    random = np.random.default_rng(0)
    first.rate([random.random((4, 3)) for _ in range(2)], two_tables())
    second.load_state_dict(first.state_dict())
    again = [random.random((4, 3)) for _ in range(2)]
    assert (
        first.rate(again, two_tables()).columns == second.rate(again, two_tables()).columns
    ).all()
    assert first.metrics() == second.metrics()
