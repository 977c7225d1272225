"""The PARL recipe: what a run leaves behind, that stopping changes nothing, what it learns, what it survives."""

import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor

from aegir.lab.held_out import ANSWERS, load_answers
from aegir.lab.parl.config import ParlTraining
from aegir.lab.parl.evaluation import ROUTING, load_routing
from aegir.lab.parl.loop import TrainedSwarm, train_parl
from aegir.lab.torch_training import read_learner
from aegir.readers.swarm.network import SwarmModel
from aegir.swarm.column_model import ModelOutput
from aegir.swarm.specialist import FrozenSpecialist
from aegir_rl.base.errors import UsageError
from aegir_rl.base.run_folder import RunFolder
from aegir_rl.base.training_run import CHECKPOINT
from aegir_rl.episode import Episode, EpisodeBatch
from aegir_rl.health import HealthMonitor, HealthRule, Unwell
from parl_runs import NAMES, parl_settings, train_small_parl, two_specialists
from parl_world import DATE, DigitsKnown, world_settings
from small_runs import Listener
from swarm_models import Altered, byte_model


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("parl")


@pytest.fixture(scope="module")
def config(folder: Path) -> ParlTraining:
    return replace(parl_settings(folder), rl=replace(parl_settings(folder).rl, kl=0.01))


@pytest.fixture(scope="module")
def specialists(folder: Path) -> list[FrozenSpecialist]:
    return two_specialists(folder / "specialists")


@pytest.fixture(scope="module")
def whole(config: ParlTraining, folder: Path, specialists: list[FrozenSpecialist]) -> TrainedSwarm:
    """Two steps of warm start and four of reinforcement learning, without a stop."""
    return train_small_parl(config, folder / "whole", specialists)


def curves(folder: Path) -> list[dict[str, object]]:
    """All figures but measured seconds."""
    return [
        {n: v for n, v in row.items() if not re.search(r"(^|/)time(/|$)|seconds", n)}
        for row in RunFolder(folder).history().steps
    ]


def steps_of(config: ParlTraining, warm: int, rl: int) -> ParlTraining:
    return replace(
        config,
        warm_start=replace(config.warm_start, steps=warm),
        rl=replace(config.rl, steps=rl),
    )


class StopsAfter(Listener):
    """As a kill would: nothing more is done after this step was recorded."""

    def __init__(self, last: int) -> None:
        super().__init__()
        self.last = last

    def step(self, step: int, figures: object) -> None:
        if step == self.last:
            raise KeyboardInterrupt


@pytest.mark.parametrize("last", [1, 5])
def test_a_run_that_was_stopped_and_resumed_equals_one_that_was_not_bit_for_bit(
    config: ParlTraining,
    folder: Path,
    whole: TrainedSwarm,
    specialists: list[FrozenSpecialist],
    tmp_path: Path,
    last: int,
):
    with pytest.raises(KeyboardInterrupt):
        train_parl(config, tmp_path / "run", StopsAfter(last), specialists)
    train_small_parl(config, tmp_path / "run", specialists, resume=True)
    saved, wanted = (read_learner(one / CHECKPOINT) for one in (tmp_path / "run", folder / "whole"))
    assert saved.tensors.keys() == wanted.tensors.keys()
    for name, one in wanted.tensors.items():
        assert torch.allclose(saved.tensors[name], one, rtol=0, atol=0, equal_nan=True), name
    assert saved.facts == wanted.facts
    assert curves(tmp_path / "run") == curves(folder / "whole")
    answers = [(one / ANSWERS).read_bytes() for one in (tmp_path / "run", folder / "whole")]
    assert answers[0] == answers[1]


