"""How tables are to be annotated: the one noun that crosses every border (command line, Python, HTTP, process, node).

    AnnotationSettings(effort="high", rows=50)
    AnnotationSettings.from_query({"rows": "50", "tables": "sales.*"})        texts, as a query has them
    AnnotationSettings.from_dict(settings.as_dict())                          JSON values, for another process

Values are checked when settings are made, by the same sentences at every door. The key of a language model is left out of
`as_dict`: it is read from the environment by whoever starts the process that calls the model.
"""

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from aegir.tables.overrides import (
    MOST_LINES,
    Overrides,
    parse_delimiter,
    parse_encoding,
    parse_header,
)
from aegir_rl.base.errors import UsageError

if TYPE_CHECKING:
    from aegir_rl.base.llm_client import LlmSettings

DEFAULT_ANNOTATOR = "dispatch"
EFFORTS = {"low": 0.0, "normal": 0.5, "high": 1.0}
NORMAL = EFFORTS["normal"]
LONGEST = 86_400.0
"""Seconds that a table may be given."""
FLAGS = {"true": True, "1": True, "false": False, "0": False}
ROWS_IN_QUERY = 10_000
"""Rows that a request may have sampled."""
PATHS = ("model", "routing", "policy", "previous", "tags")
_KINDS: tuple[tuple[tuple[str, ...], tuple[type, ...], str], ...] = (
    (("rows", "seed", "skip"), (int,), "a whole number"),
    (("encoding", "delimiter", "sheet"), (str,), "text"),
    (("header",), (int, str), "the number of its line, from 1, or none"),
    (("within", "min_confidence", "precision"), (int, float), "a number"),
    (PATHS, (Path,), "a path"),
    (("effort",), (str, int, float), "low, normal, high or a number from 0 to 1"),
)
"""Settings by what they may be."""
_SECONDS = re.compile(r"\s*([0-9]*\.?[0-9]+)\s*(ms|s)\s*")


@dataclass(frozen=True, slots=True, kw_only=True)
class AnnotationSettings:
    """What a user may choose about annotating; the defaults are those of `aegir annotate`."""

    annotator: str = DEFAULT_ANNOTATOR
    model: Path | None = None
    """Weights, or the folder of a swarm, instead of those that ship."""
    effort: str | float | None = None
    """low, normal, high or a number from 0 to 1; None for the annotator's own, which is normal."""
    within: float | None = None
    """Seconds that each table may take."""
    routing: Path | None = None
    """A routing table (YAML) instead of the one that ships."""
    policy: Path | None = None
    """A learnt policy, which decides where it is sure enough."""
    llm: "LlmSettings | None" = None
    """A language model that columns may be sent to."""
    timing: bool = False
    """Whether answers say how long a table took."""
    rows: int = 200
    """Values sampled per column."""
    seed: int = 0
    names_only: bool = False
    """Whether answers follow from headers, table names and declared types alone: no cell is read."""
    ignore_names: bool = False
    """Whether headers and table names are withheld from the readers, so that answers follow from values alone."""
    tables: tuple[str, ...] = ()
    """Patterns that choose tables of databases; empty for all."""
    encoding: str | None = None
    """The encoding of text files, such as cp1252; None to find out."""
    delimiter: str | None = None
    """The character between cells of text files, or tab, comma, semicolon, pipe, space; None to find out."""
    header: int | str | None = None
    """The line that holds the names, counted from 1 behind the skipped ones, or "none"; None to find out."""
    skip: int = 0
    """Lines left out at the beginning of text files and sheets."""
    sheet: str | None = None
    """The only sheet of workbooks to read, by its name or number; None for all."""
    min_confidence: float = 0.1
    """Answers below are left out: a guess that is wrong nine times in ten helps nobody."""
    precision: float | None = None
    """Answer only where this share was right on validation tables."""
    custom_types: bool = True
    """Whether taught types answer."""
    previous: Path | None = None
    """Earlier answers (json or jsonl), each of which is kept while it stays plausible."""
    tags: Path | None = None
    """A file (TOML) with the tags of an organisation, by personal level and special category."""
    notations: bool = True
    """Whether answers know how values are written, which formats for programs that parse values need."""
    memory: str | bool = True
    """Where reviews are kept; True for the user's own, False for none."""

    def __post_init__(self) -> None:
        for names, kinds, expected in _KINDS:
            for name in names:
                value = getattr(self, name)
                if value is not None and (not isinstance(value, kinds) or isinstance(value, bool)):
                    raise UsageError(f"{name} is {value!r}; expected {expected}")
        if self.rows < 1:
            raise UsageError(f"rows is {self.rows}; at least 1 row must be sampled")
        if not 0 <= self.skip <= MOST_LINES:
            raise UsageError(f"skip is {self.skip}; expected a number of lines, 0 to {MOST_LINES}")
        _ = self.overrides  # raises for what cannot be read
        if self.names_only and self.ignore_names:
            raise UsageError(
                "names_only and ignore_names leave nothing to read; choose one of them, or none"
            )
        if self.effort is not None:
            parse_effort(self.effort)
        if self.within is not None and not 0 < self.within <= LONGEST:
            raise UsageError(
                f"the time for a table is {self.within} s; expected more than 0, and a day at most"
            )
        if not 0 <= self.min_confidence <= 1:
            raise UsageError(
                f"min_confidence is {self.min_confidence}; expected a number from 0 to 1"
            )
        if self.precision is not None and not 0 < self.precision < 1:
            raise UsageError(f"precision is {self.precision}; expected a number between 0 and 1")

    @property
    def overrides(self) -> Overrides:
        """What the settings say about files, which readers would otherwise find out."""
        return Overrides(
            None if self.encoding is None else parse_encoding(self.encoding),
            None if self.delimiter is None else parse_delimiter(self.delimiter),
            None if self.header is None else parse_header(self.header),
            self.skip,
            self.sheet,
        )

    def changed(self, **values: Any) -> Self:
        """Return the same settings but for these; raise `UsageError` for a name that is none of them."""
        known = [each.name for each in fields(self)]
        for name in values:
            if name not in known:
                raise UsageError(f"unknown setting {name!r}; {_near(name, known)}")
        for name in PATHS:
            if isinstance(values.get(name), str):
                values[name] = Path(values[name])
        if isinstance(values.get("tables"), str):
            values["tables"] = (values["tables"],)
        if isinstance(values.get("sheet"), int):
            values["sheet"] = str(values["sheet"])
        if isinstance(values.get("within"), str):
            values["within"] = parse_seconds(values["within"])
        return replace(self, **values)

    @classmethod
    def from_query(cls, query: Mapping[str, str]) -> Self:
        """Read the settings that a request may choose from the texts of its query."""
        values: dict[str, Any] = {}
        for name, text in query.items():
            if name not in QUERY:
                raise UsageError(f"unknown option {name!r}; {_near(name, list(QUERY))}")
            setting, parse = QUERY[name]
            values[setting] = parse(name, text)
        settings = cls(**values)
        if settings.rows > ROWS_IN_QUERY:
            raise UsageError(
                f"rows is {settings.rows}; the service samples at most {ROWS_IN_QUERY:,} rows"
            )
        return settings

    def as_dict(self) -> dict[str, Any]:
        """Return JSON values; the key of a language model is not among them."""
        values = {each.name: getattr(self, each.name) for each in fields(self)}
        for name in PATHS:
            values[name] = None if values[name] is None else str(values[name])
        if self.llm is not None:
            values["llm"] = {
                each.name: getattr(self.llm, each.name)
                for each in fields(self.llm)
                if each.name != "key"
            }
        return values | {"tables": list(self.tables)}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """Read what `as_dict` wrote."""
        plain = {**values, "tables": tuple(values["tables"])}
        if plain["llm"] is not None:
            from aegir_rl.base.llm_client import LlmSettings

            plain["llm"] = LlmSettings(**plain["llm"])
        return cls().changed(**plain)


