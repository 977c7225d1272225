"""What a user says about a file that the reader would otherwise find out: encoding, delimiter, header, lines to skip, sheet.

    Overrides(encoding="cp850", delimiter=";", header=2, skip=3)        header=NO_HEADER: there is none

Lines that hold nothing do not count, neither for `header` nor, in a sheet, for `skip`. What does not apply to a source is
refused in one sentence that names it, rather than ignored.
"""

import codecs
from dataclasses import dataclass, fields

from aegir_rl.base.errors import UsageError

NO_HEADER = 0
MOST_LINES = 999_999
"""The last line that may be called the header, and the most lines that may be skipped."""
NAMED_DELIMITERS = {
    "tab": "\t",
    "\\t": "\t",
    "comma": ",",
    "semicolon": ";",
    "pipe": "|",
    "space": " ",
}
NOT_DELIMITERS = "\r\n\"'"


@dataclass(frozen=True, slots=True)
class Overrides:
    """The choices that overrule a reader; what is None, or 0 for `skip`, it finds out."""

    encoding: str | None = None
    delimiter: str | None = None
    header: int | None = None
    """The line that holds the names, counted from 1 behind the skipped ones."""
    skip: int = 0
    """Lines left out at the beginning."""
    sheet: str | None = None
    """The name of a sheet, or its number, counted from 1."""

    def refuse(self, what: str, *names: str) -> None:
        """Raise `UsageError` if one of these choices, or any if none is named, was made about `what`, to which it does not apply."""
        for name in names or [each.name for each in fields(self)]:
            if getattr(self, name) not in (None, 0) or (name == "header" and self.header == 0):
                raise UsageError(f"{name} does not apply to {what}; leave it out")

    @property
    def delimited(self) -> bool:
        """Whether a choice was made that only delimited text can follow."""
        return self.delimiter is not None or self.header is not None or self.skip > 0


NO_OVERRIDES = Overrides()


def parse_encoding(name: str) -> str:
    """Return the name of a Python codec for text; raise `UsageError` if there is none of this name."""
    try:
        info = codecs.lookup(name)
        is_text = getattr(info, "_is_text_encoding", True) and isinstance("".encode(name), bytes)
    except (LookupError, ValueError, UnicodeError):
        is_text = False
    if not is_text or info.name in ("idna", "punycode", "raw_unicode_escape", "unicode_escape"):
        raise UsageError(
            f"the encoding {name[:40]!r} is unknown; expected a name such as utf-8, latin-1, cp1252, mac_roman or shift_jis"
        )
    return info.name


def parse_delimiter(text: str) -> str:
    """Return the character that a text names; raise `UsageError` for anything but one character."""
    text = NAMED_DELIMITERS.get(text.lower(), text)
    if len(text) != 1 or text in NOT_DELIMITERS or text.isalnum():
        raise UsageError(
            f"the delimiter is {text[:40]!r}; expected one character that is no letter or digit, or tab, comma, semicolon, pipe or space"
        )
    return text


def parse_header(value: str | int) -> int:
    """Return the line that holds the names; `NO_HEADER` for `none`."""
    if isinstance(value, str) and value.lower() == "none":
        return NO_HEADER
    text = str(value)
    if (
        isinstance(value, bool)
        or not (text.isascii() and text.isdigit())
        or not 0 < int(text[:9]) <= MOST_LINES
    ):
        raise UsageError(
            f"the header is {text[:40]!r}; expected the number of its line, from 1, or none"
        )
    return int(text)
