"""Draws the figures of a swarm: accuracy and cost against the number of specialists, and what each is worth.

save_plots(Path("plots"), figures)        accuracy.svg, cost.svg, worth.svg
"""

from collections.abc import Sequence
from pathlib import Path

from aegir.lab.figures.swarm.figures import NumberFigures, SwarmFigures
from aegir.lab.figures.swarm.subsets import EVERYONE, ROUTER
from aegir.readers.swarm.pool.worth import OVERALL
from aegir_rl.observe.plots import Series, interval_plot, line_plot, write_svgs

NUMBER = "specialists in the swarm"


def save_plots(folder: Path, figures: SwarmFigures) -> list[Path]:
    """Write the plots, and return their files; nothing is drawn of the worth if there are no specialists."""
    plots = {
        "accuracy": line_plot(
            "share right, woken by the router",
            _accuracy(figures.numbers[ROUTER]),
            x_label=NUMBER,
            y_label="share right",
        ),
        "cost": line_plot(
            "CPU time per column", _cost(figures), x_label=NUMBER, y_label="milliseconds"
        ),
    }
    if figures.worth:
        plots["worth"] = interval_plot(
            "right with all specialists minus right without one, 95 % intervals",
            {
                each.name: (_points(gain.low), _points(gain.value), _points(gain.high))
                for each in figures.worth
                for gain in (each.gain[OVERALL],)
            },
            y_label="points",
            zero=True,
        )
    return write_svgs(folder, plots)


def _points(share: float) -> float:
    return round(100 * share, 2)


def _accuracy(rows: Sequence[NumberFigures]) -> Series:
    numbers = [row.specialists for row in rows]
    return {part: (numbers, [row.accuracy[part] for row in rows]) for part in rows[0].accuracy}


def _cost(figures: SwarmFigures) -> Series:
    found = {}
    for woken, said in ((EVERYONE, "everyone woken"), (ROUTER, "woken by the router")):
        rows = figures.numbers[woken]
        numbers = [row.specialists for row in rows]
        found[f"all models, {said}"] = (numbers, [row.milliseconds for row in rows])
        found[f"critical path, {said}"] = (numbers, [row.path_milliseconds for row in rows])
    return found
