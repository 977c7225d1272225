"""Markup, structured text, prose, and what only the column as a whole can tell: keys and constants.

Cells are cut before they get here, so structure is judged by how it begins: an HTML fragment whose end is
missing is still HTML. JSON must parse, unless the cell was cut.
"""

import json
import re

from aegir.annotators.rules.gazetteers.word_sets import ELEMENTS
from aegir.annotators.rules.reading import (
    ANGLE,
    BRACE,
    COLON,
    COMMA,
    DIGIT,
    HASH,
    LETTER,
    LONGEST_CELL,
    NON_ASCII,
    NUMERIC,
    SPACE,
    UPPER,
    Reading,
)
from aegir.annotators.rules.rule import Rule
from aegir.annotators.rules.shapes import Shape

_TAG = re.compile(
    r"</?(?:p|br|b|i|em|strong|ul|ol|li|div|span|a|h[1-6]|table|tr|td|th|img|html|body|head|section|font|blockquote|hr|code|pre)(?:\s[^<>]*)?/?>",
    re.I,
)
_XML = Shape(r"\s*(?:<\?xml\b.*|<([A-Za-z_][\w:.-]*)(?:\s[^<>]*)?(?:/>|>.*))", re.S)
_MARKDOWN = Shape(
    r"(?:^|\n)#{1,6} \S|\*\*[^*\n]+\*\*|\[[^\]\n]+\]\((?:https?://|/)[^)\n]*\)|(?:^|\n)```|(?:^|\n)- \[[ x]\] "
)
_FORMULA = Shape(r"(?:[A-Z][a-z]?(?:[1-9]\d?)?|[()]\d?){2,20}(?:[+-]|\^\d[+-])?")
_ELEMENT = re.compile(r"[A-Z][a-z]?")
_CODE = Shape(r"[A-Z]{1,4}|(?=.*\d)[A-Z0-9][A-Z0-9._/-]{0,15}")
_EMOJI = Shape("[\U0001f000-\U0001faff\u2600-\u27bf\u2b50\u2b55\u200d\ufe0f\\s]+")
FEWEST_REPEATS = 5
"""A value must be seen this often before the column is called constant."""
_ENDING = Shape(r"[.!?…][\"'”’)]?$")


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


def is_formula(value: str) -> bool:
    """A formula of two or more real elements with a count: `H2O`, `C6H12O6`; not the code `S207`."""
    elements = _ELEMENT.findall(value)
    return (
        len(elements) > 1
        and bool(_FORMULA.fullmatch(value))
        and any(c.isdigit() for c in value)
        and all(element in ELEMENTS for element in elements)
    )


def share_of_prose(reading: Reading) -> float:
    """Cells of eight words and more that read as sentences: no names, no lists of ingredients."""
    good = sum(
        count
        for value, count in zip(reading.values, reading.counts, strict=True)
        if value[0] not in "[{" and is_prose(value)
    )
    return good / reading.total


def is_prose(value: str) -> bool:
    """An end of a sentence somewhere, or a long cell; a comma every few words makes a list."""
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


def share_of_a_constant(reading: Reading) -> float:
    return 1.0 if len(reading.values) == 1 and reading.total >= FEWEST_REPEATS else 0.0


def share_of_a_sequence(reading: Reading) -> float:
    """Distinct whole numbers in one run without gaps: 1, 2, 3 … in any order."""
    if reading.repeats or len(reading.numbers) < len(reading.values) or len(reading.values) < 5:
        return 0.0
    if any(value[0] == "0" and len(value) > 1 for value in reading.values):  # 01, 02: a code
        return 0.0
    low, high = min(reading.numbers), max(reading.numbers)
    whole = all(number.is_integer() for number in reading.numbers)
    return 1.0 if whole and low in (0, 1) and high - low + 1 == len(reading.numbers) else 0.0


def share_of_distinct_keys(reading: Reading) -> float:
    """Distinct codes or whole numbers without spaces: what identifies rows when the header says so."""
    return 0.0 if reading.repeats else _share_of_keys(reading)


def share_of_repeated_keys(reading: Reading) -> float:
    """Keys some of which occur in several rows: what refers to rows elsewhere."""
    return _share_of_keys(reading) if reading.repeats else 0.0


def _share_of_keys(reading: Reading) -> float:
    good = sum(
        count
        for value, count in zip(reading.values, reading.counts, strict=True)
        if " " not in value and "." not in value and len(value) <= 40
    )
    return good / reading.total


def share_of_category_codes(reading: Reading) -> float:
    """A few short upper-case codes that repeat."""
    if not reading.repeats or len(reading.values) * 2 > reading.total:
        return 0.0
    good = sum(
        count
        for value, count in zip(reading.values, reading.counts, strict=True)
        if _CODE.fullmatch(value)
    )
    return good / reading.total


RULES = (
    Rule("json_object", "JSON objects", is_json_object, sure=0.97, needs=BRACE, shortest=2),
    Rule("json_array", "JSON arrays", is_json_array, sure=0.94, needs=BRACE, shortest=2),
    Rule("html_fragment", "HTML fragments", is_html, sure=0.95, needs=ANGLE, shortest=4),
    Rule("xml_fragment", "XML fragments", is_xml, sure=0.93, needs=ANGLE, shortest=5),
    Rule(
        "markdown",
        "Markdown texts",
        _MARKDOWN.search,
        sure=0.85,
        needs=LETTER,
        shortest=5,
        most_values=30,
    ),
    Rule(
        "chemical_formula",
        "chemical formulas",
        is_formula,
        needs=UPPER | DIGIT,
        bars=SPACE,
        shortest=2,
        longest=40,
    ),
    Rule(
        "emoji",
        "emoji",
        _EMOJI.fullmatch,
        sure=0.95,
        needs=NON_ASCII,
        bars=LETTER | DIGIT,
        longest=40,
    ),
    Rule(
        "free_text",
        "sentences",
        measure=share_of_prose,
        sure=0.88,
        needs=LETTER | SPACE,
        shortest=30,
    ),
    Rule(
        "row_number",
        "numbers in sequence",
        measure=share_of_a_sequence,
        sure=0.88,
        shy=True,
        needs=NUMERIC,
        longest=9,
    ),
    # Sure enough to be said, but any finer type that fits as well is the better answer.
    Rule("constant", "one and the same", measure=share_of_a_constant, sure=0.8),
    Rule(
        "primary_key",
        "distinct keys",
        measure=share_of_distinct_keys,
        sure_with_header=0.85,
        longest=40,
    ),
    Rule(
        "foreign_key",
        "repeated keys",
        measure=share_of_repeated_keys,
        sure_with_header=0.82,
        longest=40,
    ),
    Rule(
        "category_code",
        "short codes that repeat",
        measure=share_of_category_codes,
        sure_with_header=0.85,
        needs=UPPER,
        bars=COLON | COMMA | HASH,
        longest=16,
    ),
)
