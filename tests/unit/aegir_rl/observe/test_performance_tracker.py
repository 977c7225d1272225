"""The tracker in threads, processes, coroutines and contexts; what fails is counted, what is nonsense refused."""

import asyncio
import json
import os
import pickle
import threading
import time

import pytest

from aegir_rl.base.errors import UsageError
from aegir_rl.observe.performance_tracker import FOLD_AT, APIPerformanceTracker


def only(tracker):
    (figures,) = tracker.figures()
    return figures


def test_a_record_counts_items_calls_and_time():
    tracker = APIPerformanceTracker()
    for seconds in (0.1, 0.2, 0.3):
        tracker.record("router", "forward", seconds, items=4)
    figures = only(tracker)
    assert (figures.node, figures.operation, figures.calls) == ("router", "forward", 3)
    assert figures.items == 12
    assert figures.items_per_busy_second == pytest.approx(12 / 0.6)
    assert figures.mean == pytest.approx(0.2)
    assert figures.p50 == pytest.approx(0.2, rel=0.01)
    assert figures.slowest == 0.3


def test_throughput_is_items_over_the_time_from_first_start_to_last_end(monkeypatch):
    now = [100.0]
    monkeypatch.setattr("aegir_rl.observe.performance_tracker.perf_counter", lambda: now[0])
    tracker = APIPerformanceTracker()
    for end, seconds in ((101.0, 0.5), (104.0, 1.0), (110.5, 0.1)):
        now[0] = end
        tracker.record("a", "b", seconds, items=20)
    assert only(tracker).items_per_second == pytest.approx(60 / (110.5 - 100.5))


def test_more_records_than_fit_the_waiting_list_are_all_counted():
    tracker = APIPerformanceTracker()
    for _ in range(3 * FOLD_AT + 7):
        tracker.record("a", "b", 0.001)
    assert len(tracker._meters[("a", "b")].pending) == 7
    assert only(tracker).calls == 3 * FOLD_AT + 7


def test_a_context_measures_and_its_items_may_be_set_inside():
    tracker = APIPerformanceTracker()
    with tracker.measure("reader", "batch") as measuring:
        time.sleep(0.02)
        measuring.items = 5
    assert only(tracker).items == 5
    assert 0.02 <= only(tracker).p99 < 2


def test_a_call_that_raises_counts_as_error_and_as_waiting_but_delivers_nothing():
    tracker = APIPerformanceTracker()
    with pytest.raises(KeyError), tracker.measure("a", "b", items=9):
        raise KeyError
    figures = only(tracker)
    assert (figures.calls, figures.errors, figures.items) == (1, 1, 0)


def test_functions_and_coroutines_are_timed_under_their_name():
    tracker = APIPerformanceTracker()

    @tracker.timed("judge")
    def plain(x):
        return x + 1

    @tracker.timed("judge", "slow", items=3)
    async def waiting():
        await asyncio.sleep(0.02)
        async with tracker.measure("judge", "inner"):
            pass
        return 7

    async def several():
        return await asyncio.gather(*(waiting() for _ in range(4)))

    assert plain(1) == 2
    assert asyncio.run(several()) == [7] * 4
    inner, slow, named = tracker.figures()
    assert "plain" in named.operation
    assert (slow.operation, slow.calls, slow.items) == ("slow", 4, 12)
    assert slow.p50 >= 0.0198
    assert inner.calls == 4
    assert plain.__name__ == "plain"


def test_a_generator_is_refused_because_calling_it_does_nothing_yet():
    with pytest.raises(UsageError, match="is a generator"):

        @APIPerformanceTracker().timed("a")
        def numbers():
            yield 1


