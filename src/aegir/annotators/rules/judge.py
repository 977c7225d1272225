"""The judge: run the rules a column deserves, weigh the header, and say why.

    Column --read--> Reading --gate--> rules --apply--> findings --weigh--> Verdict

The gate compares the column's traits with what each rule needs; its choice is cached per combination of
traits. Of the 253 rules, lengths and header leave a few dozen to be applied to a typical column.

Promises
  - never raises, whatever the text; `judge_columns` reports a failing column and goes on;
  - the same verdict for the same cells in any order;
  - a fine type is named only at a confidence of 0.8 or more, and a header never wins against values
    that contradict it (the contradiction is told instead);
  - a weak format says nothing under a header that names something else (`O-5101` under `order`);
  - a fine type named at confidence c speaks for its column type with 0.9 c or more, and nothing vetoes it;
  - no type is supported and vetoed at once.
"""

from collections.abc import Sequence
from functools import lru_cache

from aegir.annotators.rules import (
    codes,
    dates,
    devices,
    enumerations,
    files,
    fingerprints,
    hours,
    identifiers,
    maps,
    money,
    national_ids,
    numbers,
    people,
    phones,
    places,
    securities,
    text,
    web,
)
from aegir.annotators.rules.agreement import vetoes_beside
from aegir.annotators.rules.header_topics import TELEPHONES, named_by, says_something
from aegir.annotators.rules.header_units import names_a_dimension
from aegir.annotators.rules.headers import hints_of, names_a_key, words_of
from aegir.annotators.rules.number_vetoes import (
    is_mere_number,
    vetoes_of_mere_numbers,
    vetoes_of_numbers,
)
from aegir.annotators.rules.reading import Reading, read
from aegir.annotators.rules.rule import Finding, Rule, apply
from aegir.annotators.rules.verdict import Verdict
from aegir.annotators.rules.vetoes import vetoes_by_meaning, vetoes_of
from aegir.tables.table import Column
from aegir.vocabulary.terms import FINE_TYPES

SURE_ENOUGH = 0.8
RULES: tuple[Rule, ...] = (
    *web.RULES,
    *files.RULES,
    *fingerprints.RULES,
    *identifiers.RULES,
    *devices.RULES,
    *money.RULES,
    *securities.RULES,
    *national_ids.RULES,
    *phones.RULES,
    *dates.RULES,
    *hours.RULES,
    *codes.RULES,
    *enumerations.RULES,
    *places.RULES,
    *maps.RULES,
    *people.RULES,
    *numbers.RULES,
    *text.RULES,
)
_MOST_SENTENCES = 3
_HEADER_BONUS = 0.05
PARENT_STRENGTH = 0.9
"""How much of its confidence a named fine type lends to its column type."""
MERE_NUMBER = 0.5
"""Strength of Number for plain numbers under a header no rule knows: a judgement, not a count."""
_REACHABLE = TELEPHONES | {"postalCode", "CoordinateAT"}
_LOOSE = frozenset(("category_code", "free_text", "quantity", "primary_key", "foreign_key", "sku"))
"""Hints too vague to be contradicted: a `status` need not be a code."""


def judge(column: Column) -> Verdict:
    """What the rules make of one column."""
    reading = read(column)
    if not reading.values:
        return Verdict(evidence=("every value is missing",) if column.values else ())
    hints = hints_of(reading.header) if reading.header else {}
    impossible = vetoes_of_numbers(reading)
    findings = _findings(reading, hints, impossible)
    fine_type, confidence, decisive = _finest(findings, hints)
    vetoes = vetoes_of(reading) | impossible | _vetoes_by_header(reading, decisive, hints)
    mere = not hints and is_mere_number(reading) and not _names_a_kind(reading.header or "")
    if mere:
        vetoes |= vetoes_of_mere_numbers(reading)
    if says_something(reading.header):
        vetoes |= _unspoken(reading, findings)
    parent = _parent_of(decisive.rule) if decisive else None
    if decisive:
        vetoes |= vetoes_beside(decisive.rule.name, parent)
    lent = {"Number": MERE_NUMBER} if mere else {}
    if parent:
        vetoes -= {parent}  # a ticker is an identifier, though it has no digit
        lent[parent] = PARENT_STRENGTH * confidence
    return Verdict(
        support=_support(findings, hints, vetoes, lent),
        vetoes=vetoes,
        fine_type=fine_type,
        fine_confidence=confidence,
        evidence=_evidence(reading, findings, hints, fine_type, decisive),
    )


def judge_columns(columns: Sequence[Column]) -> list[Verdict]:
    """A verdict for each column; one that cannot be judged gets an empty verdict that says so."""
    verdicts = []
    for column in columns:
        try:
            verdicts.append(judge(column))
        except Exception as problem:  # one strange column must not cost the user the whole table
            verdicts.append(Verdict(evidence=(f"the rules failed on this column: {problem!r}",)))
    return verdicts


@lru_cache(maxsize=4096)
def rules_for(traits: int) -> tuple[Rule, ...]:
    """The rules worth trying on columns of these traits."""
    return tuple(rule for rule in RULES if rule.passes(traits))


def _findings(reading: Reading, hints: dict[str, str], impossible: frozenset[str]) -> list[Finding]:
    """What the rules find; those that fail on a cheap question are not applied."""
    found = []
    shortest, longest, header = reading.shortest, reading.longest, reading.header
    constant = len(reading.values) == 1 and reading.repeats and says_something(header)
    for rule in rules_for(reading.traits):
        if longest < rule.shortest or shortest > rule.longest:
            continue
        if not (rule.support or rule.sure or rule.name in hints):
            continue
        if rule.shy and header and _header_objects(rule, header, hints):
            continue
        if constant and rule.by_chance and not _header_agrees(rule, hints):
            continue
        if impossible and _label_of(rule) in impossible:
            continue
        finding = apply(rule, reading)
        if finding is not None:
            found.append(finding)
    return found


