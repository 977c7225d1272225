"""The examples of docs/rewards.md give the answers the page shows."""

import doctest
from pathlib import Path

PAGE = Path(__file__).parents[4] / "docs" / "rewards.md"


def test_every_example_of_the_page_runs_as_shown():
    found = doctest.testfile(str(PAGE), module_relative=False, encoding="utf-8")
    assert found.attempted >= 20
    assert found.failed == 0
