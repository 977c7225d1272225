"""The small network: its gradient is torch's, Adam is torch's."""

import numpy as np
import pytest

from aegir_rl.offline.network import SMALL_SPREAD, Adam, Network

torch = pytest.importorskip("torch")


@pytest.mark.parametrize("sizes", [(3, 2), (3, 5, 2), (1, 7, 4, 3)])
def test_outputs_and_gradients_are_those_of_autograd(sizes: tuple[int, ...]):
    random = np.random.default_rng(0)
    network = Network(sizes, random)
    network.flat += 0.1 * random.normal(size=network.flat.shape).astype(np.float32)  # biases too
    x = random.normal(size=(4, sizes[0])).astype(np.float32)
    of_output = random.normal(size=(4, sizes[-1])).astype(np.float32)
    parameters = [
        torch.tensor(each, requires_grad=True)
        for pair in zip(network.weights, network.biases, strict=True)
        for each in pair
    ]
    y = torch.tensor(x)
    for at in range(0, len(parameters), 2):
        y = y @ parameters[at] + parameters[at + 1]
        y = y.relu() if at < len(parameters) - 2 else y
    y.backward(torch.tensor(of_output))
    layers = network.activations(x)
    assert layers[-1] == pytest.approx(y.detach().numpy(), abs=1e-5)
    expected = np.concatenate([each.grad.numpy().ravel() for each in parameters])
    assert network.gradient(layers, of_output) == pytest.approx(expected, abs=1e-5)


def test_adam_takes_the_steps_of_torch():
    random = np.random.default_rng(1)
    start = random.normal(size=10).astype(np.float32)
    gradients = random.normal(size=(5, 10)).astype(np.float32)
    theirs = torch.nn.Parameter(torch.tensor(start))
    optimiser = torch.optim.AdamW([theirs], lr=0.01, weight_decay=0.5)
    ours, adam = start.copy(), Adam(10, weight_decay=0.5)
    for gradient in gradients:
        theirs.grad = torch.tensor(gradient)
        optimiser.step()
        adam.step(ours, gradient, 0.01)
    assert ours == pytest.approx(theirs.detach().numpy(), abs=1e-6)


def test_a_fresh_network_of_small_spread_says_nearly_nothing():
    x = np.random.default_rng(0).normal(size=(200, 16)).astype(np.float32)
    # Each layer with ReLU keeps a sixth of the variance, the last one a third of what it reads: sqrt(1/6 · 1/6 / 3) = 0.1.
    small, usual = (
        Network((16, 64, 64, 6), np.random.default_rng(1), *spread).output(x).std()
        for spread in ((SMALL_SPREAD,), ())
    )
    assert small < 0.2
    assert usual > 0.8
