"""The orchestrator: what it returns, what enters the primary, where gradients go, what is refused."""

import math
from collections.abc import Callable
from dataclasses import replace

import pytest
import torch
from torch import Tensor

from aegir.readers.bytes.byte_encoding import PAD
from aegir.readers.swarm.state_fusion import MODES
from aegir.swarm.column_model import ModelOutput
from aegir.swarm.fusion import RWKVStateFusion, build_fusions
from aegir.swarm.orchestrator import SwarmOrchestrator, SwarmOutput
from aegir.swarm.specialist import FrozenSpecialist
from aegir_rl.base.errors import UsageError
from aegir_rl.rl import compute_critical_path
from swarm_models import (
    LENGTHS,
    Altered,
    BytesSeen,
    byte_model,
    columns,
    pattern,
    perturb,
    swarm,
    three_specialists,
)

ALL = torch.ones(len(LENGTHS), 3).bool()


def read(orchestrator: SwarmOrchestrator, activation: Tensor | None = None) -> SwarmOutput:
    symbols, mask = columns()
    hidden = orchestrator.primary_model.routing_hidden(symbols, mask)
    return orchestrator(symbols, mask, hidden, activation=activation)


def alone(orchestrator: SwarmOrchestrator) -> Tensor:
    return orchestrator.primary_model(*columns()).vectors


def distance(one: Tensor, other: Tensor) -> float:
    return float((one - other).detach().abs().max())


def test_it_returns_output_specialist_outputs_and_activation_mask():
    output = read(swarm(three_specialists()), pattern(4, 3))
    assert output["output"].shape == (4, 32)
    assert torch.equal(output["activation_mask"], pattern(4, 3))
    given = [(each.name, each.rows.tolist()) for each in output["specialist_outputs"]]
    assert given == [("same", [0, 3]), ("other", [2]), ("counts", [1])]
    assert not output["dropped"].any()
    assert output["reports"] == []


def test_specialist_outputs_are_those_of_the_activated_specialists_alone():
    only = torch.zeros_like(ALL)
    only[[0, 2], 1] = True
    (given,) = read(swarm(three_specialists()), only)["specialist_outputs"]
    assert (given.name, given.rows.tolist()) == ("other", [0, 2])
    assert given.vectors.shape == (2, 48)
    assert read(swarm(three_specialists()), ~ALL)["specialist_outputs"] == []


def test_without_routing_hidden_no_specialist_is_called():
    def fail(symbols: Tensor, output: ModelOutput) -> ModelOutput:
        raise AssertionError("called")

    made = swarm([FrozenSpecialist("geo", Altered(byte_model(1), fail))], gates=0.5)
    output = made(*columns())
    assert torch.equal(output["output"], alone(made))
    assert output["specialist_outputs"] == []
    assert not output["activation_mask"].any()
    assert not output["scores"].any()


@pytest.mark.parametrize("mode", MODES)
def test_an_untrained_swarm_gives_what_the_primary_gives(mode: str):
    made = swarm(three_specialists(), mode)
    assert torch.equal(read(made, ALL)["output"], alone(made))


@pytest.mark.slow
@pytest.mark.parametrize("observation", [False, True])
@pytest.mark.parametrize("mode", MODES)
def test_gates_have_gradients_at_the_start_and_everything_after_one_step(
    mode: str, observation: bool
):
    made = swarm(three_specialists(), mode, observation=observation)
    optimizer = torch.optim.SGD(made.parameters(), lr=1e-3)
    read(made, ALL)["output"].square().sum().backward()
    gates = [*made.entry_gates, *([made.observation_gates] if observation else [])]
    assert all(float(gate.grad.abs().max()) > 0 for gate in gates)
    optimizer.step()
    optimizer.zero_grad()
    read(made, ALL)["output"].square().sum().backward()
    reader = made.primary_model.network.reader
    reached = [made.router, made.fusions, made.alignments, reader.stage, reader.embedding]
    for module in (*reached, *([made.observations] if observation else [])):
        for name, weight in module.named_parameters():
            assert weight.grad is not None, name
            assert float(weight.grad.abs().max()) > 0, name
    assert distance(read(made, ALL)["output"], alone(made)) > 1e-4  # 0 before the step


