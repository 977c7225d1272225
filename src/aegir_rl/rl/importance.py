"""Importance weights for samples of another policy than the one that is said to be old, and how far they may go.

    weights = truncate_importance(old, sampled, most=2.0, mask=mask)
    loss = compute_policy_loss(new, old, advantages, correction=weights, mask=mask)

`sampled` holds log probabilities under the policy that drew the samples: an inference engine that rounds otherwise than the
trainer, or rollouts that were begun some updates ago. The weight of a token is w = exp(old - sampled), of a row (by="row")
the product of those of its tokens. mode="truncate" takes min(w, most); mode="mask" drops what is above `most`.

Worked number: old - sampled = log 3 and log 0.5, most 2: truncated 2 and 0.5, masked 0 and 0.5; as one row w = 1.5.

The weights carry no gradient and are not normalised: a mean weight far from 1 says that the policies differ, and
`measure_ratios(old - sampled, mask=mask)` says how.

Paper: Yao et al. 2025, "Your efficient RL framework secretly brings you off-policy RL training".
"""

from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from aegir_rl.base.arrays import Floats
from aegir_rl.base.errors import UsageError, require
from aegir_rl.rl.tokens import MOST_LOG_RATIO, read_mask, read_tokens, require_finite

Mode = Literal["truncate", "mask"]
By = Literal["token", "row"]


def truncate_importance(
    old: npt.ArrayLike,
    sampled: npt.ArrayLike,
    most: float = 2.0,
    *,
    by: By = "token",
    mode: Mode = "truncate",
    mask: npt.ArrayLike | None = None,
) -> Floats:
    """Weights in the shape of the log probabilities (B, …), or (B,) with by="row"; 0 where `mask` excludes a token."""
    require(most >= 1, "most", most, "the largest weight, 1 or more, such as 2")
    require(by in get_args(By), "by", by, " or ".join(get_args(By)))
    require(mode in get_args(Mode), "mode", mode, " or ".join(get_args(Mode)))
    now, before = (
        read_tokens(old, "the old log probability"),
        read_tokens(sampled, "the sampled one"),
    )
    if now.shape != before.shape:
        raise UsageError(
            f"old log probabilities have shape {now.shape} but sampled ones {before.shape}; expected the same"
        )
    counted = read_mask(mask, now.shape)
    advice = "mask tokens that were not sampled"
    for values, name in ((now, "the old log probability"), (before, "the sampled one")):
        require_finite(values, counted, name, advice)
    logs = np.where(counted, now, 0.0) - np.where(counted, before, 0.0)
    if by == "row":
        logs = logs.reshape(len(logs), -1).sum(axis=1)
        counted = np.asarray(counted.reshape(len(counted), -1).any(axis=1))
    weights = np.exp(np.clip(logs, -MOST_LOG_RATIO, MOST_LOG_RATIO))
    kept = (
        np.minimum(weights, most) if mode == "truncate" else np.where(weights > most, 0.0, weights)
    )
    return np.where(counted, kept, 0.0)
