"""How the C library's allocator treats memory that was freed.

Models make and drop arrays of some megabytes. By default glibc gives such memory back to the system at once and asks for it
again for the next array, and the system fills every page with zeros: a fifth of the time of the byte network.

What is kept then lies in holes between what is in use, and a process that reads one unlike file after the other collects more and
more of it: 92 of the 149 MB of a worker of `aegir serve` after 40 seconds. `return_freed_memory` gives it back.
"""

import ctypes
from contextlib import suppress

M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3
LARGEST_ON_HEAP = 32 << 20
"""Bytes of the largest block that is taken from the heap; glibc allows no more."""
MOST_KEPT = 256 << 20
"""Freed bytes at the end of the heap that are kept for later."""


class _HeapSizes(ctypes.Structure):
    """`struct mallinfo2` of glibc."""

    _fields_ = tuple(
        (name, ctypes.c_size_t)
        for name in [
            "arena",
            "ordblks",
            "smblks",
            "hblks",
            "hblkhd",
            "usmblks",
            "fsmblks",
            "uordblks",
            "fordblks",
            "keepcost",
        ]
    )


def keep_freed_memory() -> None:
    """Let this process, and those it forks, use freed memory again; does nothing where there is no glibc.

    For programs, not for libraries: it is a setting of the whole process.
    """
    with suppress(AttributeError, OSError, TypeError):  # musl, macOS and Windows know no mallopt
        mallopt = ctypes.CDLL(None).mallopt
        mallopt(M_MMAP_THRESHOLD, LARGEST_ON_HEAP)
        mallopt(M_TRIM_THRESHOLD, MOST_KEPT)


def return_freed_memory(above: int) -> None:
    """Give all freed memory back to the system if it is more than so many bytes; does nothing without glibc 2.33 or newer."""
    with suppress(AttributeError, OSError, TypeError):
        library = ctypes.CDLL(None)
        library.mallinfo2.restype = _HeapSizes
        if library.mallinfo2().fordblks > above:
            library.malloc_trim(0)
