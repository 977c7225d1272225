"""What does the policy loss with its gradient cost, and are both the numbers that TRL computes?

256 rows × 512 tokens. The reference in every run is the same clipped loss in torch with autograd, one thread. Where TRL is
installed (it brings transformers and datasets, so it belongs to no extra: `pip install trl` into an environment of its own),
its GRPO trainer's own `_compute_loss` is called on the same log probabilities, without a model: loss types `bnpo` (mean over
tokens) and `grpo` (mean of row means; over sequences the form of GSPO), symmetric and clip-higher bounds, with and without
KL to a reference (k3). The band of Kimi K2.5 has no counterpart there; tests hold it against autograd.
"""

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch

from aegir_rl.base.arrays import Bools, Floats
from aegir_rl.base.seeding import Seeds
from aegir_rl.rl.clipped_objective import Level, PpoForm, compute_policy_loss
from aegir_rl.rl.kl_control import compute_reference_kl
from benchmarks.measuring import Runs, cpu_seconds
from benchmarks.options import Options
from benchmarks.result import Measurement, Ratio, Result, at_most

QUESTION = (
    "CPU milliseconds of the clipped policy loss with its gradient, and its distance from TRL's"
)
UNIT = "CPU ms"
MOST_DIFFERENCE = 1e-9
COEFFICIENT = 0.3
"""Of the KL term, in the comparison with it."""


@dataclass(frozen=True, slots=True)
class Batch:
    """(B, T) log probabilities and mask, (B,) advantages."""

    new: Floats
    old: Floats
    reference: Floats
    advantages: Floats
    mask: Bools


@dataclass(frozen=True, slots=True)
class Case:
    """One setting that both sides can compute."""

    loss_type: str
    level: Level
    clip: float
    clip_high: float
    coefficient: float


CASES = tuple(
    Case(loss_type, level, 0.2, clip_high, coefficient)
    for loss_type, level in (("bnpo", "token"), ("grpo", "token"), ("grpo", "sequence"))
    for clip_high in (0.2, 0.28)
    for coefficient in (0.0, COEFFICIENT)
)


def run(options: Options) -> Result:
    """Time of ours and of autograd, and the largest difference from TRL over all cases."""
    rows, tokens, repeats = (16, 20, 1) if options.quick else (256, 512, options.repeats)
    torch.set_num_threads(1)
    batch = _draw(Seeds(options.seed).generator("policy_loss"), rows, tokens)
    ours = _timed("aegir, loss and gradient", lambda: _ours(batch, CASES[0]), repeats)
    autograd = _timed("torch autograd, the same loss", lambda: _autograd(batch), repeats)
    measurements, targets, left_out = [ours, autograd], [], []
    try:
        trainer = import_module("trl.trainer.grpo_trainer").GRPOTrainer
        version = import_module("trl").__version__
    except ImportError:
        version = None
        left_out.append("trl is not installed; pip install trl, in an environment of its own")
    else:
        largest = max(_differ(trainer, batch, case) for case in CASES)
        # Exactly equal would be 0, which no ratio likes.
        difference = Measurement(
            "largest difference from TRL", "relative", Runs((max(largest, 1e-17),))
        )
        measurements.append(difference)
        targets.append(at_most(difference, MOST_DIFFERENCE))
    return Result(
        benchmark="policy_loss",
        question=QUESTION,
        data=f"synthetic log probabilities, {rows} rows × {tokens} tokens, a third of them masked",
        measurements=tuple(measurements),
        ratios=(Ratio(ours, autograd),),
        targets=tuple(targets),
        settings={"rows": rows, "tokens": tokens, "repeats": repeats, "trl": version},
        left_out=tuple(left_out),
    )


