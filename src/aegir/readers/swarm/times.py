"""How long a swarm takes: the longest chain of its steps, and what they cost together.

    critical path    router + longest specialist + primary, in seconds that passed: the latency with a core per specialist
    cost             CPU seconds of router, specialists and primary, whichever thread they ran in

Seconds that pass in a thread include waiting for a core or for Python's lock, CPU seconds do not; so on a busy machine the
critical path may exceed the cost.
"""

import time
from dataclasses import dataclass, fields

import numpy as np

from aegir_rl.base.arrays import Floats


@dataclass(frozen=True, slots=True)
class Lap:
    """Seconds that passed, and seconds of this thread's own work."""

    wall: float
    cpu: float


class LapClock:
    """Measures the work of one thread."""

    def __init__(self) -> None:
        self._wall, self._cpu = time.perf_counter(), time.thread_time()

    def lap(self) -> Lap:
        """Return the seconds since the last lap."""
        wall, cpu = time.perf_counter(), time.thread_time()
        lap = Lap(wall - self._wall, cpu - self._cpu)
        self._wall, self._cpu = wall, cpu
        return lap


@dataclass(frozen=True, slots=True)
class SwarmTimes:
    """How long a swarm took to read columns, in seconds."""

    router: float
    specialists: Floats
    """(N,) spent in each specialist; they run at the same time."""
    primary: float
    critical_path: float
    """Router, longest specialist and primary, summed over the parts of a batch."""
    cost: float
    """CPU seconds of everything together."""

    @classmethod
    def none(cls, specialists: int) -> "SwarmTimes":
        """Return the times of a swarm that has read nothing."""
        return cls(0.0, np.zeros(specialists), 0.0, 0.0, 0.0)

    def __add__(self, other: "SwarmTimes") -> "SwarmTimes":
        """Return the times of reading both, one after the other."""
        pairs = ((getattr(self, x.name), getattr(other, x.name)) for x in fields(self))
        return SwarmTimes(*(mine + others for mine, others in pairs))