def _names_a_kind(header: str) -> bool:
    """Whether the header names a key or what is measured: `order_no`, `distance`."""
    return names_a_key(header) or names_a_dimension(words_of(header)[-1:])


def _header_objects(rule: Rule, header: str, hints: dict[str, str]) -> bool:
    """Whether the header names something else than what a rule finds or mainly supports."""
    return not _header_agrees(rule, hints) and (bool(hints) or names_a_key(header))


def _header_agrees(rule: Rule, hints: dict[str, str]) -> bool:
    """Whether the header hints at what a rule finds or mainly supports."""
    label = rule.support[0][0] if rule.support else None
    return rule.name in hints or any(label == FINE_TYPES[name].parent for name in hints if label)


def _label_of(rule: Rule) -> str | None:
    """The column type a rule speaks for first."""
    return rule.support[0][0] if rule.support else _parent_of(rule)


def _parent_of(rule: Rule) -> str | None:
    """The column type of what a rule names."""
    return rule.coarse or (FINE_TYPES[rule.name].parent if rule.name in FINE_TYPES else None)


def _unspoken(reading: Reading, findings: list[Finding]) -> frozenset[str]:
    """Ways to reach somebody or some place that neither the header names nor a rule finds."""
    spoken = {*named_by(reading.header), *(_label_of(finding.rule) for finding in findings)}
    return _REACHABLE - spoken - (TELEPHONES if spoken & TELEPHONES else frozenset())


def _confidence(finding: Finding, hinted: bool) -> float:
    """Confidence in the fine type of one finding; 0 when the rule may not name it here.

    Under a header that names the type, cells that fail are odd ones rather than a doubt: they count half.
    """
    rule = finding.rule
    if hinted:
        return (1 + finding.share) / 2 * max(rule.sure, rule.sure_with_header)
    return finding.share * rule.sure if finding.distinct >= rule.distinct else 0.0


def _finest(
    findings: list[Finding], hints: dict[str, str]
) -> tuple[str | None, float, Finding | None]:
    """The fine type to name, if any: the surest, where a header that agrees counts a little more."""
    best: Finding | None = None
    best_score = best_confidence = 0.0
    for finding in findings:
        name = finding.rule.name
        confidence = _confidence(finding, name in hints)
        score = confidence + (_HEADER_BONUS if name in hints else 0.0)
        if name in FINE_TYPES and confidence >= SURE_ENOUGH and score > best_score:
            best, best_score, best_confidence = finding, score, confidence
    return (best.rule.name if best else None), round(best_confidence, 4), best


def _vetoes_by_header(
    reading: Reading, decisive: Finding | None, hints: dict[str, str]
) -> frozenset[str]:
    if decisive is None or decisive.rule.name not in hints:
        return frozenset()
    return vetoes_by_meaning(reading, decisive.rule.name, decisive.rule.coarse is not None)


def _support(
    findings: list[Finding],
    hints: dict[str, str],
    vetoes: frozenset[str],
    lent: dict[str, float],
) -> tuple[tuple[str, float], ...]:
    """What the findings speak for, strongest first; never a type that is ruled out.

    `lent` is what a named fine type or the header lends to a column type by itself.
    """
    strengths = dict(lent)
    for finding in findings:
        rule = finding.rule
        trusted = finding.distinct >= rule.distinct or rule.name in hints
        for label, strength in rule.support:
            strength *= finding.share * (1.0 if trusted else rule.few)
            strengths[label] = max(strengths.get(label, 0.0), strength)
    ranked = sorted(strengths.items(), key=lambda item: (-item[1], item[0]))
    return tuple(
        (label, round(strength, 4))
        for label, strength in ranked
        if strength > 0 and label not in vetoes
    )


def _evidence(
    reading: Reading,
    findings: list[Finding],
    hints: dict[str, str],
    fine_type: str | None,
    decisive: Finding | None,
) -> tuple[str, ...]:
    sentences = []
    if decisive is None:
        supporting = [finding for finding in findings if finding.rule.support]
        decisive = max(supporting, key=_weight, default=None)
    if decisive is not None:
        sentences.append(_sentence(decisive))
    if fine_type is not None and fine_type in hints:
        sentences.append(f"header {reading.header!r} suggests {_spoken(fine_type)}")
    elif hints and fine_type is None:
        found = {finding.rule.name for finding in findings}
        contradicted = [name for name in hints if name not in found]
        if len(contradicted) == len(hints) and _LOOSE.isdisjoint(hints):
            sentences.append(
                f"header {reading.header!r} suggests {_spoken(contradicted[0])}, but the values do not agree"
            )
    return tuple(sentences[:_MOST_SENTENCES])


def _weight(finding: Finding) -> float:
    return finding.share * max(strength for _, strength in finding.rule.support)


def _sentence(finding: Finding) -> str:
    example = finding.example if len(finding.example) <= 40 else finding.example[:39] + "…"
    return f"{finding.matched} of {finding.looked_at} values are {finding.rule.noun}, such as {example!r}"


def _spoken(name: str) -> str:
    """`date_of_birth` → "a date of birth"; an initial u is read "you" in all our names."""
    return f"{'an' if name[0] in 'aeio' else 'a'} {name.replace('_', ' ')}"
