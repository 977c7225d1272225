"""Everyday tables in the training of the byte network: targets, masks, folds, figures and held-out answers."""

import json
from dataclasses import replace
from math import log
from pathlib import Path

import numpy as np
import pytest
import torch

from aegir.lab.byte_network.batches import (
    Augmentation,
    batch_of,
    draw_as_is,
    draw_varied,
)
from aegir.lab.byte_network.config import ByteTraining
from aegir.lab.byte_network.corpus import Corpus, build_corpus
from aegir.lab.byte_network.evaluation import NO_LABEL, Answers, answer
from aegir.lab.byte_network.examples import TableExample, examples_of, heads_of, soft_target
from aegir.lab.byte_network.held_out_metrics import everyday_metrics
from aegir.lab.byte_network.losses import LossWeights, compute_loss
from aegir.lab.byte_network.supervised import build_network
from aegir.lab.data.sources import Source, TrainingTable
from aegir.lab.held_out import ANSWERS, load_answers
from aegir.lab.nets.annotator import ByteNetwork
from aegir.readers.bytes.annotator import ByteModelAnnotator
from aegir.readers.bytes.architecture import Reading
from aegir.readers.bytes.checkpoint import GRAM_HASHES, Checkpoint
from aegir.readers.bytes.gram_index import GramIndex
from aegir.readers.bytes.heads import OUTPUTS
from aegir.readers.bytes.network import ByteModel
from aegir.readers.bytes.table_mixer import OTHER, SUBJECT, UNKNOWN
from aegir.tables.labelled import UNLABELLED, ColumnLabels, LabelledTable
from aegir.tables.table import Column, Table
from aegir.vocabulary.terms import FINE_INDEX, RELATION_INDEX, TYPE_INDEX
from aegir_rl.base.arrays import softmax
from aegir_rl.base.seeding import Seeds
from small_runs import settings_in, train_small
from synthetic_labels import TABLES_PER_GROUP, is_about_patients, write_everyday_tables

GROUPS = 10
NONE = {head: len(names) - 1 for head, names in OUTPUTS.items()}
PLAIN = LossWeights(alone=0, subject=0, ratio=0, smoothing=0, dropout=0)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("everyday")
    write_everyday_tables(folder, GROUPS)
    return folder


@pytest.fixture(scope="module")
def config(folder: Path) -> ByteTraining:
    plain = settings_in(folder)
    folders = (*plain.data.folders, str(folder / "open" / "tables.jsonl.gz"))
    phase = replace(
        plain.supervised, steps=2, tables_per_step={"open": 4, "made_up_train": 2, "made_up_val": 2}
    )
    return replace(
        plain,
        data=replace(plain.data, folders=folders, sources={"gold": True, "open": True}),
        held_out=replace(plain.held_out, validation=True),
        supervised=phase,
    )


@pytest.fixture(scope="module")
def corpus(config: ByteTraining) -> Corpus:
    return build_corpus(config.data, config.held_out, config.seed)


@pytest.fixture
def net(config: ByteTraining, corpus: Corpus) -> ByteNetwork:
    return build_network(config.architecture, corpus.heads, 0, config.seed)


def labelled(*labels: ColumnLabels) -> TableExample:
    columns = tuple(Column(f"c{i}", (f"a{i}", f"b{i}")) for i in range(len(labels)))
    table = TrainingTable(LabelledTable(Table("t", columns), labels, {}), Source("t.jsonl"))
    (example,) = examples_of([table], heads_of([table]))
    return example


def loss_of_example(net: ByteNetwork, example: TableExample) -> torch.Tensor:
    drawing = draw_as_is(example, Reading())
    given = batch_of([drawing], GramIndex.of(np.zeros(0, np.int32)), dict(OUTPUTS))
    return compute_loss(net, given, PLAIN).total


