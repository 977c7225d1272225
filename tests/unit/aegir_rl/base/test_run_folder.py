"""A run folder keeps what was recorded, whatever happens to the process that recorded it."""

import json
import math
import os
import signal
import subprocess
import sys
import tomllib
from dataclasses import dataclass

import numpy as np
import pytest

from aegir_rl.base.errors import UsageError
from aegir_rl.base.run_folder import RunFolder, hold_lock


@dataclass
class Loss:
    policy: float
    value: float | None = None


@pytest.fixture
def run(tmp_path):
    return RunFolder.create(tmp_path / "runs" / "tiny", {"seed": 3})


def test_steps_come_back_flat_and_in_order(run):
    run.record(1, loss=Loss(0.5), reward={"mean": np.float32(0.25)}, rows=np.arange(3))
    run.record(2, loss=Loss(0.4, 0.1))
    first, second = run.history().steps
    assert first.pop("time") > 1.6e9
    assert first == {"step": 1, "loss/policy": 0.5, "reward/mean": 0.25, "rows": [0, 1, 2]}
    assert second["loss/value"] == 0.1
    assert run.history().column("loss/policy") == [(1, 0.5), (2, 0.4)]


def test_nan_and_infinities_survive_in_strict_json(run):
    run.record(1, a=math.nan, b=[math.inf, -math.inf, 1.0])
    text = (run.path / "metrics.jsonl").read_text()
    json.loads(text, parse_constant=lambda name: pytest.fail(f"{name} is not strict JSON"))
    (row,) = run.history().steps
    assert math.isnan(row["a"])
    assert row["b"] == [math.inf, -math.inf, 1.0]


def test_missing_is_absent_and_not_0(run):
    run.record(1, a=None)
    assert "a" not in run.history().steps[0]


def test_a_run_killed_in_the_middle_keeps_every_step_it_recorded(tmp_path):
    code = (
        "import sys, os, signal; from aegir_rl.base.run_folder import RunFolder\n"
        "run = RunFolder.create(sys.argv[1])\n"
        "for step in range(1000):\n"
        "    run.record(step, loss=step / 2)\n"
        "    if step == 41: os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path / "run")], check=False)
    assert done.returncode == -signal.SIGKILL
    history = RunFolder(tmp_path / "run").history()
    assert [row["step"] for row in history.steps] == list(range(42))
    assert history.notes == ()


def test_a_torn_last_line_is_skipped_with_a_note_and_the_next_writer_starts_its_own(run):
    run.record(1, loss=0.5)
    with (run.path / "metrics.jsonl").open("ab") as file:
        file.write(b'{"step": 2, "lo')
    history = run.history()
    assert [row["step"] for row in history.steps] == [1]
    assert history.notes == ("metrics.jsonl line 2 was skipped: torn at the end",)
    RunFolder(run.path).record(3, loss=0.25)
    history = run.history()
    assert [row["step"] for row in history.steps] == [1, 3]
    assert len(history.notes) == 1


def test_other_peoples_lines_are_skipped_with_a_note(run):
    (run.path / "metrics.jsonl").write_bytes(b'[1]\n{"loss": 1}\n\xff\xfe\n{"step": 5}\n\n')
    history = run.history()
    assert [row["step"] for row in history.steps] == [5]
    assert len(history.notes) == 3


def test_settings_are_toml_that_reads_back(tmp_path):
    config = {
        "seed": 7,
        "name": 'a "b" \\ \x7f \n ü',
        "on": True,
        "rate": 1e-4,
        "sizes": [1, 2],
        "nothing": None,
        "model": {"width": 64, "odd key": {"deep": [0.5]}},
        "numpy": np.float64(0.5),
    }
    run = RunFolder.create(tmp_path / "run", config)
    back = tomllib.loads((run.path / "config.toml").read_text(encoding="utf-8"))
    assert back == {key: value for key, value in config.items() if value is not None}


def test_where_it_ran_is_written_down(run):
    facts = json.loads((run.path / "environment.json").read_text())
    assert {"commit", "dirty", "versions", "device", "python"} <= set(facts)
    assert facts["versions"]["numpy"] == np.__version__


@pytest.mark.skipif(os.name == "nt", reason="modes are of POSIX")
def test_a_run_is_never_overwritten(run):
    with pytest.raises(UsageError, match="holds a run already"):
        RunFolder.create(run.path)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda run: RunFolder(run.path / "no"), "there is no run folder"),
        (lambda run: RunFolder(run.path.parent).history(), "has no metrics.jsonl"),
        (lambda run: run.record(1, a=object()), "figure a is of type object; expected a number"),
        (
            lambda run: RunFolder.create(run.path / "x", {"a": {"b": {1}}}),
            "setting a.b is of type set",
        ),
        (lambda run: RunFolder.create(run.path / "config.toml"), "cannot write run folder"),
    ],
)
def test_what_cannot_be_done_is_said_in_a_sentence(run, call, sentence):
    with pytest.raises(UsageError, match=sentence):
        call(run)


@pytest.mark.parametrize("name", ["run", "model.safetensors"])
def test_a_folder_or_file_is_locked_by_one_holder_at_a_time_and_left_as_it_was(tmp_path, name):
    target = tmp_path / name
    if name == "run":
        target.mkdir()
    refused = pytest.raises(
        UsageError, match=f"another process is writing to {target}; wait for it"
    )
    with hold_lock(target), refused, hold_lock(target):
        pass
    with hold_lock(target):
        pass
    assert [path.name for path in tmp_path.rglob("*")] == (["run"] if name == "run" else [])


def test_a_killed_process_leaves_no_lock(tmp_path):
    code = (
        "import os, pathlib, signal, sys; from aegir_rl.base.run_folder import hold_lock\n"
        "with hold_lock(pathlib.Path(sys.argv[1])): os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=False)
    assert done.returncode == -signal.SIGKILL
    assert (tmp_path / ".lock").exists()  # the file is there, its lock is not
    with hold_lock(tmp_path):
        pass


def test_of_two_runs_started_at_once_one_gets_the_folder(tmp_path):
    code = (
        "import sys; from aegir_rl.base.errors import UsageError; from aegir_rl.base.run_folder import RunFolder\n"
        "input()\n"
        "try: RunFolder.create(sys.argv[1])\n"
        "except UsageError as error: print(error)\n"
    )
    command = [sys.executable, "-c", code, str(tmp_path / "run")]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    started = [subprocess.Popen(command, **pipes) for _ in range(4)]
    for process in started:
        process.stdin.write("go\n")
        process.stdin.flush()
    answers = sorted(process.communicate()[0] for process in started)
    assert answers[0] == ""
    assert all("holds a run already" in answer for answer in answers[1:])
