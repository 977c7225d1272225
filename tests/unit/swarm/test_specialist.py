"""Frozen specialists: never changed, read row by row, in parallel, refused when they do not fit."""

import threading
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from aegir.readers.bytes.checkpoint import Checkpoint, save_checkpoint
from aegir.readers.swarm.weights_file import load_specialist, save_specialist
from aegir.swarm.column_model import ModelOutput
from aegir.swarm.specialist import FrozenSpecialist, check_specialists, run_specialists
from aegir_rl.base.errors import AegirError, UsageError
from aegir_rl.base.safetensors_file import read_safetensors, safetensors_bytes
from byte_models import random_checkpoint
from swarm_folders import LAYOUT
from swarm_models import LENGTHS, Altered, BytesSeen, byte_model, columns, pattern


def test_it_gives_the_states_and_vectors_of_its_model():
    model, (symbols, mask) = byte_model(1), columns()
    with torch.no_grad():
        expected = model(symbols, mask)
    given = FrozenSpecialist("geo", model)(symbols, mask)
    assert [tuple(state.shape) for state in given.states] == [(4, 1, 32, 32), (4, 2, 32, 32)]
    for ours, theirs in zip(
        (given.vectors, *given.states), (expected.vectors, *expected.states), strict=True
    ):
        assert torch.equal(ours, theirs)
        assert not ours.requires_grad


def test_no_parameter_has_a_gradient_and_training_mode_does_nothing():
    specialist = FrozenSpecialist("geo", byte_model(1))
    assert not any(parameter.requires_grad for parameter in specialist.parameters())
    specialist.train()
    assert not any(module.training for module in specialist.modules())


def test_training_the_model_it_was_made_from_changes_nothing():
    model = byte_model(1)
    specialist = FrozenSpecialist("geo", model)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(1)
    specialist.check_unchanged()
    assert all(parameter.requires_grad for parameter in model.parameters())


@pytest.mark.parametrize("wrapped", [False, True])
def test_a_change_of_one_bit_is_found(wrapped: bool):
    model = byte_model(1)  # has a fingerprint of its own; around it is a module that has none
    specialist = FrozenSpecialist("geo", Altered(model, _same) if wrapped else model)
    weight = next(specialist.parameters())
    weight.data[0] = float(np.nextafter(np.float32(weight[0]), np.float32(np.inf)))
    with pytest.raises(AegirError, match="weights of specialist 'geo' have changed"):
        specialist.check_unchanged()


def _same(symbols: torch.Tensor, output: ModelOutput) -> ModelOutput:
    return output


def test_only_routed_rows_are_read_cut_to_the_longest_of_them():
    seen = []

    def note(symbols: torch.Tensor, output: ModelOutput) -> ModelOutput:
        seen.append(symbols)
        return output

    specialist = FrozenSpecialist("geo", Altered(byte_model(1), note))
    symbols, mask = columns()
    activation = torch.tensor([[False], [True], [True], [False]])
    (given,) = run_specialists([specialist], symbols, mask, activation)
    assert given.rows.tolist() == [1, 2]
    (read,) = seen
    assert torch.equal(read, symbols[1:3, : LENGTHS[2]])
    assert given.seconds > 0
    assert run_specialists([specialist], symbols, mask, ~activation & False) == [None]
    assert len(seen) == 1


def test_specialists_run_at_the_same_time():
    together = threading.Barrier(3, timeout=30)  # breaks unless all three arrive before any goes on

    class Waits(BytesSeen):
        def forward(self, *inputs) -> ModelOutput:
            together.wait()
            return super().forward(*inputs)

        def __deepcopy__(self, memo: dict) -> "Waits":
            return self

    specialists = [FrozenSpecialist(name, Waits()) for name in "abc"]
    symbols, mask = columns()
    outputs = run_specialists(specialists, symbols, mask, torch.ones(4, 3).bool(), workers=3)
    assert all(output is not None for output in outputs)


@pytest.mark.parametrize("workers", [1, 2, None])
def test_the_number_of_threads_changes_no_bit(workers: int | None):
    specialists = [FrozenSpecialist(f"s{seed}", byte_model(seed)) for seed in (1, 2, 3)]
    symbols, mask = columns()
    outputs = run_specialists(specialists, symbols, mask, pattern(4, 3), workers)
    for number, specialist in enumerate(specialists):
        rows = pattern(4, 3)[:, number].nonzero()[:, 0]
        longest = int(mask[rows].sum(dim=1).max())
        expected = specialist(symbols[rows, :longest], mask[rows, :longest])
        assert torch.equal(outputs[number].vectors, expected.vectors)


