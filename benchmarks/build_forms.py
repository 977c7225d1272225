"""Write tables/forms.tsv: what values have that the patterns of the rules can match (readers/rules/forms.py).

    python -m benchmarks.build_forms

A pattern is walked as Python's parser sees it. A class of characters gives the traits that all of its characters have and those that any
has, tried out on `_ALPHABET` with the flags of the pattern; sequences add up, alternatives are forms of their own. A look-ahead only adds
needs; what is forbidden by a negative one is ignored: a form may be too wide, never too narrow.
"""

import re
from collections.abc import Iterable
from functools import cache
from importlib import import_module
from typing import Any

from aegir.readers.rules.column_summary import LONGEST_CELL, character_traits
from aegir.readers.rules.forms import ALL_TRAITS, FORMS, Form, write_forms
from aegir.readers.rules.numbers import NATIONAL_PATTERNS
from aegir.readers.rules.rule import PATTERNS, Pattern

MOST_FORMS = 16
"""Forms of a pattern or of a part of it; beyond, they are joined into one."""
SEARCHED = ("occupation", "servings", "week_hours", "pay")
"""Patterns that may stand anywhere in a value of a rule."""
_parser, _compiler = import_module("re._parser"), import_module("re._compiler")
_EMPTY = Form(0, 0, 0, 0)
_SPANS = ((0, 0x2C00), (0x3000, 0x3100), (0x4E00, 0x4E80), (0xAC00, 0xAC20), (0xFE00, 0x10000))
_ALPHABET = [
    chr(code)
    for start, end in (*_SPANS, (0x1D7CE, 0x1D800), (0x1F000, 0x1FB00))
    for code in range(start, end)
]


def build_forms() -> str:
    """Return the text of forms.tsv for the patterns as they are."""
    forms = {name: forms_of(pattern) for name, pattern in PATTERNS.items()}
    for name in SEARCHED:
        forms[f"{name}.search"] = forms_of(PATTERNS[name], search=True)
    forms |= {name: forms_of(pattern) for name, pattern in NATIONAL_PATTERNS.items()}
    told = {name: each for name, each in forms.items() if each != [Form()]}
    return write_forms(dict(told))


def forms_of(pattern: Pattern, *, search: bool = False) -> list[Form]:
    """Return the forms of the values that a pattern matches whole, or in which it is found."""
    source, flags = pattern.parts()
    tree = _parser.parse(source, flags)
    forms = _sequence(tree, tree.state.flags, "".join(c for c in source if c > "\x7f"))
    if search:
        forms = [form._replace(allows=ALL_TRAITS, most=LONGEST_CELL) for form in forms]
    capped = {form._replace(most=min(form.most, LONGEST_CELL)) for form in forms}
    return sorted(one for one in capped if not any(_is_within(one, o) for o in capped - {one}))


def _is_within(narrow: Form, wide: Form) -> bool:
    return (
        narrow.needs & wide.needs == wide.needs
        and not narrow.allows & ~wide.allows
        and wide.least <= narrow.least <= narrow.most <= wide.most
    )


def _sequence(items: Any, flags: int, others: str) -> list[Form]:
    forms = [_EMPTY]
    for operation, argument in items:
        parts = _item(str(operation), operation, argument, flags, others)
        if len(forms) * len(parts) > MOST_FORMS:
            parts = [_join(parts)]
        forms = list(dict.fromkeys(_add(one, other) for one in forms for other in parts))
    return forms


def _item(name: str, operation: Any, argument: Any, flags: int, others: str) -> list[Form]:
    if name in ("LITERAL", "NOT_LITERAL", "IN", "ANY"):
        return [_of_class(_Atom(operation, argument), flags, others)]
    if name in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
        least, most, items = argument
        return [_repeated(_join(_sequence(items, flags, others)), int(least), int(most))]
    if name == "BRANCH":
        forms = [form for branch in argument[1] for form in _sequence(branch, flags, others)]
        return list(dict.fromkeys(forms)) if len(forms) <= MOST_FORMS else [_join(forms)]
    if name == "SUBPATTERN":
        _, added, removed, items = argument
        return _sequence(items, (flags | added) & ~removed, others)
    if name == "ATOMIC_GROUP":
        return _sequence(argument, flags, others)
    if name == "ASSERT" and argument[0] == 1:
        return [Form(_join(_sequence(argument[1], flags, others)).needs, 0, 0, 0)]
    if name == "GROUPREF":
        return [Form(0, 0, 0, LONGEST_CELL)]
    assert name in ("ASSERT", "ASSERT_NOT", "AT"), f"no form is known for {name}"
    return [_EMPTY]


class _Atom:
    """A class of characters in the parser's words."""

    def __init__(self, operation: Any, argument: Any) -> None:
        self.operation, self.argument = operation, argument

    def __hash__(self) -> int:
        return hash(repr((self.operation, self.argument)))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Atom) and hash(self) == hash(other)


@cache
def _of_class(atom: _Atom, flags: int, others: str) -> Form:
    state = _parser.State()
    state.flags = flags
    item = _parser.SubPattern(state, [(atom.operation, atom.argument)])
    matches = _compiler.compile(item, flags & ~re.DEBUG).fullmatch
    traits = {character_traits(c) for c in {*_ALPHABET, *others} if matches(c)}
    assert traits, f"no character of the alphabet matches {atom.argument}"
    needs, allows = ALL_TRAITS, 0
    for each in traits:
        needs, allows = needs & each, allows | each
    return Form(needs, allows, 1, 1)


def _repeated(form: Form, least: int, most: int) -> Form:
    return Form(
        form.needs if least else 0, form.allows, form.least * least, _times(form.most, most)
    )


def _times(length: int, count: int) -> int:
    return min(length * count, LONGEST_CELL)


def _add(one: Form, other: Form) -> Form:
    return Form(
        one.needs | other.needs,
        one.allows | other.allows,
        one.least + other.least,
        min(one.most + other.most, LONGEST_CELL),
    )


def _join(forms: Iterable[Form]) -> Form:
    needs, allows, least, most = ALL_TRAITS, 0, LONGEST_CELL, 0
    for form in forms:
        needs, allows = needs & form.needs, allows | form.allows
        least, most = min(least, form.least), max(most, form.most)
    return Form(needs, allows, least, most)


if __name__ == "__main__":
    FORMS.write_text(build_forms(), encoding="utf-8")
