"""Made-up tables are the same in every process: Python's hash seed, which differs, must not show."""

import os
import subprocess
import sys

SCRIPT = """
import hashlib
from aegir.lab.data.generators.tables import synthetic_tables
tables = synthetic_tables(400, 0)
cells = [[(c.name, c.values) for c in t.labelled.table.columns] for t in tables]
print(hashlib.blake2b(repr(cells).encode()).hexdigest())
"""


def tables_under(hash_seed: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        env=os.environ | {"PYTHONHASHSEED": hash_seed},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


def test_made_up_tables_do_not_depend_on_the_hash_seed():
    assert tables_under("1") == tables_under("2")
