"""Keep what people say about columns, in a worker process; a reply is sent when it is on the disk.

    with files       corrections of their columns go to the review memory, as those of `aegir review`
    without files    corrections of a logged run go to the decision store, as those of `aegir feedback`

    [{"table": "customers.csv", "column": "email", "label": "email"}]      a column by header, or by number from 0 on;
                                                                           the label null says that no name fits
All corrections are checked before the first is recorded.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from aegir.memory.review import check_label
from aegir.memory.store import ReviewStore, make_review
from aegir.pipeline.custom_types.store import load_types, types_folder
from aegir.pipeline.run import Failure
from aegir.pipeline.settings import AnnotationSettings
from aegir.routing.corrections import Correction, record_corrections
from aegir.service.annotations import RequestAnnotator
from aegir.service.jobs import FeedbackJob
from aegir.service.limits import RequestLimits
from aegir.service.responses import Reply, json_reply
from aegir.service.sources import parse_json, read_sent
from aegir.tables.table import Table
from aegir_rl.base.errors import UsageError
from aegir_rl.offline.store import DecisionStore

KEYS = {"table", "column", "label", "personal"}
NOBODY = "someone at the page"
WHAT = "corrections are"


@dataclass(frozen=True, slots=True)
class _Statement:
    """What is said about one column."""

    table: str
    column: str | int
    label: str | None
    personal: bool | None


class Feedback:
    """Records corrections in the stores of the service."""

    def __init__(self, annotator: RequestAnnotator, limits: RequestLimits) -> None:
        self._annotator, self._limits, self._stores = annotator, limits, annotator.stores

    def record(self, job: FeedbackJob) -> Reply:
        """Record the corrections of a request."""
        own = {each.name: each.kind for each in load_types(types_folder(), lambda _: None)}
        sent = job.sent
        if sent.body:
            return self._judge_run(Path(sent.folder) / sent.body, own)
        if "corrections" not in sent.fields:
            raise UsageError("the form has no part 'corrections'; expected a list as JSON")
        statements = _read_corrections(parse_json(sent.fields["corrections"], WHAT))
        for each in statements:
            if each.label is not None:
                check_label(each.label, own)
        if self._stores.reviews is None:
            raise UsageError(
                "the service has no place to keep reviews; start it with --memory FILE"
            )
        outcomes = read_sent(sent, self._limits, AnnotationSettings())
        for outcome in outcomes:
            if isinstance(outcome, Failure):
                raise outcome.kind(outcome.reason)
        tables = [outcome for outcome in outcomes if isinstance(outcome, Table)]
        columns = [_find(each, tables) for each in statements]
        answers = self._annotator.answer_tables(tables)
        by = sent.fields.get("by", "").strip() or NOBODY
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
            for each, (table, index) in zip(statements, columns, strict=True)
        ]
        with ReviewStore.open(self._stores.reviews) as store:
            store.add(reviews)  # all or none
        recorded = [{"id": each.id, "verdict": each.verdict} for each in reviews]
        return json_reply({"recorded": recorded, "by": by})

    def _judge_run(self, path: Path, own: Mapping[str, str]) -> Reply:
        document = parse_json(path.read_text("utf-8", "replace"), WHAT)
        if not isinstance(document, Mapping) or set(document) - {"corrections", "run", "by"}:
            raise UsageError('expected {"corrections": […]}, and perhaps "run" and "by"')
        if self._stores.decisions is None:
            raise UsageError(
                "the service logs no decisions; start it with --log-decisions FILE, or send the files along with the corrections"
            )
        run, by = document.get("run"), document.get("by", "user")
        if not isinstance(run, str | None) or not isinstance(by, str):
            raise UsageError("run and by must be text")
        statements = _read_corrections(document.get("corrections"))
        corrections = []
        for number, each in enumerate(statements, 1):
            where = f"correction {number}"
            if each.label is None:
                raise UsageError(f"{where} has no label; without files only names can be recorded")
            check_label(each.label, own)
            corrections.append(Correction(each.table, str(each.column), each.label, where))
        with DecisionStore.open(self._stores.decisions) as store:
            ids = record_corrections(store, corrections, run, by)
        return json_reply({"recorded": [{"id": each} for each in ids], "by": by})


def _read_corrections(document: object) -> list[_Statement]:
    if not isinstance(document, list) or not document:
        raise UsageError(
            'corrections must be a list such as [{"table": "a.csv", "column": "email", "label": "email"}]'
        )
    return [
        _read_correction(f"correction {number}", each) for number, each in enumerate(document, 1)
    ]


def _read_correction(where: str, document: object) -> _Statement:
    required = {"table", "column", "label"}
    if not isinstance(document, Mapping) or not required <= set(document) <= KEYS:
        raise UsageError(f"{where} must have table, column and label, and perhaps personal")
    table, column, label = document["table"], document["column"], document["label"]
    personal = document.get("personal")
    if not isinstance(table, str) or isinstance(column, bool) or not isinstance(column, str | int):
        raise UsageError(f"{where} must name a table, and a column by header or number")
    if not isinstance(label, str | None) or not isinstance(personal, bool | None):
        raise UsageError(f"{where}: label must be text or null, personal true or false")
    return _Statement(table, column, label, personal)


def _find(statement: _Statement, tables: Sequence[Table]) -> tuple[int, int]:
    """Return the indices of a table and of its column."""
    names = [table.name for table in tables]
    if statement.table not in names:
        raise UsageError(f"no table is called {statement.table!r}; there are {', '.join(names)}")
    table = names.index(statement.table)
    columns = tables[table].columns
    if isinstance(statement.column, int):
        if not 0 <= statement.column < len(columns):
            raise UsageError(
                f"{statement.table} has no column {statement.column}; it has {len(columns)}, counted from 0"
            )
        return table, statement.column
    headers = [column.name for column in columns]
    if headers.count(statement.column) != 1:
        raise UsageError(
            f"{statement.table} has {headers.count(statement.column)} columns called {statement.column!r}; give the number of one, from 0 on"
        )
    return table, headers.index(statement.column)
