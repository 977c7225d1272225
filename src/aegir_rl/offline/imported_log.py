"""Other people's logs of decisions: rows of CSV or JSON lines become episodes that every verb of `aegir rl` reads.

    choices that were logged     action=, reward=, propensity= name columns
    outcomes of every worker     outcomes={"mixtral": "mixtral", "gpt4": "gpt4"}: a worker is drawn around `baseline` with known
                                 propensity, and what each would have earned is kept beside, so that the truth is known

Columns of numbers are features as they are. Of other columns each of the `MOST_CATEGORIES` most frequent values becomes a feature
`column=value`, 0 or 1; of columns of text, what text_features.py counts.

Refused with one sentence: a column that is not there, a value that is no number or no probability, a text that stands in several
groups, because it would be learnt from and judged on at once. Without `group`, rows of one text are one group.
"""

import csv
import gzip
import io
import json
import math
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import numpy as np

from aegir_rl.base.errors import UsageError, require
from aegir_rl.base.seeding import Seeds
from aegir_rl.base.text import amount
from aegir_rl.episode import Decision, Episode
from aegir_rl.offline.known_outcomes import EARNED_BY
from aegir_rl.offline.logged_decisions import WORKER
from aegir_rl.offline.policy import explore_epsilon
from aegir_rl.offline.reward_v1 import PLAIN
from aegir_rl.offline.text_features import measure_text

MOST_CATEGORIES = 64
LEAST_COVERED = 0.5
"""Of the rows; a column whose most frequent values are rarer is no category."""
WORDS = {"true": 1.0, "false": 0.0}
Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportSettings:
    """Which columns of a file mean what."""

    features: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()
    """Columns of text that is measured."""
    outcomes: Mapping[str, str] = field(default_factory=dict)
    """Worker to the column that says what it earns; then `action`, `reward` and `propensity` are drawn."""
    costs: Mapping[str, float] = field(default_factory=dict)
    """Worker to what it costs, in the unit of its outcome."""
    action: str | None = None
    reward: str | None = None
    propensity: str | None = None
    group: str | None = None
    """Column of what must not be split over folds, such as a user or a document."""
    baseline: str | None = None
    """The worker that would be called without a policy."""
    epsilon: float = 0.3
    """With outcomes: share of the rows whose worker is drawn uniformly instead of the baseline."""
    seed: int = 0

    def __post_init__(self) -> None:
        if bool(self.outcomes) == (self.action is not None):
            raise UsageError(
                "say what was logged: either --outcome WORKER=COLUMN for every worker, or --action, --reward and --propensity"
            )
        if self.action is not None and self.reward is None:
            raise UsageError("--action needs --reward, the column that says what came of it")
        if self.outcomes and (len(self.outcomes) < 2 or self.baseline not in self.outcomes):
            raise UsageError(
                f"outcomes are given of {', '.join(self.outcomes)}; expected two workers or more, and --baseline, the one of them that "
                "would be called without a policy"
            )
        for worker in self.costs:
            if self.outcomes and worker not in self.outcomes:
                raise UsageError(f"--cost names {worker!r}, which has no --outcome")
        if not (self.features or self.texts):
            raise UsageError("a policy decides by features; name columns with --features or --text")
        require(0 < self.epsilon <= 1, "explore", self.epsilon, "above 0, at most 1")

    @property
    def columns(self) -> tuple[str, ...]:
        """All columns that are read."""
        single = (self.action, self.reward, self.propensity, self.group)
        return (*self.features, *self.texts, *self.outcomes.values(), *filter(None, single))


@dataclass(frozen=True, slots=True)
class ImportedLog:
    """Episodes of one decision each, and what a person should know about them."""

    episodes: tuple[Episode, ...]
    features: int
    notes: tuple[str, ...]


