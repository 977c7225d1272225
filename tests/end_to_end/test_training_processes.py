"""Training as people run it: killed without warning and resumed, and spread over two processes."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch

from aegir.lab.byte_network.config import ByteTraining, read_byte_training
from aegir.lab.byte_network.supervised import train
from aegir.lab.torch_training import read_learner
from aegir_rl.base.run_folder import RunFolder
from aegir_rl.base.training_run import CHECKPOINT
from small_runs import Listener, train_small, write_settings

pytestmark = pytest.mark.slow
STEPS = 8
PATIENCE = 300
"""Seconds; a process of its own takes about eight on an idle machine."""
ONE_THREAD = {**os.environ, "OMP_NUM_THREADS": "1"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("processes")


@pytest.fixture(scope="module")
def file(folder: Path) -> Path:
    return write_settings(folder)


@pytest.fixture(scope="module")
def config(file: Path) -> ByteTraining:
    return read_byte_training(file).with_steps("supervised", STEPS)


@pytest.fixture(scope="module")
def whole(config: ByteTraining, folder: Path) -> Path:
    """A run by one process that nobody disturbs."""
    train_small(config, folder / "whole")
    return folder / "whole"


def command(file: Path, out: Path, *more: str) -> list[str]:
    verbs = ["train", "supervised", str(file), "--out", str(out), "--steps", str(STEPS)]
    return ["-m", "aegir", *verbs, *more]


def figures(run: Path) -> list[dict[str, object]]:
    rows = RunFolder(run).history().steps
    return [{name: value for name, value in row.items() if name != "time"} for row in rows]


class Interrupted(Listener):
    """Ends a run after its third step, one step after a checkpoint."""

    def step(self, step: int, figures: object) -> None:
        if step == 3:
            raise KeyboardInterrupt


def test_a_run_killed_without_warning_and_resumed_equals_one_that_was_not(
    file: Path, config: ByteTraining, whole: Path, tmp_path: Path
) -> None:
    run = tmp_path / "killed"
    started = subprocess.Popen(
        [sys.executable, *command(file, run)], stderr=subprocess.DEVNULL, env=ONE_THREAD
    )
    deadline = time.monotonic() + PATIENCE
    while not (run / "metrics.jsonl").exists() or len(figures(run)) < 4:  # after step 3
        assert started.poll() is None, "it ended before it could be killed"
        assert time.monotonic() < deadline
        time.sleep(0.005)
    started.send_signal(signal.SIGKILL)
    assert started.wait() == -signal.SIGKILL
    assert read_learner(run / CHECKPOINT)[1] < STEPS
    train_small(config, run, resume=True)
    ended, wanted = (read_learner(one / CHECKPOINT) for one in (run, whole))
    assert ended[1:] == wanted[1:]
    assert ended[0].keys() == wanted[0].keys()
    assert all(torch.equal(ended[0][name], one) for name, one in wanted[0].items())
    assert figures(run) == figures(whole)


def test_two_processes_learn_what_one_does_and_go_on_with_its_run(
    file: Path, config: ByteTraining, whole: Path, tmp_path: Path
) -> None:
    run = tmp_path / "two"
    with pytest.raises(KeyboardInterrupt):
        train(config, "supervised", run, Interrupted())
    spread = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    done = subprocess.run(
        [sys.executable, *spread, *command(file, run, "--resume")],
        capture_output=True,
        text=True,
        env=ONE_THREAD,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    ended, wanted = (read_learner(one / CHECKPOINT)[0] for one in (run, whole))
    # Lengths, not elements: where a gradient is nearly zero, Adam makes a step of its rounding.
    for name in (name for name in wanted if name.startswith("net.")):
        apart = float((ended[name] - wanted[name]).norm())
        assert apart <= 1e-4 * float(wanted[name].norm()), name
    ours, theirs = figures(run), figures(whole)
    assert [row["step"] for row in ours] == [row["step"] for row in theirs]
    for mine, other in zip(ours, theirs, strict=True):
        assert mine.keys() == other.keys()
        assert mine.get("loss", 0) == pytest.approx(other.get("loss", 0), rel=1e-4)
        assert mine.get("cta/count") == other.get("cta/count")
