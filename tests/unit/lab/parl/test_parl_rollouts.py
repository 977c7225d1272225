"""Rollouts: ratings worked out by hand, and that a gain is what the column alone loses."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch

from aegir.lab.byte_network.batches import ColumnBatch
from aegir.lab.parl.config import RoutingSettings
from aegir.lab.parl.episodes import Workload, build_episodes, compute_work
from aegir.lab.parl.policy import Activations, SwarmPolicy, activation_chances
from aegir.lab.parl.reading import CachedOutputs, read_columns, run_activated, score_columns
from aegir.lab.parl.rollouts import (
    Rollout,
    answer_columns,
    compute_chances,
    mean_present,
    measure_gains,
    rate_columns,
)
from aegir.lab.parl.step_tables import StepTables, locate_columns
from aegir.readers.bytes.heads import FINE_HEAD, RELATIONS_HEAD, TYPES_HEAD
from parl_runs import policy_and_tables


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[SwarmPolicy, ColumnBatch, StepTables]:
    """A swarm with open gates, and four tables."""
    return policy_and_tables(tmp_path_factory.mktemp("rollouts"))


def rollout_of(
    policy: SwarmPolicy, batch: ColumnBatch, on: np.ndarray
) -> tuple[Rollout, CachedOutputs]:
    plan = Activations(on, on, np.full(on.shape, 0.5))
    known = run_activated(policy, batch, torch.ones(on.shape, dtype=torch.bool))
    return answer_columns(policy, batch, plan, known, np.random.default_rng(0)), known


def test_a_right_label_rates_1_an_abstention_0_and_a_wrong_one_costs():
    # three columns of two types; the labels are right, abstained (number 2) and wrong; the last column has no type
    targets = torch.tensor([[1.0, 0], [1, 0], [0, 1], [0, 0]])
    batch = SimpleNamespace(
        labelled={TYPES_HEAD: torch.tensor([True, True, True, False])},
        targets={TYPES_HEAD: targets},
    )
    chances = np.array([[0.9, 0.5, 0.2, np.nan]] * 3)
    labels = np.array([0, 2, 0, 1])
    rollout = SimpleNamespace(labels=labels, abstained=labels == 2, chances=chances)
    ratings = rate_columns(batch, rollout, wrong_cost=0.2)
    assert ratings[0, :3].tolist() == [1.0, 0.0, -0.2]
    assert np.isnan(ratings[:, 3]).all()
    assert (ratings[1:, :3] == chances[:, :3]).all()


def test_chances_are_probabilities_of_acceptable_outputs_and_missing_without_a_label(
    made: tuple[SwarmPolicy, ColumnBatch, StepTables],
):
    policy, batch, _ = made
    on = np.zeros((len(batch.order), 2), bool)
    rollout, _ = rollout_of(policy, batch, on)
    assert rollout.log_probabilities.shape == (len(batch.order), 3)
    types, relations, fine = rollout.chances
    assert (np.isfinite(types) == batch.labelled[TYPES_HEAD].numpy()).all()
    assert (np.isfinite(relations) == batch.labelled[RELATIONS_HEAD].numpy()).all()
    assert not batch.labelled[FINE_HEAD].any()
    assert np.isnan(fine).all()
    assert ((types > 0) & (types < 1)).all()


@pytest.mark.parametrize("temperature", [1.0, 0.25])
def test_log_probabilities_are_those_of_the_chances_that_activations_are_drawn_with(
    made: tuple[SwarmPolicy, ColumnBatch, StepTables],
    monkeypatch: pytest.MonkeyPatch,
    temperature: float,
):
    policy, batch, _ = made
    monkeypatch.setattr(policy.swarm.router, "temperature", temperature)
    scores = score_columns(policy, batch).double().numpy()
    chances = activation_chances(scores, RoutingSettings(temperature=temperature))
    on = np.arange(chances.size).reshape(chances.shape) % 2 == 0
    rollout, _ = rollout_of(policy, batch, on)
    expected = np.log(np.where(on, chances, 1 - chances))
    assert rollout.log_probabilities[:, :-1] == pytest.approx(expected, abs=1e-5)


def test_a_gain_is_what_one_column_loses_while_the_rest_of_its_table_stays(
    made: tuple[SwarmPolicy, ColumnBatch, StepTables],
):
    policy, batch, _ = made
    on = np.ones((len(batch.order), 2), bool)
    rollout, known = rollout_of(policy, batch, on)
    gains = measure_gains(policy, batch, [rollout], known, np.random.default_rng(0)).values[0]
    assert np.isfinite(gains).sum(axis=1).tolist() == [1] * len(on)
    assert np.nanmax(np.abs(gains)) > 1e-6
    column = 2
    specialist = int(np.flatnonzero(np.isfinite(gains[column]))[0])
    fewer = torch.from_numpy(on.copy())
    fewer[column, specialist] = False
    with torch.no_grad():
        vectors = read_columns(policy, batch, None, fewer, known).vectors
        chances = compute_chances(
            policy, batch, policy.primary.network.mixer(vectors, batch.tables)
        )
    lost = mean_present(rollout.chances - chances)[column]
    assert gains[column, specialist] == pytest.approx(lost, abs=1e-6)


def test_nothing_is_measured_where_no_specialist_is_on_or_it_is_not_due(
    made: tuple[SwarmPolicy, ColumnBatch, StepTables],
):
    policy, batch, _ = made
    on = np.zeros((len(batch.order), 2), bool)
    on[1, 0] = True
    rollout, known = rollout_of(policy, batch, on)
    gains = measure_gains(policy, batch, [rollout], known, np.random.default_rng(0)).values[0]
    assert np.argwhere(np.isfinite(gains)).tolist() == [[1, 0]]
    skipped = measure_gains(policy, batch, [rollout], known, np.random.default_rng(0), due=False)
    assert np.isnan(skipped.values[0]).all()


def test_episodes_hold_the_columns_of_their_tables_in_order(
    made: tuple[SwarmPolicy, ColumnBatch, StepTables],
):
    policy, batch, tables = made
    on = np.arange(2 * len(batch.order)).reshape(-1, 2) % 3 == 0
    rollout, _ = rollout_of(policy, batch, on)
    nothing = np.full(on.shape, np.nan)
    workload = Workload.of(policy)
    episodes = build_episodes(tables, [rollout, rollout], [nothing, nothing], workload)
    assert len(episodes) == 8
    assert episodes.groups == ("7/0", "7/1", "7/2", "7/3") * 2
    table, place = locate_columns(batch.tables)
    for column in range(len(on)):
        here = (table[column], place[column])
        assert episodes.actions[here][:2].tolist() == on[column].tolist()
        right = batch.targets[TYPES_HEAD][column].argmax()
        assert episodes.gold[here][0] == right
        label = np.exp(rollout.log_probabilities[column, -1])
        assert episodes.propensity[here] == pytest.approx(label * 0.25)
    # the critical path of a table is the primary's work and the longest specialist's
    work = compute_work(episodes, tables, workload)
    symbols, active = tables.symbols, on[table == 1]
    read = (symbols[table == 1][:, None] * active).sum(axis=0) * np.array(workload.specialists)
    alone = symbols[table == 1].sum() * workload.primary
    assert work.critical_path[1] == pytest.approx(alone + read.max())
    assert work.total[1] == pytest.approx(alone + read.sum())
    assert work.longer[1] == pytest.approx(read.max() / alone)
    assert episodes.cost[1].sum() == pytest.approx(work.total[1])
