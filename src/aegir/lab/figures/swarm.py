"""`python -m aegir.lab.figures swarm`: what the specialists of a swarm contribute, and what they cost."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from aegir.cli.options import PathName
from aegir.cli.terminal import say, tell, track
from aegir.lab.cli.train import run_data_option, training_packages
from aegir.lab.figures.text_table import number, points, text_table
from aegir_rl.base.text import amount

if TYPE_CHECKING:
    from aegir.lab.figures.swarm_metrics import SwarmMetrics

TITLES = {"router": "activated by the router", "everyone": "everyone activated"}
COSTS = ("CPU ms", "× of 1", "path ms", "× of 1", "activated")


@click.command(
    "swarm",
    epilog="Example: python -m aegir.lab.figures swarm runs/parl-0 --data data/ --plots plots/",
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
def measure(
    run: Path, data: tuple[Path, ...], swarm: Path | None, plots: Path | None, as_json: bool
) -> None:
    """Measure accuracy, cost and critical path against the number of specialists, and what each contributes.

    RUN is a folder of `aegir train parl --fold N`; its swarm answers the tables that it kept out with 0, 1, 2, 4, … of its
    specialists, and with all but one.
    """
    with training_packages():
        from aegir.lab.figures.swarm_metrics import measure_swarm, save_plots

    metrics = measure_swarm(run, data, swarm, track)
    if plots is not None:
        for file in save_plots(plots, metrics):
            tell(f"saved {file}")
    if as_json:
        click.echo(json.dumps(metrics.as_dict()))
    else:
        say(*_report(metrics))


def _report(metrics: "SwarmMetrics") -> Iterator[str]:
    parts = list(metrics.labelled)
    labelled, *by_part = metrics.labelled.values()
    counted = ", ".join(f"{count:,} {part}" for part, count in zip(parts[1:], by_part, strict=True))
    yield (
        f"{amount(metrics.tables, 'held-out table')} with {amount(metrics.columns, 'column')}, "
        f"{labelled:,} of them labelled: {counted}"
    )
    pairs = zip(metrics.order, metrics.mean_scores, strict=True)
    order = ", ".join(f"{name} {score:.2f}" for name, score in pairs) or "none"
    yield f"specialists, by mean router score: {order}"
    for activation, rows in metrics.sizes.items():
        if metrics.order or activation == "router":
            lines = [(TITLES[activation], *parts, *COSTS)]
            lines += [
                (
                    str(row.specialists),
                    *(f"{row.accuracy[part]:.4f}" for part in parts),
                    *map(
                        number,
                        (
                            row.milliseconds,
                            row.cost_ratio,
                            row.path_milliseconds,
                            row.path_ratio,
                            row.woken,
                        ),
                    ),
                )
                for row in rows
            ]
            yield from ("", *text_table(lines))
    if metrics.contributions:
        yield from ("", *_contributions(metrics, parts))


def _contributions(metrics: "SwarmMetrics", parts: list[str]) -> list[str]:
    """A line per specialist; gains in points."""
    title = f"contribution in points, {TITLES[metrics.activation]}"
    heads = (f"{parts[0]} (95 %)", *parts[1:], "read", "CPU ms", "of cost", "verdict")
    lines = [(title, *heads)]
    for each in metrics.contributions:
        first, *rest = (each.gain[part] for part in parts)
        lines.append(
            (
                each.name,
                points(first.value, first.low, first.high),
                *(f"{100 * gain.value:+.2f}" for gain in rest),
                *(f"{each.usage:.1%}", f"{each.milliseconds:.2f}", f"{each.cost_share:.1%}"),
                each.verdict,
            )
        )
    return text_table(lines)
