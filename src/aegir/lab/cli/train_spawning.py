"""`aegir train spawning`: how many specialists of a swarm a table may activate."""

import json
from pathlib import Path

import click

from aegir.cli.options import NumberRange, OutputPath, PathName, verb_options
from aegir.cli.terminal import say, tell, track
from aegir.lab.cli.train import run_data_option, training_packages
from aegir.lab.figures.text_table import number, points, text_table
from aegir.readers.swarm.spawn_estimate import SPAWNING_FILE
from aegir_rl.base.errors import CheckFailed

MARGIN = 0.005
"""Share of right answers that may be lost against activating everyone, with 95 % confidence."""


@click.command(
    "spawning",
    epilog="Example: aegir train spawning runs/parl-0 --data data/ --out swarm/spawning.json",
)
@click.argument("run", type=PathName(file_okay=False))
@run_data_option
@click.option(
    "--out",
    type=OutputPath(),
    default=Path(SPAWNING_FILE),
    show_default=True,
    help="Where the estimate goes; the annotator finds it as spawning.json in the folder of a swarm.",
)
@click.option(
    "--path-cost",
    type=NumberRange(0),
    help="What doubling the critical path costs [default: 0, and nothing is written if answers are lost].",
)
@verb_options("train-spawning")
def spawning(
    run: Path,
    data: tuple[Path, ...],
    out: Path,
    path_cost: float | None,
    seed: int,
    as_json: bool,
) -> None:
    """Learn how many specialists a table may activate, from every number of them on held-out tables.

    RUN is a folder of `aegir train parl --fold N`; its swarm answers the tables that it kept out. Without --path-cost it
    leaves with 3, and writes nothing, if answers would be worse than with all specialists.
    """
    with training_packages():
        from aegir.lab.spawn_fit import COUNTS, collect_outcomes, fit_spawning

    estimate, metrics = fit_spawning(collect_outcomes(run, data, track), path_cost or 0.0, seed)
    if as_json:
        click.echo(json.dumps(metrics))
    else:
        names = ("all" if count is None else str(count) for count in COUNTS)
        lines = [("", "right", "points to all (95 %)", "work", "path", *names)]
        for row in metrics["policies"]:
            costs = (f"{row['work']:.2f}", f"{row['critical_path']:.2f}")
            shares = (f"{share:.0%}" for share in row["shares"])
            difference = points(row["difference"])
            lines.append((row["name"], f"{row['right']:.4f}", difference, *costs, *shares))
        say(*text_table(lines))
        correlation = number(metrics["spearman_loss"], 3)
        say(f"complexity: Spearman {correlation} with the log loss of the primary")
    low = metrics["policies"][-1]["difference"]["low"]
    if path_cost is None and (low is None or low < -MARGIN):
        raise CheckFailed(
            f"more than {MARGIN:.1%} of the answers may be lost against activating everyone; "
            "annotate with --spawn all, or name a cost with --path-cost"
        )
    estimate.save(out)
    tell(f"saved {out}: path cost {path_cost or 0:g}")
