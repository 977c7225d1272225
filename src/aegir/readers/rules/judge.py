"""The judge: apply the rules that fit a column, weigh the header, and explain the result.

    Column --summarise_column--> ColumnSummary --rules_for--> rules --apply_rule--> matches --weigh--> Verdict

Rules are selected by comparing the column's traits with what each rule needs and excludes; the selection is cached
per combination of traits. Of the 264 rules, lengths and header leave a few dozen to be applied to a typical column.

Promises
  - never raises, whatever the text; `judge_columns` reports a failing column and goes on;
  - the same verdict for the same cells in any order;
  - a fine type is named only at a confidence of 0.8 or more, and a header never wins against values that
    contradict it (the evidence says so instead);
  - a weak format is ignored under a header that names something else (`O-5101` under `order`);
  - a fine type named at confidence c supports its column type with 0.9 c or more, and nothing vetoes that type;
  - no type is supported and vetoed at once.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from aegir.readers.rules import codes, dates, numbers, people, text
from aegir.readers.rules.column_summary import ColumnSummary, summarise_column
from aegir.readers.rules.gazetteers import word_set
from aegir.readers.rules.headers import (
    TELEPHONES,
    hints_of,
    is_informative,
    named_types,
    names_a_dimension,
    names_a_key,
    words_of,
)
from aegir.readers.rules.rule import RuleMatch, ValueRule, apply_rule
from aegir.readers.rules.vetoes import (
    is_plain_number,
    vetoes_by_fine_type,
    vetoes_by_form,
    vetoes_by_meaning,
    vetoes_by_numbers,
    vetoes_by_plain_number,
)
from aegir.tables.table import Column
from aegir.vocabulary.terms import FINE_TYPES

RULES: tuple[ValueRule, ...] = (
    *text.TECHNICAL_RULES,
    *codes.IDENTIFIERS_RULES,
    *numbers.MONEY_RULES,
    *people.PHONES_RULES,
    *dates.DATES_RULES,
    *codes.CODES_RULES,
    *people.PLACES_RULES,
    *people.PEOPLE_RULES,
    *numbers.NUMBERS_RULES,
    *text.TEXT_RULES,
)
"""All rules; of two equally confident ones the first wins."""
MIN_CONFIDENCE = 0.8
PARENT_STRENGTH = 0.9
"""The support of a column type by its named fine type, as a share of the fine type's confidence."""
PLAIN_NUMBER_STRENGTH = 0.5
"""Support of Number for plain numbers under a header that no rule knows: an estimate, not a count."""
_HEADER_BONUS = 0.05
_MAX_SENTENCES = 3
_LOCATING_TYPES = TELEPHONES | {"postalCode", "CoordinateAT"}
_SPELT_OUT = ("http_", "html_", "md5_", "xml_", "lei")
"""Names that begin with a letter read as "aitch", "em", "ex" or "ell"."""
_CODES = word_set("codes_with_a_form")
_VAGUE_HINTS = frozenset(
    ("category_code", "free_text", "count", "primary_key", "foreign_key", "sku", "http_status")
)
"""Hints too vague to be contradicted: a `status` need not be a code."""


@dataclass(frozen=True, slots=True)
class RuleVerdict:
    """What the rules conclude about one column; the strengths are no probabilities."""

    support: tuple[tuple[str, float], ...] = ()
    """Column types and strengths 0..1, strongest first."""
    vetoes: frozenset[str] = frozenset()
    """Column types that these values make impossible."""
    fine_type: str | None = None
    """A key of `FINE_TYPES`; None when not sure."""
    fine_confidence: float = 0.0
    """At least 0.8 when `fine_type` is set, 0 otherwise."""
    evidence: tuple[str, ...] = ()
    """Short sentences: which values, which header."""
    failing: float = 0.0
    """Share of the values that have the form of the fine type and fail its check digit, as test data do."""
    is_settled: bool = False
    """Whether header and every value name one of the codes that nothing else looks like, such as an ISRC."""
    argues_for: frozenset[str] = frozenset()
    """Without a fine type, the column types for which the first sentence is a reason; empty if it is none."""


