"""The checklist of offline RL as one chain: from made-up decisions to a policy at work, and to a verdict on it."""

import json
import shutil
from pathlib import Path

import pytest

from aegir.routing.features import FEATURES
from aegir_rl.offline import synthetic
from aegir_rl.offline.log_files import read_log
from command_line import run

EXAMPLES = Path(__file__).parents[2] / "examples"


def aegir(line: str):
    return run(*line.split())


def test_from_650_made_up_rows_to_a_verdict_and_a_run_pack(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    shutil.copy(EXAMPLES / "films.csv", tmp_path)
    log, policy = "datasets/routing_v1.jsonl", "cql.safetensors"
    for line in (
        "rl collect-synth --rows 650",
        f"rl export --output {log}",
        f"rl analyze-rewards --data {log} --out reward_report.json",
        f"rl train-bc --data {log} --out bc.safetensors",
        f"rl train-cql --data {log} --out {policy}",
    ):
        done = aegir(line)
        assert done.code == 0, (line, done.err)
    verdict = aegir(f"rl eval-offline --data {log} --checkpoint {policy} --out evaluation.json")
    evaluation = json.loads((tmp_path / "evaluation.json").read_text())
    assert (verdict.code, evaluation["verdict"]) == (0, "better"), verdict.err
    assert (evaluation["episodes"], evaluation["data_sources"]) == (650, ["synthetic"])
    assert evaluation["lower_bound"] > 0
    monkeypatch.setenv("AEGIR_RL_POLICY", "1")
    monkeypatch.setenv("AEGIR_RL_CHECKPOINT", policy)
    routed = aegir("annotate films.csv --explain-routing")
    assert routed.code == 0
    assert "by policy" in routed.err
    assert "cannot be used" not in routed.err
    pack = aegir("bench --compare-policy --out bench.json --run-pack-dir pack")
    assert pack.code == 0, pack.err
    record = json.loads((tmp_path / "bench.json").read_text())
    assert record["results"]["on"]["by_policy"] > 0.5
    assert {each.name for each in (tmp_path / "pack").iterdir()} >= {"manifest.json", "bench.json"}
    assert [each.name for each in (tmp_path / "datasets").iterdir()] == ["routing_v1.jsonl"]


def test_made_up_columns_have_features_and_workers_that_real_ones_have(tmp_path: Path):
    assert set(synthetic.FEATURES) <= set(FEATURES)
    log = tmp_path / "log.jsonl"
    assert run("rl", "collect-synth", "--rows", 20, "--output", log).code == 0
    assert read_log(log).actions == ("byte_model", "combined", "ngrams")