def test_an_error_in_a_thread_is_raised():
    def fail(symbols: torch.Tensor, output: ModelOutput) -> ModelOutput:
        raise AegirError("no")

    specialists = [FrozenSpecialist(name, Altered(byte_model(), fail)) for name in "ab"]
    symbols, mask = columns()
    with pytest.raises(AegirError, match="no"):
        run_specialists(specialists, symbols, mask, torch.ones(4, 2).bool())


def test_a_model_that_gives_other_shapes_than_it_says_is_refused():
    def fewer(symbols: torch.Tensor, output: ModelOutput) -> ModelOutput:
        return replace(output, states=output.states[:1])

    symbols, mask = columns()
    specialist = FrozenSpecialist("geo", Altered(byte_model(), fewer))
    with pytest.raises(UsageError, match="specialist 'geo' gave states of shapes"):
        run_specialists([specialist], symbols, mask, torch.ones(4, 1).bool())


def test_names_and_vocabularies_must_fit():
    class OtherVocabulary(BytesSeen):
        symbols = 50_000

    with pytest.raises(UsageError, match=r"cannot be the name of a specialist"):
        FrozenSpecialist("../geo", BytesSeen())
    one = FrozenSpecialist("geo", BytesSeen())
    with pytest.raises(UsageError, match="two specialists are called 'geo'"):
        check_specialists(byte_model(), [one, one])
    with pytest.raises(UsageError, match="vocabulary of 50000 symbols, the primary one of 262"):
        check_specialists(byte_model(), [FrozenSpecialist("words", OtherVocabulary())])


def test_a_saved_specialist_is_loaded_with_its_manifest(tmp_path: Path):
    checkpoint = random_checkpoint(LAYOUT, 1)
    path = tmp_path / "geo.safetensors"
    saved = save_specialist(path, checkpoint, "geo", "places", ("maps",), {"f1": 0.9}, {"f1": 0.4})
    specialist = FrozenSpecialist.load(path)
    assert specialist.manifest == saved
    assert (saved.domain, saved.data) == ("places", ("maps",))
    assert (saved.scores_inside, saved.scores_outside) == ({"f1": 0.9}, {"f1": 0.4})
    assert specialist.sha256 == saved.weights_sha256 == specialist.fingerprint()
    first = path.read_bytes()
    loaded = load_specialist(path).checkpoint
    save_specialist(path, loaded, "geo", "places", ("maps",), {"f1": 0.9}, {"f1": 0.4})
    assert path.read_bytes() == first


def altered(path: Path) -> None:
    tensors, metadata = read_safetensors(path)
    tensors["mixer.roles"][0, 0] += 1
    path.write_bytes(safetensors_bytes(tensors, metadata))


def other_vocabulary(path: Path) -> None:
    tensors, metadata = read_safetensors(path)
    tensors["reader.embedding.symbols"] = tensors["reader.embedding.symbols"][:200]
    for name in ("reader.embedding.symbols.scales",):
        if name in tensors:
            tensors[name] = tensors[name][:200]
    path.write_bytes(safetensors_bytes(tensors, metadata))


def without_manifest(path: Path) -> None:
    save_checkpoint(path, random_checkpoint(LAYOUT, 1))


def bare_manifest(path: Path) -> None:
    checkpoint = random_checkpoint(LAYOUT, 1)
    facts = {"specialist": {"name": "geo"}}
    save_checkpoint(path, Checkpoint(checkpoint.architecture, checkpoint.tensors, facts))


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (altered, r"has weights with SHA-256 \w+ but its manifest says \w+; they were altered"),
        (other_vocabulary, r"reader.embedding.symbols has shape \(200, 32\)"),
        (without_manifest, "is a byte network without a manifest"),
        (bare_manifest, "has an unusable manifest"),
        (Path.unlink, "cannot be read as a model"),
    ],
)
def test_a_file_that_cannot_be_trusted_is_refused(tmp_path: Path, change, sentence: str):
    path = tmp_path / "geo.safetensors"
    save_specialist(path, random_checkpoint(LAYOUT, 1), "geo", "places")
    change(path)
    with pytest.raises(UsageError, match=sentence):
        FrozenSpecialist.load(path)


def test_a_manifest_of_other_weights_is_refused(tmp_path: Path):
    path = tmp_path / "geo.safetensors"
    manifest = save_specialist(path, random_checkpoint(LAYOUT, 1), "geo", "places")
    with pytest.raises(UsageError, match="but its manifest says"):
        FrozenSpecialist("geo", byte_model(2), manifest)
    with pytest.raises(UsageError, match="score 'f1' of specialist 'geo' is nan"):
        save_specialist(path, random_checkpoint(LAYOUT), "geo", "", scores_inside={"f1": np.nan})
