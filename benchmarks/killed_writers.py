"""Writers that are killed at random moments: does a decision store lose a row that it has acknowledged?

As a program (`python killed_writers.py STORE NAME`) it appends to a store without end, three rows at a time, and prints the ids
that were acknowledged; `kill_writers` starts such programs and ends each with SIGKILL.
"""

import os
import random
import signal
import subprocess
import sys
import time
from itertools import count

from aegir_rl.episode import Decision, Episode
from aegir_rl.offline.store import DecisionStore

ROWS_AT_ONCE = 3
LONGEST_WAIT = 0.03
"""Seconds between a writer's first acknowledgement and its end, at most; about ten appends."""


def written_episode(name: str) -> Episode:
    """An episode whose content follows from its id, large enough to fill several pages of a file."""
    decision = Decision(
        action={"worker": "ngrams"}, propensity=0.5, features={"length": 1.0}, reason=name * 200
    )
    return Episode(id=name, decisions=(decision,), source="synthetic", rewards={"accuracy": 1.0})


def kill_writers(
    address: str, kills: int, moments: random.Random, program: str = __file__
) -> set[str]:
    """Start writers one after the other, kill each at a random moment; return the ids they were given."""
    acknowledged: set[str] = set()
    for number in range(kills):
        writer = subprocess.Popen(
            [sys.executable, program, address, f"w{number}"], stdout=subprocess.PIPE, text=True
        )
        assert writer.stdout is not None
        first = writer.stdout.readline()
        time.sleep(moments.random() * LONGEST_WAIT)
        os.kill(writer.pid, signal.SIGKILL)
        lines = (first + writer.stdout.read()).split("\n")
        writer.stdout.close()
        writer.wait()
        acknowledged |= {line for line in lines[:-1] if line}  # the last line may be cut off
    return acknowledged


def count_faults(address: str, acknowledged: set[str]) -> int:
    """Acknowledged rows that are lost, rows with another content than was written, and torn transactions."""
    with DecisionStore.open(address) as store:
        found = {each.id: each for each in store.read()}
    torn = sum(each != written_episode(name) for name, each in found.items())
    return len(acknowledged - set(found)) + torn + len(found) % ROWS_AT_ONCE


if __name__ == "__main__":
    with DecisionStore.open(sys.argv[1]) as store:
        for number in count():
            names = [f"{sys.argv[2]}-{number}-{part}" for part in range(ROWS_AT_ONCE)]
            print(*store.append(map(written_episode, names)), sep="\n", flush=True)
