"""Markup, structured text, prose, and what only the column as a whole can tell: keys and constants.

Cells are cut before they get here, so an HTML fragment without an end is still HTML. JSON must parse unless the
cell was cut.
"""

import json
import re

from aegir.readers.rules.gazetteers import word_set
from aegir.readers.rules.matching import Pattern
from aegir.readers.rules.reading import (
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
from aegir.readers.rules.rule import Rule

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


def share_of_prose(reading: Reading) -> float:
    """Return the share of cells that are prose: no names, no lists of ingredients."""
    return reading.share_of(lambda value: value[0] not in "[{" and is_prose(value))


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


def share_of_constant(reading: Reading) -> float:
    """Return 1 where a single value occurs `MIN_REPEATS` times or more."""
    return 1.0 if len(reading.values) == 1 and reading.total >= MIN_REPEATS else 0.0


def share_of_sequence(reading: Reading) -> float:
    """Return 1 where the values are distinct whole numbers without gaps from 0 or 1, in any order."""
    if reading.repeats or len(reading.numbers) < len(reading.values) or len(reading.values) < 5:
        return 0.0
    if any(value[0] == "0" and len(value) > 1 for value in reading.values):  # 01, 02: a code
        return 0.0
    low, high = min(reading.numbers), max(reading.numbers)
    whole = all(number.is_integer() for number in reading.numbers)
    return 1.0 if whole and low in (0, 1) and high - low + 1 == len(reading.numbers) else 0.0


def share_of_distinct_keys(reading: Reading) -> float:
    """Return the share of keys where no value repeats: what identifies rows if the header says so."""
    return 0.0 if reading.repeats else _share_of_keys(reading)


def share_of_repeated_keys(reading: Reading) -> float:
    """Return the share of keys where some repeat: what refers to rows of another table."""
    return _share_of_keys(reading) if reading.repeats else 0.0


def _share_of_keys(reading: Reading) -> float:
    return reading.share_of(
        lambda value: " " not in value and "." not in value and len(value) <= 40
    )


def share_of_category_codes(reading: Reading) -> float:
    """Return the share of short upper-case codes where each occurs twice on average."""
    if not reading.repeats or len(reading.values) * 2 > reading.total:
        return 0.0
    return reading.share_of(_CODE.fullmatch)


RULES = (
    Rule(
        "json_object", "JSON objects", is_json_object, confidence=0.97, needs=BRACE, length=(2, 512)
    ),
    Rule("json_array", "JSON arrays", is_json_array, confidence=0.94, needs=BRACE, length=(2, 512)),
    Rule("html_fragment", "HTML fragments", is_html, confidence=0.95, needs=ANGLE, length=(4, 512)),
    Rule("xml_fragment", "XML fragments", is_xml, confidence=0.93, needs=ANGLE, length=(5, 512)),
    Rule(
        "markdown",
        "Markdown texts",
        is_markdown,
        confidence=0.85,
        needs=LETTER,
        length=(5, 512),
        max_values=30,
    ),
    Rule(
        "chemical_formula",
        "chemical formulas",
        is_formula,
        needs=UPPER | DIGIT,
        excludes=SPACE,
        length=(2, 40),
    ),
    Rule(
        "emoji",
        "emoji",
        _EMOJI.fullmatch,
        confidence=0.95,
        needs=NON_ASCII,
        excludes=LETTER | DIGIT,
        length=(1, 40),
    ),
    Rule(
        "free_text",
        "sentences",
        measure=share_of_prose,
        confidence=0.88,
        needs=LETTER | SPACE,
        length=(30, 512),
    ),
    Rule(
        "row_number",
        "numbers in sequence",
        measure=share_of_sequence,
        confidence=0.88,
        weak=True,
        needs=NUMERIC,
        length=(1, 9),
    ),
    # The lowest confidence that is named, so that any other fine type wins.
    Rule("constant", "one and the same", measure=share_of_constant, confidence=0.8),
    Rule(
        "primary_key",
        "distinct keys",
        measure=share_of_distinct_keys,
        confidence_with_header=0.85,
        length=(1, 40),
    ),
    Rule(
        "foreign_key",
        "repeated keys",
        measure=share_of_repeated_keys,
        confidence_with_header=0.82,
        length=(1, 40),
    ),
    Rule(
        "category_code",
        "short codes that repeat",
        measure=share_of_category_codes,
        confidence_with_header=0.85,
        needs=UPPER,
        excludes=COLON | COMMA | HASH,
        length=(1, 16),
    ),
)
