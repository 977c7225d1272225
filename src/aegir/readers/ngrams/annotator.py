"""The `ngrams` annotator: the n-gram model, calibrated.

    linear stages: types and relations of web tables   --.
                                                          mixing.py --> all parts of the answer
    networks: everything, on all tables                --'

The linear stages know no "none of these": they are taken to be about the columns that have a type, and the networks
say how likely that is.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from aegir.readers.calibration import OperatingPoints
from aegir.readers.mixing import Mixing, RuleTrust, Weights, per_column
from aegir.readers.ngrams.column_inputs import (
    ColumnInputs,
    hash_values,
    header_view,
    read_columns,
)
from aegir.readers.ngrams.features import CELLS_PER_VIEW, JointIndex, SparseRows
from aegir.readers.ngrams.model import (
    CONTEXT_FEATURES,
    SCORES,
    TYPES,
    NgramModel,
    context_features,
    mean_over_views,
)
from aegir.readers.ngrams.network import ColumnReadings, Dense, NgramNetwork, probabilities_of
from aegir.readers.rules.judge import RuleVerdict, judge_columns
from aegir.readers.scores import (
    LIKELY,
    TableScores,
    choose_subject,
    explain_networks,
    explain_scores,
    table_spans,
)
from aegir.tables.table import Column, Table, without_cells
from aegir.vocabulary.terms import FINE_INDEX
from aegir_rl.base.arrays import F32, I32, softmax
from aegir_rl.base.safetensors_file import map_safetensors

if TYPE_CHECKING:
    from aegir.tables.labelled import Task

MODEL_FILE = "ngrams.safetensors"
SHIPPED = Path(__file__).parents[1] / "weights" / MODEL_FILE
_SEEN_IN_VALUES = [FINE_INDEX[name] for name in ("all_missing", "constant")]
"""Fine types that no name tells."""
CALIBRATED = ("levels", "special", "rows", "person")
"""Heads of the networks that nothing is mixed with."""
EVERYDAY = 0.05
"""Probability of a web table below which the linear stages, which were fitted to such tables, are not called."""


class NgramNetworks:
    """Networks that answer together, and the hashes of values that they and others read."""

    def __init__(self, networks: Sequence[NgramNetwork], *others: I32) -> None:
        """`others` are indices of those that read the same values; they come first in `joint.own`."""
        self._readers, self._count = group_by_reading(networks), len(networks)
        self.joint = JointIndex.of((*others, *(values for _, (values, _) in self._readers)))
        self._own = self.joint.own[len(others) :]

    def hash_values(self, columns: Sequence[Column]) -> SparseRows:
        """Return the n-grams of the values, by the joint index."""
        return hash_values(columns, self.joint.index)

    def read_inputs(
        self, tables: Sequence[Table], verdicts: Sequence[RuleVerdict], rows: SparseRows
    ) -> Iterator[tuple[list[NgramNetwork], ColumnInputs]]:
        """Yield networks that know the same n-grams, with what they read; `rows` are the values by the joint index."""
        for (networks, index), numbers in zip(self._readers, self._own, strict=True):
            yield networks, read_columns(tables, verdicts, *index, rows.renumbered(numbers))

    def call(
        self, tables: Sequence[Table], verdicts: Sequence[RuleVerdict], rows: SparseRows
    ) -> dict[str, F32]:
        """Return the mean probabilities of the networks per head, without "none of these".

        Those of the heads of tables have one row per table.
        """
        total: dict[str, F32] = {}
        for networks, inputs in self.read_inputs(tables, verdicts, rows):
            for network in networks:
                for head, logits in network.outputs(inputs).items():
                    probabilities = probabilities_of(head, logits)
                    total[head] = total[head] + probabilities if head in total else probabilities
        share = np.float32(1 / self._count)
        return {head: probabilities * share for head, probabilities in total.items()}

    def ask_networks(
        self, tables: Sequence[Table], verdicts: Sequence[RuleVerdict]
    ) -> dict[str, F32]:
        """Return the same for tables whose values were not hashed yet."""
        columns = [column for table in tables for column in table.columns]
        return self.call(tables, verdicts, self.hash_values(columns))

    def read_names(self, tables: Sequence[Table]) -> tuple[dict[str, F32], dict[str, F32]]:
        """Return the same for names alone: every header among those of its table, and every header by itself."""
        bare = [without_cells(table) for table in tables]
        alone = [
            Table("", (column,)) if column.name else Table("", (Column(None, ()),))
            for table in bare
            for column in table.columns
        ]
        nothing = [RuleVerdict()] * len(alone)
        return self.ask_networks(bare, nothing), self.ask_networks(alone, nothing)


class NgramsAnnotator:
    """Scores tables with an `NgramModel`."""

    name = "ngrams"

    def __init__(self, model: NgramModel) -> None:
        self.model = model
        self.operating_points = OperatingPoints.from_facts(model.facts, self.name)
        self._value_index = model.values.index
        self._networks = NgramNetworks(model.networks, self._value_index)

    def score(self, tables: Sequence[Table]) -> list[TableScores]:
        """Return probabilities for every column of every table."""
        verdicts = judge_columns([column for table in tables for column in table.columns])
        trust = self.model.calibration.rule_trust
        return [
            trust_fine(scores, verdicts[span], trust)
            for scores, span in zip(
                self.score_judged(tables, verdicts), table_spans(tables), strict=True
            )
        ]

    def score_judged(
        self, tables: Sequence[Table], verdicts: Sequence[RuleVerdict]
    ) -> list[TableScores]:
        """Return the same, given the rules' verdict on every column, without trust in the fine types they name."""
        columns = [column for table in tables for column in table.columns]
        rows = self._networks.hash_values(columns)
        by_network = self._networks.call(tables, verdicts, rows)
        spans = table_spans(tables)
        web = [_mean_probability(by_network["web"][span]) for span in spans]
        mixing, of_column = self.model.calibration.mixing, per_column(web, [*map(_width, spans)])
        linear, own, subjects = self._call_linear(tables, web, by_network, rows)
        mixed = {
            head: mixing.mix(head, linear[head], by_network[head], of_column)
            for head in ("types", "relations")
        }
        fine = mixing.mix("fine", by_network["fine"], by_network["fine"], of_column)
        powers = self.model.calibration.powers
        by_network["special"] = by_network["special"][:, 0]
        calibrated = {head: powers.apply(head, by_network[head]) for head in CALIBRATED}
        types = mixing.with_fine(mixed["types"], fine, self.model.types_of_fine, of_column)
        parts = {**mixed, "types": types, "fine": fine}
        parts |= {head: calibrated[head] for head in ("levels", "special")}
        web = self._put_names(tables, parts, web)
        relations = parts["relations"]
        return [
            TableScores(
                types[span],
                relations[span],
                subject,
                explain_scores(own[span, :TYPES], types[span])
                if share >= LIKELY
                else explain_networks(table.columns, types[span], fine[span]),
                fine=fine[span],
                personal=parts["levels"][span].sum(axis=1),
                levels=_none_first(parts["levels"][span]),
                special=parts["special"][span],
                rows=rows_of,
                person=person,
                web=share,
            )
            for table, span, subject, share, rows_of, person in zip(
                tables, spans, subjects, web, calibrated["rows"], calibrated["person"], strict=True
            )
        ]

    def _put_names(
        self, tables: Sequence[Table], parts: Mapping[str, F32], web: Sequence[float]
    ) -> list[float]:
        """Put what names alone say into the rows of columns without values; return the tables' probabilities of being of the web.

        A column without a name has nothing to be read by, and a table of names is none of the web: those have no headers.
        """
        spans = table_spans(tables)
        some = [any(not column.present for column in table.columns) for table in tables]
        chosen = [index for index, has_empty in enumerate(some) if has_empty]
        if not chosen:
            return list(web)
        columns = [column for table in tables for column in table.columns]
        empty = np.array([not column.present for column in columns], bool)
        unnamed = np.array([not column.name for column in columns], bool)
        rows = np.concatenate(
            [np.arange(spans[index].start, spans[index].stop) for index in chosen]
        )
        names = self.score_names([tables[index] for index in chosen])
        for head, part in parts.items():
            part[rows[empty[rows]]] = names[head][empty[rows]]
            part[empty & unnamed] = 0
        return [
            0.0
            if span.stop > span.start and empty[span].all() and not unnamed[span].all()
            else share
            for span, share in zip(spans, web, strict=True)
        ]

    def score_names(self, tables: Sequence[Table]) -> dict[str, F32]:
        """Return the probabilities of every part of the answer by headers and table name alone."""
        inside, alone = self._networks.read_names(tables)
        return mix_names(inside, alone, self.model.calibration.names, self.model.types_of_fine)

    def ask_networks(
        self, tables: Sequence[Table], verdicts: Sequence[RuleVerdict]
    ) -> dict[str, F32]:
        """Return the mean probabilities of the networks per head, without "none of these"."""
        return self._networks.ask_networks(tables, verdicts)

    def read(self, tables: Sequence[Table]) -> list[ColumnReadings]:
        """Return what the networks make of the columns of each table; a subject that a table names is ignored."""
        plain = [replace(table, subject=None) for table in tables]
        columns = [column for table in plain for column in table.columns]
        names, vectors, values = [], [], []
        rows = self._networks.hash_values(columns)
        for networks, inputs in self._networks.read_inputs(plain, judge_columns(columns), rows):
            for network in networks:
                reading = network.read(inputs)
                names.append(softmax(network.head("fine", reading.vectors)))
                vectors.append(reading.vectors)
                values.append(reading.values)
        together = ColumnReadings(
            np.mean(names, axis=0),
            np.hstack(vectors),
            np.hstack(values),
            tuple("".join(header_view(column.name)) for column in columns),
        )
        return [together.at(span) for span in table_spans(tables)]

    def _call_linear(
        self,
        tables: Sequence[Table],
        web: Sequence[float],
        by_network: Mapping[str, F32],
        rows: SparseRows,
    ) -> tuple[dict[str, F32], F32, list[int | None]]:
        """Return what the linear stages answer, each column's own scores (columns, SCORES), and each table's subject.

        What the networks leave for "none of these" is theirs, too. Everyday tables are not read: there the networks'
        answers replace theirs, the own scores are 0, and the subject is the one that the table names.
        """
        web_tables = [index for index, share in enumerate(web) if share >= EVERYDAY]
        columns = np.arange(len(by_network["types"]))
        spans = table_spans(tables)
        where = np.concatenate([columns[:0], *(columns[spans[index]] for index in web_tables)])
        own = np.zeros((len(columns), SCORES), np.float32)
        own[where], context, chosen = self._read_linear(
            [tables[index] for index in web_tables], rows.at(where)
        )
        subjects = [table.subject for table in tables]
        for index, subject in zip(web_tables, chosen, strict=True):
            subjects[index] = subject
        linear = {head: by_network[head].copy() for head in ("types", "relations")}
        parts: tuple[tuple[str, Task, F32], ...] = (
            ("types", "cta", context[:, :TYPES]),
            ("relations", "cpa", context[:, TYPES:]),
        )
        for head, task, part in parts:
            some = linear[head][where].sum(axis=1, keepdims=True)
            temperature = np.float32(self.model.calibration.temperature[task])
            linear[head][where] = softmax(part / temperature) * some
        return linear, own, subjects

    def _read_linear(
        self, tables: Sequence[Table], rows: SparseRows
    ) -> tuple[F32, F32, list[int | None]]:
        """Return the linear scores (columns, SCORES) alone and in context, and each table's subject."""
        columns = [column for table in tables for column in table.columns]
        own = self._own_scores(columns, rows)
        subjects: list[int | None] = []
        features = [np.zeros((0, CONTEXT_FEATURES), np.float32)]
        for table, span in zip(tables, table_spans(tables), strict=True):
            if not table.columns:
                subjects.append(None)
                continue
            subject = pick_subject(table, own[span], self.model.subject)
            subjects.append(subject)
            features.append(context_features(own[span], subject))
        return own, self.model.context(np.concatenate(features)), subjects

    def _own_scores(self, columns: Sequence[Column], rows: SparseRows) -> F32:
        """Return each column's linear scores (columns, SCORES); of a few cells, the networks have hashed just them."""
        few = np.array([len(column.present) <= CELLS_PER_VIEW for column in columns], bool)
        own = np.zeros((len(columns), SCORES), np.float32)
        hashed = rows.at(np.flatnonzero(few)).renumbered(self._networks.joint.own[0])
        own[few] = self.model.values.score_rows(hashed)
        others = [
            column for column, is_few in zip(columns, few.tolist(), strict=True) if not is_few
        ]
        own[~few] = mean_over_views(others, self.model.values, self._value_index)
        return own


