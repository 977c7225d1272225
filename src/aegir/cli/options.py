"""Options that several verbs share, so that they are spelt and explained alike; from options to settings.

    @annotation_options("rows", "annotator", "effort")
    def verb(**options): settings = settings_from(options)

The environment is read here and nowhere below: AEGIR_RL_POLICY=1 switches the policy of AEGIR_RL_CHECKPOINT on, and
AEGIR_LLM_KEY is the key for the endpoint that --llm-endpoint names.
"""

import math
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from aegir.cli.terminal import tell
from aegir.pipeline.registry import ROUTED
from aegir.pipeline.settings import DEFAULTS, AnnotationSettings, parse_seconds, parse_spawn
from aegir_rl.base.errors import UsageError

if TYPE_CHECKING:
    from aegir_rl.base.llm_client import LlmSettings

Verb = TypeVar("Verb", bound=Callable[..., Any])
LLM_KEY = "AEGIR_LLM_KEY"
POLICY_SWITCH, POLICY_FILE = "AEGIR_RL_POLICY", "AEGIR_RL_CHECKPOINT"
ON = ("1", "true", "yes", "on")


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


class SpawnCount(click.ParamType):  # type: ignore[type-arg]
    """A number of specialists, `auto` or `all`."""

    name = "spawn"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> str | int:
        try:
            return parse_spawn(str(value))
        except UsageError as error:
            self.fail(str(error), param, ctx)


OPTIONS: dict[str, tuple[Callable[[Any], Any], ...]] = {
    "rows": (
        click.option(
            "--rows",
            default=DEFAULTS.rows,
            type=click.IntRange(1),
            show_default=True,
            help="Values sampled per column, spread over the whole table.",
        ),
    ),
    "seed": (click.option("--seed", default=0, show_default=True, help="Which rows are sampled."),),
    "tables": (
        click.option(
            "--tables",
            metavar="PATTERN",
            multiple=True,
            help="Only these tables of databases given by address: a name or pattern, such as sales.*; may be repeated.",
        ),
    ),
    "annotator": (
        click.option(
            "--annotator",
            metavar="NAME",
            default=DEFAULTS.annotator,
            help="dispatch (default), combined, search (or search@low, search@0.75, …), swarm, byte_model, ngrams or rules.",
        ),
        click.option(
            "--model",
            type=PathName(),
            help="Weights made by `aegir train export` for byte_model, the folder of a swarm for swarm, "
            "else weights made by `aegir train ngrams`, instead of those that ship.",
        ),
    ),
    "effort": (
        click.option(
            "--effort",
            metavar="NAME|NUMBER",
            help="How far unsure columns are searched: low, normal (default; high for --annotator search), high, or a number from 0 to 1.",
        ),
        click.option(
            "--within",
            metavar="TIME",
            help="Search each table for at most this long, such as 200ms: the best answer that is there by then.",
        ),
    ),
    "routing": (
        click.option(
            "--routing",
            type=PathName(dir_okay=False),
            help="Route by this table (YAML) instead of the one that ships.",
        ),
        click.option(
            "--policy",
            type=PathName(dir_okay=False),
            help="Route by this learnt policy; below its floor, or if it fails, the routing table decides.",
        ),
    ),
    "llm": (
        click.option(
            "--llm-endpoint",
            metavar="URL",
            help="Send columns that stay unsure, five cells of each, to this OpenAI-compatible endpoint; "
            f"the key, if it needs one, is read from {LLM_KEY}.",
        ),
        click.option("--llm-model", metavar="NAME", help="The model to call at --llm-endpoint."),
        click.option(
            "--llm-price",
            nargs=2,
            type=NumberRange(0),
            default=(0.0, 0.0),
            metavar="IN OUT",
            help="What a million tokens cost, sent and received, for the account at the end.",
        ),
    ),
    "spawn": (
        click.option(
            "--spawn",
            metavar="auto|all|N",
            type=SpawnCount(),
            help="Specialists that a table may activate (annotator swarm): as its complexity asks for, all that the router "
            "chooses, or at most N [default: auto, if the swarm has an estimate].",
        ),
    ),
    "timing": (
        click.option(
            "--timing",
            is_flag=True,
            help="Measure how long each table takes (annotator swarm); such output differs from run to run.",
        ),
    ),
    "custom": (
        click.option(
            "--no-custom",
            is_flag=True,
            help="Leave out the types that you taught (`aegir types learn`).",
        ),
    ),
    "memory": (
        click.option(
            "--memory",
            metavar="FILE|URL",
            help="Where reviews are kept: a SQLite file, or postgresql://user@host/database "
            "[default: AEGIR_MEMORY, else memory.db in AEGIR_HOME].",
        ),
    ),
    "no_memory": (
        click.option(
            "--no-memory", is_flag=True, help="Leave out what was reviewed (`aegir review`)."
        ),
    ),
}
"""Groups of options that are settings of annotating."""


