"""Aegir: what every column of a table is, and how columns relate.

    import aegir
    print(aegir.annotate("customers.csv"))

Names are loaded on first use, so that `import aegir` is instant.
"""

from typing import TYPE_CHECKING

from aegir_rl.base.lazy import lazy_names

if TYPE_CHECKING:
    from aegir.answers.annotation import ColumnAnnotation, Guess, TableAnnotation
    from aegir.pipeline.run import Annotations, annotate
    from aegir.tables.readers import read_tables
    from aegir.tables.table import Column, Table

__all__ = [
    "Annotations",
    "Column",
    "ColumnAnnotation",
    "Guess",
    "Table",
    "TableAnnotation",
    "annotate",
    "read_tables",
]
__getattr__ = lazy_names(
    __name__,
    {
        "Annotations": "pipeline.run",
        "Column": "tables.table",
        "ColumnAnnotation": "answers.annotation",
        "Guess": "answers.annotation",
        "Table": "tables.table",
        "TableAnnotation": "answers.annotation",
        "annotate": "pipeline.run",
        "read_tables": "tables.readers",
    },
)
