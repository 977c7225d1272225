"""The routing policy: what a column's features say about who should handle it. One object, one file, numpy only.

    policy = RoutingPolicy.load(Path("policy.safetensors"), features=dispatcher_features)
    policy.probabilities(x)              # (B, F) -> (B, A)
    policy.choose(x, static)             # actions; those of the static table where the policy is not sure enough

A network reads standardised features (a missing one, nan, counts as the mean). What its outputs mean depends on the kind:

    cloning    logits of what the logged policy did           probabilities = softmax(logits / temperature), calibrated
    values     Q(s, a), the expected return of an action      probabilities = softmax(Q / temperature), temperature = the
                                                              root mean squared error of Q on the log
    ppo        logits of a policy trained in the simulator    probabilities = softmax(logits / temperature)
    always     one worker, whatever the features              probabilities 1 and 0

Where the largest probability is below `floor`, the static table decides.

File: safetensors with `layer.{n}.weight`, `layer.{n}.bias`, `mean`, `scale`, and JSON under the metadata key `aegir_policy`:
features, actions, kind, floor, temperature, version, and under `training` what it was trained on (hash of the data, held-out share,
alpha, gamma, propensity floor …).

Exploration has known propensities; without it a log says nothing about what was not done:

    explore_epsilon(preferred, 5, 0.1, random)      # the preferred action, but with probability 0.1 any of the five
    explore_softmax(values, 0.2, random)            # an action drawn by softmax(values / 0.2)

Both return the actions (B,) and the probabilities with which they were drawn (B,), to be logged as `propensity`.
Worked number: epsilon 0.5 over 5 actions: the preferred one has 0.5 + 0.5 / 5 = 0.6, each other 0.1.

Promises
  - save -> load is bit-equal; a row's probabilities do not depend on the other rows;
  - a file that is no policy, or was trained on features that are not there, is refused with one sentence.
"""

import hashlib
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from aegir_rl.base.arrays import F32, Bools, Floats, Ints, rows_times, softmax
from aegir_rl.base.errors import UsageError, require
from aegir_rl.base.files import replace_file
from aegir_rl.base.safetensors_file import Arrays, read_safetensors, safetensors_bytes
from aegir_rl.base.text import parse_json

