"""Files: paths, names and media types."""

import re

from aegir.annotators.rules.reading import (
    ANGLE,
    AT,
    DOT,
    LETTER,
    SLASH,
)
from aegir.annotators.rules.rule import Rule
from aegir.annotators.rules.shapes import Shape

_MIME = Shape(
    r"(?:application|audio|font|image|message|model|multipart|text|video)/[a-z0-9][\w.+-]{0,126}(?:\s?;.*)?",
    re.I,
)
_UNIX_ROOTS = "bin|etc|home|lib|mnt|opt|proc|root|srv|sys|tmp|usr|var|Users|Volumes|dev|data|media"
FILE_PATH = Shape(
    rf"[A-Za-z]:\\[^\n]*|\\\\[^\\\s]+\\[^\n]+|(?:/(?:{_UNIX_ROOTS})|~|\.{{1,2}})(?:/[^/\n]+)+/?|(?:[\w.-]+/)+[\w.-]+\.[A-Za-z]\w{{0,4}}"
)
_FILE_NAME = Shape(
    r"[^\s/\\:*?\"<>|][^/\\:*?\"<>|]{0,200}\.(?:csv|tsv|txt|pdf|docx?|xlsx?|pptx?|json|xml|html?|zip|gz|tar|7z|rar|jpe?g|png"
    r"|gif|svg|webp|tiff?|bmp|mp[34]|wav|avi|mov|mkv|py|js|ts|java|c|cpp|h|rs|go|rb|sh|sql|parquet|log|md|ya?ml|toml|ini|css|exe|dll|dat|bin)",
    re.I,
)


RULES = (
    Rule("mime_type", "media types", _MIME.fullmatch, sure=0.97, needs=SLASH | LETTER, shortest=6),
    Rule(
        "file_path", "file paths", FILE_PATH.fullmatch, sure=0.9, bars=AT, needs=LETTER, shortest=4
    ),
    Rule(
        "file_name",
        "file names",
        _FILE_NAME.fullmatch,
        sure=0.9,
        needs=DOT | LETTER,
        bars=SLASH | ANGLE,
        shortest=3,
        longest=255,
    ),
)
