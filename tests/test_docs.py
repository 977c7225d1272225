"""Docs that cannot drift: every verb explains itself, its page is current, README commands run."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

import architecture_page
from aegir.cli.main import VERBS, app, find_help_line
from aegir.cli.reference import EXAMPLE, leaves, pages
from aegir.lab.figures.__main__ import COMMAND, FIGURES
from test_architecture import MODULES

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
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


def run_in(folder: Path, command: str) -> subprocess.CompletedProcess[str]:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(
        command,
        shell=True,
        cwd=folder,
        env={**os.environ, "PATH": path, "COLUMNS": "120"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_every_command_of_the_readme_runs(folder: Path):
    for command in shell_commands(README):
        done = run_in(folder, command)
        assert done.returncode == 0, f"{command}: {done.stderr}"


def test_the_first_session_of_the_readme_is_real(folder: Path):
    command, shown = re.findall(
        r"^```\n\$ (aegir .*?)\n(.*?)^```", README, re.DOTALL | re.MULTILINE
    )[0]
    assert run_in(folder, command).stdout.strip() == shown.strip()


def test_the_readme_is_short_and_says_how_to_begin():
    assert len(README.split()) <= 700
    assert all(
        f"    {command} " in README for command in ("make demo", "make test", "pip install .")
    )


PAGES = [*(ROOT / "docs").rglob("*.md"), *ROOT.glob("*.md"), *(ROOT / "examples").rglob("*.md")]
TRACKED = [
    path.relative_to(ROOT).as_posix()
    for folder in ("src", "tests", "docs", "examples", "configs", "sim", "rl", "benchmarks")
    for path in sorted((ROOT / folder).rglob("*"))
    if path.is_file() and "__pycache__" not in path.parts
] + [path.name for path in sorted(ROOT.iterdir()) if path.is_file()]


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


def test_the_generated_parts_of_the_architecture_page_are_current():
    text = architecture_page.PAGE.read_text(encoding="utf-8")
    assert text == architecture_page.render_page(text), "regenerate it with: make reference"


def mentioned(pattern: str) -> Iterator[tuple[str, str]]:
    """What pages about the present say, with the page: not log and changelog, nor what is generated and tested elsewhere."""
    for page in PAGES:
        if page.name not in ("log.md", "CHANGELOG.md") and page.parent != REFERENCE:
            text = page.read_text(encoding="utf-8")
            text = re.sub(r"<!-- walk: .*<!-- end of walk -->", "", text, flags=re.DOTALL)
            yield from ((name, page.name) for name in re.findall(pattern, text))


def test_every_python_file_that_a_page_names_exists():
    files = {path for path in TRACKED if path.endswith(".py")}
    names = {path.rsplit("/", 1)[-1] for path in files}
    roots = ["", "src/", "src/aegir/", "src/aegir_rl/"]
    missing = [
        (page, name)
        for name, page in mentioned(r"(?<![\w./-])((?:[\w-]+/)*\w+\.py)\b")
        if not (any(root + name in files for root in roots) if "/" in name else name in names)
    ]
    assert missing == []


def test_every_module_that_a_page_names_exists():
    missing = [
        (page, name)
        for name, page in mentioned(r"(?<![\w./'\"-])(aegir(?:_rl)?(?:\.\w+)+)(?![\w/-])")
        if not is_known(name)
    ]
    assert missing == []


def is_known(name: str) -> bool:
    """Whether a dotted name is a module, or a name that stands in one."""
    parts = name.split(".")
    known = [n for n in range(1, len(parts) + 1) if ".".join(parts[:n]) in MODULES]
    path = MODULES[".".join(parts[: max(known)])]
    files = [each for each in (path, path.with_suffix(".pyi")) if each.exists()]
    module = "\n".join(each.read_text(encoding="utf-8") for each in files)
    return all(re.search(rf"\b{part}\b", module) for part in parts[max(known) :][:1])


def code_in(text: str) -> str:
    """The fenced and indented blocks and the code spans of a page, a line each."""
    fenced = re.findall(r"^```.*?\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    rest = re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE)
    return "\n".join(
        [*fenced, *re.findall(r"^ {4}.*$", rest, re.MULTILINE), *re.findall(r"`([^`]+)`", rest)]
    )


def test_every_verb_that_a_page_names_exists():
    missing = set()
    for page in PAGES:
        if page.name not in ("log.md", "CHANGELOG.md"):
            code = code_in(page.read_text(encoding="utf-8"))
            for group, verb in re.findall(
                r"(?:^|[ $])aegir ([a-z]+)(?: ([a-z][a-z-]+)(?![\w./:]))?", code, re.MULTILINE
            ):
                command = app.commands.get(group)
                if command is None or (
                    isinstance(command, click.Group) and verb and verb not in command.commands
                ):
                    missing.add((page.name, f"aegir {group} {verb}".strip()))
    assert missing == set()


def test_every_figure_that_a_page_names_exists():
    figures = pytest.importorskip("aegir.lab.figures.__main__").FIGURES
    named = set(mentioned(r"python -m aegir\.lab\.figures ([a-z-]+)"))
    assert {(name, page) for name, page in named if name not in figures} == set()


def test_links_to_sections_lead_to_a_heading():
    missing = []
    for page in PAGES:
        for link, anchor in re.findall(r"\]\(([\w./-]*\.md|)#([^)]+)\)", page.read_text("utf-8")):
            target = (page.parent / link if link else page).read_text(encoding="utf-8")
            headings = re.findall(r"^#+ (.+)$", target, re.MULTILINE)
            if anchor not in {
                re.sub(r"[^\w -]", "", head.lower()).replace(" ", "-") for head in headings
            }:
                missing.append((page.name, f"{link}#{anchor}"))
    assert missing == []


def test_nothing_sends_a_reader_to_the_package_of_another_project():
    stranger = re.compile(r"pip3? install[^\n]*?[ '\"]aegir(?![\w-])|(?<![\w-])aegir\[")
    for path in TRACKED:
        if not path.startswith(("benchmarks/results/", "tests/")):
            try:
                text = (ROOT / path).read_text(encoding="utf-8")
            except UnicodeDecodeError:
                continue
            assert not stranger.search(text), f"{path} names the distribution of a stranger"


def test_results_are_cited_by_file_or_version_and_not_by_commit():
    for name, page in mentioned(r"\bcommit `?([0-9a-f]{7,10})\b"):
        raise AssertionError(f"{page} cites commit {name}; a rebase changes it")
    results = {path.stem for path in (ROOT / "benchmarks" / "results").rglob("*.json")}
    for name, page in mentioned(r"\b(\d{4}-\d\d-\d\d-[0-9a-f]{7,})\b"):
        assert name in results, f"{page} cites {name}, which benchmarks/results does not have"
