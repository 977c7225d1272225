"""Taught types: what holds for any name, any head and any scores."""

from pathlib import Path

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from aegir.annotators.custom_types.embedder import Embedder
from aegir.annotators.custom_types.head import Head
from aegir.annotators.custom_types.recognising import WithCustomTypes
from aegir.annotators.custom_types.store import CustomType, file_of
from aegir.annotators.decide import decide
from aegir.annotators.rules_annotator import RulesAnnotator
from aegir.annotators.scores import Explanation, TableScores
from aegir.tables.table import Column, Table
from aegir.vocabulary.terms import RELATION_NAMES, TYPE_NAMES

WIDTH, COLUMNS = 6, 5
TABLE = Table("t", (Column(None, ("",)), *(Column(None, ("x",)),) * (COLUMNS - 1)))


def taught(seed: int, count: int) -> list[CustomType]:
    random = np.random.default_rng(seed)
    return [
        CustomType(
            f"type {i}",
            Head(
                random.normal(size=WIDTH), np.ones(WIDTH), 9 * random.normal(size=WIDTH), 0.3, 3.0
            ),
            "",
            (),
            (),
            5,
        )
        for i in range(count)
    ]


def scores(seed: int) -> tuple[TableScores, np.ndarray]:
    random = np.random.default_rng(seed)
    types = random.dirichlet(np.ones(len(TYPE_NAMES)), COLUMNS).astype(np.float32)
    types[0] = 0
    relations = np.zeros((COLUMNS, len(RELATION_NAMES)), np.float32)
    embeddings = random.normal(size=(COLUMNS, WIDTH)).astype(np.float32)
    return TableScores(types, relations, None, (Explanation(),) * COLUMNS), embeddings


@given(st.integers(0, 10**6), st.integers(1, 4))
def test_claims_and_types_share_what_the_types_had(seed: int, count: int):
    before, embeddings = scores(seed)
    annotator = WithCustomTypes(RulesAnnotator(), taught(seed, count), Embedder((), ""))
    after = annotator.claim(TABLE, before, embeddings)
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
    before, embeddings = scores(seed)
    annotator = WithCustomTypes(RulesAnnotator(), taught(seed, count), Embedder((), ""))
    after = annotator.claim(TABLE, before, embeddings)
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
    embeddings = scores(seed)[1]
    together = head.log_odds(embeddings)
    apart = [head.log_odds(embeddings[i : i + 1])[0] for i in range(COLUMNS)]
    assert np.array_equal(together, apart)


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