@pytest.mark.parametrize("mode", MODES)
def test_the_fused_state_changes_the_output(mode: str):
    made = swarm(three_specialists(), mode, gates=0.5, observation=False)
    for number in range(3):
        only = torch.zeros_like(ALL)
        only[:, number] = True
        changed = (read(made, only)["output"] - alone(made)).detach().abs().amax(dim=1)
        assert float(changed.min()) > 1e-3  # of vectors of about 1


def test_the_states_that_enter_are_those_of_the_equation():
    # one specialist of the primary's layout, gate tanh(g) = 1/2, gates mode with sigmoid(0) = 1/2, score 1/2:
    # S' = 1/2 (1/2 * 1/2 * unit(T)) = unit(T) / 8, where unit(T) has a root mean square of 1 in every head
    specialist = FrozenSpecialist("same", byte_model(1))
    made = swarm([specialist], "gated", observation=False)
    entered: list[Tensor] = []
    forward = made.primary_model.forward

    def note(symbols: Tensor, mask: Tensor, initial: list[Tensor]) -> ModelOutput:
        entered.extend(initial)
        return forward(symbols, mask, initial)

    made.primary_model.forward = note
    with torch.no_grad():
        for gate in made.entry_gates:
            gate.fill_(math.atanh(0.5))
    read(made, torch.ones(4, 1).bool())
    states = specialist(*columns()).states
    assert len(entered) == len(states) == 2
    for own, state in zip(entered, states, strict=True):
        rms = state.square().mean(dim=(2, 3), keepdim=True).sqrt()
        torch.testing.assert_close(own, state / rms / 8)


def test_observations_are_added_with_score_and_gate():
    # no states; score 1/2, gate 3: output = primary + 3/2 v / rms(v), since widths agree
    specialist = FrozenSpecialist("same", byte_model(1))
    primary = byte_model(0)
    made = SwarmOrchestrator(primary, [specialist], None, primary.d_model)
    with torch.no_grad():
        made.observation_gates.fill_(3.0)
    found = read(made, torch.ones(4, 1).bool())["output"]
    vectors = specialist(*columns()).vectors
    rms = vectors.square().mean(dim=1, keepdim=True).sqrt()
    torch.testing.assert_close(found, alone(made) + 1.5 * vectors / rms)


def test_own_states_can_be_given():
    made = swarm(three_specialists(), gates=0.5)
    symbols, mask = columns()
    states = made.primary_model(symbols, mask).states
    hidden = made.primary_model.routing_hidden(symbols, mask)
    off = made(symbols, mask, hidden, activation=~ALL, initial=states)["output"]
    assert torch.equal(off, made.primary_model(symbols, mask, states).vectors)
    on = made(symbols, mask, hidden, activation=ALL, initial=states)["output"]
    assert distance(on, off) > 1e-3
    assert distance(on, read(made, ALL)["output"]) > 1e-3


def not_finite(value: float) -> Callable[[Tensor, ModelOutput], ModelOutput]:
    def change(symbols: Tensor, output: ModelOutput) -> ModelOutput:
        state = output.states[-1].clone()
        state[(symbols != PAD).sum(dim=1) == LENGTHS[1], 0, 3, 3] = (
            value  # column 1, wherever it is
        )
        return replace(output, states=(*output.states[:-1], state))

    return change


@pytest.mark.parametrize("value", [math.nan, math.inf])
@pytest.mark.parametrize("mode", MODES)
def test_what_is_not_finite_is_dropped_counted_and_reported(mode: str, value: float):
    bad = FrozenSpecialist("bad", Altered(byte_model(1), not_finite(value)))
    made = swarm([bad, FrozenSpecialist("good", byte_model(2))], mode, gates=0.5)
    on = torch.ones(4, 2).bool()
    output = read(made, on)
    assert output["dropped"].nonzero().tolist() == [[1, 0]]
    assert output["reports"] == [
        "specialist 'bad' gave numbers that are not finite on 1 of 4 columns (first: 1); left out"
    ]
    output["output"].sum().backward()
    assert all(
        weight.grad.isfinite().all() for weight in made.parameters() if weight.grad is not None
    )
    without = on.clone()
    without[1, 0] = False
    # Only the rows that `bad` reads are fewer, so its result for them may round differently.
    torch.testing.assert_close(read(made, without)["output"], output["output"])


