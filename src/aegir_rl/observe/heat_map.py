"""Heat maps of a run: a number for every row and column, as a file that `python -m aegir.lab.figures run` draws.

    save_heat_map(folder, HeatMap("activation", rows=types, columns=specialists, values=shares))
        -> folder/heat_map-activation.json   {"rows": [...], "columns": [...], "values": [[...], ...], ...}

A value that is missing or not finite is null in the file and nan here. The file is replaced whole, so a run may write the same
heat map again as it goes on.
"""

import json
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aegir_rl.base.errors import UsageError
from aegir_rl.base.files import replace_file

PREFIX, ENDING = "heat_map-", ".json"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,99}")


@dataclass(frozen=True, slots=True)
class HeatMap:
    """Values by row and column."""

    name: str
    """Part of the file's name: letters, digits, dots, - and _."""
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    values: tuple[tuple[float, ...], ...]
    """One tuple per row; nan where there is no value."""
    title: str = ""
    """What the values are, in a few words."""

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name):
            raise UsageError(
                f"{self.name!r} cannot be the name of a heat map; expected letters, digits, dots, - and _"
            )
        widths = {len(row) for row in self.values}
        if len(self.values) != len(self.rows) or widths - {len(self.columns)}:
            raise UsageError(
                f"heat map {self.name} has {len(self.values)} rows of {sorted(widths)} values; "
                f"expected {len(self.rows)} rows of {len(self.columns)}"
            )

    @classmethod
    def of(
        cls,
        name: str,
        rows: Sequence[str],
        columns: Sequence[str],
        values: Any,
        title: str = "",
    ) -> "HeatMap":
        """Return a heat map of nested sequences or an array (rows, columns) of numbers or None."""
        listed = values.tolist() if hasattr(values, "tolist") else values
        read = tuple(tuple(_number(value) for value in row) for row in listed)
        return cls(name, tuple(map(str, rows)), tuple(map(str, columns)), read, str(title))


def save_heat_map(folder: Path | str, heat_map: HeatMap) -> Path:
    """Write a heat map into the folder of a run, and return its path."""
    path = Path(folder) / f"{PREFIX}{heat_map.name}{ENDING}"
    content = {
        "title": heat_map.title,
        "rows": list(heat_map.rows),
        "columns": list(heat_map.columns),
        "values": [
            [value if math.isfinite(value) else None for value in row] for row in heat_map.values
        ],
    }
    replace_file(path, (json.dumps(content, ensure_ascii=False) + "\n").encode())
    return path


def load_heat_maps(folder: Path | str) -> tuple[list[HeatMap], list[str]]:
    """Return the heat maps of a run by name, and a sentence for each file that holds none."""
    found, notes = [], []
    for path in sorted(Path(folder).glob(f"{PREFIX}*{ENDING}")):
        try:
            found.append(_read(path))
        except UsageError as error:
            notes.append(f"{path.name} was skipped: {error}")
        except (AttributeError, KeyError, OSError, RecursionError, TypeError, ValueError) as error:
            notes.append(f"{path.name} was skipped: it holds no heat map ({_reason(error)})")
    return found, notes


def _read(path: Path) -> HeatMap:
    given = json.loads(path.read_bytes())
    name = path.name.removeprefix(PREFIX).removesuffix(ENDING)
    return HeatMap.of(
        name, given["rows"], given["columns"], given["values"], given.get("title", "")
    )


def _number(value: Any) -> float:
    if value is None:
        return math.nan
    try:
        number = float(value)
    except OverflowError:
        return math.nan
    return number if math.isfinite(number) else math.nan


def _reason(error: Exception) -> str:
    return f"no {error.args[0]!r}" if isinstance(error, KeyError) else str(error)
