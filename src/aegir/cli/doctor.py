"""`aegir doctor`: what this machine has, and what is missing."""

import json
from dataclasses import asdict

import click

from aegir.cli.terminal import say
from aegir.pipeline.installation import Finding, inspect_installation
from aegir_rl.base.errors import CheckFailed
from aegir_rl.simulator.sandbox.backends import inspect_backends


@click.command("doctor", epilog="Example: aegir doctor --json")
@click.option("--json", "as_json", is_flag=True, help="One JSON object per line of the report.")
def doctor(as_json: bool) -> None:
    """Say what is installed and works: weights, extras, formats, places, engines, sandboxes.

    Each sandbox is tried with a small program. Leaves with 3 when none works, or the weights cannot be loaded.
    """
    sandboxes = [
        Finding("sandbox", state.name, state.works, state.sentence) for state in inspect_backends()
    ]
    findings = [*inspect_installation(), *sandboxes]
    for each in findings:
        if as_json:
            click.echo(json.dumps(asdict(each)))
        else:
            answer = "yes" if each.works else "no"
            say(f"{answer:<4} {each.part:<8} {each.name:<25} {each.sentence}")
    if not all(each.works for each in findings if each.part == "weights"):
        raise CheckFailed("the weights cannot be loaded; install aegir-tables anew")
    if not any(each.works for each in sandboxes):
        raise CheckFailed("no sandbox works on this machine; install bubblewrap, Docker or Podman")
