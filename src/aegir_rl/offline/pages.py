"""Plots of offline RL, as SVG files or as one HTML page: values with intervals, risk against coverage, rewards.

trial_plots(chosen)            what competed for being the policy, by `aegir rl choose`
evaluation_plots(evaluation)   one policy beside the static table
reward_plots(report)           distribution and parts of the reward
"""

from collections.abc import Mapping, Sequence
from html import escape

import numpy as np

from aegir_rl.observe.plots import bar_plot, interval_plot, line_plot
from aegir_rl.offline.choosing import Chosen
from aegir_rl.offline.evaluation import PolicyEvaluation
from aegir_rl.offline.intervals import Estimate
from aegir_rl.offline.reward_report import RewardReport

STYLE = "body{font-family:sans-serif;max-width:1100px;margin:2em auto;padding:0 1em}svg{margin:6px}"
BINS = 20
Plots = Mapping[str, str]
"""Name to an SVG element."""


def trial_plots(chosen: Chosen) -> Plots:
    """The difference to the static table of every candidate at its best floor."""
    intervals = {
        name.replace(" ", "\n", 1): _interval(chosen.best_of(name).point.difference)
        for name in chosen.names
    }
    return {
        "candidates": interval_plot(
            "difference to the static table, 95 % intervals",
            intervals,
            y_label="reward",
            zero=True,
        )
    }


def evaluation_plots(evaluation: PolicyEvaluation) -> Plots:
    """Values of the policy and the static table by every estimator, and what other floors would give."""
    compared = evaluation.compared
    values = {
        f"{name}\n{who}": _interval(found[name])
        for name in compared.policy
        for who, found in (("policy", compared.policy), ("static", compared.static))
    }
    if evaluation.truth is not None:
        values["known\npolicy"] = _interval(evaluation.truth.policy)
        values["known\nstatic"] = _interval(evaluation.truth.static)
    curve = evaluation.curve
    coverage = [point.coverage for point in curve]
    risk = {
        "difference to the static table": (coverage, [p.difference.value for p in curve]),
        "guarded lower bound": (coverage, [p.lower_bound for p in curve]),
        "no difference": (coverage, [0.0] * len(curve)),
    }
    return {
        "values": interval_plot("value, 95 % intervals", values, y_label="reward"),
        "risk_coverage": line_plot(
            "risk and coverage",
            risk,
            x_label="share of decisions that are the policy's own",
            y_label="reward",
        ),
    }


def reward_plots(report: RewardReport) -> Plots:
    """Distribution and parts of the reward, and what one worker alone would earn."""
    counts, edges = np.histogram(report.totals, BINS)
    middles = (edges[1:] + edges[:-1]) / 2
    weighed = {
        part: float(report.weights.signed(part) * values.mean())
        for part, values in report.parts.items()
    }
    alone = {name: _interval(each) for name, each in report.constant.items()}
    if report.by_features is not None:
        alone["by features"] = _interval(report.by_features)
    return {
        "reward_distribution": line_plot(
            "distribution of reward_v1",
            {"episodes": (middles.tolist(), counts.tolist())},
            x_label="reward",
            y_label="episodes",
        ),
        "reward_parts": bar_plot("mean of each part, weighed", weighed, y_label="reward"),
        "one_worker": interval_plot(
            "one worker for everything, 95 % intervals", alone, y_label="estimated reward"
        ),
    }


def evaluation_page(evaluation: PolicyEvaluation) -> str:
    """The plots of an evaluation, with its verdict."""
    sentences = [evaluation.compared.sentence]
    return _page(f"Policy {evaluation.version}", sentences, evaluation_plots(evaluation))


def reward_page(report: RewardReport) -> str:
    """The plots of a reward report, with its warnings."""
    return _page(f"Rewards of {report.name}", report.warnings, reward_plots(report))


def _interval(found: Estimate) -> tuple[float, float, float]:
    return found.low, found.value, found.high


def _page(title: str, sentences: Sequence[str], plots: Plots) -> str:
    parts = [
        "<!doctype html>",
        f'<html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>',
        f"<style>{STYLE}</style></head><body><h1>{escape(title)}</h1>",
        *(f"<p>{escape(sentence)}</p>" for sentence in sentences),
        *plots.values(),
        "</body></html>",
    ]
    return "\n".join(parts) + "\n"
