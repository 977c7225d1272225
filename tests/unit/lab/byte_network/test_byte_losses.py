"""The loss of a step: what counts, how much, and that processes add up to one."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from torch import Tensor

from aegir.lab.byte_network.batches import (
    Augmentation,
    ColumnBatch,
    Drawing,
    batch_of,
    draw_varied,
)
from aegir.lab.byte_network.config import ByteTraining
from aegir.lab.byte_network.corpus import Corpus, build_corpus
from aegir.lab.byte_network.examples import TEACHER_HEAD, RightOutputs
from aegir.lab.byte_network.losses import (
    LossWeights,
    _ratio_loss,
    _teacher_loss,
    compute_loss,
)
from aegir.lab.byte_network.supervised import build_network
from aegir.lab.nets.annotator import DROPPED, ByteNetwork
from aegir.lab.nets.chunking import Boundaries
from aegir.readers.bytes.gram_index import GramIndex
from aegir_rl.base.errors import UsageError
from aegir_rl.base.seeding import Seeds
from small_runs import settings_in

EVERYTHING = LossWeights(next_symbol=0.7)


@pytest.fixture(scope="module")
def config(tmp_path_factory: pytest.TempPathFactory) -> ByteTraining:
    return settings_in(tmp_path_factory.mktemp("losses"))


@pytest.fixture(scope="module")
def corpus(config: ByteTraining) -> Corpus:
    return build_corpus(config.data, config.held_out, config.seed)


@pytest.fixture
def net(config: ByteTraining, corpus: Corpus) -> ByteNetwork:
    """Zeros would hide what a term does, so every weight is moved."""
    net = build_network(config.architecture, corpus.heads, 100, config.seed)
    random = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for parameter in net.parameters():
            parameter += 0.1 * torch.randn(parameter.shape, generator=random)
        net.reader.embedding.grams[-1] = 0
    return net


def drawings_of(config: ByteTraining, corpus: Corpus, tables: int) -> list[Drawing]:
    reading, how, seeds = config.architecture.reading, Augmentation(), Seeds(0)
    return [
        draw_varied(one, reading, how, seeds, place)
        for place, one in enumerate(corpus.training[:tables])
    ]


def batch(drawings: list[Drawing], corpus: Corpus, config: ByteTraining) -> ColumnBatch:
    index = GramIndex.of(corpus.grams(config.architecture)[:100])
    return batch_of(drawings, index, corpus.heads, DROPPED * config.architecture.column_width)


def gradients(net: ByteNetwork) -> dict[str, Tensor]:
    found = {
        name: one.grad.clone() if one.grad is not None else torch.zeros_like(one)
        for name, one in net.named_parameters()
    }
    net.zero_grad()
    return found


class Halves:
    """`add_up` of two processes, one after the other: totals are taken down in a first pass, then played back."""

    def __init__(self) -> None:
        self.given: list[list[Tensor]] = []

    def note(self) -> Callable[[Tensor], Tensor]:
        own: list[Tensor] = []
        self.given.append(own)

        def add_up(part: Tensor) -> Tensor:
            own.append(part.detach().clone())
            return part.detach()

        return add_up

    def play(self) -> Callable[[Tensor], Tensor]:
        first, second = self.given
        assert len(first) == len(second), "processes must ask for the same totals"
        totals = iter([a + b for a, b in zip(first, second, strict=True)])
        return lambda part: next(totals)


def test_two_halves_of_a_step_add_up_to_the_loss_and_gradient_of_the_whole(
    config: ByteTraining, corpus: Corpus, net: ByteNetwork
) -> None:
    drawings = drawings_of(config, corpus, 9)
    drawings[1::2] = [replace(one, labels={}, weights={}) for one in drawings[1::2]]
    whole = compute_loss(net, batch(drawings, corpus, config), EVERYTHING)
    whole.total.backward()
    wanted = gradients(net)

    parts = [batch(drawings[start::2], corpus, config) for start in (0, 1)]
    halves = Halves()
    for part in parts:
        compute_loss(net, part, EVERYTHING, add_up=halves.note())
    found = [compute_loss(net, part, EVERYTHING, add_up=halves.play()) for part in parts]
    assert found[0].metrics.keys() == found[1].metrics.keys() == whole.metrics.keys()
    total = sum(one.total for one in found)
    assert total.item() == pytest.approx(whole.total.item(), rel=1e-5)
    total.backward()
    for name, gradient in gradients(net).items():
        size = float(wanted[name].abs().max())
        assert float((gradient - wanted[name]).abs().max()) <= 1e-4 * max(size, 1e-3), name
    for name in ("cta/count", "cta/loss", "next/loss"):
        added = sum(float(one.metrics[name]) for one in found)
        assert added == pytest.approx(float(whole.metrics[name]))


def test_columns_without_a_label_teach_the_heads_nothing(
    config: ByteTraining, corpus: Corpus, net: ByteNetwork
) -> None:
    bare = [
        replace(one, labels={}, weights={}, subject=None) for one in drawings_of(config, corpus, 4)
    ]
    loss = compute_loss(net, batch(bare, corpus, config), LossWeights())
    loss.total.backward()
    assert float(loss.metrics["cta/count"]) == float(loss.metrics["cpa/loss"]) == 0
    assert loss.success.isnan().all()
    heads = {name: one for name, one in gradients(net).items() if name.startswith(("heads", "sub"))}
    assert heads
    assert not any(one.any() for one in heads.values())


def test_one_label_more_or_less_changes_the_loss_by_its_own_term_alone(
    config: ByteTraining, corpus: Corpus, net: ByteNetwork
) -> None:
    plain = LossWeights(alone=0, subject=0, ratio=0, smoothing=0, dropout=0)
    (drawing,) = drawings_of(config, corpus, 1)
    labels = drawing.labels["cta"]
    few = replace(drawing, labels={"cta": (*labels[:-1], None)})
    last = replace(drawing, labels={"cta": (*[None] * (len(labels) - 1), labels[-1])})
    every = replace(drawing, labels={"cta": labels})
    losses = [
        compute_loss(net, batch([one], corpus, config), plain).total.item()
        for one in (few, last, every)
    ]
    assert losses[0] + losses[1] == pytest.approx(losses[2], rel=1e-5)


def test_the_success_of_a_table_is_the_share_of_its_labels_answered_right(
    config: ByteTraining, corpus: Corpus, net: ByteNetwork
) -> None:
    # The heads always answer class 0: of three types and two relations, right are as many as are labelled 0.
    for name in ("cta", "cpa"):
        with torch.no_grad():
            net.heads[name].weight.zero_()
            net.heads[name].bias.zero_()[0] = 1
    drawn = drawings_of(config, corpus, 3)
    labels: list[dict[str, tuple[RightOutputs, ...]]] = [
        {"cta": ((0,), (5,), (0,)), "cpa": (None, (0,), (7,))},  # 3 of 5
        {"cta": ((4,), None, None)},  # 0 of 1
        {},
    ]
    some = [
        replace(one, labels={head: found[: len(one.roles)] for head, found in given.items()})
        for one, given in zip(drawn, labels, strict=True)
    ]
    success = compute_loss(net, batch(some, corpus, config), LossWeights()).success
    assert success[:2].tolist() == pytest.approx([0.6, 0])
    assert success[2].isnan()


def test_a_source_half_trusted_counts_half(
    config: ByteTraining, corpus: Corpus, net: ByteNetwork
) -> None:
    plain = LossWeights(subject=0, ratio=0, dropout=0)
    drawings = drawings_of(config, corpus, 3)
    losses = []
    for trust in (1.0, 0.5, 0.0):
        some = [replace(one, weights=dict.fromkeys(one.weights, trust)) for one in drawings]
        loss = compute_loss(net, batch(some, corpus, config), plain)
        losses.append(loss.total.item())
    assert losses[1] == pytest.approx(losses[0] / 2, rel=1e-5)
    assert losses[2] == 0


def test_each_weight_scales_its_own_term(
    config: ByteTraining, corpus: Corpus, net: ByteNetwork
) -> None:
    given = batch(drawings_of(config, corpus, 3), corpus, config)
    none = LossWeights(alone=0, subject=0, ratio=0, next_symbol=0, dropout=0)

    def loss(**weights: float) -> float:
        return compute_loss(net, given, replace(none, **weights)).total.item()

    base = loss()
    for name in ("alone", "subject", "ratio", "next_symbol"):
        once, twice = loss(**{name: 1.0}) - base, loss(**{name: 2.0}) - base
        assert abs(once) > 1e-3, name
        assert twice == pytest.approx(2 * once, rel=1e-3), name


def test_dropout_is_that_of_the_batch_and_repeats(
    config: ByteTraining, corpus: Corpus, net: ByteNetwork
) -> None:
    given = batch(drawings_of(config, corpus, 3), corpus, config)
    losses = [
        compute_loss(net, given, LossWeights(dropout=dropout)).total.item()
        for dropout in (0.2, 0.2, 0.0)
    ]
    assert losses[0] == losses[1] != losses[2]


def test_a_folder_that_does_not_exist_is_named(tmp_path: Path, config: ByteTraining) -> None:
    nowhere = replace(config, data=replace(config.data, folders=(str(tmp_path / "no"),)))
    with pytest.raises(UsageError, match=r"there is no .*no, which data\.folders names"):
        build_corpus(nowhere.data, nowhere.held_out, nowhere.seed)


def test_the_ratio_loss_of_several_parts_leans_as_that_of_one() -> None:
    """Training leaves out what does not depend on p, so that processes only have to add up."""
    p = torch.rand(4, 9, generator=torch.Generator().manual_seed(0)).requires_grad_()
    mask = torch.arange(9) < torch.tensor([[9], [4], [7], [2]])
    boundary = (p >= 0.5) & mask
    share, mean = boundary.sum() / mask.sum(), (p * mask).sum() / mask.sum()
    (5 / 4 * (4 * share * mean + (1 - share) * (1 - mean))).backward()  # H-Net's ratio loss, N = 5
    whole, p.grad = p.grad, None
    rows = (slice(0, 1), slice(1, 4))
    parts = [SimpleNamespace(boundaries=[Boundaries(p[r], boundary[r], mask[r])]) for r in rows]
    _ratio_loss(parts, 5.0, lambda total: total)[0].backward()
    torch.testing.assert_close(p.grad, whole)
    assert whole.abs().max() > 1e-3


def test_the_loss_of_a_teacher_is_the_weighted_distance_of_worked_numbers() -> None:
    batch = SimpleNamespace(
        labelled={TEACHER_HEAD: torch.tensor([True, False, True])},
        targets={TEACHER_HEAD: torch.tensor([[1.0, 0.0], [0.0, 0.0], [0.0, 1.0]])},
        weights={TEACHER_HEAD: torch.tensor([2.0, 9.0, 1.0])},
    )
    given = torch.tensor([[3.0, 4.0], [5.0, 5.0], [0.0, 2.0]])
    # cosine((3, 4), (1, 0)) = 3 / 5, so 1 - 0.6 = 0.4 with weight 2; (0, 2) points where it should; one has no vector.
    weighted, plain, count = _teacher_loss(torch.nn.Identity(), given, batch)
    assert float(weighted) == pytest.approx(0.8, abs=1e-6)
    assert float(plain) == pytest.approx(0.4, abs=1e-6)
    assert float(count) == 2


def test_a_teacher_is_learnt_from_columns_alone_and_counts_as_no_answer(
    config: ByteTraining, corpus: Corpus
) -> None:
    heads = {**corpus.heads, TEACHER_HEAD: ("0", "1", "2")}
    net = build_network(config.architecture, heads, 100, config.seed)
    taught = [replace(one, labels={}, weights={TEACHER_HEAD: 1.0}) for one in corpus.training[:2]]
    vectors = [
        np.eye(3, dtype=np.float32)[[i] * len(one.table.columns)] for i, one in enumerate(taught)
    ]
    examples = [replace(one, vectors=each) for one, each in zip(taught, vectors, strict=True)]
    how, reading = Augmentation(shuffle_columns=1.0, drop_columns=1.0), config.architecture.reading
    drawn = [draw_varied(one, reading, how, Seeds(0), i) for i, one in enumerate(examples)]
    drawn += drawings_of(config, corpus, 1)
    index = GramIndex.of(corpus.grams(config.architecture)[:100])
    made = batch_of(drawn, index, heads)
    assert int(made.labelled[TEACHER_HEAD].sum()) == sum(len(one.symbols) for one in drawn[:2])
    found = compute_loss(net, made, LossWeights(dropout=0.0))
    found.total.backward()
    assert net.heads[TEACHER_HEAD].weight.grad.abs().sum() > 0
    assert found.success[:2].isnan().all()
    assert found.success[2].isfinite()
    assert f"{TEACHER_HEAD}/right" not in found.metrics
