r"""Text from tables, file names and error messages, made safe to print and to write; amounts; tab-separated files.

    escape_controls("a\x1b[31m")          a\x1b[31m       for terminals: nothing is interpreted, nothing is hidden
    escape_surrogates("caf\udce9.csv")    caf\xe9.csv     for files: valid Unicode
    escape_formula("=1+1")                '=1+1           for spreadsheets: nothing is computed
    amount(1000, "line")                  1,000 lines
    parse_json(metadata["facts"])         what JSON of others holds; a ValueError for anything wrong with it
    read_tsv(path, "name parent")         ("classes.tsv, line 2", ["Book", "CreativeWork"]), …

A file name that is not UTF-8 reaches Python with a lone surrogate for each byte it cannot decode; it is shown
with that byte written as `\xNN`, in every format and message.

Limit: a spreadsheet that is told to split a line at something other than commas sees other cells.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

LONGEST_NUMBER = 40
"""Digits and sign of a whole number in JSON: those of random generators have up to 39 digits."""
SURROGATE = re.compile("[\ud800-\udfff]")
# Control characters, line separators, and marks that reverse the direction of the text behind them.
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
# What a spreadsheet takes for a formula, also behind blanks and in full width.
_FORMULA = re.compile(r"\s*[=+\-@＝＋－＠]|[\t\r\n]")
_PLAIN_NUMBER = re.compile(r"[+-]?[0-9]+(?:[.,][0-9]+)*(?:[eE][+-]?[0-9]+)?%?")


def escape_controls(text: str, keep: str = "") -> str:
    """The text with control characters, except those in `keep`, and surrogates written as escapes."""

    def escape(match: re.Match[str]) -> str:
        return match[0] if match[0] in keep else repr(match[0])[1:-1]

    return escape_surrogates(_CONTROL.sub(escape, text))


def escape_surrogates(text: str) -> str:
    """The text with lone surrogates written as escapes: the byte of a file name as `\\xNN`, others as `\\uNNNN`."""
    return SURROGATE.sub(lambda match: _escape(ord(match[0])), text)


def escape_formula(cell: str) -> str:
    """The cell, behind an apostrophe if a spreadsheet would compute it; plain numbers stay as they are."""
    if _FORMULA.match(cell) and not _PLAIN_NUMBER.fullmatch(cell):
        return f"'{cell}"
    return cell


def _escape(code: int) -> str:
    return f"\\x{code - 0xDC00:02x}" if 0xDC80 <= code <= 0xDCFF else f"\\u{code:04x}"


def amount(count: int, noun: str) -> str:
    """The number and its noun, in the plural unless there is exactly one."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def read_tsv(path: Path, columns: str) -> Iterator[tuple[str, list[str]]]:
    """Yield the place, for error messages, and the fields of every record: a header line, then one per line, no quoting."""
    from aegir_rl.base.errors import AegirError  # whose sentences this module makes printable

    header, *lines = path.read_text(encoding="utf-8").removesuffix("\n").split("\n")
    names = columns.split()
    if header.split("\t") != names:
        raise AegirError(
            f"{path.name}, line 1: columns are {header!r}; expected {'<tab>'.join(names)}"
        )
    for number, line in enumerate(lines, start=2):
        fields = line.split("\t")
        place = f"{path.name}, line {number}"
        if len(fields) != len(names):
            raise AegirError(
                f"{place}: {len(fields)} fields; expected {len(names)} ({', '.join(names)}), "
                "separated by tabs"
            )
        yield place, fields


def parse_json(text: str | bytes) -> Any:
    """Return what JSON text that others wrote holds; raise ValueError for any other, for deep nesting and endless numbers.

    `json.loads` raises RecursionError for deep nesting, and gives numbers that raise OverflowError where they are made a float.
    """
    try:
        return json.loads(text, parse_int=_parse_whole_number)
    except RecursionError:
        raise ValueError("it is nested too deep") from None


def _parse_whole_number(digits: str) -> int:
    if len(digits) > LONGEST_NUMBER:
        raise ValueError(f"the number {digits[:12]}… is longer than {LONGEST_NUMBER} digits")
    return int(digits)
