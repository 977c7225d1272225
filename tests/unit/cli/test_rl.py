"""`aegir rl`: the whole chain from made-up decisions to a verdict, and bad input."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from aegir_rl.offline.policy import RoutingPolicy
from command_line import run


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store, its export and a policy."""
    here = tmp_path_factory.mktemp("rl")
    store, log = here / "decisions.db", here / "out" / "routing.jsonl"
    assert run("rl", "collect-synth", "--rows", 650, "--store", store).code == 0
    assert run("rl", "export", "--store", store, "--output", log).code == 0
    made = run("rl", "train-bc", "--data", log, "--out", here / "bc.safetensors", "--steps", 60)
    assert made.code == 0, made.err
    return here


def test_650_rows_are_exported_with_their_source(folder: Path):
    lines = (folder / "out" / "routing.jsonl").read_text().splitlines()
    assert len(lines) == 650
    assert all(json.loads(line)["source"] == "synthetic" for line in lines)
    again = run("rl", "collect-synth", "--rows", 650, "--store", folder / "decisions.db")
    assert again.said == [f"aegir: added 0 synthetic episodes to {folder / 'decisions.db'}"]


def test_parquet_holds_the_same(folder: Path, tmp_path: Path):
    made = run("rl", "collect-synth", "--rows", 30, "--output", tmp_path / "log.parquet")
    assert made.said[-1].startswith("aegir: wrote 30 episodes (30 synthetic) to")
    shown = run("rl", "analyze-rewards", "--data", tmp_path / "log.parquet", "--json")
    assert json.loads(shown.out)["episodes"] == 30


def test_rewards_are_analysed(folder: Path, tmp_path: Path):
    out, plot = tmp_path / "report.json", tmp_path / "report.html"
    log = folder / "out" / "routing.jsonl"
    shown = run("rl", "analyze-rewards", "--data", log, "--out", out, "--plot", plot)
    assert shown.code == 0
    assert "650 episodes, mean reward" in shown.out
    assert json.loads(out.read_text())["reward"] == "reward_v1"
    assert "<svg" in plot.read_text()


def test_a_policy_is_chosen_and_evaluated_on_held_out_groups(folder: Path, tmp_path: Path):
    log, policy = folder / "out" / "routing.jsonl", tmp_path / "chosen.safetensors"
    made = run(
        *("rl", "choose", "--data", log, "--out", policy, "--held-out", 0.3),
        *("--steps", 100, "--alpha", 0.5, "--json"),
    )
    assert made.code == 0, made.err
    record = json.loads(made.out)
    names = {trial["candidate"] for trial in record["trials"]}
    alone = {f"always {name}" for name in ("byte_model", "combined", "ngrams")}
    assert names == alone | {"behaviour cloning", "reward model", "CQL, alpha 0.5"}
    assert RoutingPolicy.load(policy).version == record["version"]
    out = tmp_path / "evaluation.json"
    shown = run("rl", "eval-offline", "--data", log, "--checkpoint", policy, "--out", out)
    evaluation = json.loads(out.read_text())
    assert shown.code == (0 if evaluation["verdict"] == "better" else 3)
    assert evaluation["episodes"] < 300  # about 30 % of 650
    assert any("kept from training" in line for line in shown.said)
    assert set(evaluation["policy"]) == {"ips", "snips", "dm", "fqe", "dr", "switch"}


def test_a_policy_without_a_hold_out_is_judged_cross_fitted_beside_every_single_worker(
    folder: Path, tmp_path: Path
):
    log, policy = folder / "out" / "routing.jsonl", folder / "bc.safetensors"
    arguments = ("rl", "eval-offline", "--data", log, "--checkpoint", policy)
    shown = run(*arguments, "--out", tmp_path / "e.json")
    evaluation = json.loads((tmp_path / "e.json").read_text())
    assert (evaluation["episodes"], evaluation["cross_fitted_folds"]) == (650, 5)
    assert any("trained in the same way without its group" in line for line in shown.said)
    assert set(evaluation["single_workers"]["values"]) == {"byte_model", "combined", "ngrams"}
    assert "the best single worker" in shown.out
    assert shown.code == 3  # it does what the static table does
    nothing = run(*arguments, "--groups", "held-out")
    assert nothing.code == 2
    assert "has no held-out episodes for this policy" in nothing.said[-1]
    from_elsewhere = tmp_path / "unknown.safetensors"
    loaded = RoutingPolicy.load(policy)
    kept = {name: value for name, value in loaded.training.items() if name != "recipe"}
    replace(loaded, training=kept).save(from_elsewhere)
    refused = run(*arguments[:-1], from_elsewhere)
    assert refused.code == 2
    assert "does not say how it was trained" in refused.said[-1]