def test_a_run_folder_holds_curves_episodes_answers_routing_summary_and_swarm(
    config: ParlTraining, folder: Path, whole: TrainedSwarm
):
    run = folder / "whole"
    assert sorted(one.name for one in run.iterdir()) == [
        "checkpoint.safetensors",
        "config.toml",
        "environment.json",
        "episodes",
        "held_out.safetensors",
        "metrics.jsonl",
        "routing.safetensors",
        "summary.json",
        "swarm",
    ]
    rows = curves(run)
    taken = [row for row in rows if row.get("stage") == 1.0]
    assert [row["step"] for row in taken] == [3, 4, 5, 6]
    assert [row.get("budget/cap") for row in taken] == [1.0, None, 2.0, None]
    assert all(0 < row["budget/cut"] < 1 for row in (taken[0], taken[2]))  # both caps bind
    assert "budget/cut" not in taken[1]
    for row in taken:
        assert row["update/1/ratio/mean"] == pytest.approx(1.0, abs=1e-4)
        assert row["update/2/kl"] > row["update/1/kl"] - 1e-9
        assert {"update/1/clip_fraction", "update/2/clip_fraction"} <= row.keys()
    expected = {"reward/perf", "reward/parallel", "reward/finish", "reward/lambda_parallel", "kl"}
    expected |= {"work/critical_path", "work/total", "router/entropy", "gain/mean", "reference_kl"}
    assert all(expected <= row.keys() for row in taken)
    assert taken[0]["reward/lambda_parallel"] == 0.3
    assert taken[-1]["clip_range"] == pytest.approx(0.125)  # 0.2 - 0.1 * 3 / 4
    timed = RunFolder(run).history().steps[-2]
    assert 0 < timed["time/critical_path"] <= timed["time/total_work"]
    summary = json.loads((run / "summary.json").read_text())
    assert summary["specialists"] == {
        one.name: one.sha256 for one in whole.policy.swarm.specialists
    }
    assert "after_warm_start/cta/micro_f1" in summary["figures"]


def test_kept_episodes_have_actions_rewards_times_and_a_propensity_after_the_cap(
    folder: Path, whole: TrainedSwarm
):
    text = (folder / "whole" / "episodes" / "000006.jsonl").read_text()
    batch = EpisodeBatch.from_episodes(map(Episode.from_json, text.splitlines()))
    assert len(batch) == 3
    assert batch.factors == (*NAMES, "label")
    logs = batch.log_probabilities[batch.decided]
    # no cap in this stretch: the propensity is that of the policy
    assert batch.propensity[batch.decided] == pytest.approx(np.exp(logs.sum(axis=1)))
    assert set(batch.rewards) == {"perf", "parallel", "finish", "total"}
    assert batch.steps[0][0].name == "router"
    assert batch.sources == ("real",) * 3


def test_the_saved_swarm_reads_in_numpy_what_torch_reads(folder: Path, whole: TrainedSwarm):
    model = SwarmModel.load(folder / "whole" / "swarm")
    symbols = np.random.default_rng(0).integers(32, 127, (5, 40)).astype(np.int16)
    read = model.read(symbols, np.ones((5, 2), bool))
    swarm, ids = whole.policy.swarm, torch.from_numpy(symbols).long()
    mask = torch.ones_like(ids, dtype=torch.bool)
    with torch.no_grad():
        hidden = swarm.primary_model.routing_hidden(ids, mask)
        wanted = swarm(ids, mask, hidden, activation=torch.ones(5, 2, dtype=torch.bool))["output"]
    # weights are rounded on disk, int8 where they are large, which may move the boundary of a chunk
    assert np.median(np.abs(read.vectors - wanted.numpy())) < 0.01 * float(wanted.abs().max())


def test_held_out_answers_and_routing_name_the_same_columns(folder: Path, whole: TrainedSwarm):
    answers = load_answers(folder / "whole" / ANSWERS)["web"]
    routing = load_routing(folder / "whole" / ROUTING)
    assert routing.specialists == NAMES
    assert set(answers.names) <= set(routing.columns)
    assert routing.activation.shape == (len(routing.columns), 2)
    assert (routing.activation == (routing.scores > 0.5)).all()


