"""A user's corrections of a past run, recorded as outcomes of its decisions.

    table,column,label                 CSV with a header, or the same keys as JSON lines
    books.csv,published,Date           a column by its header, or by its number from 0 on

What was answered counts as right if it is the label given, or below it: `isbn` for IdentifierAT, `title` for Book/name.

A correction belongs to the last logged run in which the table was annotated, or to the run that is named. A wrong line is
refused with its number before anything is recorded.
"""

import csv
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

from aegir.answers.annotation import ColumnAnnotation
from aegir.vocabulary.hierarchy import is_right
from aegir.vocabulary.terms import FINE_NAMES, KIND_NAMES, TYPE_NAMES
from aegir_rl.base.errors import UsageError, reason_of
from aegir_rl.episode import LABEL, Episode
from aegir_rl.offline.store import DecisionStore

FIELDS = ("table", "column", "label")


@dataclass(frozen=True, slots=True)
class Correction:
    """What a column really is, as the user says."""

    table: str
    column: str
    label: str
    where: str
    """The file and line that say so."""


def read_corrections(path: Path, own_names: Iterable[str] = ()) -> list[Correction]:
    """Read corrections; `own_names` are types that the user taught."""
    try:
        text = path.read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} cannot be read ({reason_of(error)})") from None
    names = {*KIND_NAMES, *TYPE_NAMES, *FINE_NAMES, *own_names}
    found = []
    for number, row in _rows(path, text):
        where = f"{path}, line {number}"
        missing = [key for key in FIELDS if not isinstance(row.get(key), str) or not row[key]]
        if missing:
            raise UsageError(f"{where} has no {missing[0]!r}; expected {', '.join(FIELDS)}")
        label = row["label"].strip()
        if label not in names:
            near = get_close_matches(label, names, 1)
            hint = f"did you mean {near[0]!r}?" if near else "see: aegir types list"
            raise UsageError(f"{where} has the unknown label {label!r}; {hint}")
        found.append(Correction(row["table"].strip(), row["column"].strip(), label, where))
    if not found:
        raise UsageError(
            f"{path} holds no corrections; expected a header and lines of {', '.join(FIELDS)}"
        )
    return found


def record_corrections(
    store: DecisionStore,
    corrections: Iterable[Correction],
    run: str | None = None,
    by: str = "user",
) -> list[str]:
    """Record the corrections and return the ids of the decisions they belong to; raise if one belongs to none."""
    known = _decisions(store.read(), run)
    pairs = []
    for correction in corrections:
        episode = known.get((correction.table, correction.column))
        if episode is None:
            tables = sorted({table for table, _ in known})
            raise UsageError(_describe_unknown(correction, tables, run))
        pairs.append((episode, correction))
    for episode, correction in pairs:
        answered = episode.decisions[-1].action.get(LABEL)
        right = is_right(answered if isinstance(answered, str) else None, correction.label)
        store.record_outcome(
            episode.id, "correction", accuracy=float(right), gold=(correction.label,), by=by
        )
    return [episode.id for episode, _ in pairs]


def record_review(store: DecisionStore, episode_id: str, column: ColumnAnnotation) -> None:
    """Record a review of a column as the outcome of a decision about it."""
    review = column.reviewed
    if review is not None:
        right = is_right(review.said, column.label) if column.label else review.said is None
        gold = (column.label,) if column.label else ()
        store.record_outcome(
            episode_id, "correction", accuracy=float(right), gold=gold, by=review.by
        )


def _decisions(episodes: Iterable[Episode], run: str | None) -> dict[tuple[str, str], Episode]:
    """Return the last decision about every column: by table and header, and by table and number."""
    found: dict[tuple[str, str], Episode] = {}
    for episode in episodes:
        if run is None or episode.id.startswith(f"{run}/"):
            for column in (episode.id.rpartition("/")[2], episode.task):
                found[episode.group, column] = episode
    return found


def _describe_unknown(correction: Correction, tables: list[str], run: str | None) -> str:
    if correction.table in tables:
        what = f"the column {correction.column!r} of {correction.table}"
    else:
        near = get_close_matches(correction.table, tables, 1)
        what = f"the table {correction.table!r}" + (f" (there is {near[0]!r})" if near else "")
    of_run = f" of run {run}" if run else ""
    return f"{correction.where}: no logged decision{of_run} is about {what}"


def _rows(path: Path, text: str) -> Iterator[tuple[int, dict[str, str]]]:
    if path.suffix not in (".jsonl", ".ndjson"):
        reader = csv.DictReader(text.splitlines())
        for row in reader:
            yield reader.line_num, row
        return
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip():
            try:
                record = json.loads(line)
            except (ValueError, RecursionError) as error:
                raise UsageError(f"{path}, line {number} is no JSON ({reason_of(error)})") from None
            if not isinstance(record, dict):
                raise UsageError(f"{path}, line {number} is no JSON object")
            yield number, {key: str(value) for key, value in record.items() if value is not None}
