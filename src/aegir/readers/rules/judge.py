"""The judge: apply the rules that fit a column, weigh the header, and explain the result.

    Column --read--> Reading --select--> rules --apply--> findings --weigh--> Verdict

Rules are selected by comparing the column's traits with what each rule needs and excludes; the selection is cached
per combination of traits. Of the 256 rules, lengths and header leave a few dozen to be applied to a typical column.

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

from aegir.readers.rules import (
    codes,
    dates,
    devices,
    enumerations,
    hours,
    identifiers,
    maps,
    money,
    numbers,
    people,
    phones,
    places,
    registry_numbers,
    technical,
    text,
    web,
)
from aegir.readers.rules.agreement import vetoes_by_fine_type
from aegir.readers.rules.headers import (
    TELEPHONES,
    hints_of,
    is_informative,
    named_types,
    names_a_dimension,
    names_a_key,
    words_of,
)
from aegir.readers.rules.reading import Reading, read
from aegir.readers.rules.rule import Finding, Rule, apply
from aegir.readers.rules.vetoes import (
    is_plain_number,
    vetoes_by_form,
    vetoes_by_meaning,
    vetoes_by_numbers,
    vetoes_by_plain_number,
)
from aegir.tables.table import Column
from aegir.vocabulary.terms import FINE_TYPES

_THEMES = (
    *(web, technical, identifiers, devices, money, registry_numbers, phones, dates),
    *(hours, codes, enumerations, places, maps, people, numbers, text),
)
RULES: tuple[Rule, ...] = tuple(rule for theme in _THEMES for rule in theme.RULES)
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
_VAGUE_HINTS = frozenset(
    ("category_code", "free_text", "count", "primary_key", "foreign_key", "sku", "http_status")
)
"""Hints too vague to be contradicted: a `status` need not be a code."""


@dataclass(frozen=True, slots=True)
class Verdict:
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
    argues_for: frozenset[str] = frozenset()
    """Without a fine type, the column types for which the first sentence is a reason; empty if it is none."""


def judge(column: Column) -> Verdict:
    """Return the verdict of the rules on one column."""
    reading = read(column)
    if not reading.values:
        return Verdict(evidence=("every value is missing",) if column.values else ())
    hints = hints_of(reading.header) if reading.header else {}
    impossible = vetoes_by_numbers(reading)
    findings = _apply_rules(reading, hints, impossible)
    fine_type, confidence, decisive = _choose_fine_type(findings, hints)
    vetoes = vetoes_by_form(reading) | impossible
    if decisive and decisive.rule.name in hints:
        measured = decisive.rule.column_type is not None
        vetoes |= vetoes_by_meaning(reading, decisive.rule.name, measured)
    support = {}
    if not hints and is_plain_number(reading) and not _names_key_or_dimension(reading.header or ""):
        vetoes |= vetoes_by_plain_number(reading)
        support["Number"] = PLAIN_NUMBER_STRENGTH
    if is_informative(reading.header):
        vetoes |= _unnamed_locating_types(reading, findings)
    parent = _parent_of(decisive.rule) if decisive else None
    if decisive:
        vetoes |= vetoes_by_fine_type(decisive.rule.name, parent)
    if parent:
        vetoes -= {parent}  # a ticker is an identifier, though it has no digit
        support[parent] = PARENT_STRENGTH * confidence
    reported = decisive or _strongest(findings)
    return Verdict(
        support=_rank_support(findings, hints, vetoes, support),
        vetoes=vetoes,
        fine_type=fine_type,
        fine_confidence=confidence,
        evidence=_explain(reading, findings, hints, fine_type, reported),
        argues_for=frozenset(dict(reported.rule.support) if reported and not decisive else ()),
    )


def judge_columns(columns: Sequence[Column]) -> list[Verdict]:
    """Return a verdict for each column; the evidence of a column on which the rules fail says so."""
    verdicts = []
    for column in columns:
        try:
            verdicts.append(judge(column))
        except Exception as problem:  # one strange column must not cost the user the whole table
            verdicts.append(Verdict(evidence=(f"the rules failed on this column: {problem!r}",)))
    return verdicts


@lru_cache(maxsize=4096)
def rules_for(traits: int, hinted: bool = True) -> tuple[Rule, ...]:
    """Return the rules that columns of these traits can match; of those that need a header none if there is no hint."""
    return tuple(
        rule
        for rule in RULES
        if rule.passes(traits) and (hinted or rule.support or rule.confidence)
    )


def _apply_rules(
    reading: Reading, hints: dict[str, str], impossible: frozenset[str]
) -> list[Finding]:
    """Return what the rules find; cheap tests decide first which are applied."""
    findings = []
    shortest, longest, header = reading.shortest, reading.longest, reading.header
    constant = len(reading.values) == 1 and reading.repeats and is_informative(header)
    for rule in rules_for(reading.traits, bool(hints)):
        least, most = rule.length
        if longest < least or shortest > most:
            continue
        if not (rule.support or rule.confidence or rule.name in hints):
            continue
        if rule.weak and header and _header_disagrees(rule, header, hints):
            continue
        if constant and rule.by_chance and not _header_agrees(rule, hints):
            continue
        if impossible and _main_type_of(rule) in impossible:
            continue
        finding = apply(rule, reading)
        if finding is not None:
            findings.append(finding)
    return findings


def _names_key_or_dimension(header: str) -> bool:
    """Return whether the header names a key or what is measured: `order_no`, `distance`."""
    return names_a_key(header) or names_a_dimension(words_of(header)[-1:])


def _header_disagrees(rule: Rule, header: str, hints: dict[str, str]) -> bool:
    """Return whether the header suggests something else than the rule's fine type or main column type."""
    return not _header_agrees(rule, hints) and (bool(hints) or names_a_key(header))


