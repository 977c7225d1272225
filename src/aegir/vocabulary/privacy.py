"""Which columns are likely to hold personal data, and why.

The yardstick is article 4(1) of the GDPR: information that relates to an identified or identifiable
natural person. We ask of a type: would a column of it, in an ordinary business table, single out or
describe living people? Three rules follow.

  1. What names, reaches or locates a person is personal: names, e-mail, phone, street address, and
     the postal code, which in some countries stands for a dozen homes. A company's own phone number
     looks the same, so such columns are flagged for a human to clear.
  2. What only describes a wider area, a work or a thing is not, though with other columns it may help
     to single someone out: town, region, coordinates of places, dates, stage names.
  3. A finer type knows more than its coarse parent and decides alone: an ISBN is not personal although
     other identifiers are; an IBAN is.

A relation can add what a type cannot know: a Date is harmless, a birthDate is not. Dates of death are
left out, because the regulation protects the living only (recital 27).

Limits: a flag is a hint for review, not legal advice. Free text (reviews, descriptions) may mention
people and is not flagged; nor are special categories of article 9 told apart.
"""

from aegir.vocabulary.fine_types import FINE_TYPES

PERSONAL_TYPES: dict[str, str] = {
    "GenderType": "an attribute of a person",
    "Person/name": "names a person",
    "PostalAddress": "where someone lives or works",
    "email": "reaches a person",
    "faxNumber": "reaches a person",
    "postalCode": "where someone lives or works",
    "streetAddress": "where someone lives or works",
    "telephone": "reaches a person",
}
"""Column types flagged by themselves, each with the reason."""

PERSONAL_RELATIONS: dict[str, str] = {
    "actor": "names a person",
    "address": "where someone lives or works",
    "alumniOf": "an attribute of a person",
    "author": "names a person",
    "birthDate": "an attribute of a person",
    "birthPlace": "an attribute of a person",
    "director": "names a person",
    "email": "reaches a person",
    "familyName": "names a person",
    "faxNumber": "reaches a person",
    "gender": "an attribute of a person",
    "givenName": "names a person",
    "honorificSuffix": "an attribute of a person",
    "jobTitle": "an attribute of a person",
    "nationality": "an attribute of a person",
    "postalCode": "where someone lives or works",
    "streetAddress": "where someone lives or works",
    "telephone": "reaches a person",
}
"""Relations whose values describe or name a person, each with the reason."""


def is_personal(type_name: str | None, fine_type: str | None, relation: str | None = None) -> bool:
    """Whether a column so annotated is likely to hold personal data.

    The fine type, when given and known, decides over the coarse type; a personal relation adds to both.
    Names outside the vocabulary (a user's own types) count as not personal.
    """
    if relation in PERSONAL_RELATIONS:
        return True
    if fine_type is not None and fine_type in FINE_TYPES:
        return FINE_TYPES[fine_type].personal
    return type_name in PERSONAL_TYPES
