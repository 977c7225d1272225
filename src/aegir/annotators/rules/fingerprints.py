"""Text made by machines: unique identifiers, hashes, tokens, encoded data, versions, sequences.

There is no check digit here, only alphabet and length; the rules ask for a mixture (digits and letters,
both cases) that words and plain numbers do not show.
"""

import base64
import binascii
import re

from aegir.annotators.rules.reading import (
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
from aegir.annotators.rules.rule import Rule
from aegir.annotators.rules.shapes import Shape

_A = re.ASCII
_UUID = Shape(r"\{?[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\}?", re.I)
_HEX = {
    n: Shape(rf"(?=.*[a-f])(?=.*\d)[0-9a-f]{{{n}}}|(?=.*[A-F])(?=.*\d)[0-9A-F]{{{n}}}")
    for n in (32, 40, 64)
}
_SHORT_COMMIT = Shape(r"[0-9a-f]{7,40}")
_JWT = Shape(r"eyJ[\w-]{8,}\.eyJ?[\w-]{4,}\.[\w-]*", _A)
_BASE64 = Shape(r"(?=.*[a-z])(?=.*[A-Z])(?=.*[\d+/=])[A-Za-z0-9+/]{16,}={0,2}")
_ULID = Shape(r"[0-7](?=[0-9A-HJKMNP-TV-Z]*\d)(?=[0-9A-HJKMNP-TV-Z]*[A-Z])[0-9A-HJKMNP-TV-Z]{25}")
_VIDEO_ID = Shape(r"(?=.*[A-Z])(?=.*[a-z])[\w-]{11}", _A)
_VERSION = Shape(
    r"(?!\d{3}\.\d{3}\.\d{4}$)(?!(?:\d+\.){6})[vV]?(?:0|[1-9]\d{0,3})\.(?:0|[1-9]\d{0,3})\.(?:0|[1-9]\d{0,5})"
    r"(?:[-.+][0-9A-Za-z][0-9A-Za-z.+-]*)?",
    _A,
)
_DNA = Shape(r"[ACGTN]{12,}|[ACGUN]{12,}|[acgtn]{12,}")


def share_of_video_ids(reading: Reading) -> float:
    """Eleven mixed characters; over the column every second one or more also has a digit or a dash."""
    shaped = [value for value in reading.values if _VIDEO_ID.fullmatch(value)]
    marked = sum(any(c in "0123456789-_" for c in value) for value in shaped)
    return len(shaped) / len(reading.values) if marked * 2 >= len(reading.values) else 0.0


def is_base64(value: str) -> bool:
    """Long, mixed-case, padded to a multiple of four, and decodable."""
    if len(value) % 4 or not _BASE64.fullmatch(value):
        return False
    try:
        base64.b64decode(value, validate=True)
    except binascii.Error:
        return False
    return True


RULES = (
    Rule("uuid", "UUIDs", _UUID.fullmatch, sure=0.99, needs=DASH | DIGIT, shortest=36, longest=38),
    Rule(
        "jwt",
        "JSON web tokens",
        _JWT.fullmatch,
        sure=0.98,
        needs=DOT | LETTER,
        bars=SPACE,
        shortest=20,
    ),
    Rule(
        "md5_hash",
        "MD5 hashes",
        _HEX[32].fullmatch,
        sure=0.93,
        needs=DIGIT | LETTER,
        shortest=32,
        longest=32,
    ),
    Rule(
        "sha1_hash",
        "SHA-1 hashes",
        _HEX[40].fullmatch,
        sure=0.9,
        needs=DIGIT | LETTER,
        shortest=40,
        longest=40,
    ),
    Rule(
        "git_commit",
        "Git commit identifiers",
        _SHORT_COMMIT.fullmatch,
        needs=DIGIT,
        shortest=7,
        longest=40,
        bars=SPACE,
    ),
    Rule(
        "sha256_hash",
        "SHA-256 hashes",
        _HEX[64].fullmatch,
        sure=0.95,
        needs=DIGIT | LETTER,
        shortest=64,
        longest=64,
    ),
    Rule(
        "ulid",
        "ULIDs",
        _ULID.fullmatch,
        sure=0.92,
        needs=UPPER | DIGIT,
        bars=SPACE,
        shortest=26,
        longest=26,
        distinct=2,
    ),
    Rule(
        "base64_data",
        "base64 data",
        is_base64,
        sure=0.85,
        needs=LETTER | UPPER,
        bars=SPACE | DASH | DOT,
        shortest=16,
        distinct=2,
    ),
    Rule(
        "semantic_version",
        "version numbers",
        _VERSION.fullmatch,
        sure=0.9,
        distinct=2,
        needs=DOT | DIGIT,
        bars=SPACE | SLASH | COLON | BRACE,
        shortest=5,
        longest=60,
    ),
    Rule(
        "dna_sequence",
        "nucleotide sequences",
        _DNA.fullmatch,
        sure=0.92,
        distinct=2,
        needs=LETTER,
        bars=DIGIT | SPACE,
        shortest=12,
    ),
    Rule(
        "youtube_video_id",
        "YouTube video identifiers",
        measure=share_of_video_ids,
        sure=0.85,
        distinct=3,
        needs=LETTER | UPPER | DIGIT,
        bars=SPACE | DOT,
        shortest=11,
        longest=11,
        support=(("CreativeWork", 0.95),),  # 19 of 19 labelled columns
    ),
)
