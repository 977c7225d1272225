"""Columns in the light of their table: what must matter does, what must not does not.

Tables are read in both directions and the two readings averaged, so only the mirrored order is the same order. Another
one may change embeddings: with random weights by half their length, once trained by little (test_supervised.py).
"""

import pytest
import torch

from aegir.lab.nets.annotator import ByteNetwork, TableBatch, TableMixer
from aegir.readers.bytes.heads import HEAD_SIZES
from aegir.readers.bytes.table_mixer import OTHER, SUBJECT, UNKNOWN
from byte_models import LAYOUTS, random_checkpoint

WIDTH = LAYOUTS["one level"].column_width


@pytest.fixture(scope="module")
def mixer() -> TableMixer:
    checkpoint = random_checkpoint(LAYOUTS["one level"], seed=8)
    net = ByteNetwork(checkpoint.architecture, HEAD_SIZES).requires_grad_(False)
    weights = {name: torch.tensor(one) for name, one in checkpoint.tensors.items()}
    net.load_state_dict({name: weights[name] for name in net.state_dict()})
    return net.mixer


def columns(count: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(count, WIDTH, generator=torch.Generator().manual_seed(seed))


def one_table(count: int, subject: int | None = 0, order: list[int] | None = None) -> TableBatch:
    places = torch.tensor([order or list(range(count))])
    roles = torch.full((1, count), UNKNOWN if subject is None else OTHER)
    if subject is not None:
        roles[places == subject] = SUBJECT
    return TableBatch(places, torch.ones(1, count, dtype=torch.bool), roles)


def effect(one: torch.Tensor, other: torch.Tensor) -> float:
    """Mean distance of rows, over the mean length of a row."""
    return float((one - other).norm(dim=-1).mean() / one.norm(dim=-1).mean())


def test_padding_and_other_tables_change_no_embedding(mixer: TableMixer) -> None:
    vectors = columns(6)
    both = TableBatch(
        torch.tensor([[0, 1, 2, 3], [4, 5, 0, 0]]),
        torch.tensor([[True] * 4, [True, True, False, False]]),
        torch.tensor([[SUBJECT, OTHER, OTHER, OTHER], [SUBJECT, OTHER, OTHER, OTHER]]),
    )
    together = mixer(vectors, both)
    apart = [mixer(vectors[:4], one_table(4)), mixer(vectors[4:], one_table(2))]
    torch.testing.assert_close(together, torch.cat(apart), rtol=0, atol=1e-5)


def test_where_a_column_stands_in_the_batch_changes_no_embedding(mixer: TableMixer) -> None:
    vectors, moved = columns(5), [3, 0, 4, 1, 2]
    here = mixer(vectors, one_table(5))
    # The same table, its columns numbered otherwise in the batch.
    there = mixer(vectors[moved], one_table(5, subject=moved.index(0), order=[1, 3, 4, 0, 2]))
    torch.testing.assert_close(here[moved], there, rtol=0, atol=1e-6)


def test_a_table_read_from_right_to_left_gives_the_same_embeddings(mixer: TableMixer) -> None:
    vectors = columns(5)
    forwards = mixer(vectors, one_table(5))
    backwards = mixer(vectors, one_table(5, order=[4, 3, 2, 1, 0]))
    torch.testing.assert_close(forwards, backwards, rtol=0, atol=1e-5)


def test_the_subject_and_whether_it_is_known_matter(mixer: TableMixer) -> None:
    vectors = columns(4)
    first, second = (mixer(vectors, one_table(4, subject)) for subject in (0, 1))
    unknown = mixer(vectors, one_table(4, None))
    assert effect(first, second) > 0.1
    assert effect(first, unknown) > 0.1
    # Columns 2 and 3 keep their role: what they hear is of another subject.
    assert effect(first[2:], second[2:]) > 0.05


def test_every_column_hears_of_every_sibling(mixer: TableMixer) -> None:
    vectors = columns(4).requires_grad_()
    mixed = mixer(vectors, one_table(4))
    for listener in range(4):
        (heard,) = torch.autograd.grad(mixed[listener].square().sum(), vectors, retain_graph=True)
        assert (heard.norm(dim=-1) > 1e-3).all()


def test_a_column_alone_hears_nothing_and_is_finite(mixer: TableMixer) -> None:
    vectors = columns(2)
    two = TableBatch(
        torch.tensor([[0], [1]]), torch.ones(2, 1, dtype=torch.bool), torch.tensor([[2], [2]])
    )
    mixed = mixer(vectors, two)
    assert torch.isfinite(mixed).all()
    changed = mixer(torch.stack([vectors[0], -vectors[1]]), two)
    assert torch.equal(mixed[0], changed[0])
