"""What holds when any table is annotated: no text breaks it, no neighbour changes it, doubt only silences."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aegir.answers.annotation import TableAnnotation
from aegir.pipeline.registry import load_annotator
from aegir.pipeline.run import Prepared, annotate_sources
from aegir.pipeline.settings import DEFAULTS
from aegir.readers.calibration import Thresholds
from aegir.readers.ngrams.annotator import NgramsAnnotator
from aegir.readers.scores import LIKELY, Annotator
from aegir.tables.table import Column, Table
from aegir.vocabulary.hierarchy import goes_with, kind_of
from aegir.vocabulary.terms import COLUMN_TYPES, RELATIONS, plain_name
from ngram_models import random_model

CELL = st.one_of(
    st.text(max_size=12),
    st.sampled_from(["", "12.50 EUR", "ann@example.org", "2020-01-02", "+44 20 7946 0018", "Oslo"]),
    st.integers().map(str),
)
HEADER = st.none() | st.text(max_size=8) | st.sampled_from(["name", "e-mail", "price", "Datum"])


@st.composite
def tables(draw: st.DrawFn) -> Table:
    rows = draw(st.integers(0, 6))
    values = st.lists(CELL, min_size=rows, max_size=rows).map(tuple)
    columns = draw(st.lists(st.builds(Column, HEADER, values), max_size=4))
    return Table(draw(st.text(max_size=5)), tuple(columns))


@pytest.fixture(scope="module", params=["the default", "random weights"])
def annotator(request: pytest.FixtureRequest) -> Annotator:
    return load_annotator() if request.param == "the default" else NgramsAnnotator(random_model())


def answers(
    some: list[Table], annotator: Annotator, threshold: float = 0.0
) -> list[TableAnnotation]:
    prepared = Prepared(DEFAULTS, annotator, Thresholds(threshold, threshold))
    found = [each.answer for each in annotate_sources(some, prepared)]
    return [answer for answer in found if isinstance(answer, TableAnnotation)]


@given(some=st.lists(tables(), max_size=4))
@settings(max_examples=60, deadline=None)
def test_every_column_gets_one_well_formed_answer(annotator: Annotator, some: list[Table]):
    for table, answer in zip(some, answers(some, annotator), strict=True):
        assert [column.name for column in answer.columns] == [c.name for c in table.columns]
        for column in answer.columns:
            assert math.isfinite(column.confidence)
            assert 0 <= column.confidence <= 1
            assert column.type is None or column.type in COLUMN_TYPES
            cells = table.columns[column.index]
            if not cells.present and not cells.name:
                blank = ("all_missing", 1.0) if cells.values else (None, 0.0)
                assert (column.label, column.confidence, column.type) == (*blank, None)
            assert column.all_missing == (bool(cells.values) and not cells.present)
            shown = column.type and plain_name(column.type)
            if column.fine_type is None and column.type_confidence < LIKELY:
                assert column.label in (shown, column.kind)
            else:
                assert column.label == (column.fine_type or shown or column.kind)
            assert 0 <= column.type_confidence <= 1
            assert column.kind == (kind_of(column.label) if column.label else None)
            if column.fine_type is not None and column.type is not None:
                assert goes_with(column.fine_type, column.type)
            assert column.relation is None or column.relation.label in RELATIONS
            likelihoods = [guess.confidence for guess in column.runners_up]
            assert likelihoods == sorted(likelihoods, reverse=True)


@given(some=st.lists(tables(), max_size=5), cut=st.integers(0, 5))
@settings(max_examples=40, deadline=None)
def test_cutting_a_list_of_tables_anywhere_changes_no_answer(
    annotator: Annotator, some: list[Table], cut: int
):
    parts = answers(some[:cut], annotator) + answers(some[cut:], annotator)
    assert parts == answers(some, annotator)


@given(table=tables(), threshold=st.floats(0, 1))
@settings(max_examples=40, deadline=None)
def test_a_threshold_silences_answers_and_changes_none(
    annotator: Annotator, table: Table, threshold: float
):
    (free,), (held,) = answers([table], annotator), answers([table], annotator, threshold)
    for one, other in zip(free.columns, held.columns, strict=True):
        assert other.type == (one.type if one.type_confidence >= threshold else None)
        assert other.fine_type in (one.fine_type, None)
        if one.confidence >= threshold:
            assert (other.label, other.confidence) == (one.label, one.confidence)
        sure = one.relation is not None and one.relation.confidence >= threshold
        assert other.relation == (one.relation if sure else None)
