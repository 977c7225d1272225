"""How the C library's allocator treats memory that was freed.

Models make and drop arrays of some megabytes. By default glibc gives such memory back to the system at once and asks for it
again for the next array, and the system fills every page with zeros: a fifth of the time of the byte network.
"""

import ctypes
from contextlib import suppress

M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3
LARGEST_ON_HEAP = 32 << 20
"""Bytes of the largest block that is taken from the heap; glibc allows no more."""
MOST_KEPT = 256 << 20
"""Freed bytes at the end of the heap that are kept for later."""


def keep_freed_memory() -> None:
    """Let this process, and those it forks, use freed memory again; does nothing where there is no glibc.

    For programs, not for libraries: it is a setting of the whole process.
    """
    with suppress(AttributeError, OSError, TypeError):  # musl, macOS and Windows know no mallopt
        mallopt = ctypes.CDLL(None).mallopt
        mallopt(M_MMAP_THRESHOLD, LARGEST_ON_HEAP)
        mallopt(M_TRIM_THRESHOLD, MOST_KEPT)
