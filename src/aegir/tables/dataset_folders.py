"""Which folders are one table: partitioned ones, Delta and Iceberg tables (datasets.py reads them). Looks at names alone."""

import re
from pathlib import Path

PARQUET = (".parquet", ".pq")
DELTA_LOG, ICEBERG_METADATA = "_delta_log", "metadata"
PARTITION = re.compile(r"([^=/]+)=([^/]*)")
"""The name of a folder that stands for the value of a column: year=2031."""


def dataset_root(file: Path, top: Path) -> Path | None:
    """The folder, `top` or below it, of the data set that a file belongs to; None for a file of its own."""
    parts = file.relative_to(top).parts[:-1]
    for count in range(len(parts) + 1):
        folder = top.joinpath(*parts[:count])
        if is_table_folder(folder):
            return folder
    if file.suffix.lower() in PARQUET:
        for count, part in enumerate(parts):
            if PARTITION.fullmatch(part):
                return top.joinpath(*parts[:count])
    return None


def is_table_folder(folder: Path) -> bool:
    """Whether a folder is a Delta or Iceberg table."""
    try:
        if (folder / DELTA_LOG).is_dir():
            return True
        return any((folder / ICEBERG_METADATA).glob("*.metadata.json"))
    except OSError:
        return False
