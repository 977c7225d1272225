"""Read a YAML file of nested mappings, lists and texts, with the position of every text.

    section = read_yaml("rules:\\n  - otherwise -> ngrams", "routing.yaml")
    section.entries["rules"][0].position.error("unknown role")     # routing.yaml, line 2, column 5: unknown role

Promises
  - every scalar stays the text that is written: `no` is no boolean, and nothing is constructed from it;
  - anchors, aliases, tags, block texts, a key that is given twice, an entry without a value and text longer than
    `LONGEST` are refused with line and column.

A text of plain entries alone, such as the table that ships, is read here (`read_plain`). For any other PyYAML is imported, which
takes 10 ms; the library itself needs numpy only.
"""

import re
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from aegir_rl.base.errors import UsageError

LONGEST = 1 << 16
"""Characters of a file; a routing table has a few hundred."""


@dataclass(frozen=True, slots=True)
class Position:
    """A line and a column of a file, counted from 1."""

    file: str
    line: int
    column: int

    def error(self, sentence: str) -> UsageError:
        """Return the error that something here is wrong."""
        return UsageError(f"{self.file}, line {self.line}, column {self.column}: {sentence}")

    def after(self, characters: int) -> "Position":
        """Return the position so many characters further right."""
        return Position(self.file, self.line, self.column + characters)


@dataclass(frozen=True, slots=True)
class Text:
    """A text and where it begins."""

    text: str
    position: Position


@dataclass(frozen=True, slots=True)
class Section:
    """A mapping and where it begins."""

    entries: Mapping[str, "Value"]
    position: Position


Value = Text | tuple[Text, ...] | Section


def read_yaml(text: str, file: str) -> Section:
    """Return the mapping that the text holds; raise `UsageError` with line and column for anything else."""
    start = Position(file, 1, 1)
    if len(text) > LONGEST:
        raise start.error(f"the text is longer than {LONGEST:,} characters")
    if (plain := read_plain(text, file)) is not None:
        return plain
    root = _compose(text, start)
    if root is None:
        raise start.error("nothing is written here; expected a mapping such as `rules:`")
    section = _value(root, start)
    if isinstance(section, Section):
        return section
    entry = repr(section.text) if isinstance(section, Text) else "a list"
    raise start.error(f"{entry} is no entry; expected `name: value`")


_COMMENT = re.compile(r"(?:^|(?<= ))#.*")
_PLAIN = r"[A-Za-z0-9](?:[\w .<>=+-]*[\w.])?"
_LINE = re.compile(
    rf"(?P<indent> *)(?:- +(?P<item>{_PLAIN})|(?P<key>\w+):(?: +(?P<text>{_PLAIN}))?) *", re.A
)


def read_plain(text: str, file: str) -> Section | None:
    """Return the mapping of a text of plain entries; None for one that needs more of YAML, or has something wrong."""
    lines: _PlainLines = deque()
    for number, line in enumerate(text.split("\n"), 1):
        if not (written := _COMMENT.sub("", line)).strip(" "):
            continue
        if (match := _LINE.fullmatch(written)) is None:
            return None
        lines.append((number, match))
    if not lines or lines[0][1]["indent"]:
        return None
    section = _plain_section(lines, file)
    return None if lines else section


_PlainLines = deque[tuple[int, re.Match[str]]]


def _plain_section(lines: _PlainLines, file: str) -> Section | None:
    """Return the mapping that the first line begins, without whose lines the rest is left; None if it is not plain."""
    indent = lines[0][1]["indent"]
    start = Position(file, lines[0][0], len(indent) + 1)
    entries: dict[str, Value] = {}
    while lines and lines[0][1]["indent"] == indent and lines[0][1]["key"]:
        number, match = lines.popleft()
        value: Value | None = None
        if match["text"]:
            value = Text(match["text"], Position(file, number, match.start("text") + 1))
        elif lines and lines[0][1]["item"] and lines[0][1]["indent"] >= indent:
            value = _plain_list(lines, file)
        elif lines and len(lines[0][1]["indent"]) > len(indent):
            value = _plain_section(lines, file)
        if value is None or match["key"] in entries:
            return None
        entries[match["key"]] = value
    return Section(entries, start) if entries else None


def _plain_list(lines: _PlainLines, file: str) -> tuple[Text, ...]:
    """Return the texts of the list that the first line begins, without whose lines the rest is left."""
    indent, items = lines[0][1]["indent"], []
    while lines and lines[0][1]["item"] and lines[0][1]["indent"] == indent:
        number, match = lines.popleft()
        items.append(Text(match["item"], Position(file, number, match.start("item") + 1)))
    return tuple(items)


def _compose(text: str, start: Position) -> Any:
    """Return the tree of nodes, None for a text without any."""
    try:
        import yaml
    except ImportError:
        raise UsageError(
            "routing tables need PyYAML; install it with: pip install 'aegir-rl[yaml]'"
        ) from None

    class PlainLoader(yaml.SafeLoader):  # type: ignore[misc]  # PyYAML has no types
        """Composes nodes and refuses what may stand for something that is not written there."""

        def compose_node(self, parent: Any, index: Any) -> Any:
            event = self.peek_event()
            if (
                event.anchor
                or getattr(event, "tag", None)
                or getattr(event, "style", "") in ("|", ">")
            ):
                mark = event.start_mark
                shown = text.splitlines()[mark.line][mark.column :].rstrip()
                raise _position(mark, start).error(
                    f"{shown!r} is YAML that routing tables do not use; expected a plain text"
                )
            return super().compose_node(parent, index)

    try:
        return yaml.compose(text, Loader=PlainLoader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        within = f" ({error.context})" if error.context else ""
        raise _position(mark, start).error(f"{error.problem}{within}") from None
    except yaml.reader.ReaderError as error:
        before = text[: error.position].splitlines() or [""]
        position = Position(start.file, len(before), len(before[-1]) + 1)
        raise position.error(f"the character {chr(error.character)!r} is not allowed") from None
    except RecursionError:
        raise start.error("the text is nested too deep") from None


def _position(mark: Any, start: Position) -> Position:
    return Position(start.file, mark.line + 1, mark.column + 1)


def _value(node: Any, start: Position) -> Value:
    """Return what a node holds."""
    position = _position(node.start_mark, start)
    if node.id == "scalar":
        return Text(node.value, position.after(1) if node.style else position)
    if node.id == "sequence":
        return tuple(_text(item, start) for item in node.value)
    entries: dict[str, Value] = {}
    for key_node, value in node.value:
        key = _text(key_node, start)
        if key.text in entries:
            raise key.position.error(f"{key.text!r} is given twice")
        if value.id == "scalar" and not value.value and not value.style:
            raise key.position.error(f"'{key.text}:' has no value")
        entries[key.text] = _value(value, start)
    return Section(entries, position)


def _text(node: Any, start: Position) -> Text:
    value = _value(node, start)
    if not isinstance(value, Text):
        raise _position(node.start_mark, start).error("expected a plain text")
    return value
