"""The page of the vocabulary."""

from aegir.vocabulary.page import page
from aegir.vocabulary.terms import COLUMN_TYPES, FINE_TYPES, KINDS, RELATIONS


def test_every_row_has_as_many_cells_as_the_header_of_its_table():
    blocks = [block.splitlines() for block in page().split("\n\n") if block.startswith("|")]
    assert len(blocks) == 5
    for block in blocks:
        assert len({line.replace("\\|", "").count("|") for line in block}) == 1, block[0]


def test_the_tree_names_everything_but_relations_once():
    tree = page().split("## The tree")[1].split("## Column types")[0]
    lines = [line.strip().removeprefix("- ") for line in tree.splitlines() if "- " in line]
    kinds = [line.split("**")[1] for line in lines if line.startswith("**")]
    assert kinds == list(KINDS)
    below = [
        line.replace("*others*: ", "").replace(": ", ", ") for line in lines if line[:2] != "**"
    ]
    names = [name for line in below for name in line.split(", ")]
    assert sorted(names) == sorted([*COLUMN_TYPES, *FINE_TYPES])


def test_every_term_is_explained():
    text = page()
    for term in [*COLUMN_TYPES.values(), *FINE_TYPES.values(), *RELATIONS.values()]:
        assert f" {term.definition} ".replace("|", "\\|") in text, term.name
