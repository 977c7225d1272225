"""Runs of PPO in the made-up simulator of simulator_worlds.py: learning, resuming, starting from offline policies."""

import json
from dataclasses import replace
from itertools import islice
from pathlib import Path

import numpy as np
import pytest

from aegir.routing.learnt_policy import LearntPolicy
from aegir_rl.base.errors import UsageError
from aegir_rl.base.run_folder import RunFolder
from aegir_rl.base.training_run import CHECKPOINT
from aegir_rl.offline.cloning import clone_behaviour
from aegir_rl.offline.evaluation import evaluate_policy
from aegir_rl.offline.learning import LearningSettings
from aegir_rl.offline.logged_decisions import LoggedDecisions
from aegir_rl.offline.policy import RoutingPolicy
from aegir_rl.simulator.playing import explore
from aegir_rl.simulator.ppo.config import (
    PpoSettings,
    PpoTraining,
    TaskCurriculumSettings,
    TaskSettings,
)
from aegir_rl.simulator.ppo.evaluation import (
    choose_single_solver,
    compute_oracle,
    evaluate,
    evaluation_page,
)
from aegir_rl.simulator.ppo.loop import STATE_KEY, train_ppo
from aegir_rl.simulator.ppo.world import TaskPart, World, split_world
from hostile_metadata import REFUSED, USED, hostile_weights, use_or_refusal
from simulator_worlds import a_static, a_table

TINY = PpoTraining(
    iterations=6,
    episodes=128,
    check_every=2,
    curriculum=TaskCurriculumSettings(exploration=0.5),
    ppo=PpoSettings(hidden=(32,), epochs=4, minibatch=128, actor_rate=3e-3, critic_first=1),
)
ROUTING = """
rules:
  - cases > 0.5 -> easy
  - otherwise -> other
roles:
  easy:
    primary: cheap@1
  other:
    primary: sharp@1
    fallback: [deep@2, cheap@1]
"""


class Silent:
    def say(self, line) -> None: ...

    def step(self, step, figures) -> None: ...


class Killed(Silent):
    """Ends the process, as far as a test can."""

    def __init__(self, at: int) -> None:
        self.at = at

    def step(self, step, figures) -> None:
        if step == self.at:
            raise KeyboardInterrupt


@pytest.fixture(scope="module")
def world() -> World:
    table = a_table(240)
    number = np.arange(240)
    parts = (number < 160, (number >= 160) & (number < 200), number >= 200)
    tables = [table.select(rows) for rows in parts]
    return World(*(TaskPart(each, a_static(each)) for each in tables))


@pytest.fixture(scope="module")
def log(world: World) -> LoggedDecisions:
    part = world.training
    batch = part.play(TINY, explore(0.5, len(part.table.actions)), np.random.default_rng(0)).batch
    return LoggedDecisions.from_batch(batch, name="a made-up log")


@pytest.fixture(scope="module")
def start(log: LoggedDecisions) -> RoutingPolicy:
    return clone_behaviour(log, LearningSettings(hidden=(32,), steps=200, weight_decay=0.1)).policy


@pytest.fixture(scope="module")
def trained(world: World, start: RoutingPolicy, tmp_path_factory):
    """Three seeds from a cloned policy; (folder, policy) each."""
    runs = []
    for seed in range(3):
        folder = tmp_path_factory.mktemp("runs") / f"ppo-{seed}"
        config = replace(TINY, iterations=30, check_every=10, seed=seed)
        runs.append((folder, train_ppo(config, folder, Silent(), world, start).policy))
    return runs


def test_ppo_beats_its_start_the_static_table_and_single_solvers_and_nears_the_oracle(
    world: World, start: RoutingPolicy, trained
):
    report = evaluate(world, TINY, [policy for _, policy in trained], start)
    for name in ("test", "families"):
        part = report["parts"][name]
        assert all(part["beats"][each] for each in ("single", "static", "start"))
        assert part["gain"]["static"]["low"] > 0
        assert part["share_of_oracle"] > 0.9
        assert part["ppo"]["reward"] <= part["oracle"]["reward"]
    page = evaluation_page(report, [RunFolder(folder) for folder, _ in trained])
    assert page.count("<svg") == 3 + 3


def test_the_run_folder_holds_policy_metrics_episodes_and_summary(trained):
    folder, policy = trained[0]
    assert RoutingPolicy.load(folder / "policy.safetensors").version == policy.version
    history = RunFolder(folder).history()
    assert len(history.column("reward/mean")) == 30
    assert [step for step, _ in history.column("test/reward")] == [0, 10, 20, 30]
    summary = json.loads((folder / "summary.json").read_text())
    assert summary["figures"]["test/reward"] == history.column("test/reward")[-1][1]
    first = json.loads((folder / "episodes.jsonl").read_text().splitlines()[0])
    assert first["source"] == "synthetic"


