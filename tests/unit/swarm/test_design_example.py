"""The example of the design documents runs as written; bare models are specialists; masks of any type are the same."""

import math
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from aegir.readers.bytes.architecture import Architecture
from aegir.swarm import FrozenSpecialist, RWKVStateFusion, SwarmOrchestrator
from aegir.swarm.column_model import BareColumnModel, ByteColumnModel
from aegir_rl.base.errors import AegirError, UsageError
from swarm_models import byte_model, columns, perturb, swarm, three_specialists

WIDE = Architecture(
    layout=["w1", ["w1"], "w0"],
    widths=(512, 512),
    head_size=64,
    hidden_ratio=1,
    rank=4,
    gram_rows=64,
    column_width=64,
)
"""Eight heads of 64 in every layer, so that one fusion serves all of them."""
ALL = torch.ones(4, 3)


class Vectors(nn.Module):
    """A bare module of one tensor: (B, D) without `positions`, (B, T, D) with it."""

    def __init__(self, width: int = 6, positions: bool = False, scale: float = 1.0) -> None:
        super().__init__()
        self.embedding, self.drop = nn.Embedding(262, width), nn.Dropout(0.5)
        self.positions, self.scale = positions, scale
        nn.init.normal_(self.embedding.weight, generator=torch.Generator().manual_seed(width))

    def forward(self, input_ids: Tensor, mask: Tensor) -> Tensor:
        x = self.scale * self.drop(self.embedding(input_ids)) * mask[..., None]
        return x if self.positions else x.sum(dim=1) / mask.sum(dim=1, keepdim=True)


class States(Vectors):
    """A bare module whose forward returns the outer products of symbols as states, and nothing else."""

    def forward(self, input_ids: Tensor, mask: Tensor) -> list[Tensor]:
        x = super().forward(input_ids, mask)
        return [torch.einsum("bk,bv->bkv", x, x)[:, None]]


class Both(nn.Module):
    """Vector and states."""

    def __init__(self) -> None:
        super().__init__()
        self.states = States()

    def forward(self, input_ids: Tensor, mask: Tensor) -> dict[str, Any]:
        vector = Vectors.forward(self.states, input_ids, mask)
        return {"output": vector, "states": self.states(input_ids, mask)}


@pytest.fixture(scope="module")
def primary() -> ByteColumnModel:
    return byte_model(0, WIDE)


def test_the_example_of_the_design_documents_runs_as_written(primary: ByteColumnModel):
    spec_cta, spec_cpa, spec_geo = byte_model(1), byte_model(2), Both()
    swarm = SwarmOrchestrator(
        primary_model=primary,
        specialists=[spec_cta, spec_cpa, spec_geo],
        fusion=RWKVStateFusion(num_heads=8, head_size=64, num_agents=3),
        d_model=512,
        activation_threshold=0.5,
    )
    assert (swarm.lambda_parallel, swarm.lambda_finish) == (0.3, 0.1)
    input_ids, mask = columns()
    routing_hidden = primary.routing_hidden(input_ids, mask)
    with torch.no_grad():
        swarm.router.weight[1] = routing_hidden[
            2
        ]  # the second is on where the hidden is like that of column 2
        for gate in swarm.entry_gates:
            gate.fill_(1.0)
        result = swarm(input_ids=input_ids, mask=mask, routing_hidden=routing_hidden)
        alone = swarm(input_ids=input_ids, mask=mask, routing_hidden=None)
    assert result["output"].shape == alone["output"].shape == (4, 64)
    assert result["activation_mask"].shape == (4, 3)
    assert bool(result["activation_mask"][2, 1])
    assert not result["activation_mask"][:, [0, 2]].any()  # a score of 0.5 is not above 0.5
    (given,) = result["specialist_outputs"]
    assert given.name == "specialist-2"
    assert given.rows.tolist() == result["activation_mask"][:, 1].nonzero()[:, 0].tolist()
    changed = (result["output"] - alone["output"]).abs().amax(dim=1) > 1e-4
    assert torch.equal(changed, result["activation_mask"].any(dim=1))
    assert alone["specialist_outputs"] == []
    assert not alone["activation_mask"].any()


def test_the_lambdas_are_the_constructors_and_must_be_numbers_from_zero(primary: ByteColumnModel):
    made = SwarmOrchestrator(primary, [], None, 512, 0.5, 0.6, 0.2)
    assert (made.lambda_parallel, made.lambda_finish) == (0.6, 0.2)
    with pytest.raises(UsageError, match="lambda"):
        SwarmOrchestrator(primary, [], None, 512, lambda_parallel=-1.0)
    with pytest.raises(UsageError, match="lambda"):
        SwarmOrchestrator(primary, [], None, 512, lambda_finish=math.nan)


