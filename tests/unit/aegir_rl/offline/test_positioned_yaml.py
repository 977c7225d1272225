"""The reader of plain entries beside PyYAML, which reads everything."""

import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aegir.routing.decisions import SHIPPED, load_routing
from aegir_rl.base.errors import UsageError
from aegir_rl.offline import positioned_yaml
from aegir_rl.offline.positioned_yaml import Position, Section, read_plain, read_yaml

PIECES = (
    "rules:",
    "role: x",
    "- a -> b",
    "-  c >= 0.5",
    "cost: 1",
    "# note",
    "x: y # note",
    "x: y#z",
    "- k: v",
    "a:b",
    "k: [a, b]",
    "k: 'a'",
    "more text",
    "no: no",
    "1: -2",
    "",
    "k: a\tb",
    "- x ",
    "---",
    "-",
    "k: é",
    "&x k: v",
)
LINES = st.tuples(st.sampled_from((0, 0, 0, 1, 2, 2, 4)), st.sampled_from(PIECES))


def by_yaml(text: str) -> Section:
    """What `read_yaml` returns when nothing is plain."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(positioned_yaml, "read_plain", lambda *_: None)
        return read_yaml(text, "t")


@given(st.lists(LINES, max_size=8))
def test_what_is_read_as_plain_is_what_yaml_reads(lines: list[tuple[int, str]]):
    text = "\n".join(" " * indent + piece for indent, piece in lines)
    plain = read_plain(text, "t")
    if plain is not None:
        assert plain == by_yaml(text)


def test_plain_entries_are_read_with_their_positions():
    text = "# who\nroles:\n  sure:   # often\n    primary: ngrams\nrules:\n- a > 1 -> b\n"
    section = read_plain(text, "t")
    assert section is not None
    roles = section.entries["roles"]
    assert isinstance(roles, Section)
    assert roles.position == Position("t", 3, 3)
    assert section == by_yaml(text)


@pytest.mark.parametrize(
    "text",
    ["", "a: [b]", "a: 'b'", "a:\n", "a: b\na: c", "a: b\n  c: d", "- a", " a: b", "a: b\n more"],
)
def test_what_is_not_plain_is_left_to_yaml(text: str):
    assert read_plain(text, "t") is None


def test_the_table_that_ships_needs_no_yaml(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "yaml", None)
    assert load_routing(None, ("ngrams", "combined", "byte_model")).rules
    with pytest.raises(UsageError, match="need PyYAML"):
        read_yaml("a: [b]", SHIPPED)
