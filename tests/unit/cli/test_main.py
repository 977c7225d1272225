"""The door: exit codes, help, and what is loaded when."""

import json
from importlib.metadata import version
from unittest.mock import patch

import pytest

from aegir.cli.main import VERBS
from aegir.lab.figures.__main__ import FIGURES
from command_line import run, run_figures, run_process

LOADED = "import json, sys; print(json.dumps(sorted({name.split('.')[0] for name in sys.modules})))"


def loaded_by(code: str) -> set[str]:
    done = run_process(python=f"{code}\n{LOADED}")
    assert done.code == 0, done.err
    return set(json.loads(done.out.splitlines()[-1]))


def test_the_version_and_the_help_leave_with_0():
    assert run("--version").out == f"aegir {version('aegir-tables')}\n"
    for arguments in (("--help",), ("-h",), ("annotate", "--help"), ("train", "ngrams", "-h")):
        done = run(*arguments)
        assert (done.code, done.err) == (0, "")
        assert done.out.startswith("Usage: aegir")


@pytest.mark.parametrize("arguments", [("annotat",), ("--nope",), ("annotate", "--nope"), ()])
def test_a_verb_or_flag_that_is_not_there_leaves_with_2(arguments: tuple[str, ...]):
    done = run(*arguments)
    assert done.code == 2
    assert "Usage: aegir" in done.err
    assert done.out == ""


@pytest.mark.parametrize(
    "arguments",
    [
        ("annotate", "x.csv", "--out", ""),
        ("annotate", "x.csv", "--model", ""),
        ("runs", "health", ""),
    ],
)
def test_an_empty_path_is_refused(arguments: tuple[str, ...]):
    done = run(*arguments)
    assert done.code == 2
    assert done.said[-1].endswith("the name is empty.")


def test_nan_is_in_no_range():
    done = run("train", "spawning", "runs/parl", "--data", "data", "--path-cost", "nan")
    assert (done.code, done.out) == (2, "")
    assert "'--path-cost': nan is no number" in done.err


def test_data_engineers_find_their_verbs_first_in_the_help():
    shown = run("--help").out
    assert "\nTables:\n  annotate  Say what" in shown
    places = [
        shown.index(f"\n{heading}:") for heading in ("Tables", "More", "Training", "Research")
    ]
    assert places == sorted(places)
    assert len(VERBS) <= 45


def test_figures_are_listed_with_what_they_show():
    shown = run_figures("--help").out
    for name in FIGURES:
        assert f"\n  {name} " in shown
    assert run_figures("nothing").code == 2


def test_a_near_miss_is_suggested():
    assert "annotate" in run("annotat").err.splitlines()[-1]


def test_an_error_about_the_arguments_does_not_pass_on_control_characters():
    done = run("types", "show", "price", "\x1b]0;title\x07")
    assert done.code == 2
    assert r"Got unexpected extra argument (\x1b]0;title\x07)" in done.err
    assert "\x1b" not in done.err


def test_an_interruption_leaves_with_130_and_a_word():
    with patch("aegir.cli.annotate.prepare", side_effect=KeyboardInterrupt):
        done = run("annotate", __file__)
    assert done.code == 130
    assert done.said[-1] == "aegir: interrupted"
    assert "Traceback" not in done.err


HEAVY = {"numpy", "duckdb", "rich", "phonenumbers", "stdnum", "safetensors", "torch"}


def loaded_by_running(*arguments: str) -> set[str]:
    return loaded_by(
        f"import sys; sys.argv = ['aegir', *{arguments!r}]\n"
        "from aegir.cli.main import main\n"
        "try: main()\nexcept SystemExit as left: assert not left.code"
    )


def test_importing_the_package_loads_nothing_heavy():
    assert not loaded_by("import aegir") & (HEAVY | {"click"})


@pytest.mark.parametrize(
    "arguments", [("--help",), ("train", "--help"), ("types", "list"), ("types", "show", "price")]
)
def test_help_and_the_vocabulary_load_nothing_heavy(arguments: tuple[str, ...]):
    assert not loaded_by_running(*arguments) & HEAVY


def test_the_modules_of_all_verbs_load_no_torch():
    homes = [*VERBS.values(), *FIGURES.values()]
    modules = {f"aegir.{home.partition(':')[0]}" for home in homes}
    assert "torch" not in loaded_by("\n".join(f"import {module}" for module in sorted(modules)))


def test_names_of_the_package_are_found_on_first_use():
    assert not loaded_by("import aegir; aegir.Table, aegir.Guess") & {"numpy"}
    assert run_process(python="import aegir; aegir.nothing").err.endswith(
        "AttributeError: module 'aegir' has no attribute 'nothing'\n"
    )
