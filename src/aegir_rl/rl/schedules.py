"""Schedules over a training run: the lambdas of the reward parts, and the clip range.

A schedule is a function of progress, the share of training done, 0 to 1. Trainers that collect whole rollouts overshoot
their last step: progress above 1 counts as 1, and a schedule warns about it once.

    stage    progress     parallel  finish
    early    0 to 30 %    0.3       0.1
    middle   30 to 70 %   0.1       0.3
    late     70 to 100 %  0.05      0.05

`StagedLambdas` jumps at the borders. `SmoothLambdas` moves from one stage to the next along a half cosine in a
window of `width` around each border, so value and slope are continuous; with `end=Lambdas(0, 0)` it ends there in a last
window, and the reward at progress 1 is exactly r_perf. `stages_from` keeps the proportions of the stages for other lambdas at
the beginning: from (0.6, 0) they are (0.6, 0), (0.2, 0), (0.1, 0).

Worked number, smooth with width 0.1: at progress 0.3 both are half-way, (0.2, 0.2); at 0.325, three quarters into the
window, the half cosine is (1 - cos(0.75 pi)) / 2 = 0.853553, so parallel is 0.3 - 0.2 * 0.853553 = 0.129289.
"""

import itertools
import math
import warnings
from dataclasses import dataclass

from aegir_rl.base.errors import UsageError, require
from aegir_rl.rewards.combined import Lambdas, read_lambdas

ROUNDING = 1e-9
"""Shares such as 0.7 + 0.1 / 2 are not exact."""


@dataclass(frozen=True, slots=True)
class LambdaStage:
    """Lambdas that are used until this progress."""

    until: float
    lambdas: Lambdas


DEFAULT_STAGES = (
    LambdaStage(0.3, Lambdas(0.3, 0.1)),
    LambdaStage(0.7, Lambdas(0.1, 0.3)),
    LambdaStage(1.0, Lambdas(0.05, 0.05)),
)


def stages_from(lambda_parallel: float, lambda_finish: float) -> tuple[LambdaStage, ...]:
    """Return the stages with these lambdas in the first one, and the others in proportion."""
    first = DEFAULT_STAGES[0].lambdas
    begin = read_lambdas((lambda_parallel, lambda_finish))
    scales = [now / usual for now, usual in zip(begin, first, strict=True)]
    return tuple(
        LambdaStage(
            stage.until, Lambdas(*(a * b for a, b in zip(stage.lambdas, scales, strict=True)))
        )
        for stage in DEFAULT_STAGES
    )


class ProgressAboveOne(UserWarning):
    """A schedule was asked for a progress above 1, and used 1."""


class _Schedule:
    __slots__ = ("_warned",)

    def _read(self, progress: float) -> float:
        """The progress, at most 1; raise if it is negative or not finite."""
        if not 0 <= progress < math.inf:
            raise UsageError(f"progress is {progress}; expected the share of training done, 0 to 1")
        if progress > 1 + ROUNDING and not hasattr(self, "_warned"):
            object.__setattr__(self, "_warned", True)
            warnings.warn(
                f"progress is {progress:g}; expected 0 to 1, so 1 is used from here on",
                ProgressAboveOne,
                stacklevel=3,
            )
        return min(progress, 1.0)


@dataclass(frozen=True, slots=True)
class StagedLambdas(_Schedule):
    """Constant within a stage; a border belongs to the later stage."""

    stages: tuple[LambdaStage, ...] = DEFAULT_STAGES

    def __post_init__(self) -> None:
        _check_stages(self.stages)

    def __call__(self, progress: float) -> Lambdas:
        progress = self._read(progress)
        for stage in self.stages[:-1]:
            if progress < stage.until:
                return stage.lambdas
        return self.stages[-1].lambdas


@dataclass(frozen=True, slots=True)
class SmoothLambdas(_Schedule):
    """The same stages without jumps; `end`, if given, is reached exactly at progress 1."""

    stages: tuple[LambdaStage, ...] = DEFAULT_STAGES
    width: float = 0.1
    """Length of a change, as a share of training."""
    end: Lambdas | None = None

    def __post_init__(self) -> None:
        _check_stages(self.stages)
        require(0 < self.width <= 1, "width", self.width, "above 0 and at most 1")
        reached = 0.0
        for centre, _ in self._changes():
            if centre - self.width / 2 < reached - ROUNDING:
                raise UsageError(
                    f"width is {self.width}, so the change around {centre:g} begins before {reached:g}; "
                    "expected one change to end before the next begins"
                )
            reached = centre + self.width / 2
        if reached > 1 + ROUNDING:
            raise UsageError(
                f"width is {self.width}, so the last change ends at {reached:g}, above 1"
            )
        if self.end is not None:
            read_lambdas(self.end)

    def __call__(self, progress: float) -> Lambdas:
        progress = self._read(progress)
        now = self.stages[0].lambdas
        for centre, following in self._changes():
            done = _half_cosine((progress - centre) / self.width + 0.5)
            now = Lambdas(
                *(
                    a + (b - a) * done if done < 1 else b
                    for a, b in zip(now, following, strict=True)
                )
            )
        return now

    def _changes(self) -> list[tuple[float, Lambdas]]:
        """Centre of every window and the lambdas at its end."""
        pairs = itertools.pairwise(self.stages)
        changes = [(before.until, after.lambdas) for before, after in pairs]
        if self.end is not None:
            changes.append((1.0 - self.width / 2, Lambdas(*self.end)))
        return changes


@dataclass(frozen=True, slots=True)
class LinearSchedule(_Schedule):
    """A straight line; the defaults anneal the clip range of the policy objective, 0.2 to 0.1."""

    start: float = 0.2
    end: float = 0.1

    def __post_init__(self) -> None:
        if not (math.isfinite(self.start) and math.isfinite(self.end)):
            raise UsageError(f"a line from {self.start} to {self.end}; expected finite numbers")

    def __call__(self, progress: float) -> float:
        progress = self._read(progress)
        return self.start * (1 - progress) + self.end * progress


def _half_cosine(share: float) -> float:
    """0 before a window, 1 after it, flat at both ends."""
    return (1 - math.cos(math.pi * min(max(share, 0.0), 1.0))) / 2


def _check_stages(stages: tuple[LambdaStage, ...]) -> None:
    ends = [stage.until for stage in stages]
    rising = all(a < b for a, b in zip([0.0, *ends], ends, strict=False))
    if not ends or not rising or ends[-1] != 1.0:
        raise UsageError(f"the stages end at {ends}; expected rising shares of training up to 1")
    for stage in stages:
        read_lambdas(stage.lambdas)
