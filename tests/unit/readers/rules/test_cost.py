"""What the rules cost: little at import, little per column, nothing for libraries a column does not need."""

import subprocess
import sys
import time
from pathlib import Path

from aegir.readers.rules.column_summary import summarise_column
from aegir.readers.rules.judge import RULES, judge
from aegir.tables.table import Column

EXAMPLES = Path(__file__).parents[4] / "examples"
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


COUNT = """
import sys
from aegir.readers.rules import rule
count = 0
def counted(method):
    def wrapped(pattern, value):
        global count
        count += 1
        return method(pattern, value)
    return wrapped
for name in ("fullmatch", "search"):
    setattr(rule.Pattern, name, counted(getattr(rule.Pattern, name)))
from aegir.pipeline.run import find_places, read_source
from aegir.readers.rules.judge import judge
columns = [c for place in find_places(sys.argv[1]) for t in read_source(place, 200, 0) for c in getattr(t, "columns", ())]
for column in columns:
    judge(column)
print(count / len(columns))
"""
"""Counts the matches from the start: rules hold methods of patterns that are looked up when they are made."""


def test_a_column_of_the_examples_takes_80_matches_at_most() -> None:
    """Measured 79 on average, of 269 columns; calls are counted, which a busy machine does not change."""
    command = [sys.executable, "-c", COUNT, str(EXAMPLES)]
    out = subprocess.run(command, capture_output=True, text=True, check=True)
    assert 1 < float(out.stdout) <= 80


def test_a_family_holds_whatever_one_of_its_rules_accepts() -> None:
    valid = ("12345678Z", "529.982.247-25", "756.9217.0769.85", "HRB 12345")
    for value in valid:
        accepting = [rule for rule in RULES if rule.family and rule.accepts and rule.accepts(value)]
        assert accepting, value
        summary = summarise_column(Column(None, (value, value, "not a number of any state")))
        assert all(rule.family and rule.family.may_hold(summary) for rule in accepting)


def test_a_family_is_left_out_where_most_values_match_none_of_its_patterns() -> None:
    (family,) = {rule.family for rule in RULES if rule.family}
    assert not family.may_hold(summarise_column(Column(None, ("12345678Z", "a", "b"))))
    many = tuple(f"word {number}" for number in range(100))
    assert not family.may_hold(summarise_column(Column(None, many)))
