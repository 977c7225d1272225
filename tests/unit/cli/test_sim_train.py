"""`aegir sim collect | log | train-ppo | eval` from files to figures, with the made-up tasks and solvers of simulator_worlds.py."""

import json
from pathlib import Path

import pytest

from aegir.cli import sim_train
from aegir_rl.offline.policy import RoutingPolicy
from aegir_rl.simulator.ppo.config import read_ppo_training
from aegir_rl.simulator.task import write_tasks
from command_line import Finished, refused, run, run_figures
from simulator_worlds import Counting, Doubling, TrustingSandbox, a_task

CONFIGS = Path(__file__).parents[3] / "configs"
SETTINGS = """
iterations = 4
episodes = 64
check_every = 2
[tasks]
training = "{folder}/training.jsonl"
test = "{folder}/test.jsonl"
outcomes = "{folder}/outcomes.db"
static_table = "{folder}/routing.yaml"
held_out_families = ["other"]
[ppo]
hidden = [8]
epochs = 2
"""
ROUTING = """
rules:
  - otherwise -> usual
roles:
  usual:
    primary: doubling@1
    fallback: counting@2
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("simulator")
    write_tasks([a_task(number, seed=1) for number in range(2, 26)], folder / "training.jsonl")
    test = [a_task(number, seed=2) for number in range(30, 36)]
    test += [a_task(number, "other", seed=2) for number in range(40, 44)]
    write_tasks(test, folder / "test.jsonl")
    (folder / "ppo.toml").write_text(SETTINGS.format(folder=folder))
    (folder / "routing.yaml").write_text(ROUTING)
    return folder


@pytest.fixture(autouse=True)
def made_up_solvers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sim_train, "find_solvers", lambda names, tasks: [Counting(), Doubling()])
    monkeypatch.setattr(sim_train, "open_sandbox", TrustingSandbox)


def collect(folder: Path) -> Finished:
    return run(
        *("sim", "collect", "--tasks", folder / "training.jsonl", "--tasks", folder / "test.jsonl"),
        *("--out", folder / "outcomes.db", "--json"),
    )


def test_outcomes_logs_policies_and_figures_follow_from_each_other(folder: Path):
    first, again = collect(folder), collect(folder)
    assert first.code == again.code == 0, first.err
    counts = json.loads(first.out)
    assert counts["executed"] == counts["outcomes"] >= 34 * 6
    assert json.loads(again.out)["executed"] == 0

    config, log, clone = folder / "ppo.toml", folder / "log.jsonl", folder / "bc.safetensors"
    done = run("sim", "log", config, "--out", log, "--episodes", 100, "--explore", 0.6)
    assert done.code == 0, done.err
    assert "100 episodes (100 synthetic)" in done.err
    done = run("rl", "train-bc", "--data", log, "--out", clone, "--steps", 20)
    assert done.code == 0, done.err

    runs = [folder / f"run-{seed}" for seed in (0, 1)]
    for seed, out in enumerate(runs):
        done = run(
            *("sim", "train-ppo", config, "--from", clone, "--seed", seed, "--out", out, "--json")
        )
        assert done.code == 0, done.err
        assert json.loads(done.out)["policy"].startswith("ppo-")
    assert RoutingPolicy.load(runs[0] / "policy.safetensors").training["start"].startswith("clon")
    assert run("runs", "health", runs[0]).code == 0

    done = run_figures(
        *("sim-eval", config, *runs, "--from", clone),
        *("--out", folder / "eval.json", "--plot", folder / "eval.html"),
    )
    assert done.code == 0, done.err
    assert "of the oracle" in done.out
    report = json.loads((folder / "eval.json").read_text())
    assert [part["tasks"] for part in report["parts"].values()] == [24, 6, 4]
    assert (folder / "eval.html").read_text().count("<svg") == 6

    done = run("rl", "eval-offline", "--data", log, "--checkpoint", runs[0] / "policy.safetensors")
    assert done.code in (0, 3), done.err


def test_wrong_use_gets_one_sentence(folder: Path, tmp_path: Path):
    config = tmp_path / "ppo.toml"
    text = SETTINGS.format(folder=folder)
    config.write_text(text.replace("outcomes.db", "none.db"))
    refused(run("sim", "log", config, "--out", tmp_path / "log"), "none.db", "aegir sim collect")
    config.write_text(text.replace("test.jsonl", "training.jsonl"))
    refused(run("sim", "log", config, "--out", tmp_path / "log"), "both have tasks of seed 1")
    config.write_text(text.replace("epochs", "epoch"))
    refused(run("sim", "train-ppo", config), "unknown key 'epoch'", "did you mean 'epochs'?")
    config.write_text(text)
    refused(run("sim", "train-ppo", config, "--from", config), "ppo.toml")
    refused(run("sim", "train-ppo", config, "--out", tmp_path, "--resume"), "to resume from")
    twice = ("--tasks", folder / "test.jsonl") * 2
    refused(run("sim", "collect", *twice, "--out", tmp_path / "o.db"), "two files have the task")
    one = ("--tasks", folder / "test.jsonl", "--out", tmp_path / "o.db")
    refused(run("sim", "collect", *one, "--workers", 0), "workers is 0")


@pytest.mark.parametrize("name", ["ppo.toml", "ppo-tiny.toml"])
def test_the_configurations_that_ship_can_be_read(name: str):
    assert read_ppo_training(CONFIGS / name).name == name.removesuffix(".toml")
