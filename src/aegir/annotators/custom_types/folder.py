"""The folder that taught types are kept in.

    $AEGIR_HOME/types, else $XDG_DATA_HOME/aegir/types, else ~/.local/share/aegir/types
    (on Windows %LOCALAPPDATA%\\aegir\\types)

This stands apart from store.py so that finding nothing costs nothing: most users never teach a type.
"""

import os
import sys
from pathlib import Path


def types_folder() -> Path | None:
    """The folder, which need not exist; None for a user without a home."""
    if home := os.environ.get("AEGIR_HOME"):
        return Path(home) / "types"
    given = os.environ.get("LOCALAPPDATA" if sys.platform == "win32" else "XDG_DATA_HOME", "")
    if Path(given).is_absolute():  # the XDG specification asks that other paths be ignored
        return Path(given) / "aegir" / "types"
    try:
        return Path.home() / ".local" / "share" / "aegir" / "types"
    except RuntimeError:
        return None


def type_files(folder: Path | None) -> list[Path]:
    """The files of taught types, sorted; none where there is no folder."""
    try:
        return sorted(folder.glob("*.json")) if folder is not None else []
    except OSError:
        return []
