"""`aegir rewards`: put rewards to the test before training on them."""

import json
import shlex
from pathlib import Path

import click

from aegir.answers.cells import table_lines, terminal_width
from aegir.cli.options import verb_options
from aegir.cli.terminal import say, tell
from aegir.lab.reward_validation.config import ValidationConfig, read_validation_config
from aegir.lab.reward_validation.report import ValidationReport
from aegir.lab.reward_validation.report_page import render_page
from aegir.lab.reward_validation.validation import validate_rewards
from aegir_rl.base.errors import CheckFailed, UsageError
from aegir_rl.base.files import replace_file
from aegir_rl.base.text import escape_controls, escape_surrogates


@click.command("validate", epilog="Example: aegir rewards validate --out runs/rewards")
@verb_options("rewards validate")
def validate(config: Path | None, as_json: bool, out: Path | None) -> None:
    """Check gradient, polarity, independence and scale of each reward.

    Measured on a small router and on hand-made cases; also suggests lambdas. Leaves with 3 when a check fails.
    """
    settings = ValidationConfig() if config is None else read_validation_config(config)
    report = validate_rewards(settings)
    if out is not None:
        _write(report, out, _command(config, out))
    if as_json:
        click.echo(json.dumps(report.as_dict(), allow_nan=False))
    else:
        _show(report)
    if report.failures:
        first = report.failures[0]
        raise CheckFailed(
            f"{len(report.failures)} of {len(report.checks)} reward checks failed, the first: "
            f"{first.kind} of {first.component}, {first.name}: {first.sentence}"
        )


def _command(config: Path | None, out: Path) -> str:
    """The command line that made a report."""
    given = [] if config is None else ["--config", str(config)]
    return shlex.join(["aegir", "rewards", "validate", *given, "--out", str(out)])


def _write(report: ValidationReport, out: Path, command: str) -> None:
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"cannot write into {out}: {error.strerror}") from None
    text = json.dumps(report.as_dict(), indent=2, allow_nan=False)
    replace_file(out / "report.json", f"{text}\n".encode())
    replace_file(out / "report.html", escape_surrogates(render_page(report, command)).encode())
    tell(f"wrote {out / 'report.html'} and {out / 'report.json'}")


def _show(report: ValidationReport) -> None:
    checks = []
    for check in sorted(report.checks, key=lambda check: check.passed):
        mark, to_do = ("yes", "") if check.passed else ("NO", f"; to do: {check.advice}")
        cells = (mark, check.kind, check.component, check.name, check.sentence + to_do)
        checks.append(tuple(map(escape_controls, cells)))
    header = ("", "question", "reward", "check", "evidence")
    say(*table_lines(header, checks, numbers=False, width=terminal_width()))
    for name, scale in report.scales.items():
        if scale.suggested_lambda is not None:
            say(
                f"lambda_{name} {getattr(report.config, f'lambda_{name}'):g}; to vary that much "
                f"relative to r_perf: {scale.suggested_lambda:.3f}"
            )
    say(*report.errors)
