"""`aegir rl import`: other people's logs as a log that every verb of `aegir rl` reads."""

import json
from collections.abc import Sequence
from pathlib import Path

import click

from aegir.cli.options import PathName, verb_options
from aegir.cli.rl_data import save_log
from aegir.cli.terminal import tell
from aegir_rl.base.errors import UsageError
from aegir_rl.offline.imported_log import ImportSettings, import_log


@click.command(
    "import",
    epilog="Example: aegir rl import prompts.csv --text prompt --outcome small=small_right --outcome large=large_right "
    "--cost large=0.14 --baseline large --output routing.jsonl",
)
@click.argument("file", type=PathName(dir_okay=False))
@verb_options("rl import")
def import_decisions(
    file: Path,
    features: str | None,
    text: str | None,
    outcomes: tuple[str, ...],
    action: str | None,
    reward: str | None,
    propensity: str | None,
    costs: tuple[str, ...],
    baseline: str | None,
    group: str | None,
    epsilon: float,
    seed: int,
    output: Path,
    as_json: bool,
) -> None:
    """Read a log of CSV or JSON lines, with any columns, so that a policy can be learnt and judged.

    Either the file says what was chosen, what that earned and with which probability, or it says what every worker earns.
    """
    settings = ImportSettings(
        features=_names(features),
        texts=_names(text),
        outcomes=_pairs("--outcome", outcomes, "WORKER=COLUMN"),
        costs={
            worker: _cost(worker, number)
            for worker, number in _pairs("--cost", costs, "WORKER=NUMBER").items()
        },
        action=action,
        reward=reward,
        propensity=propensity,
        group=group,
        baseline=baseline,
        epsilon=epsilon,
        seed=seed,
    )
    found = import_log(file, settings)
    for note in found.notes:
        tell(note)
    save_log(found.episodes, output)
    if as_json:
        record = {"episodes": len(found.episodes), "features": found.features}
        click.echo(json.dumps({**record, "notes": found.notes}))


def _names(text: str | None) -> tuple[str, ...]:
    return tuple(name.strip() for name in (text or "").split(",") if name.strip())


def _pairs(option: str, texts: Sequence[str], form: str) -> dict[str, str]:
    """What a repeated option gives to each worker."""
    found: dict[str, str] = {}
    for text in texts:
        worker, sign, value = text.partition("=")
        if not (sign and worker and value):
            raise UsageError(f"{option} is {text!r}; expected {form}")
        if worker in found:
            raise UsageError(f"{option} names {worker!r} twice; expected each worker once")
        found[worker] = value
    return found


def _cost(worker: str, text: str) -> float:
    try:
        cost = float(text)
    except ValueError:
        cost = -1.0
    if not 0 <= cost < float("inf"):
        raise UsageError(f"--cost of {worker!r} is {text!r}; expected a number, 0 or more")
    return cost
