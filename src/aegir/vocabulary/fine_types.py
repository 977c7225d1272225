"""Finer types: what the rules can name beyond the 82 column types, such as an IBAN or a date of birth.

    FINE_TYPES["iban"].parent, .definition, .example, .personal

The tables are split by theme (web and software, things and money, people and places, time and values);
this module puts them together. Every name here has a rule that finds it, and a test that shows it found
and a look-alike refused.
"""

from aegir.vocabulary.fine_type import FineType
from aegir.vocabulary.fine_types_people import PEOPLE_AND_PLACES
from aegir.vocabulary.fine_types_things import THINGS_AND_MONEY
from aegir.vocabulary.fine_types_values import TIME_AND_VALUES
from aegir.vocabulary.fine_types_web import WEB_AND_SOFTWARE

__all__ = ["FINE_TYPES", "FineType"]

FINE_TYPES: dict[str, FineType] = {
    fine_type.name: fine_type
    for fine_type in (
        *PEOPLE_AND_PLACES,
        *THINGS_AND_MONEY,
        *TIME_AND_VALUES,
        *WEB_AND_SOFTWARE,
    )
}
