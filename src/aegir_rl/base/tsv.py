"""Tab-separated data files: a header line, then one record per line, without quoting.

    read_tsv(path, "name parent")  ->  ("classes.tsv, line 2", ["Book", "CreativeWork"]), …

The place of a record is for error messages.
"""

from collections.abc import Iterator
from pathlib import Path

from aegir_rl.base.errors import AegirError


def read_tsv(path: Path, columns: str) -> Iterator[tuple[str, list[str]]]:
    """Yield the place and the fields of every record of a file with these columns."""
    header, *lines = path.read_text(encoding="utf-8").removesuffix("\n").split("\n")
    names = columns.split()
    if header.split("\t") != names:
        raise AegirError(
            f"{path.name}, line 1: columns are {header!r}; expected {'<tab>'.join(names)}"
        )
    for number, line in enumerate(lines, start=2):
        fields = line.split("\t")
        place = f"{path.name}, line {number}"
        if len(fields) != len(names):
            raise AegirError(
                f"{place}: {len(fields)} fields; expected {len(names)} ({', '.join(names)}), "
                "separated by tabs"
            )
        yield place, fields
