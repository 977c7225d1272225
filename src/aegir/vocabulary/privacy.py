"""Which columns are likely to hold personal data, and how closely they identify a person.

The standard is article 4(1) of the GDPR: information that relates to an identified or identifiable natural
person. The question asked of each term is whether a column of it, in an ordinary business table, singles
out or describes living people. The answer is a word in the column `personal` of the vocabulary's files, and
the words have three levels:

  direct      identifies a person by itself: names, e-mail, phone, keys of persons (patient, customer, user),
              numbers a state or a bank gives. A key is direct although only its owner can look it up.
  indirect    identifies a person together with other columns: where someone lives (street, postal code), birth
              date, age, gender, origin, and devices and vehicles that lead to their owner.
  about       describes a person whom other columns identify: diagnoses, pay, education, belief.

  1. What is personal in nearly every table it stands in has the bare word. A company's own phone number looks
     like a person's, so such columns are marked for a human to clear.
  2. What is personal only where the rows are about persons has the word with a question mark: a town, a key of
     unknown things, a picture. By itself it is not marked; once the rest of the table shows that the rows are
     about persons, `personal_meaning` tells what the column does. Every other term then describes a person.
  3. A fine type is more exact than its column type and decides alone: an ISBN is not personal although
     other identifiers are; an IBAN is.

A relation can add what a type does not say: a Date is not personal, a birthDate is. Dates of death are not
by themselves, because the regulation protects the living only (recital 27).

Limits: the mark is a hint for review, not legal advice. Free text (reviews, descriptions) may mention
people and is not marked by its type; the special categories of article 9 are not distinguished.
"""

from aegir.vocabulary.terms import (
    COLUMN_TYPES,
    FINE_TYPES,
    KINDS,
    PERSONAL,
    PERSONAL_LEVELS,
    RELATIONS,
    PersonalMeaning,
)


def is_personal(type_name: str | None, fine_type: str | None, relation: str | None = None) -> bool:
    """Return whether a column with these labels is likely to hold personal data in any table.

    A known fine type decides over the column type; a personal relation adds to both. Names outside the
    vocabulary (a user's own types) count as not personal.
    """
    if relation in RELATIONS and RELATIONS[relation].personal:
        return True
    if fine_type in FINE_TYPES:
        return FINE_TYPES[fine_type].personal
    return type_name in COLUMN_TYPES and COLUMN_TYPES[type_name].personal


def personal_meaning(
    type_name: str | None,
    fine_type: str | None,
    relation: str | None = None,
    kind: str | None = None,
) -> PersonalMeaning:
    """Return how a column with these labels relates to a person, if it does.

    The fine type decides, else the column type, else the kind; a relation that identifies a person more
    closely decides over them. Without any known label the column describes a person.
    """
    meanings = [PERSONAL["describes"]]
    if relation in RELATIONS:
        meanings.insert(0, RELATIONS[relation].if_personal)
    if fine_type in FINE_TYPES:
        meanings.insert(0, FINE_TYPES[fine_type].if_personal)
    elif type_name in COLUMN_TYPES:
        meanings.insert(0, COLUMN_TYPES[type_name].if_personal)
    elif kind in KINDS:
        meanings.insert(0, KINDS[kind].if_personal)
    return min(meanings, key=lambda meaning: PERSONAL_LEVELS.index(meaning.level))
