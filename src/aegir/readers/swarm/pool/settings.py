"""Which shipped specialists the user has switched off: pool.json in the user's folder."""

import json
from pathlib import Path

from aegir.readers.swarm.pool.usage import locked
from aegir_rl.base.errors import UsageError
from aegir_rl.base.files import replace_file

FORMAT = "aegir-pool-settings-1"
SETTINGS_FILE = "pool.json"


def load_disabled(folder: Path | None) -> frozenset[str]:
    """Return the names that are switched off; none without a file. Raise UsageError for a file that is none of ours."""
    path = folder / SETTINGS_FILE if folder is not None else None
    if path is None or not path.is_file():
        return frozenset()
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(record, dict) or record.get("format") != FORMAT:
            raise ValueError(f"expected format {FORMAT!r}")
        return frozenset(map(str, record["disabled"]))
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise UsageError(
            f"{path} cannot be read as the settings of a pool ({error}); delete it to begin anew"
        ) from None


def set_disabled(folder: Path, name: str, disabled: bool) -> None:
    """Switch a shipped specialist off, or on again."""
    with locked(folder):
        names = load_disabled(folder) - {name} | ({name} if disabled else frozenset())
        record = {"format": FORMAT, "disabled": sorted(names)}
        replace_file(folder / SETTINGS_FILE, (json.dumps(record) + "\n").encode())
