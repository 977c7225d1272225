"""What a meter reads from a /proc: made-up folders for what a kernel rarely shows."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from aegir_rl.simulator.sandbox.watch import PATIENCE, ProcessMeter

TICKS = os.sysconf("SC_CLK_TCK")


@pytest.fixture
def proc(tmp_path: Path) -> Iterator[int]:
    handle = os.open(tmp_path, os.O_RDONLY)
    yield handle
    os.close(handle)


def write_stat(
    folder: Path, state: str, ticks: int = 0, waited_for: int = 0, start: int = 1
) -> None:
    """The name of a process may hold brackets and spaces."""
    folder.mkdir(parents=True, exist_ok=True)
    times = f"{ticks} 0 {waited_for} 0"
    zeros = " ".join("0" * 10)
    text = f"1 (a) b (c) {state} {zeros} {times} 0 0 0 0 {start} 0\n"
    (folder / "stat").write_text(text)


def write_share(folder: Path, kilobytes: int) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "smaps_rollup").write_text(f"0-1 ---p [rollup]\nRss: 9 kB\nPss: {kilobytes} kB\n")


def test_a_process_is_read_through_a_thread_that_lives(tmp_path: Path, proc: int):
    write_stat(tmp_path / "7", "Z")
    write_stat(tmp_path / "7/task/7", "Z")
    write_stat(tmp_path / "7/task/8", "S")
    write_share(tmp_path / "7/task/8", 3)
    assert ProcessMeter(proc).measure().memory_bytes == 3 << 10
    assert ProcessMeter(proc, frozenset({"7"})).measure().memory_bytes == 0


def test_a_process_that_has_ended_and_waits_for_its_parent_has_no_memory(tmp_path: Path, proc: int):
    write_stat(tmp_path / "7", "Z")
    write_stat(tmp_path / "7/task/7", "Z")
    meter = ProcessMeter(proc)
    assert {meter.measure().memory_bytes for _ in range(PATIENCE + 2)} == {0}


@pytest.mark.parametrize("hidden", ["smaps_rollup", "stat"])
def test_a_living_process_that_cannot_be_read_counts_as_too_much_after_a_while(
    tmp_path: Path, proc: int, hidden: str
):
    write_stat(tmp_path / "7", "R")
    write_stat(tmp_path / "7/task/7", "R")
    write_share(tmp_path / "7", 5)
    meter = ProcessMeter(proc)
    assert meter.measure().memory_bytes == 5 << 10
    (tmp_path / "7" / hidden).unlink()
    (tmp_path / "7" / hidden).mkdir()  # a folder: it is there and cannot be read
    seen = [meter.measure().memory_bytes for _ in range(PATIENCE + 1)]
    assert seen == [5 << 10 if hidden == "smaps_rollup" else 0] * PATIENCE + [sys.maxsize]


def test_the_cpu_time_of_a_process_that_was_seen_is_not_forgotten(tmp_path: Path, proc: int):
    meter = ProcessMeter(proc)
    write_stat(tmp_path / "7", "R", ticks=2 * TICKS)
    write_stat(tmp_path / "8", "R", ticks=TICKS)
    assert meter.measure().cpu_seconds == 3
    (tmp_path / "7/stat").unlink()
    assert meter.measure().cpu_seconds == 3  # nobody waited for 7
    write_stat(tmp_path / "8", "R", ticks=TICKS, waited_for=2 * TICKS + 5 * TICKS)
    assert meter.measure().cpu_seconds == 8  # 8 waited for it, and for another that was never seen
    write_stat(tmp_path / "7", "R", ticks=TICKS, start=2)  # a new process of the same number
    assert meter.measure().cpu_seconds == 9
