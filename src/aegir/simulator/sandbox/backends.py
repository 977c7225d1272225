"""Open a sandbox by the name of its backend."""

from aegir.simulator.sandbox.bubblewrap import BubblewrapSandbox
from aegir.simulator.sandbox.program import Sandbox


def open_sandbox(backend: str = "local", cold: bool = False) -> Sandbox:
    return BubblewrapSandbox(cold=cold)
