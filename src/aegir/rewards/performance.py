"""How right a set of answers is: micro and macro F1, and a line per class.

Every item has one or more accepted labels and one predicted label, or None for an abstention.
With one answer per item, micro F1 is the share of items answered rightly; an abstention counts as wrong.
Macro F1 is the mean of F1 over the classes present in the gold labels.

    gold  a a b b     predicted  a b b None
    micro 2/4; class a: precision 1/1, recall 1/2, F1 2/3; class b: precision 1/2, recall 1/2, F1 1/2; macro 7/12

`compute_r_perf` is the same F1 for every episode of a batch at once, the reward r_perf: in the example above, taken as
one episode, 0.5 (micro) or 7/12 (macro). An episode without gold labels has nan for a reward: it is missing, not 0.
"""

import math
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from aegir.errors import AskedWrongly

NO_LABEL = -1
"""In place of a gold label: the column is not scored. In place of an answer: an abstention."""


@dataclass(frozen=True, slots=True)
class ClassScore:
    """Precision, recall and F1 of one class; `support` gold items, `predicted` answers."""

    label: str
    support: int
    predicted: int
    precision: float
    recall: float
    f1: float


@dataclass(frozen=True, slots=True)
class F1Report:
    """F1 over all items and per class, the classes in alphabetical order."""

    items: int
    micro_f1: float
    macro_f1: float
    abstained: int
    classes: tuple[ClassScore, ...]


def compute_f1(gold: Sequence[Collection[str]], predicted: Sequence[str | None]) -> F1Report:
    """Compare answers with the accepted labels; matching any of them counts. Without items F1 is nan."""
    if len(gold) != len(predicted):
        raise AskedWrongly(
            f"{len(gold)} items came with {len(predicted)} answers; expected one each, None to abstain"
        )
    right: Counter[str] = Counter()
    support: Counter[str] = Counter()
    answers: Counter[str] = Counter()
    for number, (accepted, answer) in enumerate(zip(gold, predicted, strict=True)):
        if not accepted:
            raise AskedWrongly(
                f"item {number} has no accepted label; expected at least one, or leave the item out"
            )
        matched = answer is not None and answer in accepted
        # With several accepted labels, the one that was answered is the item's class.
        label = answer if answer is not None and matched else next(iter(accepted))
        support[label] += 1
        right[label] += matched
        if answer is not None:
            answers[answer] += 1
    classes = tuple(
        _class_score(label, right[label], support[label], answers[label])
        for label in sorted(support)
    )
    return F1Report(
        items=len(gold),
        micro_f1=sum(right.values()) / len(gold) if gold else math.nan,
        macro_f1=sum(score.f1 for score in classes) / len(classes) if classes else math.nan,
        abstained=sum(answer is None for answer in predicted),
        classes=classes,
    )


def _class_score(label: str, right: int, support: int, predicted: int) -> ClassScore:
    precision = right / predicted if predicted else 0.0
    recall = right / support
    f1 = 2 * right / (support + predicted)
    return ClassScore(label, support, predicted, precision, recall, f1)


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
        raise AskedWrongly(
            f"gold has shape {np.shape(gold)} and predicted {answers.shape}; expected a row per episode "
            "and a column per item in both"
        )
    if average not in ("micro", "macro"):
        raise AskedWrongly(f"average is {average!r}; expected 'micro' or 'macro'")
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
    """Mean F1 over the classes an episode's gold labels have, by counting (episode, class) pairs."""
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
        labels = np.asarray(given)
    except ValueError:
        raise AskedWrongly(f"{name} has rows of unequal length; pad them with {NO_LABEL}") from None
    if labels.size == 0:
        return labels.astype(np.int64)
    if not np.issubdtype(labels.dtype, np.integer) or labels.min() < NO_LABEL:
        raise AskedWrongly(
            f"{name} holds {labels.dtype}; expected label numbers from 0 on, or {NO_LABEL} for none"
        )
    return labels.astype(np.int64)
