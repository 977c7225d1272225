"""The web, and text for machines: addresses, hosts, HTTP; files, identifiers, hashes, tokens, encoded data, versions.

Formats here are recognised from the values alone, except `port` and `http_status`, which look like any other number
and need a header. Hashes and tokens have no check digit, only an alphabet and a length; their rules ask for a mixture
(digits and letters, both cases) that words and plain numbers do not show.
"""

import base64
import binascii
import ipaddress
import re

from aegir.readers.rules.column_summary import (
    ColumnSummary,
)
from aegir.readers.rules.gazetteers import country_alpha2, word_set
from aegir.readers.rules.rule import Pattern, read_rules

_FILE_EXTENSIONS = word_set("file_extensions")
_TOP_LEVEL_DOMAINS = word_set("top_level_domains")
_HTTP_METHODS = word_set("http_methods")
_HTTP_STATUSES = word_set("http_statuses")
_EMAIL = Pattern(
    r"(?:mailto:)?[\w.!#$%&'*+/=?^`{|}~-]{1,64}@(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.)+[A-Za-z]{2,24}"
)
# Schema.org and GoodRelations terms look like URLs and are enumeration members (codes.py).
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
    return bool(_URL_PATH.fullmatch(value)) and not _FILE_PATH.fullmatch(value)


def is_ip_address(value: str) -> bool:
    return is_ipv4(value) or is_ipv6(value)


def is_http_method(value: str) -> bool:
    return value.upper() in _HTTP_METHODS


_A = re.ASCII
_MIME = Pattern(
    r"(?:application|audio|font|image|message|model|multipart|text|video)/[a-z0-9][\w.+-]{0,126}(?:\s?;.*)?",
    re.I,
)
_UNIX_ROOTS = "bin|etc|home|lib|mnt|opt|proc|root|srv|sys|tmp|usr|var|Users|Volumes|dev|data|media"
_FILE_PATH = Pattern(
    rf"[A-Za-z]:\\[^\n]*|\\\\[^\\\s]+\\[^\n]+|(?:/(?:{_UNIX_ROOTS})|~|\.{{1,2}})(?:/[^/\n]+)+/?|(?:[\w.-]+/)+[\w.-]+\.[A-Za-z]\w{{0,4}}"
)
_FILE_NAME = Pattern(
    r"[^\s/\\:*?\"<>|][^/\\:*?\"<>|]{0,200}\.(?:csv|tsv|txt|pdf|docx?|xlsx?|pptx?|json|xml|html?|zip|gz|tar|7z|rar|jpe?g|png"
    r"|gif|svg|webp|tiff?|bmp|mp[34]|wav|avi|mov|mkv|py|js|ts|java|c|cpp|h|rs|go|rb|sh|sql|parquet|log|md|ya?ml|toml|ini|css|exe|dll|dat|bin)",
    re.I,
)
_UUID = Pattern(r"\{?[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\}?", re.I)
_MD5, _SHA1, _SHA256 = (
    Pattern(rf"(?=.*[a-f])(?=.*\d)[0-9a-f]{{{n}}}|(?=.*[A-F])(?=.*\d)[0-9A-F]{{{n}}}")
    for n in (32, 40, 64)
)
_SHORT_COMMIT = Pattern(r"[0-9a-f]{7,40}")
_JWT = Pattern(r"eyJ[\w-]{8,}\.eyJ?[\w-]{4,}\.[\w-]*", _A)
_BASE64 = Pattern(r"(?=.*[a-z])(?=.*[A-Z])(?=.*[\d+/=])[A-Za-z0-9+/]{16,}={0,2}")
_ULID = Pattern(r"[0-7](?=[0-9A-HJKMNP-TV-Z]*\d)(?=[0-9A-HJKMNP-TV-Z]*[A-Z])[0-9A-HJKMNP-TV-Z]{25}")
_VIDEO_ID = Pattern(r"(?=.*[A-Z])(?=.*[a-z])[\w-]{11}", _A)
_VERSION = Pattern(
    r"(?!\d{3}\.\d{3}\.\d{4}$)(?!(?:\d+\.){6})[vV]?(?:0|[1-9]\d{0,3})\.(?:0|[1-9]\d{0,3})\.(?:0|[1-9]\d{0,5})"
    r"(?:[-.+][0-9A-Za-z][0-9A-Za-z.+-]*)?",
    _A,
)
_DNA = Pattern(r"[ACGTN]{12,}|[ACGUN]{12,}|[acgtn]{12,}")


def share_of_video_ids(summary: ColumnSummary) -> float:
    """Return the share of values of eleven mixed characters; at least half must have a digit, - or _."""
    shaped = [value for value in summary.values if _VIDEO_ID.fullmatch(value)]
    marked = sum(any(c in "0123456789-_" for c in value) for value in shaped)
    return len(shaped) / len(summary.values) if marked * 2 >= len(summary.values) else 0.0


def is_base64(value: str) -> bool:
    """Return whether a value is long, of mixed case, padded to a multiple of four and decodable."""
    if len(value) % 4 or not _BASE64.fullmatch(value):
        return False
    try:
        base64.b64decode(value, validate=True)
    except binascii.Error:
        return False
    return True


RULES = read_rules("technical", globals())
