"""The files of the vocabulary: what a correct line becomes, and the sentence for every wrong one."""

import subprocess
import sys
from pathlib import Path

import pytest

from aegir.vocabulary.terms import (
    HERE,
    FineType,
    load_classes,
    load_kinds,
    load_renamed,
    load_terms,
)
from aegir_rl.base.errors import AegirError

HEADER = "name\tkind\tparents\tpersonal\tdefinition\texample\tiri"
ABOVE = {
    "-": ("Thing", "Intangible"),
    "price": ("Thing", "Offer", "price"),
    "Number": ("DataType", "Number"),
}


@pytest.fixture
def terms(tmp_path: Path):
    """Load fine types from the given lines."""

    def load(*lines: str, header: str = HEADER) -> dict[str, FineType]:
        path = tmp_path / "terms.tsv"
        path.write_text("\n".join([header, *lines]) + "\n", encoding="utf-8")
        return load_terms(path, FineType, ABOVE)

    return load


def test_a_line_becomes_a_term(terms):
    line = "fare\tmoney\tprice|-|Number\tno\tWhat a ride costs.\t2,40 €\thttps://example.org/fare"
    fare = terms(line)["fare"]
    assert (fare.kind, fare.parent, fare.types) == ("money", "price", ("price", "Number"))
    assert fare.may_have_no_type
    assert fare.path == ("Thing", "Offer", "price", "fare")
    assert (fare.definition, fare.example) == ("What a ride costs.", "2,40 €")
    assert fare.iri == "https://example.org/fare"
    assert not fare.personal


def test_a_fine_type_may_go_with_no_type_and_its_iri_may_be_empty(terms):
    badge = terms("badge\tidentifier\t-\tidentifies\tThe number on a badge.\t17\t")["badge"]
    assert (badge.parent, badge.types, badge.iri) == (None, (), None)
    assert badge.may_have_no_type
    assert badge.path == ("Thing", "Intangible", "badge")


@pytest.mark.parametrize(
    ("word", "personal", "level", "if_personal"),
    [
        ("no", False, None, "about"),
        ("identifies", True, "direct", "direct"),
        ("locates", True, "indirect", "indirect"),
        ("locates?", False, None, "indirect"),
    ],
)
def test_the_word_says_whether_a_column_is_personal_and_how(
    terms, word: str, personal: bool, level: str | None, if_personal: str
):
    seat = terms(f"seat\tplace\t-\t{word}\tA seat.\t17B\t")["seat"]
    assert (seat.personal, seat.personal_level) == (personal, level)
    assert seat.if_personal.level == if_personal
    assert seat.personal_reason == (seat.if_personal.reason if personal else None)


@pytest.mark.parametrize(
    ("lines", "sentence"),
    [
        (
            ["a\tmoney\tprize\tno\tA.\t1\t"],
            "terms.tsv, line 2: unknown parent 'prize' of 'a'; parents of fine types are in",
        ),
        (["a\ttext\t\tno\tA.\t1\t"], "line 2: unknown parent '' of 'a'"),
        (["a\ttexts\t-\tno\tA.\t1\t"], "line 2: kind is 'texts' for 'a'; expected category, "),
        (["a\ttext\t-\tmaybe\tA.\t1\t"], "line 2: personal is 'maybe' for 'a'; expected no, n"),
        (["a\ttext\t-\tno?\tA.\t1\t"], "line 2: personal is 'no\\?' for 'a'; expected no, n"),
        (["a\ttext\t-\tno\tA.\t1"], "line 2: 6 fields; expected 7 .*, separated by tabs"),
        (["a\ttext\t-\tno\tA.\t1\t", ""], "line 3: 1 fields; expected 7"),
        (["a\ttext\t-\tno\tA.\t1\t"] * 2, "line 3: empty or duplicate name 'a'"),
        (["\ttext\t-\tno\tA.\t1\t"], "line 2: empty or duplicate name ''"),
        (
            ["b\ttext\t-\tno\tB.\t1\t", "a\ttext\t-\tno\tA.\t1\t"],
            "line 3: 'a' stands after 'b'; sort the lines",
        ),
    ],
)
def test_a_wrong_line_is_named_with_its_fault(terms, lines: list[str], sentence: str):
    with pytest.raises(AegirError, match=sentence):
        terms(*lines)


def test_a_wrong_header_is_named_with_the_expected_columns(terms):
    with pytest.raises(AegirError, match="line 1: columns are 'name'; expected name<tab>kind<tab>"):
        terms(header="name")


def test_kinds_are_sorted(tmp_path: Path):
    path = tmp_path / "kinds.tsv"
    path.write_text(
        "name\tpersonal\tdefinition\texample\nb\tno\tB.\t1\na\tno\tA.\t1\n", encoding="utf-8"
    )
    with pytest.raises(AegirError, match="line 3: 'a' stands after 'b'"):
        load_kinds(path)


@pytest.mark.parametrize(("old", "name"), [("iban", "bic"), ("bank account", "ibann")])
def test_a_renamed_type_has_an_unknown_name_and_a_known_one(tmp_path: Path, old: str, name: str):
    path = tmp_path / "renamed.tsv"
    path.write_text(f"old_name\tname\n{old}\t{name}\n", encoding="utf-8")
    with pytest.raises(AegirError, match=f"line 2: '{old}' is a fine type still, or '{name}' is"):
        load_renamed(path)


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
