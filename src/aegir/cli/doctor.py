"""`aegir doctor`: what this machine has, and what is missing."""

import json
from dataclasses import asdict

import click

from aegir.cli.terminal import say
from aegir_rl.base.errors import CheckFailed
from aegir_rl.simulator.sandbox.backends import inspect_backends


@click.command("doctor", epilog="Example: aegir doctor --json")
@click.option("--json", "as_json", is_flag=True, help="One JSON object per sandbox.")
def doctor(as_json: bool) -> None:
    """Say which sandboxes work on this machine, and what is missing.

    Each is tried with a small program. Leaves with 3 when none works.
    """
    states = inspect_backends()
    for state in states:
        if as_json:
            click.echo(json.dumps(asdict(state)))
        else:
            say(f"{'yes' if state.works else 'no ':<4} {state.name:<13} {state.sentence}")
    if not any(state.works for state in states):
        raise CheckFailed("no sandbox works on this machine; install bubblewrap, Docker or Podman")
