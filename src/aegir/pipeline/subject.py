"""Which column of a table names its rows, judged by what the columns were found to be and by what one row is.

    find_subject(table, answers, row, nouns)    the index of a column, or None

A name, a key or a title can name a row; a quantity, a flag, a duration, a coordinate or prose cannot, though all its
values may differ, nor can a column of one value. The first of these that there is is the subject:

  1. a column without gaps or repetition: the key or name of what a row is (`customer_id` in a table of customers) before
     other names. What begins a table (only constant columns and numbers of rows stand before it) may be a date, as in a
     time series, or a postal code, as in a list of areas; a key or a name further right goes before these, in a table of
     KEY_ROWS rows;
  2. a key or a name of which nearly all values differ, or a date that begins the table;
  3. what leads to a row: an address, an e-mail address, a link, a date further right;
  4. by the class of the row, the key that lines of an order repeat, the key or time of a log, the name that several rows share.
     Statistics by several dimensions have none;
  5. numbers of rows.

In an event, a case or a transaction, the names of those who take part and of its place do not name the row.
"""

import re
from collections.abc import Collection, Iterable, Sequence
from itertools import pairwise

from aegir.answers.annotation import ColumnAnnotation, RowAnnotation
from aegir.pipeline.header_words import split_key_word, split_words
from aegir.pipeline.rows import KEY_ROWS, NAME_WORDS, ROW_NUMBER, ShownNoun, differs, stem_of
from aegir.tables.contents import contents_of
from aegir.tables.table import Column, Table
from aegir.vocabulary.row_nouns import noun_of
from aegir.vocabulary.terms import TYPE_NAMES

NEARLY_ALL = 0.9
"""Share of different values among the rows from which on a name or a key names them although some repeat or are missing."""
MOSTLY_DIFFERENT = 0.6
"""Share of different values from which on a time or a key names the rows of a log."""
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
_NAMES = frozenset(("name", "person"))
_FOUND_BY = frozenset(
    (
        *("email", "email_address", "url", "URL", "street_address", "streetAddress"),
        *("postal_address", "PostalAddress", "foreign_key", "text"),
    )
)
"""Names of columns that lead to what a row is without naming it."""
_BARE = frozenset((word,) for word in ("id", "key", "uuid", "guid", "code", *NAME_WORDS))
"""Headers of keys and names that leave out of what."""
_PARTIES = frozenset(
    (
        *("full_name", "first_name", "last_name", "Person/name", "user_name", "company"),
        *("organisation_name", "government_body", "sports_team", "school_or_university"),
        *("Organization", "SportsTeam", "LocalBusiness/name"),
    )
)
"""Names of columns of persons and organisations."""
_WITH_PARTIES = frozenset(("event", "case", "transaction", "activity", "link", "schedule"))
"""Classes of rows in which persons and organisations take part; their names do not name the row."""
_LOGGED = frozenset(("activity", "measurement", "software"))
_KEYED = _LOGGED | {"transaction", "schedule", "case", "response"}
"""Classes of rows that repeat the key of what they are lines of."""
_THINGS = frozenset(("identifier", "name", "person", "place", "science"))
"""Kinds of columns that name things, also where several rows are about one."""
_OF_THINGS = frozenset(
    (
        *("person", "organisation", "place", "product", "work", "asset", "organism"),
        *("substance", "posting"),
    )
)
"""Classes of rows that are about a thing with a name."""
_NAMED_ONCE = frozenset(("statistic", "period", "quote", "code", "link", "other"))
"""Classes of rows that a repeated key does not name: it is one of several dimensions."""
_WHOLE = re.compile(r"\d{1,18}", re.ASCII).fullmatch


def find_subject(
    table: Table,
    answers: Sequence[ColumnAnnotation],
    row: RowAnnotation | None = None,
    nouns: Sequence[ShownNoun] = (),
) -> int | None:
    """Return the column that names the rows, or None; `row` and `nouns` are what rows.py says of them."""
    row_class = row.name if row else None
    own = _own_columns(answers, nouns, row_class)
    numbering = _numbering_columns(table, answers, own)
    naming = [
        answer
        for answer in answers
        if _varies(table.columns[answer.index])
        and answer.index not in numbering
        and (answer.index in own or not _is_party(table, answer, row_class))
        and (not describes(answer) or (answer.index in own and answer.kind in _QUANTITIES))
    ]
    whole = [answer for answer in naming if differs(table.columns[answer.index])]
    nearly = [answer for answer in naming if _nearly_names(table, answer, own)]
    choices = (
        _lead(table, [each for each in whole if _is_name(each)], own),
        _first(each for each in nearly if each.index in own),
        _first(each for each in nearly if each.kind != "time"),
        _first(nearly),
        _first(each for each in whole if not _leads(each)),
        _first(whole),
        _natural_key(table, naming, row_class, own),
        min(numbering, default=None),
        _first_if_numbered(table),
    )
    return next((index for index in choices if index is not None), None)


def _own_columns(
    answers: Sequence[ColumnAnnotation], nouns: Sequence[ShownNoun], row_class: str | None
) -> set[int]:
    """Return the columns whose headers say that they are the key or the name of the row itself."""
    agreeing = (each for each in nouns if row_class is None or row_class in each.head.classes)
    noun = next(agreeing, None)
    return {answer.index for answer in answers if _is_own(answer, noun)}


