"""`aegir rl collect`: route labelled tables with exploration, and log decisions with their true outcomes."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import click

from aegir.answers.gold_labels import within_vocabulary
from aegir.cli.options import policy_of_environment, verb_options
from aegir.cli.terminal import say, tell, track
from aegir.evaluation.collecting import TABLES_AT_ONCE, collect
from aegir.lab.cli.train import training_packages
from aegir.pipeline.pipeline import Pipeline, load_pipeline
from aegir.pipeline.plan import READERS, SEARCHES, Explore
from aegir.pipeline.settings import AnnotationSettings
from aegir.routing.decisions import load_routing
from aegir.routing.exploration import Exploration
from aegir.routing.learnt_policy import LearntPolicy
from aegir.tables.labelled import LabelledTable, read_labelled_tables
from aegir_rl.base.errors import UsageError
from aegir_rl.base.text import amount
from aegir_rl.episode import Episode
from aegir_rl.offline.known_outcomes import OF_WORKER
from aegir_rl.offline.store import DecisionStore, new_id

SUFFIXES = (".jsonl", ".jsonl.gz")
AMOUNTS = {"epsilon": 0.3, "softmax": 1.0}


@click.command(
    epilog="Example: aegir rl collect --tables labelled/ --store decisions.db --exploration epsilon"
)
@verb_options("rl collect", "store", "routing")
def collect_decisions(
    tables: Path | None,
    runs: tuple[Path, ...],
    data: tuple[Path, ...],
    ngrams: Path | None,
    store: str,
    exploration: Literal["epsilon", "softmax", "none"],
    how_much: float | None,
    seed: int,
    most: int | None,
    routing: Path | None,
    policy: Path | None,
    as_json: bool,
) -> None:
    """Route labelled tables and log every decision with the outcome of all workers."""
    explore = None
    if exploration != "none":
        amount_of = AMOUNTS[exploration] if how_much is None else how_much
        explore = Exploration(exploration, amount_of, seed)
    policy = policy or policy_of_environment()
    if (tables is None) == (not runs):
        raise UsageError("say what to route: either --tables DIR, or --held-out RUN twice or more")
    if tables is not None:
        settings = AnnotationSettings(routing=routing, policy=policy)
        pairs = [(load_pipeline(settings, say=tell), _read(tables))]
    else:
        pairs = _read_held_out(runs, data, ngrams, routing, policy)
    batches: list[tuple[Pipeline, list[LabelledTable]]] = []
    for pipeline, labelled in pairs:
        if explore is not None:
            pipeline = pipeline.with_plan(Explore(pipeline.plan, explore))
        few = labelled[:most]
        batches += [
            (pipeline, few[at : at + TABLES_AT_ONCE]) for at in range(0, len(few), TABLES_AT_ONCE)
        ]
    run = new_id()
    logged: list[Episode] = []
    with DecisionStore.open(store) as opened:
        for number, (pipeline, batch) in enumerate(track(batches, "routing")):
            episodes = collect(pipeline, batch, f"{run}/{number}")
            opened.append(episodes)
            logged += episodes
    _report(logged, run, store, as_json)


def _read_held_out(
    runs: Sequence[Path],
    data: Sequence[Path],
    ngrams: Path | None,
    routing: Path | None,
    policy: Path | None,
) -> list[tuple[Pipeline, list[LabelledTable]]]:
    """The tables of each fold run that have labelled types, with the pipeline that has not seen them."""
    if not data or ngrams is None:
        raise UsageError(
            "--held-out needs --data, the folder of the tables, and --ngrams, that of `aegir train ngrams`"
        )
    table = load_routing(routing, (*READERS, *SEARCHES))
    with training_packages():
        from aegir.lab.held_out_dispatch import load_held_out

        learnt = LearntPolicy.load(policy) if policy else None
        folds = load_held_out(runs, data, ngrams, table, learnt)
    return [(fold.pipeline, list(filter(_has_types, fold.tables))) for fold in folds]


def _has_types(table: LabelledTable) -> bool:
    return any(labels.types is not None for labels in table.labels)


def _read(path: Path) -> list[LabelledTable]:
    files = [path]
    if path.is_dir():
        files = sorted(file for file in path.iterdir() if file.name.endswith(SUFFIXES))
    found = [within_vocabulary(each) for file in files for each in read_labelled_tables(file)]
    if not any(map(_has_types, found)):
        raise UsageError(
            f"{path} has no table with labelled types; expected files of {' or '.join(SUFFIXES)} as in docs/labelled-tables.md"
        )
    return found


def _report(logged: list[Episode], run: str, store: str, as_json: bool) -> None:
    parts = dict.fromkeys(name for episode in logged for name in episode.rewards)
    means = {
        name: sum(episode.rewards.get(name, 0.0) for episode in logged) / len(logged)
        for name in parts
        if name == "accuracy" or name.startswith(OF_WORKER)
    }
    cost = sum(decision.cost for episode in logged for decision in episode.decisions)
    if as_json:
        record = {"run": run, "store": store, "decisions": len(logged), "cost": round(cost, 3)}
        say(json.dumps({**record, **{name: round(value, 4) for name, value in means.items()}}))
        return
    say(f"{amount(len(logged), 'decision')} logged in {store} as run {run}")
    say(f"  as routed: {means['accuracy']:.3f} right, cost {cost / len(logged):.3f} per column")
    for name, value in means.items():
        if name.startswith(OF_WORKER):
            say(f"  {name.removeprefix(OF_WORKER)} for all: {value:.3f} right")
