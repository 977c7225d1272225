"""The pages of docs/reference, generated from the code: command line, vocabulary, public Python names.

python -m aegir.cli.reference docs/reference

A page begins with the text of reference_cli.md or reference_python.md.
"""

import inspect
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import click

from aegir.cli.main import LazyVerb, app
from aegir.vocabulary.page import page as vocabulary_page

EXAMPLE = "Example: "
PACKAGES = (
    "aegir",
    *(f"aegir.{name}" for name in ("memory", "engines", "swarm", "readers.swarm.pool")),
    *(f"aegir_rl.{name}" for name in ("episode", "rewards", "raters", "health", "rl", "offline")),
    *(f"aegir_rl.{name}" for name in ("observe", "simulator", "simulator.sandbox")),
)
"""What other programs may import; everything else is private."""


def pages() -> dict[str, str]:
    """Every page by its file name."""
    return {"cli.md": cli_page(), "python.md": python_page(), "vocabulary.md": vocabulary_page()}


def _introduction(page: str) -> str:
    return Path(__file__).with_name(f"reference_{page}.md").read_text(encoding="utf-8")


def cli_page() -> str:
    """Every verb and figure with its options."""
    return "\n".join([_introduction("cli"), *(_section(context) for context in leaves())])


def leaves() -> Iterator[click.Context]:
    """A context for every verb that does something, in the order of `aegir --help`, then for every figure."""
    figures = import_module("aegir.lab.figures.__main__")
    for group, name in ((app, "aegir"), (figures.figures, figures.COMMAND)):
        yield from _leaves(click.Context(group, info_name=name, **group.context_settings))


def _leaves(context: click.Context) -> Iterator[click.Context]:
    if not isinstance(context.command, click.Group):
        yield context
        return
    for name in context.command.list_commands(context):
        command = context.command.commands[name]
        command = command.load() if isinstance(command, LazyVerb) else command
        yield from _leaves(click.Context(command, context, info_name=name, terminal_width=100))


def _section(context: click.Context) -> str:
    command = context.command
    usage = command.get_usage(context).removeprefix("Usage: ")
    example = (command.epilog or "").removeprefix(EXAMPLE)
    return "\n".join(
        [
            f"## {context.command_path}\n",
            f"{_unwrapped(command.help or '')}\n",
            f"```\n{usage}\n\n$ {example}\n```\n",
            "| option | meaning |",
            "|---|---|",
            *_options(context),
            "",
        ]
    )


def _options(context: click.Context) -> Iterator[str]:
    for parameter in context.command.params:
        record = parameter.get_help_record(context)
        if isinstance(parameter, click.Option) and record is not None:
            flags, meaning = record
            yield f"| `{_cell(flags)}` | {_cell(meaning)} |"


def _unwrapped(text: str) -> str:
    """The text with each paragraph on one line."""
    return "\n\n".join(" ".join(part.split()) for part in text.strip().split("\n\n"))


def _cell(text: str) -> str:
    return " ".join(text.replace("|", "\\|").split())


def python_page() -> str:
    """Every public name with its signature and what it is."""
    return "\n".join([_introduction("python"), *map(_package, PACKAGES)])


def _package(name: str) -> str:
    module = import_module(name)
    entries = (
        _entry(each, getattr(module, each)) for each in sorted(module.__all__, key=str.lower)
    )
    return "\n".join([f"## {name}\n", f"{_first_sentence(module)}\n", *entries, ""])


def _entry(name: str, value: object) -> str:
    if not callable(value) or not inspect.getdoc(value):
        return f"- `{name}`"
    try:
        arguments = ", ".join(inspect.signature(value).parameters)
    except ValueError:
        arguments = "…"
    return f"- `{name}({arguments})`: {_first_sentence(value)}"


def _first_sentence(value: object) -> str:
    return " ".join((inspect.getdoc(value) or "").split("\n\n")[0].split())


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    for name, text in pages().items():
        (folder / name).write_text(text, encoding="utf-8")
