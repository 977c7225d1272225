"""Which implementation of a recurrence runs: the one that was named, or the first that can take these inputs.

A name that is unknown, or cannot be used here, is refused in one sentence instead of being replaced in silence.
"""

import importlib.util
from collections.abc import Sequence

import torch

from aegir.errors import UsageError


def choose_implementation(of: str, asked: str, available: Sequence[str], like: torch.Tensor) -> str:
    """One of `available`, which are tried from the left for "auto"; inputs are of the kind of `like`."""
    if asked == "auto":
        return next(name for name in available if name != "fla" and _obstacle(name, like) is None)
    if asked not in available:
        names = ", ".join(("auto", *available))
        raise UsageError(f"unknown implementation {asked!r} of the {of}; there are {names}")
    if obstacle := _obstacle(asked, like):
        raise UsageError(f"the {of} cannot run as {asked!r}: {obstacle}; 'auto' takes what can")
    return asked


def _obstacle(name: str, like: torch.Tensor) -> str | None:
    """Why an implementation cannot take such inputs; None when it can."""
    needed = {"numba": ("numba", "cpu"), "fla": ("fla", "cuda")}.get(name)
    if needed is None:
        return None
    package, device = needed
    if like.device.type != device:
        return f"the inputs are on {like.device.type} and it takes {device}"
    if name == "numba" and like.dtype != torch.float32:
        return f"the inputs are {like.dtype} and it takes torch.float32"
    if importlib.util.find_spec(package) is None:
        return f"the package {package} is not installed"
    return None
