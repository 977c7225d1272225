"""Replies to annotated requests: answers in the format asked for, the page's report, and what the service keeps of them."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from aegir.answers.annotation import (
    ColumnAnnotation,
    TableAnnotation,
    annotation_as_dict,
    profile_of,
)
from aegir.answers.html_page import meanings
from aegir.answers.statistics import shown_statistics
from aegir.answers.wording import (
    is_unsure,
    shown_confidence,
    shown_declared,
    shown_keys,
    shown_label,
    shown_name,
    shown_offer,
    shown_personal,
    shown_review,
    shown_row,
    shown_special,
)
from aegir.pipeline.run import Annotations, Failure
from aegir.service.jobs import REPORT, AnnotateJob
from aegir.service.kept_answers import without_values
from aegir.service.limits import status_of
from aegir.service.responses import Reply, json_reply
from aegir.vocabulary.terms import plain_name
from aegir_rl.episode import Episode
from aegir_rl.offline.store import new_id

CONTENT_TYPES = {
    "json": "application/json",
    "jsonl": "application/x-ndjson",
    "csv": "text/csv; charset=utf-8",
    "html": "text/html; charset=utf-8",
    "frictionless": "application/json",
    "csvw": "application/csvm+json",
    "openmetadata": "application/json",
    "datahub": "application/json",
    "great_expectations": "application/json",
    "dbt": "application/yaml",
    "sql": "application/sql",
}
PLAIN = "text/plain; charset=utf-8"
LONGEST_HEADER = 4_000
"""Characters of the header that tells of failures; proxies refuse longer ones."""


@dataclass(slots=True)
class JobAnswers:
    """What becomes of one job."""

    index: int
    job: AnnotateJob
    tables: list[TableAnnotation] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)
    episodes: list[tuple[Episode, ...]] = field(default_factory=list)
    run: str = field(default_factory=new_id)


def reply_to(answer: JobAnswers, seconds: float) -> Reply:
    """Return the reply to a request that took so long."""
    name = answer.job.format
    if not answer.tables and name != REPORT:
        return _failed(answer.failures)
    facts = _facts(answer, seconds)
    headers = {"aegir-run": answer.run}
    if answer.failures:
        headers["aegir-failures"] = _failures_header(answer.failures)
    if name == REPORT:  # tells of failures itself
        return Reply(200, CONTENT_TYPES["json"], json_reply(_report(answer)).body, headers, facts)
    status = 207 if answer.failures else 200
    body = Annotations(tuple(answer.tables)).to(name).encode()
    return Reply(status, CONTENT_TYPES.get(name, PLAIN), body, headers, facts)


def _failures_header(failures: Sequence[Failure]) -> str:
    """Return the sentences as a JSON list, as many as a header may hold."""
    reasons: list[str] = []
    for failure in failures:
        if len(json.dumps([*reasons, failure.reason])) > LONGEST_HEADER:
            break
        reasons.append(failure.reason)
    return json.dumps(reasons)


def _failed(failures: Sequence[Failure]) -> Reply:
    """Return the reply to a request of which nothing could be read."""
    first = failures[0]
    status = status_of(first.kind(first.reason))
    reasons = [failure.reason for failure in failures]
    return json_reply({"error": "; ".join(reasons), "failures": _as_dicts(failures)}, status)


def _report(answer: JobAnswers) -> dict[str, Any]:
    tables = []
    for number, table in enumerate(answer.tables):
        shown: dict[str, Any] = {**annotation_as_dict(table), "preview": table.preview}
        shown |= {"shown_keys": shown_keys(table), "shown_row": shown_row(table.row)}
        for index, column in enumerate(table.columns):
            shown["columns"][index] |= _wording(column)
            if profile := profile_of(table, column):
                said = shown_statistics(profile, personal=column.personal)
                shown["columns"][index]["shown_statistics"] = said
        if answer.episodes:
            shown["decisions"] = [_decisions(episode) for episode in answer.episodes[number]]
        tables.append(shown)
    return {"run": answer.run, "tables": tables, "failures": _as_dicts(answer.failures)}


def _wording(column: ColumnAnnotation) -> dict[str, Any]:
    """How the answer is put into words for people."""
    return {
        "title": shown_name(column),
        "shown": shown_label(column),
        "shown_type": plain_name(column.type) if column.type else None,
        "sure": shown_confidence(column) != "",
        "unsure": is_unsure(column),
        "meanings": list(meanings(column)),
        "shown_declared": shown_declared(column.declared),
        "shown_review": shown_review(column),
        "shown_personal": shown_personal(column),
        "shown_special": shown_special(column),
        "shown_offers": [shown_offer(offer) for offer in column.offers],
    }


def _as_dicts(failures: Sequence[Failure]) -> list[dict[str, str]]:
    return [{"source": failure.source, "reason": failure.reason} for failure in failures]


def _decisions(episode: Episode) -> list[dict[str, Any]]:
    """Who was called for a column, who decided that, why, and at which cost."""
    return [
        {
            "worker": decision.action["worker"],
            "decided_by": decision.decided_by,
            "reason": decision.reason,
            "propensity": decision.propensity,
            "confidence": decision.features.get("confidence"),
            "cost": decision.cost,
            "seconds": decision.seconds,
        }
        for decision in episode.decisions
    ]


def _facts(answer: JobAnswers, seconds: float) -> dict[str, Any]:
    """What the service keeps of an answer: counts, decisions and what was said about columns, no values."""
    columns = [column for table in answer.tables for column in table.columns]
    woken: dict[str, dict[str, int]] = {}
    for number, table in enumerate(answer.tables):
        for index, column in enumerate(table.columns):
            names = [each.specialist for each in column.routing or () if each.woken]
            if answer.episodes:
                decided = answer.episodes[number][index].decisions
                names.append(str(decided[-1].action["worker"]))
            for name in names:
                kinds = woken.setdefault(name, {})
                kinds[column.kind or "unsure"] = kinds.get(column.kind or "unsure", 0) + 1
    return {
        "run": answer.run,
        "tables": [table.table for table in answer.tables],
        "columns": len(columns),
        "personal": sum(column.personal for column in columns),
        "unsure": sum(map(is_unsure, columns)),
        "failures": len(answer.failures),
        "annotator": answer.tables[0].annotator if answer.tables else None,
        "seconds": seconds,
        "woken": woken,
        "answers": list(map(without_values, answer.tables)),
    }