def trust_fine(
    scores: TableScores, verdicts: Sequence[RuleVerdict], trust: RuleTrust
) -> TableScores:
    """Return the scores of a table with trust in the fine types that rules name."""
    if scores.fine is None:
        return scores
    named = [verdict.fine_type for verdict in verdicts]
    failing = [verdict.failing for verdict in verdicts]
    return replace(scores, fine=trust.apply(scores.fine, named, failing))


def mix_names(
    inside: Mapping[str, F32], alone: Mapping[str, F32], weights: Weights, types_of_fine: F32
) -> dict[str, F32]:
    """Return the answer to names alone, from what each says among the headers of its table and by itself."""
    mixing, ones = Mixing(weights, weights), np.ones(len(inside["types"]), np.float32)
    parts = {
        head: mixing.mix(head, inside[head], alone[head], ones)
        for head in ("types", "relations", "fine")
    }
    parts["fine"][:, _SEEN_IN_VALUES] = 0
    parts["types"] = mixing.with_fine(parts["types"], parts["fine"], types_of_fine, ones)
    parts |= {"levels": inside["levels"], "special": inside["special"][:, 0]}
    return parts


def _none_first(levels: F32) -> F32:
    """Return (columns, 4) levels with the probability of none before them."""
    rest = np.maximum(1 - levels.sum(axis=1, keepdims=True), 0)
    return np.asarray(np.hstack([rest, levels]), np.float32)


