"""The swarm in numpy and the swarm in torch are one swarm; and what numpy promises beyond torch."""

import math
from pathlib import Path

import numpy as np
import pytest
import torch

from aegir.lab.nets.annotator import TableBatch
from aegir.readers.bytes.byte_encoding import PAD, Symbols
from aegir.readers.bytes.checkpoint import load_checkpoint
from aegir.readers.bytes.heads import ANSWER_PLACES, ANSWER_WIDTH, HEAD_SIZES, LEAST, join_answer
from aegir.readers.bytes.network import ByteModel
from aegir.readers.bytes.table_mixer import UNKNOWN
from aegir.readers.swarm.network import ROWS_AT_ONCE, SwarmModel
from aegir.readers.swarm.specialists import (
    ByteSpecialist,
    Contribution,
)
from aegir.readers.swarm.state_fusion import (
    MODES,
    Alignment,
    SpecialistRouter,
    StateFusion,
    unit_rms,
)
from aegir.readers.swarm.weights_file import (
    SwarmWeights,
    load_swarm,
    save_specialist,
    save_swarm,
    tensors_sha256,
)
from aegir.swarm.alignment import AlignmentProjection
from aegir.swarm.column_model import ByteColumnModel
from aegir.swarm.fusion import build_fusions
from aegir.swarm.orchestrator import SwarmOrchestrator
from aegir.swarm.saving import save_swarm_folder, swarm_weights
from aegir.swarm.specialist import FrozenSpecialist
from aegir_rl.base.errors import UsageError
from aegir_rl.base.safetensors_file import read_safetensors, safetensors_bytes
from byte_models import random_checkpoint, text_columns
from swarm_folders import LAYOUT, OTHER_LAYOUT
from swarm_models import LENGTHS, BytesSeen, byte_model, pattern, perturb, swarm, three_specialists

CLOSE = {"rtol": 0, "atol": 1e-4}
SYMBOLS = text_columns(LENGTHS)


class BytesSeenTwin:
    """`BytesSeen` in numpy."""

    state_shapes, vector_width = (), BytesSeen.vector_width

    def contribute(self, symbols: Symbols) -> Contribution:
        buckets = symbols[..., None] % 12 == np.arange(12)
        return Contribution(
            (), (buckets & (symbols != PAD)[..., None]).sum(axis=1, dtype=np.float32)
        )


def twins(
    mode: str = "weighted_sum", observation: bool = True, answers: bool = False
) -> tuple[SwarmOrchestrator, SwarmModel]:
    torch_swarm = swarm(
        three_specialists(), mode, gates=0.5, observation=observation, answers=answers
    )
    networks = [random_checkpoint(LAYOUT, 1), random_checkpoint(OTHER_LAYOUT, 2)]
    specialists = [ByteSpecialist(ByteModel(each)) for each in networks]
    primary = ByteModel(random_checkpoint(LAYOUT, 0))
    weights = swarm_weights(torch_swarm, "")
    return torch_swarm, SwarmModel(primary, [*specialists, BytesSeenTwin()], weights)


@pytest.mark.parametrize("observation", [False, True])
@pytest.mark.parametrize("mode", MODES)
def test_scores_activation_and_vectors_agree(mode: str, observation: bool):
    net, model = twins(mode, observation)
    symbols = torch.tensor(SYMBOLS).long()
    mask = symbols != PAD
    with torch.no_grad():
        hidden = net.primary_model.routing_hidden(symbols, mask)
        theirs = net(symbols, mask, hidden)
        forced = net(symbols, mask, hidden, activation=pattern(4, 3))["output"]
        alone = net(symbols, mask)["output"]
    ours = model.read(SYMBOLS)
    assert 0 < int(ours.activation_mask.sum()) < ours.activation_mask.size
    np.testing.assert_allclose(ours.scores, theirs["scores"].numpy(), **CLOSE)
    np.testing.assert_array_equal(ours.activation_mask, theirs["activation_mask"].numpy())
    np.testing.assert_allclose(ours.vectors, theirs["output"].numpy(), **CLOSE)
    np.testing.assert_allclose(
        model.read(SYMBOLS, pattern(4, 3).numpy()).vectors, forced.numpy(), **CLOSE
    )
    assert float((forced - alone).abs().amax(dim=1).min()) > 0.01