def annotation_options(*names: str) -> Callable[[Verb], Verb]:
    """Give a verb these groups of options, in this order."""
    return _all_of([option for name in names for option in OPTIONS[name]])


def threshold_options(default: float = DEFAULTS.min_confidence) -> Callable[[Verb], Verb]:
    """--min-confidence, with this default, and --precision."""
    return _all_of(
        [
            click.option(
                "--min-confidence",
                type=NumberRange(0, 1),
                default=default,
                show_default=True,
                help="Abstain below this confidence.",
            ),
            click.option(
                "--precision",
                type=float,
                help="Abstain so that this share of answers was right on validation tables.",
            ),
        ]
    )


def _all_of(options: Sequence[Callable[[Any], Any]]) -> Callable[[Verb], Verb]:
    def decorate(verb: Verb) -> Verb:
        for option in reversed(options):
            verb = option(verb)
        return verb

    return decorate


def settings_from(options: Mapping[str, Any]) -> AnnotationSettings:
    """Return the settings that the options of `annotation_options` and the environment ask for."""
    values = dict(options)
    if values.pop("no_custom", False):
        values["custom_types"] = False
    named = values.pop("memory", None)
    values["memory"] = named if named is not None else not values.pop("no_memory", False)
    values.pop("no_memory", None)
    if values.get("within") is not None:
        values["within"] = parse_seconds(values["within"])
    values["llm"] = llm_from(
        values.pop("llm_endpoint", None),
        values.pop("llm_model", None),
        values.pop("llm_price", (0.0, 0.0)),
    )
    routed = values.get("annotator", ROUTED[0]).partition("@")[0] in ROUTED
    if values.get("policy") is None and routed:
        values["policy"] = policy_of_environment()
    return AnnotationSettings().changed(**values)


def policy_of_environment() -> Path | None:
    """Return the file of the policy that the environment switches on; None if it switches none on."""
    if os.environ.get(POLICY_SWITCH, "").lower() not in ON:
        return None
    if not (name := os.environ.get(POLICY_FILE)):
        tell(
            f"the routing table decides, without a policy: {POLICY_SWITCH} is set, but {POLICY_FILE} names no file"
        )
        return None
    return Path(name)


def llm_from(
    endpoint: str | None, model: str | None, price: tuple[float, float]
) -> "LlmSettings | None":
    """The language model that is asked for; None if no endpoint is named."""
    if endpoint is None:
        if model is not None:
            raise UsageError(
                f"--llm-model {model} needs --llm-endpoint, such as http://127.0.0.1:8000/v1"
            )
        return None
    from aegir_rl.base.llm_client import LlmSettings

    key = os.environ.get(LLM_KEY) or None
    return LlmSettings(endpoint, model or "", key, price_in=price[0], price_out=price[1])


NO_DATABASE = "--tables chooses tables of a database given by its address, such as sqlite:///shop.db; no source is one"


def source_option(verb: Verb) -> Verb:
    """--data-source."""
    return click.option(
        "--data-source",
        type=click.Choice(["real", "synthetic", "proxy", "all"]),
        help="Only episodes whose outcome comes from there. Needed where a log mixes sources.",
    )(verb)
