"""What holds for any swarm."""

import numpy as np
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from aegir.readers.bytes.byte_encoding import PAD
from aegir.readers.swarm.state_fusion import MODES, WEIGHT_NAMES, StateFusion
from aegir.swarm.column_model import ByteColumnModel
from aegir.swarm.fusion import RWKVStateFusion
from aegir.swarm.orchestrator import SwarmOrchestrator
from aegir.swarm.router import SpecialistRouter
from swarm_models import byte_model, columns, perturb, swarm, three_specialists

SPECIALISTS = three_specialists()
PRIMARY = byte_model(0)
CLOSE = {"rtol": 0, "atol": 1e-4}

modes = st.sampled_from(MODES)
seeds = st.integers(0, 2**16)
lengths = st.lists(st.integers(1, 30), min_size=1, max_size=5)


def made(mode: str, order: list[int], seed: int) -> SwarmOrchestrator:
    """A swarm of these specialists, in this order, each with the weights that it has in every such swarm."""
    whole = swarm(SPECIALISTS, mode)
    whole.primary_model = PRIMARY
    perturb(whole, 0.5, seed)
    part = swarm([SPECIALISTS[number] for number in order], mode)
    part.primary_model = PRIMARY
    weights = whole.state_dict()
    agents = [0, *(number + 1 for number in order)]
    kept = {}
    for name, tensor in weights.items():
        kind, *rest = name.split(".")
        if kind in ("alignments", "observations"):
            if int(rest[0]) not in order:
                continue
            name = ".".join([kind, str(order.index(int(rest[0]))), *rest[1:]])
        elif kind in ("router", "observation_gates"):
            tensor = tensor[order]
        elif rest and rest[-1] in ("gates", "projection"):
            tensor = tensor[agents]
        kept[name] = tensor
    part.load_state_dict(kept)
    return part


def run(orchestrator: SwarmOrchestrator, rows: tuple[Tensor, Tensor], activation: Tensor) -> Tensor:
    with torch.no_grad():
        hidden = PRIMARY.routing_hidden(*rows)
        return orchestrator(*rows, hidden, activation=activation)["output"]


def drawn(rows: int, seed: int) -> Tensor:
    return torch.rand(rows, 3, generator=torch.Generator().manual_seed(seed)) < 0.5


@settings(max_examples=15)
@given(mode=modes, sizes=lengths, seed=seeds, off=st.integers(0, 2))
def test_a_specialist_that_is_off_is_absent(
    mode: str, sizes: list[int], seed: int, off: int
) -> None:
    rows, activation = columns(sizes, seed), drawn(len(sizes), seed)
    activation[:, off] = False
    order = [number for number in range(3) if number != off]
    whole = run(made(mode, [0, 1, 2], seed), rows, activation)
    assert torch.equal(whole, run(made(mode, order, seed), rows, activation[:, order]))


@settings(max_examples=15)
@given(mode=modes, sizes=lengths, seed=seeds, order=st.permutations([0, 1, 2]))
def test_reordering_specialists_only_reorders_the_mask(
    mode: str, sizes: list[int], seed: int, order: list[int]
) -> None:
    rows = columns(sizes, seed)
    one, other = made(mode, [0, 1, 2], seed), made(mode, order, seed)
    with torch.no_grad():
        hidden = PRIMARY.routing_hidden(*rows)
        first, second = one(*rows, hidden), other(*rows, hidden)
    assert torch.equal(first["activation_mask"][:, order], second["activation_mask"])
    torch.testing.assert_close(first["output"], second["output"], **CLOSE)


@settings(max_examples=15)
@given(mode=modes, sizes=lengths, seed=seeds)
def test_without_routing_or_with_all_off_the_output_is_the_primarys(
    mode: str, sizes: list[int], seed: int
) -> None:
    rows, orchestrator = columns(sizes, seed), made(mode, [0, 1, 2], seed)
    with torch.no_grad():
        alone = PRIMARY(*rows).vectors
        assert torch.equal(orchestrator(*rows)["output"], alone)
    off = torch.zeros(len(sizes), 3).bool()
    assert torch.equal(run(orchestrator, rows, off), alone)


@settings(max_examples=10)
@given(mode=modes, sizes=lengths, seed=seeds)
def test_a_row_does_not_depend_on_the_others(mode: str, sizes: list[int], seed: int) -> None:
    (symbols, mask), activation = columns(sizes, seed), drawn(len(sizes), seed)
    orchestrator = made(mode, [0, 1, 2], seed)
    together = run(orchestrator, (symbols, mask), activation)
    for row, size in enumerate(sizes):
        part = symbols[row : row + 1, :size], mask[row : row + 1, :size]
        alone = run(orchestrator, part, activation[row : row + 1])
        torch.testing.assert_close(alone[0], together[row], **CLOSE)


