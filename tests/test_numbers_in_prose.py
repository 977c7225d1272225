"""How many types, relations, fine types and rules there are, wherever a page or a docstring says so."""

import re
from pathlib import Path

import pytest

from aegir.lab.data.generators.tables import PAGES, PROPERTIES
from aegir.lab.data.headers import MEANINGS
from aegir.readers.rules.judge import RULES
from aegir.vocabulary.terms import FINE_TYPES, RELATIONS, TYPE_NAMES

ROOT = Path(__file__).parent.parent
PROSE = [
    *ROOT.glob("*.md"),
    *(path for path in (ROOT / "docs").rglob("*.md") if path.name != "log.md"),  # dated entries
    *(ROOT / "src").rglob("*.py"),
]
GENERATED_TYPES = {
    recipe.type
    for recipe in [*PROPERTIES.values(), *(page.subject for page in PAGES.values())]
    if recipe.type
}
COUNTS = {
    "types": {len(TYPE_NAMES), len(GENERATED_TYPES)},
    "column types": {len(TYPE_NAMES)},
    "relations": {len(RELATIONS)},
    "fine types": {len(FINE_TYPES)},
    "finer types": {len(FINE_TYPES)},
    "rules": {len(RULES)},
    "unambiguous headers": {len(MEANINGS)},
    "kinds of page": {len(PAGES)},
}
OTHERS = {
    "50 types",  # the smaller SOTAB benchmark
    "78 types",  # Sherlock's
    "1,667 types",  # columns in one comparison
    "2,789 relations",
}
"""Counts of something else."""
COUNTED = re.compile(rf"(?<![\w.,])(\d[\d,]*)\s({'|'.join(sorted(COUNTS, reverse=True))})\b")


def present_text(path: Path) -> str:
    """What a file says about the present; released versions of the changelog keep their counts."""
    text = path.read_text(encoding="utf-8")
    return (
        re.split(r"^## \d", text, maxsplit=1, flags=re.M)[0] if path.stem == "CHANGELOG" else text
    )


def counts_in(text: str) -> list[tuple[int, str]]:
    """The numbers that stand before one of our nouns."""
    return [
        (int(match[1].replace(",", "")), match[2])
        for match in COUNTED.finditer(text)
        if f"{match[1]} {match[2]}" not in OTHERS
    ]


def test_a_number_is_found_across_lines_and_separators():
    assert counts_in("some 1,240\nrules, 50 types and 82 column types") == [
        (1240, "rules"),
        (82, "column types"),
    ]


def test_counts_in_prose_are_those_of_the_code():
    wrong = [
        f"{path.relative_to(ROOT)}: {count} {noun}, expected {COUNTS[noun]}"
        for path in PROSE
        for count, noun in counts_in(present_text(path))
        if count not in COUNTS[noun]
    ]
    assert not wrong


@pytest.mark.parametrize("noun", ["types", "relations", "finer types", "rules"])
def test_the_readme_says_how_many(noun: str):
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert noun in {each for _, each in counts_in(text)}
