"""The web: e-mail and web addresses, hosts, IP and MAC addresses, HTTP methods and status codes.

Formats here are recognised from the values alone, except `port` and `http_status`, which look like any other number
and need a header.
"""

import ipaddress
import re

from aegir.readers.rules.gazetteers import country_alpha2, word_set
from aegir.readers.rules.matching import Pattern
from aegir.readers.rules.reading import (
    AT,
    BACKSLASH,
    COLON,
    DASH,
    DIGIT,
    DOT,
    EQUALS,
    HASH,
    LETTER,
    NUMERIC,
    SLASH,
    SPACE,
)
from aegir.readers.rules.rule import Rule
from aegir.readers.rules.technical import FILE_PATH

_FILE_EXTENSIONS = word_set("file_extensions")
_TOP_LEVEL_DOMAINS = word_set("top_level_domains")
_HTTP_METHODS = word_set("http_methods")
_HTTP_STATUSES = word_set("http_statuses")
_EMAIL = Pattern(
    r"(?:mailto:)?[\w.!#$%&'*+/=?^`{|}~-]{1,64}@(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.)+[A-Za-z]{2,24}"
)
# Schema.org and GoodRelations terms look like URLs and are enumeration members (see enumerations.py).
_URL = Pattern(
    r"(?:(?:https?|ftp)://(?!(?:www\.)?schema\.org/|purl\.org/goodrelations)|www\.)[^\s/?#]+\.[^\s]{2,}"
)
_IMAGE_URL = Pattern(
    r"(?:https?:)?//[^\s?#]+\.(?:jpe?g|png|gif|webp|svg|avif|bmp|tiff?)(?:[?#]\S*)?", re.I
)
_HOST = Pattern(r"(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+([a-z]{2,24})\.?", re.I)
_USER_AGENT = Pattern(
    r"(?:Mozilla|Opera|curl|Wget|okhttp|Dalvik|python-requests|PostmanRuntime|Googlebot|bingbot)/\d\S*.*"
)
_MAC = Pattern(
    r"[0-9A-F]{2}([:-])(?:[0-9A-F]{2}\1){4}[0-9A-F]{2}|(?:[0-9A-F]{4}\.){2}[0-9A-F]{4}", re.I
)
_CIDR = Pattern(r"(?:\d{1,3}\.){3}\d{1,3}/(?:[0-9]|[12][0-9]|3[0-2])", re.ASCII)
_URL_PATH = Pattern(r"/[\w.~%!$&'()*+,;=:@-][\w.~%!$&'()*+,;=:@/-]*(?:\?\S*)?", re.ASCII)
_QUERY = Pattern(r"\??[\w.%\[\]-]+=[^&\s]*(?:&[\w.%\[\]-]+=[^&\s]*)+|\?[\w.%\[\]-]+=[^&\s]*")
_HANDLE = Pattern(r"@[A-Za-z0-9_](?:[A-Za-z0-9_.]{0,28}[A-Za-z0-9_])?")
_HASHTAG = Pattern(r"#[^\W\d_][\w]*(?:[\s,]+#\w+)*|#\d+[^\W\d]\w*")
_HEX_COLOUR = Pattern(r"#(?:[0-9a-f]{3}|[0-9a-f]{6}|[0-9a-f]{8})", re.I)
_ARN = Pattern(r"arn:aws[\w-]*:[a-z0-9-]+:[a-z0-9-]*:(?:\d{12})?:\S+")


def is_email(value: str) -> bool:
    """Return whether a value is one address, several, or one in angle brackets: `Ann Bee <ann@example.org>`."""
    if "@" not in value:
        return False
    if _EMAIL.fullmatch(value.rstrip(".")):
        return True
    if value.endswith(">") and "<" in value:
        return bool(_EMAIL.fullmatch(value[value.rindex("<") + 1 : -1]))
    parts = re.split(r"[\s,;/|]+", value)
    return all(_EMAIL.fullmatch(part) for part in parts if part)


def is_page_url(value: str) -> bool:
    """Return whether a value is a web address and not that of an image."""
    return bool(_URL.fullmatch(value)) and not _IMAGE_URL.fullmatch(value)


def is_host(value: str) -> bool:
    """Return whether a value is a domain or host name with a real ending; `report.md` and `1.5` have none."""
    match = _HOST.fullmatch(value)
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
    return bool(_HASHTAG.fullmatch(value)) and not _HEX_COLOUR.fullmatch(value)


def is_port(value: str) -> bool:
    return value.isascii() and value.isdigit() and 0 < int(value) <= 65535