def test_scores_are_the_policy_and_the_cap_is_not():
    made = swarm(three_specialists(), gates=0.5)
    symbols, mask = columns()
    hidden = made.primary_model.routing_hidden(symbols, mask)
    output = made(symbols, mask, hidden, activation=ALL, cap=2)
    assert int(output["activation_mask"].sum()) == 2
    kept = output["scores"][output["activation_mask"]]
    assert torch.equal(kept.sort().values, output["scores"].flatten().sort().values[-2:])
    torch.testing.assert_close(output["log_probabilities"], output["scores"].log())
    output["log_probabilities"].sum().backward()
    assert float(made.router.weight.grad.abs().min()) > 0


def test_log_probabilities_are_those_of_what_was_drawn_at_the_temperature():
    made = swarm(three_specialists(), gates=0.5)
    made.router.temperature = 0.5
    symbols, mask = columns()
    hidden = made.primary_model.routing_hidden(symbols, mask)
    executed = torch.zeros_like(ALL)
    output = made(symbols, mask, hidden, activation=executed, drawn=ALL)
    assert not output["activation_mask"].any()
    logits = 2 * output["scores"].logit()
    torch.testing.assert_close(output["routing_logits"], logits)
    torch.testing.assert_close(output["log_probabilities"], logits.sigmoid().log())
    with pytest.raises(UsageError, match="drawn came without routing_hidden"):
        made(symbols, mask, drawn=ALL)


def test_steps_give_the_critical_path():
    made = swarm(three_specialists())
    output = read(made, pattern(4, 3))
    router, *middle, primary = output["steps"]
    assert [step.name for step in middle] == [
        "specialist same",
        "specialist other",
        "specialist counts",
    ]
    path = compute_critical_path(output["steps"])
    longest = max(step.duration for step in middle)
    assert path.length == pytest.approx(router.duration + longest + primary.duration)
    assert [step.name for step in read(made)["steps"]] == ["router", "primary"]


def test_one_fusion_may_serve_layers_of_one_shape():
    primary = byte_model(0)
    with pytest.raises(UsageError, match="build_fusions makes one fusion per layer"):
        SwarmOrchestrator(primary, [], RWKVStateFusion(1, 32, 0), primary.d_model)
    primary.state_shapes = ((1, 32, 32), (1, 32, 32))
    made = SwarmOrchestrator(primary, [], RWKVStateFusion(1, 32, 0), primary.d_model)
    assert made.fusions[0] is made.fusions[1]


def test_zero_specialists_leave_the_primary():
    made = swarm([])
    output = read(made)
    assert torch.equal(output["output"], alone(made))
    assert output["activation_mask"].shape == (4, 0)


def test_a_specialist_without_states_or_vectors_is_refused():
    class Nothing(BytesSeen):
        vector_width: int | None = None

    with pytest.raises(UsageError, match="neither matrix states nor a vector"):
        FrozenSpecialist("nothing", Nothing())


def test_specialists_are_no_part_of_the_module():
    made = swarm(three_specialists())
    assert not any("specialist" in name for name in made.state_dict())
    assert all(weight.requires_grad for weight in made.parameters())


