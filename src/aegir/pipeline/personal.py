"""Whether a column is personal data, how near to a person it is, and why: a rule with learnt exceptions.

    judge_personal(named, column, profile, scores, related, limit) -> PersonalAnswer

The learnt probabilities of the levels decide, within what the rest of the answer says:

  rows       columns that are indirect or about are not likelier than that the rows are persons or belong to one;
  label      what a column is called is not contradicted. A term that is personal in every table (terms.py) is personal here,
             unless the rows visibly are no persons, and it has the level of the term;
  keys       a key of persons (`patient_id`) is direct in rows about persons, a key of things (`order_id`) is not;
  constants  a column of one value or none says nothing about a person; it may still point to one;
  e-mail     addresses reach persons unless nearly all are of roles, and notes that hold some do, too.

Where no levels are learnt, the probability of personal data decides and the level is that of the term; tables of the web go by
their terms alone. docs/answers.md has the rule for users.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from aegir.answers.annotation import ColumnAnnotation, Guess
from aegir.pipeline.rows import noun_of_key
from aegir.readers.rules.headers import words_of
from aegir.readers.scores import LIKELY, TableScores
from aegir.tables.datatype import ColumnProfile, is_email
from aegir.tables.table import Column
from aegir.vocabulary.hierarchy import is_personal, personal_meaning
from aegir.vocabulary.special import special_header, special_term, special_words
from aegir.vocabulary.terms import (
    COLUMN_TYPES,
    FINE_TYPES,
    IDENTIFYING_LEVELS,
    PERSON_STATES,
    PERSONAL_LEVELS,
    ROW_NAMES,
    TYPE_NAMES,
    PersonalMeaning,
)

SURE_RELATION = 0.95
"""Confidence from which a relation alone makes a column of a web table personal: the type of a birthDate is Date."""
SURE_ROWS = 0.8
"""Probability that no row belongs to a person from which on the rows may visibly be things."""
SPECIAL_WORD = 0.2
"""Probability of a special category from which on a word of the header decides for it."""
EMAILS, EMAIL_SHARE = 3, 0.05
"""Cells with an e-mail address from which on a column of other text identifies persons: at least so many, and this share."""
EMAIL_LABELS = ("email", "email_address")
"""Columns of e-mail addresses themselves, which reach persons unless nearly all are those of roles."""
SURE_EMAILS = 0.9
"""Confidence of EMAIL_LABELS from which on a column is taken to reach persons, also where some cells are no addresses."""
EMAILS_REASON = "cells hold e-mail addresses"
ROLES = frozenset(
    (
        *("info", "contact", "contacts", "office", "sales", "support", "admin", "noreply", "hello"),
        *("service", "services", "kontakt", "help", "helpdesk", "enquiries", "inquiries", "mail"),
        *("team", "press", "media", "billing", "accounts", "orders", "jobs", "careers", "hr"),
        *("marketing", "webmaster", "postmaster", "hostmaster", "newsletter", "reception"),
        *("donotreply", "contacto", "contato", "ventas", "vertrieb", "bestellung", "buero"),
        *("privacy", "security"),
    )
)
"""First words of e-mail addresses that reach an organisation, not a person."""
ROLE_SHARE = 0.9
ROLES_REASON = "nearly all e-mail addresses are of roles such as info or sales, not of persons"
CONSTANT_REASON = "not personal: the column has one value at most"
PERSON = "person"
"""The row class of persons."""
ROWS_ARE = {"self": "rows are persons", "linked": "rows belong to persons"}
THINGS = {
    "asset": "things that someone owns",
    "code": "entries of a list of codes",
    "organisation": "organisations",
    "organism": "living things",
    "period": "periods",
    "place": "places",
    "posting": "postings",
    "product": "products",
    "quote": "prices",
    "software": "parts of software",
    "statistic": "statistics",
    "substance": "substances",
    "work": "works",
}
"""Row classes whose rows are no persons, and what is said of them."""
_FIRST_WORD = re.compile(r"[\d._+-]+").split
_KEYS_OF_PERSONS = frozenset(
    name
    for name, term in FINE_TYPES.items()
    if term.kind == "identifier" and term.personal_level == "direct"
)
_PERSONAL = np.array([each.personal for each in COLUMN_TYPES.values()])
_MAY_IDENTIFY = frozenset(("name", "person", "technical", "text"))
"""Kinds of columns that may point to a person though their term does not say so: initials, a note."""
_KEYS_OF_ANYTHING = frozenset(("anonymised", "foreign_key"))
"""Identifiers that may do so, too: 36 of 811 labelled columns are direct, of other codes that do not say so 7 of 1,988."""
_TOLD_BY_WORDS = frozenset(("category", "measure", "number", "person", "science", "text"))
"""Kinds of columns of which a word of the header tells that they are special: `diagnosis_id` is a key."""


@dataclass(frozen=True, slots=True)
class PersonalAnswer:
    """What is answered about personal data of one column."""

    confidence: float
    """Probability that the column is personal."""
    level: str | None = None
    """One of PERSONAL_LEVELS; None for a column that is not personal."""
    reason: str | None = None
    """Why it is personal."""
    identifying: float | None = None
    """Probability that it identifies persons; None where it is not known."""
    special: bool = False
    category: str | None = None
    """Of SPECIAL_CATEGORIES; None also where neither the name nor the header tells which one."""
    reasons: tuple[str, ...] = ()
    """Sentences to add to the reasons of the answer."""


@dataclass(frozen=True, slots=True)
class _Rows:
    """Whose rows a table has, as far as that is known."""

    person: str | None
    """The likeliest of PERSON_STATES; None where nothing is known."""
    nobody: float
    """Probability that rows belong to no person."""
    things: str | None
    """What the rows visibly are, if that is no persons."""

    @classmethod
    def of(cls, scores: TableScores) -> "_Rows":
        """Return what the scores of a table say."""
        if scores.person is None:
            return cls(None, 0.0, None)
        nobody = float(scores.person[PERSON_STATES.index("none")])
        likeliest = None if scores.rows is None else ROW_NAMES[int(np.argmax(scores.rows))]
        seen = nobody >= SURE_ROWS and scores.rows is not None and scores.rows.max() >= LIKELY
        things = THINGS.get(likeliest) if seen and likeliest else None
        return cls(PERSON_STATES[int(np.argmax(scores.person))], nobody, things)

    def rule_out(self, meaning: PersonalMeaning) -> str | None:
        """Return why a column that is personal by its name is not so here; None if it is."""
        if meaning.unless and self.things:
            return f"not personal: rows are {self.things}"
        if meaning.unless == "nobody" and self.nobody >= LIKELY:
            return "not personal: rows belong to no person"
        return None

    def explain(self, meaning: PersonalMeaning, level: str) -> str:
        """Return why a column of this meaning and level is personal."""
        reason = meaning.reason if meaning.level_in(self.person) == level else _OTHERWISE[level]
        said = ROWS_ARE.get(self.person or "") if meaning.unless else None
        return f"{reason}; {said}" if said else reason


_OTHERWISE = {
    "direct": "points to a person",
    "indirect": "singles a person out together with other columns",
    "about": "tells something about a person",
}
"""Reasons for a level that the term does not have by itself."""


def judge_personal(
    named: ColumnAnnotation,
    column: Column,
    profile: ColumnProfile,
    scores: TableScores,
    related: Sequence[Guess],
    limit: float = 0.0,
) -> PersonalAnswer:
    """Return what is answered about a column that has its name.

    `related` are its likeliest relations, best first; below the probability `limit` nothing is called identifying.
    """
    rows = _Rows.of(scores)
    relation = related[0].label if related and related[0].confidence >= SURE_RELATION else None
    if scores.custom and scores.custom[named.index]:
        judged = _by_custom_type(named, scores, relation)
    elif scores.levels is not None and scores.web < LIKELY:
        judged = _by_levels(named, scores, relation, rows)
    else:
        judged = _by_terms(named, scores, relation, rows)
    judged = _without_constants(judged, profile)
    judged = _limited(_with_emails(judged, named, column, profile), limit)
    judged = _without_constants(judged, profile)
    return _with_special(judged, named, scores, relation)


def _by_custom_type(
    named: ColumnAnnotation, scores: TableScores, relation: str | None
) -> PersonalAnswer:
    """Return what the user said of a taught type, or a sure relation tells."""
    custom = scores.custom[named.index]
    claimed = sum(claim.confidence for claim in custom if claim.personal)
    if claimed < LIKELY and not is_personal(None, None, relation):
        return PersonalAnswer(claimed)
    meaning = personal_meaning(None, None, relation, custom[0].kind)
    return _of_meaning(max(claimed, LIKELY), meaning)


def _by_terms(
    named: ColumnAnnotation, scores: TableScores, relation: str | None, rows: _Rows
) -> PersonalAnswer:
    """Return what follows from the probability of personal data, or on tables of the web from their terms.

    On everyday tables a key of persons, such as a payment card, is personal in any case.
    """
    if scores.personal is not None and scores.web < LIKELY:
        learnt = float(scores.personal[named.index])
        if learnt < LIKELY and named.fine_type not in _KEYS_OF_PERSONS:
            return PersonalAnswer(learnt)
        meaning = personal_meaning(named.type, named.fine_type, relation, named.kind)
        return _of_meaning(max(learnt, LIKELY), meaning)
    types = scores.types[named.index]
    by_type = 0.0 if named.fine_type is not None else float(types[_PERSONAL].sum())
    if by_type < LIKELY and not is_personal(None, named.fine_type, relation):
        return PersonalAnswer(by_type)
    likeliest = TYPE_NAMES[int(np.argmax(np.where(_PERSONAL, types, 0)))] if by_type else None
    meaning = personal_meaning(likeliest, named.fine_type, relation)
    if reason := rows.rule_out(meaning):
        return PersonalAnswer(1 - rows.nobody, reasons=(reason,))
    return _of_meaning(by_type if by_type >= LIKELY else named.confidence, meaning)


def _of_meaning(confidence: float, meaning: PersonalMeaning) -> PersonalAnswer:
    identifying = confidence if meaning.level in IDENTIFYING_LEVELS else None
    return PersonalAnswer(confidence, meaning.level, meaning.reason, identifying)


def _by_levels(
    named: ColumnAnnotation,
    scores: TableScores,
    relation: str | None,
    rows: _Rows,
) -> PersonalAnswer:
    """Return the likeliest level that the rows, the name and the values of a column allow."""
    meaning = personal_meaning(named.type, named.fine_type, relation, named.kind)
    called = is_personal(named.type, named.fine_type, relation)
    allowed = _allowed(meaning, named, called=called)
    ruled_out = rows.rule_out(meaning) if called else None
    said = called and named.confidence >= LIKELY and named.label not in EMAIL_LABELS
    levels = _within_rows(_learnt(named, scores), rows)
    personal, usual = sum(levels.values()), meaning.level_in(rows.person)
    if said and ruled_out is None:
        sure = named.confidence * (1 - rows.nobody if meaning.unless else 1)
        personal = max(personal, sure, LIKELY)
    elif not called and (owner := _owner_of_key(named)):
        of_person, room = owner == PERSON, 1 - rows.nobody
        usual, allowed = ("direct", ("direct",)) if of_person else ("about", ("indirect", "about"))
        personal = max(personal, room) if of_person else min(personal, room)
    levels = _as_called(levels, personal, usual, allowed)
    identifying = levels["direct"] + levels["indirect"]
    if personal < LIKELY:
        reasons = () if ruled_out is None else (ruled_out,)
        return PersonalAnswer(personal, identifying=identifying, reasons=reasons)
    level = "direct" if levels["direct"] >= levels["indirect"] else "indirect"
    if identifying < levels["about"]:
        level = "about"
    return PersonalAnswer(personal, level, rows.explain(meaning, level), identifying)


def _owner_of_key(named: ColumnAnnotation) -> str | None:
    """Return the row class of what a column has the keys of, by its header; None for other columns and headers.

    In rows of persons, 212 of 223 labelled keys of persons are direct, of other keys 36 of 261; in other rows none of 573 of these.
    """
    noun = noun_of_key(named.name) if named.kind == "identifier" and named.name else None
    return noun.classes[0] if noun else None


def _learnt(named: ColumnAnnotation, scores: TableScores) -> dict[str, float]:
    """Return the learnt probability of each level of a column."""
    assert scores.levels is not None
    of_levels = scores.levels[named.index, 1:].tolist()
    return dict(zip(PERSONAL_LEVELS, of_levels, strict=True))


def _within_rows(levels: dict[str, float], rows: _Rows) -> dict[str, float]:
    """Return the probabilities with `indirect` and `about` no likelier than that rows belong to persons."""
    of_rows = levels["indirect"] + levels["about"]
    room = 1 - rows.nobody
    if of_rows <= room:
        return levels
    return {
        name: each if name == "direct" else each * room / of_rows for name, each in levels.items()
    }


def _allowed(meaning: PersonalMeaning, named: ColumnAnnotation, *, called: bool) -> tuple[str, ...]:
    """Return the levels that do not contradict what a column is called."""
    if called:
        return (meaning.level,)
    may_identify = named.kind in _MAY_IDENTIFY or named.fine_type in _KEYS_OF_ANYTHING
    if meaning.level == "direct" or may_identify:
        return PERSONAL_LEVELS
    return ("indirect", "about")


def _as_called(
    levels: dict[str, float], personal: float, usual: str, allowed: Sequence[str]
) -> dict[str, float]:
    """Return the probabilities of the allowed levels; the usual one has the rest to that of personal data."""
    kept = {level: each if level in allowed else 0.0 for level, each in levels.items()}
    kept[usual] += personal - sum(kept.values())
    return kept


def _without_constants(judged: PersonalAnswer, profile: ColumnProfile) -> PersonalAnswer:
    """Return the answer; a column of several rows with one value at most tells nothing about a person."""
    if judged.level != "about" or profile.rows <= 1 or profile.distinct > 1:
        return judged
    identifying = judged.identifying or 0.0
    return PersonalAnswer(identifying, identifying=identifying, reasons=(CONSTANT_REASON,))


def _with_emails(
    judged: PersonalAnswer, named: ColumnAnnotation, column: Column, profile: ColumnProfile
) -> PersonalAnswer:
    """Return the answer for a column that may hold e-mail addresses."""
    if judged.level == "direct":
        return judged
    named_so = named.label in EMAIL_LABELS or named.type == "URL"
    if profile.emails >= _least_emails(profile) and not named_so:
        return PersonalAnswer(1.0, "direct", EMAILS_REASON, 1.0)
    addresses = _addresses(column, named, profile)
    if addresses is None:
        return judged
    if _are_of_roles(addresses):
        return replace(judged, reasons=(*judged.reasons, ROLES_REASON))
    sure = named.confidence if named.label in EMAIL_LABELS else 1.0
    return _of_meaning(
        max(judged.confidence, sure, LIKELY), FINE_TYPES["email_address"].if_personal
    )


def _limited(judged: PersonalAnswer, limit: float) -> PersonalAnswer:
    """Return the answer without a level that identifies, if that is less likely than the limit.

    What is personal with that probability all the same is said to tell about a person.
    """
    if (
        judged.level not in IDENTIFYING_LEVELS
        or judged.identifying is None
        or judged.identifying >= limit
    ):
        return judged
    sentence = f"identifies persons with probability {judged.identifying:.2f}, less than asked for"
    level = "about" if judged.confidence >= limit else None
    reason = _OTHERWISE[level] if level else None
    return replace(judged, level=level, reason=reason, reasons=(*judged.reasons, sentence))


def _with_special(
    judged: PersonalAnswer, named: ColumnAnnotation, scores: TableScores, relation: str | None
) -> PersonalAnswer:
    """Return the answer with whether a personal column is of a special category, and which."""
    if judged.level is None:
        return judged
    term = special_term(named.fine_type, relation)
    header = words_of(named.name) if named.name else ()
    certain = special_header(header)
    told = certain or special_words(header)
    learnt = None if scores.special is None else float(scores.special[named.index])
    by_word = told is not None and named.kind in _TOLD_BY_WORDS and judged.level != "direct"
    special = (
        term is not None
        or (learnt or 0.0) >= LIKELY
        or (by_word and (certain is not None or learnt is None or learnt >= SPECIAL_WORD))
    )
    return replace(judged, special=special, category=(term or told) if special else None)


def _least_emails(profile: ColumnProfile) -> float:
    """Return how many cells with an e-mail address make a column personal, whatever else it holds."""
    return max(EMAILS, EMAIL_SHARE * (profile.rows - profile.missing))


def _addresses(
    column: Column, named: ColumnAnnotation, profile: ColumnProfile
) -> Sequence[str] | None:
    """Return the cells of a column that is surely one of e-mail addresses, or holds nothing else; else None."""
    cells = [cell.strip() for cell in column.present if "@" in cell]
    if named.label in EMAIL_LABELS and named.confidence >= SURE_EMAILS:
        return cells
    count = profile.rows - profile.missing
    return cells if 0 < count == len(cells) and all(map(is_email, cells)) else None


def _are_of_roles(addresses: Sequence[str]) -> bool:
    """Return whether nearly all e-mail addresses begin with a word for a role; False without any."""
    local = (address.partition("@")[0].lower() for address in addresses)
    roles = sum(_FIRST_WORD(each)[0] in ROLES or each.replace("-", "") in ROLES for each in local)
    return roles > 0 and roles >= ROLE_SHARE * len(addresses)