def group_by_reading(
    networks: Sequence[NgramNetwork],
) -> list[tuple[list[NgramNetwork], tuple[I32, I32]]]:
    """Return networks that know the same n-grams together, with their indices: their tables are read once."""
    groups: list[tuple[list[NgramNetwork], tuple[I32, I32]]] = []
    for network in networks:
        for members, _ in groups:
            if members[0].knows_the_same(network):
                members.append(network)
                break
        else:
            groups.append(([network], (network.values.index, network.headers.index)))
    return groups


def _mean_probability(probabilities: F32) -> float:
    return float(probabilities.mean()) if len(probabilities) else 1.0


def _width(span: slice) -> int:
    return int(span.stop - span.start)


def pick_subject(table: Table, own: F32, layer: Dense) -> int:
    """Return the subject column of a table, given its columns' own scores (columns, SCORES)."""
    return choose_subject(table, layer(own)[:, 0])


def load_ngrams(path: Path | None = None) -> NgramsAnnotator:
    """Return the annotator with the weights in `path`, or with those that ship with Aegir."""
    return _shipped() if path is None else NgramsAnnotator(NgramModel.load(path))


@cache
def _shipped() -> NgramsAnnotator:
    return NgramsAnnotator(NgramModel.load(SHIPPED, map_safetensors(SHIPPED)))
