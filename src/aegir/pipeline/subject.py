"""Which column of a table names its rows, judged by what the columns were found to be.

    find_subject(table, answers)        the index of a column without gaps or repetition, or None

A name, a key or a title can name a row; a quantity, a flag, a duration, a coordinate or prose cannot, though all its
values may differ. Where nothing else does, a date can. What begins a table (only constant columns stand before it) may be
a date, as in a time series, or a postal code, as in a list of areas; a key or a name further right goes before these, in
a table of KEY_ROWS rows. Whole numbers that rise from row to row in the first column are the last resort.
"""

import re
from collections.abc import Sequence
from itertools import pairwise

from aegir.answers.annotation import ColumnAnnotation
from aegir.tables.table import Column, Table
from aegir.vocabulary.terms import TYPE_NAMES

KEY_ROWS = 8
"""In fewer rows any column may differ by chance."""
_QUANTITIES = frozenset(("number", "money", "measure"))
_NAMES_OF_UNITS = frozenset(
    ("currency", "currency_code", "currency_name", "unitCode", "unitText", "unit_code", "unit_name")
)
"""Names of those kinds that are no quantities."""
_DESCRIPTIONS = frozenset(
    (
        *("Boolean", "boolean_flag", "Rating", "ml_feature"),
        *("Duration", "duration", "elapsed_time", "iso_duration", "time_range", "date_of_death"),
        *("Time", "time_of_day"),
        *("openingHours", "opening_hours", "workHours", "weekly_hours"),
        *("CoordinateAT", "latitude", "longitude", "coordinate_pair", "coordinate_dms"),
        *("coordinate_list", "cartesian_coordinate", "elevation", "direction", "geojson"),
        *("wkb_geometry", "wkt_geometry", "genomic_position", "dose", "physiological"),
        *("age", "blood_type", "body_height", "body_weight", "date_of_birth", "gender"),
        *("GenderType", "honorific", "name_suffix", "nationality", "telephone", "faxNumber"),
        *("telephone_number", "fax_number", "free_text", "note", "question_or_answer", "Review"),
        *(name for name in TYPE_NAMES if name.endswith("/description")),
        *("html_fragment", "list_of_items", "keyword_list", "ItemList", "emoji"),
        *("json_array", "json_object", "xml_fragment", "source_code", "sql", "command"),
        *("error_message", "user_agent", "base64_data", "hex_data", "jwt", "secret"),
        *("configuration_value", "Photograph", "image_url", "all_missing", "constant"),
    )
)
"""Names of other kinds that tell something about a row and do not name it."""
_LEADING = frozenset(("postalCode", "postal_code", "semantic_version", "text"))
"""Names that name rows only where a table begins with them; so do those of the kind `time`."""
_KEYS = frozenset(("identifier", "name", "person"))
_WHOLE = re.compile(r"\d{1,18}", re.ASCII).fullmatch


def find_subject(table: Table, answers: Sequence[ColumnAnnotation]) -> int | None:
    """Return the column that names every row, or None."""
    differ = [
        answer
        for column, answer in zip(table.columns, answers, strict=True)
        if _differs(column) and not describes(answer)
    ]
    if not differ:
        return _first_if_numbered(table)
    first = differ[0].index
    naming = [answer for answer in differ if not _leads(answer)]
    keys = [answer for answer in naming if _is_key(answer)]
    if not _leads(differ[0]) or not naming:
        return first
    if _begins(table, first):
        return keys[0].index if keys and len(table.columns[first].values) >= KEY_ROWS else first
    return (keys or naming)[0].index


def describes(answer: ColumnAnnotation) -> bool:
    """Return whether a column tells something about a row without naming it."""
    if answer.label is None:
        return answer.datatype == "number"
    return is_description(answer.kind, answer.label, answer.type)


def is_description(kind: str | None, *names: str | None) -> bool:
    """Return whether columns of this kind and of these names tell something about a row without naming it."""
    if kind in _QUANTITIES:
        return _NAMES_OF_UNITS.isdisjoint(names)
    return not _DESCRIPTIONS.isdisjoint(names)


def repeats(column: Column) -> bool:
    """Return whether fewer than half of a column's cells differ."""
    return 2 * len(set(column.present)) < len(column.present)


def _leads(answer: ColumnAnnotation) -> bool:
    return answer.kind == "time" or answer.label in _LEADING or answer.type in _LEADING


def _is_key(answer: ColumnAnnotation) -> bool:
    return answer.kind in _KEYS and answer.label != "foreign_key"


def _differs(column: Column) -> bool:
    """Return whether no cell is missing and no two are equal."""
    present = column.present
    return len(present) == len(column.values) == len(set(present)) > 0


def _first_if_numbered(table: Table) -> int | None:
    """Return the first column if it numbers the rows: whole numbers that only rise, in two rows or more."""
    values = table.columns[0].values if table.columns else ()
    if len(values) < 2 or not all(map(_WHOLE, values)):
        return None
    return 0 if all(int(a) < int(b) for a, b in pairwise(values)) else None


def _begins(table: Table, index: int) -> bool:
    """Return whether only columns of one value, or of none, stand before a column."""
    return all(len(set(column.present)) <= 1 for column in table.columns[:index])
