"""The decision store: an append-only log of episodes, and of the outcomes that arrive later.

    with DecisionStore.open("decisions.db") as store:              # or postgresql://user@host/database
        (name,) = store.append([episode])                          # returns when the row is on the disk
        store.record_outcome(name, "correction", gold=("Date",))     # later, by whoever knows
        episodes = list(store.read(data_source="real"))            # outcomes joined

Promises
  - `append` and `record_outcome` return only when the rows would survive a killed process or a power cut;
  - all rows of one call are stored, or none;
  - appending an episode that is there already, with the same content, changes nothing: a writer that never got its answer may
    write again. The same id with other content is refused;
  - every row says where its outcome comes from (`data_source`); a synthetic episode stays synthetic whatever outcome follows.

What an outcome does to the episode it belongs to, on reading: it sets the accuracy, the verification and the accepted labels
of the last decision. The most reliable one counts (ground truth before a correction before agreement), among equals the
last. Agreement of stronger annotators is a proxy: an episode judged by it is read as `proxy`.

Not here: the databases (databases.py), their tables (migrations.py), flat arrays for learning (logged_decisions.py).
"""

import json
import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal, get_args

from aegir_rl.base.errors import UsageError, reason_of, require
from aegir_rl.episode import LABEL, Episode, Source
from aegir_rl.episode.decisions import id_part
from aegir_rl.offline.databases import WAIT_SECONDS, Database, Row, Run, connect

OutcomeKind = Literal["ground_truth", "correction", "agreement"]
"""Where an outcome comes from, most reliable first."""
KINDS: tuple[str, ...] = get_args(OutcomeKind)
IDS_AT_ONCE = 500
"""SQLite takes at least 999 values in one statement."""


class DecisionStore:
    """An open store; made by `open`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    @classmethod
    def open(
        cls, url_or_path: str | Path, *, wait_seconds: float = WAIT_SECONDS
    ) -> "DecisionStore":
        """Open a SQLite file, created if it does not exist, or a PostgreSQL database by its URL."""
        return cls(connect(url_or_path, wait_seconds=wait_seconds))

    def __enter__(self) -> "DecisionStore":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection; what was acknowledged stays."""
        self._database.close()

    def append(self, episodes: Iterable[Episode]) -> tuple[str, ...]:
        """Store episodes durably and return their ids; an episode whose id is "" gets a new one."""
        named = [each if each.id else replace(each, id=new_id()) for each in episodes]
        for episode in named:
            _require_storable(episode.id)
        bodies = {episode.id: episode.to_json() for episode in named}
        if len(bodies) < len(named) and any(each.to_json() != bodies[each.id] for each in named):
            raise UsageError("two of these episodes have the same id but different contents")
        now = datetime.now(UTC).isoformat()
        rows = {each.id: (each.id, each.source, now, bodies[each.id]) for each in named}
        with self._database.transaction() as run:
            known = self._known(run, bodies)
            new = [row for name, row in rows.items() if name not in known]
            if new:
                run(
                    "INSERT INTO episodes (id, data_source, recorded_at, body) VALUES (?, ?, ?, ?)",
                    rows=new,
                )
        return tuple(each.id for each in named)

    def _known(self, run: Run, bodies: Mapping[str, str]) -> set[str]:
        """The ids that are stored already; raise if one of them has other content."""
        known: set[str] = set()
        ids = list(bodies)
        for start in range(0, len(ids), IDS_AT_ONCE):
            some = tuple(ids[start : start + IDS_AT_ONCE])
            places = ", ".join("?" * len(some))
            for name, body in run(f"SELECT id, body FROM episodes WHERE id IN ({places})", some):  # noqa: S608
                if body != bodies[name]:
                    raise UsageError(
                        f'{self._database.name} has another episode with the id {name!r}; ids are unique, "" asks for a new one'
                    )
                known.add(name)
        return known

    def record_outcome(
        self,
        episode_id: str,
        kind: OutcomeKind,
        *,
        accuracy: float | None = None,
        gold: Sequence[str] = (),
        verified: bool | None = None,
        by: str = "",
    ) -> None:
        """Store durably what came of an episode; `accuracy` follows from `gold` if the episode answered a label."""
        outcome = EpisodeOutcome(kind, accuracy, tuple(gold), verified, by)
        with self._database.transaction() as run:
            self.add_outcome(run, episode_id, outcome)

    def add_outcome(self, run: Run, episode_id: str, outcome: "EpisodeOutcome") -> None:
        """Store an outcome as a part of a transaction of this store's database."""
        rows = run("SELECT data_source FROM episodes WHERE id = ?", (episode_id,))
        if not rows:
            raise UsageError(f"{self._database.name} has no episode with the id {episode_id!r}")
        now = datetime.now(UTC).isoformat()
        run(
            "INSERT INTO outcomes (episode_id, kind, data_source, recorded_at, body) VALUES (?, ?, ?, ?, ?)",
            (episode_id, outcome.kind, outcome.source(rows[0][0]), now, outcome.to_json()),
        )

    def read(self, data_source: Source | None = None, ids: Sequence[str] = ()) -> Iterator[Episode]:
        """The episodes in the order they were stored, outcomes joined; by source and by id if given."""
        if data_source is not None and data_source not in get_args(Source):
            known = ", ".join(get_args(Source))
            raise UsageError(f"data_source is {data_source!r}; expected {known}")
        wanted = set(ids)
        for row in self._database.query(_JOINED, ()):
            episode = self._episode(row)
            if data_source in (None, episode.source) and (not wanted or episode.id in wanted):
                yield episode

    def last_decision(self, table: str, column: int, name: str | None) -> Episode | None:
        """The last logged decision about this column of a table of this name; None if there is none."""
        if not len(self):
            return None
        place = f"/{id_part(table)}/{column}"
        ending = place.replace("|", "||").replace("%", "|%").replace("_", "|_")
        rows = self._database.query(
            "SELECT id, body, NULL FROM episodes WHERE id LIKE ? ESCAPE '|' ORDER BY sequence DESC",
            (f"%{ending}",),
        )
        for row in rows:
            episode = self._episode(row)
            if episode.group == table and episode.task == (name or f"column {column}"):
                return episode
        return None

    def _episode(self, row: Row) -> Episode:
        name, body, outcome = row
        where = f"row {name!r} of {self._database.name}"
        episode = Episode.from_json(body, where)
        return (
            episode if outcome is None else EpisodeOutcome.from_json(outcome, where).join(episode)
        )

    def __len__(self) -> int:
        return int(next(self._database.query("SELECT COUNT(*) FROM episodes", ()))[0])


