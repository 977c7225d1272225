"""The byte model as an annotator: batches, subjects, weights by path. Weights are random."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import save_file

from aegir.readers.bytes.annotator import ByteModelAnnotator, load_byte_model
from aegir.readers.bytes.byte_encoding import encode_column, pad
from aegir.readers.bytes.checkpoint import Checkpoint, save_checkpoint
from aegir.readers.bytes.network import ByteModel
from aegir.readers.bytes.scoring import batches_by_length, probability_of_web
from aegir.readers.bytes.table_mixer import UNKNOWN
from aegir.tables.table import Column, Table
from aegir.vocabulary.terms import FINE_NAMES
from aegir_rl.base.arrays import F32, I64, softmax
from aegir_rl.base.errors import UsageError
from aegir_rl.base.safetensors_file import read_safetensors
from byte_models import LAYOUTS, annotating_checkpoint, random_checkpoint
from command_line import run
from ngram_models import MIXING, TRUST

FACTS = {"calibration": {"bytes": {"cta": 1.0, "cpa": 2.0}}, "held_out": {}}
TABLES = [
    Table("cities", (Column("city", ("Oslo", "Rome")), Column("code", ("12", "7")))),
    Table("none", ()),
    Table("mails", (Column(None, ("a@b.org", "c@d.org", "")),), subject=0),
    Table("blank", (Column("a", ("", " ")), Column("b", ("x", "y")))),
]


def with_facts() -> Checkpoint:
    return annotating_checkpoint(FACTS)


@pytest.fixture(scope="module")
def annotator() -> ByteModelAnnotator:
    return ByteModelAnnotator(ByteModel(with_facts()))


def test_every_part_leaves_room_for_none_of_its_names(annotator: ByteModelAnnotator):
    scores = annotator.score(TABLES)
    assert [one.types.shape for one in scores] == [(2, 82), (0, 82), (1, 82), (2, 82)]
    assert [one.relations.shape[1] for one in scores] == [108] * 4
    assert [np.shape(one.fine)[1] for one in scores] == [len(FINE_NAMES)] * 4
    model = annotator.model
    symbols = [encode_column(one, model.architecture.reading) for one in TABLES[0].columns]
    alone = model.vectors(model.read(pad(symbols)[0]))
    embeddings = model.mix_tables(alone, np.full(2, UNKNOWN), [symbols])
    for part, head in (("types", "cta"), ("fine", "fine")):
        expected = softmax(model.head(head, embeddings))
        np.testing.assert_allclose(getattr(scores[0], part), expected[:, :-1], rtol=1e-5)
        assert (expected[:, -1] > 1e-4).all()
    assert ((scores[0].personal > 0) & (scores[0].personal < 1)).all()
    blank = scores[3]  # its first column has no values
    for scored in (blank.types, blank.fine, blank.personal):
        assert scored is not None
        assert not scored[0].any()
    assert 0 < blank.relations[1].sum() < 1
    assert [one.subject for one in scores][1:3] == [None, 0]


def test_tables_that_name_their_subject_are_mixed_once(
    annotator: ByteModelAnnotator, monkeypatch: pytest.MonkeyPatch
):
    mixed: list[int] = []
    mix = annotator.model.mix_tables

    def counting(vectors: F32, roles: I64, tables: Any) -> F32:
        mixed.append(len(vectors))
        return mix(vectors, roles, tables)

    monkeypatch.setattr(annotator.model, "mix_tables", counting)
    annotator.score([replace(TABLES[0], subject=1), TABLES[2]])
    assert mixed == [3]
    annotator.score([*TABLES, replace(TABLES[0], subject=1)])
    assert mixed == [3, 7, 4]  # cities and blank, which name none, once more


def test_a_table_is_scored_as_if_it_were_alone(annotator: ByteModelAnnotator):
    together = annotator.score([*TABLES * 7, Table("long", (Column(None, ("word " * 30,) * 9),))])
    for table, scores in zip(TABLES * 7, together, strict=False):
        (alone,) = annotator.score([table])
        assert alone.types.tobytes() == scores.types.tobytes()
        assert alone.relations.tobytes() == scores.relations.tobytes()


def test_siblings_and_the_subject_change_the_answer(annotator: ByteModelAnnotator):
    cities = TABLES[0]
    alone = annotator.score([Table("one", cities.columns[:1])])[0].types[0]
    beside = annotator.score([cities])[0].types[0]
    about = annotator.score([Table("two", cities.columns, subject=1)])[0].types[0]
    assert np.abs(alone - beside).max() > 1e-3
    assert np.abs(about - beside).max() > 1e-3


def relations(*some: float) -> F32:
    """Columns that have a relation with these probabilities."""
    found = np.zeros((len(some), 108), np.float32)
    found[:, 3] = some
    return found


@pytest.mark.parametrize(
    ("some", "subject", "web"),
    [
        ((1.0, 1.0), None, 1.0),
        ((0.0, 1.0, 0.97), 0, 0.95),  # the others lack 0.015 on average: 1 - 0.5 * 0.015 / 0.15
        ((0.85, 0.85), None, 0.5),
        ((1.0, 0.4, 0.6), 0, 0.0),
        ((0.9, 0.0), None, 2 / 3),  # a column without values does not count
        ((0.2,), 0, 1.0),  # no other column tells
        ((), None, 1.0),
    ],
)
def test_a_table_whose_columns_have_no_relations_is_an_everyday_one(some, subject, web):
    assert probability_of_web(relations(*some), subject) == pytest.approx(web, abs=1e-5)


def test_scores_say_whether_the_table_is_one_of_the_web(annotator: ByteModelAnnotator):
    for scores in annotator.score(TABLES):
        assert scores.web == probability_of_web(scores.relations, scores.subject)


def test_threads_share_one_annotator(annotator: ByteModelAnnotator):
    expected = annotator.score(TABLES)[0].types.tobytes()
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda _: annotator.score(TABLES)[0].types.tobytes(), range(12)))
    assert set(answers) == {expected}


def test_columns_are_read_in_parts_of_similar_length():
    lengths = [5, 700, 6, 5, 690, 7] * 40
    parts = list(batches_by_length([np.zeros(length, np.int16) for length in lengths]))
    assert sorted(i for part in parts for i in part) == list(range(len(lengths)))
    for part in parts:
        assert len(part) <= 64
        assert len(part) * max(lengths[i] for i in part) <= 16_384


def test_weights_are_read_from_a_path(tmp_path: Path, annotator: ByteModelAnnotator):
    save_checkpoint(tmp_path / "own.safetensors", with_facts())
    loaded = load_byte_model(tmp_path / "own.safetensors").score(TABLES)
    np.testing.assert_allclose(loaded[0].types, annotator.score(TABLES)[0].types, atol=0.02)
    (tmp_path / "cut.safetensors").write_bytes((tmp_path / "own.safetensors").read_bytes()[:999])
    with pytest.raises(UsageError, match=r"cut\.safetensors cannot be read as a model"):
        load_byte_model(tmp_path / "cut.safetensors")


TEMPERATURE = {"cta": 1.0, "cpa": 2.0}
MIXTURE = {
    "mixing": asdict(MIXING),
    "rule_trust": asdict(TRUST),
    "rule_weight": 1.0,
    "compatibility_weight": 1.0,
}


@pytest.mark.parametrize(
    ("facts", "reason"),
    [
        ([], "its facts are list; expected an object"),
        ({}, "the calibration has no 'bytes'"),
        ({"calibration": {"bytes": {"cta": 1.0}}}, "the calibration has no 'cpa'"),
        ({"calibration": {"bytes": TEMPERATURE | {"cpa": "warm"}}}, r"bytes\.cpa .* is 'warm'"),
        ({"calibration": {"bytes": TEMPERATURE | {"cta": 0}}}, r"bytes\.cta .* above 0"),
        (
            {"calibration": {"bytes": TEMPERATURE, "combined": MIXTURE | {"mixing": {"web": 1}}}},
            "no mixture for web and everyday tables",
        ),
        (
            {"calibration": {"bytes": TEMPERATURE, "combined": MIXTURE | {"rule_weight": None}}},
            "rule_weight of the calibration is None",
        ),
        ({**FACTS, "held_out": {"byte_model/cta": 3}}, "held-out figures of byte_model"),
        ({**FACTS, "held_out": {"byte_model/cta": {"thresholds": 3}}}, "held-out figures"),
    ],
)
def test_a_network_without_a_usable_calibration_is_refused(facts: Any, reason: str, tmp_path: Path):
    save_checkpoint(tmp_path / "own.safetensors", replace(with_facts(), facts=facts))
    with pytest.raises(UsageError, match=rf"own\.safetensors .*{reason}"):
        load_byte_model(tmp_path / "own.safetensors")


def test_weights_that_are_not_finite_end_the_command_with_one_sentence(tmp_path: Path):
    save_checkpoint(tmp_path / "own.safetensors", with_facts())
    tensors, metadata = read_safetensors(tmp_path / "own.safetensors")
    tensors["heads.cta.bias"][3] = np.inf
    save_file(tensors, tmp_path / "inf.safetensors", metadata)
    (tmp_path / "a.csv").write_text("name,city\nAnn,Oslo\nBob,Rome\n")
    asked = ("--annotator", "byte_model", "--model", tmp_path / "inf.safetensors")
    done = run("annotate", tmp_path / "a.csv", *asked)
    assert (done.code, done.out, len(done.said)) == (2, "", 1)
    assert "tensor heads.cta.bias has numbers that are not finite" in done.err


def test_a_network_without_a_head_for_columns_alone_is_refused(tmp_path: Path):
    bare = replace(random_checkpoint(LAYOUTS["one level"]), facts=FACTS)
    save_checkpoint(tmp_path / "own.safetensors", bare)
    with pytest.raises(UsageError, match="no head cta_alone for 82 types"):
        load_byte_model(tmp_path / "own.safetensors")
