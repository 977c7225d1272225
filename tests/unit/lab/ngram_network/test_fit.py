"""Fitting the network: it learns a handful of tables, with headers hidden too, and repeats itself bit for bit."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from aegir.lab.data.known_names import made_up_tables
from aegir.lab.data.raw_tables import without_headers
from aegir.lab.data.sources import Source, TrainingTable, read_training_tables
from aegir.lab.ngram_network.batches import (
    HEADER_ONLY,
    MOST_COLUMNS,
    TAUGHT,
    HeaderNames,
    neighbours,
)
from aegir.lab.ngram_network.columns import Columns
from aegir.lab.ngram_network.fit import (
    LOSS_WEIGHTS,
    Fit,
    _endless,
    _schedule,
    compute_loss,
)
from aegir.lab.ngram_network.torch_network import AUXILIARY, TABLE_OUTPUTS
from aegir.readers.ngrams.column_inputs import read_columns
from aegir.readers.ngrams.network import LAYER_OUTPUTS, LEVELS, TABLE_HEADS
from aegir.readers.rules.judge import RuleVerdict, judge_columns
from aegir.tables.labelled import UNLABELLED, ColumnLabels, LabelledTable
from aegir.tables.table import Column, Table
from aegir.vocabulary.terms import FINE_INDEX, TYPE_INDEX
from small_ngram_runs import NETWORK
from synthetic_labels import write_everyday_tables, write_synthetic_tables

SMALL = replace(NETWORK, epochs=40, everyday=6, web=6, learning_rate=2e-2)
HEADERS = {"status": ("state", "Zustand"), "primary_key": ("id", "key")}
RAW = Source("raw", cta_weight=0, cpa_weight=0, web=False, raw=True)


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> list[TrainingTable]:
    """20 web tables, 24 everyday ones, made-up columns of two fine types and unlabelled tables."""
    folder = tmp_path_factory.mktemp("fit")
    web = write_synthetic_tables(folder / "web_train.jsonl", 20, seed=1)
    labelled = read_training_tables([web, write_everyday_tables(folder, 12)])
    values = {"status": {"*": ("done", "to do")}, "primary_key": {"*": ("A1", "A2", "A3")}}
    headers = {name: {"en": given} for name, given in HEADERS.items()}
    raw = [
        TrainingTable(
            LabelledTable(
                Table(f"raw {n}", (Column("cost", (f"{n}.5", "7.25")),)), (UNLABELLED,), {}
            ),
            RAW,
        )
        for n in range(6)
    ]
    return [*labelled, *made_up_tables(headers, values, 0), *raw]


@pytest.fixture(scope="module")
def columns(tables: list[TrainingTable]) -> Columns:
    return Columns.of(tables)


@pytest.fixture(scope="module")
def used(tables: list[TrainingTable]) -> np.ndarray:
    """All but every fourth of the labelled tables."""
    labelled = np.array([not (t.source.raw or t.source.synthetic) for t in tables])
    return ~(labelled & (np.arange(len(tables)) % 4 == 0))


def fit(columns: Columns, used: np.ndarray, seed: int = 0, **changes: object) -> Fit:
    return Fit(columns, used, HeaderNames.of(HEADERS), replace(SMALL, **changes), seed)


@pytest.fixture(scope="module")
def fitted(columns: Columns, used: np.ndarray) -> Fit:
    fitting = fit(columns, used)
    fitting.run()
    return fitting


def right(fitting: Fit, outputs: dict[str, np.ndarray], tables: np.ndarray) -> dict[str, float]:
    """The share of right answers of each head to the labelled columns of these tables."""
    columns = fitting.columns
    where = columns.of_tables(tables)
    shares = {}
    for head in (*TAUGHT, *TABLE_HEADS):
        rows = tables if head in TABLE_HEADS else where
        known = columns.weights[head][rows] > 0
        targets, logits = columns.targets[head][rows][known] > 0, outputs[head][known]
        if head == "levels" and logits.shape[1] == LEVELS:
            targets = targets.reshape(len(logits), -1, LEVELS).any(axis=1)
        if head == "levels" and logits.shape[1] > LEVELS:  # of the right state
            logits = np.where(
                targets.reshape(len(logits), -1, LEVELS).any(axis=2).repeat(LEVELS, 1), logits, -99
            )
        if logits.shape[1] == 1:
            shares[head] = float((targets == (logits > 0)).mean())
        else:
            shares[head] = float(targets[np.arange(len(logits)), logits.argmax(axis=1)].mean())
    return shares


@pytest.mark.parametrize("seed", range(3))
def test_it_learns_every_part_of_tables_it_has_not_seen(
    columns: Columns, used: np.ndarray, seed: int
):
    # a network that answers the commonest name has half of them
    fitted = fit(columns, used, seed)
    fitted.run()
    held_out = np.flatnonzero(~used)
    shares = right(fitted, fitted.predict(held_out), held_out)
    assert min(shares.values()) > 0.9, shares
    web = np.repeat(
        [fitted.columns.tables[t].source.web for t in held_out],
        np.diff(fitted.columns.starts)[held_out],
    )
    assert ((fitted.predict(held_out)["web"][:, 0] > 0) == web).mean() > 0.9


@pytest.mark.parametrize("headers", ["shown", "hidden"])
def test_the_exported_network_answers_with_and_without_headers(
    fitted: Fit, used: np.ndarray, headers: str
):
    held_out = np.flatnonzero(~used)
    some = [fitted.columns.tables[t].labelled.table for t in held_out]
    if headers == "hidden":
        some = [without_headers(table) for table in some]
    network = fitted.export()
    verdicts = judge_columns([column for table in some for column in table.columns])
    inputs = read_columns(some, verdicts, network.values.index, network.headers.index)
    shares = right(fitted, network.outputs(inputs), held_out)
    assert min(shares.values()) > 0.8, shares


def test_a_header_alone_tells_what_it_was_said_to_tell(fitted: Fit):
    network = fitted.export()
    some = [Table("t", (Column(header, ()),)) for header in ("Zustand", "key")]
    inputs = read_columns(some, [RuleVerdict()] * 2, network.values.index, network.headers.index)
    answers = network.outputs(inputs)["fine"].argmax(axis=1)
    assert answers.tolist() == [FINE_INDEX["status"], FINE_INDEX["primary_key"]]


def test_a_student_learns_from_its_teacher_on_unlabelled_tables(columns: Columns, used: np.ndarray):
    """The teacher calls every unlabelled column a date; headers and values are those of prices."""
    raw = np.flatnonzero([table.source.raw for table in columns.tables])
    teacher = {head: np.zeros_like(columns.targets[head]) for head in (*TAUGHT, *TABLE_HEADS)}
    teacher["types"][:, TYPE_INDEX["Date"]] = 1
    teacher["fine"][:, FINE_INDEX["status"]] = 1
    teacher["relations"][:, -1] = 1
    student = fit(columns, used)
    student.run(teacher)
    outputs = student.predict(raw)
    assert (outputs["types"].argmax(axis=1) == TYPE_INDEX["Date"]).all()
    assert (outputs["fine"].argmax(axis=1) == FINE_INDEX["status"]).all()


def test_the_same_seed_gives_the_same_bits_and_tells_how_it_goes(
    columns: Columns, used: np.ndarray
):
    exported: list[bytes] = []
    said: list[str] = []
    for seed in (0, 0, 1):
        fitting = fit(columns, used, seed, epochs=3)
        fitting.run(say=said.append)
        tensors = fitting.export().tensors()
        exported.append(b"".join(tensors[name].tobytes() for name in sorted(tensors)))
    assert exported[0] == exported[1] != exported[2]
    assert said[0].startswith("step 9 of 9, loss ")  # 18 everyday tables, 6 per step, 3 times


def test_tables_that_are_held_out_leave_no_trace(columns: Columns, used: np.ndarray):
    """Their labels and n-grams may be anything."""
    changed = replace(
        columns,
        targets={head: targets.copy() for head, targets in columns.targets.items()},
        values=replace(columns.values, features=columns.values.features.copy()),
    )
    held_out = columns.of_tables(np.flatnonzero(~used))
    for head, targets in changed.targets.items():
        targets[~used if head in TABLE_OUTPUTS else held_out] = 0
    for start, end in zip(
        columns.values.starts[held_out], columns.values.starts[held_out + 1], strict=True
    ):
        changed.values.features[start:end] = np.arange(end - start)
    exported = []
    for some in (columns, changed):
        fitting = fit(some, used, epochs=2)
        fitting.run()
        tensors = fitting.export().tensors()
        exported.append(b"".join(tensors[name].tobytes() for name in sorted(tensors)))
    assert exported[0] == exported[1]


def test_a_step_reads_tables_of_every_kind_and_headers_alone(columns: Columns, used: np.ndarray):
    fitting = fit(columns, used)
    kinds = [(len(tables), count) for tables, count in fitting._groups(with_raw=True)]
    # everyday, web, made up (two fine types of four columns) and raw; there are no others
    assert kinds == [(18, 6), (15, 6), (8, 4), (6, 4)]
    assert len(fitting._groups(with_raw=False)) == 3
    everyday = fitting._groups(with_raw=False)[0][0][:3]
    step = fitting.batches.varied(everyday, None)
    batch, targets, weights = step.batch, step.targets, step.weights
    count = 3 * 4 + HEADER_ONLY
    for head in LOSS_WEIGHTS:
        rows = 3 + HEADER_ONLY if head in TABLE_OUTPUTS else count
        assert len(targets[head]) == len(weights[head]) == rows
    assert len(batch.values.offsets) == len(batch.headers.offsets) == count
    assert len(batch.names.offsets) == 3 + HEADER_ONLY
    alone = weights["fine"][12:]
    assert (alone == 0.5).all()
    assert not weights["relations"][12:].any()
    assert not weights["web"][12:].any()


def test_a_made_up_column_aims_at_the_types_that_labelled_columns_of_its_fine_type_have(
    columns: Columns, used: np.ndarray
):
    fitting = fit(columns, used)
    made_up = np.flatnonzero([table.source.synthetic for table in columns.tables])
    keys = [t for t in made_up if "primary_key" in columns.tables[t].labelled.table.name]
    step = fitting.batches.varied(np.array(keys), None)
    weights = step.weights
    types = step.targets["types"][: len(keys)]
    assert (types.argmax(dim=1) == TYPE_INDEX["IdentifierAT"]).all()
    assert (weights["types"][: len(keys)] == 0.5).all()
    assert (weights["fine"][: len(keys)] == 1).all()


def test_of_a_wide_table_some_columns_are_read_per_step():
    wide = Table("t", tuple(Column(f"c{n}", ("x", "y")) for n in range(100)))
    labels = (ColumnLabels(fine=("status",)),) * 100
    source = Source("open/tables.jsonl.gz", everyday=True, web=False)
    columns = Columns.of([TrainingTable(LabelledTable(wide, labels, {}), source)])
    fitting = fit(columns, np.ones(1, bool))
    step = fitting.batches.varied(np.array([0]), None)
    assert len(step.targets["fine"]) == MOST_COLUMNS + HEADER_ONLY
    assert len(fitting.predict(np.array([0]))["fine"]) == 100


def test_the_loss_is_that_worked_out_by_hand():
    counts = {**LAYER_OUTPUTS, **dict.fromkeys(AUXILIARY, 7)}
    outputs = {head: torch.zeros(2, count) for head, count in counts.items()}
    targets = {head: torch.zeros(2, count) for head, count in counts.items()}
    weights = {head: torch.zeros(2) for head in counts}
    assert compute_loss(outputs, targets, weights) == 0  # nothing is known
    targets["types"][:, 3] = 1
    weights["types"] = torch.tensor([1.0, 3.0])
    targets["special"][:] = 1
    weights["special"] = torch.tensor([0.5, 0.0])
    outputs["levels"] += np.log(0.25)
    targets["levels"][0, 5] = 1
    weights["levels"] = torch.tensor([1.0, 0.0])
    # 83 equally likely types; sigma(0) = 1/2, of which half a column counts; one of four levels
    expected = np.log(83) + 0.7 * 0.5 * np.log(2) + np.log(4)
    assert compute_loss(outputs, targets, weights).item() == pytest.approx(expected, rel=1e-5)


def test_neighbours_are_columns_of_the_same_table():
    left, right = neighbours(np.array([0, 0, 0, 1, 2, 2]))
    assert left.tolist() == [6, 0, 1, 6, 6, 4]
    assert right.tolist() == [1, 2, 6, 6, 5, 6]


def test_tables_are_drawn_without_end_and_each_before_any_twice():
    stream = _endless(np.arange(7), 3, np.random.default_rng(0))
    for _ in range(4):
        once = np.concatenate([next(stream), next(stream)])
        assert len(set(once.tolist())) == 6


def test_the_learning_rate_rises_then_falls():
    rates = [_schedule(step, 1000) for step in range(1000)]
    assert rates[0] < rates[30] < rates[59]
    assert rates[59] == max(rates)
    assert rates[-1] == pytest.approx(0.002, abs=1e-4)
