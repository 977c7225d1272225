"""r_perf: the F1 of the answers of every episode of a batch.

    compute_r_perf(gold, predicted)                    # (E,), micro F1; average="macro" for macro F1

For gold a a b b and predicted a b b None, taken as one episode, r_perf is 0.5 (micro) or 7/12 (macro), as
`aegir_rl.base.metrics.compute_f1` gives. An episode without gold labels has nan for a reward: it is missing, not 0.
"""

import numpy as np
import numpy.typing as npt

from aegir_rl.base.arrays import read_array
from aegir_rl.base.errors import UsageError, require

NO_LABEL = -1
"""As a gold label: the column is not scored. As an answer: an abstention."""


def compute_r_perf(
    gold: npt.ArrayLike, predicted: npt.ArrayLike, *, average: str = "micro"
) -> npt.NDArray[np.float64]:
    """r_perf (E,): F1 of the answers of every episode, "micro" or "macro"; nan without gold labels.

    gold (E, D) holds a label number per column, or (E, D, A) several accepted ones, the first being the class
    of a column that was missed; predicted (E, D) holds the answers. NO_LABEL stands for none in both.
    """
    accepted, answers = _labels(gold, "gold"), _labels(predicted, "predicted")
    accepted = accepted[..., None] if accepted.ndim == 2 else accepted
    if accepted.ndim != 3 or accepted.shape[:2] != answers.shape:
        raise UsageError(
            f"gold has shape {np.shape(gold)} and predicted {answers.shape}; expected a row per episode "
            "and a column per item in both"
        )
    require(average in ("micro", "macro"), "average", average, "'micro' or 'macro'")
    scored = (accepted != NO_LABEL).any(2)  # (E, D)
    right = scored & (accepted == answers[..., None]).any(2) & (answers != NO_LABEL)
    if average == "micro":
        items = scored.sum(1)
        return np.where(items > 0, right.sum(1) / np.maximum(items, 1), np.nan)
    return _macro(accepted, answers, scored, right)


def _macro(
    accepted: npt.NDArray[np.int64],
    answers: npt.NDArray[np.int64],
    scored: npt.NDArray[np.bool_],
    right: npt.NDArray[np.bool_],
) -> npt.NDArray[np.float64]:
    """Mean F1 over the classes among an episode's gold labels, from counts of (episode, class) pairs."""
    first = np.argmax(accepted != NO_LABEL, axis=2)
    missed_class = np.take_along_axis(accepted, first[..., None], 2)[..., 0]
    classes = np.where(right, answers, missed_class)
    answered = scored & (answers != NO_LABEL)
    numbers = np.unique(np.concatenate([classes[scored], answers[answered]]))
    episodes, width = len(answers), max(len(numbers), 1)

    def count(labels: npt.NDArray[np.int64], which: npt.NDArray[np.bool_]) -> npt.NDArray[np.int64]:
        cells = np.nonzero(which)[0] * width + np.searchsorted(numbers, labels[which])
        return np.bincount(cells, minlength=episodes * width).reshape(episodes, width)

    support, hits = count(classes, scored), count(classes, right)
    f1 = 2 * hits / np.maximum(support + count(answers, answered), 1)
    present = (support > 0).sum(1)
    total = np.where(support > 0, f1, 0.0).sum(1)
    return np.where(present > 0, total / np.maximum(present, 1), np.nan)


def _labels(given: npt.ArrayLike, name: str) -> npt.NDArray[np.int64]:
    try:
        labels = read_array(given, name)
    except UsageError as error:
        raise UsageError(f"{error}; pad rows with {NO_LABEL}") from None
    if labels.size == 0:
        return labels.astype(np.int64)
    if not np.issubdtype(labels.dtype, np.integer) or labels.min() < NO_LABEL:
        raise UsageError(
            f"{name} holds {labels.dtype}; expected label numbers from 0 on, or {NO_LABEL} for none"
        )
    return labels.astype(np.int64)