def judge(column: Column) -> RuleVerdict:
    """Return the verdict of the rules on one column."""
    summary = summarise_column(column)
    if not summary.values:
        return RuleVerdict(evidence=("every value is missing",) if column.values else ())
    hints = hints_of(summary.header) if summary.header else {}
    impossible = vetoes_by_numbers(summary)
    matches = _apply_rules(summary, hints, impossible)
    fine_type, confidence, decisive = _choose_fine_type(matches, hints)
    vetoes = vetoes_by_form(summary) | impossible
    if decisive and decisive.rule.name in hints:
        measured = decisive.rule.column_type is not None
        vetoes |= vetoes_by_meaning(summary, decisive.rule.name, measured)
    support = {}
    if not hints and is_plain_number(summary) and not _names_key_or_dimension(summary.header or ""):
        vetoes |= vetoes_by_plain_number(summary)
        support["Number"] = PLAIN_NUMBER_STRENGTH
    if is_informative(summary.header):
        vetoes |= _unnamed_locating_types(summary, matches)
    parent = _parent_of(decisive.rule) if decisive else None
    if decisive:
        vetoes |= vetoes_by_fine_type(decisive.rule.name, parent)
    if parent:
        vetoes -= {parent}  # a ticker is an identifier, though it has no digit
        support[parent] = PARENT_STRENGTH * confidence
    reported = decisive or _strongest(matches)
    failed = _failed_check(matches, fine_type)
    return RuleVerdict(
        support=_rank_support(matches, hints, vetoes, support),
        vetoes=vetoes,
        fine_type=fine_type,
        fine_confidence=confidence,
        evidence=_explain(summary, matches, hints, fine_type, reported),
        failing=0.0 if failed is None else failed.failing / failed.checked,
        is_settled=decisive is not None
        and decisive.share == 1
        and failed is None
        and fine_type in _CODES & set(hints),
        argues_for=frozenset(dict(reported.rule.support) if reported and not decisive else ()),
    )


def judge_columns(columns: Sequence[Column]) -> list[RuleVerdict]:
    """Return a verdict for each column; the evidence of a column on which the rules fail says so."""
    verdicts = []
    for column in columns:
        try:
            verdicts.append(judge(column))
        except Exception as problem:  # one strange column must not cost the user the whole table
            verdicts.append(
                RuleVerdict(evidence=(f"the rules failed on this column: {problem!r}",))
            )
    return verdicts


@lru_cache(maxsize=4096)
def rules_for(traits: int, hinted: bool = True) -> tuple[ValueRule, ...]:
    """Return the rules that columns of these traits can match; of those that need a header none if there is no hint."""
    return tuple(
        rule
        for rule in RULES
        if rule.passes(traits) and (hinted or rule.support or rule.confidence)
    )


def _apply_rules(
    summary: ColumnSummary, hints: dict[str, str], impossible: frozenset[str]
) -> list[RuleMatch]:
    """Return what the rules find; cheap tests decide first which are applied."""
    matches = []
    shortest, longest, header = summary.shortest, summary.longest, summary.header
    constant = len(summary.values) == 1 and summary.repeats and is_informative(header)
    enumerations: dict[str, float] | None = None
    families: dict[int, bool] = {}
    for rule in rules_for(summary.traits, bool(hints)):
        least, most = rule.length
        if longest < least or shortest > most:
            continue
        if not (rule.support or rule.confidence or rule.name in hints):
            continue
        if rule.enumeration is not None:
            if enumerations is None:
                enumerations = codes.shares_of_enumerations(summary)
            if rule.enumeration not in enumerations:
                continue
        if rule.weak and header and _header_disagrees(rule, header, hints):
            continue
        if constant and rule.by_chance and not _header_agrees(rule, hints):
            continue
        if impossible and _main_type_of(rule) in impossible:
            continue
        if rule.family is not None:
            if id(rule.family) not in families:
                families[id(rule.family)] = rule.family.may_hold(summary)
            if not families[id(rule.family)]:
                continue
        match = apply_rule(rule, summary)
        if match is not None:
            matches.append(match)
    return matches


def _names_key_or_dimension(header: str) -> bool:
    """Return whether the header names a key or what is measured: `order_no`, `distance`."""
    return names_a_key(header) or names_a_dimension(words_of(header)[-1:])


def _header_disagrees(rule: ValueRule, header: str, hints: dict[str, str]) -> bool:
    """Return whether the header suggests something else than the rule's fine type or main column type."""
    return not _header_agrees(rule, hints) and (bool(hints) or names_a_key(header))


def _header_agrees(rule: ValueRule, hints: dict[str, str]) -> bool:
    """Return whether the header suggests the rule's fine type or main column type."""
    label = rule.support[0][0] if rule.support else None
    return rule.name in hints or any(label == FINE_TYPES[name].parent for name in hints if label)


def _main_type_of(rule: ValueRule) -> str | None:
    """Return the column type that a rule supports most."""
    return rule.support[0][0] if rule.support else _parent_of(rule)


def _parent_of(rule: ValueRule) -> str | None:
    """Return the column type of the fine type that a rule finds."""
    if rule.column_type:
        return rule.column_type
    return FINE_TYPES[rule.name].parent if rule.name in FINE_TYPES else None


