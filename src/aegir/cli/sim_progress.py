"""Progress of the simulator: attempts, or iterations of PPO with their metrics."""

from collections.abc import Mapping

from aegir.cli.progress import ProgressLine

SHOWN = {
    "reward/mean": "reward",
    "part/accuracy": "solved",
    "entropy": "entropy",
    "kl": "kl",
    "test/reward": "test reward",
}
"""Metrics of an iteration, and how they are called on the line."""


class SimProgress(ProgressLine):
    """Counts what is done of a total that may grow."""

    def __init__(self, doing: str, total: int) -> None:
        super().__init__(doing, total)
        self._metrics: dict[str, float] = {}

    def count(self, done: int, total: int) -> None:
        """Show how far the work is."""
        self.total = total
        self.show(done, "  ".join(f"{name} {value:.3f}" for name, value in self._metrics.items()))

    def step(self, step: int, figures: Mapping[str, float]) -> None:
        """Show the metrics of an iteration; those that are not measured every time stay."""
        self._metrics |= {SHOWN[name]: figures[name] for name in SHOWN if name in figures}
        self.count(step, self.total)
