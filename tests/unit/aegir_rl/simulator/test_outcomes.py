"""Outcomes of real attempts, kept and turned into arrays; tasks and solvers are made up (simulator_worlds.py)."""

import os
import signal
import sqlite3
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import pytest

from aegir_rl.base.errors import AegirError, UsageError
from aegir_rl.simulator.collecting import collect, require_complete
from aegir_rl.simulator.outcome_table import NOTHING, build_table
from aegir_rl.simulator.outcomes import (
    OutcomeCache,
    attempt_key,
    code_sha256,
    run_attempt,
    task_sha256,
)
from aegir_rl.simulator.sandbox import Execution
from simulator_worlds import Counting, Doubling, TrustingSandbox, a_task

TASKS = [a_task(number) for number in (2, 3, 7, 13)]
SOLVERS = [Counting(), Doubling()]


@pytest.fixture
def cache(tmp_path: Path):
    with OutcomeCache(tmp_path / "new" / "outcomes.db") as opened:
        yield opened


def test_an_attempt_runs_the_answer_on_public_and_hidden_cases():
    sandbox = TrustingSandbox()
    outcome = run_attempt(sandbox, a_task(7), Counting(), 1)
    assert outcome.source == "def solve(x):\n    return x + 7\n"
    assert (outcome.verified, outcome.right, outcome.hidden_total) == (True, True, 2)
    # numbers 0 to 7 on the public case, the answer on public and on hidden cases
    assert sandbox.runs == 10
    # 0.25 CPU seconds for each run but the hidden one
    assert outcome.cpu_seconds == pytest.approx(9 * 0.25, abs=0.1)


def test_an_answer_may_pass_the_public_cases_and_still_be_wrong():
    outcome = run_attempt(TrustingSandbox(), a_task(2), Doubling(), 1)
    assert (outcome.verified, outcome.right, outcome.hidden_passed) == (True, False, 0)


@pytest.mark.parametrize("run", [9, 10])
def test_an_answer_whose_run_did_not_finish_is_neither_verified_nor_right(run: int):
    """Run 9 is that on the public cases, run 10 that on the hidden ones."""

    class Lingering(TrustingSandbox):
        def run(self, program, limits=None) -> Execution:
            execution = super().run(program, limits)
            return replace(execution, ended="timeout") if self.runs == run else execution

    outcome = run_attempt(Lingering(), a_task(7), Counting(), 1)
    assert (outcome.verified, outcome.right) == (run == 10, run == 9)
    assert (outcome.public_passed, outcome.hidden_passed) == (1, 2)


def test_a_solver_without_an_answer_and_one_that_raises_have_outcomes_too():
    nothing = run_attempt(TrustingSandbox(), a_task(13), Counting(), 1)
    assert (nothing.source, nothing.ended) == (None, "no answer")
    assert nothing.feedback.failures == ("no answer",)
    raised = run_attempt(TrustingSandbox(), a_task(13), Doubling(), 1)
    assert (raised.ended, raised.feedback) == ("solver failed", None)
    assert "ValueError: thirteen" in raised.error


def test_feedback_tells_what_failed_and_not_how_long_it_took():
    first = run_attempt(TrustingSandbox(), a_task(3), Doubling(), 1)
    assert first.feedback is not None
    assert (first.feedback.passed, first.feedback.cpu_seconds) == (0, 0.0)
    again = run_attempt(TrustingSandbox(), a_task(3), Doubling(), 1, first.feedback)
    assert again.right
    assert again.key != first.key


def test_keys_change_with_everything_an_outcome_depends_on():
    first = run_attempt(TrustingSandbox(), a_task(3), Doubling(), 1)
    keys = {
        attempt_key(task_sha256(a_task(3)), Doubling(), 1),
        attempt_key(task_sha256(a_task(3)), Doubling(), 2),
        attempt_key(task_sha256(a_task(3)), Doubling("other"), 1),
        attempt_key(task_sha256(a_task(7)), Doubling(), 1),
        attempt_key(task_sha256(a_task(3)), Doubling(), 1, first.feedback),
    }
    assert len(keys) == 5
    assert first.key in keys
    assert first.solver_sha256 == code_sha256(Doubling())


