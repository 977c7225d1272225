"""One side of a comparison: an answer that was written to a file, or tables that are annotated now.

A file that begins as JSON answers do is read as an answer; everything else is a source, as for `aegir annotate`.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from aegir.answers.annotation import annotation_from_dict
from aegir.answers.catalogue_names import catalogue_table
from aegir.answers.differences import ComparedAnswer
from aegir.answers.earlier_output import answer_format
from aegir.pipeline.run import Failure, Prepared, annotate_sources
from aegir.tables.database_urls import is_selected
from aegir.tables.fingerprint import fingerprint_table
from aegir_rl.base.errors import UsageError, reason_of

READABLE = ("json", "jsonl")


def read_answers(path: Path) -> list[ComparedAnswer]:
    """Return the answers of a JSON or JSON lines file written by `aegir annotate`."""
    format_name = answer_format(path)
    if format_name not in READABLE:
        raise UsageError(
            f"{path} holds answers as {format_name}; only json and jsonl can be compared: write them with "
            "aegir annotate --format jsonl"
        )
    try:
        text = path.read_text("utf-8")
        if format_name == "json":
            return [
                ComparedAnswer(annotation_from_dict(each, f"{path}, table {number}"))
                for number, each in enumerate(json.loads(text), 1)
            ]
        return [
            ComparedAnswer(annotation_from_dict(json.loads(line), f"{path}, line {number}"))
            for number, line in enumerate(text.split("\n"), 1)
            if line.strip()
        ]
    except UsageError:
        raise
    except (OSError, ValueError, RecursionError) as error:
        raise UsageError(f"{path} cannot be read as an answer ({reason_of(error)})") from None


def select_tables(
    answers: Sequence[ComparedAnswer], patterns: Sequence[str]
) -> list[ComparedAnswer]:
    """Return the answers to tables that these patterns choose, as in a database; all of them without a pattern."""
    places = [(each, catalogue_table(each.annotation)) for each in answers]
    return [
        each
        for each, place in places
        if is_selected(place.schema or "main", place.table, tables=patterns)
    ]


def annotate_side(places: Iterable[object], prepared: Prepared) -> Iterator[ComparedAnswer]:
    """Yield the tables at these places with their answers; raise for what cannot be read: half a comparison misleads."""
    for each in annotate_sources(places, prepared):
        if isinstance(each.answer, Failure):
            raise each.answer.kind(each.answer.reason)
        assert each.table is not None, "an answer has a table"
        yield ComparedAnswer(each.answer, fingerprint_table(each.table))