@dataclass(frozen=True, slots=True)
class EpisodeOutcome:
    """What came of an episode, as known later."""

    kind: OutcomeKind
    accuracy: float | None
    gold: tuple[str, ...]
    verified: bool | None
    by: str

    def __post_init__(self) -> None:
        require(self.kind in KINDS, "kind", self.kind, ", ".join(KINDS))
        if self.accuracy is not None and not 0 <= self.accuracy <= 1:
            raise UsageError(f"accuracy is {self.accuracy!r}; expected a number from 0 to 1")
        if self.accuracy is None and not self.gold and self.verified is None:
            raise UsageError("this outcome says nothing; expected accuracy, gold or verified")

    def source(self, of_episode: Source) -> Source:
        """Where the outcome of the episode comes from, now that it is judged by this one."""
        if of_episode == "synthetic":
            return "synthetic"
        return "proxy" if self.kind == "agreement" else "real"

    def join(self, episode: Episode) -> Episode:
        """The episode as judged by this outcome."""
        rewards = dict(episode.rewards)
        accuracy = self.accuracy
        if accuracy is None and self.gold and episode.decisions:
            last = episode.decisions[-1].action
            accuracy = float(last[LABEL] in self.gold) if LABEL in last else None
        if accuracy is not None:
            rewards["accuracy"] = accuracy
        if self.verified is not None:
            rewards["verified"] = float(self.verified)
        decisions = episode.decisions
        if self.gold and decisions:
            decisions = (*decisions[:-1], replace(decisions[-1], gold=self.gold))
        return replace(
            episode, rewards=rewards, decisions=decisions, source=self.source(episode.source)
        )

    def to_json(self) -> str:
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str, where: str) -> "EpisodeOutcome":
        try:
            record: dict[str, Any] = json.loads(text)
            return cls(**{**record, "gold": tuple(record["gold"])})
        except (KeyError, TypeError, ValueError, RecursionError) as error:
            reason = reason_of(error)
            raise UsageError(f"{where} has an outcome that cannot be read ({reason})") from None


def new_id() -> str:
    """An id no other episode has: the time, so that ids sort, and 64 random bits."""
    return f"{datetime.now(UTC):%Y%m%dT%H%M%S%f}-{secrets.token_hex(8)}"


def _require_storable(name: str) -> None:
    if not name.isprintable():
        raise UsageError(
            f"the id {name!r} has characters that cannot be printed; expected plain text"
        )


_RELIABILITY = " ".join(f"WHEN '{kind}' THEN {rank}" for rank, kind in enumerate(KINDS))
_JOINED = f"""
    SELECT episodes.id, episodes.body, best.body
    FROM episodes LEFT JOIN (
        SELECT episode_id, body, ROW_NUMBER() OVER (
            PARTITION BY episode_id ORDER BY CASE kind {_RELIABILITY} END, sequence DESC) AS place
        FROM outcomes
    ) AS best ON best.episode_id = episodes.id AND best.place = 1
    ORDER BY episodes.sequence"""  # noqa: S608
"""Episodes with their most reliable outcome, or NULL."""
