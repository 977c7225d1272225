"""What is done to the scores of a table after all reading: rules, types and relations that fit, columns together.

    types      log P + weight * strength where a rule supports a type;  P = 0 where the values rule it out
    relations  log P + weight * log(share of the relation's columns that are of the column's likely types)
    pairs      readers/mixing.py: types, then relations, of all columns of a table of the web together
    reranking  readers/reranking.py: the likeliest of these, weighed by what values measure beside those of the table
    siblings   the mean of P over columns that must be alike; of every annotator, just before it is decided

The n-gram networks read what the rules say as evidence. On tables of the web, where the linear stages lead, rules are
applied once more, as far as the table is one of the web: the weights of these lines are multiplied by its
probability. On everyday tables only telephones are ruled out, where a rule names something else: digits and dashes look
like them in any script. Vetoes that would leave no type are ignored.

Siblings have names that differ in a number, a weekday, a month or a word such as min and max alone, and values of one datatype; or
the same few values, below headers that suggest the same or nothing. A header that says nothing but its number (Col1, x2) makes
siblings only of three columns of numbers or more that read as one kind (y1985 … y2024), and a flag is no sibling of a count. A table without siblings keeps its scores, bit for bit.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from aegir.readers.calibration import Mixture
from aegir.readers.ngrams.annotator import trust_fine
from aegir.readers.rules.headers import TELEPHONES, hints_of, is_informative
from aegir.readers.rules.judge import RuleVerdict
from aegir.readers.scores import (
    LIKELY,
    NO_VALUES,
    Explanation,
    Probabilities,
    TableScores,
    explain_verdict,
    type_places,
)
from aegir.tables.contents import contents_of
from aegir.tables.datatype import NUMERIC
from aegir.tables.table import Column, Table
from aegir.vocabulary.hierarchy import kind_of
from aegir.vocabulary.terms import (
    FINE_INDEX,
    FINE_NAMES,
    RELATION_INDEX,
    TYPE_INDEX,
    TYPE_NAMES,
    plain_name,
)
from aegir_rl.base.arrays import F32, rows_times, softmax

if TYPE_CHECKING:
    from aegir.readers.reranking import Reranking

FLOOR = 1e-9
FINE_TYPE_WEIGHT = 1.0
"""Times its confidence, this is added to the log odds of the type that a named fine type supports most."""
SURE_SUPPORT = 0.5
"""Strength from which a rule is taken to know the column's type."""
INCOMPATIBLE = 0.03
"""Added to the compatibility of type and relation, so that a wrong type cannot exclude a relation."""
RULED_OUT = 0.9
"""Share of a relation's columns that must be of vetoed types; it excluded 2 of 2,318 right relations."""

SETTLED = 0.97
"""Probability of a code that header and every value name: on everyday tables 9 of 9 such columns were labelled so."""

PHONE_NAMES = ("telephone_number", "fax_number")
_PHONE_NAMES = [FINE_INDEX[name] for name in PHONE_NAMES]
_PHONE_TYPES = [TYPE_INDEX[name] for name in sorted(TELEPHONES)]
_PHONE_RELATIONS = [RELATION_INDEX[name] for name in sorted(TELEPHONES)]

MOST_SHARED = 12
"""Different values that siblings by their values may have: beyond, equal sets are keys of the same things under other names."""
FLAG_VALUES = 2
"""Up to so many values a column is a flag, and no sibling of a count."""
LEAST_NUMBERED = 3
"""Columns whose headers say little but a number that are siblings, …"""
ALIKE = 0.9
"""… if this share of them is likeliest of one kind."""
_YEAR = re.compile(r"\s*(1[89]|20)\d\d\s*")
_CYCLE_MARKS = frozenset(("weekday", "month"))
_WORD = re.compile(r"[^\W\d_]+|\d+")
_PARTS = re.compile(r"(?<=[a-z])(?=[A-Z])")
_WEEKDAYS = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]
_MONTHS = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
]
_SUFFIXES = frozenset(
    [
        "min",
        "max",
        "mean",
        "avg",
        "average",
        "median",
        "std",
        "first",
        "last",
        "start",
        "end",
        "begin",
        "from",
        "to",
        "old",
        "new",
        "before",
        "after",
        "home",
        "away",
        "left",
        "right",
        "top",
        "bottom",
        "upper",
        "lower",
        "male",
        "female",
        "men",
        "women",
        "x",
        "y",
        "z",
        "lat",
        "lon",
        "am",
        "pm",
        "h",
        "l",
        "a",
        "b",
        "c",
        "d",
        "e",
        "f",
    ]
) - {"lat", "lon"}
_CYCLES = {
    **{word: "weekday" for day in _WEEKDAYS for word in (day, day[:3], day[:2], day[:4])},
    "thurs": "weekday",
    "tues": "weekday",
    **{word: "month" for month in _MONTHS for word in (month, month[:3])},
    "sept": "month",
}


