"""`python -m aegir.lab.figures swarm`: what the specialists of a swarm contribute, and what they cost."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import click

from aegir.cli.options import PathName, verb_options
from aegir.cli.terminal import say, tell, track
from aegir.lab.cli.train import run_data_option, training_packages
from aegir.lab.figures.text_table import number, points, text_table
from aegir_rl.base.text import amount

COSTS = {
    "milliseconds": "CPU ms",
    "cost_ratio": "× of 1",
    "path_milliseconds": "path ms",
    "path_ratio": "× of 1",
    "woken": "activated",
}


@click.command(
    "swarm",
    epilog="Example: python -m aegir.lab.figures swarm runs/parl-0 --data data/ --plots plots/",
)
@click.argument("run", type=PathName(file_okay=False))
@run_data_option
@verb_options("figure-measure")
def measure(
    run: Path, data: tuple[Path, ...], swarm: Path | None, plots: Path | None, as_json: bool
) -> None:
    """Measure accuracy, cost and critical path against the number of specialists, and what each contributes.

    RUN is a folder of `aegir train parl --fold N`; its swarm answers the tables that it kept out with 0, 1, 2, 4, … of its
    specialists, and with all but one.
    """
    with training_packages():
        from aegir.lab.figures.swarm_metrics import TITLES, measure_swarm, save_plots

    metrics = measure_swarm(run, data, swarm, track)
    if plots is not None:
        for file in save_plots(plots, metrics):
            tell(f"saved {file}")
    if as_json:
        click.echo(json.dumps(metrics))
    else:
        say(*_report(metrics, TITLES))


def _report(metrics: dict[str, Any], titles: Mapping[str, str]) -> Iterator[str]:
    parts = list(metrics["labelled"])
    labelled, *by_part = metrics["labelled"].values()
    counted = ", ".join(f"{count:,} {part}" for part, count in zip(parts[1:], by_part, strict=True))
    yield (
        f"{amount(metrics['tables'], 'held-out table')} with {amount(metrics['columns'], 'column')}, "
        f"{labelled:,} of them labelled: {counted}"
    )
    pairs = zip(metrics["order"], metrics["mean_scores"], strict=True)
    order = ", ".join(f"{name} {score:.2f}" for name, score in pairs) or "none"
    yield f"specialists, by mean router score: {order}"
    for mode, rows in metrics["numbers"].items():
        if metrics["order"] or mode == "router":
            lines = [(titles[mode], *parts, *COSTS.values())]
            for row in rows:
                right = (f"{row['accuracy'][part]:.4f}" for part in parts)
                lines.append((str(row["specialists"]), *right, *(number(row[x]) for x in COSTS)))
            yield from ("", *text_table(lines))
    if metrics["worth"]:
        title = f"contribution in points, {titles[metrics['worth_woken']]}"
        heads = (f"{parts[0]} (95 %)", *parts[1:], "read", "CPU ms", "of cost", "verdict")
        lines = [(title, *heads)]
        for each in metrics["worth"]:
            first, *rest = (each["gain"][part] for part in parts)
            gains = (
                points(first),
                *(f"{100 * gain['value']:+.2f}" for gain in rest),
            )
            costs = (f"{each['usage']:.1%}", f"{each['milliseconds']:.2f}")
            lines.append(
                (each["name"], *gains, *costs, f"{each['cost_share']:.1%}", each["verdict"])
            )
        yield from ("", *text_table(lines))