PolicyKind = Literal["cloning", "values", "ppo", "always"]
CERTAIN = 100.0
"""A logit above the others that leaves them no probability."""
METADATA_KEY = "aegir_policy"
FORMAT = 1


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RoutingPolicy:
    """A trained policy."""

    kind: PolicyKind
    features: tuple[str, ...]
    """Names, in the order of the columns of its input."""
    actions: tuple[str, ...]
    """Workers, in the order of the columns of its output."""
    weights: tuple[F32, ...]
    biases: tuple[F32, ...]
    mean: F32
    scale: F32
    temperature: float = 1.0
    floor: float = 0.0
    """Confidence below which the static table decides."""
    training: Mapping[str, Any] = field(default_factory=dict)
    """What it was trained on and how, JSON-ready."""
    version: str = field(init=False)
    """Kind and a hash of everything that decides, such as `values-3f2a9c01d4`."""

    def __post_init__(self) -> None:
        digest = hashlib.sha256(repr((self.features, self.actions, self.floor)).encode())
        digest.update(np.float64(self.temperature).tobytes())
        for array in (self.mean, self.scale, *self.weights, *self.biases):
            digest.update(array.tobytes())
        object.__setattr__(self, "version", f"{self.kind}-{digest.hexdigest()[:10]}")

    def probabilities(self, features: npt.NDArray[np.floating[Any]]) -> F32:
        """(B, F) -> (B, A), rows that add up to 1."""
        return softmax(self.output(features) / np.float32(self.temperature))

    def values(self, features: npt.NDArray[np.floating[Any]]) -> F32:
        """(B, F) -> (B, A) expected returns; only a policy of kind `values` has them."""
        if self.kind != "values":
            raise UsageError(
                f"a policy of kind {self.kind!r} has no values; train-cql makes one that has"
            )
        return self.output(features)

    def choose(
        self, features: npt.NDArray[np.floating[Any]], static: Ints
    ) -> tuple[Ints, Bools, F32]:
        """(B,) actions, whether the policy decided (else the static table did), and its confidence."""
        return choose_above_floor(self.probabilities(features), static, self.floor)

    def with_floor(self, floor: float) -> "RoutingPolicy":
        """The same policy with another confidence floor."""
        return replace(self, floor=floor)

    def columns_of(self, names: Sequence[str], where: str) -> Ints:
        """(F,) where the policy's features stand among these; raise if one is not there."""
        missing = [name for name in self.features if name not in names]
        if missing:
            raise UsageError(
                f"the policy was trained on features that {where} does not have: {', '.join(missing[:5])}"
                f"{' …' if len(missing) > 5 else ''} (it has {', '.join(names) or 'none'}); train it on this kind of log"
            )
        return np.array([list(names).index(name) for name in self.features], np.int64)

    def require_actions(self, actions: Iterable[str], where: str) -> None:
        """Raise if one of these workers is unknown to the policy."""
        unknown = sorted(set(actions) - set(self.actions))
        if unknown:
            raise UsageError(
                f"{where} has the worker {unknown[0]!r}, which the policy does not know (it knows "
                f"{', '.join(self.actions)}); train it on a log with this worker"
            )

    def output(self, features: npt.NDArray[np.floating[Any]]) -> F32:
        """(B, F) -> (B, A) what the network says: logits or values."""
        if features.ndim != 2 or features.shape[1] != len(self.features):
            raise UsageError(
                f"features have shape {features.shape}; this policy expects (rows, {len(self.features)}): {', '.join(self.features)}"
            )
        y = normalise(features, self.mean, self.scale)
        last = len(self.weights) - 1
        for number, (weight, bias) in enumerate(zip(self.weights, self.biases, strict=True)):
            y = rows_times(y, weight)
            y += bias
            if number < last:
                np.maximum(y, 0, out=y)
        return y

    def save(self, path: Path) -> None:
        """Write the policy as one file, whole or not at all."""
        tensors: Arrays = {"mean": self.mean, "scale": self.scale}
        for number, (weight, bias) in enumerate(zip(self.weights, self.biases, strict=True)):
            tensors |= {f"layer.{number}.weight": weight, f"layer.{number}.bias": bias}
        record = {
            "format": FORMAT,
            "kind": self.kind,
            "features": self.features,
            "actions": self.actions,
            "temperature": self.temperature,
            "floor": self.floor,
            "version": self.version,
            "layers": len(self.weights),
            "training": dict(self.training),
        }
        text = json.dumps(record, allow_nan=False, ensure_ascii=False)
        replace_file(path, safetensors_bytes(tensors, {METADATA_KEY: text}))

    @classmethod
    def load(cls, path: str | Path, features: Sequence[str] | None = None) -> "RoutingPolicy":
        """Read a policy; with `features`, refuse one that was trained on a feature that is not among them."""
        path = Path(path)
        tensors, metadata = read_safetensors(path)
        try:
            record = parse_json(metadata[METADATA_KEY])
            policy = _from_record(record, tensors)
        except KeyError as error:
            raise UsageError(f"{path} is no routing policy: it has no {error}") from None
        except (TypeError, ValueError, AttributeError) as error:
            raise UsageError(f"{path} is no routing policy ({error})") from None
        if features is not None:
            policy.columns_of(features, "this program")
        return policy


def always(worker: str, features: Sequence[str], actions: Sequence[str]) -> RoutingPolicy:
    """The policy that always chooses one of these workers."""
    logits = np.zeros(len(actions), np.float32)
    logits[list(actions).index(worker)] = CERTAIN
    return RoutingPolicy(
        kind="always",
        features=tuple(features),
        actions=tuple(actions),
        weights=(np.zeros((len(features), len(actions)), np.float32),),
        biases=(logits,),
        mean=np.zeros(len(features), np.float32),
        scale=np.ones(len(features), np.float32),
        training={"method": f"always {worker}"},
    )


