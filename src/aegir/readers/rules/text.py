"""Markup, structured text, prose, and what only the column as a whole shows: keys and constants.

Cells are cut before they get here, so an HTML fragment without an end is still HTML. JSON must parse unless the
cell was cut.
"""

import json
import re

from aegir.readers.rules.column_summary import (
    LONGEST_CELL,
    ColumnSummary,
)
from aegir.readers.rules.gazetteers import word_set
from aegir.readers.rules.rule import Pattern, read_rules

_ELEMENTS = word_set("chemical_elements")
_TAG = re.compile(
    r"</?(?:p|br|b|i|em|strong|ul|ol|li|div|span|a|h[1-6]|table|tr|td|th|img|html|body|head|section|font|blockquote|hr|code|pre)(?:\s[^<>]*)?/?>",
    re.I,
)
_XML = Pattern(r"\s*(?:<\?xml\b.*|<([A-Za-z_][\w:.-]*)(?:\s[^<>]*)?(?:/>|>.*))", re.S)
_MARKDOWN = Pattern(
    r"(?:^|\n)#{1,6} \S|\*\*[^*\n]+\*\*|\[[^\]\n]+\]\((?:https?://|/)[^)\n]*\)|(?:^|\n)```|(?:^|\n)- \[[ x]\] "
)
_FORMULA = Pattern(r"(?:[A-Z][a-z]?(?:[1-9]\d?)?|[()]\d?){2,20}(?:[+-]|\^\d[+-])?")
_ELEMENT = re.compile(r"[A-Z][a-z]?")
_CODE = Pattern(r"[A-Z]{1,4}|(?=.*\d)[A-Z0-9][A-Z0-9._/-]{0,15}")
_EMOJI = Pattern("[\U0001f000-\U0001faff\u2600-\u27bf\u2b50\u2b55\u200d\ufe0f\\s]+")
MIN_REPEATS = 5
"""Cells of one value that make a column constant."""
_ENDING = Pattern(r"[.!?…][\"'”’)]?$")


def is_html(value: str) -> bool:
    return bool(_TAG.search(value))


def is_xml(value: str) -> bool:
    match = _XML.fullmatch(value)
    return bool(match) and not _TAG.match(value.lstrip())


def _is_json(value: str, opening: str) -> bool:
    if not value.startswith(opening):
        return False
    try:
        json.loads(value)
    except (ValueError, RecursionError):
        return len(value) >= LONGEST_CELL and bool(re.match(r'[\[{]\s*["{\[\d]', value))
    return True


def is_json_object(value: str) -> bool:
    return _is_json(value, "{")


def is_json_array(value: str) -> bool:
    return _is_json(value, "[")


def is_markdown(value: str) -> bool:
    """Return whether a value has a heading, bold text, a link, a block of code or a task in Markdown."""
    return any(mark in value for mark in "#*[`") and bool(_MARKDOWN.search(value))


def is_formula(value: str) -> bool:
    """Return whether a value is a formula of two or more elements with a count: `H2O`, not the code `S207`."""
    elements = _ELEMENT.findall(value)
    return (
        len(elements) > 1
        and bool(_FORMULA.fullmatch(value))
        and any(c.isdigit() for c in value)
        and all(element in _ELEMENTS for element in elements)
    )


def share_of_prose(summary: ColumnSummary) -> float:
    """Return the share of cells that are prose: no names, no lists of ingredients."""
    return summary.share_of(lambda value: value[0] not in "[{" and is_prose(value))


def is_prose(value: str) -> bool:
    """Return whether a value has eight words or more, the end of a sentence or great length, and few commas."""
    spaces = value.count(" ")
    if spaces < 7:
        return False
    opening = value[:80]
    if sum(map(str.isalpha, opening)) * 10 < 7 * len(opening):  # 14 x 17 in. (35.6 x 43.2 cm)
        return False
    if ". " in value and value.count(", ") * 4 <= spaces:
        return True
    few_commas = value.count(",") * 6 <= spaces
    return few_commas and (len(value) > 80 or bool(_ENDING.search(value)))


def share_of_constant(summary: ColumnSummary) -> float:
    """Return 1 where a single value occurs `MIN_REPEATS` times or more."""
    return 1.0 if len(summary.values) == 1 and summary.total >= MIN_REPEATS else 0.0


def share_of_sequence(summary: ColumnSummary) -> float:
    """Return 1 where the values are distinct whole numbers without gaps from 0 or 1, in any order."""
    if summary.repeats or len(summary.numbers) < len(summary.values) or len(summary.values) < 5:
        return 0.0
    if any(value[0] == "0" and len(value) > 1 for value in summary.values):  # 01, 02: a code
        return 0.0
    low, high = min(summary.numbers), max(summary.numbers)
    whole = all(number.is_integer() for number in summary.numbers)
    return 1.0 if whole and low in (0, 1) and high - low + 1 == len(summary.numbers) else 0.0


def share_of_distinct_keys(summary: ColumnSummary) -> float:
    """Return the share of keys where no value repeats: what identifies rows if the header says so."""
    return 0.0 if summary.repeats else _share_of_keys(summary)


def share_of_repeated_keys(summary: ColumnSummary) -> float:
    """Return the share of keys where some repeat: what refers to rows of another table."""
    return _share_of_keys(summary) if summary.repeats else 0.0


def _share_of_keys(summary: ColumnSummary) -> float:
    return summary.share_of(
        lambda value: " " not in value and "." not in value and len(value) <= 40
    )


def share_of_category_codes(summary: ColumnSummary) -> float:
    """Return the share of short upper-case codes where each occurs twice on average."""
    if not summary.repeats or len(summary.values) * 2 > summary.total:
        return 0.0
    return summary.share_of(_CODE.fullmatch)


RULES = read_rules("text", globals())