def test_a_table_of_one_column_and_one_of_ten_thousand():
    made = swarm([FrozenSpecialist("same", byte_model(1))], gates=0.5)
    for rows in (1, 10_000):
        symbols, mask = columns([3] * rows)
        with torch.no_grad():
            hidden = made.primary_model.routing_hidden(symbols, mask)
            output = made(symbols, mask, hidden, activation=torch.ones(rows, 1).bool(), cap=5)
        assert output["output"].shape == (rows, 32)
        assert int(output["activation_mask"].sum()) == min(rows, 5)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"cap": 0}, "cap is 0; expected at least 1"),
        ({"mask": torch.ones(3, 2).bool()}, r"mask \(3, 2\)"),
        ({"routing_hidden": torch.zeros(4, 7)}, r"routing_hidden has shape \(4, 7\); expected"),
        ({"routing_hidden": torch.full((4, 32), math.nan)}, "numbers that are not finite"),
        ({"mask": torch.full((4, 30), 0.5)}, "mask has 0.5; expected 0 and 1, or true and false"),
        ({"mask": torch.full((4, 30), math.nan)}, "mask has nan; expected 0 and 1"),
        (
            {"input_ids": torch.full((4, 30), 262)},
            "input_ids have 262; expected symbols from 0 to 261",
        ),
        ({"input_ids": torch.zeros(4, 30)}, "input_ids are torch.float32; expected whole numbers"),
        (
            {"activation": torch.ones(4, 2).bool()},
            r"activation has shape \(4, 2\); expected \(4, 3\)",
        ),
        ({"activation": torch.full((4, 3), 0.7)}, "activation has 0.7; expected 0 and 1"),
        ({"activation": ALL, "routing_hidden": None}, "activation came without routing_hidden"),
    ],
)
def test_bad_input_is_refused_with_one_sentence(change: dict, sentence: str):
    symbols, mask = columns()
    made = swarm(three_specialists())
    inputs = {"input_ids": symbols, "mask": mask, "routing_hidden": torch.zeros(4, 32)} | change
    with pytest.raises(UsageError, match=sentence):
        made(**inputs)


def test_a_fusion_for_another_number_of_specialists_is_refused():
    primary = byte_model(0)
    with pytest.raises(
        UsageError, match="fusion is for 2 specialists, but 1 came; num_agents counts"
    ):
        SwarmOrchestrator(
            primary,
            [FrozenSpecialist("same", byte_model(1))],
            build_fusions(primary.state_shapes, 2),
            primary.d_model,
        )


def test_any_activation_can_be_trained_towards():
    """A loss that the specialist's vector solves is learnt through the observation channel."""
    losses = []
    for seed in range(3):
        specialist = FrozenSpecialist("counts", BytesSeen())
        made = swarm([specialist], seed=seed)
        perturb(made, 0.1, seed)
        for weight in made.primary_model.parameters():
            weight.requires_grad_(False)
        symbols, mask = columns([20] * 32, seed)
        hidden = made.primary_model.routing_hidden(symbols, mask)
        target = specialist(symbols, mask).vectors[:, :1]
        target = (target - target.mean()) / target.std()
        optimizer = torch.optim.Adam([w for w in made.parameters() if w.requires_grad], lr=0.02)
        for _ in range(60):
            output = made(symbols, mask, hidden, activation=torch.ones(32, 1).bool())["output"]
            loss = (output[:, :1] - target).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        with torch.no_grad():
            before = (made.primary_model(symbols, mask).vectors[:, :1] - target).square().mean()
        losses.append(float(loss.detach() / before))
    assert max(losses) < 0.5  # the primary alone is frozen and stays at 1


def test_what_specialists_gave_before_is_used_again_without_reading():
    made = swarm(three_specialists(), gates=0.5)
    first = read(made, ALL)
    symbols, mask = columns()
    hidden = made.primary_model.routing_hidden(symbols, mask)
    fewer = pattern(4, 3)
    known = first["specialist_outputs"]
    again = made(symbols, mask, hidden, activation=fewer, cached=known)
    assert distance(again["output"], read(made, fewer)["output"]) < 1e-6
    assert [step.duration for step in again["steps"][1:-1]] == [0.0] * 3


def test_rows_that_no_specialist_has_read_before_are_refused():
    made = swarm(three_specialists(), gates=0.5)
    known = read(made, pattern(4, 3))["specialist_outputs"]
    symbols, mask = columns()
    hidden = made.primary_model.routing_hidden(symbols, mask)
    with pytest.raises(UsageError, match="'same' has not read row 1, which is routed to it"):
        made(symbols, mask, hidden, activation=ALL, cached=known)
    with pytest.raises(UsageError, match="specialist 'same' has read nothing"):
        made(symbols, mask, hidden, activation=ALL, cached=[])
    strange = [replace(known[0], name="geo"), *known[1:]]
    with pytest.raises(UsageError, match="that of 'geo', which is none of the specialists"):
        made(symbols, mask, hidden, activation=ALL, cached=strange)
