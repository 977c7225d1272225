"""Docs that cannot drift: every verb explains itself, its page is current, README commands run."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import click
import pytest

from aegir.cli.main import VERBS, app, find_help_line
from aegir.cli.reference import EXAMPLE, leaves, pages
from aegir.lab.figures.__main__ import COMMAND, FIGURES

ROOT = Path(__file__).parent.parent
REFERENCE = ROOT / "docs" / "reference"
LEAVES = [pytest.param(context, id=context.command_path) for context in leaves()]


def shell_commands(markdown: str) -> list[str]:
    """The commands shown in code blocks as `$ aegir …`, continued lines joined."""
    blocks = re.findall(r"^```.*?\n(.*?)^```", markdown, re.DOTALL | re.MULTILINE)
    indented = re.findall(r"^ {4}.*$", markdown, re.MULTILINE)
    text = "\n".join([*blocks, *(line[4:] for line in indented)]).replace("\\\n", " ")
    return [line[2:] for line in text.splitlines() if line.startswith("$ aegir")]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The example tables, here and in `examples/`, so that both ways to name them work."""
    shutil.copytree(ROOT / "examples", tmp_path, dirs_exist_ok=True)
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    return tmp_path


@pytest.mark.parametrize("context", LEAVES)
def test_every_verb_says_what_it_does_and_shows_an_example(context: click.Context):
    command = context.command
    assert command.help
    assert command.help.strip().split("\n")[0].endswith(".")
    assert (command.epilog or "").startswith(f"{EXAMPLE}{context.command_path} ")
    for option in command.params:
        if isinstance(option, click.Option):
            assert option.help, f"{context.command_path} {option.opts[0]} has no help"


@pytest.mark.parametrize("context", LEAVES)
def test_the_example_of_every_verb_parses(context: click.Context):
    words = (context.command.epilog or "").removeprefix(EXAMPLE).split()
    arguments = words[len(context.command_path.split()) :]
    context.command.make_context(context.info_name, arguments, context.parent)


@pytest.mark.parametrize("context", LEAVES)
def test_the_help_line_that_is_read_from_the_source_is_that_of_the_verb(context: click.Context):
    path = context.command_path.removeprefix(f"{COMMAND} ").removeprefix("aegir ")
    home = VERBS.get(path) or FIGURES[path]
    assert find_help_line(home) == context.command.get_short_help_str(limit=200)


def test_every_group_says_what_it_holds():
    groups = [each for each in app.commands.values() if isinstance(each, click.Group)]
    assert all(group.help and group.commands for group in groups)


def test_the_reference_is_up_to_date():
    for name, text in pages().items():
        assert (REFERENCE / name).read_text(encoding="utf-8") == text, (
            f"regenerate {name} with: make reference"
        )


@pytest.mark.parametrize("context", LEAVES)
def test_every_verb_has_a_section_on_the_page(context: click.Context):
    assert f"## {context.command_path}\n" in (REFERENCE / "cli.md").read_text(encoding="utf-8")


def test_commands_are_found_in_code_blocks_only():
    shown = "$ aegir no\n```\n$ aegir a \\\n  b\nanswer\n```\ntext\n\n    $ aegir c\n"
    assert shell_commands(shown) == ["aegir a    b", "aegir c"]


def test_every_command_of_the_readme_runs(folder: Path):
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    for command in shell_commands((ROOT / "README.md").read_text(encoding="utf-8")):
        done = subprocess.run(
            command,
            shell=True,
            cwd=folder,
            env={**os.environ, "PATH": path},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert done.returncode == 0, f"{command}: {done.stderr}"


PAGES = [*(ROOT / "docs").rglob("*.md"), *ROOT.glob("*.md"), *(ROOT / "examples").rglob("*.md")]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_between_pages_lead_somewhere(page: Path):
    for link in re.findall(r"\]\(([^)#\s]+)", page.read_text(encoding="utf-8")):
        if "://" not in link:
            assert (page.parent / link).exists(), f"{page.name} links to {link}"


def test_the_index_of_the_docs_links_every_page():
    index = (ROOT / "docs" / "README.md").read_text(encoding="utf-8")
    for page in (ROOT / "docs").rglob("*.md"):
        name = str(page.relative_to(ROOT / "docs"))
        assert name == "README.md" or f"]({name})" in index, name


def test_the_walk_of_a_column_takes_ten_files_that_exist():
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    walk = page.split("from the file to the answer", 1)[1].split("What each step promises", 1)[0]
    files = re.findall(r"^\| `([^`]+\.py)` \|", walk, re.MULTILINE)
    assert len(files) == 10
    assert all((ROOT / "src" / "aegir" / file).is_file() for file in files)