def test_answers_of_specialists_are_added_to_those_of_the_heads():
    net, model = twins(answers=True)
    symbols, active = torch.tensor(SYMBOLS).long(), pattern(4, 3)
    active[3] = False
    mask = symbols != PAD
    tables = TableBatch(
        torch.arange(4)[None], torch.ones(1, 4, dtype=torch.bool), torch.full((1, 4), UNKNOWN)
    )
    network = net.primary_model.network
    with torch.no_grad():
        hidden = net.primary_model.routing_hidden(symbols, mask)
        theirs = net(symbols, mask, hidden, activation=active)
        mixed = network.mixer(theirs["output"], tables)
    ours = model.read(SYMBOLS, active.numpy())
    assert ours.vectors.shape == (4, LAYOUT.column_width + ANSWER_WIDTH)
    np.testing.assert_allclose(ours.vectors, theirs["output"].numpy(), **CLOSE)
    assert not ours.vectors[3, LAYOUT.column_width :].any()
    roles = np.full(4, UNKNOWN)
    embedded = model.primary.mix(ours.vectors, roles)
    without = model.primary.mix(ours.vectors[:, : LAYOUT.column_width], roles)
    np.testing.assert_array_equal(embedded[:, : LAYOUT.column_width], without)
    for head, place in ANSWER_PLACES.items():
        with torch.no_grad():
            expected = network.heads[head](mixed).numpy()
        np.testing.assert_allclose(model.primary.head(head, embedded), expected, **CLOSE)
        said = ours.vectors[:, LAYOUT.column_width :][:, place]
        alone = model.primary.head(head, without)
        np.testing.assert_allclose(model.primary.head(head, embedded), alone + said, **CLOSE)
        np.testing.assert_array_equal(model.primary.head(head, embedded)[3], alone[3])
    np.testing.assert_array_equal(
        model.primary.subject(ours.vectors),
        model.primary.subject(ours.vectors[:, : LAYOUT.column_width]),
    )


def test_an_answer_has_log_probabilities_counted_from_the_least():
    # ln 3/4 and ln 1/4 of logits ln 3 and 0; e^-20 is below the least; log odds of 50 are cut to 8
    types = np.full((1, HEAD_SIZES["cta"]), -20.0, np.float32)
    types[0, :2] = math.log(3), 0
    found = join_answer({"cta": types, "personal": np.array([[50.0]], np.float32)}, 1)
    assert found.shape == (1, ANSWER_WIDTH)
    expected = [math.log(3 / 4) - LEAST, math.log(1 / 4) - LEAST, 0]
    np.testing.assert_allclose(found[0, :3], expected, atol=1e-5)
    np.testing.assert_array_equal(found[0, ANSWER_PLACES["personal"]], [8])
    assert not found[0, ANSWER_PLACES["fine"]].any()


@pytest.mark.parametrize(
    ("source", "target"), [((3, 8, 8), (2, 16, 16)), ((5,), (9,)), ((5,), (2, 8, 8)), ((4,), (4,))]
)
def test_alignments_agree(source, target):
    align = AlignmentProjection(source, target)
    generator = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for weight in align.parameters():
            weight.add_(torch.randn(weight.shape, generator=generator))
    x = torch.randn(6, *source, generator=generator)
    tensors = {f"a.{name}": weight.detach().numpy() for name, weight in align.named_parameters()}
    ours = Alignment.of(tensors, "a", source, target)(x.numpy())
    np.testing.assert_allclose(ours, align(x).detach().numpy(), **CLOSE)


