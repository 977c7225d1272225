"""Keys in an answer: the columns that name a row, and the columns whose values are keys of another table.

    "primary_key": {"columns": [0], "confidence": 0.97, "holds": false, "declared": false}
    "foreign_keys": [{"columns": [2], "table": "shop.db#customers", "references": [0], "names": ["id"],
                      "confidence": 0.95, "holds": true, "declared": false, "reason": "…"}]

Columns are given by their index. A `KeySketch` is what is kept of a column so that keys can be looked for when all tables
of a run are known; like previews it is no part of the dictionary.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from struct import unpack
from typing import Any, NamedTuple

DECIMALS = 4


@dataclass(frozen=True, slots=True)
class PrimaryKey:
    """Columns, one or two, whose values together name a row."""

    columns: tuple[int, ...]
    confidence: float
    """How likely the owner of the table would call this its key; 1 for a declared one."""
    holds: bool = False
    """Whether all rows were seen, and none is without a key or has that of another."""
    declared: bool = False
    """Whether the source itself says so."""


@dataclass(frozen=True, slots=True)
class ForeignKey:
    """Columns whose values are keys of a table of the same folder or database."""

    columns: tuple[int, ...]
    table: str
    """The name of the table that they refer to, as in its own answer."""
    references: tuple[int, ...]
    """The columns of that table."""
    names: tuple[str | None, ...]
    """The headers of these columns."""
    confidence: float
    reason: str
    """Which name and how many of the values agree."""
    holds: bool = False
    """Whether all rows of both tables were seen, and every value is a key of the other."""
    declared: bool = False


class KeySketch(NamedTuple):
    """What is kept of a column that may take part in a key."""

    column: int
    unique: float
    """How likely the column is the key of its table by itself; 0 where its values repeat or are missing."""
    whole: bool
    """Whether all values are whole numbers."""
    least: int
    greatest: int
    """Their range; 0 for texts."""
    hashes: str
    """The least hashes of the distinct values, sorted: eight hexadecimal digits each, which is small to keep and to send."""

    def unpacked(self) -> tuple[int, ...]:
        """Return the hashes as numbers."""
        return unpack(f">{len(self.hashes) // 8}I", bytes.fromhex(self.hashes))


def keys_as_dict(primary: PrimaryKey | None, foreign: tuple[ForeignKey, ...]) -> dict[str, object]:
    """Return the keys of a table; what was not found is left out."""
    found: dict[str, object] = {}
    if primary is not None:
        found["primary_key"] = {
            "columns": list(primary.columns),
            "confidence": round(primary.confidence, DECIMALS),
            "holds": primary.holds,
            "declared": primary.declared,
        }
    if foreign:
        found["foreign_keys"] = [
            {
                "columns": list(key.columns),
                "table": key.table,
                "references": list(key.references),
                "names": list(key.names),
                "confidence": round(key.confidence, DECIMALS),
                "holds": key.holds,
                "declared": key.declared,
                "reason": key.reason,
            }
            for key in foreign
        ]
    return found


def primary_key_from_dict(data: Mapping[str, Any]) -> PrimaryKey | None:
    """Return the primary key in the dictionary of a table; None without one."""
    key = data.get("primary_key")
    if key is None:
        return None
    return PrimaryKey(
        columns=tuple(map(int, key["columns"])),
        confidence=float(key["confidence"]),
        holds=key["holds"] is True,
        declared=key["declared"] is True,
    )


def foreign_keys_from_dict(data: Mapping[str, Any]) -> tuple[ForeignKey, ...]:
    """Return the foreign keys in the dictionary of a table."""
    return tuple(
        ForeignKey(
            columns=tuple(map(int, key["columns"])),
            table=str(key["table"]),
            references=tuple(map(int, key["references"])),
            names=tuple(key["names"]),
            confidence=float(key["confidence"]),
            reason=str(key["reason"]),
            holds=key["holds"] is True,
            declared=key["declared"] is True,
        )
        for key in data.get("foreign_keys", ())
    )