def test_specialists_are_unchanged_and_everything_else_has_learnt(
    config: ParlTraining, whole: TrainedSwarm
):
    whole.policy.swarm.check_unchanged()
    for name, parameter in whole.policy.swarm.named_parameters():
        if "primary_model" not in name and "fusions" not in name:
            assert float(parameter.detach().abs().sum()) > 0, name


@pytest.mark.parametrize("name", ["phase1", "longer", "always", "random", "average", "warm-start"])
def test_every_variant_runs_from_the_same_settings(
    config: ParlTraining, specialists: list[FrozenSpecialist], tmp_path: Path, name: str
):
    short = steps_of(config, 1, 1).variant(name)
    done = train_small_parl(short, tmp_path / "run", specialists)
    assert 0 <= done.metrics["cta/micro_f1"] <= 1
    rate = {"always": 1.0, "phase1": None, "longer": None, "average": None}.get(name, ...)
    if rate is not ...:
        assert done.metrics.get("activation/rate") == rate
    taken = len([row for row in curves(tmp_path / "run") if "stage" in row])
    assert taken == short.steps


def test_an_average_is_the_mean_of_probabilities(
    config: ParlTraining, specialists: list[FrozenSpecialist], tmp_path: Path
):
    none = steps_of(config, 0, 0)
    train_small_parl(none.variant("phase1"), tmp_path / "a", specialists[:1])
    train_small_parl(none.variant("average"), tmp_path / "b", specialists[:1])
    own, mean = (load_answers(tmp_path / n / ANSWERS)["web"].logits["types"] for n in "ab")
    p = np.exp(own - own.max(axis=1, keepdims=True))
    p /= p.sum(axis=1, keepdims=True)
    other = 2 * np.exp(mean.astype(np.float64)) - p  # what the specialist must have said
    assert other.sum(axis=1) == pytest.approx(1, abs=1e-4)
    assert (other > -1e-5).all()
    assert np.abs(other - p).max() > 1e-3


def test_numbers_of_a_specialist_that_are_not_finite_are_left_out_counted_and_reported(
    config: ParlTraining, tmp_path: Path
):
    def break_some(symbols: Tensor, output: ModelOutput) -> ModelOutput:
        assert output.vectors is not None
        return ModelOutput(output.vectors * torch.nan, output.states)

    broken = FrozenSpecialist("broken", Altered(byte_model(1), break_some))
    listener = Listener()
    train_parl(steps_of(config, 1, 1), tmp_path / "run", listener, [broken])
    rows = [row for row in curves(tmp_path / "run") if "stage" in row]
    assert all(row["specialists/dropped"] > 0 for row in rows)
    assert (
        sum("specialist 'broken' gave numbers that are not finite" in x for x in listener.lines)
        == 1
    )
    assert json.loads((tmp_path / "run/summary.json").read_text())["dropped"]["broken"] > 0
    assert any(line.startswith("swarm/ is not written: ") for line in listener.lines)


def test_a_run_that_is_unwell_stops_with_the_reasons(
    config: ParlTraining,
    specialists: list[FrozenSpecialist],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
):
    rule = HealthRule("norm of the gradient", high=1e-6, stops_at_once=True)
    strict = HealthMonitor(rules={"gradient_norm": rule})
    monkeypatch.setattr("aegir.lab.parl.run_state.HealthMonitor", lambda: strict)
    with pytest.raises(Unwell, match=r"gradient_norm was .* expected at most 1e-06"):
        train_small_parl(steps_of(config, 0, 2), tmp_path / "run", specialists)
    assert len([row for row in curves(tmp_path / "run") if "stage" in row]) == 1


def test_no_specialists_are_refused_unless_routing_is_off(config: ParlTraining, tmp_path: Path):
    with pytest.raises(UsageError, match="there are no specialists; give --specialists FOLDER"):
        train_small_parl(config, tmp_path / "run", [])
    assert not (tmp_path / "run").exists()
    done = train_small_parl(steps_of(config, 0, 0).variant("longer"), tmp_path / "run", [])
    assert "activation/rate" not in done.metrics