def test_numbers_worked_out_by_hand():
    # router: sigmoid(ln 3) = 3/4; rms of (3, 4) is sqrt(25 / 2), so unit is (3, 4) * sqrt(2) / 5
    scores = SpecialistRouter(np.array([[1.0, 0.0]], np.float32))(
        np.array([[math.log(3), 9]], np.float32)
    )
    np.testing.assert_allclose(scores, [[0.75]], rtol=1e-6)
    unit = unit_rms(np.array([[3.0, 4.0]], np.float32))
    np.testing.assert_allclose(unit, np.array([[3.0, 4.0]]) * math.sqrt(2) / 5, rtol=1e-6)
    # query ln 2, states 1 and 2, strengths 1 and 1/2: 2 and 4 / 2, so weights 1/2 and 1/2
    fusion = StateFusion("weighted_sum", np.full((1, 1, 1), math.log(2), np.float32))
    states = [np.full((1, 1, 1, 1), value, np.float32) for value in (1, 2)]
    fused = fusion(states[1:], np.array([[0.5]], np.float32), own=states[0])
    np.testing.assert_allclose(fused.ravel(), [1.5], rtol=1e-6)


@pytest.mark.parametrize("mode", MODES)
def test_a_column_gets_the_same_bits_in_any_company(mode: str):
    _, model = twins(mode)
    lengths = [int(each) for each in np.random.default_rng(0).integers(1, 60, 24)]
    symbols, activation = text_columns(lengths, 5), pattern(24, 3).numpy()
    together = model.read(symbols, activation)
    for row in (0, 5, 6, 23):
        alone = model.read(symbols[row : row + 1, : lengths[row]], activation[row : row + 1])
        np.testing.assert_array_equal(alone.vectors[0], together.vectors[row])
        np.testing.assert_array_equal(alone.scores[0], together.scores[row])


def test_a_column_whose_specialists_are_off_gets_the_primarys_vector():
    _, model = twins()
    activation = pattern(4, 3).numpy()
    activation[2] = False
    found = model.read(SYMBOLS, activation).vectors
    alone = model.primary.vectors(model.primary.read(SYMBOLS))
    np.testing.assert_array_equal(found[2], alone[2])
    assert np.abs(found - alone).max(axis=1)[[0, 1, 3]].min() > 0.01


@pytest.mark.parametrize("workers", [1, 2])
def test_the_number_of_threads_changes_no_bit(workers: int):
    _, model = twins()
    fewer = SwarmModel(
        model.primary,
        model.specialists,
        SwarmWeights(model.settings, twins()[0].swarm_tensors()),
        workers,
    )
    everyone = np.ones((4, 3), bool)
    np.testing.assert_array_equal(
        fewer.read(SYMBOLS, everyone).vectors, model.read(SYMBOLS, everyone).vectors
    )


def test_what_is_not_finite_is_dropped_and_counted():
    _, model = twins()

    class Broken(BytesSeenTwin):
        def contribute(self, symbols: Symbols) -> Contribution:
            given = super().contribute(symbols)
            assert given.vectors is not None
            given.vectors[(symbols != PAD).sum(axis=1) == LENGTHS[1], 3] = np.nan
            return given

    weights = SwarmWeights(model.settings, twins()[0].swarm_tensors())
    broken = SwarmModel(model.primary, [*model.specialists[:2], Broken()], weights)
    everyone = np.ones((4, 3), bool)
    found = broken.read(SYMBOLS, everyone)
    assert np.argwhere(found.dropped).tolist() == [[1, 2]]
    assert found.activation_mask.all()
    without = everyone.copy()
    without[1, 2] = False
    np.testing.assert_array_equal(found.vectors, model.read(SYMBOLS, without).vectors)


