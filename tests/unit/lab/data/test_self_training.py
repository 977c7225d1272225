"""Self-training: only what an annotator is sure of twice, in fair numbers, becomes a label."""

import gzip
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from aegir.lab.byte_network.corpus import build_corpus
from aegir.lab.data.engine import Teacher, build_tables
from aegir.lab.data.self_training import COLUMNS_PER_TYPE, pseudo_labelled
from aegir.readers.calibration import OperatingPoints
from aegir.readers.scores import Explanation, TableScores
from aegir.tables.table import Column, Table
from aegir.vocabulary.terms import RELATION_NAMES, TYPE_INDEX, TYPE_NAMES
from aegir_rl.base.errors import UsageError
from command_line import run_figures
from small_runs import settings_in

MAIL = ("ann@example.org", "bob@example.com")
WORDS = ("far north", "near the river")


class Parrot:
    """Answers with the type in a table's source, as confident as the table's name says."""

    name = "parrot"
    operating_points = OperatingPoints(
        {name: [(0.95, 0.9)] for name in ("cta", "cpa", "cta@open", "cpa@open")}
    )

    def __init__(self, doubt: float = 0.0) -> None:
        self.doubt = doubt  # without headers

    def score(self, tables: Sequence[Table]) -> list[TableScores]:
        scores = []
        for table in tables:
            width = len(table.columns)
            types = np.zeros((width, len(TYPE_NAMES)), np.float32)
            for place, column in enumerate(table.columns):
                confidence = float(table.name) - (self.doubt if column.name is None else 0)
                types[place, TYPE_INDEX[table.source or ""]] = confidence
            relations = np.zeros((width, len(RELATION_NAMES)), np.float32)
            scores.append(TableScores(types, relations, 0, (Explanation(),) * width))
        return scores


def table(confidence: str, type_name: str, *columns: tuple[str, ...]) -> Table:
    return Table(confidence, tuple(Column("h", cells) for cells in columns), source=type_name)


def test_only_confident_answers_become_labels_and_headers_are_hidden():
    tables = [table("0.96", "email", MAIL, MAIL), table("0.94", "email", MAIL)]
    (kept,) = pseudo_labelled(tables, Parrot(), seed=0)
    assert kept.labelled.types == ("email", "email")
    assert kept.labelled.relations == (None, None)
    assert kept.labelled.table.subject == 0
    assert all(column.name is None for column in kept.labelled.table.columns)
    assert kept.source.weak


def test_an_answer_that_hangs_on_the_header_is_no_label():
    assert pseudo_labelled([table("0.96", "email", MAIL)], Parrot(doubt=0.02), seed=0) == []


def test_a_type_is_given_only_so_often():
    tables = [table("0.96", "email", MAIL) for _ in range(COLUMNS_PER_TYPE + 9)]
    assert len(pseudo_labelled(tables, Parrot(), seed=0)) == COLUMNS_PER_TYPE


def test_the_rules_overrule_a_confident_annotator():
    assert pseudo_labelled([table("0.96", "CoordinateAT", WORDS)], Parrot(), seed=0) == []


def test_an_empty_column_gets_no_label():
    assert pseudo_labelled([table("0.96", "email", ("", " "))], Parrot(), seed=0) == []


@pytest.fixture
def unlabelled(tmp_path: Path) -> Path:
    """A folder with one file of unlabelled tables: a column of addresses each."""
    (tmp_path / "raw").mkdir()
    lines = [
        {
            "id": f"t{i}",
            "columns": [{"name": "mail", "values": [f"{a}{i}@example.org" for a in "abcde"]}],
        }
        for i in range(12)
    ]
    text = "".join(json.dumps(line) + "\n" for line in lines)
    (tmp_path / "raw" / "web.jsonl.gz").write_bytes(gzip.compress(text.encode()))
    return tmp_path


def test_train_data_counts_what_the_annotator_labels(unlabelled: Path):
    done = run_figures("data", "--source", "pseudo", "--data", unlabelled, "--json")
    assert done.code == 0, done.err
    (source,) = json.loads(done.out)["sources"]
    assert (source["name"], source["kind"], source["cta"]) == ("pseudo", "weak", 12)


def test_training_reads_the_tables_that_the_configured_annotator_labels(unlabelled: Path):
    config = settings_in(unlabelled)
    data = replace(config.data, folders=(str(unlabelled),), sources={"pseudo": True})
    corpus = build_corpus(replace(data, annotator="ngrams"), config.held_out, config.seed)
    assert {example.source for example in (*corpus.training, *corpus.held_out)} == {"pseudo"}
    with pytest.raises(UsageError, match="unknown annotator 'ngram'; did you mean 'ngrams'"):
        build_corpus(replace(data, annotator="ngram"), config.held_out, config.seed)
    with pytest.raises(UsageError, match=r"no\.safetensors"):
        build_corpus(replace(data, annotator_model="no.safetensors"), config.held_out, config.seed)


def test_an_annotator_without_operating_points_is_refused(unlabelled: Path):
    with pytest.raises(UsageError, match=r"cannot use the annotator 'rules', which has no valid"):
        build_tables([unlabelled], {"pseudo": True}, 0, Teacher("rules"))
