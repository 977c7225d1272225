"""The heads of the byte network and what each of their outputs stands for: decided here for numpy, torch and training.

    cta        82 column types, and none of them          read from the column in the context of its table
    cpa        108 relations to the subject, and none
    fine       the fine types, and none of them
    personal   one output: the log odds that the column is personal data
    cta_alone, cpa_alone   as cta and cpa, read from the column without its table

"None" is the last output of a head. Training adds heads for the label spaces of other collections, which do not ship.
"""

from collections.abc import Mapping

from aegir.vocabulary.terms import FINE_NAMES, RELATION_NAMES, TYPE_NAMES

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


def all_sizes(sizes: Mapping[str, int]) -> dict[str, int]:
    """Return the sizes of these heads and of those that see a column without its table."""
    return {**sizes, **{head: sizes[head.removesuffix(ALONE)] for head in ALONE_HEADS}}
