"""Replays an annotator on held-out tables: what would it have answered, had it been mixed from these models?

    answers of several models --collect--> Held --Calibrating--> fitted weights, answers by weights of the other half

Measured is thus what an annotator says, with everything `decide` does, by models and weights that know nothing of the table.
"""

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from aegir.answers.annotation import TableAnnotation
from aegir.lab.data.sources import TrainingTable
from aegir.lab.held_out import HeldOut, column_names, places_of
from aegir.lab.mixing_fit import (
    Parts,
    fit_powers,
    fit_rule_trust,
    fit_weights,
    types_of_fine_from,
)
from aegir.lab.pair_fit import HeldOutTable, LabelledPairs, fit_pairs
from aegir.pipeline.correct import (
    apply_rules,
    apply_verdicts,
    reweigh_relations,
    rule_out_phone_names,
    rule_out_relations,
    type_shares,
)
from aegir.pipeline.decide import decide
from aegir.readers.bytes.scoring import probability_of_web
from aegir.readers.calibration import Mixture
from aegir.readers.mixing import (
    UNCHANGED,
    Mixing,
    PairModel,
    Powers,
    RuleTrust,
    per_column,
    with_none,
)
from aegir.readers.ngrams.annotator import CALIBRATED
from aegir.readers.ngrams.network import TABLE_HEADS, probabilities_of
from aegir.readers.rules.judge import RuleVerdict, judge_columns
from aegir.readers.scores import (
    LIKELY,
    SURE_TYPE,
    Explanation,
    Probabilities,
    TableScores,
    explain_verdict,
    table_spans,
)
from aegir.tables.table import Table
from aegir.vocabulary.terms import FINE_NAMES, RELATION_NAMES, TYPE_NAMES
from aegir_rl.base.arrays import F32, I64, Bools, softmax
from aegir_rl.base.errors import UsageError

Array = npt.NDArray[Any]
LINEAR, NETWORK = "linear", "network"
"""The two models whose answers `aegir train ngrams` keeps."""
_NAMES = {"types": TYPE_NAMES, "relations": RELATION_NAMES, "fine": FINE_NAMES}
RULE_WEIGHTS = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0)
COMPATIBILITY_WEIGHTS = (0.25, 0.5, 0.75, 1.0)


@dataclass(frozen=True, slots=True)
class Held:
    """Everything that is known about the columns of held-out tables of one origin."""

    tables: tuple[TrainingTable, ...]
    """The tables, all columns of each in order."""
    half: Bools
    """(tables,) which half of the groups a table is in."""
    known: Mapping[str, Bools]
    accepted: Mapping[str, Bools]
    parts: Mapping[str, Parts]
    """The probabilities of each model; columns that it did not answer have zeros."""
    answered: Mapping[str, Bools]
    """(columns,) which columns a model answered."""

    def columns(self, tables: Bools) -> Bools:
        """Return (columns,) which columns are of these tables."""
        return np.repeat(tables, [len(t.labelled.table.columns) for t in self.tables])

    def by_table(self, columns: Array) -> list[Array]:
        """Return the parts of an array over columns (columns, …) that belong to each table."""
        sizes = [len(table.labelled.table.columns) for table in self.tables]
        return np.split(columns, np.cumsum(sizes)[:-1])

    def web(self) -> F32:
        """Return (columns,) the probability that the column's table is one of the web, by the networks."""
        by_table = self.by_table(self.parts[NETWORK]["web"])
        return per_column(
            [float(part.mean()) for part in by_table], [len(part) for part in by_table]
        )


def parts_of(held_out: HeldOut) -> Parts:
    """Return the probabilities of held-out logits, as an annotator gives them."""
    parts: dict[str, Probabilities] = {}
    for part, logits in held_out.logits.items():
        found = probabilities_of(part, logits.copy())  # sigmoids are computed in place
        # The linear stages know no "none of these".
        whole = part in _NAMES and logits.shape[1] == len(_NAMES[part])
        parts[part] = softmax(logits) if whole else found[:, 0] if found.shape[1] == 1 else found
    return parts


