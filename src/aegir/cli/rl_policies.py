"""`aegir rl`, policies: train them on a log, and evaluate them without running them."""

import json
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import click

from aegir.cli.options import verb_options
from aegir.cli.rl_data import write_plots, write_text
from aegir.cli.terminal import say, tell, track
from aegir_rl.base.errors import CheckFailed, UsageError
from aegir_rl.base.text import amount
from aegir_rl.offline.choosing import (
    ALPHA,
    ALPHAS,
    Chosen,
    Recipe,
    choose_policy,
    train_cloning,
    train_conservative,
)
from aegir_rl.offline.cross_fitting import evaluate_cross_fitted
from aegir_rl.offline.evaluation import PolicyEvaluation, evaluate_policy
from aegir_rl.offline.learning import LearningSettings
from aegir_rl.offline.log_files import read_log
from aegir_rl.offline.logged_decisions import (
    LoggedDecisions,
    LogSource,
    with_constant_baseline,
)
from aegir_rl.offline.pages import evaluation_page, evaluation_plots, trial_plots
from aegir_rl.offline.policy import RoutingPolicy

HELD_OUT = 0.3
"""A usual share, for sentences."""

VALUE_LEARNING = ("policy training", "data source", "value learning", "plots")
TRAINED = {"held_out": 0.0, "steps": LearningSettings().steps}
VALUED = {**TRAINED, "gamma": LearningSettings().gamma}
"""Defaults of training a policy, and of training one by values."""


@click.command(
    "train-bc", epilog="Example: aegir rl train-bc --data routing.jsonl --out bc.safetensors"
)
@verb_options("policy training", "data source", **TRAINED)
def train_bc(
    data: Path,
    out: Path,
    held_out: float,
    data_source: LogSource | None,
    steps: int,
    seed: int,
    as_json: bool,
) -> None:
    """Clone the logged behaviour, with calibrated probabilities."""
    log, part = _training_part(data, data_source, held_out)
    cloned, figures = train_cloning(part, LearningSettings(steps=steps, seed=seed))
    policy = _save(cloned, out, log, held_out)
    if as_json:
        click.echo(json.dumps({"version": policy.version, "episodes": part.episodes, **figures}))
    else:
        say(
            f"{policy.version}: {figures['accuracy']:.1%} of held-out decisions predicted, log loss {figures['log_loss']:.3f}, "
            f"calibration error {figures['calibration_error']:.3f}"
        )


@click.command(
    "train-cql", epilog="Example: aegir rl train-cql --data routing.jsonl --out cql.safetensors"
)
@verb_options(*VALUE_LEARNING, "rl train-cql", alpha=ALPHA, **VALUED)
def train_cql(alpha: float, **options: Any) -> None:
    """Train conservative Q-learning, and compare it with the static table.

    Only the confidence floor, below which the static table decides, is chosen: by the lower bound of the difference to
    it. `aegir rl choose` compares with other policies.
    """
    _train(partial(train_conservative, alpha=alpha), **options)


@click.command(
    "choose", epilog="Example: aegir rl choose --data routing.jsonl --out policy.safetensors"
)
@verb_options(*VALUE_LEARNING, "rl choose", **VALUED)
def choose(alphas: tuple[float, ...], **options: Any) -> None:
    """Train behaviour cloning, a reward model and conservative Q-learning, and write the best.

    Every worker alone competes, too. Policy and confidence floor are those with the best lower bound of the difference to the static table.
    """
    _train(partial(choose_policy, alphas=alphas or ALPHAS), **options)


def _train(
    learn: Callable[..., Chosen],
    data: Path,
    out: Path,
    held_out: float,
    data_source: LogSource | None,
    steps: int,
    seed: int,
    as_json: bool,
    gamma: float,
    hidden: str,
    all_outcomes: bool,
    plots: Path | None,
) -> None:
    """Learn a policy from the training part of a log, write it and show what competed."""
    log, part = _training_part(data, data_source, held_out)
    settings = LearningSettings(steps=steps, seed=seed, gamma=gamma, hidden=_sizes(hidden))
    chosen = learn(part, settings=settings, track=track, all_outcomes=all_outcomes)
    policy = _save(chosen.policy, out, log, held_out)
    write_plots(plots, trial_plots(chosen))
    if as_json:
        record = {"version": policy.version, "chosen": chosen.best.as_dict()}
        trials = [trial.as_dict() for trial in chosen.trials]
        click.echo(json.dumps({**record, "trials": trials}))
        return
    _show_trials(chosen)
    say(
        f"{policy.version}: {chosen.best.name}, floor {policy.floor:.3f}, trained on {amount(part.episodes, 'episode')}"
    )


