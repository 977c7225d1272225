"""Metrics of the byte network on held-out everyday tables: every part of the answer, as `aegir eval` counts them.

everyday_metrics(answers, everyday)   ->   {"open/type_right": 0.84, "open/relation_precision": 0.78, …}
"""

import numpy as np

from aegir.lab.byte_network.evaluation import Answers
from aegir.pipeline.judged_columns import SAID
from aegir.readers.bytes.heads import FINE_HEAD, PERSONAL_HEAD, RELATIONS_HEAD, TYPES_HEAD
from aegir_rl.base.arrays import Bools, softmax


def everyday_metrics(answers: Answers, among: Bools) -> dict[str, float]:
    """Return shares of the columns in `among` (columns,); one with nothing to take a share of is left out."""
    said, right, none = _relations(answers, among & answers.known[RELATIONS_HEAD])
    judged = among & answers.known[PERSONAL_HEAD]
    flagged = answers.logits[PERSONAL_HEAD][judged, 0] > 0
    personal = answers.accepted[PERSONAL_HEAD][judged, 0]
    shares = {
        "type_right": _right(answers, TYPES_HEAD, among),
        "fine_right": _right(answers, FINE_HEAD, among),
        "relation_precision": right[said],
        "relation_false_share": said[none],
        "personal_precision": personal[flagged],
        "personal_recall": flagged[personal],
    }
    return {f"open/{name}": float(of.mean()) for name, of in shares.items() if len(of)}


def _right(answers: Answers, head: str, among: Bools) -> Bools:
    """Return for each labelled column whether its likeliest name, or none, is acceptable."""
    kept = np.flatnonzero(among & answers.known[head])
    found: Bools = answers.accepted[head][kept, answers.logits[head][kept].argmax(axis=1)]
    return found


def _relations(answers: Answers, judged: Bools) -> tuple[Bools, Bools, Bools]:
    """Return for each labelled column: a relation is said, it is right, and the column has none."""
    probabilities = softmax(answers.logits[RELATIONS_HEAD][judged])[:, :-1]
    accepted = answers.accepted[RELATIONS_HEAD][judged]
    best = probabilities.argmax(axis=1)
    right: Bools = accepted[np.arange(len(best)), best]
    return probabilities.max(axis=1, initial=0) >= SAID, right, accepted[:, -1]
