"""What every annotator promises, checked over every annotator that is registered."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from aegir.pipeline.decide import decide
from aegir.pipeline.registry import ANNOTATORS, load_annotator
from aegir.pipeline.settings import AnnotationSettings
from aegir.readers.scores import Annotator, TableScores
from aegir.tables.table import Column, Table
from aegir.vocabulary.terms import FINE_NAMES, RELATION_NAMES, TYPE_NAMES
from command_line import run_process
from swarm_folders import LAYOUT, OTHER_LAYOUT, save_random_swarm, shipped_network

PARTS = ("types", "relations", "fine", "personal")
OTHER_PARTS = ("subject", "web", "explanations", "routing", "notes")
CITIES = ("Oslo", "Rome", "Bonn", "Lima", "Quito", "Hanoi", "Accra")
PEOPLE = Table(
    "people",
    (
        Column(
            "name", ("Ann Lee", "Bob Ray", "Eve Fox", "Max Orr", "Kim Day", "Joe Bly", "Pat Moe")
        ),
        Column("e-mail", tuple(f"user{number}@example.org" for number in range(7))),
        Column("born", tuple(f"19{60 + number}-0{number + 1}-12" for number in range(7))),
        Column("city", CITIES),
        Column(None, ("12.50", "", "3.99", "7.00", "1.25", "", "88.10")),
    ),
)
AWKWARD = {
    "no columns": Table("none", ()),
    "one column": Table("one", (Column("city", CITIES),)),
    "empty columns": Table("empty", (Column("a", ()), Column(None, ()))),
    "blank columns": Table("blank", (Column("a", ("", "  ")), Column("", ("\t", "")))),
    "one blank among others": Table("some", (*PEOPLE.columns, Column("note", ("",) * 7))),
    "duplicate headers": Table("twins", tuple(Column("name", c.values) for c in PEOPLE.columns)),
    "no headers": Table("bare", tuple(Column(None, c.values) for c in PEOPLE.columns)),
    "odd text": Table("odd", (Column("\ud800", ("\0", "\x02\x03", "日本", "\ud800", "&amp;")),)),
    "given subject": Table("subject", PEOPLE.columns, subject=3),
    "huge cells": Table(
        "huge", (Column("x" * 1_000_000, ("word " * 200_000, "9" * 1_000_000, "a@" * 500_000)),)
    ),
    "3000 columns": Table(
        "wide",
        tuple(Column(f"c{n % 50}", (f"v{n}", str(n), f"{n}.5")[: n % 4]) for n in range(3000)),
    ),
}


def settings_for(name: str, model: Path) -> AnnotationSettings:
    return AnnotationSettings(annotator=name, model=model if name == "swarm" else None)


@pytest.fixture(scope="module", params=sorted(ANNOTATORS))
def annotator(request: pytest.FixtureRequest, model: Path) -> Annotator:
    return load_annotator(settings_for(request.param, model))


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A swarm: the byte network that ships, with small specialists of random weights and the n-gram networks."""
    return save_random_swarm(
        tmp_path_factory.mktemp("swarm"),
        shipped_network(),
        {"geo": LAYOUT, "names": OTHER_LAYOUT},
        "words",
        gates=0.05,
    )


def same_bits(one: TableScores, other: TableScores) -> bool:
    return all(
        part_of(one, part).tobytes() == part_of(other, part).tobytes() for part in PARTS
    ) and all(getattr(one, part) == getattr(other, part) for part in OTHER_PARTS)


def part_of(scores: TableScores, part: str) -> np.ndarray:
    found = getattr(scores, part)
    return np.zeros(0, np.float32) if found is None else found


READ_NAMES = ("combined", "dispatch", "ngrams", "search")
"""Annotators that answer columns without values by their names."""


