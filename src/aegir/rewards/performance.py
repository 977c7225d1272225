"""How right a set of answers is: micro and macro F1, and a line per class.

Every item has one or more accepted labels and one predicted label, or None for an abstention.
With one answer per item, micro F1 is the share of items answered rightly; an abstention counts as wrong.
Macro F1 is the mean of F1 over the classes present in the gold labels.

    gold  a a b b     predicted  a b b None
    micro 2/4; class a: precision 1/1, recall 1/2, F1 2/3; class b: precision 1/2, recall 1/2, F1 1/2; macro 7/12
"""

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass


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
    """Compare answers with the accepted labels; matching any of them counts."""
    right: Counter[str] = Counter()
    support: Counter[str] = Counter()
    answers: Counter[str] = Counter()
    for accepted, answer in zip(gold, predicted, strict=True):
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
        micro_f1=sum(right.values()) / len(gold) if gold else 0.0,
        macro_f1=sum(score.f1 for score in classes) / len(classes) if classes else 0.0,
        abstained=sum(answer is None for answer in predicted),
        classes=classes,
    )


def _class_score(label: str, right: int, support: int, predicted: int) -> ClassScore:
    precision = right / predicted if predicted else 0.0
    recall = right / support
    f1 = 2 * right / (support + predicted)
    return ClassScore(label, support, predicted, precision, recall, f1)
