"""`aegir rewards validate`: a verdict in the exit code, a report on stdout and in a folder."""

import json
import sys
from pathlib import Path

import pytest

from command_line import run

SMALL = "episodes = 1536\nlearning_steps = 8\nlearning_episodes = 128\n"


@pytest.fixture
def config(tmp_path: Path) -> Path:
    pytest.importorskip("torch", reason="validation measures gradients with torch")
    path = tmp_path / "small.toml"
    path.write_text(SMALL)
    return path


def test_good_rewards_leave_with_0_and_one_json_object(config: Path):
    done = run("rewards", "validate", "--config", config, "--json")
    (line,) = done.out.splitlines()
    found = json.loads(line)
    assert (done.code, done.err, found["passed"]) == (0, "", True)
    assert found["config"]["episodes"] == 1536
    assert found["scales"]["parallel"]["suggested_lambda"] > 0


def test_the_readable_report_shows_every_check_and_the_lambdas(config: Path):
    done = run("rewards", "validate", "--config", config)
    assert done.code == 0
    assert "always on" in done.out
    assert "lambda_parallel 0.3; to vary that much relative to r_perf:" in done.out


def test_a_broken_reward_leaves_with_3_and_says_which_check_failed(config: Path):
    config.write_text(SMALL + "[finish]\ngamma = 0\n")
    done = run("rewards", "validate", "--config", config, "--json")
    assert done.code == 3
    assert json.loads(done.out)["passed"] is False
    (line,) = done.said
    assert line.startswith("aegir: 5 of 35 reward checks failed, the first: gradient of finish")


def test_the_folder_gets_a_page_and_the_same_figures(config: Path, tmp_path: Path):
    out = tmp_path / "new" / "folder"
    done = run("rewards", "validate", "--config", config, "--json", "--out", out)
    assert done.code == 0
    assert json.loads((out / "report.json").read_text()) == json.loads(done.out)
    assert (out / "report.html").read_text().startswith("<!doctype html>")


def test_a_folder_that_cannot_be_made_is_refused(config: Path):
    done = run("rewards", "validate", "--config", config, "--out", config / "below")
    assert (done.code, len(done.said)) == (2, 1)
    assert done.said == [f"aegir: {config / 'below'} cannot be written (Not a directory)"]


def test_a_config_with_a_slip_is_refused(config: Path):
    config.write_text("[paralel]\n")
    done = run("rewards", "validate", "--config", config)
    assert done.code == 2
    assert done.said[0].endswith("did you mean 'parallel'?")


def test_without_torch_one_sentence_says_what_to_install(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    done = run("rewards", "validate")
    assert done.code == 1
    assert done.said == [
        "aegir: validating rewards needs torch; install it with: pip install 'aegir-tables[train]'"
    ]
