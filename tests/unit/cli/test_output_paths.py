"""Every output option of every verb: what cannot be written is refused before any work, `-` is stdout or refused, folders are made."""

import os
from importlib import import_module
from pathlib import Path

import click
import pytest

from aegir.cli.main import VERBS
from aegir.cli.options import OutputPath
from aegir.lab.figures.__main__ import figures
from aegir.memory.store import ReviewStore
from aegir_rl.base.errors import UsageError
from command_line import run, run_figures, run_process
from reviewed_tables import answer_for, made_up_table

NAMES = ("--out", "--output", "--run-pack-dir", "--plot", "--plots", "--work")


def _command(home: str) -> click.Command:
    module, _, function = home.partition(":")
    return getattr(import_module(f"aegir.{module}"), function)


def _outputs() -> list[tuple[str, str, click.Parameter]]:
    """Verb, option and parameter of every output option; verbs of `python -m aegir.lab.figures` begin with `figures`."""
    commands = {verb: _command(home) for verb, home in VERBS.items()}
    commands |= {
        f"figures {name}": figures.commands[name].load()  # type: ignore[attr-defined]
        for name in sorted(figures.commands)
    }
    return [
        (verb, name, parameter)
        for verb, command in commands.items()
        for parameter in command.params
        for name in parameter.opts
        if name in NAMES
    ]


OUTPUTS = _outputs()


def _run(verb: str, *arguments: object):
    words = verb.split()
    return run_figures(*words[1:], *arguments) if words[0] == "figures" else run(*words, *arguments)


def test_every_verb_that_writes_checks_where_to():
    assert len(OUTPUTS) > 25
    assert [
        (verb, name) for verb, name, each in OUTPUTS if not isinstance(each.type, OutputPath)
    ] == []


@pytest.mark.parametrize(("verb", "name", "parameter"), OUTPUTS, ids=lambda each: str(each))
def test_what_cannot_be_written_is_refused_first_and_nothing_is_made(
    verb: str,
    name: str,
    parameter: click.Parameter,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.chdir(tmp_path)
    file, folder = tmp_path / "file", tmp_path / "folder"
    file.write_text("x")
    folder.mkdir()
    kind = parameter.type
    assert isinstance(kind, OutputPath)
    bad = [file / "below", file / "far" / "below", "", "x" * 5000, "nul\0"]
    bad += [] if kind.folder else [folder]
    bad += [] if kind.file else [file]
    bad += ["-"] if isinstance(kind.dash, str) else []
    for path in bad:
        done = _run(verb, name, path)
        assert done.code == 2, path
        assert "Traceback" not in done.err, path
        said = "the name is empty" if path == "" else " cannot be written ("
        assert said in done.said[-1], path
    assert sorted(tmp_path.iterdir()) == [file, folder]
    for good in (tmp_path / "new", tmp_path / "far" / "away" / "new"):
        assert kind.convert(str(good), parameter, None) == good
    assert not (tmp_path / "far").exists()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_without_permission_is_refused(tmp_path: Path):
    tmp_path.chmod(0o500)
    with pytest.raises(UsageError, match="Permission denied"):
        OutputPath().convert(str(tmp_path / "far" / "file"), None, None)
    tmp_path.chmod(0o700)


def test_reviews_are_exported_to_stdout_or_into_a_new_folder(tmp_path: Path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("AEGIR_MEMORY", str(tmp_path / "memory.db"))
    table = made_up_table(12)
    with ReviewStore.open(tmp_path / "memory.db") as store:
        store.record(table, 3, "status", answer=answer_for(table).columns[3], by="ada")
    exported = run("review", "export", "--out", "-")
    assert exported.out == run("review", "export").out != ""
    assert not (tmp_path / "-").exists()
    assert run("review", "export", "--out", "far/away/reviews.jsonl").code == 0
    assert (tmp_path / "far" / "away" / "reviews.jsonl").read_text() == exported.out
    assert run("review", "export", "--out", "./-").code == 0  # a file of that name
    assert (tmp_path / "-").read_text() == exported.out


def test_a_log_is_written_to_stdout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    made = run_process("rl", "collect-synth", "--rows", "3", "--output", "-")
    assert made.code == 0
    assert made.out.count("\n") == 3
    assert made.out.startswith('{"format"')
    assert list(tmp_path.iterdir()) == []