def import_log(path: Path, settings: ImportSettings) -> ImportedLog:
    """Read a file of CSV or JSON lines, `.gz` or not, as episodes."""
    rows = list(_read_rows(path))
    _require_columns(rows, settings.columns, path)
    earned = [settings.reward] if settings.reward else list(settings.outcomes.values())
    known = [row for row in rows if all(not _missing(row.get(name)) for name in earned)]
    notes = []
    if len(known) < len(rows):
        notes.append(f"{amount(len(rows) - len(known), 'row')} without an outcome left out")
    if not known:
        raise UsageError(f"{path} has no row with an outcome in {', '.join(map(repr, earned))}")
    if settings.action and not settings.propensity:
        notes.append(
            f"{path} says no propensities, so IPS, SNIPS, DR and the verdict are not to be had; what remains are policies learnt "
            "from it (train-bc, train-cql need none) and regressions, whose error nobody knows"
        )
    features = _features(known, settings, path)
    groups = _groups(known, settings, path)
    decide = _drawn(known, settings, path) if settings.outcomes else _logged(known, settings, path)
    episodes = tuple(
        Episode(
            id=f"{path.name}-{number}",
            decisions=(Decision(features=seen, **decided),),
            source="real",
            group=group,
            rewards=rewards,
        )
        for number, (seen, group, (decided, rewards)) in enumerate(
            zip(features, groups, decide, strict=True)
        )
    )
    return ImportedLog(
        episodes, len(dict.fromkeys(key for each in features for key in each)), tuple(notes)
    )


def _read_rows(path: Path) -> Iterator[Row]:
    """Rows of a file by name of the column."""
    plain = path.name.removesuffix(".gz").lower()
    try:
        raw = gzip.decompress(path.read_bytes()) if path.name.endswith(".gz") else path.read_bytes()
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise UsageError(f"{path} cannot be read as a log (it is no UTF-8)") from None
    except (OSError, EOFError, zlib.error) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise UsageError(f"{path} cannot be read as a log ({reason})") from None
    if plain.endswith((".jsonl", ".ndjson", ".json")):
        yield from _json_rows(text, path)
        return
    try:
        yield from csv.DictReader(
            io.StringIO(text, newline=""),
            delimiter="\t" if plain.endswith(".tsv") else ",",
            strict=True,
        )
    except csv.Error as error:
        raise UsageError(f"{path} is no CSV ({error}); expected CSV or JSON lines") from None


def _json_rows(text: str, path: Path) -> Iterator[Row]:
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            row = None
        if not isinstance(row, dict):
            raise UsageError(f"{path}, line {number} is no JSON object; expected one per line")
        yield row


def _require_columns(rows: Sequence[Row], columns: Iterable[str], path: Path) -> None:
    """Raise unless every column is in the first row, or in some row."""
    if not rows:
        raise UsageError(f"{path} has no rows")
    there = dict.fromkeys(name for row in (rows[0], rows[-1]) for name in row if name is not None)
    for name in columns:
        if name not in there and not any(name in row for row in rows):
            near = get_close_matches(name, list(there), 1)
            hint = f"did you mean {near[0]!r}?" if near else f"it has {', '.join(there)}"
            raise UsageError(f"{path} has no column {name!r}; {hint}")


def _missing(value: Any) -> bool:
    return value is None or (isinstance(value, str) and not value.strip())


def _number(value: Any, where: str) -> float:
    """A finite number, or true and false as 1 and 0; raise for anything else."""
    found = _as_number(value)
    if found is None:
        raise UsageError(f"{where} is {value!r}; expected a finite number, true or false")
    return found


def _as_number(value: Any) -> float | None:
    if isinstance(value, str) and value.strip().lower() in WORDS:
        return WORDS[value.strip().lower()]
    try:
        found = float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return found if math.isfinite(found) else None


def _features(rows: Sequence[Row], settings: ImportSettings, path: Path) -> list[dict[str, float]]:
    """The features of every row by name; what is missing is left out."""
    found: list[dict[str, float]] = [{} for _ in rows]
    for name in settings.features:
        values = [row.get(name) for row in rows]
        numbers = [None if _missing(value) else _as_number(value) for value in values]
        if all(
            number is not None or _missing(value)
            for number, value in zip(numbers, values, strict=True)
        ):
            for seen, number in zip(found, numbers, strict=True):
                seen.update({} if number is None else {name: number})
            continue
        shown = _categories(values, name, path)
        for seen, value in zip(found, values, strict=True):
            seen.update({f"{name}={each}": float(str(value) == each) for each in shown})
    for name in settings.texts:
        for seen, row in zip(found, rows, strict=True):
            measured = measure_text(str(row.get(name) or ""))
            seen.update({f"{name}.{key}": value for key, value in measured.items()})
    return found