@pytest.mark.parametrize(
    "kind", [torch.bool, torch.uint8, torch.int64, torch.float32, torch.float64]
)
def test_masks_of_any_type_give_the_same_bits(kind: torch.dtype):
    made = swarm([*three_specialists()[:2], FrozenSpecialist("bare", Vectors())], gates=0.5)
    input_ids, mask = columns()
    with torch.no_grad():
        hidden = made.primary_model.routing_hidden(input_ids, mask)
        expected = made(input_ids, mask, hidden, activation=ALL.bool())
        same = made.primary_model.routing_hidden(input_ids, mask.to(kind))
        found = made(input_ids, mask.to(kind), same, activation=ALL.to(kind), drawn=ALL.to(kind))
    assert torch.equal(same, hidden)
    assert torch.equal(found["output"], expected["output"])
    assert found["activation_mask"].dtype == torch.bool


def test_a_mask_need_not_be_true_at_the_beginning():
    model = FrozenSpecialist("bare", Vectors())
    made = SwarmOrchestrator(byte_model(), [model], None, 32)
    input_ids, mask = columns()
    mask = mask.flip(1)
    hidden = made.primary_model.routing_hidden(input_ids, mask)
    (given,) = made(input_ids, mask, hidden, activation=ALL[:, :1])["specialist_outputs"]
    torch.testing.assert_close(given.vectors, model(input_ids, mask).vectors)


@pytest.mark.parametrize(
    ("model", "shapes", "width"),
    [
        (Vectors(), (), 6),
        (Vectors(positions=True), (), 6),
        (States(), ((1, 6, 6),), None),
        (Both(), ((1, 6, 6),), 6),
    ],
)
def test_a_bare_module_is_frozen_with_the_shapes_of_what_it_returns(
    model: nn.Module, shapes: tuple[Any, ...], width: int | None
):
    model.train()
    frozen = FrozenSpecialist("bare", model)
    assert (frozen.state_shapes, frozen.vector_width) == (shapes, width)
    assert model.training  # what it was made from is left as it was
    assert all(weight.requires_grad for weight in model.parameters())
    assert not any(weight.requires_grad for weight in frozen.parameters())
    input_ids, mask = columns()
    found, again = frozen(input_ids, mask), frozen(input_ids, mask)
    for one, other in zip(found.states, again.states, strict=True):
        assert torch.equal(one, other)  # dropout is off
    made = SwarmOrchestrator(byte_model(), [frozen], None, 32)
    assert made.specialists[0].sha256 == frozen.sha256


def test_positions_are_averaged_over_the_symbols_of_a_column():
    input_ids, mask = columns()
    alone = FrozenSpecialist("one", Vectors()).eval()
    mean = FrozenSpecialist("two", Vectors(positions=True))
    torch.testing.assert_close(mean(input_ids, mask).vectors, alone(input_ids, mask).vectors)


def test_a_bare_modules_states_change_what_the_primary_reads():
    primary = byte_model()
    fusions = [RWKVStateFusion(heads, keys, 1) for heads, keys, _ in primary.state_shapes]
    made = SwarmOrchestrator(primary, [States()], fusions, primary.d_model, observation=False)
    perturb(made)
    input_ids, mask = columns()
    hidden = primary.routing_hidden(input_ids, mask)
    on = made(input_ids, mask, hidden, activation=ALL[:, :1])["output"]
    moved = (on - made(input_ids, mask)["output"]).detach().abs().amax(dim=1)
    assert float(moved.min()) > 1e-3
    on.square().sum().backward()
    assert all(float(weight.grad.abs().max()) > 0 for weight in made.alignments.parameters())
    made.check_unchanged()


def test_bare_models_are_called_by_their_name_or_their_place():
    named = Vectors()
    named.name = "geo"
    made = SwarmOrchestrator(byte_model(), [Vectors(5), named, byte_model(1)], None, 32)
    assert [each.name for each in made.specialists] == ["specialist-1", "geo", "specialist-3"]


def test_altered_weights_of_a_bare_model_are_found():
    made = SwarmOrchestrator(byte_model(), [Vectors().bfloat16()], None, 32)
    made.check_unchanged()
    frozen = made.specialists[0].model
    assert isinstance(frozen, BareColumnModel)
    frozen.module.embedding.weight.data[0, 0] += 1
    with pytest.raises(AegirError, match="weights of specialist 'specialist-1' have changed"):
        made.check_unchanged()


def test_what_a_bare_model_gives_that_is_not_finite_is_left_out():
    made = SwarmOrchestrator(byte_model(), [Vectors(scale=math.nan), Vectors(5)], None, 32)
    perturb(made)
    input_ids, mask = columns()
    hidden = made.primary_model.routing_hidden(input_ids, mask)
    result = made(input_ids, mask, hidden, activation=ALL[:, :2])
    assert result["dropped"].tolist() == [[True, False]] * 4
    assert result["reports"] == [
        "specialist 'specialist-1' gave numbers that are not finite on 4 of 4 columns (first: 0); left out"
    ]
    only = made(input_ids, mask, hidden, activation=torch.tensor([[0, 1]] * 4))
    torch.testing.assert_close(result["output"], only["output"])


