"""Draws the evidence of PARL runs: activation per type, rewards and lambdas over training, time against accuracy.

    save_plots(Path("plots"), rows, runs)        activation.svg, rewards.svg, lambdas.svg, cost.svg, critical_path.svg

Curves are of the first run whose router was learnt by reinforcement learning; other plots have a point or a map per variant.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from aegir.lab.figures.parl_evidence import Comparison
from aegir_rl.base.errors import UsageError
from aegir_rl.base.run_folder import METRICS
from aegir_rl.observe.plots import heat_plot, line_plot, write_svgs

LEARNT = "parl"
"""The variant whose activation and curves are drawn."""
SMOOTHED = 5
"""Steps of which the mean is drawn: a single step rates a dozen tables."""
REWARDS = {
    "reward/total": "total",
    "reward/perf": "r_perf",
    "reward/parallel": "r_parallel",
    "reward/finish": "r_finish",
}
LAMBDAS = {"reward/lambda_parallel": "lambda_parallel", "reward/lambda_finish": "lambda_finish"}
TOTAL, PATH, F1 = "time/total_work", "time/critical_path", "web/f1"


def save_plots(folder: Path, rows: Sequence[Comparison], runs: Mapping[str, Path]) -> list[Path]:
    """Write the plots; `runs` has one run of each variant, by its name. Return the files."""
    if LEARNT not in runs:
        raise UsageError(
            f"none of the runs is of the variant {LEARNT!r}; there is nothing to draw of its routing"
        )
    learnt = next(row for row in rows if row.name == LEARNT)
    types = sorted(learnt.activation)
    specialists = list(learnt.activation[types[0]]) if types else []
    curves = _read_curves(runs[LEARNT])
    timed = {row.name: row.mean for row in rows if TOTAL in row.mean}
    plots = {
        "activation": heat_plot(
            "share of a type's columns that each specialist read",
            types,
            specialists,
            [[learnt.activation[name][each] for each in specialists] for name in types],
        ),
        "rewards": line_plot(
            "rewards, means of five steps",
            _chosen(curves, REWARDS),
            x_label="step",
            y_label="reward",
        ),
        "lambdas": line_plot("annealed weights", _chosen(curves, LAMBDAS), x_label="step"),
        "critical_path": line_plot(
            "time on held-out tables",
            {name: ([mean[TOTAL]], [mean[PATH]]) for name, mean in timed.items()},
            x_label="seconds of all models together",
            y_label="seconds of the critical path",
            dots=True,
        ),
    }
    judged = {name: mean for name, mean in timed.items() if F1 in mean}
    if judged:
        plots["cost"] = line_plot(
            "accuracy against cost",
            {name: ([mean[TOTAL]], [mean[F1]]) for name, mean in judged.items()},
            x_label="seconds of all models together",
            y_label="F1 of web types",
            dots=True,
        )
    return write_svgs(folder, plots)


def _read_curves(run: Path) -> dict[str, list[tuple[float, float]]]:
    """Return the points (step, value) of every reward and weight that a run recorded."""
    curves: dict[str, list[tuple[float, float]]] = {name: [] for name in (*REWARDS, *LAMBDAS)}
    for line in (run / METRICS).read_text(encoding="utf-8").splitlines():
        record = json.loads(line)
        for name, points in curves.items():
            if name in record:
                points.append((float(record["step"]), float(record[name])))
    return curves


def _chosen(
    curves: Mapping[str, Sequence[tuple[float, float]]], names: Mapping[str, str]
) -> dict[str, tuple[list[float], list[float]]]:
    """Return the means of SMOOTHED points in a row of each curve, under the name that is shown."""
    found = {}
    for name, shown in names.items():
        parts = [
            curves[name][start : start + SMOOTHED]
            for start in range(0, len(curves[name]), SMOOTHED)
        ]
        if parts:
            found[shown] = (
                [sum(x for x, _ in part) / len(part) for part in parts],
                [sum(y for _, y in part) / len(part) for part in parts],
            )
    return found
