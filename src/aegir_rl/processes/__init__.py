"""Worker processes: started, asked, replaced when they die, and ended with nothing left behind.

channel      messages of any length over a socket
plain        dataclasses as JSON and back
worker       a forked or exec'ed child process that answers requests
pool         workers that share out items; outcomes in order, a killed worker costs a retry
fork_server  a process that loads something once and forks workers whenever they are needed
allocator    how the C library treats freed memory
"""

import os
import sys

CAN_FORK = sys.platform == "linux"
"""Elsewhere numerical libraries may break in forked processes."""


def count_cores() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if CAN_FORK else 1