def collect(
    origin: str,
    models: Mapping[str, Mapping[str, HeldOut]],
    tables: Sequence[TrainingTable],
    validation: bool = True,
) -> Held:
    """Bring the answers of several models to the same tables into one order.

    Tables are those of validation files, or, with `validation` false, all that the networks kept out.
    """
    network = models[NETWORK][origin]
    wanted = set(network.names)
    chosen = [
        table
        for table in tables
        if (table.source.is_validation or not validation)
        and column_names(table)
        and wanted.issuperset(column_names(table)[:1])
    ]
    names = [name for table in chosen for name in column_names(table)]
    places = places_of(names, network)
    if (places < 0).any():
        raise UsageError("the networks were not held out on whole tables")
    first = np.append(0, np.cumsum([len(t.labelled.table.columns) for t in chosen]))[:-1]
    halves = network.group[places][first] % 2 == 1
    parts, answered = {}, {}
    for model, by_origin in models.items():
        there = places_of(names, by_origin[origin])
        found = parts_of(by_origin[origin])
        answered[model] = there >= 0
        parts[model] = {
            part: np.where(
                (there >= 0).reshape(-1, *[1] * (array.ndim - 1)), array[np.maximum(there, 0)], 0
            ).astype(np.float32)
            for part, array in found.items()
        }
    return Held(
        tuple(chosen),
        halves,
        {part: known[places] for part, known in network.known.items()},
        {part: accepted[places] for part, accepted in network.accepted.items()},
        parts,
        answered,
    )


def mix_parts(
    mixing: Mixing, first: Parts, second: Parts, web: F32, types_of_fine: F32
) -> dict[str, Probabilities]:
    """Return the mixture of two models for all columns, as the annotators make it."""
    mixed = {
        part: mixing.mix(part, first[part], second[part], web)
        for part in ("types", "relations", "fine")
    }
    mixed["types"] = mixing.with_fine(mixed["types"], mixed["fine"], types_of_fine, web)
    return mixed


@dataclass(frozen=True, slots=True)
class FittedMixture:
    """What calibration fits for one annotator."""

    half: bool | None
    """The half of the groups it was fitted on; None for all."""
    mixing: Mixing
    types_of_fine: F32
    rule_trust: RuleTrust | None = None
    rule_weight: float = 0.0
    compatibility_weight: float = 0.0
    pairs: PairModel | None = None
    powers: Powers = UNCHANGED

    def trust(self) -> RuleTrust:
        """Return the trust in rules, which a whole fit has."""
        assert self.rule_trust is not None, "rules were left out of this fit"
        return self.rule_trust

    @property
    def mixture(self) -> Mixture:
        """The part that ships with the byte network."""
        return Mixture(
            self.mixing, self.trust(), self.rule_weight, self.compatibility_weight, self.pairs
        )


def table_scores(
    table: Table, parts: Parts, span: slice, web: float, explanations: Sequence[Explanation] = ()
) -> TableScores:
    """Return the scores of a table from the probabilities of all columns, of which it has those in `span`."""
    return TableScores(
        parts["types"][span],
        parts["relations"][span],
        table.subject,
        tuple(explanations) or (Explanation(),) * len(table.columns),
        fine=parts["fine"][span],
        **_personal_scores(parts, span),
        web=web,
    )


def _personal_scores(parts: Parts, span: slice) -> dict[str, Any]:
    """Return what is known about persons and rows; nothing for a model without such heads."""
    if "levels" not in parts:
        return {"personal": parts["personal"][span]} if "personal" in parts else {}
    levels, first = with_none(parts["levels"][span]), slice(span.start, span.start + 1)
    return {
        "personal": 1 - levels[:, -1],
        "levels": np.roll(levels, 1, axis=1),
        "special": parts["special"][span],
        **{part: parts[part][first].sum(axis=0) for part in TABLE_HEADS},
    }


def replay_alone(held: Held, model: str, annotator: str) -> list[TableAnnotation]:
    """Return what the annotator of the byte network alone would have answered."""
    parts, answers = held.parts[model], []
    tables = [training.labelled.table for training in held.tables]
    for table, span in zip(tables, table_spans(tables), strict=True):
        web = probability_of_web(parts["relations"][span], table.subject)
        answers.append(decide(table, table_scores(table, parts, span, web), annotator))
    return answers


