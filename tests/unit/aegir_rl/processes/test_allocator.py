"""Freed memory is used again."""

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


def page_faults(how: str) -> int:
    command = [sys.executable, "-c", CODE, how]
    return int(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="a setting of glibc")
def test_arrays_made_again_take_pages_that_are_there() -> None:
    # Three arrays of 8 MB are 6,144 pages, taken once rather than up to twenty times.
    assert page_faults("keep") < 10_000
