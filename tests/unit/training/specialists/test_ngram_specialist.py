"""N-gram networks as a specialist: the same vectors in numpy and torch, and in any company."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from aegir.annotators.ngrams.column_inputs import read_columns
from aegir.annotators.ngrams.specialist import NgramSpecialist
from aegir.annotators.rules.judge import judge_columns
from aegir.errors import UsageError
from aegir.model.architecture import Reading
from aegir.model.byte_encoding import PAD, encode_column, pad
from aegir.model.network import ByteModel
from aegir.model.safetensors_file import safetensors_bytes
from aegir.model.swarm import SwarmModel
from aegir.swarm import FrozenSpecialist, SwarmOrchestrator, build_fusions
from aegir.swarm.saving import swarm_weights
from aegir.tables.table import Table
from aegir.training.ngrams import networks_file
from aegir.training.specialists.ngram_model import NgramColumnModel
from byte_models import random_checkpoint
from ngram_models import PEOPLE, WIDTH, random_network
from swarm_models import LAYOUT, byte_model, swarm

PAGE = (Path(__file__).parents[4] / "docs" / "specialists.md").read_text(encoding="utf-8")
COLUMNS = [column for column in PEOPLE.columns if column.present == column.values]
"""Without missing cells, which symbols do not have."""
SYMBOLS = pad([encode_column(column, Reading()) for column in COLUMNS])[0]


@pytest.fixture(scope="module")
def specialist() -> NgramSpecialist:
    return NgramSpecialist([random_network(0), random_network(3)])


def test_vectors_are_what_the_heads_of_each_network_read(specialist: NgramSpecialist):
    given = specialist.contribute(SYMBOLS)
    assert given.states == ()
    assert given.vectors is not None
    assert given.vectors.shape == (len(COLUMNS), 2 * WIDTH) == (4, specialist.vector_width)
    network = specialist.networks[1]
    tables = [Table("", (column,)) for column in COLUMNS]  # no cell is long enough to be cut
    inputs = read_columns(
        tables, judge_columns(COLUMNS), network.values.index, network.headers.index
    )
    assert np.array_equal(given.vectors[:, WIDTH:], network.read(inputs)[0])


def test_a_column_has_the_same_vector_alone_and_beside_others(specialist: NgramSpecialist):
    together = specialist.vectors(SYMBOLS)
    for row, symbols in enumerate(SYMBOLS):
        short = symbols[symbols != PAD]
        assert np.array_equal(specialist.vectors(short[None])[0], together[row])


def test_it_is_a_frozen_specialist_of_a_swarm(specialist: NgramSpecialist):
    frozen = FrozenSpecialist("ngrams", NgramColumnModel(specialist))
    assert frozen.sha256 == specialist.fingerprint()
    primary = byte_model()
    net = SwarmOrchestrator(
        primary, [frozen], build_fusions(primary.state_shapes, 1), primary.d_model
    )
    ids = torch.tensor(SYMBOLS).long()
    mask = ids != PAD
    hidden = primary.routing_hidden(ids, mask)
    active = torch.tensor([[True], [False], [True], [True]])
    with torch.no_grad():
        net.observation_gates.fill_(0.5)
    result = net(ids, mask, hidden, activation=active)
    given = result["specialist_outputs"][0]
    assert torch.equal(given.vectors, torch.from_numpy(specialist.vectors(SYMBOLS))[[0, 2, 3]])
    alone = net(ids, mask, None)["output"]
    changed = (result["output"] != alone).any(dim=1)
    assert changed.tolist() == active[:, 0].tolist()
    result["output"].square().sum().backward()
    net.check_unchanged()


def test_a_swarm_with_it_reads_the_same_in_numpy(specialist: NgramSpecialist):
    frozen = FrozenSpecialist("ngrams", NgramColumnModel(specialist))
    net = swarm([frozen], gates=0.5)
    weights = swarm_weights(net, "")
    assert weights.settings.specialists == {"ngrams": specialist.fingerprint()}
    model = SwarmModel(ByteModel(random_checkpoint(LAYOUT)), [specialist], weights)
    ids = torch.tensor(SYMBOLS).long()
    mask = ids != PAD
    active = torch.tensor([[True], [True], [False], [True]])
    with torch.no_grad():
        hidden = net.primary_model.routing_hidden(ids, mask)
        theirs = net(ids, mask, hidden, activation=active)["output"].numpy()
    ours = model.read(SYMBOLS, active.numpy()).vectors
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-4)


def write_networks(path: Path, specialist: NgramSpecialist) -> Path:
    """As `aegir train ngrams` leaves them."""
    tensors = {
        f"{number}.{name}": tensor
        for number, network in enumerate(specialist.networks)
        for name, tensor in network.tensors().items()
    }
    path.write_bytes(safetensors_bytes(tensors, {}))
    return path


def test_networks_of_a_fold_are_read_from_their_file(specialist: NgramSpecialist, tmp_path: Path):
    path = write_networks(tmp_path / "networks-fold0.safetensors", specialist)
    assert NgramColumnModel.load(path).fingerprint() == specialist.fingerprint()
    with pytest.raises(UsageError, match="cannot be read as a model"):
        NgramColumnModel.load(tmp_path / "none")
    with pytest.raises(UsageError, match="at least one network"):
        NgramSpecialist([])


def test_the_code_on_the_page_runs(
    specialist: NgramSpecialist, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    (tmp_path / "runs/ngrams-parts").mkdir(parents=True)
    write_networks(tmp_path / "runs/ngrams-parts" / networks_file(0), specialist)
    monkeypatch.chdir(tmp_path)
    (block,) = re.findall(r"^```python\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
    page: dict[str, Any] = {}
    exec(block, page)
    assert page["ngrams"].sha256 == specialist.fingerprint()
    assert page["shipped"].vector_width == NgramSpecialist.shipped().vector_width
