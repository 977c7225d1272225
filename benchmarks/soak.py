"""Does the memory of `aegir serve` stay flat over ten minutes of mixed requests?

Two clients, each with one request at a time and a pause after it: one sends CSV files, corrections and questions about
the service, the other hostile uploads (service_process.py). 300 times the memory of the service and of each
process below it is read, shared pages counted in parts. The memory at a minute is the median of the half minute before.
"""

import json
import random
import statistics
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from aegir_rl.base.seeding import Seeds
from benchmarks.measuring import Runs
from benchmarks.options import Options
from benchmarks.result import Measurement, Ratio, Result, at_most
from benchmarks.service_process import Service, attack, form, running
from benchmarks.synthetic_tables import csv_text

QUESTION = "memory of the service after 10 minutes of mixed requests beside that after one"
SECONDS, QUICK_SECONDS = 600, 20
MOMENTS = (0.1, 0.5, 1.0)
"""Shares of the time at which memory is stated: minutes 1, 5 and 10."""
WINDOW = 0.05
LOOKS, PAUSE = 300, 0.1
"""Looks at the memory, and seconds between two requests of a client."""
GROWTH_TARGET = 1.1
TABLES = 20
EXPECTED = ("answered", "refused", "cut off")


@dataclass(frozen=True, slots=True)
class Memory:
    """Megabytes at a moment."""

    seconds: float
    service: float
    workers: float

    @property
    def total(self) -> float:
        return self.service + self.workers


def run(options: Options) -> Result:
    """Send requests for ten minutes and look at the memory meanwhile."""
    seconds = QUICK_SECONDS if options.quick else SECONDS
    draw = random.Random(Seeds(options.seed).derive("soak"))
    tables = [csv_text(10, 100, draw).encode() for _ in range(TABLES)]
    with (
        tempfile.TemporaryDirectory() as name,
        running(Path(name, "home")) as service,
        ThreadPoolExecutor(2) as clients,
    ):
        end = time.monotonic() + seconds
        people = clients.submit(_use, service, tables, end)
        attacker = clients.submit(attack, service, _until(end), options.seed)
        looks = list(_look(service, end, seconds / LOOKS))
        outcomes = people.result() | attacker.result()
    return _result(seconds, looks, outcomes)


def _result(seconds: float, looks: Sequence[Memory], outcomes: dict[str, int]) -> Result:
    totals, *parts = (
        [_at(share, seconds, looks, part) for share in MOMENTS]
        for part in ("total", "service", "workers")
    )
    grown = Measurement("memory at the end beside a tenth", "times", Runs((totals[-1].value / totals[0].value,)))  # fmt: skip
    bad = sum(number for name, number in outcomes.items() if name.split(": ")[-1] not in EXPECTED)
    wrong = Measurement("requests with another end than an answer or a sentence", "requests", Runs((float(bad),)))  # fmt: skip
    sent = Measurement("requests", "requests", Runs((float(sum(outcomes.values())),)))
    return Result(
        benchmark="soak",
        question=QUESTION,
        data=f"{seconds} seconds of synthetic CSV files, corrections, questions and hostile uploads",
        measurements=(sent, *totals, *parts[0], *parts[1], grown, wrong),
        ratios=(Ratio(totals[-1], totals[0]),),
        targets=(at_most(grown, GROWTH_TARGET), at_most(wrong, 0)),
        settings={"outcomes": outcomes, "looks": [[round(one.seconds), round(one.service, 1), round(one.workers, 1)] for one in looks]},
    )  # fmt: skip


def _at(share: float, seconds: float, looks: Sequence[Memory], part: str) -> Measurement:
    """The median of the looks in the window that ends at this share of the time."""
    window = (share - WINDOW, share)
    inside = [
        getattr(one, part) for one in looks if window[0] <= one.seconds / seconds <= window[1]
    ]
    name = f"memory at minute {share * seconds / 60:.3g}, {part}"
    return Measurement(name, "MB", Runs((statistics.median(inside),)))


def _look(service: Service, end: float, every: float) -> Iterator[Memory]:
    started = time.monotonic()
    while time.monotonic() < end:
        time.sleep(every)
        sizes = service.megabytes_by_process()
        own = sizes.pop(service.process.pid, 0.0)
        yield Memory(min(time.monotonic(), end) - started, own, sum(sizes.values()))


def _until(end: float) -> Iterator[int]:
    """Numbers with a pause between them, as long as there is time."""
    for number in count():
        if time.monotonic() >= end:
            return
        yield number
        time.sleep(PAUSE)


def _use(service: Service, tables: Sequence[bytes], end: float) -> dict[str, int]:
    """Send what people send; count by kind and by whether it was answered."""
    outcomes: dict[str, int] = {}
    for number in _until(end):
        name = f"table-{number % len(tables)}.csv"
        content = tables[number % len(tables)]
        kind = ("annotate", "annotate", "annotate", "ask", "correct")[number % 5]
        if kind == "annotate":
            status, _ = service.ask("/annotate", form(name, content))
        elif kind == "ask":
            path = ("/health", "/status", "/metrics", "/types", "/")[number // 5 % 5]
            status, _ = service.ask(path, method="GET")
        else:
            corrections = json.dumps([{"table": name, "column": 0, "label": "city"}])
            body = form(name, content, corrections=corrections, by="benchmark")
            status, _ = service.ask("/feedback", body)
        outcome = f"{kind}: {'answered' if status == 200 else f'status {status}'}"
        outcomes[outcome] = outcomes.get(outcome, 0) + 1
    return outcomes