@dataclass(frozen=True, slots=True)
class Corrections:
    """Corrects scores, with weights that were fitted on held-out tables."""

    mixture: Mixture
    compatibility: F32
    """(108, 82) the share of each relation's columns that are of each type."""
    reranking: "Callable[[], Reranking] | None" = None
    """Gives the weights of reranking when a table of the web is first corrected; None leaves it out."""

    def apply(
        self, table: Table, scores: TableScores, verdicts: Sequence[RuleVerdict]
    ) -> TableScores:
        """Return the scores of a table, given what the rules say of its columns."""
        if not verdicts:
            return scores
        types, relations = apply_rules(
            scores.types, scores.relations, verdicts, scores.web, self.mixture, self.compatibility
        )
        if self.reranking is not None and scores.web >= LIKELY:
            types, relations = self.reranking().apply(table, types, relations)
        fine = scores.fine
        if fine is not None and scores.web < LIKELY:
            fine = rule_out_phone_names(fine, verdicts)
        corrected = trust_fine(
            replace(scores, types=types, relations=relations, fine=fine),
            verdicts,
            self.mixture.rule_trust,
        )
        if corrected.fine is not None:
            corrected = replace(corrected, fine=name_settled(corrected.fine, verdicts))
        explanations = tuple(
            _explain(
                _reasons_for(verdict, int(types[row].argmax())),
                scores.explanations[row],
                _overruled(scores, corrected, row),
            )
            for row, verdict in enumerate(verdicts)
        )
        return replace(corrected, explanations=explanations)


def apply_rules(
    types: Probabilities,
    relations: Probabilities,
    verdicts: Sequence[RuleVerdict],
    web: float,
    mixture: Mixture,
    compatibility: F32,
) -> tuple[Probabilities, Probabilities]:
    """Return the types and relations of one table after rules and pairs were applied, as far as it is one of the web."""
    if web < LIKELY:
        return rule_out_phones(types, relations, verdicts)
    types = apply_verdicts(types, verdicts, mixture.rule_weight * web)
    if mixture.pairs is not None:
        types = mixture.pairs.types.apply(types, web)
    weight = mixture.compatibility_weight * web
    relations = reweigh_relations(relations, types, compatibility, weight)
    relations = rule_out_relations(relations, verdicts, type_shares(compatibility))
    if mixture.pairs is not None:
        relations = mixture.pairs.relations.apply(relations, web)
    return types, relations


def apply_verdicts(
    types: Probabilities, verdicts: Sequence[RuleVerdict], weight: float
) -> Probabilities:
    """Return type probabilities (columns, 82) after the rules were applied; the rest to 1 stays "none of these".

    Where a rule supports a type, the probability of vetoed types is shared out among the others. Where none
    does, it is lost: a column that is none of the likely types may well be none of the 82.
    """
    some = types.sum(axis=1, keepdims=True)
    logits = np.log(types + FLOOR)
    for row, verdict in zip(logits, verdicts, strict=True):
        for name, strength in verdict.support:
            row[TYPE_INDEX[name]] += weight * strength
        if verdict.fine_type and verdict.support:
            row[TYPE_INDEX[verdict.support[0][0]]] += FINE_TYPE_WEIGHT * verdict.fine_confidence
    result: Probabilities = softmax(logits.astype(np.float32))
    for row, verdict in zip(result, verdicts, strict=True):
        if len(verdict.vetoes) < len(row):
            row[type_places(verdict.vetoes)] = 0
            if verdict.support and verdict.support[0][1] >= SURE_SUPPORT:
                row /= row.sum()
    return np.asarray(result * some, np.float32)


def rule_out_phones(
    types: Probabilities, relations: Probabilities, verdicts: Sequence[RuleVerdict]
) -> tuple[Probabilities, Probabilities]:
    """Return the probabilities without telephones where a rule names something else, whose type gets theirs."""
    types, relations = types.copy(), relations.copy()
    for row, related, verdict in zip(types, relations, verdicts, strict=True):
        if _names_no_phone(verdict):
            moved = row[_PHONE_TYPES].sum()
            row[_PHONE_TYPES] = related[_PHONE_RELATIONS] = 0
            if verdict.support:
                row[TYPE_INDEX[verdict.support[0][0]]] += moved
    return types, relations