def _draw(random: np.random.Generator, rows: int, tokens: int) -> Batch:
    old = -random.exponential(1.0, (rows, tokens))
    moved = random.standard_normal((rows, 1)) + random.standard_normal((rows, tokens))
    return Batch(
        new=old + 0.3 * moved,
        old=old,
        reference=old + 0.3 * random.standard_normal((rows, tokens)),
        advantages=random.standard_normal(rows),
        mask=np.arange(tokens) < random.integers(tokens // 3, tokens + 1, rows)[:, None],
    )


def _timed(name: str, work: Callable[[], object], repeats: int) -> Measurement:
    work()
    return Measurement(name, UNIT, Runs(tuple(1000 * cpu_seconds(work) for _ in range(repeats))))


def _ours(batch: Batch, case: Case) -> tuple[float, Floats]:
    """Loss and gradient; means of row means are weights of 1 / length."""
    weights = 1 / batch.mask.sum(axis=1) if case.loss_type == "grpo" else None
    loss = compute_policy_loss(
        batch.new,
        batch.old,
        batch.advantages,
        PpoForm(case.clip, case.clip_high),
        level=case.level,
        mask=batch.mask,
        weights=weights,
    )
    if not case.coefficient:
        return loss.value, loss.gradient
    kl = compute_reference_kl(batch.new, batch.reference, "k3", mask=batch.mask, weights=weights)
    return (
        loss.value + case.coefficient * kl.value,
        loss.gradient + case.coefficient * kl.gradient,
    )


def _autograd(batch: Batch) -> None:
    new = torch.tensor(batch.new, requires_grad=True)
    mask, advantages = torch.tensor(batch.mask), torch.tensor(batch.advantages)[:, None]
    ratio = torch.exp(new - torch.tensor(batch.old))
    objective = torch.minimum(ratio * advantages, ratio.clamp(0.8, 1.2) * advantages)
    (-(objective * mask).sum() / mask.sum()).backward()


def _differ(trainer: Any, batch: Batch, case: Case) -> float:
    """The largest relative difference of loss and gradients from TRL's."""
    new = torch.tensor(batch.new, requires_grad=True)
    theirs = trainer._compute_loss(_stand_in(new, case), None, _inputs(batch))
    theirs.backward()
    assert new.grad is not None
    value, gradient = _ours(batch, case)
    expected = new.grad.numpy()
    return max(
        abs(value - theirs.item()) / abs(theirs.item()),
        float(np.abs(gradient - expected).max() / np.abs(expected).max()),
    )


def _stand_in(new: torch.Tensor, case: Case) -> SimpleNamespace:
    """What TRL's method reads from its trainer; the log probabilities take the place of a model."""
    return SimpleNamespace(
        _get_per_token_logps_and_entropies=lambda *_, **__: (new, torch.zeros_like(new), None),
        loss_type=case.loss_type,
        importance_sampling_level=case.level,
        epsilon_low=case.clip,
        epsilon_high=case.clip_high,
        beta=case.coefficient,
        args=SimpleNamespace(delta=None, use_bias_correction_kl=False),
        model=SimpleNamespace(training=True),
        accelerator=SimpleNamespace(
            gather=lambda tensor: tensor, reduce=lambda tensor, **_: tensor
        ),
        current_gradient_accumulation_steps=1,
        top_entropy_quantile=1.0,
        off_policy_mask_threshold=None,
        aux_loss_enabled=False,
        use_vllm=False,
        _entropy_bonus_enabled=False,
        _metrics={"train": defaultdict(list)},
    )


def _inputs(batch: Batch) -> dict[str, torch.Tensor]:
    unread = torch.zeros(batch.new.shape, dtype=torch.long)
    return {
        "prompt_ids": unread[:, :1],
        "prompt_mask": unread[:, :1],
        "completion_ids": unread,
        "completion_mask": torch.tensor(batch.mask).double(),
        "advantages": torch.tensor(batch.advantages),
        "old_per_token_logps": torch.tensor(batch.old),
        "ref_per_token_logps": torch.tensor(batch.reference),
    }
