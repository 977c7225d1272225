"""Patches: a solution of a repository task as a unified diff over its files.

    make_patch(files, repaired)        # the text that `diff -u` or `git diff` would give
    apply_patch(files, patch)          # new files; UsageError in one sentence for a patch that does not apply

A hunk applies where its line numbers say, or else at the only place that has its old lines, since writers of patches count
badly. Files may be changed, added and removed, but not those below `tests/`. Headers of git are accepted and ignored. An empty
patch changes nothing. Every file that is changed ends with a line feed; a diff cannot show that an empty file comes or goes.
"""

import difflib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from aegir_rl.base.errors import UsageError

LONGEST_PATCH = 1 << 20
"""Characters."""
PROTECTED = "tests/"
FILE_NAME = re.compile(
    r"(?:[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}/){0,8}[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}"
)
"""A path of plain names, none of which begins with a point."""
_HUNK = re.compile(r"@@ -(\d+)(?:,\d+)? \+\d+(?:,\d+)? @@")
NOTHING = "/dev/null"


@dataclass(slots=True)
class _Hunk:
    start: int
    old: list[str] = field(default_factory=list)
    new: list[str] = field(default_factory=list)


@dataclass(slots=True)
class _FileChange:
    old: str
    new: str
    hunks: list[_Hunk] = field(default_factory=list)


def make_patch(before: Mapping[str, str], after: Mapping[str, str]) -> str:
    """A unified diff that turns the first files into the second."""
    parts: list[str] = []
    for name in sorted({*before, *after}):
        old, new = before.get(name), after.get(name)
        if old == new:
            continue
        lines = difflib.unified_diff(
            _lines(old or ""),
            _lines(new or ""),
            NOTHING if old is None else f"a/{name}",
            NOTHING if new is None else f"b/{name}",
            lineterm="",
        )
        parts += [f"{line}\n" for line in lines]
    return "".join(parts)


def apply_patch(files: Mapping[str, str], patch: str) -> dict[str, str]:
    """The files after the patch; the given ones stay as they are."""
    if len(patch) > LONGEST_PATCH:
        raise UsageError(
            f"the patch has more than {LONGEST_PATCH:,} characters; send a smaller one"
        )
    changed = dict(files)
    for change in _read(patch):
        _check_name(change.new if change.old == NOTHING else change.old)
        if change.new == NOTHING:
            if changed.pop(change.old, None) is None:
                raise UsageError(f"the patch removes {change.old!r}, which is no file of the task")
            continue
        _check_name(change.new)
        if change.old != NOTHING and change.old not in changed:
            raise UsageError(
                f"the patch changes {change.old!r}, which is no file of the task; there are {', '.join(files)}"
            )
        text = "" if change.old == NOTHING else changed.pop(change.old)
        changed[change.new] = _apply(text, change)
    return changed


def _check_name(name: str) -> None:
    if not FILE_NAME.fullmatch(name):
        raise UsageError(
            f"the patch names the file {name[:100]!r}; expected a path such as ledger/reader.py"
        )
    if name.startswith(PROTECTED):
        raise UsageError(f"the patch changes {name!r}; tests are given, change the package instead")


def _read(patch: str) -> Iterator[_FileChange]:
    """The changes of each file."""
    change: _FileChange | None = None
    lines, number = _lines(patch), 0
    while number < len(lines):
        line = lines[number]
        following = lines[number + 1] if number + 1 < len(lines) else ""
        if line.startswith("--- ") and following.startswith("+++ "):
            if change is not None:
                yield change
            change = _FileChange(_name(line), _name(following))
            number += 2
        elif match := _HUNK.match(line):
            if change is None:
                raise UsageError(
                    f"line {number + 1} of the patch is a hunk before any `--- a/FILE` line"
                )
            hunk = _Hunk(int(match[1]))
            number = _read_hunk(lines, number + 1, hunk)
            change.hunks.append(hunk)
        else:
            number += 1  # headers of git, words around the patch
    if change is not None:
        yield change
    elif patch.strip():
        raise UsageError(
            "the answer is no patch; expected a unified diff with `--- a/FILE` and `+++ b/FILE`"
        )


def _read_hunk(lines: list[str], number: int, hunk: _Hunk) -> int:
    """Fill a hunk from its first line on; the number of the line after it."""
    while number < len(lines):
        line = lines[number]
        sign, text = line[:1], line[1:]
        if sign not in ("", " ", "+", "-", "\\") or _begins_file(lines, number):
            break
        if sign in ("", " ", "-"):
            hunk.old.append(text)
        if sign in ("", " ", "+"):
            hunk.new.append(text)
        number += 1
    while hunk.old and hunk.new and hunk.old[-1] == hunk.new[-1] == "" and lines[number - 1] == "":
        hunk.old.pop()  # empty lines after a patch
        hunk.new.pop()
        number -= 1
    return max(number, 1)


def _begins_file(lines: list[str], number: int) -> bool:
    return (
        lines[number].startswith("--- ")
        and number + 1 < len(lines)
        and lines[number + 1].startswith("+++ ")
    )


def _name(line: str) -> str:
    name = line[4:].split("\t")[0].strip()
    return name[2:] if name[:2] in ("a/", "b/") else name


def _apply(text: str, change: _FileChange) -> str:
    lines, shift = _lines(text), 0
    for hunk in change.hunks:
        place = _find(lines, hunk, shift, change.old)
        lines[place : place + len(hunk.old)] = hunk.new
        shift += len(hunk.new) - len(hunk.old)
    return "".join(f"{line}\n" for line in lines)


def _lines(text: str) -> list[str]:
    """Lines without their ends; only a line feed ends one."""
    return text.removesuffix("\n").split("\n") if text else []


def _find(lines: list[str], hunk: _Hunk, shift: int, name: str) -> int:
    """Where the old lines of a hunk stand."""
    size = len(hunk.old)
    stated = max(0, hunk.start - 1 + shift) if size else min(len(lines), hunk.start + shift)
    if lines[stated : stated + size] == hunk.old:
        return stated
    places = [
        place for place in range(len(lines) - size + 1) if lines[place : place + size] == hunk.old
    ]
    if len(places) != 1:
        count = "nowhere" if not places else f"in {len(places)} places"
        first = next((line for line in hunk.old if line.strip()), "")
        raise UsageError(
            f"a hunk of the patch for {name!r} fits {count} (it begins with {first[:60]!r}); repeat the lines of the file exactly"
        )
    return places[0]
