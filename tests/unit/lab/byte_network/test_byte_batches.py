"""Batches are named by their step: same step, same bytes; and what is varied keeps its labels."""

from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from aegir.lab.byte_network.batches import (
    Augmentation,
    ColumnBatch,
    Drawing,
    batch_of,
    draw_as_is,
    draw_varied,
)
from aegir.lab.byte_network.corpus import build_corpus
from aegir.lab.byte_network.examples import TableExample, choose_grams
from aegir.lab.byte_network.mixture import TableMixture
from aegir.readers.bytes.architecture import Reading
from aegir.readers.bytes.byte_encoding import HEADER
from aegir.readers.bytes.gram_index import GramIndex
from aegir.readers.bytes.table_mixer import OTHER, SUBJECT, UNKNOWN
from aegir.tables.table import Column, Table
from aegir_rl.base.seeding import Seeds
from small_runs import settings_in

READING = Reading()
NOTHING = {one.name: 0.0 for one in fields(Augmentation) if not one.name.startswith("most_")}
HEADS = {"cta": tuple(map(str, range(16))), "cpa": tuple("abcd")}
INDEX = GramIndex.of(np.arange(0, 1 << 20, 3, dtype=np.int32))


def example(columns: int, rows: int = 4, subject: int | None = 0, **more: object) -> TableExample:
    """A table whose cells name their column, labelled with the column's number."""
    made = tuple(
        Column(f"head {i}", tuple(f"c{i} r{row}" for row in range(rows))) for i in range(columns)
    )
    table = Table("made up", made, subject=subject)
    labels = {"cta": tuple((number,) for number in range(columns))}
    return TableExample(table, labels, {"cta": 0.5}, "made_up", **more)


def text_of(drawing: Drawing, place: int) -> str:
    return bytes(int(one) for one in drawing.symbols[place] if one < 256).decode()


def same(one: ColumnBatch, other: ColumnBatch) -> bool:
    pairs = [*zip(one.parts, other.parts, strict=True)]
    return (
        all(torch.equal(a, b) and torch.equal(c, d) for (a, c), (b, d) in pairs)
        and torch.equal(one.noise, other.noise)
        and all(torch.equal(one.targets[head], other.targets[head]) for head in one.targets)
        and torch.equal(one.tables.columns, other.tables.columns)
    )


def test_the_same_step_reads_the_same_bytes_and_another_step_others() -> None:
    mixture = TableMixture({"a": [example(3 + i % 3) for i in range(7)]}, {"a": 4}, seed=5)

    def batch(step: int, drawn: TableMixture = mixture) -> ColumnBatch:
        drawings = [
            draw_varied(one, READING, Augmentation(), Seeds(5), step, place)
            for place, (_, _, one) in enumerate(drawn.draw(step))
        ]
        return batch_of(drawings, INDEX, HEADS, 16)

    fresh = TableMixture(mixture.examples, mixture.per_step, seed=5)
    batch(0)
    assert same(batch(3), batch(3, fresh))  # whatever was drawn before
    assert not same(batch(3), batch(4))


@given(
    st.integers(1, 15),
    st.integers(1, 9),
    st.one_of(st.none(), st.integers(0, 14)),
    st.integers(0, 200),
    st.floats(0, 1),
)
def test_whatever_is_varied_labels_and_subject_stay_with_their_columns(
    columns: int, rows: int, subject: int | None, seed: int, chance: float
):
    known = None if subject is None or subject >= columns else subject
    how = Augmentation(**dict.fromkeys(NOTHING, chance), most_columns=7)
    drawn = draw_varied(example(columns, rows, known), READING, how, Seeds(seed), 0)
    assert 1 <= len(drawn.symbols) == len(drawn.roles) == len(drawn.labels["cta"]) <= 7
    for place, right in enumerate(drawn.labels["cta"]):
        assert right is not None
        assert f"c{right[0]} r" in text_of(drawn, place)
    if known is not None:  # the subject is never dropped
        assert drawn.subject is not None
        assert drawn.labels["cta"][drawn.subject] == (known,)
    shown = [place for place, role in enumerate(drawn.roles) if role == SUBJECT]
    assert shown in ([], [drawn.subject])
    assert set(drawn.roles) <= ({SUBJECT, OTHER} if shown else {UNKNOWN})


