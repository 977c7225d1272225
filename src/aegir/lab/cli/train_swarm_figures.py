"""`aegir train swarm-figures`: what the specialists of a swarm are worth, and what they cost."""

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from aegir.cli.options import PathName
from aegir.cli.terminal import say, tell, track
from aegir.lab.cli.train import run_data_option, training_packages
from aegir_rl.base.wording import amount

if TYPE_CHECKING:
    from aegir.lab.figures.swarm.figures import NumberFigures, SwarmFigures

SAID = {"router": "woken by the router", "everyone": "everyone woken"}


@click.command(
    "swarm-figures",
    epilog="Example: aegir train swarm-figures runs/parl-0 --data data/ --plots plots/",
)
@click.argument("run", type=PathName(file_okay=False))
@run_data_option
@click.option(
    "--swarm",
    type=PathName(file_okay=False),
    help="The folder of another swarm that has not seen the run's held-out tables either [default: that of the run].",
)
@click.option(
    "--plots", type=PathName(file_okay=False), help="Also draw the figures, as SVG files in here."
)
@click.option("--json", "as_json", is_flag=True, help="All figures as one object.")
def swarm_figures(
    run: Path, data: tuple[Path, ...], swarm: Path | None, plots: Path | None, as_json: bool
) -> None:
    """Measure accuracy, cost and critical path against the number of specialists, and what each is worth.

    RUN is a folder of `aegir train parl --fold N`; its swarm answers the tables that it kept out with 0, 1, 2, 4, … of its
    specialists, and with all but one. `aegir swarm map --worth` shows the figures of --json.
    """
    with training_packages():
        from aegir.lab.figures.swarm.figures import measure_swarm
        from aegir.lab.figures.swarm.plots import save_plots

    figures = measure_swarm(run, data, swarm, track)
    if plots is not None:
        for file in save_plots(plots, figures):
            tell(f"saved {file}")
    if as_json:
        click.echo(json.dumps(figures.as_dict()))
    else:
        say(*_report(figures))


def _report(figures: "SwarmFigures") -> Iterator[str]:
    labelled, *by_part = figures.labelled.items()
    counted = ", ".join(f"{count:,} {part}" for part, count in by_part)
    yield (
        f"{amount(figures.tables, 'held-out table')} with {amount(figures.columns, 'column')}, "
        f"{labelled[1]:,} of them labelled: {counted}"
    )
    yield f"specialists, by mean router score: {_order(figures)}"
    parts = list(figures.labelled)
    for woken, rows in figures.numbers.items():
        if woken == "everyone" and not figures.order:
            continue
        yield ""
        yield (
            f"{SAID[woken]:<20}"
            + "".join(f"{part:>15}" for part in parts)
            + "".join(f"{name:>10}" for name in ("CPU ms", "× of 1", "path ms", "× of 1", "woken"))
        )
        yield from (_row(row, parts) for row in rows)
    if figures.worth:
        yield ""
        yield from _worth(figures, parts)
    if figures.spawning is not None:
        yield ""
        yield from _spawning(figures)


def _order(figures: "SwarmFigures") -> str:
    pairs = zip(figures.order, figures.mean_scores, strict=True)
    return ", ".join(f"{name} {score:.2f}" for name, score in pairs) or "none"


def _row(row: "NumberFigures", parts: list[str]) -> str:
    costs = (row.milliseconds, row.cost_ratio, row.path_milliseconds, row.path_ratio, row.woken)
    return (
        f"{row.specialists:<20}"
        + "".join(f"{row.accuracy[part]:>15.4f}" for part in parts)
        + "".join(f"{_number(cost):>10}" for cost in costs)
    )


def _worth(figures: "SwarmFigures", parts: list[str]) -> Iterator[str]:
    """A line per specialist; gains in points."""
    yield (
        f"{'worth, in points':<20}{parts[0]:>8}{'95 %':>19}"
        + "".join(f"{part:>15}" for part in parts[1:])
        + "".join(f"{name:>10}" for name in ("read", "CPU ms", "of cost"))
        + f"   {SAID[figures.worth_woken]}"
    )
    for each in figures.worth:
        first, *rest = (each.gain[part] for part in parts)
        interval = f"{100 * first.low:+.2f} to {100 * first.high:+.2f}"
        yield (
            f"{each.name:<20}{100 * first.value:>+8.2f}{interval:>19}"
            + "".join(f"{100 * gain.value:>+15.2f}" for gain in rest)
            + f"{each.usage:>10.1%}{each.milliseconds:>10.2f}{each.cost_share:>10.1%}   {each.verdict}"
        )


def _spawning(figures: "SwarmFigures") -> Iterator[str]:
    found = figures.spawning
    assert found is not None, "checked by the caller"
    counts = ", ".join(f"{count}: {amount(n, 'table')}" for count, n in found.tables.items())
    yield f"spawning allows {counts}"
    yield (
        f"Spearman with the share that the primary gets wrong, and with its log loss: count {_number(found.count_wrong)}, "
        f"{_number(found.count_loss)}; complexity {_number(found.complexity_wrong)}, {_number(found.complexity_loss)}"
    )
    if found.fitted_here:
        known = found.cross_fitted
        wrong, loss = (_number(known[name]) for name in ("count_wrong", "count_loss"))
        yield f"the estimate was fitted on these tables; cross-fitted, the count has {wrong}, {loss}"


def _number(value: float | None) -> str:
    return f"{value:.2f}" if value is not None and math.isfinite(value) else "–"
