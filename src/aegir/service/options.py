"""The options of `POST /annotate`, read from the query: those of `aegir annotate`, with the same meaning.

    read_options({"format": "csv", "rows": "50"})     AnnotateOptions(format="csv", rows=50, …)

Values are checked where they are used, so that their sentences are those of the command line; here only their form is.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from difflib import get_close_matches
from typing import Any

from aegir.pipeline.settings import AnnotationSettings
from aegir_rl.base.errors import UsageError

REPORT = "report"
"""The page's own format: JSON with answers, previews, failures and how columns were routed."""
FLAGS = {"true": True, "1": True, "false": False, "0": False}
MOST_ROWS = 10_000


@dataclass(frozen=True, slots=True)
class AnnotateOptions:
    """How tables are to be annotated."""

    format: str = "json"
    rows: int = 200
    seed: int = 0
    min_confidence: float = 0.1
    precision: float | None = None
    custom: bool = True
    memory: bool = True

    def as_dict(self) -> dict[str, Any]:
        """Return plain values, for a job."""
        return {each.name: getattr(self, each.name) for each in fields(self)}

    @property
    def settings(self) -> AnnotationSettings:
        """The same as settings of annotating."""
        return AnnotationSettings(
            rows=self.rows,
            seed=self.seed,
            min_confidence=self.min_confidence,
            precision=self.precision,
            custom_types=self.custom,
            memory=self.memory,
        )

    @property
    def key(self) -> str:
        """What jobs must have in common to be annotated together."""
        return repr([(name, value) for name, value in self.as_dict().items() if name != "format"])


def read_options(query: Mapping[str, str]) -> AnnotateOptions:
    """Read options from a query; raise UsageError for unknown ones and for values of the wrong form."""
    known = {each.name: each for each in fields(AnnotateOptions)}
    values: dict[str, Any] = {}
    for name, text in query.items():
        if name not in known:
            near = get_close_matches(name, known, 1)
            hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(known)}"
            raise UsageError(f"unknown option {name!r}; {hint}")
        values[name] = _value(name, text, known[name].default)
    options = AnnotateOptions(**values)
    if options.rows > MOST_ROWS:
        raise UsageError(f"rows is {options.rows}; the service samples at most {MOST_ROWS:,} rows")
    return options


def _value(name: str, text: str, default: object) -> object:
    if isinstance(default, str):
        return text
    if isinstance(default, bool):
        if text.lower() not in FLAGS:
            raise UsageError(f"{name} is {text!r}; expected true or false")
        return FLAGS[text.lower()]
    kind: type[int] | type[float] = int if isinstance(default, int) else float
    try:
        return kind(text)
    except ValueError:
        what = "a whole number" if kind is int else "a number"
        raise UsageError(f"{name} is {text!r}; expected {what}") from None