class Calibrating:
    """Fits one annotator on held-out answers and replays it.

    `first` and `second` are the probabilities of the two models it mixes, per origin. The first may be an annotator that is
    fitted itself, then on the same half of the same tables. The second may lack columns, which then go by the first
    alone. `with_rules` applies the rules to the types and relations of web tables, as `combined` does; `pairs` are those
    of labelled tables, with which the columns of these tables are then read together. With `kept` the two models are mixed
    by these weights, and only what follows is fitted.
    """

    def __init__(
        self,
        annotator: str,
        held: Mapping[str, Held],
        first: "Mapping[str, Parts] | Calibrating",
        second: Mapping[str, Parts],
        compatibility: F32,
        *,
        with_rules: bool,
        pairs: LabelledPairs | None = None,
        kept: Mixing | None = None,
    ) -> None:
        self.annotator, self.held, self.with_rules = annotator, held, with_rules
        self.pairs, self.kept = pairs, kept
        self._first, self.second, self.compatibility = first, second, compatibility
        self.called: Mapping[str, Bools] | None = None
        self._first_of: dict[bool | None, Mapping[str, Parts]] = {}
        self.verdicts: dict[str, list[RuleVerdict]] = (
            first.verdicts
            if isinstance(first, Calibrating)
            else {
                origin: judge_columns([c for t in each.tables for c in t.labelled.table.columns])
                for origin, each in held.items()
            }
        )

    def first(self, half: bool | None) -> Mapping[str, Parts]:
        """Return the probabilities of the first model per origin, fitted on this half if it is fitted at all."""
        if not isinstance(self._first, Calibrating):
            return self._first
        if half not in self._first_of:
            fitted = replace(self._first.fit(half), rule_trust=None)
            self._first_of[half] = {
                origin: self._first.mixed(origin, fitted) for origin in self.held
            }
        return self._first_of[half]

    def calling(self, called: Mapping[str, Bools]) -> "Calibrating":
        """Return the same with the second model called about these columns (columns,), per origin."""
        other = copy(self)
        other.called = called
        return other

    def split(self, halves: Mapping[str, Bools]) -> "Calibrating":
        """Return the same with other halves (tables,), per origin."""
        other = copy(self)
        other._first_of = {}
        if isinstance(self._first, Calibrating):
            other._first = self._first.split(halves)
        other.held = {
            origin: replace(each, half=halves[origin]) for origin, each in self.held.items()
        }
        return other

    def fit(self, half: bool | None = None) -> FittedMixture:
        """Fit everything on one half of the groups, or on all."""
        chosen = {
            origin: each.columns(np.ones_like(each.half) if half is None else each.half == half)
            for origin, each in self.held.items()
        }
        first = self.first(half)
        everyday = self.held["open"]
        both = chosen["open"] & everyday.known["fine"] & everyday.known["types"]
        types_of_fine = types_of_fine_from(
            everyday.accepted["fine"][both], everyday.accepted["types"][both]
        )
        weights = {
            origin: fit_weights(
                each.known,
                each.accepted,
                chosen[origin] & self._mixes(origin, first[origin]),
                first[origin],
                self.second[origin],
                types_of_fine,
            )
            for origin, each in self.held.items()
        }
        # Web tables have no labels of fine types: there, everyday tables decide.
        web = replace(
            weights["open"], **{p: getattr(weights["web"], p) for p in ("types", "relations")}
        )
        mixing = self.kept or Mixing(replace(web, via_fine=0.0, sharpness=1.0), weights["open"])
        fitted = FittedMixture(half, mixing, types_of_fine)
        if self.with_rules:
            fitted = self._fit_rules(fitted, chosen["web"])
        else:
            powers = fit_powers(everyday.known, everyday.accepted, chosen["open"], first["open"])
            fitted = replace(fitted, powers=powers)
        named = np.flatnonzero(chosen["open"] & everyday.known["fine"])
        trust = fit_rule_trust(
            self.mixed("open", fitted)["fine"][named],
            [self.verdicts["open"][place].fine_type for place in named],
            everyday.accepted["fine"][named],
        )
        return replace(fitted, rule_trust=trust)

    def _mixes(self, origin: str, first: Parts) -> Bools:
        """Return (columns,) where the second model has a say: it answered, and `combined` would have asked it."""
        held = self.held[origin]
        if self.called is not None:
            return self.called[origin]
        mixes: Bools = np.logical_and.reduce(list(held.answered.values()))
        if self.with_rules:
            mixes &= held.columns(
                np.array(
                    [
                        (with_none(types).max(axis=1) < SURE_TYPE).any()
                        for types in held.by_table(first["types"])
                    ]
                )
            )
        return mixes

    def _fit_rules(self, fitted: FittedMixture, chosen: Bools) -> FittedMixture:
        """Fit the weights that rules and types have on web tables."""
        held, verdicts = self.held["web"], self.verdicts["web"]
        mixed = self.mixed("web", fitted)
        used = np.flatnonzero(chosen & held.known["types"])
        of_used = [verdicts[i] for i in used]

        def loss(part: str, found: Probabilities, used: I64) -> float:
            right = (with_none(found) * held.accepted[part][used]).sum(axis=1)
            return float(-np.log(right + 1e-6).sum())

        rule_weight = min(
            RULE_WEIGHTS,
            key=lambda w: loss("types", apply_verdicts(mixed["types"][used], of_used, w), used),
        )
        related = np.flatnonzero(chosen & held.known["relations"])
        types = apply_verdicts(mixed["types"][related], [verdicts[i] for i in related], rule_weight)
        relations = mixed["relations"][related]
        compatibility_weight = min(
            COMPATIBILITY_WEIGHTS,
            key=lambda w: loss(
                "relations", reweigh_relations(relations, types, self.compatibility, w), related
            ),
        )
        fitted = replace(fitted, rule_weight=rule_weight, compatibility_weight=compatibility_weight)
        return fitted if self.pairs is None else self._fit_pairs(fitted, mixed, self.pairs)

    def _fit_pairs(
        self, fitted: FittedMixture, mixed: Mapping[str, Probabilities], pairs: LabelledPairs
    ) -> FittedMixture:
        """Fit how far the columns of a table are read together, by pairs of tables outside the other half."""
        held, verdicts = self.held["web"], self.verdicts["web"]
        chosen = np.ones_like(held.half) if fitted.half is None else held.half == fitted.half
        groups = pairs.groups_of(held.tables)
        without = {group for group, own in zip(groups, chosen, strict=True) if not own}
        types = held.by_table(apply_verdicts(mixed["types"], verdicts, fitted.rule_weight))
        relations = held.by_table(mixed["relations"])

        def tables(part: str, found: Sequence[Probabilities]) -> list[HeldOutTable]:
            right = np.where(held.known[part][:, None], held.accepted[part], False)
            return [
                HeldOutTable(probabilities, accepted, group)
                for probabilities, accepted, group, own in zip(
                    found, held.by_table(right), groups, chosen, strict=True
                )
                if own
            ]

        of_types = fit_pairs("types", tables("types", types), pairs, without)
        spans = table_spans([table.labelled.table for table in held.tables])
        weight, shares = fitted.compatibility_weight, type_shares(self.compatibility)
        weighed = [
            rule_out_relations(
                reweigh_relations(each, of_types.apply(own), self.compatibility, weight),
                verdicts[span],
                shares,
            )
            for own, each, span in zip(types, relations, spans, strict=True)
        ]
        of_relations = fit_pairs("relations", tables("relations", weighed), pairs, without)
        return replace(fitted, pairs=PairModel(of_types, of_relations))

    def mixed(self, origin: str, fitted: FittedMixture) -> dict[str, Probabilities]:
        """Return the mixture for all columns of an origin; zeros for a column without values, as in the annotators."""
        held, second = self.held[origin], self.second[origin]
        first = self.first(fitted.half)[origin]
        columns = [column for table in held.tables for column in table.labelled.table.columns]
        web = held.web()
        mixed = mix_parts(fitted.mixing, first, second, web, fitted.types_of_fine)
        missing = ~self._mixes(origin, first)
        for part in mixed:
            mixed[part][missing] = first[part][missing]
        if self.with_rules:
            everyday = np.flatnonzero(web < LIKELY)
            mixed["fine"][everyday] = rule_out_phone_names(
                mixed["fine"][everyday], [self.verdicts[origin][place] for place in everyday]
            )
        if fitted.rule_trust is not None:
            named = [verdict.fine_type for verdict in self.verdicts[origin]]
            mixed["fine"] = fitted.rule_trust.apply(mixed["fine"], named)
        mixed |= {
            part: fitted.powers.apply(part, first[part]) for part in CALIBRATED if part in first
        }
        empty = [not column.present for column in columns]
        for part in mixed.keys() - TABLE_HEADS.keys():
            mixed[part][empty] = 0
        return mixed | {"web": web}

    def replay(
        self, origin: str, fitted: FittedMixture, chosen: Bools | None = None
    ) -> list[TableAnnotation]:
        """Return what the annotator would have answered to the held-out tables, or to those chosen (tables,)."""
        mixed, answers = self.mixed(origin, fitted), []
        tables = [training.labelled.table for training in self.held[origin].tables]
        wanted = np.ones(len(tables), bool) if chosen is None else chosen
        for table, span, asked in zip(tables, table_spans(tables), wanted.tolist(), strict=True):
            if not asked:
                continue
            verdicts, web = self.verdicts[origin][span], float(mixed["web"][span][0])
            scores = table_scores(table, mixed, span, web, [*map(explain_verdict, verdicts)])
            if self.with_rules:
                types, relations = apply_rules(
                    scores.types,
                    scores.relations,
                    verdicts,
                    web,
                    fitted.mixture,
                    self.compatibility,
                )
                scores = replace(scores, types=types, relations=relations)
            answers.append(decide(table, scores, self.annotator))
        return answers

    def cross_fitted(self, origin: str) -> list[TableAnnotation]:
        """Return the answers to all tables, each by weights fitted on the other half of the groups."""
        held = self.held[origin]
        by_half = {
            half: iter(self.replay(origin, self.fit(not half), held.half == half))
            for half in (False, True)
        }
        return [next(by_half[bool(half)]) for half in held.half]
