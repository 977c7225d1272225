"""A strong reader that is paid by the token: recorded answers beside our own held-out ones, and whom to ask about a column.

    recorded answers --read_recorded--> \\
                                         join --> PricedLog --episodes--> a log of decisions, every outcome known
    held-out answers of n-grams ------> /                  --learn_to_ask--> RoutingPolicy over the features of columns

Tokens of a table that is asked about: its share of the instructions, the table, and an answer for every column asked. The
recorded answers were given with the whole table in sight, so the whole table is paid for by the first column asked; others cost
their answer alone. Learning shares what a table costs equally among the columns that are asked (two rounds: at first all).

    reward of asking = right by the reader - right by us - tokens / worth          worth: tokens that one more right column may cost

Our own answers are those of rules, n-grams and pairs (`--effort low`), by models and weights that have not seen the table's group.
The features are those of routing/features.py, as the pipeline computes them, so a policy file works there.

Not here: nested cross-validation and curves (lab/figures/priced_metrics.py).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from aegir.lab.calibrate import load_models, ngrams_with_rules
from aegir.lab.data.sources import TrainingTable
from aegir.lab.held_out import column_names
from aegir.lab.replay import NETWORK, Calibrating, table_scores
from aegir.readers.scores import TableScores, table_spans
from aegir.routing.decisions import FREE, LLM
from aegir.routing.features import CONFIDENCE, FEATURES, column_features
from aegir.vocabulary.terms import TYPE_INDEX
from aegir_rl.base.arrays import Bools, Floats, Ints
from aegir_rl.base.errors import UsageError
from aegir_rl.base.seeding import Seeds
from aegir_rl.base.text import parse_json
from aegir_rl.episode import Decision, Episode, EpisodeBatch
from aegir_rl.offline.known_outcomes import OF_WORKER
from aegir_rl.offline.learning import LearningSettings
from aegir_rl.offline.logged_decisions import WORKER, LoggedDecisions, with_all_outcomes
from aegir_rl.offline.policy import RoutingPolicy
from aegir_rl.offline.q_learning import learn_values

WEB = "web"
ROUNDS = 2
"""Of learning: what a table costs is shared among all its columns, then among those that the first policy asks about."""
LEAST_REWARD = -1.5
"""Asking gains 1 at most, so what costs more is never worth it, however much more."""
SETTINGS = LearningSettings(hidden=(32,), steps=400)


@dataclass(frozen=True, slots=True)
class RecordedTable:
    """What the reader said about a table, and what that took."""

    types: Mapping[int, str]
    """Column number to the type it gave."""
    instructions: int
    table: int
    answer: int
    """Tokens of instructions, table and answer."""


@dataclass(frozen=True, slots=True, eq=False)
class PricedLog:
    """C columns with both readers' outcomes."""

    names: tuple[str, ...]
    """File, table and number of each column."""
    features: Floats
    """(C, FEATURES)"""
    ours: Bools
    """(C,) whether rules, n-grams and pairs are right."""
    reader: Bools
    """(C,) whether the reader is."""
    table: Ints
    """(C,) numbers from 0 on."""
    group: Ints
    """(C,) what must stay on one side of a split, numbered from 0 on."""
    instructions: Floats
    table_tokens: Floats
    """(tables,) tokens paid once if any column is asked about."""
    answer: Floats
    """(C,) tokens of the answer for a column."""

    def __len__(self) -> int:
        return len(self.names)

    @property
    def confidence(self) -> Floats:
        return self.features[:, CONFIDENCE]

    def shared(self, tables_per_call: int) -> Floats:
        """(tables,) what asking about a table costs beside the answers, if so many tables share the instructions."""
        return np.asarray(self.instructions / tables_per_call + self.table_tokens)

    def tokens(self, asked: Bools, tables_per_call: int) -> Floats:
        """(tables,) tokens if these columns (C,) are asked about."""
        counts = np.bincount(self.table, asked, len(self.instructions))
        answers = np.bincount(self.table, asked * self.answer, len(self.instructions))
        return np.asarray(np.where(counts > 0, self.shared(tables_per_call), 0.0) + answers)

    def right(self, asked: Bools) -> Bools:
        """(C,) which columns are right if these are asked about."""
        return np.asarray(np.where(asked, self.reader, self.ours), bool)

    def select(self, columns: Bools) -> "PricedLog":
        """The columns (C,) of whole tables; tables and groups are numbered anew."""
        tables, number = np.unique(self.table[columns], return_inverse=True)
        return PricedLog(
            tuple(name for name, kept in zip(self.names, columns, strict=True) if kept),
            self.features[columns],
            self.ours[columns],
            self.reader[columns],
            number,
            np.unique(self.group[columns], return_inverse=True)[1],
            self.instructions[tables],
            self.table_tokens[tables],
            self.answer[columns],
        )

    def folds(self, count: int, seed: int) -> Ints:
        """(C,) a fold for every column, the same within a group."""
        groups = int(self.group.max(initial=-1)) + 1
        if groups < count:
            raise UsageError(
                f"the columns are of {groups} groups of tables; cross-validation needs at least {count}"
            )
        order = Seeds(seed).generator("folds").permutation(groups)
        return np.asarray(order % count, np.int64)[self.group]