def test_the_best_name_counts_most_and_all_acceptable_ones_share_the_target() -> None:
    np.testing.assert_allclose(soft_target((2, 0), 4), [0.35 / 1.35, 0, 1 / 1.35, 0], rtol=1e-6)
    np.testing.assert_allclose(soft_target((1, 0, 3), 4), np.array([0.35, 1, 0, 0.35]) / 1.7)
    assert soft_target((3,), 4).tolist() == [0, 0, 0, 1]
    assert soft_target((), 1).tolist() == [0]  # a question answered with no


def test_labels_become_outputs_and_what_nobody_said_stays_unlabelled() -> None:
    example = labelled(
        ColumnLabels(("price", "Number"), ("price",), ("item_price", "currency_amount"), False),
        ColumnLabels((), (), (), True),
        ColumnLabels.of("Date"),
        UNLABELLED,
    )
    assert example.labels == {
        "cta": (
            (TYPE_INDEX["price"], TYPE_INDEX["Number"]),
            (NONE["cta"],),
            (TYPE_INDEX["Date"],),
            None,
        ),
        "cpa": ((RELATION_INDEX["price"],), (NONE["cpa"],), None, None),
        "fine": (
            (FINE_INDEX["item_price"], FINE_INDEX["currency_amount"]),
            (NONE["fine"],),
            None,
            None,
        ),
        "personal": ((), (0,), None, None),
    }
    assert OUTPUTS["cta"][NONE["cta"]] == OUTPUTS["fine"][NONE["fine"]] == "-"
    assert labelled(ColumnLabels.of("Date"), UNLABELLED).labels.keys() == {"cta"}
    assert labelled(UNLABELLED).labels == {}
    too = labelled(ColumnLabels(("Date",), none_too=True))
    assert too.labels["cta"] == ((TYPE_INDEX["Date"], NONE["cta"]),)


@pytest.mark.parametrize(
    ("labels", "taught"),
    [
        (ColumnLabels(types=()), "cta"),
        (ColumnLabels(relations=()), "cpa"),
        (ColumnLabels(fine=("status",)), "fine"),
        (ColumnLabels(personal=False), "personal"),
    ],
)
def test_a_label_teaches_its_own_head_alone(
    net: ByteNetwork, labels: ColumnLabels, taught: str
) -> None:
    loss_of_example(net, labelled(labels, UNLABELLED)).backward()
    moved = {
        name
        for name, head in net.heads.items()
        if head.weight.grad is not None and head.weight.grad.any()
    }
    assert moved - {f"{taught}_alone"} == {taught}


def test_the_loss_is_that_worked_out_by_hand(net: ByteNetwork) -> None:
    for head in net.heads.values():
        torch.nn.init.zeros_(head.weight)
        torch.nn.init.zeros_(head.bias)
    with torch.no_grad():
        net.heads["cta"].bias[TYPE_INDEX["price"]] = 2.0
        net.heads["personal"].bias[0] = 1.0
    both = labelled(ColumnLabels(types=("price", "Number")))
    total = log(np.exp(2) + 82)
    expected = (total - 2) / 1.35 + total * 0.35 / 1.35
    assert loss_of_example(net, both).item() == pytest.approx(expected, rel=1e-5)
    yes, no = (labelled(ColumnLabels(personal=personal)) for personal in (True, False))
    # half the weight of types; sigma(1) = 0.7311
    assert loss_of_example(net, yes).item() == pytest.approx(-0.5 * log(0.731059), rel=1e-4)
    assert loss_of_example(net, no).item() == pytest.approx(-0.5 * log(0.268941), rel=1e-4)


def test_every_fold_keeps_whole_groups_of_web_and_everyday_tables_out(config: ByteTraining) -> None:
    held_out: list[str] = []
    for fold in range(5):
        corpus = build_corpus(config.data, replace(config.held_out, fold=fold), config.seed)
        web = [origin for origin in corpus.origins if not origin.everyday]
        assert web
        assert all("made_up_val/" in origin.columns[0] for origin in web)
        assert not {origin.group for origin in corpus.origins} & set(corpus.groups)
        tables = [e.table.name for e in corpus.held_out if e.source == "open"]
        numbers = sorted(int(name.split()[1]) for name in tables)
        assert numbers[::2] == [number - 1 for number in numbers[1::2]]  # two of each group
        held_out += tables
    assert sorted(held_out) == sorted(f"table {i}" for i in range(GROUPS * TABLES_PER_GROUP))


