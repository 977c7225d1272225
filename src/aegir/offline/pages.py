"""Plots of offline RL as one HTML page: value per estimator with its interval, risk against coverage, rewards."""

from collections.abc import Sequence
from html import escape

import numpy as np

from aegir.observe.plots import bar_plot, line_plot
from aegir.offline.evaluation import Evaluation
from aegir.offline.reward_report import RewardReport

STYLE = "body{font-family:sans-serif;max-width:1100px;margin:2em auto;padding:0 1em}svg{margin:6px}"
BINS = 20


def evaluation_page(evaluation: Evaluation) -> str:
    """The evaluation of one policy."""
    compared = evaluation.compared
    values = {}
    for number, name in enumerate(compared.policy):
        for who, shift, found in (
            ("policy", -0.1, compared.policy[name]),
            ("static", 0.1, compared.static[name]),
        ):
            place = number + 1 + shift
            values[f"{place:.1f}: {who}, {name}"] = (
                (place, place, place),
                (found.low, found.value, found.high),
            )
    curve = evaluation.curve
    coverage = [point.coverage for point in curve]
    risk = {
        "difference to the static table": (coverage, [p.difference.value for p in curve]),
        "guarded lower bound": (coverage, [p.lower_bound for p in curve]),
        "no difference": (coverage, [0.0] * len(curve)),
    }
    plots = [
        line_plot("value, with 95 % intervals", values, x_label="estimator", y_label="value"),
        line_plot(
            "risk and coverage",
            risk,
            x_label="share of decisions that are the policy's own",
            y_label="reward",
        ),
    ]
    return _page(f"Policy {evaluation.version}", [compared.sentence], plots)


def reward_page(report: RewardReport) -> str:
    """Distribution and parts of the reward."""
    counts, edges = np.histogram(report.totals, BINS)
    middles = (edges[1:] + edges[:-1]) / 2
    weighed = {
        part: float(report.weights.signed(part) * values.mean())
        for part, values in report.parts.items()
    }
    constant = {name: each.value for name, each in report.constant.items()}
    if report.by_features is not None:
        constant["by features"] = report.by_features.value
    plots = [
        line_plot(
            "distribution of reward_v1",
            {"episodes": (middles.tolist(), counts.tolist())},
            x_label="reward",
            y_label="episodes",
        ),
        bar_plot("mean of each part, weighed", weighed, y_label="reward"),
        bar_plot("one worker for everything", constant, y_label="estimated reward"),
    ]
    return _page(f"Rewards of {report.name}", report.warnings, plots)


def _page(title: str, sentences: Sequence[str], plots: Sequence[str]) -> str:
    parts = [
        "<!doctype html>",
        f'<html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>',
        f"<style>{STYLE}</style></head><body><h1>{escape(title)}</h1>",
        *(f"<p>{escape(sentence)}</p>" for sentence in sentences),
        *plots,
        "</body></html>",
    ]
    return "\n".join(parts) + "\n"
