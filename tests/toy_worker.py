"""A worker for tests: says who it is, counts, prints, dies or takes forever, as its requests ask."""

import json
import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from aegir_rl.processes.pool import answer_items
from aegir_rl.processes.worker import Answer


@contextmanager
def open_toy() -> Iterator[Answer]:
    left = ""
    try:

        def work(items: list[Any]) -> Iterator[tuple[int, Any]]:
            nonlocal left
            for index, item in enumerate(items):
                if isinstance(item, dict) and "leave" in item:
                    left = item["leave"]
                for outcome in do(item):
                    yield index, outcome

        yield answer_items(work)
    finally:
        if left:
            Path(left).write_text("closed")


def do(item: Any) -> Iterator[Any]:
    """One outcome per unit of a number; else what the dictionary asks for."""
    if isinstance(item, int):
        yield from (item * 10 + part for part in range(item % 3))
        return
    if "pid" in item:
        yield os.getpid()
    if "many" in item:
        yield from range(item["many"])
    if "print" in item:
        os.write(1, b"noise\n")
        yield "printed"
    if "die" in item and has_bullet(Path(item["die"])):
        os.kill(os.getpid(), signal.SIGKILL)
    if "exit" in item:
        os._exit(item["exit"])
    if "raise" in item:
        raise RuntimeError(item["raise"])
    if "sleep" in item:
        time.sleep(item["sleep"])
    if "say" in item:
        yield item["say"]


def has_bullet(bullets: Path) -> bool:
    left = json.loads(bullets.read_text())
    bullets.write_text(json.dumps(max(left - 1, 0)))
    return left > 0
