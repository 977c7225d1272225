"""A process that appends to a store without end and says which rows were acknowledged; tests kill it.

python store_writer.py STORE WRITER-NAME
"""

import sys
from itertools import count

from aegir.episode import Decision, Episode
from aegir.offline.store import DecisionStore


def episode(id: str) -> Episode:
    """An episode whose content follows from its id, large enough to fill several pages of a file."""
    decision = Decision(
        action={"worker": "ngrams"}, propensity=0.5, features={"length": 1.0}, reason=id * 200
    )
    return Episode(id=id, decisions=(decision,), source="synthetic", rewards={"accuracy": 1.0})


if __name__ == "__main__":
    with DecisionStore.open(sys.argv[1]) as store:
        for number in count():
            ids = store.append([episode(f"{sys.argv[2]}-{number}-{part}") for part in range(3)])
            print(*ids, sep="\n", flush=True)