def _from_record(record: dict[str, Any], tensors: Arrays) -> RoutingPolicy:
    """Raise KeyError or ValueError unless record and tensors describe a policy."""
    if record["format"] != FORMAT:
        raise ValueError(
            f"its format is {record['format']!r}; this version of Aegir reads {FORMAT}"
        )
    if record["layers"] not in range(1, len(tensors)):
        raise ValueError(f"it has {record['layers']!r} layers in {len(tensors)} tensors")
    layers = range(int(record["layers"]))
    policy = RoutingPolicy(
        kind=record["kind"],
        features=tuple(map(str, record["features"])),
        actions=tuple(map(str, record["actions"])),
        weights=tuple(tensors[f"layer.{number}.weight"] for number in layers),
        biases=tuple(tensors[f"layer.{number}.bias"] for number in layers),
        mean=tensors["mean"],
        scale=tensors["scale"],
        temperature=float(record["temperature"]),
        floor=float(record["floor"]),
        training=dict(record["training"]),
    )
    _check(policy)
    if policy.version != record["version"]:
        raise ValueError(f"its content is not that of version {record['version']!r}")
    return policy


def _check(policy: RoutingPolicy) -> None:
    """Raise ValueError unless kind, shapes and numbers can be used."""
    if policy.kind not in get_args(PolicyKind):
        raise ValueError(
            f"its kind is {policy.kind!r}; expected {' or '.join(get_args(PolicyKind))}"
        )
    sizes = [len(policy.features), *(weight.shape[-1] for weight in policy.weights)]
    pairs = pairwise(sizes)
    fits = policy.mean.shape == policy.scale.shape == (sizes[0],) and sizes[-1] == len(
        policy.actions
    )
    fits = (
        fits
        and len(sizes) > 1
        and all(
            weight.shape == pair and bias.shape == pair[1:]
            for weight, bias, pair in zip(policy.weights, policy.biases, pairs, strict=True)
        )
    )
    if not fits:
        raise ValueError("the shapes of its layers do not fit its features and actions")
    arrays = (policy.mean, policy.scale, *policy.weights, *policy.biases)
    if not all(each.dtype == np.float32 and np.isfinite(each).all() for each in arrays):
        raise ValueError("its numbers are not all finite and float32")
    if not (
        0 < policy.temperature < math.inf and 0 <= policy.floor <= 1 and (policy.scale > 0).all()
    ):
        raise ValueError("its temperature, floor or scale is out of range")


def normalise(features: npt.NDArray[np.floating[Any]], mean: F32, scale: F32) -> F32:
    """Standardised features; a missing one counts as the mean."""
    standard = (features.astype(np.float32) - mean) / scale
    return np.asarray(np.nan_to_num(standard, nan=0.0), np.float32)


def choose_above_floor(probabilities: F32, static: Ints, floor: float) -> tuple[Ints, Bools, F32]:
    """(B,) the likeliest action where it is at least `floor` likely, else the static one; who decided; confidence."""
    confidence = probabilities.max(axis=1, initial=0.0)
    own = confidence >= np.float32(floor)
    return np.where(own, probabilities.argmax(axis=1), static), own, confidence


def explore_epsilon(
    preferred: Ints, actions: int, epsilon: float, random: np.random.Generator
) -> tuple[Ints, Floats]:
    """The preferred actions (B,), each replaced by a uniformly drawn one with probability `epsilon`."""
    require(0 <= epsilon <= 1, "epsilon", epsilon, "a number from 0 to 1")
    drawn = random.integers(actions, size=len(preferred))
    action = np.where(random.random(len(preferred)) < epsilon, drawn, preferred)
    return action, epsilon / actions + (1 - epsilon) * (action == preferred)


def explore_softmax(
    values: Floats, temperature: float, random: np.random.Generator
) -> tuple[Ints, Floats]:
    """Actions drawn by softmax(values / temperature), from values (B, A)."""
    require(0 < temperature < np.inf, "temperature", temperature, "a number above 0")
    powers = np.exp((values - values.max(axis=1, keepdims=True)) / temperature)
    chances = powers / powers.sum(axis=1, keepdims=True)
    below = chances.cumsum(axis=1) < random.random((len(values), 1))
    action = np.minimum(below.sum(axis=1), values.shape[1] - 1)  # sums may end just below 1
    return action, chances[np.arange(len(values)), action]
