"""Read the small part of YAML that a routing table is written in, with the place of every text.

    rules:                       mappings by indentation
      - confidence < 0.7 -> unsure      lists of texts
    roles:
      unsure:
        fallback: [ngrams]       lists in brackets
        primary: "combined"      texts, quoted or not; comments

A library would read all of YAML (anchors, tags, block texts) and forget where a text stood, which a sentence about a
wrong condition must name. What is not of this form is refused with its line and column.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from aegir_rl.base.errors import UsageError

_ENTRY = re.compile(r"(?P<key>[A-Za-z_][\w.@-]*)[ ]*:(?:[ ]+(?P<value>.*))?$")
_COMMENT = re.compile(r"(^|\s)#.*$")
_QUOTED = re.compile(r"""(?P<quote>["'])(?P<text>[^"']*)(?P=quote)(?:\s+#.*)?$""")
_OTHER_YAML = ("&", "*", "!", "|", ">", "%", "@", "`", "{", "?")


@dataclass(frozen=True, slots=True)
class Place:
    """Where something stands in a file."""

    file: str
    line: int
    column: int

    def error(self, sentence: str) -> UsageError:
        """Return the error that something here is wrong."""
        return UsageError(f"{self.file}, line {self.line}, column {self.column}: {sentence}")

    def after(self, characters: int) -> "Place":
        """Return the place so many characters further right."""
        return Place(self.file, self.line, self.column + characters)


@dataclass(frozen=True, slots=True)
class Text:
    """A text and where it begins."""

    text: str
    place: Place


@dataclass(frozen=True, slots=True)
class Section:
    """A mapping and where it begins."""

    entries: Mapping[str, "Value"]
    place: Place


Value = Text | tuple[Text, ...] | Section


@dataclass(frozen=True, slots=True)
class _Line:
    indent: int
    text: str
    place: Place


def read_small_yaml(text: str, file: str) -> Section:
    """Return the mapping that the text holds; raise `UsageError` with line and column for anything else."""
    lines = []
    for number, raw in enumerate(text.splitlines(), 1):
        stripped = raw.strip()
        if not stripped or stripped.startswith("#") or stripped == "---":
            continue
        indent = len(raw) - len(raw.lstrip(" "))
        place = Place(file, number, indent + 1)
        if raw[indent] == "\t":
            raise place.error("a tab; expected spaces for indentation")
        lines.append(_Line(indent, raw[indent:].rstrip(), place))
    start = Place(file, 1, 1)
    if not lines:
        raise start.error("nothing is written here; expected a mapping such as `rules:`")
    section, rest = _section(lines, start)
    if rest:
        raise rest[0].place.error(f"{rest[0].text!r} is indented less than what stands before it")
    return section


def _section(lines: list[_Line], place: Place) -> tuple[Section, list[_Line]]:
    """Read the entries of one indentation, and return them with the lines that follow."""
    indent, entries = lines[0].indent, dict[str, Value]()
    while lines and lines[0].indent == indent:
        line, *lines = lines
        entry = _ENTRY.match(line.text)
        if entry is None:
            raise line.place.error(f"{line.text!r} is no entry; expected `name: value`")
        key, value = entry["key"], _without_comment(entry["value"] or "")
        if key in entries:
            raise line.place.error(f"{key!r} is given twice")
        if value:
            entries[key] = _value(value, line.place.after(entry.start("value")))
        else:
            entries[key], lines = _block(lines, line)
    if lines and lines[0].indent > indent:
        raise lines[0].place.error(f"{lines[0].text!r} is indented more than the entry before it")
    return Section(entries, place), lines


def _block(lines: list[_Line], above: _Line) -> tuple[Value, list[_Line]]:
    """Read what stands below an entry without a value: a list or a mapping."""
    if lines and lines[0].text.startswith("-") and lines[0].indent >= above.indent:
        indent, texts = lines[0].indent, []
        while lines and lines[0].indent == indent and lines[0].text.startswith("-"):
            line, *lines = lines
            item = line.text[1:].lstrip()
            place = line.place.after(len(line.text) - len(item))
            if not (line.text[1:2].isspace() and item):
                raise line.place.error(f"{line.text!r} is no item; expected `- text`")
            texts.append(_text(item, place))
        return tuple(texts), lines
    if lines and lines[0].indent > above.indent:
        return _section(lines, lines[0].place)
    raise above.place.error(f"{above.text!r} has no value")


def _value(text: str, place: Place) -> Value:
    if not text.startswith("["):
        return _text(text, place)
    if not text.endswith("]"):
        raise place.error(f"{text!r} has no closing bracket on its line")
    items, at = [], 1
    for item in text[1:-1].split(","):
        if item.strip():
            items.append(_text(item.strip(), place.after(at + len(item) - len(item.lstrip()))))
        at += len(item) + 1
    return tuple(items)


def _text(text: str, place: Place) -> Text:
    if quoted := _QUOTED.match(text):
        return Text(quoted["text"], place.after(1))
    if text.startswith((*_OTHER_YAML, '"', "'")):
        raise place.error(f"{text!r} is YAML that routing tables do not use; expected a plain text")
    return Text(_without_comment(text), place)


def _without_comment(text: str) -> str:
    return text if text.startswith(('"', "'")) else _COMMENT.sub("", text).rstrip()
