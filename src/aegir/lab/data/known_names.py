"""What people all over the world write above and into columns of each fine type: two lists written by hand.

    header_names.tsv      date_of_birth   de   Geburtsdatum|GEBDAT|…
    typical_values.tsv    status          pl   otwarte|zamknięte|…              (language * for any)

The network learns from headers alone, from headers in place of those of labelled columns, and from columns made
up of typical values under a known header. Both lists were written from general knowledge, not from labelled tables.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np

from aegir.lab.data.sources import Source, TrainingTable
from aegir.tables.labelled import ColumnLabels, LabelledTable
from aegir.tables.table import Column, Table
from aegir.vocabulary.terms import FINE_TYPES
from aegir_rl.base.errors import AegirError
from aegir_rl.base.text import read_tsv

HERE = Path(__file__).parent
HEADER_NAMES, TYPICAL_VALUES = HERE / "header_names.tsv", HERE / "typical_values.tsv"
ANY_LANGUAGE = "*"
MADE_UP = Source("made-up columns", cta_weight=0, cpa_weight=0, web=False, synthetic=True)
COLUMNS_PER_LINE = 4
MOST_CELLS = 24
NO_HEADER = 0.3
"""How often a made-up column has none."""
ByLanguage = Mapping[str, Mapping[str, tuple[str, ...]]]
"""Fine type to language to alternatives."""


def read_names(path: Path) -> ByLanguage:
    """Return the alternatives in one of the two files, each once."""
    names: dict[str, dict[str, tuple[str, ...]]] = {}
    for where, (name, language, alternatives) in read_tsv(path, "name language alternatives"):
        if name not in FINE_TYPES:
            raise AegirError(f"{where}: {name!r} is not a fine type")
        texts = (text.strip() for text in alternatives.split("|"))
        names.setdefault(name, {})[language] = tuple(dict.fromkeys(filter(None, texts)))
    return names


def all_headers(headers: ByLanguage) -> dict[str, tuple[str, ...]]:
    """Return the headers of each fine type in all languages, each once."""
    return {
        name: tuple(dict.fromkeys(header for known in languages.values() for header in known))
        for name, languages in headers.items()
    }


def made_up_tables(headers: ByLanguage, values: ByLanguage, seed: int) -> Iterator[TrainingTable]:
    """Yield tables of one column each, of typical values in random number and repetition."""
    random = np.random.default_rng(seed)
    for name, languages in values.items():
        above = headers.get(name, {})
        for language, cells in languages.items():
            tongues = [language] if language in above else list(above)
            for number in range(COLUMNS_PER_LINE):
                few = random.integers(2, min(len(cells), 12) + 1) if len(cells) > 1 else 1
                stock = random.choice(len(cells), few, replace=False)
                drawn = random.choice(stock, random.integers(4, MOST_CELLS + 1))
                header = None
                if tongues and random.random() >= NO_HEADER:
                    header = str(random.choice(above[str(random.choice(tongues))]))
                column = Column(header, tuple(cells[i] for i in drawn))
                table = Table(f"{name} {language} {number}", (column,))
                yield TrainingTable(
                    LabelledTable(table, (ColumnLabels(fine=(name,)),), {}), MADE_UP
                )
