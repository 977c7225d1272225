"""How often the specialists of a pool were used, for how long, and what they were worth.

    usage.json in the user's folder    {"format", "specialists": {name: {"columns", "calls", "seconds", "cold", "gains", "gain"}}}

Counts are kept in memory and added to the file only when asked (`save_usage`). Any number of processes may do so at once: each
adds its own counts under a lock. Limit: Windows and file systems without flock are not locked, so counts may be lost there.
"""

import json
import math
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from aegir_rl.base.errors import UsageError
from aegir_rl.base.files import replace_file

if sys.platform != "win32":
    import fcntl

FORMAT = "aegir-pool-usage-1"
USAGE_FILE, LOCK_FILE = "usage.json", ".lock"


@dataclass(frozen=True, slots=True)
class Usage:
    """How a specialist was used."""

    columns: int = 0
    """Columns that it read."""
    calls: int = 0
    seconds: float = 0.0
    """Spent reading."""
    cold: int = 0
    """Times that it was loaded from disk."""
    gains: int = 0
    """How often its worth was measured."""
    gain: float = 0.0
    """Sum of these."""

    def __post_init__(self) -> None:
        for name in ("columns", "calls", "seconds", "cold", "gains", "gain"):
            value = getattr(self, name)
            known = isinstance(value, int | float) and math.isfinite(value)
            if not known or (value < 0 and name != "gain"):
                raise UsageError(f"{name} of a specialist's use is {value!r}; expected a count")

    @property
    def worth(self) -> float | None:
        """The mean gain that was noted; None if none was."""
        return self.gain / self.gains if self.gains else None

    def __add__(self, other: "Usage") -> "Usage":
        """Return the usage of both together."""
        return Usage(
            self.columns + other.columns,
            self.calls + other.calls,
            self.seconds + other.seconds,
            self.cold + other.cold,
            self.gains + other.gains,
            self.gain + other.gain,
        )

    def as_dict(self) -> dict[str, Any]:
        """Return the counts and the worth; JSON."""
        return {**asdict(self), "worth": self.worth}


def load_usage(folder: Path | None) -> dict[str, Usage]:
    """Return what was saved in a folder; empty without a file. Raise UsageError for a file that is none of ours."""
    path = folder / USAGE_FILE if folder is not None else None
    if path is None or not path.is_file():
        return {}
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(record, dict) or record.get("format") != FORMAT:
            raise ValueError(f"expected format {FORMAT!r}")
        return {name: Usage(**given) for name, given in record["specialists"].items()}
    except (
        OSError,
        ValueError,
        LookupError,
        TypeError,
        AttributeError,
        RecursionError,
        UsageError,
    ) as error:
        raise UsageError(
            f"{path} cannot be read as usage statistics ({error}); delete it to begin anew"
        ) from None


def save_usage(folder: Path, new: Mapping[str, Usage]) -> dict[str, Usage]:
    """Add counts to those in a folder, which is made if need be; return the sums."""
    with locked(folder):
        saved = load_usage(folder)
        total = {
            name: saved.get(name, Usage()) + new.get(name, Usage()) for name in {**saved, **new}
        }
        record = {
            "format": FORMAT,
            "specialists": {name: asdict(total[name]) for name in sorted(total)},
        }
        replace_file(folder / USAGE_FILE, (json.dumps(record, indent=1) + "\n").encode())
    return total


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Make a folder if need be, and wait until no other process changes it."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        handle = os.open(folder / LOCK_FILE, os.O_RDWR | os.O_CREAT, 0o644)
    except OSError as error:
        raise UsageError(
            f"{folder} cannot be written ({error.strerror}); set AEGIR_SWARM to another folder"
        ) from None
    try:
        if sys.platform != "win32":
            with suppress(OSError):  # a file system without locks
                fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)
