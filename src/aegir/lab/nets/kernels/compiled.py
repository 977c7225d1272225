"""Loops compiled by numba and called on torch tensors: compilation, caching, and threads.

    @compiled                       a kernel: kernel(first, last, *arrays) does the jobs first to last - 1
    @inlined                        a step that kernels are composed of; it is compiled into each of them
    run_kernel(kernel, jobs, *tensors)

Promises
  - a kernel is compiled once per machine (numba's cache: next to the source, or in the user's own cache folder
    when that cannot be written; where neither can, it is compiled once per process);
  - as many threads as `torch.get_num_threads()`, each with jobs of its own, so that results do not depend on it;
  - calls from several Python threads at once, and after a fork, are safe. numba's own threading is not used: its
    fallback layer allows one caller at a time, and its OpenMP layer ends a forked child.

Limits: tensors are on the CPU and contiguous. numba's cache identifies a kernel by its file and its constants, and
ignores steps that come from other files: so steps live in files called *_steps.py, and every kernel that uses some has
`source_stamp()` among its constants.
"""

import itertools
import os
import zlib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any

import numba
import numpy as np
import torch

Kernel = Callable[..., None]

LOG2_E = np.float32(1.4426950408889634)
LN_2_HIGH, LN_2_LOW = np.float32(0.693359375), np.float32(-2.12194440e-4)
"""ln 2 in two parts: the high one has so few digits that its product with a small integer is exact."""
EXPONENT_BIAS = 127


def fits_kernels(tensor: torch.Tensor) -> bool:
    """Return whether kernels can take this tensor: float32 on the CPU."""
    return bool(tensor.device.type == "cpu" and tensor.dtype == torch.float32)


def compiled(function: Kernel) -> Kernel:
    """Compile a kernel to machine code that runs without Python's global lock."""
    try:
        return _jit(function, cache=True)
    except RuntimeError:  # numba: "no locator available", no folder to cache in
        return _jit(function, cache=False)


def inlined(function: Callable[..., Any]) -> Callable[..., Any]:
    """Mark a step of kernels; it is compiled into each kernel with that kernel's constants."""
    step: Callable[..., Any] = numba.njit(inline="always", fastmath=True, error_model="numpy")(
        function
    )
    return step


@cache
def source_stamp() -> int:
    """Return a checksum of the source of all steps (files *_steps.py, and this one)."""
    here = Path(__file__)
    text = b"".join(path.read_bytes() for path in (here, *sorted(here.parent.glob("*_steps.py"))))
    return zlib.crc32(text)


def run_kernel(kernel: Kernel, jobs: int, *arguments: Any) -> None:
    """Run jobs 0 to jobs - 1; tensors among the arguments are passed without a copy."""
    arrays = [_as_array(argument) for argument in arguments]
    threads = min(torch.get_num_threads(), jobs)
    if threads <= 1:
        kernel(0, jobs, *arrays)
        return
    cuts = [jobs * part // threads for part in range(threads + 1)]
    pending = [
        _pool().submit(kernel, first, last, *arrays) for first, last in itertools.pairwise(cuts[1:])
    ]
    kernel(0, cuts[1], *arrays)
    for part in pending:
        part.result()


@inlined
def exponential(x: Any) -> Any:
    """Return e^x of a float32 to 5e-7 of its value, in plain arithmetic that loops can vectorise.

    x = n ln 2 + f, |f| <= ln 2 / 2; e^f is its Taylor polynomial of degree 6, and 2^n is written into the exponent.
    Below -87 and above 88 it stays at the ends of float32's range.
    """
    bounded = min(max(x, np.float32(-87.0)), np.float32(88.0))
    # Adding 127.5 first makes the number positive, so that truncation rounds to the nearest.
    biased = np.int32(bounded * LOG2_E + np.float32(EXPONENT_BIAS + 0.5))
    whole = np.float32(biased - np.int32(EXPONENT_BIAS))
    f = bounded - whole * LN_2_HIGH - whole * LN_2_LOW
    series = np.float32(1 / 720)
    series = series * f + np.float32(1 / 120)
    series = series * f + np.float32(1 / 24)
    series = series * f + np.float32(1 / 6)
    series = series * f + np.float32(1 / 2)
    series = series * f + np.float32(1)
    series = series * f + np.float32(1)
    return series * np.int32(biased << np.int32(23)).view(np.float32)


def _jit(function: Kernel, cache: bool) -> Kernel:
    kernel: Kernel = numba.njit(fastmath=True, nogil=True, error_model="numpy", cache=cache)(
        function
    )
    return kernel


def _as_array(argument: Any) -> Any:
    if not isinstance(argument, torch.Tensor):
        return argument
    assert argument.is_contiguous(), (
        f"kernels take contiguous tensors, not strides {argument.stride()}"
    )
    return argument.detach().numpy()


@cache
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(max_workers=os.cpu_count(), thread_name_prefix="aegir-kernel")


# The threads of a pool do not survive a fork; the child makes its own when it needs them.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_pool.cache_clear)