@given(st.lists(st.integers(1, 6), min_size=1, max_size=8), st.integers(0, 50))
def test_batching_keeps_labels_weights_and_roles_with_their_columns(sizes: list[int], seed: int):
    drawings = [
        draw_varied(example(size, 4, 0), READING, Augmentation(), Seeds(seed), place)
        for place, size in enumerate(sizes)
    ]
    batch = batch_of(drawings, INDEX, HEADS)
    texts = [
        bytes(int(one) for one in row if one < 256).decode()
        for symbols, _ in batch.parts
        for row in symbols
    ]
    classes = batch.targets["cta"].argmax(dim=1)
    for text, label in zip(texts, classes.tolist(), strict=True):
        assert f"c{label} r" in text
    assert batch.labelled["cta"].all()
    assert (batch.targets["cta"].max(dim=1).values == 1).all()
    assert not batch.labelled["cpa"].any()
    assert not batch.targets["cpa"].any()
    assert set(batch.weights["cta"].tolist()) == {0.5}
    assert set(batch.weights["cpa"].tolist()) == {0.0}
    for row, drawing in enumerate(drawings):
        kept = batch.tables.mask[row]
        numbers = batch.tables.columns[row][kept]
        assert [(one,) for one in classes[numbers].tolist()] == list(drawing.labels["cta"])
        assert batch.tables.roles[row][kept].tolist() == list(drawing.roles)
        subjects = batch.subjects[numbers].tolist()
        assert subjects == [int(place == drawing.subject) for place in range(len(drawing.roles))]
    counted = sorted(batch.tables.columns[batch.tables.mask].tolist())
    assert counted == list(range(len(texts)))


def test_a_header_that_is_the_label_is_never_read() -> None:
    secret = example(4, hide_headers=True)
    shown = Augmentation(**NOTHING)
    for drawn in (
        draw_varied(secret, READING, shown, Seeds(0), 0),
        draw_as_is(secret, READING),
    ):
        assert not any(HEADER in symbols for symbols in drawn.symbols)
        assert "head" not in text_of(drawn, 0)
    open_one = draw_varied(example(4), READING, shown, Seeds(0), 0)
    assert "head 0" in text_of(open_one, 0)


def test_without_augmentation_a_table_is_read_as_it_is_but_for_its_rows() -> None:
    drawn = draw_varied(example(3), READING, Augmentation(**NOTHING), Seeds(0), 0)
    as_is = draw_as_is(example(3), READING)
    assert drawn.roles == as_is.roles == (SUBJECT, OTHER, OTHER)
    assert drawn.labels == as_is.labels
    for one, other in zip(drawn.symbols, as_is.symbols, strict=True):
        assert sorted(one.tolist()) == sorted(other.tolist())


def test_noise_and_dropped_grams_follow_a_table_wherever_it_is_read() -> None:
    drawings = [
        draw_varied(example(2), READING, Augmentation(drop_grams=0.5), Seeds(1), place)
        for place in range(4)
    ]
    together, alone = batch_of(drawings, INDEX, {}, 8), batch_of(drawings[2:3], INDEX, {}, 8)
    numbers = together.tables.columns[2][:2]
    assert torch.equal(together.noise[numbers], alone.noise[alone.tables.columns[0][:2]])
    grams = [row for _, rows in together.parts for row in rows]
    own = [row for _, rows in alone.parts for row in rows]
    for here, there in zip(numbers.tolist(), alone.tables.columns[0][:2].tolist(), strict=True):
        length = len(own[there])
        assert torch.equal(grams[here][:length], own[there])
    missing = [float((row == INDEX.missing).float().mean()) for row in own]
    kept = [float((row == INDEX.missing).float().mean()) for row in _without_loss(drawings[2])]
    assert np.mean(missing) > np.mean(kept)


def _without_loss(drawing: Drawing) -> list[torch.Tensor]:
    whole = Drawing(drawing.symbols, drawing.roles, {}, {}, drawing.subject)
    return [row for _, rows in batch_of([whole], INDEX, {}).parts for row in rows]


def test_the_choice_of_grams_is_repeatable_and_prefers_what_many_groups_share() -> None:
    shared = [Column(None, ("common text", f"only in {i}{i}{i}")) for i in range(6)]
    examples = [TableExample(Table(str(i), (one,)), {}, {}, "s") for i, one in enumerate(shared)]
    chosen = choose_grams(examples, range(6), READING, 200)
    assert np.array_equal(chosen, choose_grams(examples, range(6), READING, 200))
    assert np.array_equal(chosen, np.sort(chosen))
    # All in one group: nothing occurs in two of them.
    assert len(choose_grams(examples, [0] * 6, READING, 200)) == 0


def test_held_out_tables_and_their_groups_are_never_drawn(tmp_path: Path) -> None:
    config = settings_in(tmp_path)
    corpus = build_corpus(config.data, config.held_out, config.seed)
    assert len(corpus.training) == 60
    assert len(corpus.held_out) == 20
    mixture = corpus.mixture(config.supervised.tables_per_step, config.seed)
    drawn = {one.table.name for step in range(8) for _, _, one in mixture.draw(step)}
    assert len(drawn) == 60  # 8 steps of 8 tables: one round
    assert not drawn & {one.table.name for one in corpus.held_out}


@pytest.mark.parametrize("head", ["cta", "cpa"])
def test_labels_of_the_corpus_are_those_of_the_file(tmp_path: Path, head: str) -> None:
    config = settings_in(tmp_path)
    corpus = build_corpus(config.data, config.held_out, config.seed)
    names = corpus.heads[head]
    first = corpus.training[0]
    told = [names[right[0]] if right else None for right in first.labels[head]]
    assert (
        told
        == {
            "cta": ["Person/name", "email", "Date"],
            "cpa": [None, "email", "datePublished"],
        }[head]
    )
