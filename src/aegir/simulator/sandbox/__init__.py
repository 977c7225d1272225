"""Sandboxes for untrusted Python: a program goes in, the values of its calls come out."""

from typing import TYPE_CHECKING

from aegir.lazy import lazy_names

if TYPE_CHECKING:
    from aegir.simulator.sandbox.backends import open_sandbox
    from aegir.simulator.sandbox.program import (
        CallResult,
        Ended,
        Execution,
        Json,
        Limits,
        Program,
        Sandbox,
    )

__all__ = [
    "CallResult",
    "Ended",
    "Execution",
    "Json",
    "Limits",
    "Program",
    "Sandbox",
    "open_sandbox",
]
__getattr__ = lazy_names(
    __name__,
    {
        "CallResult": "program",
        "Ended": "program",
        "Execution": "program",
        "Json": "program",
        "Limits": "program",
        "Program": "program",
        "Sandbox": "program",
        "open_sandbox": "backends",
    },
)