@given(rows=st.integers(1, 6), number=st.integers(1, 5), seed=seeds)
def test_routing_rows_are_independent(rows: int, number: int, seed: int) -> None:
    generator = torch.Generator().manual_seed(seed)
    router = SpecialistRouter(8, number)
    with torch.no_grad():
        router.weight.copy_(torch.randn(number, 8, generator=generator))
    hidden = torch.randn(rows, 8, generator=generator)
    scores = router(hidden)
    assert bool(((scores > 0) & (scores < 1)).all())
    for row in range(rows):
        torch.testing.assert_close(router(hidden[row : row + 1])[0], scores[row])


def random_fusion(
    mode: str, agents: int, seed: int
) -> tuple[RWKVStateFusion, list[Tensor], Tensor]:
    generator = torch.Generator().manual_seed(seed)
    fusion = RWKVStateFusion(2, 4, agents, mode)
    with torch.no_grad():
        for weight in fusion.parameters():
            weight.copy_(torch.randn(weight.shape, generator=generator))
    states = [torch.randn(3, 2, 4, 4, generator=generator) * 3 for _ in range(agents)]
    strengths = torch.rand(3, agents, generator=generator)
    return fusion, states, strengths * (torch.rand(3, agents, generator=generator) < 0.6)


@given(agents=st.integers(1, 5), only=st.integers(0, 4), seed=seeds)
def test_weight_one_on_one_agent_returns_its_state(agents: int, only: int, seed: int) -> None:
    fusion, states, _ = random_fusion("weighted_sum", agents, seed)
    only %= agents
    strengths = torch.zeros(3, agents)
    strengths[:, only] = torch.rand(3, generator=torch.Generator().manual_seed(seed)) + 0.01
    assert torch.equal(fusion(states, strengths), states[only])


@given(agents=st.integers(1, 5), seed=seeds)
def test_the_weights_of_a_head_sum_to_one(agents: int, seed: int) -> None:
    fusion, states, strengths = random_fusion("weighted_sum", agents, seed)
    strengths[:, 0] = 1
    total = fusion.weights(states, strengths).sum(dim=1)
    torch.testing.assert_close(total, torch.ones_like(total))


@given(mode=modes, agents=st.integers(1, 5), seed=seeds)
def test_the_primary_is_one_more_agent_of_strength_one(mode: str, agents: int, seed: int) -> None:
    fusion, states, strengths = random_fusion(mode, agents, seed)
    own = torch.randn(3, 2, 4, 4, generator=torch.Generator().manual_seed(seed + 1))
    one = torch.ones(3, 1)
    other = RWKVStateFusion(2, 4, agents + 1, mode)
    with torch.no_grad():
        if mode == "weighted_sum":
            other.query.copy_(fusion.query)
        else:
            name = WEIGHT_NAMES[mode]
            getattr(other, name)[1:] = getattr(fusion, name)
    expected = other([own, *states], torch.cat([one, strengths], dim=1))
    assert torch.equal(fusion(states, strengths, own), expected)


@given(mode=modes, agents=st.integers(1, 5), seed=seeds)
def test_fusion_in_numpy_is_fusion_in_torch(mode: str, agents: int, seed: int) -> None:
    fusion, states, strengths = random_fusion(mode, agents, seed)
    weight = getattr(fusion, WEIGHT_NAMES[mode]).detach().numpy()
    twin, arrays = StateFusion(mode, weight), [state.numpy() for state in states]
    for own in (None, states[-1]):
        ours = twin(arrays, strengths.numpy(), None if own is None else own.numpy())
        with torch.no_grad():
            theirs = fusion(states, strengths, own).numpy()
        np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-4)


@settings(max_examples=3)
@given(mode=modes, seed=seeds)
def test_frozen_weights_stay_bit_equal_in_training(mode: str, seed: int) -> None:
    orchestrator = made(mode, [0, 1, 2], seed)
    orchestrator.primary_model = byte_model(0)
    before = [
        {name: tensor.clone() for name, tensor in specialist.state_dict().items()}
        for specialist in SPECIALISTS
    ]
    optimizer = torch.optim.AdamW(orchestrator.parameters(), lr=0.1, weight_decay=0.5)
    rows = columns([9, 5], seed)
    for _ in range(2):
        hidden = orchestrator.primary_model.routing_hidden(*rows)
        output = orchestrator(*rows, hidden, activation=torch.ones(2, 3).bool())["output"]
        optimizer.zero_grad()
        output.square().sum().backward()
        optimizer.step()
    orchestrator.check_unchanged()
    for specialist, held in zip(SPECIALISTS, before, strict=True):
        for name, tensor in specialist.state_dict().items():
            assert torch.equal(tensor, held[name])


def test_padding_and_masked_symbols_are_the_same_to_the_byte_network() -> None:
    model: ByteColumnModel = PRIMARY
    symbols, mask = columns([12, 20], 3)
    noise = torch.where(mask, symbols, 65)
    assert bool((symbols == PAD).any())
    with torch.no_grad():
        assert torch.equal(model(noise, mask).vectors, model(symbols, mask).vectors)
        assert torch.equal(model.routing_hidden(noise, mask), model.routing_hidden(symbols, mask))