def test_one_column_and_ten_thousand_are_read_with_bare_specialists():
    made = SwarmOrchestrator(byte_model(), [Vectors(), States()], None, 32)
    perturb(made)
    for rows in (1, 10_000):
        input_ids, mask = columns([3] * rows)
        with torch.no_grad():
            hidden = made.primary_model.routing_hidden(input_ids, mask)
            result = made(input_ids, mask.float(), hidden, activation=torch.ones(rows, 2))
        assert result["output"].shape == (rows, 32)
        assert [len(each.rows) for each in result["specialist_outputs"]] == [rows, rows]
        assert bool(result["output"].isfinite().all())


def test_no_specialists_leave_the_primary(primary: ByteColumnModel):
    fusion = RWKVStateFusion(num_heads=8, head_size=64, num_agents=0)
    made = SwarmOrchestrator(primary, [], fusion, d_model=512)
    input_ids, mask = columns()
    with torch.no_grad():
        result = made(input_ids, mask, primary.routing_hidden(input_ids, mask))
        assert torch.equal(result["output"], primary(input_ids, mask).vectors)
    assert result["specialist_outputs"] == []
    assert result["activation_mask"].shape == (4, 0)


class BarePrimary(nn.Module):
    """A recurrence of one head over bytes, from the state that it is given."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(262, 4)

    def forward(
        self, input_ids: Tensor, mask: Tensor, initial: list[Tensor] | None = None
    ) -> tuple[Tensor, list[Tensor]]:
        x = self.embedding(input_ids) * mask[..., None]
        state = torch.einsum("btk,btv->bkv", x, x)[:, None] / 30
        state = state if initial is None else state + initial[0]
        return state.sum(dim=(1, 2)), [state]


def test_a_bare_primary_that_takes_states_reads_from_the_fused_one():
    made = SwarmOrchestrator(BarePrimary(), [States(4)], RWKVStateFusion(1, 4, 1), 8)
    assert isinstance(made.primary_model, BareColumnModel)
    perturb(made)
    input_ids, mask = columns()
    hidden = torch.randn(4, 8, generator=torch.Generator().manual_seed(0))
    on = made(input_ids, mask, hidden, activation=ALL[:, :1])["output"]
    assert float((on - made(input_ids, mask)["output"]).detach().abs().max()) > 1e-3
    on.sum().backward()
    assert float(made.primary_model.module.embedding.weight.grad.abs().max()) > 0


class Fails(nn.Module):
    def forward(self, input_ids: Tensor) -> Tensor:
        return input_ids.float()


class Labels(nn.Module):
    def forward(self, input_ids: Tensor, mask: Tensor) -> Tensor:
        return input_ids


class Scores(nn.Module):
    def forward(self, input_ids: Tensor, mask: Tensor) -> Tensor:
        return mask.float().sum(dim=1)


class Nothing(nn.Module):
    def forward(self, input_ids: Tensor, mask: Tensor) -> None:
        return None


@pytest.mark.parametrize(
    ("model", "sentence"),
    [
        (Fails(), "'specialist-1' cannot be called as forward.input_ids, mask. with one column"),
        (
            Labels(),
            "specialist 'specialist-1' gave a tensor of torch.int64; expected tensors of fl",
        ),
        (Scores(), r"'specialist-1' gave a tensor of shape \(1,\) for input_ids of \(1, 8\)"),
        (Nothing(), "specialist 'specialist-1' has neither matrix states nor a vector"),
        ("geo", "specialist 'specialist-1' is str; expected a model that is called with input_ids"),
        (Vectors, "specialist 'specialist-1' is Vectors; expected a model"),
    ],
)
def test_what_cannot_be_a_specialist_is_refused_with_one_sentence(model: Any, sentence: str):
    with pytest.raises(UsageError, match=sentence):
        SwarmOrchestrator(byte_model(), [model], None, 32)


def test_a_primary_without_states_takes_no_fusion():
    with pytest.raises(UsageError, match="the primary has no matrix states to fuse"):
        SwarmOrchestrator(Vectors(), [], RWKVStateFusion(8, 64, 0), 8)
    with pytest.raises(
        UsageError, match=r"takes no states; expected forward\(input_ids, mask, ini"
    ):
        SwarmOrchestrator(Both(), [], RWKVStateFusion(1, 6, 0), 8)
    with pytest.raises(UsageError, match="the primary gives no vectors"):
        SwarmOrchestrator(States(), [], None, 8)
