"""Worker processes that have a sandbox of their own each.

    with open_sandbox_pool(work, open_sandbox, workers=4) as pool:
        for index, result in pool.map(items, ordered=False):      # as they are ready
            ...

`work` is called in a worker with an item, as JSON holds it, and the worker's sandbox; it returns a dataclass or plain values. A
sandbox is closed when its worker ends; if the worker is killed, the kernel ends the sandbox.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from aegir_rl.processes.pool import Pool, answer_items
from aegir_rl.processes.worker import Answer, fork_worker
from aegir_rl.simulator.sandbox.program import Sandbox

OpenSandbox = Callable[[], Sandbox]


def open_sandbox_pool(
    work: Callable[[Any, Sandbox], object], open_sandbox: OpenSandbox, workers: int
) -> Pool:
    """Return a pool whose workers do `work`; an item over which two of them died is `Lost`."""

    @contextmanager
    def open_() -> Iterator[Answer]:
        sandbox = open_sandbox()
        try:
            yield answer_items(
                lambda items: ((index, work(item, sandbox)) for index, item in enumerate(items))
            )
        finally:
            with suppress(Exception):
                sandbox.close()

    return Pool(lambda: fork_worker(open_), workers)