def rule_out_phone_names(fine: Probabilities, verdicts: Sequence[RuleVerdict]) -> Probabilities:
    """Return the probabilities of fine types without telephones where a rule names something else, which gets theirs."""
    fine = fine.copy()
    for row, verdict in zip(fine, verdicts, strict=True):
        if verdict.fine_type and _names_no_phone(verdict):
            moved = row[_PHONE_NAMES].sum()
            row[_PHONE_NAMES] = 0
            row[FINE_INDEX[verdict.fine_type]] += moved
    return fine


def name_settled(fine: Probabilities, verdicts: Sequence[RuleVerdict]) -> Probabilities:
    """Return the probabilities of fine types with SETTLED at least for codes that header and every value name."""
    fine = fine.copy()
    for row, verdict in zip(fine, verdicts, strict=True):
        if verdict.is_settled and verdict.fine_type is not None:
            place = FINE_INDEX[verdict.fine_type]
            if row[place] < SETTLED:
                row *= np.float32((1 - SETTLED) / (1 - row[place]))
                row[place] = SETTLED
    return fine


def _names_no_phone(verdict: RuleVerdict) -> bool:
    """Return whether a rule names a fine type that rules out telephones; that values are equal says nothing."""
    named = verdict.fine_type not in (None, "constant", *PHONE_NAMES)
    return named and verdict.vetoes >= TELEPHONES


def reweigh_relations(
    relations: Probabilities, types: Probabilities, compatibility: F32, weight: float
) -> Probabilities:
    """Return relation probabilities (columns, 108) weighed by the types; the rest to 1 is "none of these".

    `compatibility` (108, 82) is the share of each relation's columns that are of each type.
    """
    allowed = rows_times(types, compatibility.T)
    none = np.maximum(1 - relations.sum(axis=1, keepdims=True), FLOOR)
    factors = (allowed + INCOMPATIBLE) ** np.float32(weight)
    weighed = np.hstack([relations * factors, none * factors.mean(axis=1, keepdims=True)])
    return np.asarray(weighed / weighed.sum(axis=1, keepdims=True), np.float32)[:, :-1]


def type_shares(compatibility: F32) -> F32:
    """Return (108, 82) shares that sum to 1; those of a relation without data are equal for all types."""
    return np.asarray(compatibility / compatibility.sum(axis=1, keepdims=True), np.float32)


def rule_out_relations(
    relations: Probabilities, verdicts: Sequence[RuleVerdict], shares: F32
) -> Probabilities:
    """Return (columns, 108) without the relations nearly all of whose columns are of vetoed types."""
    vetoed = np.zeros((len(verdicts), shares.shape[1]), np.float32)
    for row, verdict in zip(vetoed, verdicts, strict=True):
        if len(verdict.vetoes) < len(row):
            row[type_places(verdict.vetoes)] = 1
    return np.where(rows_times(vetoed, shares.T) > RULED_OUT, np.float32(0), relations)


def _overruled(read: TableScores, corrected: TableScores, row: int) -> str | None:
    """Return what the models read a column like, if the rules made another type or fine type likelier."""
    before, after = int(read.types[row].argmax()), int(corrected.types[row].argmax())
    if before != after:
        return TYPE_NAMES[before]
    if read.web >= LIKELY or read.fine is None or corrected.fine is None:
        return None
    named = int(read.fine[row].argmax())
    if read.fine[row, named] < LIKELY or named == int(corrected.fine[row].argmax()):
        return None
    return FINE_NAMES[named]


def _reasons_for(verdict: RuleVerdict, answered: int) -> RuleVerdict:
    """Return the verdict without its first reason where that speaks for other types than the answered one."""
    if not verdict.argues_for or TYPE_NAMES[answered] in verdict.argues_for:
        return verdict
    return replace(verdict, evidence=verdict.evidence[1:])


def _explain(verdict: RuleVerdict, learnt: Explanation, overruled: str | None) -> Explanation:
    """Give the rules' reasons, then the models' reasons or the type of theirs that was overruled."""
    rules = explain_verdict(verdict)
    if rules.evidence and learnt.evidence == (NO_VALUES,):  # the rules say so, too
        return rules
    if overruled is None:
        return replace(rules, evidence=(*rules.evidence, *learnt.evidence))
    if overruled in verdict.vetoes:
        reason = f"the models' first guess, {plain_name(overruled)}, was ruled out"
    else:
        reason = f"the models' first guess was {plain_name(overruled)}"
    return replace(rules, evidence=(*rules.evidence, reason))


