"""The validation report as one HTML page that needs nothing else: no script, no file beside it, no network."""

from collections.abc import Iterator
from html import escape
from importlib.metadata import version

from aegir.lab.reward_validation.report import RewardCheck, ValidationReport
from aegir_rl.observe.plots import bar_plot, line_plot
from aegir_rl.rewards.sweeps import reward_sweeps

STYLE = """
body { font-family: sans-serif; max-width: 1100px; margin: 2em auto; padding: 0 1em; color: #222; }
table { border-collapse: collapse; margin: 1em 0; } td, th { padding: 4px 10px; text-align: left; vertical-align: top; }
tr:nth-child(even) { background: #f5f5f5; } .yes { color: #00714f; } .no { color: #b03000; font-weight: bold; }
.plots { display: flex; flex-wrap: wrap; gap: 12px; } .plots svg { border: 1px solid #ddd; }
"""


def render_page(report: ValidationReport, command: str = "validate_rewards()") -> str:
    """The whole page; `command` is what made the report."""
    verdict = "passed" if report.passed else f"{len(report.failures)} checks failed"
    parts = [
        "<!doctype html>",
        '<html lang="en"><head><meta charset="utf-8"><title>Reward validation</title>',
        f"<style>{STYLE}</style></head><body>",
        f'<h1>Reward validation: <span class="{_class(report.passed)}">{verdict}</span></h1>',
        *(f'<p class="no">{escape(error)}</p>' for error in report.errors),
        "<h2>Checks</h2>",
        _checks(report),
        "<h2>Scale and lambdas</h2>",
        _scales(report),
        "<h2>Measured</h2>",
        f'<div class="plots">{"".join(_measured(report))}</div>',
        "<h2>Each reward over a sweep</h2>",
        f'<div class="plots">{"".join(_sweeps(report))}</div>',
        f"<p>Made by aegir {version('aegir-tables')} with <code>{escape(command)}</code>: seed {report.config.seed}, "
        f"{report.config.episodes} tables per batch, on a toy router and synthetic tables.</p>",
        "</body></html>",
    ]
    return "\n".join(parts) + "\n"


def _checks(report: ValidationReport) -> str:
    """Failed checks first, each with what to do."""
    rows = [
        f'<tr><td class="{_class(check.passed)}">{"passed" if check.passed else "FAILED"}</td>'
        f"<td>{escape(check.kind)}</td><td>{escape(check.component)}</td>"
        f"<td>{escape(check.name)}</td><td>{escape(check.sentence)}{_advice(check)}</td></tr>"
        for check in sorted(report.checks, key=lambda check: check.passed)
    ]
    head = "<tr><th></th><th>question</th><th>reward</th><th>check</th><th>evidence</th></tr>"
    return f"<table>{head}{''.join(rows)}</table>"


def _advice(check: RewardCheck) -> str:
    return "" if check.passed else f'<br><span class="no">To do: {escape(check.advice)}.</span>'


def _scales(report: ValidationReport) -> str:
    lambdas = {
        "perf": 1.0,
        "parallel": report.config.lambda_parallel,
        "finish": report.config.lambda_finish,
    }
    rows = [
        f"<tr><td>{name}</td><td>{_number(scale.mean)}</td><td>{_number(scale.spread)}</td>"
        f"<td>{lambdas[name]:g}</td>"
        f"<td>{'always 1' if name == 'perf' else _number(scale.suggested_lambda)}</td></tr>"
        for name, scale in report.scales.items()
    ]
    head = "<tr><th>reward</th><th>mean</th><th>spread</th><th>lambda</th><th>suggested</th></tr>"
    return (
        f"<table>{head}{''.join(rows)}</table>"
        "<p>The suggested lambda makes a part vary as much, relative to r_perf, as the lambda says.</p>"
    )


def _measured(report: ValidationReport) -> Iterator[str]:
    standing = {
        check.component: check.evidence
        for check in report.checks
        if check.kind == "gradient" and "floor" in check.evidence
    }
    bars = {
        f"{name}{which}": evidence[key]
        for name, evidence in standing.items()
        for which, key in (("", "norm"), ("\nshuffled", "shuffled"))
    }
    yield bar_plot("Policy gradient norm, and that of shuffled rewards", bars, y_label="norm")
    curves = {
        name: (range(len(curve)), [float("nan") if value is None else value for value in curve])
        for name, curve in report.curves.items()
    }
    yield line_plot("Climbing each reward alone", curves, x_label="step", y_label="mean reward")
    spreads = {name: scale.spread for name, scale in report.scales.items()}
    yield bar_plot("Spread over varied policies", spreads, y_label="standard deviation")
    yield bar_plot("Correlation over varied policies", report.correlations, y_label="correlation")


def _sweeps(report: ValidationReport) -> Iterator[str]:
    for sweep in reward_sweeps(report.config.parallel, report.config.finish):
        yield line_plot(sweep.title, sweep.lines, x_label=sweep.x_label, y_label="reward")


def _class(passed: bool) -> str:
    return "yes" if passed else "no"


def _number(value: float | None) -> str:
    return "missing" if value is None else f"{value:.3f}"
