"""This process without a free descriptor, for tests."""

import os
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def no_descriptors() -> Iterator[list[int]]:
    """No file or socket can be opened; closing one of those that are yielded makes room for one."""
    usual = resource.getrlimit(resource.RLIMIT_NOFILE)
    highest = max(int(path.name) for path in Path("/proc/self/fd").iterdir())
    resource.setrlimit(resource.RLIMIT_NOFILE, (highest + 1, usual[1]))
    taken: list[int] = []
    try:
        while True:
            try:
                taken.append(os.open(os.devnull, os.O_RDONLY))
            except OSError:
                break
        yield taken
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, usual)
        for descriptor in taken:
            os.close(descriptor)