def pool_siblings(table: Table, scores: TableScores) -> TableScores:
    """Return the scores of a table in which siblings have the same probabilities."""
    groups = list(sibling_groups(table))
    groups += _numbered_groups(table, scores, groups)
    if not groups or scores.custom:
        return scores
    types = scores.types.copy()
    fine = None if scores.fine is None else scores.fine.copy()
    levels = None if scores.levels is None else scores.levels.copy()
    for group in groups:
        types[group] = _pooled(types[group])
        if fine is not None:
            fine[group] = _pooled(fine[group])
        if levels is not None:
            levels[group] = levels[group].mean(axis=0)
    return replace(scores, types=types, fine=fine, levels=levels)


def sibling_groups(table: Table) -> Iterator[list[int]]:
    """Yield the indices of columns that are decided together, two at least; a column is in one group at most."""
    taken: set[int] = set()
    for marks in (_name_mark, _values_mark):
        found: dict[Hashable, list[int]] = defaultdict(list)
        for index, column in enumerate(table.columns):
            if index not in taken and (mark := marks(column)) is not None:
                found[mark].append(index)
        for group in found.values():
            if len(group) > 1:
                taken.update(group)
                yield group


def _numbered_groups(
    table: Table, scores: TableScores, groups: Sequence[Sequence[int]]
) -> list[list[int]]:
    """Return columns of numbers whose headers are a number, with a letter or a word at most, and that read alike.

    A group takes in those of the found groups that it covers. Headers that are all numbers are those of no header row.
    """
    found: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for index, column in enumerate(table.columns):
        stem = name_stem(column.name) or ()
        says = is_informative(column.name) or all(len(part) == 1 for part in stem)
        if "#" in stem and says and _counts_or_measures(column):
            found[stem].append(index)
    known = {index: len(group) for group in groups for index in group}
    return [
        group
        for stem, group in found.items()
        if len(group) >= LEAST_NUMBERED
        and (stem != ("#",) or len(group) < len(table.columns))
        and any(known.get(index) != len(group) for index in group)
        and _read_alike(scores, group)
    ]


def _counts_or_measures(column: Column) -> bool:
    """Return whether a column holds numbers that are no flags."""
    contents = contents_of(column)
    return contents.datatype in NUMERIC and contents.distinct > FLAG_VALUES


def _read_alike(scores: TableScores, group: Sequence[int]) -> bool:
    """Return whether nearly all columns are likeliest of one kind."""
    read, names = (scores.types, TYPE_NAMES) if scores.fine is None else (scores.fine, FINE_NAMES)
    kinds = Counter(kind_of(names[int(read[index].argmax())]) for index in group)
    return kinds.most_common(1)[0][1] >= ALIKE * len(group)


def name_stem(header: str | None) -> tuple[str, ...] | None:
    """Return the words of a header with what siblings differ in replaced by what it is; None if nothing is."""
    words = [word.lower() for word in _WORD.findall(_PARTS.sub(" ", header or ""))]
    if not words:
        return None
    stem = ["#" if word.isdigit() else _CYCLES.get(word, word) for word in words]
    if stem == words and len(words) > 1 and words[-1] in _SUFFIXES:
        stem = [*words[:-1], "suffix"]
    return tuple(stem) if stem != words else None


def _name_mark(column: Column) -> Hashable | None:
    stem = name_stem(column.name)
    if stem is None or not (
        is_informative(column.name)
        or _CYCLE_MARKS.intersection(stem)
        or _YEAR.fullmatch(column.name or "")
    ):
        return None  # Col1 and Col2 need not be alike
    contents = contents_of(column)
    return stem, contents.datatype, contents.distinct <= FLAG_VALUES


def _values_mark(column: Column) -> Hashable | None:
    distinct = contents_of(column).distinct
    if not 1 < distinct <= MOST_SHARED or len(column.present) < 2 * distinct:
        return None
    values = frozenset(column.present)
    return values, frozenset(hints_of(column.name) if column.name else ())


def _pooled(several: Probabilities) -> Probabilities:
    """Return the mean of probabilities (columns, names); a column of which nothing is known does not count."""
    known = several[several.any(axis=1)]
    return known.mean(axis=0, keepdims=True) if len(known) else several
