"""Running `aegir` in tests: through its real door in this process, or as a process of its own."""

import io
import os
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from unittest.mock import patch

import click
import pytest

from aegir.cli.main import app, main
from aegir.lab.figures.__main__ import COMMAND, figures


@dataclass(frozen=True, slots=True)
class Finished:
    """What a run left behind."""

    code: int
    out: str
    err: str

    @property
    def said(self) -> list[str]:
        """The lines on stderr."""
        return self.err.splitlines()


def run(
    *arguments: object, stdin: bytes = b"", group: click.Group = app, name: str = "aegir"
) -> Finished:
    """`aegir arguments…` in this process."""
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", newline="") for _ in range(2))
    given = io.TextIOWrapper(io.BytesIO(stdin), encoding="utf-8")
    with (
        patch.object(sys, "argv", ["aegir", *map(str, arguments)]),
        patch.object(sys, "stdin", given),
        redirect_stdout(out),
        redirect_stderr(err),
        pytest.raises(SystemExit) as left,
    ):
        main(group, name)
    texts = []
    for stream in (out, err):
        stream.seek(0)
        texts.append(stream.read())
    return Finished(int(left.value.code or 0), *texts)


def run_figures(*arguments: object) -> Finished:
    """`python -m aegir.lab.figures arguments…` in this process."""
    return run(*arguments, group=figures, name=COMMAND)


def refused(done: Finished, *parts: str) -> None:
    """Assert that a run was asked wrongly, in one sentence at the end of what was said, with these parts."""
    assert done.code == 2, done.err
    assert done.said[-1].startswith("aegir: ")
    assert "Traceback" not in done.err
    for part in parts:
        assert part in done.said[-1]


def run_process(
    *arguments: object, stdin: bytes = b"", python: str | None = None, **environment: str
) -> Finished:
    """`aegir arguments…` as a process, or the Python code given instead."""
    command = ["-c", python] if python is not None else ["-m", "aegir"]
    done = subprocess.run(
        [sys.executable, *command, *map(str, arguments)],
        input=stdin,
        capture_output=True,
        env={"PATH": "", "PYTHONIOENCODING": "utf-8", **_inherited(), **environment},
        timeout=100,
        check=False,
    )
    return Finished(done.returncode, done.stdout.decode(), done.stderr.decode())


def _inherited() -> dict[str, str]:
    """Where this run of the tests keeps taught types (conftest.py), and which sources it tests."""
    return {key: os.environ[key] for key in ("AEGIR_HOME", "PYTHONPATH") if key in os.environ}
