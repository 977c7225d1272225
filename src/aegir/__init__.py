"""Aegir: what every column of a table is, and how columns relate.

    import aegir
    print(aegir.annotate("customers.csv"))

Names are loaded on first use, so that `import aegir` is instant.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from aegir.annotators.annotate import Annotations, annotate
    from aegir.answers.annotation import ColumnAnnotation, Guess, TableAnnotation
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
_HOMES = {
    "Annotations": "aegir.annotators.annotate",
    "Column": "aegir.tables.table",
    "ColumnAnnotation": "aegir.answers.annotation",
    "Guess": "aegir.answers.annotation",
    "Table": "aegir.tables.table",
    "TableAnnotation": "aegir.answers.annotation",
    "annotate": "aegir.annotators.annotate",
    "read_tables": "aegir.tables.readers",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'aegir' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)
