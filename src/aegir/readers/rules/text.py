"""Text for machines and for people: the web, files, hashes, encoded data, versions; markup, prose; keys and constants.

Formats for machines are recognised from the values alone, except `port` and `http_status`, which look like any other number
and need a header. Hashes and tokens have no check digit, only an alphabet and a length; their rules ask for a mixture
(digits and letters, both cases) that words and plain numbers do not show.

Keys and constants are what only the column as a whole shows. Cells are cut before they get here, so an HTML fragment without an end is still HTML. JSON must parse unless the
cell was cut.
"""

import base64
import binascii
import ipaddress
import json
import re

from aegir.readers.rules.column_summary import LONGEST_CELL, ColumnSummary
from aegir.readers.rules.gazetteers import country_alpha2, word_set
from aegir.readers.rules.rule import PATTERNS, read_rules

_FILE_EXTENSIONS = word_set("file_extensions")
_TOP_LEVEL_DOMAINS = word_set("top_level_domains")
_HTTP_METHODS = word_set("http_methods")
_HTTP_STATUSES = word_set("http_statuses")


def is_email(value: str) -> bool:
    """Return whether a value is one address, several, or one in angle brackets: `Ann Bee <ann@example.org>`."""
    if "@" not in value:
        return False
    if PATTERNS["email"].fullmatch(value.rstrip(".")):
        return True
    if value.endswith(">") and "<" in value:
        return bool(PATTERNS["email"].fullmatch(value[value.rindex("<") + 1 : -1]))
    parts = re.split(r"[\s,;/|]+", value)
    return all(PATTERNS["email"].fullmatch(part) for part in parts if part)


def is_page_url(value: str) -> bool:
    """Return whether a value is a web address and not that of an image."""
    return bool(PATTERNS["url"].fullmatch(value)) and not PATTERNS["image_url"].fullmatch(value)


def is_host(value: str) -> bool:
    """Return whether a value is a domain or host name with a real ending; `report.md` and `1.5` have none."""
    match = PATTERNS["host"].fullmatch(value)
    if not match:
        return False
    ending = match[1].lower()
    if ending in _FILE_EXTENSIONS:
        return False
    return ending in _TOP_LEVEL_DOMAINS or ending == "uk" or ending.upper() in country_alpha2()


def is_domain(value: str) -> bool:
    """Return whether a value is a registrable name: `example.org`, `example.co.uk`."""
    if not is_host(value):
        return False
    labels = value.rstrip(".").split(".")
    second_level = len(labels) == 3 and labels[1] in ("co", "com", "org", "gov", "ac", "net", "edu")
    return len(labels) == 2 or (second_level and len(labels[2]) == 2)


def is_ipv4(value: str) -> bool:
    parts = value.split(".")
    return len(parts) == 4 and all(
        part.isascii() and part.isdigit() and len(part) <= 3 and int(part) <= 255 for part in parts
    )


def is_ipv6(value: str) -> bool:
    if value.count(":") < 2 or len(value) > 50:
        return False
    try:
        ipaddress.IPv6Address(value.partition("/")[0])
    except ValueError:
        return False
    return True


def is_hashtag(value: str) -> bool:
    """Return whether a value is like `#travel`, but not the colour `#fafafa`."""
    return bool(PATTERNS["hashtag"].fullmatch(value)) and not PATTERNS["hex_colour"].fullmatch(
        value
    )


def is_port(value: str) -> bool:
    return value.isascii() and value.isdigit() and 0 < int(value) <= 65535


def is_url_path(value: str) -> bool:
    """Return whether a value is like `/shop/item-7` and no file under a Unix root."""
    return bool(PATTERNS["url_path"].fullmatch(value)) and not PATTERNS["file_path"].fullmatch(
        value
    )


def is_ip_address(value: str) -> bool:
    return is_ipv4(value) or is_ipv6(value)


def is_http_method(value: str) -> bool:
    return value.upper() in _HTTP_METHODS


def share_of_video_ids(summary: ColumnSummary) -> float:
    """Return the share of values of eleven mixed characters; at least half must have a digit, - or _."""
    shaped = [value for value in summary.values if PATTERNS["video_id"].fullmatch(value)]
    marked = sum(any(c in "0123456789-_" for c in value) for value in shaped)
    return len(shaped) / len(summary.values) if marked * 2 >= len(summary.values) else 0.0


def is_base64(value: str) -> bool:
    """Return whether a value is long, of mixed case, padded to a multiple of four and decodable."""
    if len(value) % 4 or not PATTERNS["base64"].fullmatch(value):
        return False
    try:
        base64.b64decode(value, validate=True)
    except binascii.Error:
        return False
    return True


TECHNICAL_RULES = read_rules("technical", globals())


_ELEMENTS = word_set("chemical_elements")
_TAG = re.compile(
    r"</?(?:p|br|b|i|em|strong|ul|ol|li|div|span|a|h[1-6]|table|tr|td|th|img|html|body|head|section|font|blockquote|hr|code|pre)(?:\s[^<>]*)?/?>",
    re.I,
)
_ELEMENT = re.compile(r"[A-Z][a-z]?")
MIN_REPEATS = 5
"""Cells of one value that make a column constant."""


def is_html(value: str) -> bool:
    return bool(_TAG.search(value))


def is_xml(value: str) -> bool:
    match = PATTERNS["xml"].fullmatch(value)
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
    return any(mark in value for mark in "#*[`") and bool(PATTERNS["markdown"].search(value))


def is_formula(value: str) -> bool:
    """Return whether a value is a formula of two or more elements with a count: `H2O`, not the code `S207`."""
    elements = _ELEMENT.findall(value)
    return (
        len(elements) > 1
        and bool(PATTERNS["formula"].fullmatch(value))
        and any(c.isdigit() for c in value)
        and all(element in _ELEMENTS for element in elements)
    )


def share_of_prose(summary: ColumnSummary) -> float:
    """Return the share of cells that are prose: no names, no lists of ingredients."""
    return summary.share_of(is_prose)


def is_prose(value: str) -> bool:
    """Return whether a value has eight words or more, the end of a sentence or great length, and few commas."""
    spaces = value.count(" ")
    if spaces < 7 or value[0] in "[{":
        return False
    opening = value[:80]
    if sum(map(str.isalpha, opening)) * 10 < 7 * len(opening):  # 14 x 17 in. (35.6 x 43.2 cm)
        return False
    if ". " in value and value.count(", ") * 4 <= spaces:
        return True
    few_commas = value.count(",") * 6 <= spaces
    return few_commas and (len(value) > 80 or bool(PATTERNS["ending"].search(value)))


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
    return summary.share_of(_is_key)


def _is_key(value: str) -> bool:
    return " " not in value and "." not in value and len(value) <= 40


def share_of_category_codes(summary: ColumnSummary) -> float:
    """Return the share of short upper-case codes where each occurs twice on average."""
    if not summary.repeats or len(summary.values) * 2 > summary.total:
        return 0.0
    return summary.share_of(PATTERNS["code"].fullmatch)


TEXT_RULES = read_rules("text", globals())
