"""A forked worker ends in its own process, whatever happens while it closes."""

import os
import signal

import pytest

from aegir_rl.simulator.sandbox.program import Execution, Limits, Program, Sandbox
from aegir_rl.simulator.worker import Worker


class SignalledWhileClosing(Sandbox):
    """A sandbox whose closing is interrupted by SIGTERM, as when a parent closes a worker at once."""

    def run(self, program: Program, limits: Limits | None = None) -> Execution:
        raise AssertionError("no program is run")

    def close(self) -> None:
        os.kill(os.getpid(), signal.SIGTERM)
        signal.pause()  # the handler runs before this


def test_a_signal_while_its_sandbox_closes_does_not_bring_a_worker_back_to_its_parent():
    here = os.getpid()
    worker = Worker(lambda task, _: {"task": task}, SignalledWhileClosing)
    try:
        worker.send(3)
        assert worker.receive() == {"task": 3}
        assert worker.close() == 0
    finally:
        if os.getpid() != here:  # the child: no other test may run in it
            os._exit(1)


@pytest.mark.parametrize("at_once", [False, True])
def test_a_worker_that_has_nothing_to_do_ends_when_it_is_closed(at_once: bool):
    class Quiet(SignalledWhileClosing):
        def close(self) -> None:
            pass

    worker = Worker(lambda task, _: {"task": task}, Quiet)
    worker.send(1)
    assert worker.receive() == {"task": 1}
    assert worker.close(at_once=at_once) in (0, 1)
