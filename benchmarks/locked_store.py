"""Writers of a decision store while another program holds its write lock: do they wait, or say so, and lose nothing?

This process holds the lock, and `aegir annotate TABLE --log-decisions STORE` is started twice at once. If the lock is
released after some seconds, both must wait and store their rows. If it is held until they end, both must end with one
sentence and no row.
"""

import random
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from aegir_rl.base.seeding import Seeds
from aegir_rl.offline.store import DecisionStore
from benchmarks.measuring import Runs
from benchmarks.options import Options
from benchmarks.result import Measurement, Result, at_most
from benchmarks.synthetic_tables import csv_text

QUESTION = "writers of a locked store that neither wait nor say so, and rows lost"
HOLDS = (2.0, 4.0, 6.0, 8.0, None)
"""Seconds that the lock is held; None: until the writers have ended, which wait for ten seconds."""
WRITERS, COLUMNS, ROWS = 2, 6, 20
SENTENCE = "has been locked by another program"


def run(options: Options) -> Result:
    """Start writers under each lock; count how they end and what the store holds afterwards."""
    holds = (1.0, None) if options.quick else HOLDS
    draw = random.Random(Seeds(options.seed).derive("locked_store"))
    stored = refused = wrong = 0
    with tempfile.TemporaryDirectory() as name:
        table, store = Path(name, "one.csv"), Path(name, "decisions.db")
        table.write_text(csv_text(COLUMNS, ROWS, draw), encoding="utf-8")
        each = _annotate(table, store)
        each.communicate()
        expected = rows = _rows(store)
        for hold in holds:
            for code, said in _write_under_lock(table, store, hold):
                if code == 0:
                    stored, expected = stored + 1, expected + rows
                elif code in (1, 2) and SENTENCE in said and len(said.strip().splitlines()) == 1:
                    refused += 1
                else:
                    wrong += 1
                    print(f"held for {hold}: exit code {code}: {said}", file=sys.stderr)
        lost = abs(expected - _rows(store))
    one = _count("writers with another end", "writers", wrong)
    gone = _count("rows lost or stored by a refused writer", "rows", lost)
    return Result(
        benchmark="locked_store",
        question=QUESTION,
        data=f"a synthetic CSV file of {COLUMNS} columns, {WRITERS} writers at once under {len(holds)} locks",
        measurements=(
            _count("waited and stored", "writers", stored),
            _count("refused with a sentence", "writers", refused),
            one,
            gone,
        ),
        ratios=(),
        targets=(at_most(one, 0), at_most(gone, 0)),
        settings={"held for seconds": list(holds), "rows of a writer": rows},
    )


def _write_under_lock(table: Path, store: Path, hold: float | None) -> Sequence[tuple[int, str]]:
    """Hold the lock for so long, with writers waiting; return their exit codes and what they said."""
    with closing(sqlite3.connect(store, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        writers = [_annotate(table, store) for _ in range(WRITERS)]
        if hold is not None:
            time.sleep(hold)
            other.execute("ROLLBACK")
        return [(writer.wait(), writer.communicate()[1]) for writer in writers]


def _annotate(table: Path, store: Path) -> "subprocess.Popen[str]":
    command = [sys.executable, "-m", "aegir", "annotate", str(table), "--json"]
    return subprocess.Popen(
        [*command, "--log-decisions", str(store)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )


def _rows(store: Path) -> int:
    with DecisionStore.open(store) as opened:
        return sum(1 for _ in opened.read())


def _count(name: str, unit: str, count: int) -> Measurement:
    return Measurement(name, unit, Runs((float(count),)))
