"""Keep what people say about columns, in a worker process; a reply is sent when it is on the disk.

    with files       corrections of their columns go to the review memory, as those of `aegir review`
    without files    corrections of a logged run go to the decision store, as those of `aegir feedback`

    [{"table": "customers.csv", "column": "email", "label": "email"}]      a column by header, or by number from 0 on;
                                                                           the label null says that no name fits
All corrections are checked before the first is recorded.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aegir.memory.review import check_label
from aegir.memory.store import ReviewStore, make_review
from aegir.pipeline.custom_types.store import load_types, types_folder
from aegir.pipeline.run import Failure
from aegir.pipeline.settings import DEFAULTS
from aegir.routing.corrections import Correction, record_corrections
from aegir.service.annotating import Annotating, Stores
from aegir.service.fork_server import Job
from aegir.service.limits import Limits
from aegir.service.reading import read_upload
from aegir.service.responses import Reply, json_reply
from aegir.tables.table import Table
from aegir_rl.base.errors import UsageError, reason_of
from aegir_rl.offline.store import DecisionStore

KEYS = {"table", "column", "label", "personal"}
NOBODY = "someone at the page"


@dataclass(frozen=True, slots=True)
class _Said:
    """What is said about one column."""

    table: str
    column: str | int
    label: str | None
    personal: bool | None


class Reviewing:
    """Records corrections in the stores of the service."""

    def __init__(self, annotating: Annotating, limits: Limits, stores: Stores) -> None:
        self._annotating, self._limits, self._stores = annotating, limits, stores

    def record(self, job: Job) -> Reply:
        """Record the corrections of a request."""
        own = {each.name: each.kind for each in load_types(types_folder(), lambda _: None)}
        if job["body"]:
            return self._judge_run(Path(job["folder"]) / job["body"], own)
        said = _read_corrections(_parsed(job["fields"].get("corrections")))
        for each in said:
            if each.label is not None:
                check_label(each.label, own)
        if self._stores.reviews is None:
            raise UsageError(
                "the service has no place to keep reviews; start it with --memory FILE"
            )
        outcomes = read_upload(job, self._limits, DEFAULTS.rows, seed=0)
        for outcome in outcomes:
            if isinstance(outcome, Failure):
                raise outcome.kind(outcome.reason)
        tables = [outcome for outcome in outcomes if isinstance(outcome, Table)]
        places = [_find(each, tables) for each in said]
        answers = self._annotating.answer(tables)
        by = job["fields"].get("by", "").strip() or NOBODY
        reviews = [
            make_review(
                tables[table],
                index,
                each.label,
                answer=answers[table].columns[index],
                by=by,
                personal=each.personal,
                own_types=own,
            )
            for each, (table, index) in zip(said, places, strict=True)
        ]
        with ReviewStore.open(self._stores.reviews) as store:
            store.add(reviews)  # all or none
        recorded = [{"id": each.id, "verdict": each.verdict} for each in reviews]
        return json_reply({"recorded": recorded, "by": by})

    def _judge_run(self, path: Path, own: Mapping[str, str]) -> Reply:
        document = _parsed(path.read_text("utf-8", "replace"))
        if not isinstance(document, Mapping) or set(document) - {"corrections", "run", "by"}:
            raise UsageError('expected {"corrections": […]}, and perhaps "run" and "by"')
        if self._stores.decisions is None:
            raise UsageError(
                "the service logs no decisions; start it with --log-decisions FILE, or send the files along with the corrections"
            )
        run, by = document.get("run"), document.get("by", "user")
        if not isinstance(run, str | None) or not isinstance(by, str):
            raise UsageError("run and by must be text")
        said = _read_corrections(document.get("corrections"))
        corrections = []
        for number, each in enumerate(said, 1):
            where = f"correction {number}"
            if each.label is None:
                raise UsageError(f"{where} has no label; without files only names can be recorded")
            check_label(each.label, own)
            corrections.append(Correction(each.table, str(each.column), each.label, where))
        with DecisionStore.open(self._stores.decisions) as store:
            ids = record_corrections(store, corrections, run, by)
        return json_reply({"recorded": [{"id": each} for each in ids], "by": by})


def _parsed(text: str | None) -> Any:
    if text is None:
        raise UsageError("the form has no part 'corrections'; expected a list as JSON")
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"the corrections are no JSON ({reason_of(error)})") from None


def _read_corrections(given: object) -> list[_Said]:
    if not isinstance(given, list) or not given:
        raise UsageError(
            'corrections must be a list such as [{"table": "a.csv", "column": "email", "label": "email"}]'
        )
    return [_read_correction(f"correction {number}", each) for number, each in enumerate(given, 1)]


def _read_correction(where: str, given: object) -> _Said:
    if not isinstance(given, Mapping) or not {"table", "column", "label"} <= set(given) <= KEYS:
        raise UsageError(f"{where} must have table, column and label, and perhaps personal")
    table, column, label = given["table"], given["column"], given["label"]
    personal = given.get("personal")
    if not isinstance(table, str) or isinstance(column, bool) or not isinstance(column, str | int):
        raise UsageError(f"{where} must name a table, and a column by header or number")
    if not isinstance(label, str | None) or not isinstance(personal, bool | None):
        raise UsageError(f"{where}: label must be text or null, personal true or false")
    return _Said(table, column, label, personal)


def _find(said: _Said, tables: Sequence[Table]) -> tuple[int, int]:
    """Return the places of a table and of its column."""
    names = [table.name for table in tables]
    if said.table not in names:
        raise UsageError(f"no table is called {said.table!r}; there are {', '.join(names)}")
    place = names.index(said.table)
    columns = tables[place].columns
    if isinstance(said.column, int):
        if not 0 <= said.column < len(columns):
            raise UsageError(
                f"{said.table} has no column {said.column}; it has {len(columns)}, counted from 0"
            )
        return place, said.column
    headers = [column.name for column in columns]
    if headers.count(said.column) != 1:
        raise UsageError(
            f"{said.table} has {headers.count(said.column)} columns called {said.column!r}; give the number of one, from 0 on"
        )
    return place, headers.index(said.column)