def check_scores(table: Table, scores: TableScores, *, learnt: bool, names: bool = False) -> None:
    columns = len(table.columns)
    assert scores.types.shape == (columns, len(TYPE_NAMES))
    assert scores.relations.shape == (columns, len(RELATION_NAMES))
    assert len(scores.explanations) == columns
    assert scores.subject is None or 0 <= scores.subject < columns
    assert table.subject is None or scores.subject == table.subject
    if learnt:
        assert scores.fine is not None
        assert scores.personal is not None
        assert scores.fine.shape == (columns, len(FINE_NAMES))
        assert scores.personal.shape == (columns,)
        assert ((scores.personal >= 0) & (scores.personal <= 1)).all()
    assert 0 <= scores.web <= 1
    shares = (scores.types, scores.relations, scores.fine)
    for probabilities in (some for some in shares if some is not None):
        assert probabilities.dtype == np.float32
        assert np.isfinite(probabilities).all()
        assert (probabilities >= 0).all()
        totals = probabilities.sum(axis=1, dtype=np.float64)
        assert (totals <= 1 + 1e-5).all()
    if learnt:  # rules may be silent, or leave room for what no rule knows
        known = [bool(column.present or (names and column.name)) for column in table.columns]
        assert (scores.types.any(axis=1) == known).all()
    empty = [not column.present and not (names and column.name) for column in table.columns]
    assert not any(part_of(scores, part)[empty].any() for part in PARTS if learnt)


def test_an_annotator_has_the_name_it_is_registered_under(annotator: Annotator, model: Path):
    assert isinstance(annotator, Annotator)
    again = load_annotator(settings_for(annotator.name, model))
    assert type(again) is type(annotator)


@pytest.mark.parametrize("kind", AWKWARD)
def test_awkward_tables_are_scored(annotator: Annotator, kind: str):
    table = AWKWARD[kind]
    (scores,) = annotator.score([table])
    check_scores(
        table, scores, learnt=annotator.name != "rules", names=annotator.name in READ_NAMES
    )
    annotation = decide(table, scores, annotator.name)
    assert [column.index for column in annotation.columns] == list(range(len(table.columns)))


def test_no_tables_give_no_scores(annotator: Annotator):
    assert annotator.score([]) == []


def test_scoring_twice_gives_the_same_bits(annotator: Annotator):
    (first,), (second,) = annotator.score([PEOPLE]), annotator.score([PEOPLE])
    assert same_bits(first, second)


def test_scores_depend_neither_on_neighbours_nor_on_their_order(annotator: Annotator):
    tables: Sequence[Table] = [
        PEOPLE,
        *(AWKWARD[kind] for kind in AWKWARD if kind != "3000 columns"),
    ]
    alone = [annotator.score([table])[0] for table in tables]
    together = annotator.score(tables)
    backwards = annotator.score(tables[::-1])[::-1]
    for table, one, two, three in zip(tables, alone, together, backwards, strict=True):
        assert same_bits(one, two), table.name
        assert same_bits(one, three), table.name


def test_a_batch_of_many_tables_changes_no_bit(annotator: Annotator):
    shuffled = [
        Table(f"t{n}", tuple(Column(c.name, c.values[n % 7 :]) for c in PEOPLE.columns[n % 4 :]))
        for n in range(40)
    ]
    together = annotator.score(shuffled)
    for number in (0, 7, 13, 39):
        assert same_bits(annotator.score([shuffled[number]])[0], together[number])


def test_the_number_of_blas_threads_changes_no_bit(annotator: Annotator, model: Path):
    named = [annotator.name, *([model] if annotator.name == "swarm" else [])]
    digests = {
        run_process(*named, python=PRINT_DIGEST, OPENBLAS_NUM_THREADS=threads).out
        for threads in ("1", "4")
    }
    assert len(digests) == 1
    assert digests.pop().strip()


PRINT_DIGEST = """
import hashlib, sys
from pathlib import Path
from aegir.pipeline.registry import load_annotator
from aegir.pipeline.settings import AnnotationSettings
from aegir.tables.table import Column, Table

def text(seed, length):
    return "".join(chr(97 + seed * place * place % 26) + " " * (place % 7 == 0) for place in range(length))

columns = tuple(
    Column(f"c{n}", tuple(text(n * 31 + row + 1, 10 * (n + 1)) for row in range(5))) for n in range(40)
)
digest = hashlib.sha256()
settings = AnnotationSettings(annotator=sys.argv[1], model=Path(sys.argv[2]) if sys.argv[2:] else None)
annotator = load_annotator(settings)
for scores in annotator.score([Table("wide", columns), Table("t", columns[:12])]):
    for part in (scores.types, scores.relations, scores.fine, scores.personal):
        digest.update(b"" if part is None else part.tobytes())
print(digest.hexdigest())
"""


def test_plain_columns_are_told(annotator: Annotator):
    (scores,) = annotator.score([PEOPLE])
    told = decide(PEOPLE, scores, annotator.name)
    assert told.columns[1].type == "email"
    assert told.columns[1].personal
    assert told.columns[2].datatype == "date"
