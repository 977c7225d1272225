"""A small network of dense layers with ReLU between them, its gradient, and Adam: all a routing policy needs to learn.

    h_0 = x,    h_{l+1} = relu(h_l W_l + b_l),    output = h_L W_L + b_L        x (B, F), output (B, A)

All parameters are views of one flat array, so that an optimiser step is a few operations on it. Torch with autograd
gives the same gradient (tests/unit/aegir_rl/offline/test_policy_network.py).
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from aegir_rl.base.arrays import F32
from aegir_rl.observe.saved_state import array_of, read_count, read_state

BETAS = (0.9, 0.999)
EPSILON = 1e-8
HE_SPREAD = 2**0.5
"""He's: the outputs of a fresh network are about as large as its inputs."""
SMALL_SPREAD = 3**-0.5
"""That of torch's layers: the outputs of a fresh network are near 0."""


class Network:
    """Layers of the sizes (F, hidden…, A), float32."""

    def __init__(
        self,
        sizes: Sequence[int],
        random: np.random.Generator | None = None,
        spread: float = HE_SPREAD,
    ) -> None:
        """Weights are drawn with the deviation spread / sqrt(inputs), or 0 without a generator; biases are 0."""
        self.sizes = tuple(sizes)
        shapes = list(zip(self.sizes[:-1], self.sizes[1:], strict=True))
        self.flat: F32 = np.zeros(sum(i * o + o for i, o in shapes), np.float32)
        self.weights, self.biases = _views(self.flat, shapes)
        if random is not None:
            for weight in self.weights:
                weight[:] = random.normal(size=weight.shape) * (spread / np.sqrt(weight.shape[0]))
        self._gradient: F32 = np.empty_like(self.flat)
        self._weight_gradients, self._bias_gradients = _views(self._gradient, shapes)

    def activations(self, x: F32) -> list[F32]:
        """[x, the output of every layer]; the last one is the network's."""
        layers = [x]
        last = len(self.weights) - 1
        for number, (weight, bias) in enumerate(zip(self.weights, self.biases, strict=True)):
            y = layers[-1] @ weight
            y += bias
            layers.append(y if number == last else np.maximum(y, 0, out=y))
        return layers

    def output(self, x: F32) -> F32:
        """(B, F) -> (B, A)"""
        return self.activations(x)[-1]

    def gradient(self, layers: Sequence[F32], of_output: F32) -> F32:
        """Gradient of a loss by `flat`, from the activations and the loss's gradient by the output (B, A).

        The array is reused by the next call.
        """
        back = of_output
        for number in reversed(range(len(self.weights))):
            np.matmul(layers[number].T, back, out=self._weight_gradients[number])
            np.sum(back, axis=0, out=self._bias_gradients[number])
            if number:
                back = back @ self.weights[number].T
                back *= layers[number] > 0
        return self._gradient

    @property
    def is_weight(self) -> F32:
        """1 where `flat` holds a weight, 0 for a bias: only weights decay."""
        marks = Network(self.sizes)
        for weight in marks.weights:
            weight[:] = 1
        return marks.flat

    def copy_from(self, other: "Network") -> None:
        """Take over all parameters."""
        self.flat[:] = other.flat


class Adam:
    """Adam with decoupled weight decay, on one flat array.

    m ← β1 m + (1 - β1) g,  v ← β2 v + (1 - β2) g²,  θ ← θ - rate (m̂ / (√v̂ + ε) + decay θ)
    """

    def __init__(self, size: int, weight_decay: float | F32 = 0.0) -> None:
        """`weight_decay` is one number, or one per parameter."""
        self._mean: F32 = np.zeros(size, np.float32)
        self._square: F32 = np.zeros(size, np.float32)
        self._room: F32 = np.empty(size, np.float32)
        self._decay = np.asarray(weight_decay, np.float32)
        self._steps = 0

    def step(self, flat: F32, gradient: F32, rate: float) -> None:
        """Change the parameters in place."""
        (first, second), room = BETAS, self._room
        self._steps += 1
        self._mean *= np.float32(first)
        np.multiply(gradient, np.float32(1 - first), out=room)
        self._mean += room
        self._square *= np.float32(second)
        np.multiply(gradient, gradient, out=room)
        room *= np.float32(1 - second)
        self._square += room
        unbiased = 1 - second**self._steps
        np.sqrt(self._square, out=room)
        room += np.float32(EPSILON * unbiased**0.5)
        np.divide(self._mean, room, out=room)
        room *= np.float32(rate * unbiased**0.5 / (1 - first**self._steps))
        if self._decay.any():
            flat *= 1 - np.float32(rate) * self._decay
        flat -= room

    def state_dict(self) -> dict[str, Any]:
        """Both moments as arrays, and the number of steps."""
        return {"mean": self._mean.copy(), "square": self._square.copy(), "steps": self._steps}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Continue exactly from a saved state."""
        shape = (len(self._mean),)
        moments = array_of(shape)
        readers = {"mean": moments, "square": moments, "steps": read_count}
        saved = read_state(state, "the saved optimiser", readers)
        self._mean[:], self._square[:] = saved["mean"], saved["square"]
        self._steps = saved["steps"]


def _views(flat: F32, shapes: Sequence[tuple[int, int]]) -> tuple[list[F32], list[F32]]:
    """Matrices and vectors that share the memory of the flat array."""
    weights, biases, start = [], [], 0
    for inputs, outputs in shapes:
        end = start + inputs * outputs
        weights.append(flat[start:end].reshape(inputs, outputs))
        biases.append(flat[end : end + outputs])
        start = end + outputs
    return weights, biases
