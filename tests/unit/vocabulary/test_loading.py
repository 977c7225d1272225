"""The files of the vocabulary: what a correct line becomes, and the sentence for every wrong one."""

import subprocess
import sys
from pathlib import Path

import pytest

from aegir.errors import AegirError
from aegir.vocabulary.terms import HERE, FineType, load_classes, load_terms

HEADER = "name\tparents\tpersonal\tdefinition\texample\tiri"
ABOVE = {"price": ("Thing", "Offer", "price"), "Number": ("DataType", "Number")}


@pytest.fixture
def terms(tmp_path: Path):
    """Load fine types from the given lines."""

    def load(*lines: str, header: str = HEADER) -> dict[str, FineType]:
        path = tmp_path / "terms.tsv"
        path.write_text("\n".join([header, *lines]) + "\n", encoding="utf-8")
        return load_terms(path, FineType, ABOVE)

    return load


def test_a_line_becomes_a_term(terms):
    fare = terms("fare\tprice|Number\tno\tWhat a ride costs.\t2,40 €\thttps://example.org/fare")[
        "fare"
    ]
    assert fare.parents == ("price", "Number")
    assert fare.parent == "price"
    assert fare.path == ("Thing", "Offer", "price", "fare")
    assert (fare.definition, fare.example) == ("What a ride costs.", "2,40 €")
    assert fare.iri == "https://example.org/fare"
    assert not fare.personal


def test_parents_and_iri_may_be_empty(terms):
    badge = terms("badge\t\tidentifies\tThe number on a badge.\t17\t")["badge"]
    assert (badge.parent, badge.iri) == (None, None)
    assert badge.path == ("Thing", "Intangible", "badge")
    assert badge.personal


@pytest.mark.parametrize(
    ("lines", "sentence"),
    [
        (
            ["a\tprize\tno\tA.\t1\t"],
            "terms.tsv, line 2: unknown parent 'prize' of 'a'; parents of fine types are in",
        ),
        (["a\t\tmaybe\tA.\t1\t"], "line 2: personal is 'maybe' for 'a'; expected no, names, "),
        (["a\t\tno\tA.\t1"], "line 2: 5 fields; expected 6 .*, separated by tabs"),
        (["a\t\tno\tA.\t1\t", ""], "line 3: 1 fields; expected 6"),
        (["a\t\tno\tA.\t1\t"] * 2, "line 3: empty or duplicate name 'a'"),
        (["\t\tno\tA.\t1\t"], "line 2: empty or duplicate name ''"),
        (["b\t\tno\tB.\t1\t", "a\t\tno\tA.\t1\t"], "line 3: 'a' stands after 'b'; sort the lines"),
    ],
)
def test_a_wrong_line_is_named_with_its_fault(terms, lines: list[str], sentence: str):
    with pytest.raises(AegirError, match=sentence):
        terms(*lines)


def test_a_wrong_header_is_named_with_the_expected_columns(terms):
    with pytest.raises(
        AegirError, match="line 1: columns are 'name'; expected name<tab>parents<tab>"
    ):
        terms(header="name")


@pytest.mark.parametrize("lines", ["Book\tWork", "Book\tWork\nWork\tBook", "Book\tBook"])
def test_a_class_must_lead_to_a_root(tmp_path: Path, lines: str):
    path = tmp_path / "classes.tsv"
    path.write_text(f"name\tparent\n{lines}\n", encoding="utf-8")
    with pytest.raises(
        AegirError, match=r"line 2: 'Book' lies under '.*', an unknown class or a loop"
    ):
        load_classes(path)


def test_cells_of_the_files_are_trimmed():
    for path in HERE.glob("*.tsv"):
        for line in path.read_text(encoding="utf-8").splitlines():
            assert all(field == field.strip() for field in line.split("\t")), (path.name, line)


def test_help_does_not_load_the_vocabulary():
    code = (
        "import sys\nfrom aegir.cli.main import main\nsys.argv = ['aegir', '--help']\n"
        "try:\n    main()\nfinally:\n    print('aegir.vocabulary.terms' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout.endswith("False\n")
