"""`aegir train spawning`: how many specialists of a swarm a table is worth."""

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING

import click

from aegir.cli.options import NumberRange, PathName
from aegir.cli.terminal import say, tell, track
from aegir.lab.cli.train import run_data_option, training_packages
from aegir.readers.swarm.spawning import SPAWNING_FILE
from aegir_rl.base.wording import amount
from aegir_rl.offline.store import DecisionStore

if TYPE_CHECKING:
    from aegir.lab.spawning.fitting import Fitted, Judged


@click.command(
    "spawning",
    epilog="Example: aegir train spawning runs/parl-0 --data data/ --out swarm/spawning.json",
)
@click.argument("run", type=PathName(file_okay=False))
@run_data_option
@click.option(
    "--out",
    type=PathName(dir_okay=False),
    default=Path(SPAWNING_FILE),
    show_default=True,
    help="Where the estimate goes; the annotator finds it as spawning.json in the folder of a swarm.",
)
@click.option(
    "--path-cost",
    type=NumberRange(0),
    help="What doubling the critical path costs [default: the one with the most right answers, if not worse than with all].",
)
@click.option("--seed", type=int, default=0, show_default=True, help="Of folds and draws.")
@click.option(
    "--decisions",
    metavar="FILE|URL",
    help="Also log a decision per table, drawn with --epsilon, in this store, for `aegir rl`.",
)
@click.option(
    "--epsilon",
    type=NumberRange(0, 1),
    default=0.3,
    show_default=True,
    help="Share of the logged decisions that is drawn uniformly.",
)
@click.option(
    "--policy",
    type=PathName(dir_okay=False),
    help="Also write the estimate as a policy for `aegir rl eval-offline --checkpoint`.",
)
@click.option("--json", "as_json", is_flag=True, help="All figures as one object.")
def spawning(
    run: Path,
    data: tuple[Path, ...],
    out: Path,
    path_cost: float | None,
    seed: int,
    decisions: str | None,
    epsilon: float,
    policy: Path | None,
    as_json: bool,
) -> None:
    """Learn how many specialists a table is worth, from every number of them on held-out tables.

    RUN is a folder of `aegir train parl --fold N`; its swarm answers the tables that it kept out. Leaves with 3, and writes
    nothing, if answers would be worse than with all specialists.
    """
    with training_packages():
        from aegir.lab.spawning.decisions import spawn_episodes, spawn_policy
        from aegir.lab.spawning.fitting import COUNTS, fit_spawning
        from aegir.lab.spawning.objective import compute_objective
        from aegir.lab.spawning.outcomes import collect_outcomes

    outcomes = collect_outcomes(run, data, track)
    objective = compute_objective(outcomes, COUNTS)
    fitted = fit_spawning(outcomes, objective, path_cost, seed)
    fitted.estimate.save(out)
    tell(f"saved {out}: path cost {fitted.estimate.path_cost:g}")
    if decisions is not None:
        with DecisionStore.open(decisions) as store:
            logged = store.append(spawn_episodes(outcomes, objective, fitted, epsilon, seed))
        tell(f"{amount(len(logged), 'decision')} in {decisions}")
    if policy is not None:
        spawn_policy(fitted, objective).save(policy)
        tell(f"saved {policy}")
    if as_json:
        click.echo(json.dumps(_record(fitted)))
    else:
        say(*_report(fitted))


def _record(fitted: "Fitted") -> dict[str, object]:
    return {
        "path_cost": fitted.estimate.path_cost,
        "complexity": {
            "spearman_wrong": fitted.spearman_wrong,
            "spearman_loss": fitted.spearman_loss,
        },
        "prices": {f"{price:g}": judged.as_dict() for price, judged in fitted.prices.items()},
        "constants": [judged.as_dict() for judged in fitted.constants],
        "deciles": [
            {"complexity": d.complexity, "loss": d.loss, "count": d.count, "right": d.right}
            for d in fitted.deciles
        ],
    }


def _report(fitted: "Fitted") -> list[str]:
    """The table of policies, and of deciles of complexity."""
    heads = (
        "right",
        "types: web",
        "everyday",
        "relations",
        "fine",
        "work",
        "path",
        "wrong",
        "loss",
    )
    rows = [
        f"{'':<15}" + "".join(f"{head:>11}" for head in heads) + "  difference to all (95 %)",
        *map(_row, (*fitted.constants, *fitted.prices.values())),
        f"complexity: Spearman {fitted.spearman_wrong:.3f} with the share that the primary gets wrong, "
        f"{fitted.spearman_loss:.3f} with its log loss; chosen: {fitted.chosen.name}",
    ]
    rows += [
        f"decile {number:>2}: complexity {each.complexity:.2f}, log loss {each.loss:.2f}, count {each.count:.2f}, right "
        + " ".join(f"{share:.3f}" for share in each.right)
        for number, each in enumerate(fitted.deciles, 1)
    ]
    return rows


def _row(judged: "Judged") -> str:
    shares = (judged.right, judged.types_web, judged.types_everyday, judged.relations, judged.fine)
    costs = (judged.work, judged.critical_path)
    correlations = (judged.spearman_wrong, judged.spearman_loss)
    off = judged.difference
    return (
        f"{judged.name:<15}"
        + "".join(f"{share:>11.4f}" for share in shares)
        + "".join(f"{cost:>11.2f}" for cost in costs)
        + "".join(
            f"{each:>11.3f}" if math.isfinite(each) else f"{'–':>11}" for each in correlations
        )
        + f"  {off.value:+.4f} ({off.low:+.4f} to {off.high:+.4f})"
    )
