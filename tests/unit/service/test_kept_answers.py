"""Answers that are kept for a while: within bounds, the newest ones."""

import pytest

from aegir.service.kept_answers import MOST_RUNS, KeptAnswers
from aegir.service.limits import Refused


def kept_runs(kept: KeptAnswers, names: list[str]) -> list[str]:
    found = []
    for name in names:
        try:
            found.append(kept.page(name)["run"])
        except Refused:
            continue
    return found


def test_the_oldest_runs_make_room_for_new_ones():
    kept = KeptAnswers(most_bytes=100)
    for name in "abcd":
        kept.keep(name, "now", ["x" * 28])  # 30 bytes as JSON
    assert kept_runs(kept, list("abcd")) == ["b", "c", "d"]


def test_only_so_many_runs_are_kept():
    kept = KeptAnswers()
    names = [str(number) for number in range(MOST_RUNS + 5)]
    for name in names:
        kept.keep(name, "now", [])
    assert kept_runs(kept, names) == names[5:]


def test_a_run_that_is_too_large_alone_is_not_kept_and_costs_no_other():
    kept = KeptAnswers(most_bytes=100)
    kept.keep("small", "now", ["x"])
    kept.keep("large", "now", ["x" * 200])
    assert kept_runs(kept, ["small", "large"]) == ["small"]


def test_an_offset_behind_the_end_gives_an_empty_page():
    kept = KeptAnswers()
    kept.keep("a", "now", ["x", "y"])
    page = kept.page("a", [("offset", "5")])
    assert (page["tables"], page["next"], page["total"]) == ([], None, 2)
    with pytest.raises(Refused, match="no run 'b'"):
        kept.page("b")
