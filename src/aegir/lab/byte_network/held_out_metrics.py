"""What a run says of its held-out tables: scores, collapse, and the answers that calibration reads (lab/held_out.py).

    measure_answers(answers, corpus, watch)      {"cta/micro_f1": 0.81, "open/type_right": 0.84, …}
    save_held_out(path, answers, corpus)

Everyday tables are counted as `aegir eval` counts them: every part of the answer has a share of its own.
"""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import numpy.typing as npt

from aegir.lab.byte_network.corpus import Corpus
from aegir.lab.byte_network.evaluation import Answers, check_alive, liveness
from aegir.lab.held_out import HeldOut, save_answers
from aegir.pipeline.judged_columns import SAID
from aegir.readers.bytes.heads import FINE_HEAD, PERSONAL_HEAD, RELATIONS_HEAD, TYPES_HEAD
from aegir_rl.base.arrays import I64, Bools, softmax
from aegir_rl.base.training_run import Watcher
from aegir_rl.health.rules import RULES

HEAD_OF_PART = {
    "types": TYPES_HEAD,
    "relations": RELATIONS_HEAD,
    "fine": FINE_HEAD,
    "personal": PERSONAL_HEAD,
}


def measure_answers(
    answers: Answers, corpus: Corpus, watch: Watcher, pretraining: bool = False
) -> dict[str, float]:
    """Return liveness and, of held-out tables, scores; say which liveness metrics are outside their bounds."""
    metrics = liveness(answers)
    if pretraining:  # the heads for types and relations have learnt nothing yet
        metrics = {n: value for n, value in metrics.items() if not n.startswith("prediction")}
    elif corpus.held_out:
        metrics |= held_out_scores(answers, corpus)
    for finding in check_alive(metrics, answers.types).unwell:
        watch.say(f"unwell: {finding.sentence}")
    return metrics


def held_out_scores(answers: Answers, corpus: Corpus) -> dict[str, float]:
    """Return scores of the answers to held-out tables: F1 on web tables, and shares on everyday ones."""
    everyday = answers.per_column([origin.everyday for origin in corpus.origins])
    scores = {}
    for head in (TYPES_HEAD, RELATIONS_HEAD):
        if (score := answers.micro_f1(head, ~everyday)) is not None:
            scores[f"{head}/micro_f1"] = score
    return scores | everyday_metrics(answers, everyday)


def recorded_names(metrics: Mapping[str, float]) -> dict[str, float]:
    """Return metrics under the names that `aegir runs health` knows; the others become `held_out/…`."""
    return {name if name in RULES else f"held_out/{name}": value for name, value in metrics.items()}


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
    rows = np.flatnonzero(among & answers.known[head])
    right: Bools = answers.accepted[head][rows, answers.logits[head][rows].argmax(axis=1)]
    return right


def _relations(answers: Answers, judged: Bools) -> tuple[Bools, Bools, Bools]:
    """Return for each labelled column: a relation is said, it is right, and the column has none."""
    probabilities = softmax(answers.logits[RELATIONS_HEAD][judged])[:, :-1]
    accepted = answers.accepted[RELATIONS_HEAD][judged]
    best = probabilities.argmax(axis=1)
    right: Bools = accepted[np.arange(len(best)), best]
    return probabilities.max(axis=1, initial=0) >= SAID, right, accepted[:, -1]


def save_held_out(path: Path, answers: Answers, corpus: Corpus) -> None:
    """Write the answers to held-out labelled columns."""
    names = np.array([name for origin in corpus.origins for name in origin.columns])
    group = answers.per_column([origin.group for origin in corpus.origins])
    everyday = answers.per_column([origin.everyday for origin in corpus.origins])
    labelled = np.any(list(answers.known.values()), axis=0)
    save_answers(
        path,
        {
            origin: _held_out(answers, names, group, labelled & chosen)
            for origin, chosen in (("web", ~everyday), ("open", everyday))
            if (labelled & chosen).any()
        },
    )


def _held_out(answers: Answers, names: npt.NDArray[np.str_], group: I64, chosen: Bools) -> HeldOut:
    rows = np.flatnonzero(chosen)
    return HeldOut(
        logits={part: answers.logits[head][rows] for part, head in HEAD_OF_PART.items()},
        accepted={part: answers.accepted[head][rows] for part, head in HEAD_OF_PART.items()},
        known={part: answers.known[head][rows] for part, head in HEAD_OF_PART.items()},
        table=np.unique(answers.table[rows], return_inverse=True)[1],
        group=group[rows],
        names=tuple(names[rows].tolist()),
    )
