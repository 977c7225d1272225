"""Kernel steps that move vectors and states between tensors and a kernel's flat buffer, and that prefetch memory.

A state in a tensor is (K, V). The forward pass stores it row by row in its buffer, the backward pass transposed. `at` is
the kernel's layout (wkv7_steps.py, which says why the buffer is flat): its widths are compile-time constants, which
array shapes are not.

Prefetching: a kernel reads and writes a few hundred bytes of each of a dozen tensors per step, at a stride that no
processor predicts, and half of the time would be spent waiting for memory. Asking some steps ahead hides the wait:
the forward pass of time mixing takes 0.6 of the time it takes without (B=64 T=32 H=5 K=32). It changes no result.
"""

from typing import Any

import numba
import numba.extending
import numpy as np
import numpy.typing as npt
from llvmlite import ir  # type: ignore[import-untyped]
from numba.core import cgutils

from aegir.lab.nets.kernels.compiled import inlined

Buffer = npt.NDArray[np.float32]
FLOATS_PER_CACHE_LINE = 16
KEEP_IN_NEAREST_CACHE, DATA = 3, 1
"""Arguments of LLVM's prefetch intrinsic: locality 3 of 3; data, not instructions."""


@inlined
def list_active(mask: Any, active: Any) -> int:
    """Write the indices of the unmasked steps into `active` and return their count."""
    count = 0
    for t in range(mask.shape[0]):
        if mask[t]:
            active[count] = t
            count += 1
    return count


@inlined
def load(vector: Any, work: Buffer, start: int) -> None:
    for j in range(vector.shape[0]):
        work[start + j] = vector[j]


@inlined
def store(work: Buffer, start: int, vector: Any) -> None:
    for j in range(vector.shape[0]):
        vector[j] = work[start + j]


@inlined
def load_state(state: Any, work: Buffer, at: Any) -> None:
    for i in range(at.width):
        for j in range(at.width):
            work[i * at.width + j] = state[i, j]


@inlined
def store_state(work: Buffer, state: Any, at: Any) -> None:
    for i in range(at.width):
        for j in range(at.width):
            state[i, j] = work[i * at.width + j]


@inlined
def load_transposed(state: Any, work: Buffer, at: Any) -> None:
    for i in range(at.width):
        for j in range(at.width):
            work[i * at.width + j] = state[j, i]


@inlined
def store_transposed(work: Buffer, state: Any, at: Any) -> None:
    for i in range(at.width):
        for j in range(at.width):
            state[i, j] = work[j * at.width + i]


@inlined
def copy(state: Buffer, to: Buffer, at: Any) -> None:
    for j in range(at.rows * at.width):
        to[j] = state[j]


def _prefetch(to_write: int) -> Any:
    """Return an intrinsic (vector, index) that prefetches the cache line of vector[index]."""

    def prefetch(_: Any, vector: Any, index: Any) -> Any:
        def generate(context: Any, builder: Any, _: Any, arguments: Any) -> Any:
            proxy: Any = cgutils.create_struct_proxy(vector)  # type: ignore[no-untyped-call]
            data = proxy(context, builder, arguments[0]).data
            word, address = ir.IntType(32), ir.IntType(8).as_pointer()
            kind = ir.FunctionType(ir.VoidType(), [address, word, word, word])
            intrinsic = builder.module.declare_intrinsic("llvm.prefetch", [address], kind)
            line = builder.bitcast(builder.gep(data, [arguments[1]]), address)
            builder.call(intrinsic, [line, word(to_write), word(KEEP_IN_NEAREST_CACHE), word(DATA)])
            return context.get_dummy_value()

        return numba.types.void(vector, index), generate

    return numba.extending.intrinsic(prefetch)


_prefetch_to_read, _prefetch_to_write = _prefetch(0), _prefetch(1)


@inlined
def prefetch_read(vector: Any) -> None:
    for index in range(0, vector.shape[0], FLOATS_PER_CACHE_LINE):
        _prefetch_to_read(vector, index)


@inlined
def prefetch_write(vector: Any) -> None:
    for index in range(0, vector.shape[0], FLOATS_PER_CACHE_LINE):
        _prefetch_to_write(vector, index)
