"""Which specialists read which column: a score each, a threshold, and at most `cap` of them per batch.

    scores = sigmoid(W h)  (B, N)          activation = scores > threshold          zero, one or several per column

Each column and specialist is one Bernoulli decision of a policy, with the probability sigmoid(W h / temperature): `sample`
draws it, `log_probabilities` gives the log probability of what was drawn. With a temperature below 1, draws are closer to
what the threshold decides. A cap (`limit_activations`) is applied to what was drawn and is no part of the policy: its log
probabilities are those before the cap.

W begins at zero: every score is 0.5, nothing is above the default threshold, and sampling tries each specialist half
the time. A score does not depend on the other rows and specialists, bit for bit; a cap makes rows compete by their scores.
"""

import torch
from torch import Tensor, nn
from torch.nn import functional

from aegir_rl.base.errors import UsageError


class SpecialistRouter(nn.Module):  # type: ignore[misc]
    """Scores how much each specialist may help with a column."""

    def __init__(
        self,
        d_model: int,
        num_specialists: int,
        threshold: float = 0.5,
        temperature: float = 1.0,
    ) -> None:
        super().__init__()
        if not 0 <= threshold < 1:
            raise UsageError(
                f"activation_threshold is {threshold}; expected a number from 0 to below 1"
            )
        if not 0 < temperature < float("inf"):
            raise UsageError(f"temperature is {temperature}; expected a number above 0")
        self.threshold, self.temperature = threshold, temperature
        self.weight = nn.Parameter(torch.zeros(num_specialists, d_model))

    def forward(self, hidden: Tensor) -> Tensor:
        """Return scores (B, N) for hidden (B, d_model)."""
        return torch.sigmoid(self.logits(hidden))

    def activate(self, scores: Tensor) -> Tensor:
        """Return the activation (B, N): true where a score is above the threshold."""
        return scores > self.threshold

    def sample(self, scores: Tensor, generator: torch.Generator | None = None) -> Tensor:
        """Draw an activation (B, N) from scores (B, N): true with the probability that is the score, at temperature 1."""
        noise = torch.rand(scores.shape, generator=generator, device=scores.device)
        chances = scores.detach()
        if self.temperature != 1:
            chances = torch.sigmoid(chances.logit() / self.temperature)
        return noise < chances

    def decision_logits(self, hidden: Tensor) -> Tensor:
        """Return logits (B, N) of the probabilities with which activations are drawn."""
        return self.logits(hidden) / self.temperature

    def log_probabilities(self, hidden: Tensor, activation: Tensor) -> Tensor:
        """Return the log probability (B, N) of each decision."""
        return bernoulli_log_probabilities(self.decision_logits(hidden), activation)

    def logits(self, hidden: Tensor) -> Tensor:
        """Return logits (B, N), whose sigmoid is the score."""
        # Not a matrix product: its rounding would depend on how many rows and specialists there are.
        return (hidden[:, None] * self.weight).sum(dim=-1)


def bernoulli_log_probabilities(logits: Tensor, decisions: Tensor) -> Tensor:
    """Return log sigmoid(logits) where a decision is true, log(1 - sigmoid(logits)) where it is false."""
    return functional.logsigmoid(torch.where(decisions, logits, -logits))


def limit_activations(activation: Tensor, scores: Tensor, cap: int | None) -> Tensor:
    """Return the activation (B, N) with the `cap` highest scores of the batch; the first of equal ones stay."""
    if cap is None:
        return activation
    if isinstance(cap, bool) or not isinstance(cap, int) or cap < 1:
        raise UsageError(
            f"cap is {cap!r}; expected at least 1 activation per batch, or None for no cap "
            "(routing_hidden=None reads without specialists)"
        )
    ranked = scores.detach().masked_fill(~activation, -1.0).flatten()  # scores are above -1
    first = ranked.sort(descending=True, stable=True).indices[:cap]
    highest = torch.zeros_like(ranked, dtype=torch.bool)
    highest[first] = True
    return activation & highest.reshape(activation.shape)
