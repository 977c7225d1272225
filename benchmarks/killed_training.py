"""A training run that is killed ten times and resumed each time: does it end with the bits of one that was not?

`aegir train supervised` learns from made-up tables and saves a checkpoint after every second step. Each process gets
SIGKILL after a random step in its tenth of the run and a random moment more; `--resume` goes on. Checkpoint, metrics and
held-out answers are then compared with those of a run that nobody disturbed. Metrics are compared without their time.
"""

import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from aegir_rl.base.run_folder import METRICS, RunFolder
from aegir_rl.base.seeding import Seeds
from benchmarks.measuring import CommandFailed, Runs
from benchmarks.options import Options
from benchmarks.result import Measurement, Result, at_least, at_most

QUESTION = "files of a training run killed and resumed again and again that differ from an undisturbed run's"
KILLS, STEPS_PER_KILL = 10, 12
"""More steps than a process makes between its moment and its end, so that the run does not end before its last kill."""
LONGEST_WAIT = 0.15
"""Seconds between the row that was waited for and the kill, at most; about three steps."""
PATIENCE = 300
SETTINGS = """
seed = {seed}
threads = 1

[architecture]
layout = ["w1", ["w1"], "w0"]
widths = [32, 32]
head_size = 32
hidden_ratio = 1
rank = 4
gram_rows = 512
column_width = 64

[data]
sources = {{ synthetic = 300 }}

[held_out]
folds = 5
fold = 0

[pretrain]
steps = 2
tables_per_step = {{ synthetic = 8 }}

[supervised]
steps = {steps}
tables_per_step = {{ synthetic = 16 }}
learning_rate = 4e-3
check_every = 2
"""


@dataclass(frozen=True, slots=True)
class Training:
    """A configuration and the folder of one run."""

    config: Path
    folder: Path

    def start(self, *more: str) -> "subprocess.Popen[bytes]":
        verbs = ["train", "supervised", str(self.config), "--out", str(self.folder), *more]
        return subprocess.Popen(
            [sys.executable, "-m", "aegir", *verbs],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            env={**os.environ, "OMP_NUM_THREADS": "1"},
        )

    def finish(self, *more: str) -> None:
        """Run to the end."""
        process = self.start(*more)
        said = process.communicate()[1].decode(errors="replace")
        if process.returncode != 0 or "Traceback" in said:
            raise CommandFailed(f"aegir train left with {process.returncode}: {said[-600:]}")

    def rows(self) -> int:
        """Rows of metrics that have been written; a cut one counts."""
        path = self.folder / METRICS
        return path.read_bytes().count(b"\n") if path.exists() else 0

    def files(self) -> dict[str, object]:
        """What a run leaves, as far as two runs of the same settings must agree."""
        steps = RunFolder(self.folder).history().steps
        metrics = [{name: row[name] for name in row if name != "time"} for row in steps]
        known = (METRICS, "environment.json")
        others = (
            path
            for path in self.folder.rglob("*")
            if path.is_file() and not path.name.startswith(".") and path.name not in known
        )
        return {
            "metrics": metrics,
            **{str(path.relative_to(self.folder)): _content(path) for path in others},
        }


def _content(path: Path) -> object:
    """The bytes of a file; of safetensors header and bytes apart, because its metadata have no fixed order."""
    content = path.read_bytes()
    if path.suffix != ".safetensors":
        return content
    end = 8 + int.from_bytes(content[:8], "little")
    return json.loads(content[8:end]), content[end:]


def run(options: Options) -> Result:
    """Train once undisturbed and once with kills, and compare what the runs leave."""
    kills = 1 if options.quick else KILLS
    chance = random.Random(Seeds(options.seed).derive("killed_training"))
    with tempfile.TemporaryDirectory() as name:
        config = Path(name, "small.toml")
        steps = STEPS_PER_KILL * kills
        config.write_text(SETTINGS.format(seed=options.seed, steps=steps), encoding="utf-8")
        whole, killed = (Training(config, Path(name, each)) for each in ("whole", "killed"))
        whole.finish()
        rows = whole.rows() - STEPS_PER_KILL  # the last kill leaves something to do
        moments = [int(rows * (number + chance.random()) / kills) for number in range(kills)]
        at = [_kill(killed, moment, chance) for moment in moments]
        killed.finish("--resume")
        wanted, found = whole.files(), killed.files()
    different = [each for each in wanted | found if wanted.get(each) != found.get(each)]
    for each in different:
        print(f"{each} differs", file=sys.stderr)
    wrong = Measurement("files that differ", "files", Runs((float(len(different)),)))
    done = Measurement("kills in the middle", "kills", Runs((float(len(at)),)))
    return Result(
        benchmark="killed_training",
        question=QUESTION,
        data=f"300 synthetic tables, {steps} steps, compared: {', '.join(sorted(wanted))}",
        measurements=(done, wrong),
        ratios=(),
        targets=(at_least(done, kills), at_most(wrong, 0)),
        settings={"kills": kills, "steps": steps, "rows of metrics at each kill": at},
    )


def _kill(training: Training, rows: int, chance: random.Random) -> int:
    """Start or resume, kill when there are so many rows of metrics or a little later; return how many there were."""
    started = time.time()
    process = training.start(*(["--resume"] if training.folder.exists() else []))
    try:
        _wait_for_rows(training, process, started, rows)
        time.sleep(chance.random() * LONGEST_WAIT)
        ended = process.poll() is not None
    finally:
        process.send_signal(signal.SIGKILL)
        said = process.communicate()[1].decode(errors="replace")
    if ended:
        raise CommandFailed(f"aegir train ended before it could be killed: {said[-600:]}")
    return training.rows()


def _wait_for_rows(
    training: Training, process: "subprocess.Popen[bytes]", started: float, rows: int
) -> None:
    """Wait until the process has written a row and there are so many; a resumed one first cuts those after its checkpoint."""
    path, deadline, before = training.folder / METRICS, time.monotonic() + PATIENCE, None
    while process.poll() is None:
        if path.exists() and path.stat().st_mtime > started:
            before = training.rows() if before is None else before
            if training.rows() >= max(before + 1, rows):
                return
        if time.monotonic() > deadline:
            raise CommandFailed(f"aegir train wrote no metrics in {PATIENCE} seconds")
        time.sleep(0.005)
