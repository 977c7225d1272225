"""The validation report as one HTML page that needs nothing else: no script, no file beside it, no network.

Its text and style are in report_page.html.
"""

from collections.abc import Iterator
from html import escape
from importlib.metadata import version
from pathlib import Path
from string import Template

from aegir.lab.reward_validation.report import ValidationReport
from aegir_rl.observe.plots import bar_plot, line_plot
from aegir_rl.rewards.sweeps import reward_sweeps


def render_page(report: ValidationReport, command: str = "validate_rewards()") -> str:
    """The whole page; `command` is what made the report."""
    page = Template(Path(__file__).with_suffix(".html").read_text(encoding="utf-8"))
    return page.substitute(
        {"class": _class(report.passed)},
        verdict="passed" if report.passed else f"{len(report.failures)} checks failed",
        errors="".join(f'<p class="no">{escape(error)}</p>\n' for error in report.errors),
        checks="".join(_checks(report)),
        scales="".join(_scales(report)),
        measured="".join(_measured(report)),
        sweeps="".join(_sweeps(report)),
        version=version("aegir-tables"),
        command=escape(command),
        seed=report.config.seed,
        episodes=report.config.episodes,
    )


def _checks(report: ValidationReport) -> Iterator[str]:
    """Failed checks first, each with what to do."""
    for check in sorted(report.checks, key=lambda check: check.passed):
        to_do = f'<br><span class="no">To do: {escape(check.advice)}.</span>'
        cells = map(escape, (check.kind, check.component, check.name, check.sentence))
        yield (
            f'<tr><td class="{_class(check.passed)}">{"passed" if check.passed else "FAILED"}</td>'
            f"<td>{'</td><td>'.join(cells)}{'' if check.passed else to_do}</td></tr>"
        )


def _scales(report: ValidationReport) -> Iterator[str]:
    for name, scale in report.scales.items():
        own = 1.0 if name == "perf" else getattr(report.config, f"lambda_{name}")
        suggested = "always 1" if name == "perf" else _number(scale.suggested_lambda)
        cells = (name, _number(scale.mean), _number(scale.spread), f"{own:g}", suggested)
        yield f"<tr><td>{'</td><td>'.join(cells)}</td></tr>"


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
