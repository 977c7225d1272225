"""Where specialists are kept, and which manifests are there; importing this loads nothing else of the pool.

The folder is $AEGIR_SWARM, else `swarm` in the user's folder ($AEGIR_HOME, else $XDG_DATA_HOME/aegir, else ~/.local/share/aegir).
"""

import os
from pathlib import Path

from aegir_rl.base.errors import UsageError
from aegir_rl.base.files import user_folder

MANIFEST_ENDING = ".specialist.json"
ENVIRONMENT = "AEGIR_SWARM"


def swarm_folder() -> Path | None:
    """Return the folder of the user's specialists, which need not exist; None for a user without a home."""
    if folder := os.environ.get(ENVIRONMENT):
        return Path(folder)
    home = user_folder()
    return None if home is None else home / "swarm"


def manifest_files(folder: Path | None) -> list[Path]:
    """Return the manifests of a folder, sorted; an empty list if there is no folder.

    Raises UsageError for a file in its place, or a folder that may not be read.
    """
    try:
        files = [] if folder is None else list(folder.iterdir())
    except FileNotFoundError:
        return []
    except OSError as error:
        raise UsageError(
            f"{folder} cannot be read as the folder of your specialists ({error.strerror}); "
            f"set {ENVIRONMENT} to a folder"
        ) from None
    return sorted(path for path in files if path.name.endswith(MANIFEST_ENDING))
