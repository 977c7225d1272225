"""The ordered pool: outcomes in order and complete, whoever dies, and nothing left behind."""

import json
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from pathlib import Path

import pytest

from aegir_rl.base.errors import UsageError
from aegir_rl.processes import pool as pools
from aegir_rl.processes.plain import error_as_plain
from aegir_rl.processes.pool import ERROR, Lost, Pool, answer_items
from aegir_rl.processes.worker import Worker, fork_worker

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="workers are forked on Linux only")
Start = Callable[[], Worker]
Running = Callable[[int], bool]


def expected(count: int) -> list[tuple[int, int]]:
    """Item n has n % 3 outcomes."""
    return [(item, item * 10 + part) for item in range(count) for part in range(item % 3)]


def bullets(folder: Path, count: int) -> str:
    path = folder / "bullets"
    path.write_text(json.dumps(count))
    return str(path)


@pytest.mark.parametrize("workers", [1, 2, 3])
@pytest.mark.parametrize("batch", [1, 4])
def test_outcomes_come_in_the_order_of_the_items(start: Start, workers: int, batch: int):
    with Pool(start, workers) as pool:
        assert list(pool.map(range(20), batch=batch)) == expected(20)
        assert list(pool.map([], batch=batch)) == []
        assert sorted(pool.map(range(7), ordered=False)) == expected(7)  # the same workers


def test_outcomes_come_as_they_are_ready_if_their_order_does_not_matter(start: Start):
    with Pool(start, 2) as pool:
        slow, *quick = {"sleep": 0.5, "say": "slow"}, *({"say": n} for n in range(5))
        outcomes = [outcome for _, outcome in pool.map([slow, *quick], ordered=False)]
    assert outcomes[-1] == "slow"
    assert sorted(outcomes[:-1]) == list(range(5))


def test_an_item_whose_worker_is_killed_is_tried_again_and_nothing_is_answered_twice(
    start: Start, tmp_path: Path
):
    deadly = {"many": 5, "die": bullets(tmp_path, 1), "say": "survived"}
    with Pool(start, 2) as pool:
        outcomes = list(pool.map([{"say": "a"}, deadly, {"say": "b"}], batch=3))
    assert outcomes == [(0, "a"), *((1, n) for n in range(5)), (1, "survived"), (2, "b")]


@pytest.mark.parametrize("tries", [1, 2, 3])
def test_an_item_that_kills_its_workers_is_lost_and_the_others_are_answered(
    start: Start, tmp_path: Path, tries: int
):
    deadly = {"die": bullets(tmp_path, 99), "many": 0}
    with Pool(start, 2, tries=tries) as pool:
        outcomes = list(pool.map([1, deadly, 2]))
    assert outcomes == [(0, 10), (1, Lost(deadly, "SIGKILL")), (2, 20), (2, 21)]
    assert json.loads(Path(deadly["die"]).read_text()) == 99 - tries


def test_how_the_last_worker_ended_is_told(start: Start):
    with Pool(start, 1) as pool:
        assert list(pool.map([{"exit": 3}])) == [(0, Lost({"exit": 3}, "exit code 3"))]


def test_workers_killed_from_outside_cost_no_outcome(start: Start):
    outcomes = []
    with Pool(start, 3, tries=9) as pool:
        for number, outcome in enumerate(pool.map(range(60), batch=2)):
            outcomes.append(outcome)
            if number in (0, 20, 40) and pool.pids:
                os.kill(pool.pids[0], signal.SIGKILL)
    assert outcomes == expected(60)


def test_items_are_taken_as_they_are_needed(start: Start):
    taken: list[int] = []

    def coming() -> Iterator[object]:
        for number in range(500):
            taken.append(number)
            yield {"say": number}

    with Pool(start, 2) as pool:
        outcomes = pool.map(coming(), batch=2)
        assert next(outcomes) == (0, 0)
        # 32 items per worker may be begun ahead of the first, and a batch more each
        assert len(taken) <= 2 * (pools.ITEMS_AHEAD + 2)
        assert [outcome for _, outcome in outcomes] == list(range(1, 500))


def test_a_worker_far_ahead_waits_for_its_turn(monkeypatch: pytest.MonkeyPatch, start: Start):
    monkeypatch.setattr(pools, "OUTCOMES_AHEAD", 10)
    with Pool(start, 2) as pool:
        outcomes = pool.map([{"sleep": 1.0, "say": "first"}, {"many": 20_000}])
        assert next(outcomes) == (0, "first")
        waiting = sum(len(item.outcomes) for item in pool._turns)
        assert waiting < 10_000  # what one read brings, not all of them
        assert [outcome for _, outcome in outcomes] == list(range(20_000))


def test_nothing_is_left_when_nobody_waits_for_the_outcomes(start: Start, running: Running):
    pool = Pool(start, 2)
    with pool:
        pids = pool.pids
        outcomes = pool.map([{"say": 1}, {"sleep": 60}, {"sleep": 60}])
        assert next(outcomes) == (0, 1)
    assert not any(map(running, pids))


def test_a_call_that_is_left_early_does_not_disturb_the_next(start: Start):
    with Pool(start, 2) as pool:
        outcomes = pool.map(range(100), batch=4)
        assert next(outcomes) == (1, 10)
        outcomes.close()
        assert list(pool.map(range(10))) == expected(10)


@pytest.mark.parametrize("kind", [KeyboardInterrupt, RuntimeError])
def test_an_interrupt_ends_workers_at_once(
    start: Start, running: Running, kind: type[BaseException]
):
    pids: list[int] = []
    before = time.monotonic()

    def interrupted() -> None:
        with Pool(start, 2) as pool:
            pids.extend(pool.pids)
            for _ in pool.map([{"say": 1}, {"sleep": 60}]):
                raise kind

    with pytest.raises(kind):
        interrupted()
    assert not any(map(running, pids))
    assert time.monotonic() - before < 10


def test_an_error_that_a_worker_reports_is_raised():
    def work(_items: list[object]) -> Iterator[tuple[None, list[str]]]:
        yield ERROR, error_as_plain(UsageError("not like this"))

    start = lambda: fork_worker(lambda: nullcontext(answer_items(work)))  # noqa: E731
    with pytest.raises(UsageError, match="not like this"), Pool(start, 2) as pool:
        list(pool.map([1]))


def test_a_pool_goes_on_with_the_workers_that_can_be_had(
    start: Start, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(pools, "SECONDS_BETWEEN_STARTS", 0.01)
    asked = iter([False, True, *[False] * 9, True, *[False] * 1000])
    with Pool(lambda: start() if next(asked) else None, 4) as pool:
        assert pool.pids == []
        assert list(pool.map(range(10))) == expected(10)
        assert 1 <= len(pool.pids) <= 2


def test_a_pool_of_none_has_no_outcomes(start: Start):
    with Pool(start, 0) as pool:
        assert list(pool.map([])) == []