def _is_own(answer: ColumnAnnotation, noun: ShownNoun | None) -> bool:
    """Return whether a header is the key or name of a noun, or that noun itself above words; or leaves out of what it is a key."""
    words = split_words(answer.name or "")
    stem = stem_of(words)
    if not stem:
        return words in _BARE and answer.datatype != "number"
    found = noun_of(stem)
    if noun is None or found is None or found.english != noun.head.english:
        return False
    if any(word.isdigit() for word in words):
        return False
    return answer.datatype == "string" or (stem != words and answer.datatype != "number")


def _lead(table: Table, names: Sequence[ColumnAnnotation], own: Collection[int]) -> int | None:
    """Return which of the columns that name every row does so best."""
    if not names:
        return None
    first = names[0].index
    named = [each for each in names if not _leads(each)]
    keys = [each for each in named if _is_key(each)]
    if mine := [each for each in named if each.index in own]:
        return mine[0].index
    if not _leads(names[0]):
        return first
    if _begins(table, first):
        return keys[0].index if keys and len(table.columns[first].values) >= KEY_ROWS else first
    return _first(keys or named)


def _natural_key(
    table: Table, answers: Sequence[ColumnAnnotation], row_class: str | None, own: Collection[int]
) -> int | None:
    """Return the key that lines of an order repeat, the key or time of a log, or the name that several rows of a thing share."""
    if row_class is None or row_class in _NAMED_ONCE:
        return None
    keys = [
        each
        for each in answers
        if each.index in own or (row_class in _KEYED and _is_called_key(each))
    ]
    if row_class in _LOGGED:
        keys += [each for each in answers if each.kind == "time"]
    elif row_class in _OF_THINGS:
        keys += [each for each in answers if each.kind in _THINGS]
    mostly = _first(each for each in keys if _share(table.columns[each.index]) >= MOSTLY_DIFFERENT)
    if mostly is not None or row_class == "measurement":
        return mostly
    return _first(each for each in keys if each.index in own or row_class in _KEYED)


def _first(answers: Iterable[ColumnAnnotation]) -> int | None:
    return next((answer.index for answer in answers), None)


def _varies(column: Column) -> bool:
    """Return whether a column has values, and in a table of several rows different ones."""
    return contents_of(column).distinct > (len(column.values) > 1)


def _share(column: Column) -> float:
    """Return how many of the rows have a value of their own, were each value counted once."""
    return contents_of(column).distinct / len(column.values)


def _is_name(answer: ColumnAnnotation) -> bool:
    """Return whether a column names rows by itself rather than leads to them."""
    return _FOUND_BY.isdisjoint((answer.label, answer.type))


def _numbering_columns(
    table: Table, answers: Sequence[ColumnAnnotation], own: Collection[int]
) -> set[int]:
    """Return the columns that number the rows and are no keys by their headers.

    In a table without headers that may be its key, unless another column names every row.
    """
    if any(column.name for column in table.columns):
        return {
            answer.index
            for answer in answers
            if answer.index not in own
            and not _is_called_key(answer)
            and (answer.label == ROW_NUMBER or _is_unnamed_number(table, answer))
        }
    names = any(
        each.kind in _NAMES and not describes(each) and differs(table.columns[each.index])
        for each in answers
    )
    return {answer.index for answer in answers if names and answer.label == ROW_NUMBER}


def _is_unnamed_number(table: Table, answer: ColumnAnnotation) -> bool:
    return not answer.name and _numbers_rows(table.columns[answer.index])


def _nearly_names(table: Table, answer: ColumnAnnotation, own: Collection[int]) -> bool:
    """Return whether a column names nearly every row."""
    column = table.columns[answer.index]
    if len(column.values) < KEY_ROWS or not _is_name(answer):
        return False
    if answer.kind == "time":
        return _begins(table, answer.index) and _share(column) >= NEARLY_ALL
    named = _is_key(answer) or answer.index in own
    unknown = answer.label is None and answer.datatype == "string"
    return (named or unknown) and _share(column) >= NEARLY_ALL


def _is_party(table: Table, answer: ColumnAnnotation, row_class: str | None) -> bool:
    """Return whether a column says who took part in what a row is, or where it was; what names every row and begins the table does not."""
    if row_class not in _WITH_PARTIES:
        return False
    if answer.kind != "place" and _PARTIES.isdisjoint((answer.label, answer.type)):
        return False
    column = table.columns[answer.index]
    enough = len(column.values) >= KEY_ROWS
    return not (enough and differs(column) and _begins(table, answer.index))


def _is_called_key(answer: ColumnAnnotation) -> bool:
    """Return whether a header says of what a column is the key."""
    stem, key = split_key_word(split_words(answer.name or ""))
    return bool(stem) and key is not None


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
    return 2 * contents_of(column).distinct < len(column.present)


def _leads(answer: ColumnAnnotation) -> bool:
    return answer.kind == "time" or answer.label in _LEADING or answer.type in _LEADING


def _is_key(answer: ColumnAnnotation) -> bool:
    return answer.kind in _KEYS and answer.label != "foreign_key"


def _first_if_numbered(table: Table) -> int | None:
    """Return the first column if it numbers the rows."""
    return 0 if table.columns and _numbers_rows(table.columns[0]) else None


def _numbers_rows(column: Column) -> bool:
    """Return whether a column holds whole numbers that only rise, in two rows or more."""
    values = column.values
    if len(values) < 2 or not all(map(_WHOLE, values)):
        return False
    return all(int(a) < int(b) for a, b in pairwise(values))


def _begins(table: Table, index: int) -> bool:
    """Return whether only columns of one value, of none, or of the numbers of rows stand before a column."""
    return all(
        contents_of(column).distinct <= 1 or _numbers_rows(column)
        for column in table.columns[:index]
    )
