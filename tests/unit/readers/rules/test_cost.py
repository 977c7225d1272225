"""What the rules cost: little at import, little per column, nothing for libraries a column does not need."""

import subprocess
import sys
import time

from aegir.readers.rules.judge import judge
from aegir.tables.table import Column

COLUMNS = [
    Column(None, ("17", "23", "42", "108", "5")),
    Column(None, ("Harbour House", "Old Mill", "The Blue Whale", "Anna's", "Seven Stones")),
    Column(None, ("2021-03-07", "2021-03-08", "2021-03-09", "2021-03-10", "2021-03-11")),
    Column("price", ("19.90", "5.00", "7.25", "100.00", "3.10")),
    Column(None, ("https://example.org/a",) * 5),
    Column(None, ("A quiet house with a view of the old harbour and its boats.",) * 5),
]


def test_importing_the_judge_loads_no_validator_library() -> None:
    code = (
        "import sys, aegir.readers.rules.judge;"
        "print([m for m in ('phonenumbers', 'stdnum', 'numpy', 'zoneinfo') if m in sys.modules])"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"


def test_a_five_value_column_takes_a_fraction_of_a_millisecond() -> None:
    """Measured 0.2 ms; the bound is five times that, so that a busy machine does not fail it."""
    for column in COLUMNS:
        judge(column)
    started = time.process_time()
    for _ in range(50):
        for column in COLUMNS:
            judge(column)
    assert (time.process_time() - started) / (50 * len(COLUMNS)) < 0.001


def test_a_hundred_value_column_takes_a_few_milliseconds() -> None:
    """Measured 0.9 ms on tables of all kinds; prose, the dearest kind, 1.5 ms."""
    prose = Column(
        None, tuple(f"{n} " + "quiet boats in the old harbour, " * 15 for n in range(100))
    )
    judge(prose)
    started = time.process_time()
    for _ in range(5):
        judge(prose)
    assert (time.process_time() - started) / 5 < 0.01