def _categories(values: Sequence[Any], name: str, path: Path) -> list[str]:
    """The most frequent values of a column; raise where they cover too few rows."""
    counts = Counter(str(value) for value in values).most_common()
    shown = counts[:MOST_CATEGORIES]
    if sum(count for _, count in shown) < LEAST_COVERED * len(values):
        raise UsageError(
            f"column {name!r} of {path} has {len(counts):,} different values, too many for a category; measure it as a text with "
            f"--text {name}, or leave it out"
        )
    return [value for value, _ in shown]


def _groups(rows: Sequence[Row], settings: ImportSettings, path: Path) -> list[str]:
    """The group of every row; raise where the same text stands in two of them."""
    texts = [json.dumps([str(row.get(name)) for name in settings.texts]) for row in rows]
    if settings.group is None:
        numbers: dict[str, int] = {}
        same = texts if settings.texts else [str(number) for number in range(len(rows))]
        return [str(numbers.setdefault(each, len(numbers))) for each in same]
    groups = [str(row.get(settings.group)) for row in rows]
    seen: dict[str, str] = {}
    for number, (text, group) in enumerate(zip(texts, groups, strict=True)):
        if settings.texts and seen.setdefault(text, group) != group:
            raise UsageError(
                f"{path}, row {number + 1}: the same text stands in the groups {seen[text]!r} and {group!r} of {settings.group!r}, so it "
                "would be learnt from and judged on at once; group by something that keeps it together, or leave --group out"
            )
    return groups


Decided = tuple[dict[str, Any], dict[str, float]]
"""Arguments of a `Decision`, and the parts of its reward."""


def _drawn(rows: Sequence[Row], settings: ImportSettings, path: Path) -> Iterator[Decided]:
    """A worker for every row, drawn around the baseline, with what each would have earned."""
    workers = sorted(settings.outcomes)
    preferred = np.full(len(rows), workers.index(str(settings.baseline)))
    random = Seeds(settings.seed).generator("import", path.name)
    drawn, chances = explore_epsilon(preferred, len(workers), settings.epsilon, random)
    for number, (row, action, chance) in enumerate(zip(rows, drawn, chances, strict=True), 1):
        earned = {}
        for worker in workers:
            column = settings.outcomes[worker]
            where = f"{path}, row {number}: {column!r}"
            earned[worker] = _number(row.get(column), where) - settings.costs.get(worker, 0.0)
        worker = workers[int(action)]
        decided = {
            "action": {WORKER: worker},
            "propensity": float(chance),
            "baseline": {WORKER: settings.baseline},
            "cost": settings.costs.get(worker, 0.0),
        }
        known = {f"{EARNED_BY}{name}": value for name, value in earned.items()}
        yield decided, {PLAIN: earned[worker], **known}


def _logged(rows: Sequence[Row], settings: ImportSettings, path: Path) -> Iterator[Decided]:
    """What was logged in every row."""
    action, reward_column = str(settings.action), str(settings.reward)
    for number, row in enumerate(rows, 1):
        where = f"{path}, row {number}"
        if _missing(worker := row.get(action)):
            raise UsageError(f"{where}: {action!r} is empty; expected what was chosen")
        cost = settings.costs.get(str(worker), 0.0)
        decided = {"action": {WORKER: str(worker)}, "cost": cost}
        if settings.propensity:
            chance = _number(row.get(settings.propensity), f"{where}: {settings.propensity!r}")
            if not 0 < chance <= 1:
                raise UsageError(
                    f"{where}: {settings.propensity!r} is {chance:g}; expected a probability above 0, at most 1"
                )
            decided["propensity"] = chance
        if settings.baseline:
            decided["baseline"] = {WORKER: settings.baseline}
        reward = _number(row.get(reward_column), f"{where}: {reward_column!r}")
        yield decided, {PLAIN: reward - cost}