@click.command(
    "eval-offline",
    epilog="Example: aegir rl eval-offline --data routing.jsonl --checkpoint cql.safetensors --out evaluation.json",
)
@verb_options("rl eval-offline", "plots", "data source")
def eval_offline(
    data: Path,
    checkpoint: Path,
    out: Path | None,
    plot: Path | None,
    plots: Path | None,
    baseline: str | None,
    groups: str,
    data_source: LogSource | None,
    as_json: bool,
) -> None:
    """Evaluate a policy on a log against the static table, without running it.

    On the log that it was trained on, every episode is judged by a policy that was trained and chosen in the same way without it.
    Leaves with 3 when the policy is not shown to be better, or when the log says too little about it.
    """
    policy = RoutingPolicy.load(checkpoint)
    log, recipe = _evaluation_part(read_log(data, source=data_source), policy, groups)
    if baseline is not None:
        log = with_constant_baseline(log, baseline)
    evaluation = (
        evaluate_policy(log, policy)
        if recipe is None
        else evaluate_cross_fitted(log, policy, recipe, track)
    )
    record = evaluation.as_dict()
    if out is not None:
        write_text(out, json.dumps(record, indent=2, allow_nan=False) + "\n")
    if plot is not None:
        write_text(plot, evaluation_page(evaluation))
    write_plots(plots, evaluation_plots(evaluation))
    if as_json:
        click.echo(json.dumps(record, allow_nan=False))
    else:
        _show(evaluation)
    if evaluation.compared.verdict != "better":
        raise CheckFailed(evaluation.compared.sentence)


def _training_part(
    data: Path, source: LogSource | None, held_out: float
) -> tuple[LoggedDecisions, LoggedDecisions]:
    """The whole log, and the part of it to train on."""
    log = read_log(data, source=source)
    for note in log.notes:
        tell(note)
    part = log.select(~log.held_out(held_out))
    if len(set(part.groups)) < 3:
        raise UsageError(
            f"{data} leaves {amount(len(set(part.groups)), 'group')} of episodes to train on; at least 3 are needed, so log more "
            "or lower --held-out"
        )
    return log, part


def _save(policy: RoutingPolicy, out: Path, log: LoggedDecisions, held_out: float) -> RoutingPolicy:
    """Save a policy with the hash of the whole log it comes from."""
    how = {**policy.training, "log_sha256": log.digest, "held_out": held_out}
    policy = replace(policy, training=how)
    policy.save(out)
    tell(f"wrote {out}")
    return policy


def _evaluation_part(
    log: LoggedDecisions, policy: RoutingPolicy, groups: str
) -> tuple[LoggedDecisions, Recipe | None]:
    """The episodes to evaluate on; with a recipe if it is to be followed again without the episodes that it is judged on."""
    for note in log.notes:
        tell(note)
    share = float(policy.training.get("held_out", 0.0))
    same = policy.training.get("log_sha256") == log.digest
    if groups == "auto":
        groups = "all" if not same else "held-out" if share else "cross-fitted"
    recipe = Recipe.of_policy(policy) if groups == "cross-fitted" else None
    if recipe is not None:
        tell("every episode is judged by a policy trained in the same way without its group")
        return log, recipe
    if groups == "cross-fitted":
        raise UsageError(
            f"the policy {policy.version} does not say how it was trained, so that cannot be repeated without the episodes that it is "
            "judged on; evaluate it on another log, or with --groups all"
        )
    if groups == "all":
        if same:
            tell("the policy was trained on most of these episodes: its figures are too good")
        return log, None
    part = log.select(log.held_out(share))
    if not part.episodes:
        raise UsageError(
            f"{log.name} has no held-out episodes for this policy; train with --held-out {HELD_OUT}, or evaluate with --groups "
            "cross-fitted"
        )
    tell(f"evaluating on the {amount(part.episodes, 'episode')} kept from training")
    return part, None


def _sizes(text: str) -> tuple[int, ...]:
    try:
        return tuple(int(size) for size in text.split(",") if size.strip())
    except ValueError:
        raise UsageError(f"--hidden is {text!r}; expected sizes such as 64,64") from None


def _show_trials(chosen: Chosen) -> None:
    say("difference to the static table, on groups a policy was not trained on; best floor of each")
    width = max(map(len, chosen.names))
    for name in chosen.names:
        best = chosen.best_of(name)
        mark = "*" if best == chosen.best else " "
        point, found = best.point, best.point.difference
        say(
            f"{mark} {name:<{width}} {found.value:+.4f} ({found.show_interval('+.4f')})  lower bound "
            f"{point.lower_bound:+.4f}  floor {point.floor:.3f}  own decisions {point.coverage:.0%}"
        )


def _show(evaluation: PolicyEvaluation) -> None:
    compared, support = evaluation.compared, evaluation.compared.support
    say(f"{'':<8} {'policy':>8} {'95 % interval':>18}   {'static':>8} {'95 % interval':>18}")
    for name, own in compared.policy.items():
        both = (own, compared.static[name])
        cells = (f"{found.value:8.4f} {found.show_interval():>18}" for found in both)
        say(f"{name:<8} {'   '.join(cells)}")
    say(
        f"{amount(support.episodes, 'episode')} in {amount(support.groups, 'group')}, effective {support.effective:.0f}, largest "
        f"weight {support.largest_weight:.1f}, mean weight {support.mean_weight:.2f}, unsupported {support.unsupported:.1%}; "
        f"{evaluation.coverage:.0%} of decisions are the policy's own, {compared.disagreement:.0%} differ"
    )
    say(evaluation.singles.sentence)
    if evaluation.truth is not None:
        known, found = evaluation.truth, evaluation.truth.difference
        say(
            f"the outcomes of all workers are known: {known.policy.value:.4f} for the policy, {known.static.value:.4f} for the "
            f"static table, a difference of {found.value:+.4f} (95 % interval {found.show_interval('+.4f')}); "
            f"{known.over_best.value:+.4f} ({known.over_best.show_interval('+.4f')}) beside always "
            f"{evaluation.log.actions[known.best]}, {known.regret.value:.4f} short of an oracle"
        )
    if compared.verdict == "better":
        say(compared.sentence)
