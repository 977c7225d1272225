"""Known columns that every new type is told apart from: the made-up tables that ship.

They were made by `aegir.data.background_tables`. Reading them costs seconds, so a run that teaches a
type does it once.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib.resources import as_file, files

import numpy as np

from aegir.annotators.custom_types.embedder import Embedder
from aegir.annotators.custom_types.head import Embeddings
from aegir.tables.labelled import LabelledTable, read_labelled_tables
from aegir.tables.table import Table

FILE = "background.jsonl.gz"
DISGUISED = 100
"""About this many columns are read once more under the examples' headers: a header alone makes no type."""


@dataclass(frozen=True, slots=True)
class Background:
    """Embeddings (N, D) of known columns."""

    embeddings: Embeddings
    labels: Sequence[str | None]
    """The type of each, where it is one of the 82."""
    groups: Sequence[int]
    """Columns of one table share a group."""
    disguised: Embeddings
    """Some of the columns again, each alone under a header that examples have."""


def read_background() -> list[LabelledTable]:
    """The tables that ship."""
    with as_file(files("aegir.annotators.custom_types") / FILE) as path:
        return list(read_labelled_tables(path))


def embed_background(embedder: Embedder, headers: Sequence[str | None]) -> Background:
    """The tables that ship, as this embedder reads them; some columns again under these headers."""
    tables = read_background()
    embeddings = np.concatenate(embedder.embed([one.table for one in tables]))
    labels = [accepted[0] if accepted else None for one in tables for accepted in one.cta]
    groups = [number for number, one in enumerate(tables) for _ in one.table.columns]
    columns = [column for one in tables for column in one.table.columns if column.present]
    worn = [header for header in dict.fromkeys(headers) if header]
    disguised = [
        Table("disguised", (replace(column, name=worn[place % len(worn)]),))
        for place, column in enumerate(columns[:: len(columns) // DISGUISED] if worn else ())
    ]
    read = embedder.embed(disguised)
    return Background(
        embeddings, labels, groups, np.concatenate([embeddings[:0], *read], dtype=np.float32)
    )
