"""The heads of the byte network and what each of their outputs stands for: decided here for numpy, torch and training.

    cta        82 column types, and none of them          read from the column in the context of its table
    cpa        108 relations to the subject, and none
    fine       the fine types, and none of them
    personal   one output: the log odds that the column is personal data
    cta_alone, cpa_alone   as cta and cpa, read from the column without its table

"None" is the last output of a head. Training adds heads for the label spaces of other collections, which do not ship.

An *answer* is what a model says to all heads of OUTPUTS, beside each other, (columns, ANSWER_WIDTH): log probabilities, at
least LEAST and counted from there, and for a head of one output its log odds between LEAST and -LEAST. In a swarm a column's
vector may be followed by the answers of specialists: heads add them to their outputs, everything else leaves them alone.
"""

from collections.abc import Mapping
from itertools import accumulate

import numpy as np

from aegir.vocabulary.terms import FINE_NAMES, RELATION_NAMES, TYPE_NAMES
from aegir_rl.base.arrays import F32

TYPES_HEAD, RELATIONS_HEAD, FINE_HEAD, PERSONAL_HEAD = "cta", "cpa", "fine", "personal"
NONE = "-"
"""The name of the last output of a head: none of the others."""
OUTPUTS: Mapping[str, tuple[str, ...]] = {
    TYPES_HEAD: (*TYPE_NAMES, NONE),
    RELATIONS_HEAD: (*RELATION_NAMES, NONE),
    FINE_HEAD: (*FINE_NAMES, NONE),
    PERSONAL_HEAD: ("personal",),
}
"""Head to the names of its outputs; a head of one output answers yes or no."""
ALONE = "_alone"
"""Suffix of the heads that see a column without its table."""
ALONE_HEADS = (TYPES_HEAD + ALONE, RELATIONS_HEAD + ALONE)
HEAD_SIZES: Mapping[str, int] = {head: len(names) for head, names in OUTPUTS.items()}
ANSWER_WIDTH = sum(HEAD_SIZES.values())
ANSWER_PLACES: Mapping[str, slice] = {
    head: slice(end - HEAD_SIZES[head], end)
    for head, end in zip(HEAD_SIZES, accumulate(HEAD_SIZES.values()), strict=True)
}
"""Where the outputs of each head stand in an answer."""
LEAST = -8.0
"""Log probabilities below this are taken to be this."""


def all_sizes(sizes: Mapping[str, int]) -> dict[str, int]:
    """Return the sizes of these heads and of those that see a column without its table."""
    return {**sizes, **{head: sizes[head.removesuffix(ALONE)] for head in ALONE_HEADS}}


def join_answer(logits: Mapping[str, F32], columns: int) -> F32:
    """Return the answer (columns, ANSWER_WIDTH) with these outputs of heads; heads that are not there say nothing."""
    answer = np.zeros((columns, ANSWER_WIDTH), np.float32)
    for head, span in ANSWER_PLACES.items():
        if head in logits and HEAD_SIZES[head] == 1:
            answer[:, span] = np.clip(logits[head], LEAST, -LEAST)
        elif head in logits:
            low = logits[head] - logits[head].max(axis=1, keepdims=True)
            logs = low - np.log(np.exp(low).sum(axis=1, keepdims=True))
            answer[:, span] = np.maximum(logs, np.float32(LEAST)) - np.float32(LEAST)
    return answer
