"""List, teach and forget types, in a worker process: the functions of `aegir types`.

POST /types      files, and a part `type`:
                 {"name": "Ward/bed", "examples": [{"file": "wards.csv", "column": "bed"}], "not": [], "about": "", …}
"""

from collections.abc import Mapping, Sequence
from contextlib import chdir
from dataclasses import dataclass
from typing import Any

from aegir.pipeline.custom_types.learning import learn_type
from aegir.pipeline.custom_types.reader import load_reader
from aegir.pipeline.custom_types.store import (
    DEFAULT_KIND,
    forget_type,
    load_types,
    save_type,
    types_folder,
)
from aegir.pipeline.registry import load_annotator
from aegir.pipeline.type_catalogue import entry_as_dict, list_entries
from aegir.service.jobs import ForgetTypeJob, ListTypesJob, ShowTypeJob, TeachJob
from aegir.service.limits import Refused
from aegir.service.responses import Reply, error_reply, json_reply
from aegir.service.sources import parse_json
from aegir.vocabulary.hierarchy import meanings_of
from aegir_rl.base.errors import CheckFailed, UsageError

KEYS = {"name", "examples", "not", "about", "kind", "personal", "force"}


def answer_about_types(job: ListTypesJob | ShowTypeJob | ForgetTypeJob | TeachJob) -> Reply:
    """Do one of the jobs of this module."""
    if isinstance(job, TeachJob):
        return teach(job)
    if isinstance(job, ListTypesJob):
        return list_types()
    return show_type(job.name) if isinstance(job, ShowTypeJob) else forget(job.name)


def list_types() -> Reply:
    """Return every name that an answer may have, with its definition."""
    taught = load_types(types_folder(), _silent)
    return json_reply({"types": [entry_as_dict(entry) for entry in list_entries(taught)]})


def show_type(name: str) -> Reply:
    """Return what one name means."""
    taught = [each for each in load_types(types_folder(), _silent) if each.name == name]
    try:
        entries = taught or meanings_of(name)
    except UsageError as error:
        raise Refused(404, str(error)) from None
    return json_reply({"types": [entry_as_dict(entry) for entry in entries]})


def forget(name: str) -> Reply:
    """Forget a type that was taught."""
    try:
        forget_type(types_folder(), name)
    except UsageError as error:
        raise Refused(404, str(error)) from None
    return json_reply({"name": name, "forgotten": True})


def teach(job: TeachJob) -> Reply:
    """Learn a type from columns of the files; keep it if it can be told from others."""
    lesson = _read_lesson(job.sent.fields.get("type"), job.sent.files)
    with chdir(job.sent.folder):  # examples are called as the files sent are
        learnt = learn_type(
            lesson.name,
            lesson.examples,
            lesson.against,
            load_reader(),
            load_annotator(),
            personal=lesson.personal,
            about=lesson.about,
            kind=lesson.kind,
        )
    complaint = learnt.report.complaint()
    kept = lesson.force or complaint is None
    if not kept:
        refused = CheckFailed(f"{lesson.name} was not kept: {complaint}")
        return error_reply(refused, **learnt.as_dict(kept=False))
    save_type(types_folder(), learnt.type)
    return json_reply(learnt.as_dict(kept=True))


@dataclass(frozen=True, slots=True)
class _Lesson:
    name: str
    examples: tuple[str, ...]
    against: tuple[str, ...]
    about: str
    kind: str
    personal: bool
    force: bool


def _read_lesson(text: str | None, files: Sequence[str]) -> _Lesson:
    if text is None:
        raise UsageError("the form has no part 'type'; expected a name and examples as JSON")
    lesson = parse_json(text, "part 'type' is")
    if not isinstance(lesson, Mapping) or not isinstance(lesson.get("name"), str):
        raise UsageError("the part 'type' must be an object with a name and examples")
    if unknown := sorted(set(lesson) - KEYS):
        raise UsageError(
            f"the part 'type' has the unknown key {unknown[0]!r}; there are {', '.join(sorted(KEYS))}"
        )
    return _Lesson(
        name=lesson["name"],
        examples=_columns(lesson.get("examples", []), files),
        against=_columns(lesson.get("not", []), files),
        about=_of_type(lesson, "about", ""),
        kind=_of_type(lesson, "kind", DEFAULT_KIND),
        personal=_of_type(lesson, "personal", False),
        force=_of_type(lesson, "force", False),
    )


def _of_type(lesson: Mapping[str, Any], key: str, default: Any) -> Any:
    value = lesson.get(key, default)
    if type(value) is not type(default):
        raise UsageError(
            f"{key} is {value!r}; expected {'text' if isinstance(default, str) else 'true or false'}"
        )
    return value


def _columns(columns: object, files: Sequence[str]) -> tuple[str, ...]:
    """Return columns as `aegir types learn` names them; only files of the request can be named."""
    if not isinstance(columns, list):
        raise UsageError('examples must be a list such as [{"file": "wards.csv", "column": "bed"}]')
    return tuple(_column(column, files) for column in columns)


def _column(column: object, files: Sequence[str]) -> str:
    if not isinstance(column, Mapping) or column.get("file") not in files:
        raise UsageError(
            f"an example is {column!r}; expected one of the files sent, and its column"
        )
    table, wanted = column.get("table"), column.get("column")
    if isinstance(wanted, int) and not isinstance(wanted, bool):
        wanted = f"column_{wanted + 1}"
    if not isinstance(wanted, str) or not wanted or not isinstance(table, str | None):
        raise UsageError(
            f"an example is {column!r}; its column must be a header or a number from 0 on"
        )
    part = "" if table is None else "#" + table
    return f"{column['file']}{part}:{wanted}"


def _silent(_sentence: str) -> None:
    """Types that cannot be used are told of where the service was started."""
