"""A small policy that learns by GRPO, in numpy: what a healthy run looks like, in a second or two.

A task is a vector of features; an answer is a sequence of tokens of varying length, padded. Token by token the policy is
a softmax over `features @ weights`, and a hidden teacher of the same form says which token is right. Each update draws
tasks, samples several answers for each, centres the rewards within each task and takes a few clipped policy-gradient
steps with Adam.

Settings (group sizes, length, vocabulary, reward, learning rate, epochs, fixed or fresh tasks) are drawn from the seed,
so that a hundred seeds are a hundred different runs: some master their tasks, some begin with hardly any reward.
"""

from dataclasses import dataclass

import numpy as np

from aegir_rl.base.arrays import Bools, Floats, Ints, standardise_groups

FEATURES = 12
CLIP = 0.2


@dataclass(frozen=True, slots=True)
class Update:
    """The arrays of one update, (B,) per answer or (B, T) per token; faults are injected by changing them."""

    rewards: Floats
    groups: Ints
    missing: Bools
    """Rewards that a rater failed to give."""
    advantages: Floats
    values: Floats
    """What a critic expected of each answer."""
    log_ratios: Floats
    """New minus old log probability of each token, after the update; NaN where an answer is padded."""
    mask: Bools
    entropies: Floats
    choices: int
    lengths: Ints
    gradient_norm: float
    loss: float
    embeddings: Floats
    predictions: Ints
    routing: Bools
    calibration: Floats
    """Rewards of known answers, whose mean should be 0."""
    random: np.random.Generator


class ToyGrpo:
    """The learner; `update` takes one step and returns what a training loop could log."""

    def __init__(self, seed: int) -> None:
        self.random = random = np.random.default_rng([seed, 2718])
        self.tasks = int(random.choice([8, 16, 32]))
        self.tries = int(random.choice([4, 8, 16]))
        self.length = int(random.choice([4, 6, 8]))
        self.choices = int(random.choice([4, 8, 16]))
        self.epochs = int(random.choice([1, 2, 4]))
        self.reward = str(random.choice(["share right", "all right", "noisy score"]))
        self.scaled = bool(random.integers(2))
        self.learning_rate = float(np.exp(random.uniform(np.log(0.005), np.log(0.05))))
        # A fixed set of tasks can be mastered; without one every task is new.
        self.known = random.standard_normal((int(random.choice([0, 16, 64])), FEATURES))
        shape = (FEATURES, self.length * self.choices)
        self.teacher = random.standard_normal(shape)
        # A pretrained start: better than chance, far from perfect.
        self.weights = 0.3 * self.teacher + 0.1 * random.standard_normal(shape)
        self.moments = np.zeros((2, *shape))
        self.steps = 0

    def update(self) -> Update:
        """One batch of answers and the policy-gradient steps on it."""
        features = np.repeat(self._draw_tasks(), self.tries, axis=0)
        groups = np.repeat(np.arange(self.tasks), self.tries)
        before = self._log_probabilities(features)  # (B, T, C)
        tokens = (before + self.random.gumbel(size=before.shape)).argmax(axis=2)  # (B, T)
        lengths = self.random.integers(self.length // 2, self.length + 1, len(groups))
        mask = np.arange(self.length) < lengths[:, None]
        rewards = self._score(features, tokens, mask)
        missing = self.random.random(len(groups)) < 0.05
        advantages = standardise_groups(
            np.where(missing, np.nan, rewards), groups, scaled=self.scaled
        )
        chosen = np.take_along_axis(before, tokens[:, :, None], axis=2)[:, :, 0]
        for _ in range(self.epochs):
            norm, loss = self._step(features, tokens, mask, np.nan_to_num(advantages), chosen)
        after = self._log_probabilities(features)
        moved = np.take_along_axis(after, tokens[:, :, None], axis=2)[:, :, 0] - chosen
        means = np.bincount(groups, rewards) / self.tries
        return Update(
            rewards=rewards,
            groups=groups,
            missing=missing,
            advantages=advantages,
            values=means[groups] + 0.1 * self.random.standard_normal(len(groups)),
            log_ratios=np.where(mask, moved, np.nan),
            mask=mask,
            entropies=-(np.exp(before) * before).sum(axis=2),
            choices=self.choices,
            lengths=lengths,
            gradient_norm=norm,
            loss=loss,
            embeddings=np.tanh(features @ self.weights)[:: max(1, len(groups) // 64)],
            predictions=tokens[:, 0],
            routing=features[:, :4] > 0,
            calibration=self.random.standard_normal(64),
            random=self.random,
        )

    def _draw_tasks(self) -> Floats:
        if len(self.known):
            return self.known[self.random.integers(len(self.known), size=self.tasks)]
        return self.random.standard_normal((self.tasks, FEATURES))

    def _logits(self, features: Floats, weights: Floats) -> Floats:
        return (features @ weights).reshape(len(features), self.length, self.choices)

    def _log_probabilities(self, features: Floats) -> Floats:
        logits = self._logits(features, self.weights)
        logits -= logits.max(axis=2, keepdims=True)
        logs: Floats = logits - np.log(np.exp(logits).sum(axis=2, keepdims=True))
        return logs

    def _score(self, features: Floats, tokens: Ints, mask: Bools) -> Floats:
        right = tokens == self._logits(features, self.teacher).argmax(axis=2)
        share = (right & mask).sum(axis=1) / mask.sum(axis=1)
        if self.reward == "all right":
            return (share == 1).astype(np.float64)
        noise = 0.3 * self.random.standard_normal(len(share)) if self.reward == "noisy score" else 0
        scores: Floats = share + noise
        return scores

    def _step(
        self, features: Floats, tokens: Ints, mask: Bools, advantages: Floats, chosen: Floats
    ) -> tuple[float, float]:
        """One Adam step on the clipped surrogate; the norm of the gradient and the loss."""
        logs = self._log_probabilities(features)
        ratios = np.exp(np.take_along_axis(logs, tokens[:, :, None], axis=2)[:, :, 0] - chosen)
        signs = np.where(mask, advantages[:, None], 0.0)
        clipped = np.clip(ratios, 1 - CLIP, 1 + CLIP)
        surrogate = np.minimum(ratios * signs, clipped * signs)
        weight = np.where(ratios * signs <= clipped * signs, ratios * signs, 0.0) / mask.sum()
        direction = weight[:, :, None] * (np.eye(self.choices)[tokens] - np.exp(logs))
        gradient = features.T @ direction.reshape(len(features), -1)
        self.steps += 1
        self.moments[0] = 0.9 * self.moments[0] + 0.1 * gradient
        self.moments[1] = 0.99 * self.moments[1] + 0.01 * gradient**2
        mean = self.moments[0] / (1 - 0.9**self.steps)
        scale = np.sqrt(self.moments[1] / (1 - 0.99**self.steps)) + 1e-8
        self.weights += self.learning_rate * mean / scale
        return float(np.linalg.norm(gradient)), float(-surrogate.sum() / mask.sum())