def test_conservative_q_learning_is_what_train_cql_writes_at_the_alpha_asked_for(
    folder: Path, tmp_path: Path
):
    log, policy = folder / "out" / "routing.jsonl", tmp_path / "cql.safetensors"
    arguments = ("rl", "train-cql", "--data", log, "--out", policy, "--steps", 50)
    made = run(*arguments, "--alpha", 2, "--json")
    assert made.code == 0, made.err
    assert {trial["candidate"] for trial in json.loads(made.out)["trials"]} == {"CQL, alpha 2"}
    training = RoutingPolicy.load(policy).training
    assert (training["method"], training["alpha"]) == ("conservative Q-learning", 2)
    assert "CQL, alpha 0.5, floor" in run(*arguments).out
    assert run(*arguments, "--alpha", 0).code == 2


def test_a_policy_that_is_the_static_table_is_not_better(folder: Path):
    log, policy = folder / "out" / "routing.jsonl", folder / "bc.safetensors"
    shown = run(
        "rl", "eval-offline", "--data", log, "--checkpoint", policy, "--groups", "all", "--json"
    )
    assert shown.code == 3
    assert json.loads(shown.out)["verdict"] in ("not better", "too thin")
    assert "its figures are too good" in shown.err


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (("propensity", None), "decisions of {log} have no propensity"),
        (("baseline", None), "do not say what the static table would have chosen"),
        (("features", {"x": 1.0}), "the policy was trained on features that {log} does not have"),
        (("action", {"worker": "owl"}), "has the worker 'owl', which the policy does not know"),
        (("cost", -1), "{log}, line 1 is no episode: cost is -1"),
    ],
)
def test_logs_that_cannot_be_evaluated_are_one_sentence(
    folder: Path, tmp_path: Path, change: tuple, sentence: str
):
    name, value = change
    lines = []
    for line in (folder / "out" / "routing.jsonl").read_text().splitlines()[:60]:
        episode = json.loads(line)
        for decision in episode["decisions"]:
            decision.pop(name, None)
            decision |= {} if value is None else {name: value}
            if name == "action":
                decision.pop("baseline")
        lines.append(json.dumps(episode))
    log = tmp_path / "log.jsonl"
    log.write_text("\n".join(lines))
    done = run("rl", "eval-offline", "--data", log, "--checkpoint", folder / "bc.safetensors")
    assert done.code == 2
    assert sentence.format(log=log) in done.said[-1]
    assert len([line for line in done.said if line.startswith("aegir:")]) == 1


def test_other_bad_input_is_one_sentence(folder: Path, tmp_path: Path):
    empty, log = tmp_path / "empty.jsonl", folder / "out" / "routing.jsonl"
    empty.write_text("")
    bad = tmp_path / "bad.jsonl"
    first = json.loads(log.read_text().splitlines()[0])
    bad.write_text(json.dumps({**first, "rewards": {"accuracy": 1.7}}))
    out = tmp_path / "p.safetensors"
    for arguments, sentence in [
        (["train-bc", "--data", empty, "--out", out], f"{empty} is empty"),
        (["train-bc", "--data", bad, "--out", out], "reward part 'accuracy' of episode"),
        (["train-cql", "--data", log, "--out", out, "--hidden", "many"], "--hidden is 'many'"),
        (["train-bc", "--data", tmp_path / "none", "--out", out], "cannot be read as a log"),
        (["eval-offline", "--data", log, "--checkpoint", log], "cannot be read as a model"),
        (["export", "--store", tmp_path / "none.db", "--output", out], "there is no store"),
        (["export", "--store", log, "--output", out], "is damaged, or no SQLite file"),
        (
            [
                "export",
                "--store",
                folder / "decisions.db",
                "--output",
                out,
                "--data-source",
                "real",
            ],
            "has no real episodes to export",
        ),
    ]:
        done = run("rl", *arguments)
        assert (done.code, len(done.said)) == (2, 1), done.err
        assert sentence in done.said[0]
    assert not out.exists()


def test_a_few_rows_leave_nothing_to_train_on(tmp_path: Path):
    log = tmp_path / "few.jsonl"
    run("rl", "collect-synth", "--rows", 3, "--output", log)
    done = run("rl", "train-bc", "--data", log, "--out", tmp_path / "p.safetensors")
    assert done.code == 2
    assert (
        "groups of episodes to train on; at least 3 are needed" in done.err or "1 group" in done.err
    )