def test_the_first_phase_learns_from_no_everyday_table(config: ByteTraining) -> None:
    first = replace(config, held_out=replace(config.held_out, validation=False))
    corpus = build_corpus(first.data, first.held_out, first.seed)
    assert {example.source for example in corpus.training} == {"made_up_train"}
    every = build_corpus(config.data, replace(config.held_out, fold=-1), config.seed)
    assert every.held_out == ()
    assert sum(example.source == "open" for example in every.training) == 20


def test_held_out_answers_have_every_part_with_its_labels(
    config: ByteTraining, folder: Path
) -> None:
    trained = train_small(config, folder / "run")
    columns = load_answers(folder / "run" / ANSWERS)
    assert columns.keys() == {"web", "open"}
    everyday, web = columns["open"], columns["web"]
    tables = [e for e in trained.corpus.held_out if e.source == "open"]
    assert len(everyday) == 3 * len(tables)  # the fourth column is not labelled
    assert {part: one.shape[1] for part, one in everyday.logits.items()} == {
        "types": 83,
        "relations": 109,
        "fine": len(FINE_INDEX) + 1,
        "personal": 1,
    }
    key, state, cost = range(3)
    assert everyday.accepted["types"][state].nonzero()[0].tolist() == [NONE["cta"]]
    assert everyday.accepted["types"][cost].nonzero()[0].tolist() == sorted(
        [TYPE_INDEX["price"], TYPE_INDEX["Number"]]
    )
    assert everyday.accepted["fine"][key].nonzero()[0].tolist() == [FINE_INDEX["primary_key"]]
    assert everyday.accepted["relations"][cost].nonzero()[0].tolist() == [RELATION_INDEX["price"]]
    first = int(tables[0].table.name.split()[1])
    assert everyday.accepted["personal"][:3, 0].tolist() == [is_about_patients(first)] * 3
    assert all(known.all() for known in everyday.known.values())
    assert web.known["types"].all()
    assert not np.concatenate([web.known["fine"], web.known["personal"]]).any()
    number = int(tables[0].table.name.split()[1])
    assert everyday.names[1] == f"open/owner/{number // 2}/table {number}#1"
    assert len(set(everyday.group)) == len(set(everyday.table)) / TABLES_PER_GROUP
    assert not set(everyday.group) & set(web.group)


def test_checks_report_every_part_on_everyday_tables(config: ByteTraining, folder: Path) -> None:
    trained = train_small(config.with_steps("supervised", 1), folder / "checked")
    assert {"open/type_right", "open/fine_right", "open/personal_recall"} <= trained.metrics.keys()
    lines = (folder / "checked" / "metrics.jsonl").read_text().splitlines()
    rows = [json.loads(line) for line in lines]
    assert rows[-1]["held_out/open/type_right"] == trained.metrics["open/type_right"]
    assert {"fine/loss", "personal/right"} <= rows[0].keys()