def test_a_kept_outcome_comes_back_as_it_was(cache):
    outcome = run_attempt(TrustingSandbox(), a_task(3), Doubling(), 1)
    assert cache.get(outcome.key) is None
    cache.add(outcome)
    cache.add(outcome)
    assert (cache.get(outcome.key), len(cache)) == (outcome, 1)


def test_a_file_that_holds_no_outcomes_is_refused_in_one_sentence(tmp_path: Path):
    wrong = tmp_path / "text.db"
    wrong.write_text("this is no database, but long enough to be looked at " * 20)
    with pytest.raises(UsageError, match=r"text\.db cannot be used for outcomes"):
        OutcomeCache(wrong)
    with pytest.raises(UsageError, match="aegir sim collect"):
        OutcomeCache(tmp_path / "none.db", create=False)
    damaged = OutcomeCache(tmp_path / "damaged.db")
    with sqlite3.connect(tmp_path / "damaged.db") as database:
        database.execute("INSERT INTO outcomes VALUES ('k', 't', 's', '', 1, '{}')")
    with pytest.raises(UsageError, match="a record that is no outcome"):
        damaged.get("k")


def test_collecting_executes_what_is_missing_and_nothing_twice(cache):
    seen: list[tuple[int, int]] = []
    first = collect(
        cache, TASKS[:2], SOLVERS, TrustingSandbox, watch=lambda *counts: seen.append(counts)
    )
    # 2 tasks × 2 solvers × 3 efforts, and three retries of doubling on the second task
    assert (first.executed, first.known, len(cache)) == (15, 0, 15)
    assert seen[-1] == (15, 15)
    second = collect(cache, TASKS, SOLVERS, TrustingSandbox, workers=2)
    # 7 is not doubled, and counting at effort 1 does not reach 13
    assert (second.known, second.executed) == (15, 2 * 2 * 3 + 3 + 1)


def test_the_table_holds_what_was_executed(cache):
    collect(cache, TASKS, SOLVERS, TrustingSandbox)
    table = build_table(cache, TASKS, SOLVERS)
    assert table.actions[:4] == ("counting@1", "counting@2", "counting@3", "doubling@1")
    right = table.right[table.first]
    assert right.tolist() == [
        [True, True, True, False, False, False],  # 2: doubling passes the public case only
        [True, True, True, False, False, False],  # 3: doubling needs feedback
        [True, True, True, False, False, False],
        [False, True, True, False, False, False],  # 13 is beyond ten numbers, and raises
    ]
    again = table.retry[table.first[1, 3]]
    assert again != NOTHING
    assert table.right[again]
    assert table.retry[table.first[0, 0]] == NOTHING
    assert table.crashed[table.first[3]].tolist() == [False] * 3 + [True] * 3
    # the solvers state CPU seconds; 1 is 100 ms
    assert table.cost[table.first[0]] == pytest.approx([1, 2, 3, 0.1, 0.2, 0.3])
    assert all(cache.get(key) is not None for key in table.keys)
    part = table.select(np.array([False, True, False, True]))
    assert part.ids == ("adding-3", "adding-13")
    assert (part.first == table.first[[1, 3]]).all()


def test_a_table_with_missing_outcomes_is_refused(cache):
    collect(cache, TASKS[:1], SOLVERS, TrustingSandbox)
    with pytest.raises(UsageError, match="lacks 18 of 24 outcomes, such as counting@1 on adding-3"):
        build_table(cache, TASKS, SOLVERS)


@dataclass(frozen=True, slots=True)
class Dying(Counting):
    """Kills its process on one task."""

    name: str = "dying"
    victim: str = "Add 3 to the argument."
    costs: dict = field(default_factory=lambda: {1: 0.0, 2: 0.0, 3: 0.0})

    def propose(self, task, effort, run, feedback):
        if task.statement == self.victim:
            os.kill(os.getpid(), signal.SIGKILL)


def test_a_worker_that_dies_twice_over_an_attempt_costs_that_attempt_only(cache):
    collected = collect(cache, TASKS[:2], [Dying()], TrustingSandbox, retries=0)
    assert collected.lost == [f"dying@{effort} on adding-3" for effort in (1, 2, 3)]
    assert collected.executed == len(cache) == 3
    with pytest.raises(AegirError, match="died twice over 3 attempts"):
        require_complete(collected)
