"""Reviews in a decision store: appended, never changed, and read as one history.

    with ReviewStore.open("memory.db") as store:                     # a SQLite file, or postgresql://user@host/database
        store.record(table, 2, "email", answer=answer, by="ada")     # returns when the review is on the disk
        memory = store.memory()                                      # a snapshot to annotate with (recall.py)

Promises
  - a review that `record` or `add` has returned survives a killed process and a power cut;
  - nothing is changed or removed: the last review of a column counts, all are kept;
  - a review of a column that a logged decision is about (`annotate --log-decisions` into the same store) is recorded
    as the outcome of that decision, too, as `aegir feedback` does;
  - adding reviews that are there already changes nothing; the same id with other content is refused.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from aegir.answers.annotation import ColumnAnnotation
from aegir.memory.recall import ReviewMemory
from aegir.memory.review import Review, check_label, kind_of_label, now, usual_level
from aegir.tables.fingerprint import Fingerprint, fingerprint_table
from aegir.tables.table import Table
from aegir.vocabulary.hierarchy import is_right
from aegir_rl.base.errors import UsageError
from aegir_rl.episode import LABEL
from aegir_rl.offline.databases import WAIT_SECONDS, Database, connect
from aegir_rl.offline.store import DecisionStore, EpisodeOutcome, new_id


class ReviewStore:
    """An open store; made by `open`."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._decisions = DecisionStore(database)

    @classmethod
    def open(cls, location: str | Path, *, wait_seconds: float = WAIT_SECONDS) -> "ReviewStore":
        """Open a SQLite file, created with its folder if it does not exist, or a PostgreSQL database by its URL."""
        if "://" not in str(location):
            try:
                Path(location).parent.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise UsageError(
                    f"{Path(location).parent} cannot be made ({error.strerror}); name another place for reviews"
                ) from None
        return cls(connect(location, wait_seconds=wait_seconds))

    def __enter__(self) -> "ReviewStore":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection; what was acknowledged stays."""
        self._database.close()

    @property
    def name(self) -> str:
        """What the store is called in sentences, without a password."""
        return self._database.name

    @property
    def decisions(self) -> DecisionStore:
        """The logged decisions of the same store."""
        return self._decisions

    def record(
        self,
        table: Table,
        index: int,
        label: str | None,
        *,
        answer: ColumnAnnotation | None,
        by: str,
        personal: bool | None = None,
        level: str | None = None,
        own_types: Mapping[str, str] | None = None,
    ) -> Review:
        """Store durably what `make_review` makes of what a person says about a column of a table."""
        review = make_review(
            table,
            index,
            label,
            answer=answer,
            by=by,
            personal=personal,
            level=level,
            own_types=own_types,
        )
        self.add([review])
        return review

    def add(self, reviews: Sequence[Review]) -> int:
        """Store reviews durably, all or none, and return how many were new."""
        judged = {review.id: self._outcome(review) for review in reviews}
        added = 0
        with self._database.transaction() as run:
            for review in reviews:
                body = review.to_json()
                known = run("SELECT body FROM reviews WHERE id = ?", (review.id,))
                if known and not _is_of(review, known[0][0], body):
                    raise UsageError(f"{self.name} has another review with the id {review.id!r}")
                if known:
                    continue
                run(
                    "INSERT INTO reviews (id, recorded_at, body) VALUES (?, ?, ?)",
                    (review.id, now(), body),
                )
                if outcome := judged[review.id]:
                    self._decisions.add_outcome(run, *outcome)
                added += 1
        return added

    def read(self) -> list[Review]:
        """Return all reviews in the order in which they were made."""
        rows = self._database.query("SELECT id, body FROM reviews ORDER BY sequence", ())
        reviews = [Review.from_json(body, f"review {name!r} of {self.name}") for name, body in rows]
        return sorted(reviews, key=lambda review: review.order)

    def history(self, table: str | None = None, column: str | None = None) -> list[Review]:
        """Return the reviews of a table, by its name or file, and of a column, by header or number from 0 on."""
        return [
            review
            for review in self.read()
            if table in (None, review.table, review.source)
            and column in (None, review.column.name, str(review.column.index))
        ]

    def memory(self) -> ReviewMemory:
        """Return what is remembered now; later reviews do not change it."""
        return ReviewMemory(self.read())

    def _outcome(self, review: Review) -> tuple[str, EpisodeOutcome] | None:
        """Return the id of the last logged decision about the column, and what came of it; None if there is none."""
        column = review.column
        episode = self._decisions.last_decision(review.table, column.index, column.name)
        if episode is None or not episode.decisions:
            return None
        answered = episode.decisions[-1].action.get(LABEL)
        answered = answered if isinstance(answered, str) else None
        right = answered is None if review.label is None else is_right(answered, review.label)
        gold = () if review.label is None else (review.label,)
        return episode.id, EpisodeOutcome("correction", float(right), gold, None, review.by)


def _is_of(review: Review, stored: str, body: str) -> bool:
    """Return whether the stored line is that of a review, perhaps in an earlier form."""
    return stored == body or Review.from_json(stored, f"review {review.id!r}") == review


def make_review(
    table: Table,
    index: int,
    label: str | None,
    *,
    answer: ColumnAnnotation | None,
    by: str,
    personal: bool | None = None,
    level: str | None = None,
    own_types: Mapping[str, str] | None = None,
) -> Review:
    """Return the review in which a person says what a column of a table is; None: no name fits.

    The `level` of a column that is said to be personal follows from the answer or the label, if it is not given.

    `answer` is what was answered: for a column that was reviewed before, what would have been answered without
    it counts. `own_types` are names outside the vocabulary, with their kinds.
    """
    names = dict(own_types or {})
    if label is not None:
        check_label(label, names)
    if not by.strip():
        raise UsageError("a review needs to say whose it is; by is empty")
    said = answer.label if answer else None
    kind = kind_of_label(label, names)
    if personal and level is None:
        answered = answer.personal_level if answer and answer.label == label else None
        level = answered or usual_level(label, kind)
    return Review(
        id=new_id(),
        at=now(),
        by=by.strip(),
        label=label,
        kind=kind,
        personal=personal,
        level=level if personal else None,
        said=answer.reviewed.said if answer and answer.reviewed else said,
        table=table.name,
        source=table.source,
        column=_remembered(fingerprint_table(table)[index], answer, personal),
    )


def read_lines(lines: Iterable[str], name: str) -> list[Review]:
    """Return the reviews of JSON lines, each once; a damaged line is refused with its number."""
    reviews_by_id: dict[str, Review] = {}
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        where = f"{name}, line {number}"
        review = Review.from_json(line, where)
        if reviews_by_id.setdefault(review.id, review) != review:
            raise UsageError(
                f"{where} has the id of an earlier line, {review.id!r}, with other content"
            )
    return list(reviews_by_id.values())


def write_lines(reviews: Iterable[Review]) -> Iterator[str]:
    """Yield a line per review, oldest first: the same reviews give the same lines, and new ones come last."""
    for review in sorted(reviews, key=lambda review: review.order):
        yield review.to_json() + "\n"


def _remembered(
    column: Fingerprint, answer: ColumnAnnotation | None, personal: bool | None
) -> Fingerprint:
    """Return what is kept of a column: no sketch of the values of personal ones, since reviews are shared."""
    is_personal = personal or (personal is None and (answer is None or answer.personal))
    return column.without_values() if is_personal else column
