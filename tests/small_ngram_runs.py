"""Small training runs of the n-gram model: narrow networks and a handful of known names, some seconds in all."""

from collections.abc import Iterator
from contextlib import contextmanager
from unittest.mock import patch

from aegir.lab.linear_stages import LinearTraining
from aegir.lab.ngram_network.fit import NetworkTraining
from aegir.lab.ngram_network.torch_network import Sizes
from aegir.lab.ngrams import NgramTraining

LINEAR = LinearTraining(features=1500)
NETWORK = NetworkTraining(
    epochs=16,
    everyday=4,
    web=12,
    other=4,
    made_up=4,
    raw=4,
    learning_rate=4e-2,
    dropout=0.1,
    header_rows=400,
    value_rows=2000,
    sizes=Sizes(embedding=8, facts=16, width=32),
)
KNOWN_NAMES = {"status": {"en": ("state", "status")}, "primary_key": {"en": ("id", "key")}}


def small_training(
    seed: int = 0, folds: int = 2, jobs: int = 1, encoder: bool = False
) -> NgramTraining:
    """The settings of a small run; a real sentence encoder would take longer than all the rest."""
    return NgramTraining(LINEAR, NETWORK, seed=seed, folds=folds, jobs=jobs, encoder=encoder)


@contextmanager
def few_known_names() -> Iterator[None]:
    """Make do with a few headers and values: the lists that ship make ten thousand columns."""
    with patch("aegir.lab.ngrams.read_names", lambda path: KNOWN_NAMES):
        yield
