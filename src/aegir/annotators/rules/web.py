"""Addresses and traces of the web: e-mail, URLs, hosts, IP and MAC addresses, HTTP words.

Formats here are found from the values alone, except `port` and `http_status`, which look like any
other number and are believed only with a header.
"""

import ipaddress
import re

from aegir.annotators.rules.files import FILE_PATH
from aegir.annotators.rules.gazetteers import country_alpha2
from aegir.annotators.rules.gazetteers.word_sets import (
    FILE_ENDINGS,
    GENERIC_ENDINGS,
    METHODS,
    STATUSES,
)
from aegir.annotators.rules.reading import (
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
from aegir.annotators.rules.rule import Rule
from aegir.annotators.rules.shapes import Shape

_EMAIL = Shape(
    r"(?:mailto:)?[\w.!#$%&'*+/=?^`{|}~-]{1,64}@(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.)+[A-Za-z]{2,24}"
)
# Schema.org and GoodRelations terms look like URLs and are enumeration members (see enumerations.py).
_URL = Shape(
    r"(?:(?:https?|ftp)://(?!(?:www\.)?schema\.org/|purl\.org/goodrelations)|www\.)[^\s/?#]+\.[^\s]{2,}"
)
_IMAGE_URL = Shape(
    r"(?:https?:)?//[^\s?#]+\.(?:jpe?g|png|gif|webp|svg|avif|bmp|tiff?)(?:[?#]\S*)?", re.I
)
_HOST = Shape(r"(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+([a-z]{2,24})\.?", re.I)
_USER_AGENT = Shape(
    r"(?:Mozilla|Opera|curl|Wget|okhttp|Dalvik|python-requests|PostmanRuntime|Googlebot|bingbot)/\d\S*.*"
)
_MAC = Shape(
    r"[0-9A-F]{2}([:-])(?:[0-9A-F]{2}\1){4}[0-9A-F]{2}|(?:[0-9A-F]{4}\.){2}[0-9A-F]{4}", re.I
)
_CIDR = Shape(r"(?:\d{1,3}\.){3}\d{1,3}/(?:[0-9]|[12][0-9]|3[0-2])", re.ASCII)
_URL_PATH = Shape(r"/[\w.~%!$&'()*+,;=:@-][\w.~%!$&'()*+,;=:@/-]*(?:\?\S*)?", re.ASCII)
_QUERY = Shape(r"\??[\w.%\[\]-]+=[^&\s]*(?:&[\w.%\[\]-]+=[^&\s]*)+|\?[\w.%\[\]-]+=[^&\s]*")
_HANDLE = Shape(r"@[A-Za-z0-9_](?:[A-Za-z0-9_.]{0,28}[A-Za-z0-9_])?")
_HASHTAG = Shape(r"#[^\W\d_][\w]*(?:[\s,]+#\w+)*|#\d+[^\W\d]\w*")
_HEX_COLOUR = Shape(r"#(?:[0-9a-f]{3}|[0-9a-f]{6}|[0-9a-f]{8})", re.I)
_ARN = Shape(r"arn:aws[\w-]*:[a-z0-9-]+:[a-z0-9-]*:(?:\d{12})?:\S+")


def is_email(value: str) -> bool:
    """One address, several, or one inside angle brackets: `Ann Bee <ann@example.org>`."""
    if "@" not in value:
        return False
    if _EMAIL.fullmatch(value.rstrip(".")):
        return True
    if value.endswith(">") and "<" in value:
        return bool(_EMAIL.fullmatch(value[value.rindex("<") + 1 : -1]))
    parts = re.split(r"[\s,;/|]+", value)
    return all(_EMAIL.fullmatch(part) for part in parts if part)


def is_page_url(value: str) -> bool:
    """A web address that is not that of an image."""
    return bool(_URL.fullmatch(value)) and not _IMAGE_URL.fullmatch(value)


def is_host(value: str) -> bool:
    """A domain or host name whose ending is a real one; `report.md` and `1.5` are not."""
    match = _HOST.fullmatch(value)
    if not match:
        return False
    ending = match[1].lower()
    if ending in FILE_ENDINGS:
        return False
    return ending in GENERIC_ENDINGS or ending == "uk" or ending.upper() in country_alpha2()


def is_domain(value: str) -> bool:
    """A registrable name: `example.org`, `example.co.uk`."""
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
    """`#travel`, but not the colour `#fafafa`."""
    return bool(_HASHTAG.fullmatch(value)) and not _HEX_COLOUR.fullmatch(value)


def is_port(value: str) -> bool:
    return value.isascii() and value.isdigit() and 0 < int(value) <= 65535


def is_url_path(value: str) -> bool:
    """`/shop/item-7`, not a file under a Unix root."""
    return bool(_URL_PATH.fullmatch(value)) and not FILE_PATH.fullmatch(value)


RULES = (
    Rule(
        "email_address",
        "e-mail addresses",
        is_email,
        sure=0.99,
        needs=AT | DOT | LETTER,
        shortest=6,
        support=(("email", 0.98),),  # 48 of 48 labelled columns
    ),
    Rule(
        "image_url",
        "addresses of images",
        _IMAGE_URL.fullmatch,
        sure=0.97,
        needs=SLASH | DOT | LETTER,
        shortest=8,
        support=(("Photograph", 0.89), ("URL", 0.1)),  # 41 and 4 of 45 labelled columns
    ),
    Rule(
        "url",
        "web addresses",
        _URL.fullmatch,
        sure=0.96,
        needs=DOT | LETTER,
        bars=NUMERIC,
        shortest=7,
    ),
    Rule(
        "page_url",
        "web addresses of pages",
        is_page_url,
        needs=DOT | LETTER,
        bars=NUMERIC,
        shortest=7,
        support=(("URL", 0.91),),  # 30 of 32 labelled columns
    ),
    Rule(
        "ipv4_address",
        "IPv4 addresses",
        is_ipv4,
        sure=0.96,
        needs=DOT | DIGIT,
        bars=LETTER | SPACE,
        shortest=7,
        longest=15,
    ),
    Rule(
        "ipv6_address",
        "IPv6 addresses",
        is_ipv6,
        sure=0.97,
        needs=COLON,
        bars=SPACE,
        shortest=3,
        longest=50,
    ),
    # A log that meets both kinds is still a column of addresses: a header names it by the older kind.
    Rule(
        "ipv4_address",
        "IP addresses",
        lambda value: is_ipv4(value) or is_ipv6(value),
        needs=DIGIT | DOT | COLON,
        bars=SPACE,
        shortest=3,
        longest=50,
        sure_with_header=0.93,
    ),
    Rule(
        "ip_network",
        "IP networks",
        _CIDR.fullmatch,
        sure=0.96,
        needs=SLASH | DOT | DIGIT,
        bars=LETTER,
        shortest=9,
        longest=18,
    ),
    Rule(
        "mac_address",
        "MAC addresses",
        _MAC.fullmatch,
        sure=0.97,
        shortest=14,
        longest=17,
        needs=DIGIT,
    ),
    Rule(
        "domain_name",
        "domain names",
        is_domain,
        sure=0.9,
        needs=DOT | LETTER,
        bars=SPACE | AT | SLASH,
        shortest=4,
        longest=253,
    ),
    Rule(
        "host_name",
        "host names",
        is_host,
        sure=0.86,
        needs=DOT | LETTER,
        bars=SPACE | AT | SLASH,
        shortest=4,
        longest=253,
    ),
    Rule(
        "http_method",
        "HTTP methods",
        lambda value: value.upper() in METHODS,
        sure=0.85,
        distinct=2,
        needs=LETTER,
        bars=DIGIT | SPACE,
        shortest=3,
        longest=7,
    ),
    Rule(
        "http_status",
        "HTTP status codes",
        STATUSES.__contains__,
        sure=0.0,
        needs=DIGIT | NUMERIC,
        shortest=3,
        longest=3,
    ),
    Rule(
        "user_agent",
        "user agents",
        _USER_AGENT.fullmatch,
        sure=0.97,
        needs=SLASH | LETTER | DIGIT,
        shortest=8,
    ),
    Rule("port", "port numbers", is_port, needs=DIGIT | NUMERIC, longest=5, bars=DOT | DASH),
    Rule(
        "url_path",
        "URL paths",
        is_url_path,
        sure=0.88,
        needs=SLASH | LETTER,
        bars=SPACE | BACKSLASH,
        shortest=3,
        distinct=2,
    ),
    Rule(
        "query_string",
        "query strings",
        _QUERY.fullmatch,
        sure=0.9,
        needs=EQUALS,
        bars=SPACE,
        shortest=4,
    ),
    Rule(
        "social_handle",
        "social media handles",
        _HANDLE.fullmatch,
        sure=0.9,
        needs=AT,
        bars=SPACE,
        shortest=3,
        longest=31,
    ),
    Rule("hashtag", "hashtags", is_hashtag, sure=0.9, needs=HASH, shortest=2),
    Rule(
        "cloud_resource_name",
        "cloud resource names (ARN)",
        _ARN.fullmatch,
        sure=0.97,
        needs=COLON,
        shortest=12,
    ),
)
