"""What the service has workers do: a dataclass per kind of job, which crosses to the worker as JSON.

Not here: doing them (worker.py), and who does them when (job_queue.py).
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any

from aegir.pipeline.settings import QUERY, AnnotationSettings
from aegir_rl.base.errors import UsageError

REPORT = "report"
"""The page's own format: JSON with answers, previews, failures and how columns were routed."""


@dataclass(frozen=True, slots=True)
class Sent:
    """What a request brought, in a folder of its own."""

    folder: str
    files: tuple[str, ...] = ()
    fields: Mapping[str, str] = field(default_factory=dict)
    """Other parts of a form, as text."""
    body: str | None = None
    """The file of a JSON document, if that was sent instead of a form."""

    def __str__(self) -> str:
        return ", ".join(self.files) or "the request"


@dataclass(frozen=True, slots=True)
class AnnotateJob:
    """Annotate the tables that were sent."""

    sent: Sent
    settings: AnnotationSettings = field(default_factory=AnnotationSettings)
    format: str = "json"

    @property
    def key(self) -> str:
        """What jobs must have in common to be annotated together."""
        return repr(self.settings)


def read_query(options: Iterable[tuple[str, str]]) -> tuple[AnnotationSettings, str]:
    """Return settings and format; raise `UsageError` for names that are unknown or twice, and for values that cannot be used."""
    known = ["format", *QUERY]
    query: dict[str, str] = {}
    for name, text in options:
        if name not in known:
            near = get_close_matches(name, known, 1)
            hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(known)}"
            raise UsageError(f"unknown option {name!r}; {hint}")
        if name in query:
            raise UsageError(f"the option {name} is given twice; send one value for it")
        query[name] = text
    chosen = {name: text for name, text in query.items() if name != "format"}
    return AnnotationSettings.from_query(chosen), query.get("format", "json")


@dataclass(frozen=True, slots=True)
class FeedbackJob:
    """Record what people say about columns."""

    sent: Sent


@dataclass(frozen=True, slots=True)
class TeachJob:
    """Learn a type from columns of the files that were sent."""

    sent: Sent


@dataclass(frozen=True, slots=True)
class ListTypesJob:
    """List every name that an answer may have."""


@dataclass(frozen=True, slots=True)
class ShowTypeJob:
    """Say what one name means."""

    name: str


@dataclass(frozen=True, slots=True)
class ForgetTypeJob:
    """Forget a type that was taught."""

    name: str


@dataclass(frozen=True, slots=True)
class ListRunsJob:
    """List training runs, and what the service annotated lately."""

    annotated: list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class ShowRunJob:
    """Summarise one training run."""

    name: str


Job = (
    AnnotateJob
    | FeedbackJob
    | TeachJob
    | ListTypesJob
    | ShowTypeJob
    | ForgetTypeJob
    | ListRunsJob
    | ShowRunJob
)
