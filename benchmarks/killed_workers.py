"""Workers of a folder run that are killed at random moments: is every table answered, with the same bytes?

`aegir annotate FOLDER --effort high --workers 2` runs again and again; at random moments one of its workers, whichever it
is, gets SIGKILL, until there were as many kills as asked for. Each run's output is compared with that of one process.
"""

import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path

from aegir_rl.base.seeding import Seeds
from benchmarks.measuring import Runs
from benchmarks.options import Options
from benchmarks.result import Measurement, Result, at_most
from benchmarks.synthetic_tables import csv_text

QUESTION = "runs over a folder whose workers are killed at random moments: answers that differ"
KILLS, FILES, COLUMNS, ROWS = 200, 120, 6, 20
MEAN_WAIT = 0.6
"""Seconds between two kills, exponentially distributed."""


def run(options: Options) -> Result:
    kills, files = (2, 24) if options.quick else (KILLS, FILES)
    chance = random.Random(Seeds(options.seed).derive("killed_workers"))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name, "tables")
        folder.mkdir()
        for number in range(files):
            (folder / f"{number:03}.csv").write_text(csv_text(COLUMNS, ROWS, chance))
        expected = _annotate(folder, workers=1).communicate()[0]
        killed = runs = different = 0
        while killed < kills:
            process = _annotate(folder, workers=2)
            killed += _kill_workers(process, kills - killed, chance)
            different += process.communicate()[0] != expected
            runs += 1
    wrong = Measurement("runs with other bytes", "runs", Runs((float(different),)))
    return Result(
        benchmark="killed_workers",
        question=QUESTION,
        data=f"{files} synthetic CSV files of {COLUMNS} columns and {ROWS} rows, {killed} kills in {runs} runs",
        measurements=(wrong,),
        ratios=(),
        targets=(at_most(wrong, 0),),
        settings={"files": files, "kills": kills, "mean seconds between kills": MEAN_WAIT},
    )


def _annotate(folder: Path, workers: int) -> "subprocess.Popen[bytes]":
    command = [sys.executable, "-m", "aegir", "annotate", str(folder), "--effort", "high", "--json"]
    return subprocess.Popen(
        [*command, "--workers", str(workers)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )


def _kill_workers(process: "subprocess.Popen[bytes]", most: int, chance: random.Random) -> int:
    """Kill one worker after the other at random moments while the process runs; return how many were killed."""
    killed = 0
    while killed < most and process.poll() is None:
        time.sleep(chance.expovariate(1 / MEAN_WAIT))
        if workers := _children(process.pid):
            with suppress(ProcessLookupError):  # it has ended by itself
                os.kill(chance.choice(workers), signal.SIGKILL)
                killed += 1
    return killed


def _children(parent: int) -> list[int]:
    try:
        text = Path(f"/proc/{parent}/task/{parent}/children").read_text()
    except OSError:  # it has ended
        return []
    return [int(number) for number in text.split()]
