"""How training goes, on stderr: a bar on a terminal, a line now and then elsewhere.

    step 120/2000  loss 1.832  cta 0.61  cpa 0.57  18.4 kB/s  0:14:02 left

Scores are right answers among the labelled columns of the last steps, as they were read (varied, with dropout).
"""

import sys
import time
from collections import Counter, deque
from collections.abc import Mapping

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

SECONDS_BETWEEN_LINES = 15.0
STEPS_SHOWN = 20
"""Figures are means over this many steps."""


class TrainingProgress:
    """Told of every step; shows loss, scores, bytes per second and time left."""

    def __init__(self, steps: int, silent: bool = False) -> None:
        self.steps, self.silent = steps, silent
        self._recent: deque[tuple[float, Mapping[str, float]]] = deque(maxlen=STEPS_SHOWN)
        self._first: tuple[int, float] | None = None
        self._spoken = 0.0
        self._bar: Progress | None = None
        if sys.stderr.isatty() and not silent:
            self._bar = Progress(
                BarColumn(),
                TextColumn("{task.completed}/{task.total}  {task.description}"),
                TimeRemainingColumn(),
                console=Console(stderr=True),
            )
            self._task = self._bar.add_task("", total=steps)
            self._bar.start()

    def say(self, line: str) -> None:
        """A line of its own."""
        if self.silent:
            return
        if self._bar:
            self._bar.console.print(line, markup=False, highlight=False)
        else:
            print(line, file=sys.stderr, flush=True)  # noqa: T201 - talk goes to stderr

    def step(self, step: int, figures: Mapping[str, float]) -> None:
        """One more step."""
        now = time.monotonic()
        self._recent.append((now, figures))
        self._first = self._first or (step, now)
        if self._bar:
            self._bar.update(self._task, completed=step, description=self._summary())
        elif now - self._spoken >= SECONDS_BETWEEN_LINES or step == self.steps:
            self._spoken = now
            self.say(f"step {step}/{self.steps}  {self._summary()}  {self._left(step, now)} left")

    def close(self) -> None:
        """Leave the terminal as it was."""
        if self._bar:
            self._bar.stop()

    def _summary(self) -> str:
        totals: Counter[str] = Counter()
        for _, figures in self._recent:
            totals.update({name: float(value) for name, value in figures.items()})
        parts = [f"loss {totals['loss'] / len(self._recent):.3f}"]
        parts += [
            f"{head} {totals[f'{head}/right'] / totals[f'{head}/count']:.2f}"
            for head in ("cta", "cpa")
            if totals[f"{head}/count"]
        ]
        if totals["next/count"]:
            parts.append(f"next symbol {totals['next/loss'] / totals['next/count']:.2f}")
        if len(self._recent) > 1:
            seconds = self._recent[-1][0] - self._recent[0][0]
            read = totals["symbols"] - self._recent[0][1]["symbols"]
            parts.append(f"{read / max(seconds, 1e-9) / 1000:.1f} kB/s")
        return "  ".join(parts)

    def _left(self, step: int, now: float) -> str:
        assert self._first is not None, "a step was taken"
        first, then = self._first
        if step == first:  # one step says nothing of how long a step takes
            return "?"
        seconds = int((now - then) / (step - first) * (self.steps - step))
        return f"{seconds // 3600}:{seconds // 60 % 60:02d}:{seconds % 60:02d}"