def test_figures_on_everyday_tables_are_those_worked_out_by_hand() -> None:
    def made_up(answers: list[int], right: list[list[int]], size: int) -> tuple[np.ndarray, ...]:
        logits = np.zeros((5, size), np.float32)
        logits[np.arange(5), answers] = 9
        accepted = np.zeros((5, size), bool)
        for row, outputs in zip(accepted, right, strict=True):
            row[outputs] = True
        return logits, accepted

    types, types_right = made_up([0, 1, 2, 2, 0], [[0], [0, 1], [2], [0], [1]], 3)
    relations, relations_right = made_up([0, 1, 2, 0, 0], [[0], [2], [2], [1], [0]], 3)
    relations[4] = 0  # undecided: nothing is said
    personal = np.array([[1.0], [2], [-1], [-1], [5]], np.float32)
    is_personal = np.array([[True], [False], [True], [False], [True]])
    everyday = np.array([True, True, True, True, False])  # the last column is of a web table
    nobody = np.zeros(5, bool)
    heads = ("cta", "fine", "cpa", "personal")
    answers = Answers(
        dict(zip(heads, (types, types, relations, personal), strict=True)),
        {"cta": np.full(5, NO_LABEL)},
        dict(zip(heads, (types_right, types_right, relations_right, is_personal), strict=True)),
        dict(zip(heads, (everyday, nobody, ~nobody, ~nobody), strict=True)),
        np.zeros((5, 2), np.float32),
        np.arange(5),
        (),
    )
    assert everyday_metrics(answers, everyday) == {
        "open/type_right": 0.75,
        "open/relation_precision": pytest.approx(1 / 3),  # said: right, false, wrong; then none
        "open/relation_false_share": 0.5,
        "open/personal_precision": 0.5,
        "open/personal_recall": 0.5,
    }
    everyone = everyday_metrics(answers, np.ones(5, bool))
    assert everyone["open/relation_precision"] == pytest.approx(1 / 3)
    assert everyone["open/personal_recall"] == pytest.approx(2 / 3)


def test_a_likely_subject_is_shown_at_times_and_never_learnt() -> None:
    values = tuple(f"k{i}" for i in range(6))
    columns = (Column("state", ("on",) * 6), Column("key", values))
    labels = (ColumnLabels(fine=("status",)), ColumnLabels(fine=("primary_key",)))
    table = TrainingTable(LabelledTable(Table("t", columns), labels, {}), Source("t.jsonl"))
    (example,) = examples_of([table], heads_of([table]))
    how = replace(Augmentation(), shuffle_columns=0, hide_subject=0.5)
    drawn = [draw_varied(example, Reading(), how, Seeds(0), i) for i in range(40)]
    assert {one.roles for one in drawn} == {(OTHER, SUBJECT), (UNKNOWN, UNKNOWN)}
    assert {one.subject for one in drawn} == {None}
    assert draw_as_is(example, Reading()).roles == (UNKNOWN, UNKNOWN)


def test_a_column_that_is_empty_in_the_rows_read_is_read_elsewhere() -> None:
    sparse = Column("when", ("",) * 40 + ("2020",))
    full = Column("key", tuple(f"k{i}" for i in range(41)))
    example = TableExample(Table("t", (sparse, full)), {}, {}, "open")
    for i in range(10):
        drawn = draw_varied(example, Reading(), Augmentation(), Seeds(1), i)
        texts = [bytes(int(s) for s in one if s < 256).decode() for one in drawn.symbols]
        assert sum("2020" in text for text in texts) == 1


def test_held_out_tables_are_answered_as_the_annotator_answers(
    config: ByteTraining, corpus: Corpus, net: ByteNetwork
) -> None:
    random = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for parameter in net.parameters():
            parameter += 0.2 * torch.randn(parameter.shape, generator=random)
        net.reader.embedding.grams.zero_()
    tensors = {name: one.detach().numpy() for name, one in net.named_parameters()}
    facts = {"calibration": {"bytes": {"cta": 1.0, "cpa": 1.0}}}
    checkpoint = Checkpoint(net.architecture, tensors | {GRAM_HASHES: np.zeros(0, np.int32)}, facts)
    annotator = ByteModelAnnotator(ByteModel(checkpoint))
    some = corpus.held_out[-6:]
    answers = answer(net, some, GramIndex.of(np.zeros(0, np.int32)))
    scores = annotator.score([example.table for example in some])
    for part, head in (("types", "cta"), ("relations", "cpa"), ("fine", "fine")):
        given = np.concatenate([getattr(one, part) for one in scores])
        np.testing.assert_allclose(given, softmax(answers.logits[head])[:, :-1], atol=2e-4)
    personal = np.concatenate([one.personal for one in scores])
    np.testing.assert_allclose(
        personal, 1 / (1 + np.exp(-answers.logits["personal"][:, 0])), atol=2e-4
    )