def read_recorded(path: Path, tables: Mapping[str, int]) -> dict[str, RecordedTable]:
    """Read recorded answers, one JSON object per table; `tables` are those they may be about, with their numbers of columns."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(
            f"cannot read {path}: {getattr(error, 'strerror', None) or error}"
        ) from None
    found: dict[str, RecordedTable] = {}
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        where = f"{path}, line {number}"
        name, recorded = _read_table(line, where, tables)
        if name in found:
            raise UsageError(f"{where}: table {name!r} was answered before; expected one line each")
        found[name] = recorded
    if not found:
        raise UsageError(f"{path} has no recorded answers; expected one JSON object per table")
    return found


def _read_table(line: str, where: str, tables: Mapping[str, int]) -> tuple[str, RecordedTable]:
    try:
        record = parse_json(line)
        name, entries = str(record["id"]), list(record["columns"])
        answers = [(entry["index"], entry["type"]) for entry in entries]
        tokens = [record[f"tokens_{part}"] for part in ("instructions", "table", "answer")]
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        raise UsageError(
            f"{where} is no recorded answer; expected an object with id, columns (each with index and type) and "
            "tokens_instructions, tokens_table, tokens_answer"
        ) from None
    if name not in tables:
        raise UsageError(
            f"{where} answers for the table {name!r}, which is not among the labelled tables; give its file with --data"
        )
    for index, label in answers:
        if type(index) is not int or not 0 <= index < tables[name]:
            raise UsageError(
                f"{where} answers for column {index!r} of {name}, which does not exist; the table has columns 0 to "
                f"{tables[name] - 1}"
            )
        if label not in TYPE_INDEX:
            raise UsageError(
                f"{where} calls column {index} of {name} {label!r}, which is no type; see: aegir types list"
            )
    if len(dict(answers)) < len(answers) or not answers:
        raise UsageError(
            f"{where} answers for {len(answers)} columns of {name}; expected each once"
        )
    if not all(type(each) is int and each >= 0 for each in tokens):
        raise UsageError(f"{where} has the tokens {tokens}; expected whole numbers from 0 on")
    return name, RecordedTable(dict(answers), *tokens)


def join(answers: Path, ngrams: Path, tables: Sequence[TrainingTable]) -> PricedLog:
    """Join recorded answers with ours to the same columns, as far as their types are labelled."""
    models, _ = load_models(ngrams)
    names = dict(zip(models[NETWORK][WEB].names, models[NETWORK][WEB].group.tolist(), strict=True))
    known = {
        table.labelled.table.name: table
        for table in tables
        if table.source.is_validation and not table.source.everyday and table.source.cta_weight == 1
    }
    recorded = read_recorded(
        answers, {name: len(each.labelled.table.columns) for name, each in known.items()}
    )
    for name in recorded:
        if column_names(known[name])[0] not in names:
            raise UsageError(
                f"{ngrams} has no held-out answers to the table {name!r} of {answers}; use the folder of an "
                "`aegir train ngrams` that had this table among its data"
            )
    return _joined(
        recorded, names, ngrams_with_rules(models, tables), {id(t) for t in known.values()}
    )


def _joined(
    recorded: Mapping[str, RecordedTable],
    groups: Mapping[str, int],
    calibrating: Calibrating,
    wanted: set[int],
) -> PricedLog:
    held = calibrating.held[WEB]
    annotations, features = calibrating.cross_fitted(WEB), _features(calibrating)
    plain = [training.labelled.table for training in held.tables]
    rows: list[tuple[Any, ...]] = []
    paid: list[tuple[int, int]] = []
    for training, said, span in zip(held.tables, annotations, table_spans(plain), strict=True):
        given = recorded.get(training.labelled.table.name) if id(training) in wanted else None
        if given is None:
            continue
        own_names = column_names(training)
        for index, label in sorted(given.types.items()):
            labels = training.labelled.labels[index]
            if labels.types is None:
                continue
            rows.append(
                (
                    own_names[index],
                    features[span.start + index],
                    bool(labels.accepts_type(said.columns[index].type)),
                    bool(labels.accepts_type(label)),
                    len(paid),
                    groups[own_names[index]],
                    given.answer / len(given.types),
                )
            )
        paid.append((given.instructions, given.table))
    if not rows:
        raise UsageError("none of the recorded answers is about a column whose type is labelled")
    instructions, table_tokens = np.array(paid, np.float64).T
    names, x, ours, reader, table, group, answer = zip(*rows, strict=True)
    return PricedLog(
        names,
        np.array(x),
        np.array(ours, bool),
        np.array(reader, bool),
        np.array(table),
        np.unique(np.array(group), return_inverse=True)[1],
        instructions,
        table_tokens,
        np.array(answer, np.float64),
    )


def _features(calibrating: Calibrating) -> Floats:
    """(columns of web tables, FEATURES) as the pipeline sees them after the n-grams, by weights of the other half of the groups."""
    held, verdicts = calibrating.held[WEB], calibrating.verdicts[WEB]
    tables = [training.labelled.table for training in held.tables]
    mixed = {half: calibrating.first(not half)[WEB] for half in (False, True)}
    scores: list[TableScores] = []
    for table, span, half in zip(tables, table_spans(tables), held.half.tolist(), strict=True):
        web = float(mixed[half]["web"][span][0])
        scores.append(table_scores(table, mixed[half], span, web))
    return column_features(tables, verdicts, scores)


def episodes(log: PricedLog, tables_per_call: int, worth: float, seed: int = 0) -> list[Episode]:
    """One episode per column: a reader drawn with probability 1/2, and the outcome of both.

    The cost of asking is its reward's: tokens, with those of the table shared among its columns, by `worth`.
    """
    drawn = Seeds(seed).generator("priced reader").integers(2, size=len(log))
    costs = _costs(log, np.ones(len(log), bool), tables_per_call) / worth
    found = []
    for row, name in enumerate(log.names):
        asks = bool(drawn[row])
        outcome = {FREE: float(log.ours[row]), LLM: float(log.reader[row])}
        worker = LLM if asks else FREE
        decision = Decision(
            action={WORKER: worker},
            propensity=0.5,
            features=dict(zip(FEATURES, log.features[row].tolist(), strict=True)),
            policy="uniform",
            decided_by="exploration",
            baseline={WORKER: FREE},
            cost=float(costs[row]) if asks else 0.0,
        )
        rewards = {"accuracy": outcome[worker]}
        rewards |= {f"{OF_WORKER}{each}": right for each, right in outcome.items()}
        found.append(
            Episode(
                id=name,
                decisions=(decision,),
                source="real",
                group=f"{WEB} {log.group[row]}",
                task=name,
                rewards=rewards,
            )
        )
    return found


def learn_to_ask(
    log: PricedLog, worth: float, tables_per_call: int, settings: LearningSettings = SETTINGS
) -> RoutingPolicy:
    """Learn for which columns the reader is worth its tokens; features that never vary here are left out."""
    logged = LoggedDecisions.from_batch(
        EpisodeBatch.from_episodes(episodes(log, tables_per_call, worth)), name="recorded answers"
    )
    varying = np.flatnonzero(np.ptp(log.features, axis=0) > 0)
    places = [logged.feature_names.index(FEATURES[place]) for place in varying]
    logged = replace(
        logged,
        feature_names=tuple(FEATURES[place] for place in varying),
        features=logged.features[:, places],
    )
    asked = np.ones(len(log), bool)
    for _ in range(ROUNDS):
        gain = log.reader.astype(float) - log.ours - _costs(log, asked, tables_per_call) / worth
        known = np.zeros((len(log), 2))
        known[:, logged.actions.index(LLM)] = np.maximum(gain, LEAST_REWARD)
        policy = learn_values(with_all_outcomes(replace(logged, known=known)), 0.0, settings)
        asked = asks(policy, log)
    return policy


def asks(policy: RoutingPolicy, log: PricedLog) -> Bools:
    """(C,) the columns for which the policy calls the reader."""
    chosen = policy.probabilities(log.features[:, policy.columns_of(FEATURES, "a column")])
    return np.asarray(chosen.argmax(axis=1) == policy.actions.index(LLM), bool)


def _costs(log: PricedLog, asked: Bools, tables_per_call: int) -> Floats:
    """(C,) tokens of asking about a column: its answer, and its share of what its table costs."""
    others = np.bincount(log.table, asked, len(log.instructions))[log.table] - asked
    return np.asarray(log.answer + log.shared(tables_per_call)[log.table] / (others + 1))
