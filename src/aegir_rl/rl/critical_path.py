"""Latency and cost of an episode whose steps may run in parallel.

Steps form a directed acyclic graph: a step starts when every step it comes `after` has ended.

    critical path   the longest chain of steps: the latency with enough workers
    total work      the sum of all steps: the cost
    slack           how much later a step could end without delaying the end; 0 on the critical path

Worked number: plan 1 s, then a 4 s and b 2 s in parallel, then merge 1 s: critical path plan, a, merge = 6 s, total
work 8 s, slack of b 2 s.

If an episode consists of stages (main work, then helpers in parallel), the longest chain is the sum over stages of
main + longest helper: `compute_stage_times` computes that for a whole batch without building graphs.

Linear in steps and edges. A cycle, an unknown or repeated name, and a duration that is negative or not finite raise an
error of one sentence. Not here: limits on the number of workers, which make scheduling a hard problem; latency is then at
least max(critical path, total work / workers).
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Real

import numpy as np
import numpy.typing as npt

from aegir_rl.base.arrays import Floats, read_floats
from aegir_rl.base.errors import UsageError
from aegir_rl.episode import TimedStep


@dataclass(frozen=True, slots=True)
class CriticalPath:
    """Latency and cost of an episode, and the steps that determine its latency."""

    length: float
    """Duration of the longest chain."""
    total_work: float
    """Duration of all steps together."""
    path: tuple[str, ...]
    """The steps of one longest chain, in order."""
    slack: Mapping[str, float]
    """How much later each step could end."""

    @property
    def parallelism(self) -> float | None:
        """Mean number of steps running, total work / length; None if the length is 0."""
        return self.total_work / self.length if self.length > 0 else None


@dataclass(frozen=True, slots=True, eq=False)
class StageTimes:
    """(E,) critical path and total work of episodes made of stages."""

    critical_path: Floats
    total_work: Floats


def compute_critical_path(steps: Iterable[TimedStep]) -> CriticalPath:
    """The longest chain of steps, total work, and the slack of every step."""
    by_name = _read(steps)
    order = _in_order(by_name)
    ends: dict[str, float] = {}
    before: dict[str, str | None] = {}
    for name in order:
        step = by_name[name]
        last = max(step.after, key=ends.__getitem__, default=None)
        ends[name] = (ends[last] if last is not None else 0.0) + step.duration
        before[name] = last
    length = max(ends.values(), default=0.0)
    latest = dict.fromkeys(order, length)
    for name in reversed(order):
        for earlier in by_name[name].after:
            latest[earlier] = min(latest[earlier], latest[name] - by_name[name].duration)
    # Subtracting and adding in another order can leave 1e-16 below zero.
    slack = {name: max(0.0, latest[name] - ends[name]) for name in by_name}
    return CriticalPath(
        length=length,
        total_work=float(sum(step.duration for step in by_name.values())),
        path=_walk_back(ends, before),
        slack=slack,
    )


def compute_stage_times(main: npt.ArrayLike, helpers: npt.ArrayLike) -> StageTimes:
    """Sum over stages of main (E, S) + longest of helpers (E, S, N), for a batch of episodes.

    A helper that did not run has nan. Worked number: main 1, 2, helpers (3, 5) and (nan, 4): critical path
    1 + 5 + 2 + 4 = 12, total work 1 + 8 + 2 + 4 = 15. An episode with nan in main has nan times: missing.
    """
    mains, aids = read_floats(main, "main"), read_floats(helpers, "helpers")
    if mains.ndim != 2 or aids.ndim != 3 or aids.shape[:2] != mains.shape:
        raise UsageError(
            f"main has shape {mains.shape} and helpers {aids.shape}; expected (episodes, stages) "
            "and (episodes, stages, helpers)"
        )
    for name, times in (("main", mains), ("helpers", aids)):
        wrong = times[(times < 0) | np.isinf(times)]
        if wrong.size:
            raise UsageError(f"{name} holds {wrong[0]}; expected durations, 0 or more")
    ran = np.nan_to_num(aids, nan=0.0)
    longest = ran.max(2, initial=0.0)
    return StageTimes((mains + longest).sum(1), (mains + ran.sum(2)).sum(1))


def _read(steps: Iterable[TimedStep]) -> dict[str, TimedStep]:
    by_name: dict[str, TimedStep] = {}
    for step in steps:
        if step.name in by_name:
            raise UsageError(f"two steps are called {step.name!r}; give each a name of its own")
        if isinstance(step.after, str):
            raise UsageError(
                f"step {step.name!r} comes after {step.after!r}; expected a tuple of names, ({step.after!r},)"
            )
        if not (isinstance(step.duration, Real) and 0 <= step.duration < math.inf):
            raise UsageError(
                f"step {step.name!r} took {step.duration!r}; expected a finite duration, 0 or more"
            )
        by_name[step.name] = step
    for step in by_name.values():
        for earlier in step.after:
            if earlier not in by_name:
                raise UsageError(f"step {step.name!r} comes after {earlier!r}, which is no step")
    return by_name


def _in_order(by_name: Mapping[str, TimedStep]) -> list[str]:
    """Every step after those it waits for (Kahn 1962)."""
    followers: dict[str, list[str]] = {name: [] for name in by_name}
    waiting = {name: len(set(step.after)) for name, step in by_name.items()}
    for name, step in by_name.items():
        for earlier in dict.fromkeys(step.after):
            followers[earlier].append(name)
    order = [name for name, count in waiting.items() if count == 0]
    for name in order:  # grows while it is read
        for later in followers[name]:
            waiting[later] -= 1
            if waiting[later] == 0:
                order.append(later)
    if len(order) < len(by_name):
        raise UsageError(f"the steps wait for each other in a circle: {_circle(by_name, order)}")
    return order


def _circle(by_name: Mapping[str, TimedStep], ordered: Sequence[str]) -> str:
    """One circle among the steps that could not be ordered, as a chain of names."""
    done = set(ordered)
    name = next(name for name in by_name if name not in done)
    walk: list[str] = []
    while name not in walk:
        walk.append(name)
        name = next(earlier for earlier in by_name[name].after if earlier not in done)
    circle = [*walk[walk.index(name) :], name]
    return " after ".join(circle)


def _walk_back(ends: Mapping[str, float], before: Mapping[str, str | None]) -> tuple[str, ...]:
    path: list[str] = []
    name = max(ends, key=ends.__getitem__, default=None)
    while name is not None:
        path.append(name)
        name = before[name]
    return tuple(reversed(path))
