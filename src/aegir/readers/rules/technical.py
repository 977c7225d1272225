"""Text for machines: files, media types, unique identifiers, hashes, tokens, encoded data, versions, sequences.

Hashes and tokens have no check digit, only an alphabet and a length; their rules ask for a mixture (digits and
letters, both cases) that words and plain numbers do not show.
"""

import base64
import binascii
import re

from aegir.readers.rules.matching import Pattern
from aegir.readers.rules.reading import (
    ANGLE,
    AT,
    BACKSLASH,
    BRACE,
    COLON,
    DASH,
    DIGIT,
    DOT,
    LETTER,
    SLASH,
    SPACE,
    UPPER,
    Reading,
)
from aegir.readers.rules.rule import Rule

_A = re.ASCII
_MIME = Pattern(
    r"(?:application|audio|font|image|message|model|multipart|text|video)/[a-z0-9][\w.+-]{0,126}(?:\s?;.*)?",
    re.I,
)
_UNIX_ROOTS = "bin|etc|home|lib|mnt|opt|proc|root|srv|sys|tmp|usr|var|Users|Volumes|dev|data|media"
FILE_PATH = Pattern(
    rf"[A-Za-z]:\\[^\n]*|\\\\[^\\\s]+\\[^\n]+|(?:/(?:{_UNIX_ROOTS})|~|\.{{1,2}})(?:/[^/\n]+)+/?|(?:[\w.-]+/)+[\w.-]+\.[A-Za-z]\w{{0,4}}"
)
_FILE_NAME = Pattern(
    r"[^\s/\\:*?\"<>|][^/\\:*?\"<>|]{0,200}\.(?:csv|tsv|txt|pdf|docx?|xlsx?|pptx?|json|xml|html?|zip|gz|tar|7z|rar|jpe?g|png"
    r"|gif|svg|webp|tiff?|bmp|mp[34]|wav|avi|mov|mkv|py|js|ts|java|c|cpp|h|rs|go|rb|sh|sql|parquet|log|md|ya?ml|toml|ini|css|exe|dll|dat|bin)",
    re.I,
)
_UUID = Pattern(r"\{?[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\}?", re.I)
_HEX = {
    n: Pattern(rf"(?=.*[a-f])(?=.*\d)[0-9a-f]{{{n}}}|(?=.*[A-F])(?=.*\d)[0-9A-F]{{{n}}}")
    for n in (32, 40, 64)
}
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


def share_of_video_ids(reading: Reading) -> float:
    """Return the share of values of eleven mixed characters; at least half must have a digit, - or _."""
    shaped = [value for value in reading.values if _VIDEO_ID.fullmatch(value)]
    marked = sum(any(c in "0123456789-_" for c in value) for value in shaped)
    return len(shaped) / len(reading.values) if marked * 2 >= len(reading.values) else 0.0


def is_base64(value: str) -> bool:
    """Return whether a value is long, of mixed case, padded to a multiple of four and decodable."""
    if len(value) % 4 or not _BASE64.fullmatch(value):
        return False
    try:
        base64.b64decode(value, validate=True)
    except binascii.Error:
        return False
    return True


RULES = (
    Rule(
        "mime_type",
        "media types",
        _MIME.fullmatch,
        confidence=0.97,
        needs=SLASH | LETTER,
        length=(6, 512),
    ),
    Rule(
        "file_path",
        "file paths",
        FILE_PATH.fullmatch,
        confidence=0.9,
        excludes=AT,
        needs=LETTER,
        needs_one=SLASH | BACKSLASH,
        length=(4, 512),
    ),
    Rule(
        "file_name",
        "file names",
        _FILE_NAME.fullmatch,
        confidence=0.9,
        needs=DOT | LETTER,
        excludes=SLASH | ANGLE,
        length=(3, 255),
    ),
    Rule("uuid", "UUIDs", _UUID.fullmatch, confidence=0.99, needs=DASH | DIGIT, length=(36, 38)),
    Rule(
        "jwt",
        "JSON web tokens",
        _JWT.fullmatch,
        confidence=0.98,
        needs=DOT | LETTER,
        excludes=SPACE,
        length=(20, 512),
    ),
    Rule(
        "md5_hash",
        "MD5 hashes",
        _HEX[32].fullmatch,
        confidence=0.93,
        needs=DIGIT | LETTER,
        length=(32, 32),
    ),
    Rule(
        "sha1_hash",
        "SHA-1 hashes",
        _HEX[40].fullmatch,
        confidence=0.9,
        needs=DIGIT | LETTER,
        length=(40, 40),
    ),
    Rule(
        "git_commit",
        "Git commit identifiers",
        _SHORT_COMMIT.fullmatch,
        needs=DIGIT,
        length=(7, 40),
        excludes=SPACE,
    ),
    Rule(
        "sha256_hash",
        "SHA-256 hashes",
        _HEX[64].fullmatch,
        confidence=0.95,
        needs=DIGIT | LETTER,
        length=(64, 64),
    ),
    Rule(
        "ulid",
        "ULIDs",
        _ULID.fullmatch,
        confidence=0.92,
        needs=UPPER | DIGIT,
        excludes=SPACE,
        length=(26, 26),
        min_distinct=2,
    ),
    Rule(
        "base64_data",
        "base64 data",
        is_base64,
        confidence=0.85,
        needs=LETTER | UPPER,
        excludes=SPACE | DASH | DOT,
        length=(16, 512),
        min_distinct=2,
    ),
    Rule(
        "semantic_version",
        "version numbers",
        _VERSION.fullmatch,
        confidence=0.9,
        min_distinct=2,
        needs=DOT | DIGIT,
        excludes=SPACE | SLASH | COLON | BRACE,
        length=(5, 60),
    ),
    Rule(
        "dna_sequence",
        "nucleotide sequences",
        _DNA.fullmatch,
        confidence=0.92,
        min_distinct=2,
        needs=LETTER,
        excludes=DIGIT | SPACE,
        length=(12, 512),
    ),
    Rule(
        "youtube_video_id",
        "YouTube video identifiers",
        measure=share_of_video_ids,
        confidence=0.85,
        min_distinct=3,
        needs=LETTER | UPPER | DIGIT,
        excludes=SPACE | DOT,
        length=(11, 11),
        support=(("CreativeWork", 0.95),),  # 19 of 19 labelled columns
    ),
)
