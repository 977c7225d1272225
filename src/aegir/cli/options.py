"""Options that several verbs share, so that they are spelt and explained alike; from options to settings.

    @verb_options("rows", "annotator", "effort")
    def verb(**options): settings = settings_from(options)

options.tsv has every option in a line: the verb, or the group that several verbs share; flags; what it takes (`KINDS`; with
limits such as 0..1, or >0..1 without 0; `*` may be repeated, `!` is required); its default, where =rows is that setting of
annotating. An option whose choices or help come from the code is declared at its verb.

The environment is read here and nowhere below: AEGIR_RL_POLICY=1 switches the policy of AEGIR_RL_CHECKPOINT on, and
AEGIR_LLM_KEY is the key for the endpoint that --llm-endpoint names.
"""

import errno
import math
import os
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from aegir.cli.terminal import tell
from aegir.pipeline.settings import DEFAULTS, AnnotationSettings, parse_seconds
from aegir_rl.base.errors import UsageError

if TYPE_CHECKING:
    from aegir_rl.base.llm_client import LlmSettings

Verb = TypeVar("Verb", bound=Callable[..., Any])
LLM_KEY = "AEGIR_LLM_KEY"
POLICY_SWITCH, POLICY_FILE = "AEGIR_RL_POLICY", "AEGIR_RL_CHECKPOINT"
ON = ("1", "true", "yes", "on")
STDOUT = Path("/dev/stdout")


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


class OutputPath(click.ParamType):  # type: ignore[type-arg]
    """A path to write to, refused before any work begins if it cannot be written.

    Folders that are missing are made when the file is written (aegir_rl.base.files), so that what is refused for another
    reason leaves none; here is checked that they can be made.
    """

    name = "path"

    def __init__(
        self, *, file: bool = True, folder: bool = False, dash: Path | str | None = ""
    ) -> None:
        """`dash` is what - stands for; empty where it is refused."""
        self.name = "file" if not folder else "path" if file else "directory"
        self.file, self.folder, self.dash = file, folder, dash

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> Path | None:
        text = os.fspath(value)
        if text == "":
            self.fail("the name is empty.", param, ctx)
        if text == "-" and not isinstance(self.dash, str):
            return self.dash
        path = Path(text)
        problem = "stdout does not take it; name a file" if text == "-" else self._problem(path)
        if problem:
            raise UsageError(f"{text} cannot be written ({problem})")
        return path

    def _problem(self, path: Path) -> str | None:
        """What keeps a path from being written; None for nothing that can be seen now."""
        if "\0" in str(path):
            return "its name has a NUL character"
        try:
            if path.exists():
                if path.is_dir() and not self.folder:
                    return "it is a folder; name a file"
                if not path.is_dir() and not self.file:
                    return "it is a file; name a folder"
                nearest = path
            else:
                nearest = next(each for each in path.absolute().parents if os.path.lexists(each))
                if not nearest.is_dir():
                    return os.strerror(errno.ENOTDIR)
        except OSError as error:  # a name that is too long
            return error.strerror or str(error)
        return None if os.access(nearest, os.W_OK) else os.strerror(errno.EACCES)


class NumberRange(click.FloatRange):
    """A number as an option; nan, which is in no range but compares as if it were, is refused."""

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        number: float = super().convert(value, param, ctx)
        if math.isnan(number):
            self.fail(f"{value} is no number.", param, ctx)
        return number


KINDS: dict[str, Callable[..., dict[str, Any]]] = {
    "flag": lambda: {"is_flag": True},
    "text": dict,
    "path": lambda: {"type": PathName()},
    "file": lambda: {"type": PathName(dir_okay=False)},
    "folder": lambda: {"type": PathName(file_okay=False)},
    "output": lambda: {"type": OutputPath(dash=None)},
    "output-lines": lambda: {"type": OutputPath(dash=STDOUT)},
    "output-file": lambda: {"type": OutputPath()},
    "output-folder": lambda: {"type": OutputPath(file=False, folder=True)},
    "output-path": lambda: {"type": OutputPath(folder=True)},
    "int": lambda limits="": {"type": click.IntRange(**_range(limits)) if limits else int},
    "number": lambda limits="": {"type": NumberRange(**_range(limits)) if limits else float},
    "choice": lambda *names: {"type": click.Choice(names)},
    "prices": lambda: {"type": NumberRange(0), "nargs": 2, "default": (0.0, 0.0)},
    "store": lambda: {"envvar": "AEGIR_STORE"},
}
"""What an option takes, by the first word of its `value` in options.tsv."""


def verb_options(*groups: str, **defaults: Any) -> Callable[[Verb], Verb]:
    """Give a verb the options of these groups of options.tsv, in this order; some with defaults from the code."""
    rows = [row for group in groups for row in _options_by_group()[group]]

    def decorate(verb: Verb) -> Verb:
        for row in reversed(rows):
            verb = _option(row, defaults)(verb)
        return verb

    return decorate


@cache
def _options_by_group() -> dict[str, list[list[str]]]:
    groups: dict[str, list[list[str]]] = {}
    lines = Path(__file__).with_name("options.tsv").read_text(encoding="utf-8").splitlines()
    for line in lines[1:]:
        group, *cells = line.split("\t")
        groups.setdefault(group, []).append(cells)
    return groups


def _option(row: Sequence[str], defaults: Mapping[str, Any]) -> Callable[[Verb], Verb]:
    flags, value, metavar, default, text = row
    names, (kind, *details) = flags.split(), value.split()
    attributes = KINDS[kind.rstrip("*!")](*details)
    if "*" in kind or "!" in kind:
        attributes |= {"multiple": "*" in kind, "required": "!" in kind}
    name = next((each for each in names if each[0] != "-"), names[0][2:].replace("-", "_"))
    if name in defaults:
        attributes["default"] = defaults[name]
    elif default:
        attributes["default"] = getattr(DEFAULTS, default[1:]) if default[0] == "=" else default
    shown = "default" in attributes and kind != "prices" and "(default)" not in text
    return click.option(
        *names, metavar=metavar or None, show_default=shown, help=text, **attributes
    )


def _range(limits: str) -> dict[str, Any]:
    """The limits of a range: `1..`, `0..1`, or `>0..1` without 0 itself."""
    ends = limits.removeprefix(">").split("..")
    low, high = (float(end) if "." in end else int(end or 0) for end in ends)
    return {"min": low, "max": high or None, "min_open": limits[0] == ">"}


def settings_from(options: Mapping[str, Any]) -> AnnotationSettings:
    """Return the settings that the options of a verb and the environment ask for."""
    from aegir.pipeline.registry import ROUTED  # loads numpy, which few verbs need for --help

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
        if model is not None or any(price):
            option = f"--llm-model {model}" if model is not None else "--llm-price"
            raise UsageError(f"{option} needs --llm-endpoint, such as http://127.0.0.1:8000/v1")
        return None
    from aegir_rl.base.llm_client import LlmSettings

    key = os.environ.get(LLM_KEY) or None
    return LlmSettings(endpoint, model or "", key, price_in=price[0], price_out=price[1])


NO_DATABASE = "--tables chooses tables of a database given by its address, such as sqlite:///shop.db; no source is one"
