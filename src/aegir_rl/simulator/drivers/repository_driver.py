"""Runs inside a sandbox: calls functions, command lines and unit tests of the package that lies in the current folder.

    run("test", "tests.test_reader.ReaderTest.test_blank_lines")     "passed", or "failed" and the last line of the reason
    run("call", "ledger.cleaner:read_amount", "1,20", {…})           what the function returns
    run("command", "ledger.cli:main", ["rows.csv"], {"rows.csv": …}) exit code and output of a command line, with these files

Expected values are compared outside, as for every other task.
"""

import contextlib
import importlib
import io
import os
import sys
import unittest
from pathlib import Path
from typing import Any

sys.path.insert(0, os.getcwd())  # noqa: PTH109, what imports look for is a text
sys.dont_write_bytecode = True


def run(action: str, target: str, *arguments: Any) -> Any:
    """Do what is asked of the package."""
    if action == "test":
        return run_test(target)
    module, _, name = target.partition(":")
    function = getattr(importlib.import_module(module), name)
    return run_command(function, *arguments) if action == "command" else function(*arguments)


def run_test(name: str) -> str:
    """Run one unit test."""
    result = unittest.TestResult()
    unittest.defaultTestLoader.loadTestsFromName(name).run(result)
    problems = [*result.errors, *result.failures]
    if problems:
        return f"failed: {problems[0][1].strip().splitlines()[-1]}"
    return "passed" if result.testsRun else "failed: there is no such test"


def run_command(function: Any, arguments: list[str], files: dict[str, str]) -> dict[str, Any]:
    """Call the entry point of a command line and keep what it prints."""
    for name, text in files.items():
        Path(name).write_text(text, encoding="utf-8")
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        try:
            code = function(arguments)
        except SystemExit as end:
            code = end.code
    return {"exit": code, "stdout": out.getvalue()}