def test_dispatch_loads_the_policy_and_off_policy_evaluation_takes_it(log, trained):
    folder, policy = trained[0]
    assert LearntPolicy.load(folder / "policy.safetensors").problem.startswith("it was trained on")
    evaluation = evaluate_policy(log, policy)
    assert evaluation.compared.difference.value > 0


def test_a_killed_run_ends_with_the_bits_of_one_that_was_not(world: World, tmp_path: Path):
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    train_ppo(TINY, whole, Silent(), world)
    with pytest.raises(KeyboardInterrupt):
        train_ppo(TINY, broken, Killed(at=5), world)
    train_ppo(TINY, broken, Silent(), world, resume=True)
    assert (whole / CHECKPOINT).read_bytes() == (broken / CHECKPOINT).read_bytes()
    rows = [
        [{k: v for k, v in row.items() if k != "time"} for row in RunFolder(path).history().steps]
        for path in (whole, broken)
    ]
    assert rows[0] == rows[1]


def test_resuming_refuses_other_settings_and_other_outcomes(world: World, tmp_path: Path):
    train_ppo(TINY, tmp_path / "run", Silent(), world)
    with pytest.raises(UsageError, match="episodes was 128"):
        train_ppo(replace(TINY, episodes=64), tmp_path / "run", Silent(), world, resume=True)
    other = World(world.training, world.families, world.test)
    with pytest.raises(UsageError, match="not those that"):
        train_ppo(TINY, tmp_path / "run", Silent(), other, resume=True)
    with pytest.raises(UsageError, match="holds a run already"):
        train_ppo(TINY, tmp_path / "run", Silent(), world)


def test_a_checkpoint_with_any_metadata_goes_on_or_is_refused(world: World, tmp_path: Path):
    config = replace(TINY, iterations=1, episodes=8)
    train_ppo(config, tmp_path, Silent(), world)
    outcomes = []
    for change, content in islice(hostile_weights(tmp_path / CHECKPOINT, STATE_KEY), 0, None, 13):
        (tmp_path / CHECKPOINT).write_bytes(content)
        outcomes.append(
            use_or_refusal(
                change, lambda: train_ppo(config, tmp_path, Silent(), world, resume=True)
            )
        )
    assert {*outcomes} <= {USED, REFUSED}
    assert REFUSED in outcomes


def test_the_oracle_and_the_best_single_solver_are_those_of_hindsight(world: World):
    part = world.training
    kind = part.table.features[:, :4].argmax(axis=1)
    # 1.05 - 0.1 · cost - 0.05 · seconds: cheap@1 0.1 and 0.1 s; sharp@1 0.5; deep@2 2 and 0.2 s; sharp@1 twice with a retry
    best = {0: 1.035, 1: 0.995, 2: 0.84, 3: 1.05 - 0.1 - 0.01 - 0.02}
    assert compute_oracle(part, TINY) == pytest.approx([best[each] for each in kind])
    name, chain = choose_single_solver(part, TINY)
    earned = part.follow_chain(TINY, chain).mean()
    assert all(part.follow_chain(TINY, [action]).mean() <= earned for action in range(9)), name


def test_a_routing_table_gives_each_task_its_chain(tmp_path: Path):
    path = tmp_path / "routing.yaml"
    path.write_text(ROUTING)
    table = a_table(40)
    config = replace(
        TINY, tasks=TaskSettings(static_table=str(path), held_out_families=("family-1",))
    )
    world = split_world(config, table, np.arange(40) >= 30)
    assert [len(part) for part in world.parts.values()] == [24, 8, 2]
    names = np.array(table.actions)[world.training.static]
    easy = world.training.table.features[:, 0] > 0.5
    assert (names[easy] == ["cheap@1", "give up", "give up"]).all()
    assert (names[~easy] == ["sharp@1", "deep@2", "cheap@1"]).all()
    path.write_text(ROUTING.replace("cheap@1", "sleepy@1"))
    with pytest.raises(UsageError, match="unknown worker 'sleepy@1'"):
        split_world(config, table, np.arange(40) >= 30)


def test_settings_that_cannot_work_are_refused():
    with pytest.raises(UsageError, match=r"clip_start is 1\.5"):
        PpoSettings(clip_start=1.5)
    with pytest.raises(UsageError, match="hidden sizes"):
        PpoSettings(hidden=(0,))
    with pytest.raises(UsageError, match="episodes is 0"):
        PpoTraining(episodes=0)
