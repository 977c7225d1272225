"""Reviewers that are killed at random moments: does a memory lose a review that it has acknowledged?

As a program (`python killed_reviewers.py STORE NAME`) it records reviews without end and prints the ids that were
acknowledged; `kill_writers` (killed_writers.py) starts such programs and ends each with SIGKILL.
"""

import sys

from aegir.memory.store import ReviewStore
from aegir.tables.table import Column, Table

TABLE = Table("made-up.csv", (Column("flag", ("yes", "no") * 20), Column("note", ("x",) * 40)))


def count_lost(address: str, acknowledged: set[str]) -> int:
    """Return how many acknowledged reviews are not in the store; a damaged one raises."""
    with ReviewStore.open(address) as store:
        return len(acknowledged - {review.id for review in store.read()})


if __name__ == "__main__":
    with ReviewStore.open(sys.argv[1]) as reviews:
        while True:
            review = reviews.record(TABLE, 0, "boolean_flag", answer=None, by=sys.argv[2])
            print(review.id, flush=True)
