"""Special categories: what terms and words of headers tell, and files that cannot be read."""

from pathlib import Path

import pytest

from aegir.vocabulary.special import (
    PATH,
    load_special,
    special_header,
    special_term,
    special_words,
)
from aegir.vocabulary.terms import SPECIAL_CATEGORIES
from aegir_rl.base.errors import AegirError


def test_terms_have_their_category():
    assert special_term("disease") == "health"
    assert special_term("ethnicity") == "ethnicity"
    assert special_term("city") is None
    assert special_term(None, "jobTitle") is None


@pytest.mark.parametrize(
    ("header", "category"),
    [
        ("smoking status", "health"),
        ("krankheiten", "health"),
        ("宗教信仰", "religion"),
        ("trade union", "union"),
        ("handicapé", "disability"),
        ("political views", "politics"),
        ("empreinte digitale", "biometric"),
        ("судимость", "crime"),
        ("haplotype", "genetic"),
        ("sexual orientation", "sexual_life"),
        ("race", "ethnicity"),
    ],
)
def test_words_of_headers_have_their_category(header: str, category: str):
    assert special_words(header.split()) == category


@pytest.mark.parametrize("header", ["reunion", "price", "racetrack", "partying", "healthiness"])
def test_a_word_is_not_found_within_another(header: str):
    assert special_words([header]) is None


def test_a_whole_header_names_a_category():
    assert special_header(["religion"]) == special_header(["konfession"]) == "religion"
    assert special_header(["criminal", "record"]) == "crime"
    assert special_header(["religion", "id"]) is None
    assert special_header([]) is None


def test_whole_headers_are_of_a_special_category_by_their_words_too_or_have_none():
    for header, category in load_special(PATH).headers.items():
        assert special_words(header.split()) in (category, None), header


def test_every_category_has_words():
    assert set(load_special(PATH).words) == set(SPECIAL_CATEGORIES)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("wealth\twords\trich", "'wealth' of 'words'"),
        ("health\tphrases\till", "'health' of 'phrases'"),
        ("health\tterms\tillness", "'illness' is neither a fine type nor a relation"),
    ],
)
def test_unknown_names_are_refused(tmp_path: Path, line: str, said: str):
    path = tmp_path / "special.tsv"
    path.write_text(f"category\tof\tnames\n{line}\n", "utf-8")
    with pytest.raises(AegirError, match=said):
        load_special(path)
