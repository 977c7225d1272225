"""N-gram networks as a specialist: the same vectors in numpy and torch, and in any company."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from aegir.lab.ngrams import networks_file
from aegir.lab.parl.build import load_specialists
from aegir.lab.specialists.ngram_model import NgramColumnModel
from aegir.readers.bytes.architecture import Reading
from aegir.readers.bytes.byte_encoding import PAD, encode_column, pad
from aegir.readers.bytes.checkpoint import rounded
from aegir.readers.bytes.heads import LEAST
from aegir.readers.ngrams.column_inputs import read_columns
from aegir.readers.ngrams.network import HEADS, network_tensors
from aegir.readers.ngrams.specialist import NgramSpecialist
from aegir.readers.rules.judge import judge_columns
from aegir.readers.swarm.annotator import load_swarm_annotator
from aegir.swarm import FrozenSpecialist, SwarmOrchestrator, build_fusions
from aegir.swarm.column_model import ByteColumnModel
from aegir.swarm.saving import save_swarm_folder
from aegir.tables.table import Table
from aegir_rl.base.arrays import softmax
from aegir_rl.base.errors import UsageError
from aegir_rl.base.safetensors_file import safetensors_bytes
from byte_models import annotating_checkpoint
from ngram_models import PEOPLE, random_network
from swarm_folders import FACTS
from swarm_models import byte_model, perturb

PAGE = (Path(__file__).parents[4] / "docs" / "parl.md").read_text(encoding="utf-8")
COLUMNS = [column for column in PEOPLE.columns if column.present == column.values]
"""Without missing cells, which symbols do not have."""
SYMBOLS = pad([encode_column(column, Reading()) for column in COLUMNS])[0]


@pytest.fixture(scope="module")
def specialist() -> NgramSpecialist:
    return NgramSpecialist([random_network(0), random_network(3)])


def test_vectors_are_the_mean_answers_of_the_networks(specialist: NgramSpecialist):
    given = specialist.contribute(SYMBOLS)
    assert given.states == ()
    assert given.vectors is not None
    assert given.vectors.shape == (len(COLUMNS), specialist.vector_width)
    tables = [Table("", (column,)) for column in COLUMNS]  # no cell is long enough to be cut
    types = []
    for network in specialist.networks:
        index = network.values.index, network.headers.index
        inputs = read_columns(tables, judge_columns(COLUMNS), *index)
        types.append(softmax(network.outputs(inputs)["types"]))
    expected = np.maximum(np.log(np.mean(types, axis=0)), LEAST) - LEAST
    assert np.allclose(given.vectors[:, : HEADS["types"]], expected, atol=1e-5)
    assert given.answers is given.vectors


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


def saved_swarm(folder: Path, specialist: NgramSpecialist) -> SwarmOrchestrator:
    """A swarm of random weights, also in a folder; its primary has weights that saving does not round."""
    primary = ByteColumnModel.of(rounded(annotating_checkpoint(FACTS)))
    words = FrozenSpecialist("words", NgramColumnModel(specialist))
    fusions = build_fusions(primary.state_shapes, 1)
    net = SwarmOrchestrator(primary, [words], fusions, primary.d_model)
    perturb(net)
    save_swarm_folder(folder, net, FACTS)
    return net


def test_the_annotator_reads_a_saved_swarm_as_torch_does(
    specialist: NgramSpecialist, tmp_path: Path
):
    net = saved_swarm(tmp_path, specialist)
    annotator = load_swarm_annotator(tmp_path)
    model = annotator.swarm
    assert model.settings.families == {"words": "ngrams"}
    assert model.settings.specialists == {"words": specialist.fingerprint()}
    ids = torch.tensor(SYMBOLS).long()
    mask = ids != PAD
    active = torch.tensor([[True], [True], [False], [True]])
    with torch.no_grad():
        hidden = net.primary_model.routing_hidden(ids, mask)
        alone = net(ids, mask, None)["output"].numpy()
        for activation in (None, active):
            theirs = net(ids, mask, hidden, activation=activation)
            ours = model.read(SYMBOLS, None if activation is None else activation.numpy())
            np.testing.assert_allclose(ours.scores, theirs["scores"].numpy(), rtol=0, atol=1e-4)
            np.testing.assert_allclose(ours.vectors, theirs["output"].numpy(), rtol=0, atol=1e-4)
    assert (np.abs(ours.vectors - alone).max(axis=1) > 0.01).tolist() == active[:, 0].tolist()
    (scores,) = annotator.score([Table("people", tuple(COLUMNS))])
    woken = [routing[0].woken for routing in scores.routing or ()]
    assert woken == theirs["scores"][:, 0].gt(0.5).tolist()


def test_a_swarm_is_refused_with_other_networks_than_its_own(
    specialist: NgramSpecialist, tmp_path: Path
):
    saved_swarm(tmp_path, specialist)
    sentence = rf"'words' of family ngrams has weights with SHA-256 \w+ but the swarm was trained with {specialist.fingerprint()[:12]}"
    write_networks(tmp_path / "words.safetensors", NgramSpecialist([random_network(4)]))
    with pytest.raises(UsageError, match=sentence):
        load_swarm_annotator(tmp_path)
    (tmp_path / "words.safetensors").unlink()  # now those that ship
    with pytest.raises(UsageError, match=sentence):
        load_swarm_annotator(tmp_path)


def test_training_takes_networks_of_a_fold_of_a_swarm_and_those_that_ship(
    specialist: NgramSpecialist, tmp_path: Path
):
    saved_swarm(tmp_path / "swarm", specialist)
    other = NgramSpecialist([random_network(4)])
    write_networks(tmp_path / networks_file(2), other)
    for given, name, expected in (
        (f"ngrams={tmp_path}", "ngrams", other),
        (str(tmp_path / "swarm"), "words", specialist),
        ("ngrams", "ngrams", NgramSpecialist.load()),
    ):
        (found,) = load_specialists([given], fold=2)
        assert (found.name, found.sha256) == (name, expected.fingerprint())
    for wrong, sentence in (
        ("", "there is no '', which should hold specialists"),
        ("ngrams=", "there is no 'ngrams=', which should"),
        (f"ngrams={tmp_path / 'none'}", "none/networks-fold2.safetensors cannot be read"),
    ):
        with pytest.raises(UsageError, match=sentence):
            load_specialists([wrong], fold=2)


def write_networks(path: Path, specialist: NgramSpecialist) -> Path:
    """As `aegir train ngrams` leaves them."""
    path.write_bytes(safetensors_bytes(network_tensors(specialist.networks), {}))
    return path


def test_networks_of_a_fold_are_read_from_their_file(specialist: NgramSpecialist, tmp_path: Path):
    path = write_networks(tmp_path / "networks-fold0.safetensors", specialist)
    assert NgramColumnModel.load(path).fingerprint() == specialist.fingerprint()
    with pytest.raises(UsageError, match="cannot be read as a model"):
        NgramColumnModel.load(tmp_path / "none")
    path.write_bytes(safetensors_bytes({"0.own": np.zeros(1)}, {}))
    with pytest.raises(UsageError, match=r"fold0.* does not hold n-gram networks \(network.* miss"):
        NgramColumnModel.load(path)
    with pytest.raises(UsageError, match="at least one network"):
        NgramSpecialist([])


def test_the_code_on_the_page_runs(
    specialist: NgramSpecialist, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    (tmp_path / "runs/ngrams-parts").mkdir(parents=True)
    write_networks(tmp_path / "runs/ngrams-parts" / networks_file(0), specialist)
    monkeypatch.chdir(tmp_path)
    section = PAGE.split("### N-grams as a specialist")[1].split("\n## ")[0]
    (block,) = re.findall(r"^```python\n(.*?)^```", section, re.DOTALL | re.MULTILINE)
    page: dict[str, Any] = {}
    exec(block, page)
    assert page["ngrams"].sha256 == specialist.fingerprint()
    assert page["shipped"].vector_width == NgramSpecialist.load().vector_width