def test_a_specialist_with_another_vocabulary_is_refused(config: ParlTraining, tmp_path: Path):
    model = DigitsKnown()
    model.symbols = 99
    with pytest.raises(UsageError, match="'digits' reads a vocabulary of 99 symbols"):
        train_small_parl(config, tmp_path / "run", [FrozenSpecialist("digits", model)])


def test_other_specialists_cannot_go_on_with_a_run(
    config: ParlTraining, folder: Path, whole: TrainedSwarm, specialists: list[FrozenSpecialist]
):
    with pytest.raises(
        UsageError, match=r"the specialists are not those .* began with \(codes, pl"
    ):
        train_small_parl(config, folder / "whole", specialists[:1], resume=True)


def test_tables_of_one_column_and_of_very_many_are_learnt_from_and_answered(
    config: ParlTraining, tmp_path: Path
):
    def column(*names: object) -> dict[str, object]:
        mails = [f"{'-'.join(map(str, names))}-{row}@b.example" for row in range(3)]
        return {"name": f"mail {names[-1]}", "values": mails, "cta": "email"}

    for name in ("made_up_train", "made_up_val"):
        one = {"id": f"{name} one", "columns": [column(name, "one")]}
        many = {"id": f"{name} many", "columns": [column(name, n) for n in range(300)]}
        (tmp_path / f"{name}.jsonl").write_text(f"{json.dumps(one)}\n{json.dumps(many)}\n")
    folders = tuple(str(tmp_path / f"{name}.jsonl") for name in ("made_up_train", "made_up_val"))
    wide = replace(steps_of(config, 1, 1), data=replace(config.data, folders=folders))
    done = train_small_parl(wide, tmp_path / "run", [FrozenSpecialist("digits", DigitsKnown())])
    assert len(load_routing(tmp_path / "run" / ROUTING).columns) >= 301
    assert 0 <= done.metrics["cta/micro_f1"] <= 1


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_router_learns_to_wake_the_specialist_for_the_columns_that_it_knows(
    folder: Path, tmp_path: Path, seed: int
):
    settings = world_settings(folder, seed, warm=30, steps=30)
    specialist = FrozenSpecialist("digits", DigitsKnown())
    done = train_parl(settings, tmp_path / "run", Listener(), [specialist])
    routing = load_routing(tmp_path / "run" / ROUTING)
    answers = load_answers(tmp_path / "run" / ANSWERS)["web"]
    score = dict(zip(routing.columns, routing.scores[:, 0].tolist(), strict=True))
    date = answers.accepted["types"].argmax(axis=1) == DATE
    scores = np.array([score[name] for name in answers.names])
    # untrained, every score is 0.5; the primary alone answers half of the known columns right, 0.75 of all
    assert scores[~date].mean() > 0.8
    assert scores[date].mean() < 0.4
    assert done.metrics["cta/micro_f1"] > 0.9


def test_a_warm_start_can_be_shared_by_runs(
    config: ParlTraining,
    specialists: list[FrozenSpecialist],
    whole: TrainedSwarm,
    tmp_path: Path,
):
    train_small_parl(steps_of(config, 2, 0), tmp_path / "warm", specialists)
    after = train_parl(config, tmp_path / "after", Listener(), specialists, warm=tmp_path / "warm")
    for name, tensor in whole.policy.state_dict().items():
        assert torch.equal(tensor, after.policy.state_dict()[name]), name
    for other, sentence in (
        (replace(config, seed=9), "began with another seed than this run"),
        (steps_of(config, 3, 4), "began with another warm_start than this run"),
        (config.variant("always"), "is no run that stopped after 2 steps of warm start"),
    ):
        with pytest.raises(UsageError, match=sentence):
            train_parl(other, tmp_path / "no", Listener(), specialists, warm=tmp_path / "warm")