def _near(name: str, known: list[str]) -> str:
    near = get_close_matches(name, known, 1)
    return f"did you mean {near[0]!r}?" if near else f"there are {', '.join(known)}"


def parse_effort(effort: str | float) -> float:
    """Return the effort that a name or a number stands for."""
    if isinstance(effort, str) and effort in EFFORTS:
        return EFFORTS[effort]
    try:
        number = float(effort)
    except ValueError:
        number = math.nan
    if not 0 <= number <= 1:
        raise UsageError(
            f"the effort is {effort!r}; expected low, normal, high or a number from 0 to 1"
        )
    return number


def parse_seconds(text: str) -> float:
    """Return the seconds that `200ms` or `1.5s` stand for."""
    match = _SECONDS.fullmatch(text)
    seconds = float(match[1]) * (0.001 if match[2] == "ms" else 1) if match else 0.0
    if not 0 < seconds <= LONGEST:
        raise UsageError(
            f"--within is {text[:40]!r}; expected a time above 0 and up to a day, such as 200ms or 1.5s"
        )
    return seconds


def _whole(name: str, text: str) -> int:
    if not re.fullmatch(r"\s*[+-]?[0-9]{1,40}\s*", text, re.ASCII):
        raise UsageError(f"{name} is {text[:40]!r}; expected a whole number")
    return int(text)


def _number(name: str, text: str) -> float:
    try:
        return float(text if text.isascii() and "_" not in text else "")
    except ValueError:
        raise UsageError(f"{name} is {text[:40]!r}; expected a number") from None


def _flag(name: str, text: str) -> bool:
    if text.lower() not in FLAGS:
        raise UsageError(f"{name} is {text!r}; expected true or false")
    return FLAGS[text.lower()]


def _patterns(_name: str, text: str) -> tuple[str, ...]:
    return tuple(filter(None, (part.strip() for part in text.split(","))))


DEFAULTS = AnnotationSettings()
QUERY: dict[str, tuple[str, Callable[[str, str], object]]] = {
    "rows": ("rows", _whole),
    "seed": ("seed", _whole),
    "min_confidence": ("min_confidence", _number),
    "precision": ("precision", _number),
    "names_only": ("names_only", _flag),
    "ignore_names": ("ignore_names", _flag),
    "custom": ("custom_types", _flag),
    "memory": ("memory", _flag),
    "effort": ("effort", lambda _name, text: text),
    "within": ("within", lambda _name, text: parse_seconds(text)),
    "tables": ("tables", _patterns),
    "encoding": ("encoding", lambda _name, text: text),
    "delimiter": ("delimiter", lambda _name, text: text),
    "header": ("header", lambda _name, text: text),
    "skip": ("skip", _whole),
    "sheet": ("sheet", lambda _name, text: text),
}
"""The name of an option in a query, the setting that it is, and how its text is read."""
