"""Freed memory is used again, and given back when there is much of it."""

import ctypes
import subprocess
import sys

import pytest

CODE = """
import resource
import sys

import numpy as np

from aegir_rl.processes.allocator import keep_freed_memory

if sys.argv[1] == "keep":
    keep_freed_memory()
np.ones(1 << 20)  # the first time, the memory is new
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(20):
    arrays = [np.ones(1 << 20) for _ in range(3)]
    del arrays
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""

FRAGMENTS = """
import sys
from pathlib import Path
from aegir_rl.processes.allocator import keep_freed_memory, return_freed_memory

def megabytes():
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096 >> 20

keep_freed_memory()
blocks, between = [], []
for _ in range(100):
    blocks.append(bytearray(1 << 20))
    between.append(bytearray(2000))  # stays, so that what is freed lies in holes
full = megabytes()
del blocks
kept = megabytes()
return_freed_memory(200 << 20)
still = megabytes()
return_freed_memory(50 << 20)
print(full - kept, kept - still, still - megabytes())
"""


def page_faults(how: str) -> int:
    command = [sys.executable, "-c", CODE, how]
    return int(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="a setting of glibc")
def test_arrays_made_again_take_pages_that_are_there() -> None:
    # Three arrays of 8 MB are 6,144 pages, taken once rather than up to twenty times.
    assert page_faults("keep") < 10_000


@pytest.mark.skipif(
    sys.platform != "linux" or not hasattr(ctypes.CDLL(None), "mallinfo2"),
    reason="needs glibc 2.33 or newer",
)
def test_freed_memory_is_kept_until_there_is_too_much_of_it() -> None:
    done = subprocess.run(
        [sys.executable, "-c", FRAGMENTS], capture_output=True, text=True, check=True
    )
    at_once, below, above = map(int, done.stdout.split())
    assert at_once < 10
    assert below < 10
    assert above > 90
