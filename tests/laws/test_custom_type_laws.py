"""Taught types: what holds for any name, any head and any scores."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from aegir.pipeline.custom_types.evidence import EvidenceFitter
from aegir.pipeline.custom_types.head import ExampleReadings, Others, TypeHead, fit_head
from aegir.pipeline.custom_types.reader import Reader
from aegir.pipeline.custom_types.recognising import WithCustomTypes
from aegir.pipeline.custom_types.store import CustomType, file_of
from aegir.pipeline.decide import decide
from aegir.readers.ngrams.network import ColumnReadings
from aegir.readers.rules.annotator import RulesAnnotator
from aegir.readers.scores import Explanation, TableScores
from aegir.tables.table import Column, Table
from aegir.vocabulary.terms import RELATION_NAMES, TYPE_NAMES
from taught_types import cloud, random_evidence

COLUMNS = 5
TABLE = Table("t", (Column(None, ("",)), *(Column(None, ("x",)),) * (COLUMNS - 1)))


class NoModel:
    """Reads nothing: readings are given."""

    def read(self, tables: Sequence[Table]) -> list[ColumnReadings]:
        raise AssertionError(tables)


def taught(seed: int, count: int) -> list[CustomType]:
    random = np.random.default_rng(seed)
    return [
        CustomType(
            f"type {i}",
            TypeHead(random_evidence(seed + i), 9 * random.normal(size=4), 0.3, 3.0),
            "",
            (),
            (),
            5,
        )
        for i in range(count)
    ]


def scores(seed: int) -> tuple[TableScores, ColumnReadings]:
    random = np.random.default_rng(seed)
    types = random.dirichlet(np.ones(len(TYPE_NAMES)), COLUMNS).astype(np.float32)
    types[0] = 0
    relations = np.zeros((COLUMNS, len(RELATION_NAMES)), np.float32)
    readings = cloud(COLUMNS, float(random.normal()), seed, "bed")
    return TableScores(types, relations, None, (Explanation(),) * COLUMNS), readings


@given(st.integers(0, 10**6), st.integers(1, 4))
def test_claims_and_types_share_what_the_types_had(seed: int, count: int):
    before, readings = scores(seed)
    annotator = WithCustomTypes(RulesAnnotator(), taught(seed, count), Reader(NoModel(), ""))
    after = annotator.claim(TABLE, before, readings)
    claims = after.custom or ((),) * COLUMNS
    assert not claims[0]
    for was, now, claimed in zip(before.types[1:], after.types[1:], claims[1:], strict=True):
        total = sum(one.confidence for one in claimed)
        assert now.sum() + total * was.sum() <= 1 + 1e-5
        assert np.allclose(now, was * (1 - total), atol=1e-6)
        if not claimed:
            assert np.array_equal(was, now)


@given(st.integers(0, 10**6), st.integers(1, 4))
def test_a_claimed_column_is_answered_with_the_surest_claim(seed: int, count: int):
    before, readings = scores(seed)
    annotator = WithCustomTypes(RulesAnnotator(), taught(seed, count), Reader(NoModel(), ""))
    after = annotator.claim(TABLE, before, readings)
    answers = decide(TABLE, after, "x").columns
    for claimed, column in zip(after.custom, answers, strict=False):
        confidences = [one.confidence for one in claimed]
        assert confidences == sorted(confidences, reverse=True)
        if claimed:
            assert column.type == claimed[0].name
            assert all(column.confidence >= guess.confidence for guess in column.runners_up)


@given(st.integers(0, 10**6))
def test_log_odds_of_a_column_do_not_depend_on_its_neighbours(seed: int):
    head = taught(seed, 1)[0].head
    readings = scores(seed)[1]
    together = head.log_odds(readings)
    apart = [head.log_odds(readings.at([i]))[0] for i in range(COLUMNS)]
    assert np.array_equal(together, apart)
    assert (together <= head.ceiling).all()


@given(st.lists(st.text(), min_size=1, max_size=5), st.lists(st.text(), max_size=5))
def test_likeness_of_headers_is_a_share_whatever_they_are(shown: list[str], asked: list[str]):
    known, examples = cloud(3, 0, 0, "city"), cloud(len(shown), 0, 1)
    given_headers = replace(examples, headers=tuple(shown))
    headers = EvidenceFitter(known, np.ones(3), 3, [0] * 3).fit(given_headers, examples).headers
    found = headers.measure([*asked, *shown])
    assert ((found >= 0) & (found <= 1 + 1e-9)).all()
    assert headers.measure([""]).tolist() == [0]


@settings(deadline=None, max_examples=20)
@given(st.integers(0, 10**6), st.integers(5, 12), st.floats(0, 20))
def test_a_fitted_head_never_exceeds_what_its_examples_support(seed: int, count: int, at: float):
    examples, others = cloud(count, at, seed, "bed"), cloud(60, 0, seed + 1, "city")
    fitted = fit_head(
        ExampleReadings(examples, examples, examples, range(count)),
        Others(others, np.ones(60), range(60), 60),
    )
    for log_odds in (fitted.examples, fitted.headless, fitted.others):
        assert np.isfinite(log_odds).all()
        assert (log_odds <= np.log(count + 1) + 1e-9).all()
    assert (fitted.head.weights >= 0).all()


@given(st.text(), st.text())
def test_any_name_has_a_file_of_its_own_inside_the_folder(first: str, second: str):
    folder = Path("/keep/types")
    paths = [file_of(folder, name) for name in (first, second)]
    assert (paths[0] == paths[1]) == (first == second)
    for path in paths:
        assert path.parent == folder
        assert path.name.isascii()
        assert len(path.name) < 60
        assert path.suffix == ".json"