def is_url_path(value: str) -> bool:
    """Return whether a value is like `/shop/item-7` and no file under a Unix root."""
    return bool(_URL_PATH.fullmatch(value)) and not FILE_PATH.fullmatch(value)


RULES = (
    Rule(
        "email_address",
        "e-mail addresses",
        is_email,
        confidence=0.99,
        needs=AT | DOT | LETTER,
        length=(6, 512),
        support=(("email", 0.98),),  # 48 of 48 labelled columns
    ),
    Rule(
        "image_url",
        "addresses of images",
        _IMAGE_URL.fullmatch,
        confidence=0.97,
        needs=SLASH | DOT | LETTER,
        length=(8, 512),
        support=(("Photograph", 0.89), ("URL", 0.1)),  # 41 and 4 of 45 labelled columns
    ),
    Rule(
        "url",
        "web addresses",
        _URL.fullmatch,
        confidence=0.96,
        needs=DOT | LETTER,
        excludes=NUMERIC,
        length=(7, 512),
    ),
    Rule(
        "page_url",
        "web addresses of pages",
        is_page_url,
        needs=DOT | LETTER,
        excludes=NUMERIC,
        length=(7, 512),
        support=(("URL", 0.91),),  # 30 of 32 labelled columns
    ),
    Rule(
        "ipv4_address",
        "IPv4 addresses",
        is_ipv4,
        confidence=0.96,
        needs=DOT | DIGIT,
        excludes=LETTER | SPACE,
        length=(7, 15),
    ),
    Rule(
        "ipv6_address",
        "IPv6 addresses",
        is_ipv6,
        confidence=0.97,
        needs=COLON,
        excludes=SPACE,
        length=(3, 50),
    ),
    # A log with both kinds is still a column of addresses: with a header it is named after the older kind.
    Rule(
        "ipv4_address",
        "IP addresses",
        lambda value: is_ipv4(value) or is_ipv6(value),
        needs=DIGIT | DOT | COLON,
        excludes=SPACE,
        length=(3, 50),
        confidence_with_header=0.93,
    ),
    Rule(
        "ip_network",
        "IP networks",
        _CIDR.fullmatch,
        confidence=0.96,
        needs=SLASH | DOT | DIGIT,
        excludes=LETTER,
        length=(9, 18),
    ),
    Rule(
        "mac_address",
        "MAC addresses",
        _MAC.fullmatch,
        confidence=0.97,
        length=(14, 17),
        needs=DIGIT,
    ),
    Rule(
        "domain_name",
        "domain names",
        is_domain,
        confidence=0.9,
        needs=DOT | LETTER,
        excludes=SPACE | AT | SLASH,
        length=(4, 253),
    ),
    Rule(
        "host_name",
        "host names",
        is_host,
        confidence=0.86,
        needs=DOT | LETTER,
        excludes=SPACE | AT | SLASH,
        length=(4, 253),
    ),
    Rule(
        "http_method",
        "HTTP methods",
        lambda value: value.upper() in _HTTP_METHODS,
        confidence=0.85,
        min_distinct=2,
        needs=LETTER,
        excludes=DIGIT | SPACE,
        length=(3, 7),
    ),
    Rule(
        "http_status",
        "HTTP status codes",
        _HTTP_STATUSES.__contains__,
        needs=DIGIT | NUMERIC,
        length=(3, 3),
    ),
    Rule(
        "user_agent",
        "user agents",
        _USER_AGENT.fullmatch,
        confidence=0.97,
        needs=SLASH | LETTER | DIGIT,
        length=(8, 512),
    ),
    Rule(
        "port", "port numbers", is_port, needs=DIGIT | NUMERIC, length=(1, 5), excludes=DOT | DASH
    ),
    Rule(
        "url_path",
        "URL paths",
        is_url_path,
        confidence=0.88,
        needs=SLASH | LETTER,
        excludes=SPACE | BACKSLASH,
        length=(3, 512),
        min_distinct=2,
    ),
    Rule(
        "query_string",
        "query strings",
        _QUERY.fullmatch,
        confidence=0.9,
        needs=EQUALS,
        excludes=SPACE,
        length=(4, 512),
    ),
    Rule(
        "social_handle",
        "social media handles",
        _HANDLE.fullmatch,
        confidence=0.9,
        needs=AT,
        excludes=SPACE,
        length=(3, 31),
    ),
    Rule("hashtag", "hashtags", is_hashtag, confidence=0.9, needs=HASH, length=(2, 512)),
    Rule(
        "cloud_resource_name",
        "cloud resource names (ARN)",
        _ARN.fullmatch,
        confidence=0.97,
        needs=COLON,
        length=(12, 512),
    ),
)
