"""Which columns are likely to hold personal data.

The standard is article 4(1) of the GDPR: information that relates to an identified or identifiable natural
person. The question asked of each term is whether a column of it, in an ordinary business table, singles
out or describes living people. The answer stands in the column `personal` of the vocabulary's files:

  1. What names, reaches, identifies or locates a person is personal: names, e-mail, phone, street address,
     and the postal code, which in some countries stands for a dozen homes. A company's own phone number
     looks the same, so such columns are marked for a human to clear.
  2. What only describes a wider area, a work or a thing is not, though with other columns it may help to
     single someone out: town, region, coordinates of places, dates, stage names.
  3. A fine type is more exact than its column type and decides alone: an ISBN is not personal although
     other identifiers are; an IBAN is.

A relation can add what a type does not say: a Date is not personal, a birthDate is. Dates of death are not,
because the regulation protects the living only (recital 27).

Limits: the mark is a hint for review, not legal advice. Free text (reviews, descriptions) may mention
people and is not marked; the special categories of article 9 are not distinguished.
"""

from aegir.vocabulary.terms import COLUMN_TYPES, FINE_TYPES, RELATIONS


def is_personal(type_name: str | None, fine_type: str | None, relation: str | None = None) -> bool:
    """Return whether a column with these labels is likely to hold personal data.

    A known fine type decides over the column type; a personal relation adds to both. Names outside the
    vocabulary (a user's own types) count as not personal.
    """
    if relation in RELATIONS and RELATIONS[relation].personal:
        return True
    if fine_type in FINE_TYPES:
        return FINE_TYPES[fine_type].personal
    return type_name in COLUMN_TYPES and COLUMN_TYPES[type_name].personal
