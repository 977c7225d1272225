"""No name of the benchmark's own stands in what people read."""

import re

import numpy as np
import pytest

from aegir.answers.annotation import TableAnnotation, annotation_as_dict, annotation_from_dict
from aegir.answers.text_report import render_text
from aegir.answers.writers import FORMATS
from aegir.memory.review import check_label
from aegir.pipeline.decide import decide
from aegir.pipeline.search import describe_path
from aegir.readers.scores import TableScores, explain_networks, explain_scores
from aegir.tables.table import Column, Table
from aegir.vocabulary.hierarchy import is_right, kind_of, meanings_of
from aegir.vocabulary.terms import FINE_NAMES, RELATION_NAMES, TYPE_NAMES, plain_name

LETTERS = "abcdefghijklmnopqrstuvwxyz"
JARGON = re.compile(r"[A-Za-z]AT\b")


def answers() -> TableAnnotation:
    """A table with a column of every type."""
    count = len(TYPE_NAMES)
    types = np.eye(count, dtype=np.float32) * np.float32(0.9)
    names = np.zeros((count, len(FINE_NAMES)), np.float32)
    table = Table(
        "t",
        tuple(Column(f"q{LETTERS[i // 26]}{LETTERS[i % 26]}", (str(i), "x")) for i in range(count)),
    )
    reasons = explain_networks(table.columns, types, names)
    by_values = explain_scores(np.roll(types, 1, axis=0), types)
    reasons = tuple(
        type(one)(None, (*one.evidence, *other.evidence))
        for one, other in zip(reasons, by_values, strict=True)
    )
    relations = np.zeros((count, len(RELATION_NAMES)), np.float32)
    scores = TableScores(types, relations, None, reasons, fine=names, web=0.0)
    assert not any(JARGON.search(describe_path(scores, row)) for row in range(count))
    return decide(table, scores, "fake")


def test_the_type_keeps_its_name_and_the_label_is_plain():
    columns = answers().columns
    assert [column.type for column in columns] == list(TYPE_NAMES)
    assert [column.label for column in columns] == [plain_name(name) for name in TYPE_NAMES]
    assert plain_name("IdentifierAT") == "identifier"
    assert plain_name("MusicArtistAT") == "music_artist"
    assert plain_name("a user's FLAT") == "a user's FLAT"


def test_no_label_reason_or_runner_up_of_the_whole_vocabulary_is_jargon():
    for column in answers().columns:
        said = [column.label or "", *column.reasons, *(guess.label for guess in column.runners_up)]
        assert not any(map(JARGON.search, said)), said


@pytest.mark.parametrize("name", ["text", "html", "openmetadata", "datahub", "sql", "dbt"])
def test_no_document_for_people_shows_jargon(name: str):
    annotation = answers()
    text = (
        render_text([annotation], colour=False, why=True)
        if name == "text"
        else FORMATS[name]([annotation])
    )
    shown = re.sub(r'"?type"?: "?[A-Za-z/]+"?', "", text)  # the field of that name keeps it
    assert not JARGON.findall(shown)


def test_labels_of_earlier_answers_are_read_as_plain_ones():
    annotation = answers()
    data = annotation_as_dict(annotation)
    for column in data["columns"]:  # type: ignore[attr-defined]
        column["label"] = column["type"]
    assert annotation_from_dict(data).columns[26].label == "identifier"


@pytest.mark.parametrize("name", ["CoordinateAT", "IdentifierAT", "MusicArtistAT"])
def test_plain_names_are_names_that_can_be_given_back(name: str):
    check_label(plain_name(name))
    assert kind_of(plain_name(name)) == kind_of(name)
    assert is_right(plain_name(name), name)
    assert is_right(name, plain_name(name))
    assert meanings_of(plain_name(name))
