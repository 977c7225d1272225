"""Options that several verbs share, so that they are spelt and explained alike; paths as options."""

import math
import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from aegir.memory.location import load_memory, memory_exists
from aegir_rl.base.errors import UsageError

if TYPE_CHECKING:
    from aegir.memory.recall import ReviewMemory

Verb = TypeVar("Verb", bound=Callable[..., Any])


class PathName(click.Path):
    """A path as an option or argument; an empty one, most likely a variable that is not set, is refused."""

    def __init__(self, *, file_okay: bool = True, dir_okay: bool = True) -> None:
        super().__init__(path_type=Path, file_okay=file_okay, dir_okay=dir_okay)

    def convert(
        self,
        value: str | os.PathLike[str],
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> Any:
        if value == "":
            self.fail("the name is empty.", param, ctx)
        return super().convert(value, param, ctx)


class NumberRange(click.FloatRange):
    """A number as an option; nan, which is in no range but compares as if it were, is refused."""

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        number: float = super().convert(value, param, ctx)
        if math.isnan(number):
            self.fail(f"{value} is no number.", param, ctx)
        return number


def annotator_options(verb: Verb) -> Verb:
    """--annotator and --model."""
    verb = click.option(
        "--model",
        type=PathName(),
        help="Weights made by `aegir train export` for byte_model, the folder of a swarm for swarm, "
        "else weights made by `aegir train ngrams`, instead of those that ship.",
    )(verb)
    return click.option(
        "--annotator",
        metavar="NAME",
        default="dispatch",
        help="dispatch (default), combined, search (or search@low, search@0.75, …), swarm, byte_model, ngrams or rules.",
    )(verb)


def effort_options(verb: Verb) -> Verb:
    """--effort and --within."""
    verb = click.option(
        "--within",
        metavar="TIME",
        help="Search each table for at most this long, such as 200ms: the best answer that is there by then.",
    )(verb)
    return click.option(
        "--effort",
        metavar="NAME|NUMBER",
        help="How far unsure columns are searched: low, normal (default; high for --annotator search), high, or a number from 0 to 1.",
    )(verb)


def threshold_options(default: float) -> Callable[[Verb], Verb]:
    """--min-confidence, with this default, and --precision."""

    def decorate(verb: Verb) -> Verb:
        verb = click.option(
            "--precision",
            type=float,
            help="Abstain so that this share of answers was right on validation tables.",
        )(verb)
        return click.option(
            "--min-confidence",
            type=NumberRange(0, 1),
            default=default,
            show_default=True,
            help="Abstain below this confidence.",
        )(verb)

    return decorate


def tables_option(verb: Verb) -> Verb:
    """--tables."""
    return click.option(
        "--tables",
        metavar="PATTERN",
        multiple=True,
        help="Only these tables of databases given by address: a name or pattern, such as sales.*; may be repeated.",
    )(verb)


NO_DATABASE = "--tables chooses tables of a database given by its address, such as sqlite:///shop.db; no source is one"


def memory_option(verb: Verb) -> Verb:
    """--memory."""
    return click.option(
        "--memory",
        metavar="FILE|URL",
        help="Where reviews are kept: a SQLite file, or postgresql://user@host/database "
        "[default: AEGIR_MEMORY, else memory.db in AEGIR_HOME].",
    )(verb)


def memory_from(option: str | None) -> "ReviewMemory | None":
    """What is remembered where the option says, or by default; raise if the option names nothing."""
    if option is not None and not memory_exists(option):
        raise UsageError(
            f"there is no review memory {option}; make one with: aegir review FILE --memory {option}"
        )
    return load_memory(option)


def _read_spawn(
    context: click.Context, parameter: click.Parameter, value: str | None
) -> str | int | None:
    del context, parameter
    if value is None or value in ("auto", "all"):
        return value
    if not (value.isascii() and value.isdigit()):
        raise click.BadParameter(
            f"{value!r} is no number of specialists; expected auto, all, 0, 1, …"
        )
    return int(value)


def spawn_option(verb: Verb) -> Verb:
    """--spawn."""
    return click.option(
        "--spawn",
        metavar="auto|all|N",
        callback=_read_spawn,
        help="Specialists that a table may wake (annotator swarm): as its complexity asks for, all that the router "
        "chooses, or at most N [default: auto, if the swarm has an estimate].",
    )(verb)


def source_option(verb: Verb) -> Verb:
    """--data-source."""
    return click.option(
        "--data-source",
        type=click.Choice(["real", "synthetic", "proxy", "all"]),
        help="Only episodes whose outcome comes from there. Needed where a log mixes sources.",
    )(verb)