def test_any_number_of_columns_is_read_some_at_a_time():
    _, model = twins()
    for rows in (0, 1, ROWS_AT_ONCE + 3, 10_000):
        symbols = np.tile(text_columns([3, 2]), (rows // 2 + 1, 1))[:rows]
        found = model.read(symbols, np.arange(rows)[:, None] % 50 == np.arange(3))
        assert found.vectors.shape == (rows, 32)
        if rows > ROWS_AT_ONCE:
            np.testing.assert_array_equal(
                found.vectors[:2], model.read(symbols[:2], np.eye(2, 3, dtype=bool)).vectors
            )
            np.testing.assert_array_equal(found.vectors[rows - 50 - rows % 50], found.vectors[0])
        assert (found.times.specialists > 0).all() == (rows > 2)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A swarm of two byte networks, saved after its weights have moved."""
    paths = [tmp_path / f"{name}.safetensors" for name in ("geo", "names")]
    save_specialist(paths[0], random_checkpoint(LAYOUT, 1), "geo", "places", ("maps",), {"f1": 0.9})
    save_specialist(paths[1], random_checkpoint(OTHER_LAYOUT, 2), "names", "people")
    made = swarm([FrozenSpecialist.load(path) for path in paths], "gated")
    perturb(made)
    save_swarm_folder(tmp_path / "swarm", made, {"note": 1})
    return tmp_path / "swarm"


def test_a_saved_swarm_is_read_by_numpy(folder: Path):
    model = SwarmModel.load(folder)
    assert list(model.settings.specialists) == ["geo", "names"]
    specialists = [
        FrozenSpecialist.load(folder / f"{name}.safetensors") for name in ("geo", "names")
    ]
    made = swarm(specialists, "gated")
    perturb(made)
    everyone = np.ones((4, 2), bool)
    symbols = torch.tensor(SYMBOLS).long()
    with torch.no_grad():
        hidden = made.primary_model.routing_hidden(symbols, symbols != PAD)
        theirs = made(symbols, symbols != PAD, hidden, activation=torch.tensor(everyone))["output"]
    # the primary was rounded to int8 and float16 when it was saved
    ours = model.read(SYMBOLS, everyone).vectors
    assert np.abs(ours - theirs.numpy()).mean() < 0.05 * np.abs(ours).mean()


def test_a_saved_swarm_without_specialists_is_the_primary(tmp_path: Path):
    save_swarm_folder(tmp_path, swarm([], "gated"))
    model = SwarmModel.load(tmp_path)
    found = model.read(SYMBOLS)
    assert found.activation_mask.shape == (4, 0)
    alone = model.primary.vectors(model.primary.read(SYMBOLS))
    np.testing.assert_array_equal(found.vectors, alone)


def other_specialist(folder: Path) -> None:
    save_specialist(folder / "geo.safetensors", random_checkpoint(LAYOUT, 7), "geo", "places")


def other_primary(folder: Path) -> None:
    (folder / "primary.safetensors").write_bytes((folder / "geo.safetensors").read_bytes())


def without_a_tensor(folder: Path) -> None:
    weights = load_swarm(folder / "swarm.safetensors")
    del weights.tensors["entry_gates.1"]
    save_swarm(folder / "swarm.safetensors", weights)


def another_shape(folder: Path) -> None:
    weights = load_swarm(folder / "swarm.safetensors")
    weights.tensors["router.weight"] = weights.tensors["router.weight"][:1]
    save_swarm(folder / "swarm.safetensors", weights)


def not_finite(folder: Path) -> None:
    weights = load_swarm(folder / "swarm.safetensors")
    weights.tensors["router.weight"][0, 0] = np.nan
    save_swarm(folder / "swarm.safetensors", weights)


def other_settings(folder: Path) -> None:
    tensors, metadata = read_safetensors(folder / "swarm.safetensors")
    metadata["settings"] = '{"mode": "gated"}'
    (folder / "swarm.safetensors").write_bytes(safetensors_bytes(tensors, metadata))


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (
            other_specialist,
            r"geo.safetensors has weights with SHA-256 \w+ but the swarm was trained",
        ),
        (other_primary, r"primary.safetensors has weights with SHA-256"),
        (
            lambda folder: (folder / "names.safetensors").unlink(),
            "names.safetensors cannot be read",
        ),
        (without_a_tensor, "the swarm lacks tensor entry_gates.1"),
        (
            another_shape,
            r"tensor router.weight of the swarm has shape \(1, 32\); expected \(2, 32\)",
        ),
        (not_finite, "tensor router.weight of .* has numbers that are not finite"),
        (other_settings, "has unknown settings"),
        (
            lambda folder: (folder / "swarm.safetensors").write_bytes(
                (folder / "geo.safetensors").read_bytes()
            ),
            "is not a swarm of this version",
        ),
    ],
)
def test_a_folder_that_does_not_fit_together_is_refused(folder: Path, change, sentence: str):
    change(folder)
    with pytest.raises(UsageError, match=sentence):
        SwarmModel.load(folder)


def test_only_specialists_with_a_file_can_be_saved(tmp_path: Path):
    made = swarm([FrozenSpecialist("geo", byte_model(1))])
    with pytest.raises(UsageError, match="specialist 'geo' has no manifest"):
        save_swarm_folder(tmp_path, made)
    with pytest.raises(
        UsageError, match="specialist 'counts' is no byte network, nor a model with a fa"
    ):
        save_swarm_folder(tmp_path, swarm([FrozenSpecialist("counts", BytesSeen())]))


class CountsOfAFamily(BytesSeen):
    """`BytesSeen` as the model of a family, which has a file of its own."""

    family = "counts"

    def tensors(self) -> dict[str, np.ndarray]:
        return {"buckets": np.arange(12)}

    def fingerprint(self) -> str:
        return tensors_sha256(self.tensors())


class CountsOfAFile(BytesSeenTwin):
    """Its twin, as it is found in the folder of a swarm."""

    def __init__(self, family: str, path: Path) -> None:
        assert family == "counts"
        self.stored, _ = read_safetensors(path)

    def fingerprint(self) -> str:
        return tensors_sha256(self.stored)


@pytest.mark.parametrize("mode", [*MODES, None])
def test_a_saved_model_of_another_family_is_found_by_the_caller_and_agrees(
    mode: str | None, tmp_path: Path
):
    save_specialist(tmp_path / "geo.safetensors", random_checkpoint(LAYOUT, 1), "geo", "places")
    geo, counts = (
        FrozenSpecialist.load(tmp_path / "geo.safetensors"),
        FrozenSpecialist("seen", CountsOfAFamily()),
    )
    primary = byte_model()
    fusions = None if mode is None else build_fusions(primary.state_shapes, 2, mode)
    made = SwarmOrchestrator(primary, [geo, counts], fusions, primary.d_model)
    perturb(made)
    save_swarm_folder(tmp_path / "swarm", made)
    assert sorted(path.name for path in (tmp_path / "swarm").iterdir()) == [
        "geo.safetensors",
        "primary.safetensors",
        "seen.safetensors",
        "swarm.safetensors",
    ]
    model = SwarmModel.load(tmp_path / "swarm", find=CountsOfAFile)
    assert model.settings.families == {"seen": "counts"}
    activation = np.array([[1, 1], [0, 1], [1, 0], [0, 0]], bool)
    ours = model.read(SYMBOLS, activation).vectors
    rounded = ByteColumnModel.of(load_checkpoint(tmp_path / "swarm" / "primary.safetensors"))
    made.primary_model.load_state_dict(rounded.state_dict())
    symbols = torch.tensor(SYMBOLS).long()
    with torch.no_grad():
        hidden = made.primary_model.routing_hidden(symbols, symbols != PAD)
        theirs = made(symbols, symbols != PAD, hidden, activation=torch.tensor(activation))
        alone = made(symbols, symbols != PAD)["output"].numpy()
    np.testing.assert_allclose(ours, theirs["output"].numpy(), **CLOSE)
    assert np.abs(ours - alone)[:3].max(axis=1).min() > 0.01


def test_times_are_those_of_the_parts():
    _, model = twins()
    times = model.read(SYMBOLS, np.ones((4, 3), bool)).times
    # one part: router, then three specialists at once, then the primary
    longest = times.specialists.max()
    assert times.critical_path == pytest.approx(times.router + longest + times.primary)
    assert times.cost > 0
    twice = times + times
    assert twice.critical_path == pytest.approx(2 * times.critical_path)
    np.testing.assert_allclose(twice.specialists, 2 * times.specialists)
    nobody = model.read(SYMBOLS, np.zeros((4, 3), bool)).times
    assert nobody.critical_path == pytest.approx(nobody.router + nobody.primary)


def test_wrong_numbers_of_specialists_and_activations_are_refused():
    _, model = twins()
    weights = SwarmWeights(model.settings, twins()[0].swarm_tensors())
    with pytest.raises(UsageError, match="2 specialists came for a swarm of 3"):
        SwarmModel(model.primary, model.specialists[:2], weights)
    with pytest.raises(UsageError, match=r"activation has shape \(4, 2\); expected \(4, 3\)"):
        model.read(SYMBOLS, np.ones((4, 2), bool))
