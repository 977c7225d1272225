"""The router: scores, activation, sampling, log probabilities, and a cap per batch."""

import math

import pytest
import torch

from aegir.swarm.router import SpecialistRouter, limit_activations
from aegir_rl.base.errors import UsageError


def router() -> SpecialistRouter:
    made = SpecialistRouter(2, 3)
    with torch.no_grad():
        made.weight.copy_(torch.tensor([[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0]]))
    return made


HIDDEN = torch.tensor([[math.log(3), 0.0], [-1.0, -1.0]])


def test_scores_are_the_sigmoid_of_a_product():
    # logits of row 0: ln 3, 0, -ln 3, so 3/4, 1/2, 1/4; of row 1: -1, -1, 2
    low, high = 1 / (1 + math.e), 1 / (1 + math.exp(-2))
    expected = torch.tensor([[0.75, 0.5, 0.25], [low, low, high]])
    torch.testing.assert_close(router()(HIDDEN), expected)


def test_a_specialist_is_on_above_the_threshold_only():
    # 0.5 is not above 0.5; one specialist is on in each row
    made = router()
    assert made.activate(made(HIDDEN)).tolist() == [[True, False, False], [False, False, True]]


def test_an_untrained_router_activates_nothing_and_samples_half():
    made = SpecialistRouter(4, 5)
    scores = made(torch.randn(2000, 4, generator=torch.Generator().manual_seed(0)))
    assert not made.activate(scores).any()
    drawn = made.sample(scores, torch.Generator().manual_seed(0))
    assert 0.48 < float(drawn.float().mean()) < 0.52  # 10,000 draws: half a point is one deviation


def test_a_low_temperature_draws_what_the_threshold_decides():
    # odds of 3 become odds of 3^10, those of 1 stay: 0.75, 0.5, 0.25 become 0.99998, 0.5, 0.00002
    made = SpecialistRouter(4, 3, temperature=0.1)
    scores = torch.tensor([0.75, 0.5, 0.25]).repeat(1000, 1)
    shares = made.sample(scores, torch.Generator().manual_seed(0)).float().mean(dim=0)
    assert shares[0] == 1
    assert 0.45 < float(shares[1]) < 0.55
    assert shares[2] == 0
    with pytest.raises(UsageError, match="temperature is 0"):
        SpecialistRouter(4, 3, temperature=0)


def test_log_probabilities_are_those_of_bernoulli_decisions():
    # row 0: on with 3/4, off with 1 - 1/2, on with 1/4
    activation = torch.tensor([[True, False, True], [False, False, False]])
    found = router().log_probabilities(HIDDEN, activation)[0]
    torch.testing.assert_close(found, torch.tensor([0.75, 0.5, 0.25]).log())


def test_log_probabilities_of_sure_decisions_stay_finite():
    found = router().log_probabilities(torch.tensor([[200.0, 0.0]]), torch.zeros(1, 3).bool())
    assert float(found.detach()[0, 0]) == -200  # log(1 - sigmoid(200)), which rounds to log 0


def test_a_cap_keeps_the_highest_scores_of_the_batch():
    scores = torch.tensor([[0.9, 0.6], [0.8, 0.95]])
    activation = torch.tensor([[True, True], [True, False]])  # 0.95 is off, and stays off
    assert limit_activations(activation, scores, 2).tolist() == [[True, False], [True, False]]
    assert limit_activations(activation, scores, 1).tolist() == [[True, False], [False, False]]
    assert torch.equal(limit_activations(activation, scores, 9), activation)
    assert torch.equal(limit_activations(activation, scores, None), activation)


def test_the_first_of_equal_scores_stay():
    scores, activation = torch.full((2, 2), 0.7), torch.ones(2, 2).bool()
    assert limit_activations(activation, scores, 3).tolist() == [[True, True], [True, False]]


@pytest.mark.parametrize("cap", [0, -1, 1.5, True])
def test_a_cap_below_one_is_refused(cap: object):
    with pytest.raises(UsageError, match=r"cap is .*; expected at least 1 activation per batch"):
        limit_activations(torch.ones(1, 1).bool(), torch.ones(1, 1), cap)


@pytest.mark.parametrize("threshold", [-0.1, 1.0, math.nan])
def test_a_threshold_that_decides_nothing_is_refused(threshold: float):
    with pytest.raises(UsageError, match="activation_threshold"):
        SpecialistRouter(4, 2, threshold)
