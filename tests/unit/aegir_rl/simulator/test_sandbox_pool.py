"""Workers with sandboxes: one that is signalled while it closes ends in its own process."""

import os
import signal
from pathlib import Path

from aegir_rl.simulator.sandbox.program import Execution, Limits, Program, Sandbox
from aegir_rl.simulator.sandbox_pool import open_sandbox_pool


class SignalledWhileClosing(Sandbox):
    """A sandbox whose closing is interrupted by SIGTERM, as when a parent closes a worker at once."""

    def run(self, program: Program, limits: Limits | None = None) -> Execution:
        raise AssertionError("no program is run")

    def close(self) -> None:
        os.kill(os.getpid(), signal.SIGTERM)
        signal.pause()  # the handler runs before this


def test_a_signal_while_its_sandbox_closes_does_not_bring_a_worker_back_to_its_parent():
    here = os.getpid()
    try:
        with open_sandbox_pool(lambda item, _: {"item": item}, SignalledWhileClosing, 1) as pool:
            assert list(pool.map([3])) == [(0, {"item": 3})]
            (pid,) = pool.pids
        assert not Path(f"/proc/{pid}").exists()
    finally:
        if os.getpid() != here:  # the child: no other test may run in it
            os._exit(1)
