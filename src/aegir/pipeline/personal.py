"""Whether a column is personal data, how near to a person it is, and why.

judge_personal(named, column, profile, scores, related) -> PersonalAnswer
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from aegir.answers.annotation import ColumnAnnotation, Guess
from aegir.readers.scores import LIKELY, TableScores
from aegir.tables.datatype import ColumnProfile, is_email
from aegir.tables.table import Column
from aegir.vocabulary.hierarchy import is_personal, personal_meaning
from aegir.vocabulary.terms import COLUMN_TYPES, FINE_TYPES, TYPE_NAMES, PersonalMeaning

SURE_RELATION = 0.95
"""Confidence from which a relation alone makes a column of a web table personal: the type of a birthDate is Date."""
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
        *(
            "marketing",
            "webmaster",
            "postmaster",
            "hostmaster",
            "newsletter",
            "reception",
            "donotreply",
        ),
        *(
            "contacto",
            "contato",
            "ventas",
            "vertrieb",
            "bestellung",
            "buero",
            "privacy",
            "security",
        ),
    )
)
"""First words of e-mail addresses that reach an organisation, not a person."""
ROLE_SHARE = 0.9
ROLES_REASON = "nearly all e-mail addresses are of roles such as info or sales, not of persons"
_FIRST_WORD = re.compile(r"[\d._+-]+").split
_KEYS_OF_PERSONS = frozenset(
    name
    for name, term in FINE_TYPES.items()
    if term.kind == "identifier" and term.personal_level == "direct"
)
_PERSONAL = np.array([each.personal for each in COLUMN_TYPES.values()])


@dataclass(frozen=True, slots=True)
class PersonalAnswer:
    """What is answered about personal data of one column."""

    probability: float
    """Probability that the column is personal."""
    meaning: PersonalMeaning | None
    """How it relates to a person; None if it is not personal."""
    reasons: tuple[str, ...] = ()
    """Sentences to add to the reasons of the answer."""


def judge_personal(
    named: ColumnAnnotation,
    column: Column,
    profile: ColumnProfile,
    scores: TableScores,
    related: Sequence[Guess],
) -> PersonalAnswer:
    """Return what is answered about a column that has its name; `related` are its likeliest relations, best first."""
    probability, personal = _personal_meaning(named, scores, related)
    named_so = named.label in EMAIL_LABELS or named.type == "URL"
    holds_emails = profile.emails >= _least_emails(profile)
    if holds_emails and not named_so and (personal is None or personal.level != "direct"):
        probability, personal = 1.0, PersonalMeaning("direct", EMAILS_REASON)
    addresses = _addresses(column, named, profile)
    if addresses is not None and (personal is None or personal.level != "direct"):
        if _are_of_roles(addresses):
            return PersonalAnswer(probability, personal, (ROLES_REASON,))
        personal = FINE_TYPES["email_address"].if_personal
        sure = named.confidence if named.label in EMAIL_LABELS else 1.0
        probability = max(probability, sure, LIKELY)
    return PersonalAnswer(probability, personal)


def _personal_meaning(
    named: ColumnAnnotation, scores: TableScores, related: Sequence[Guess]
) -> tuple[float, PersonalMeaning | None]:
    """Return how likely a column is personal, and how, if that is likelier than not.

    On everyday tables the learnt probability decides, and a key of persons, such as a payment card, always is. Web tables, whose
    labels do not say, go by what their types mean.
    """
    custom = scores.custom[named.index] if scores.custom else ()
    relation = related[0].label if related and related[0].confidence >= SURE_RELATION else None
    if custom:
        claimed = sum(claim.confidence for claim in custom if claim.personal)
        if claimed < LIKELY and not is_personal(None, None, relation):
            return claimed, None
        return max(claimed, LIKELY), personal_meaning(None, None, relation, custom[0].kind)
    if scores.personal is not None and scores.web < LIKELY:
        learnt = float(scores.personal[named.index])
        if learnt < LIKELY and named.fine_type not in _KEYS_OF_PERSONS:
            return learnt, None
        meaning = personal_meaning(named.type, named.fine_type, relation, named.kind)
        return max(learnt, LIKELY), meaning
    types = scores.types[named.index]
    by_type = 0.0 if named.fine_type is not None else float(types[_PERSONAL].sum())
    if by_type < LIKELY and not is_personal(None, named.fine_type, relation):
        return by_type, None
    likeliest = TYPE_NAMES[int(np.argmax(np.where(_PERSONAL, types, 0)))] if by_type else None
    sure = by_type if by_type >= LIKELY else named.confidence
    return sure, personal_meaning(likeliest, named.fine_type, relation)


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