def test_threads_lose_nothing():
    tracker = APIPerformanceTracker()

    def work():
        for _ in range(5000):
            tracker.record("a", "b", 0.001, items=2)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        tracker.figures()  # folding from another thread at the same time
    assert only(tracker).calls == 40_000
    assert only(tracker).items == 80_000


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
def test_a_forked_child_starts_empty_and_its_state_merges_back():
    tracker = APIPerformanceTracker()
    tracker.record("a", "b", 0.5)
    reading, writing = os.pipe()
    if os.fork() == 0:
        tracker.record("a", "b", 1.5, items=3)
        os.write(writing, json.dumps(tracker.state_dict()).encode())
        os._exit(0)
    os.wait()
    tracker.merge(json.loads(os.read(reading, 100_000)))
    figures = only(tracker)
    assert (figures.calls, figures.items) == (2, 4)
    assert figures.slowest == 1.5


def test_merging_in_any_order_gives_the_same_figures():
    parts = [APIPerformanceTracker() for _ in range(3)]
    for number, part in enumerate(parts):
        for step in range(50):
            part.record("a", f"op{number % 2}", 0.001 * (1 + step + number), items=number)
    forth, back = APIPerformanceTracker(), APIPerformanceTracker()
    for part in parts:
        forth.merge(part)
    for part in reversed(parts):
        back.merge(part.state_dict())
    for one, other in zip(forth.figures(), back.figures(), strict=True):
        assert one.p99 == other.p99
        assert one.items == other.items
        assert one.items_per_second == pytest.approx(other.items_per_second, rel=1e-6)


def test_what_is_no_measurement_is_refused_and_counted():
    tracker = APIPerformanceTracker()
    for seconds, items in (
        (float("nan"), 1),
        (-1.0, 1),
        (float("inf"), 1),
        (1.0, -1),
        (1.0, float("nan")),
    ):
        tracker.record("a", "b", seconds, items)
    figures = only(tracker)
    assert (figures.calls, figures.refused, figures.p99) == (0, 5, None)
    assert figures.items_per_second is None
    assert tracker.metrics() == {
        "performance/a/b/calls": 0,
        "performance/a/b/errors": 0,
        "performance/a/b/refused": 5,
    }


def test_names_without_end_do_not_eat_memory():
    tracker = APIPerformanceTracker(most_keys=3)
    for number in range(100):
        tracker.record("node", f"request-{number}", 0.001)
    assert [one.calls for one in tracker.figures() if one.node == "(other)"] == [97]
    assert len(tracker.figures()) == 4


def test_saved_and_restored_it_goes_on():
    tracker = APIPerformanceTracker()
    tracker.record("a", "b", 0.25, items=2)
    other = APIPerformanceTracker()
    other.record("old", "gone", 1.0)
    other.load_state_dict(json.loads(json.dumps(tracker.state_dict())))
    other.record("a", "b", 0.25, items=2)
    assert (only(other).calls, only(other).items) == (2, 4)


def test_trackers_of_different_error_do_not_mix():
    coarse = APIPerformanceTracker(relative_error=0.05)
    coarse.record("a", "b", 1.0)
    tracker = APIPerformanceTracker()
    with pytest.raises(UsageError, match=r"relative error 0.05 cannot be merged into one of 0.01"):
        tracker.merge(coarse)
    assert tracker.figures() == ()


def test_wrong_settings_are_refused_at_once():
    with pytest.raises(UsageError, match="most_keys is 0"):
        APIPerformanceTracker(most_keys=0)
    with pytest.raises(UsageError, match="relative_error is 2"):
        APIPerformanceTracker(relative_error=2)


@pytest.mark.parametrize("module", ["pickle", "cloudpickle"])
def test_a_pickled_tracker_is_a_complete_copy_that_goes_on_by_itself(module):
    dumps = pytest.importorskip(module, reason=f"{module} is not installed").dumps
    tracker = APIPerformanceTracker(relative_error=0.05, most_keys=1)
    tracker.record("router", "forward", 0.2, items=4)
    again = pickle.loads(dumps(tracker))
    assert again.metrics() == pytest.approx(tracker.metrics(), rel=1e-5)
    again.record("router", "forward", 0.2)
    again.record("judge", "score", 0.2)  # the limit of keys was copied too
    assert [one.calls for one in again.figures()] == [1, 2]
    assert only(tracker).calls == 1