def _unnamed_locating_types(summary: ColumnSummary, matches: list[RuleMatch]) -> frozenset[str]:
    """Return the types of `_LOCATING_TYPES` that neither the header names nor a rule finds."""
    named = {*named_types(summary.header), *(_main_type_of(match.rule) for match in matches)}
    return _LOCATING_TYPES - named - (TELEPHONES if named & TELEPHONES else frozenset())


def _confidence(match: RuleMatch, hinted: bool) -> float:
    """Return the confidence in the fine type of a match; 0 when the rule may not name it here.

    Under a header that suggests the type, cells that fail are exceptions rather than a doubt: they count half.
    """
    rule = match.rule
    if hinted:
        return (1 + match.share) / 2 * max(rule.confidence, rule.confidence_with_header)
    return match.share * rule.confidence if match.distinct >= rule.min_distinct else 0.0


def _choose_fine_type(
    matches: list[RuleMatch], hints: dict[str, str]
) -> tuple[str | None, float, RuleMatch | None]:
    """Return the most confident fine type, its confidence and its match; a header that agrees adds a bonus."""
    best: RuleMatch | None = None
    best_score = best_confidence = 0.0
    for match in matches:
        name = match.rule.name
        confidence = _confidence(match, name in hints)
        score = confidence + (_HEADER_BONUS if name in hints else 0.0)
        if name in FINE_TYPES and confidence >= MIN_CONFIDENCE and score > best_score:
            best, best_score, best_confidence = match, score, confidence
    return (best.rule.name if best else None), round(best_confidence, 4), best


def _rank_support(
    matches: list[RuleMatch],
    hints: dict[str, str],
    vetoes: frozenset[str],
    support: dict[str, float],
) -> tuple[tuple[str, float], ...]:
    """Return the supported types, strongest first, without vetoed ones.

    `support` is that of the named fine type and of the header, before the matches.
    """
    strengths = dict(support)
    for match in matches:
        rule = match.rule
        trusted = match.distinct >= rule.min_distinct or rule.name in hints
        for label, strength in rule.support:
            strength *= match.share * (1.0 if trusted else rule.support_when_few)
            strengths[label] = max(strengths.get(label, 0.0), strength)
    ranked = sorted(strengths.items(), key=lambda item: (-item[1], item[0]))
    return tuple(
        (label, round(strength, 4))
        for label, strength in ranked
        if strength > 0 and label not in vetoes
    )


def _explain(
    summary: ColumnSummary,
    matches: list[RuleMatch],
    hints: dict[str, str],
    fine_type: str | None,
    reported: RuleMatch | None,
) -> tuple[str, ...]:
    """Return the sentences for the user: the match to be reported, and what the header suggests."""
    sentences = []
    if reported is not None:
        sentences.append(_sentence(reported))
    if failed := _failed_check(matches, fine_type):
        sentences.append(f"{failed.failing} of {failed.checked} values fail their check digit")
    if fine_type is not None and fine_type in hints:
        sentences.append(f"header {summary.header!r} suggests {_with_article(fine_type)}")
    elif hints and fine_type is None:
        matched = {match.rule.name for match in matches}
        contradicted = [name for name in hints if name not in matched]
        if len(contradicted) == len(hints) and _VAGUE_HINTS.isdisjoint(hints):
            sentences.append(
                f"header {summary.header!r} suggests {_with_article(contradicted[0])}, "
                "but the values do not agree"
            )
    return tuple(sentences[:_MAX_SENTENCES])


def _failed_check(matches: list[RuleMatch], fine_type: str | None) -> RuleMatch | None:
    """Return the match of the fine type whose values fail their check digit, if some do."""
    return next((each for each in matches if each.rule.name == fine_type and each.failing), None)


def _strongest(matches: list[RuleMatch]) -> RuleMatch | None:
    """Return the match that supports a type most."""
    return max((match for match in matches if match.rule.support), key=_weight, default=None)


def _weight(match: RuleMatch) -> float:
    return match.share * max(strength for _, strength in match.rule.support)


def _sentence(match: RuleMatch) -> str:
    example = match.example if len(match.example) <= 40 else match.example[:39] + "…"
    return f"{match.matched} of {match.checked} values are {match.rule.noun}, such as {example!r}"


def _with_article(name: str) -> str:
    """Return `date_of_birth` as "a date of birth"; an initial u is read "you" in all our names, and some are spelt out."""
    vowel = name[0] in "aeio" or name.startswith(_SPELT_OUT)
    return f"{'an' if vowel else 'a'} {name.replace('_', ' ')}"
