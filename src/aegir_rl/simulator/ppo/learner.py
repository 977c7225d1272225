"""The update of PPO, in numpy: two small networks, the clipped objective, and nothing hidden.

    learner = PpoLearner(settings, start, seed)
    played = play(table, tasks, learner.choose, …)
    metrics = learner.update(played, rewards, iteration, progress)
    learner.policy(training)                        # a RoutingPolicy, as `aegir rl` and dispatch read it

Actor and critic read the same standardised features and share no layer. The actor's loss is `compute_policy_loss` of
aegir_rl/rl/clipped_objective.py minus an entropy bonus (aegir_rl/rl/entropy.py); its gradient by the logits z of an action a with
probabilities p is

    dL/dz = dL/dlog p_a · (onehot(a) - p) - coefficient · dH/dz

The critic's loss is the mean of (V - return)²/2. Advantages and returns come from aegir_rl/rl/advantages.py once per iteration;
advantages are standardised over the iteration. What ended by its own rules is not bootstrapped, what was cut off is.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from itertools import pairwise
from typing import Any

import numpy as np

from aegir_rl.base.arrays import F32, Floats, Ints, softmax
from aegir_rl.base.errors import UsageError
from aegir_rl.base.seeding import Seeds
from aegir_rl.offline.learning import Standardised
from aegir_rl.offline.network import Adam, Network
from aegir_rl.offline.policy import RoutingPolicy, normalise
from aegir_rl.rl.advantages import GaeResult, compute_gae
from aegir_rl.rl.clipped_objective import PolicyLoss, PpoForm, compute_policy_loss
from aegir_rl.rl.entropy import compute_entropy
from aegir_rl.rl.schedules import LinearSchedule
from aegir_rl.simulator.outcome_table import OutcomeTable
from aegir_rl.simulator.playing import Played, match_policy
from aegir_rl.simulator.ppo.config import PpoSettings

UNKNOWN_ACTION = -8.0
"""Logit of an action that the starting policy never heard of: tried, but rarely."""
SMALL_HEAD = 0.01
"""The last layers of new networks start small: nearly uniform actions, values near 0."""


@dataclass(frozen=True, slots=True, eq=False)
class ActorStart:
    """What an actor begins with: names, standardisation and layers."""

    features: tuple[str, ...]
    columns: Ints
    """Where its features stand in an observation."""
    actions: tuple[str, ...]
    mean: F32
    scale: F32
    actor: Network

    @classmethod
    def new(
        cls,
        seen: Floats,
        names: tuple[str, ...],
        table: OutcomeTable,
        hidden: tuple[int, ...],
        seed: int,
    ) -> "ActorStart":
        """A random actor; `seen` (N, F) are observations to standardise by."""
        data = Standardised.of(seen)
        sizes = (len(names), *hidden, len(table.actions))
        actor = Network(sizes, Seeds(seed).generator("actor"))
        actor.weights[-1][:] *= SMALL_HEAD
        columns = np.arange(len(names))
        return cls(names, columns, table.actions, data.mean, data.scale, actor)

    @classmethod
    def of_policy(cls, policy: RoutingPolicy, table: OutcomeTable) -> "ActorStart":
        """The layers of a policy; the temperature goes into the last one, and actions into the order of the table."""
        if policy.kind == "always":
            raise UsageError(
                f"the policy {policy.version} always takes one action, so PPO would never see another; begin with one of "
                "`aegir rl train-bc` or `train-cql`, or with a random one"
            )
        columns, numbers = match_policy(policy, table)
        sizes = (len(policy.features), *(len(bias) for bias in policy.biases[:-1]))
        actor = Network((*sizes, len(table.actions)))
        for mine, given in zip(actor.weights[:-1], policy.weights[:-1], strict=True):
            mine[:] = given
        for mine, given in zip(actor.biases[:-1], policy.biases[:-1], strict=True):
            mine[:] = given
        actor.biases[-1][:] = UNKNOWN_ACTION
        actor.weights[-1][:, numbers] = policy.weights[-1] / np.float32(policy.temperature)
        actor.biases[-1][numbers] = policy.biases[-1] / np.float32(policy.temperature)
        return cls(policy.features, columns, table.actions, policy.mean, policy.scale, actor)


class PpoLearner:
    """Actor, critic and their optimisers."""

    def __init__(self, settings: PpoSettings, start: ActorStart, seed: int) -> None:
        self.settings, self.start, self._seeds = settings, start, Seeds(seed)
        self.actor = start.actor
        sizes = (len(start.features), *settings.hidden, 1)
        self.critic = Network(sizes, self._seeds.generator("critic"))
        self.critic.weights[-1][:] *= SMALL_HEAD
        decay = np.float32(settings.weight_decay)
        self._networks = {"actor": self.actor, "critic": self.critic}
        self._optimisers = {
            name: Adam(len(network.flat), decay * network.is_weight)
            for name, network in self._networks.items()
        }

    def standardise(self, seen: Floats | F32) -> F32:
        """(B, F) observations as the networks read them."""
        return normalise(seen[:, self.start.columns], self.start.mean, self.start.scale)

    def choose(self, seen: F32, _: Ints, random: np.random.Generator) -> tuple[Ints, Floats]:
        """(B,) actions drawn from the policy, and their probabilities."""
        chances = softmax(self.actor.output(self.standardise(seen)))
        below = chances.cumsum(axis=1) < random.random((len(seen), 1))
        actions = np.minimum(below.sum(axis=1), chances.shape[1] - 1)
        taken = chances[np.arange(len(seen)), actions].astype(np.float64)
        return actions, np.maximum(taken, np.finfo(np.float32).tiny)

    def update(
        self, played: Played, rewards: Floats, iteration: int, progress: float
    ) -> dict[str, float]:
        """Learn from episodes whose decisions were paid `rewards` (E, D); return metrics for the run folder."""
        settings, batch = self.settings, played.batch
        x = self.standardise(batch.features[batch.decided])
        before = self.critic.output(x)[:, 0]
        gae = self._advantages(played, rewards, before)
        data = _Rollout(
            x=x,
            action=batch.actions[batch.decided][:, 0],
            old=batch.log_probabilities[batch.decided][:, 0],
            advantage=_standardised(gae.advantages[batch.decided]),
            returns=gae.returns[batch.decided].astype(np.float32),
            value=before,
        )
        form = PpoForm(LinearSchedule(settings.clip_start, settings.clip_end)(progress))
        bonus = LinearSchedule(settings.entropy_start, settings.entropy_end)(progress)
        fall = LinearSchedule(1.0, settings.rate_end)(progress)
        learns = iteration >= settings.critic_first
        epochs = self._epochs(data, form, bonus, fall, iteration, learns)
        return self._figures(data, form, gae) | {
            "epochs": float(epochs),
            "entropy_bonus": bonus,
            "clip_range": form.clip,
        }

    def policy(self, training: Mapping[str, Any]) -> RoutingPolicy:
        """The actor as a policy that can be saved."""
        return RoutingPolicy(
            kind="ppo",
            features=self.start.features,
            actions=self.start.actions,
            weights=tuple(weight.copy() for weight in self.actor.weights),
            biases=tuple(bias.copy() for bias in self.actor.biases),
            mean=self.start.mean,
            scale=self.start.scale,
            training=training,
        )

    def _advantages(self, played: Played, rewards: Floats, values: F32) -> GaeResult:
        batch = played.batch
        spread = np.zeros(batch.decided.shape)
        spread[batch.decided] = values
        after = None
        if not batch.terminated.all():
            after = self.critic.output(self.standardise(played.after))[:, 0]
        return compute_gae(
            rewards,
            spread,
            decided=batch.decided,
            terminated=batch.terminated,
            end_values=after,
            discount=self.settings.discount,
            smoothing=self.settings.smoothing,
        )

    def _epochs(
        self,
        data: "_Rollout",
        form: PpoForm,
        bonus: float,
        fall: float,
        iteration: int,
        learns: bool,
    ) -> int:
        """Pass over the rollout until the last epoch, or until KL is too large; return the epochs of the actor."""
        settings, goes_on, done = self.settings, learns, 0
        for epoch in range(settings.epochs):
            order = self._seeds.generator("minibatches", iteration, epoch).permutation(len(data.x))
            kls = []
            for rows in np.array_split(order, max(round(len(order) / settings.minibatch), 1)):
                part = data.rows(rows)
                if goes_on:
                    layers = self.actor.activations(part.x)
                    loss, gradient = _actor_loss(layers[-1], part, form, bonus)
                    self._step("actor", layers, gradient, settings.actor_rate * fall)
                    kls.append(loss.figures.get("kl", 0.0))
                layers = self.critic.activations(part.x)
                gradient = _critic_gradient(layers[-1][:, 0], part, settings.value_clip)
                self._step("critic", layers, gradient[:, None], settings.critic_rate * fall)
            done += goes_on
            if settings.kl_stop and kls and float(np.mean(kls)) > settings.kl_stop:
                goes_on = False
        return done

    def _step(self, name: str, layers: list[F32], by_output: F32, rate: float) -> None:
        network = self._networks[name]
        gradient = network.gradient(layers, by_output)
        norm = float(np.sqrt(np.dot(gradient, gradient)))
        if norm > self.settings.gradient_norm:
            gradient *= np.float32(self.settings.gradient_norm / norm)
        self._optimisers[name].step(network.flat, gradient, rate)

    def _figures(self, data: "_Rollout", form: PpoForm, gae: GaeResult) -> dict[str, float]:
        """Of the whole rollout, with the networks as they are now."""
        logits = self.actor.output(data.x)
        loss, _ = _actor_loss(logits, data, form, 0.0)
        entropy = compute_entropy(logits, "categorical")
        return {**loss.figures, **entropy.figures, **gae.figures}

    def state_dict(self) -> dict[str, Any]:
        """Networks, optimisers and what the actor reads; arrays and JSON-ready values."""
        return {
            "features": list(self.start.features),
            "columns": self.start.columns,
            "sizes": list(self.actor.sizes),
            "mean": self.start.mean,
            "scale": self.start.scale,
            "actor": self.actor.flat.copy(),
            "critic": self.critic.flat.copy(),
            "optimisers": {name: each.state_dict() for name, each in self._optimisers.items()},
        }

    @classmethod
    def restored(
        cls, state: Mapping[str, Any], settings: PpoSettings, actions: tuple[str, ...], seed: int
    ) -> "PpoLearner":
        """The learner that a state was taken from; raise ValueError if its sizes are not those of its weights."""
        sizes, features = tuple(state["sizes"]), tuple(state["features"])
        if not features or not all(isinstance(name, str) for name in features):
            raise ValueError("its features are no names")
        if not all(type(size) is int and size > 0 for size in sizes) or (
            sum(i * o + o for i, o in pairwise(sizes)) != len(state["actor"])
        ):
            raise ValueError(f"{len(state['actor'])} weights are not those of layers of {sizes}")
        start = ActorStart(
            features=features,
            columns=np.asarray(state["columns"], np.int64),
            actions=actions,
            mean=state["mean"],
            scale=state["scale"],
            actor=Network(sizes),
        )
        learner = cls(settings, start, seed)
        learner.actor.flat[:], learner.critic.flat[:] = state["actor"], state["critic"]
        for name, optimiser in learner._optimisers.items():
            optimiser.load_state_dict(state["optimisers"][name])
        return learner


@dataclass(frozen=True, slots=True, eq=False)
class _Rollout:
    """N decisions."""

    x: F32
    action: Ints
    old: Floats
    """Log probabilities when they were drawn."""
    advantage: Floats
    returns: F32
    value: F32
    """Before the update."""

    def rows(self, rows: Ints) -> "_Rollout":
        return _Rollout(**{each.name: getattr(self, each.name)[rows] for each in fields(self)})


def _actor_loss(logits: F32, part: _Rollout, form: PpoForm, bonus: float) -> tuple[PolicyLoss, F32]:
    """The clipped loss, and the gradient of it minus the entropy bonus by the logits (N, A)."""
    at = np.arange(len(logits))
    chances = softmax(logits)
    top = logits.max(axis=1)
    totals = np.log(np.exp(logits - top[:, None]).sum(axis=1)) + top
    loss = compute_policy_loss(logits[at, part.action] - totals, part.old, part.advantage, form)
    slope = loss.gradient.astype(np.float32)[:, None]
    gradient = -slope * chances
    gradient[at, part.action] += slope[:, 0]
    if bonus:
        gradient -= np.float32(bonus) * compute_entropy(logits, "categorical").gradient
    return loss, np.asarray(gradient, np.float32)


def _critic_gradient(values: F32, part: _Rollout, clip: float) -> F32:
    """Of the mean of (V - return)² / 2, or of the larger of it and that of the clipped value."""
    error = values - part.returns
    if clip:
        moved = part.value + np.clip(values - part.value, -clip, clip)
        stopped = ((moved - part.returns) ** 2 > error**2) & (moved != values)
        error = np.where(stopped, 0.0, error)
    return np.asarray(error / len(error), np.float32)


def _standardised(advantages: Floats) -> Floats:
    spread = float(advantages.std())
    return np.asarray((advantages - advantages.mean()) / (spread if spread > 0 else 1.0))