def _header_agrees(rule: Rule, hints: dict[str, str]) -> bool:
    """Return whether the header suggests the rule's fine type or main column type."""
    label = rule.support[0][0] if rule.support else None
    return rule.name in hints or any(label == FINE_TYPES[name].parent for name in hints if label)


def _main_type_of(rule: Rule) -> str | None:
    """Return the column type that a rule supports most."""
    return rule.support[0][0] if rule.support else _parent_of(rule)


def _parent_of(rule: Rule) -> str | None:
    """Return the column type of the fine type that a rule finds."""
    if rule.column_type:
        return rule.column_type
    return FINE_TYPES[rule.name].parent if rule.name in FINE_TYPES else None


def _unnamed_locating_types(reading: Reading, findings: list[Finding]) -> frozenset[str]:
    """Return the types of `_LOCATING_TYPES` that neither the header names nor a rule finds."""
    named = {*named_types(reading.header), *(_main_type_of(finding.rule) for finding in findings)}
    return _LOCATING_TYPES - named - (TELEPHONES if named & TELEPHONES else frozenset())


def _confidence(finding: Finding, hinted: bool) -> float:
    """Return the confidence in the fine type of a finding; 0 when the rule may not name it here.

    Under a header that suggests the type, cells that fail are exceptions rather than a doubt: they count half.
    """
    rule = finding.rule
    if hinted:
        return (1 + finding.share) / 2 * max(rule.confidence, rule.confidence_with_header)
    return finding.share * rule.confidence if finding.distinct >= rule.min_distinct else 0.0


def _choose_fine_type(
    findings: list[Finding], hints: dict[str, str]
) -> tuple[str | None, float, Finding | None]:
    """Return the most confident fine type, its confidence and its finding; a header that agrees adds a bonus."""
    best: Finding | None = None
    best_score = best_confidence = 0.0
    for finding in findings:
        name = finding.rule.name
        confidence = _confidence(finding, name in hints)
        score = confidence + (_HEADER_BONUS if name in hints else 0.0)
        if name in FINE_TYPES and confidence >= MIN_CONFIDENCE and score > best_score:
            best, best_score, best_confidence = finding, score, confidence
    return (best.rule.name if best else None), round(best_confidence, 4), best


def _rank_support(
    findings: list[Finding],
    hints: dict[str, str],
    vetoes: frozenset[str],
    support: dict[str, float],
) -> tuple[tuple[str, float], ...]:
    """Return the supported types, strongest first, without vetoed ones.

    `support` is that of the named fine type and of the header, before the findings.
    """
    strengths = dict(support)
    for finding in findings:
        rule = finding.rule
        trusted = finding.distinct >= rule.min_distinct or rule.name in hints
        for label, strength in rule.support:
            strength *= finding.share * (1.0 if trusted else rule.support_when_few)
            strengths[label] = max(strengths.get(label, 0.0), strength)
    ranked = sorted(strengths.items(), key=lambda item: (-item[1], item[0]))
    return tuple(
        (label, round(strength, 4))
        for label, strength in ranked
        if strength > 0 and label not in vetoes
    )


def _explain(
    reading: Reading,
    findings: list[Finding],
    hints: dict[str, str],
    fine_type: str | None,
    reported: Finding | None,
) -> tuple[str, ...]:
    """Return the sentences for the user: the finding to be reported, and what the header suggests."""
    sentences = []
    if reported is not None:
        sentences.append(_sentence(reported))
    if fine_type is not None and fine_type in hints:
        sentences.append(f"header {reading.header!r} suggests {_with_article(fine_type)}")
    elif hints and fine_type is None:
        matched = {finding.rule.name for finding in findings}
        contradicted = [name for name in hints if name not in matched]
        if len(contradicted) == len(hints) and _VAGUE_HINTS.isdisjoint(hints):
            sentences.append(
                f"header {reading.header!r} suggests {_with_article(contradicted[0])}, "
                "but the values do not agree"
            )
    return tuple(sentences[:_MAX_SENTENCES])


def _strongest(findings: list[Finding]) -> Finding | None:
    """Return the finding that supports a type most."""
    return max((finding for finding in findings if finding.rule.support), key=_weight, default=None)


def _weight(finding: Finding) -> float:
    return finding.share * max(strength for _, strength in finding.rule.support)


def _sentence(finding: Finding) -> str:
    example = finding.example if len(finding.example) <= 40 else finding.example[:39] + "…"
    return (
        f"{finding.matched} of {finding.checked} values are {finding.rule.noun}, "
        f"such as {example!r}"
    )


def _with_article(name: str) -> str:
    """Return `date_of_birth` as "a date of birth"; an initial u is read "you" in all our names, and some are spelt out."""
    vowel = name[0] in "aeio" or name.startswith(_SPELT_OUT)
    return f"{'an' if vowel else 'a'} {name.replace('_', ' ')}"
