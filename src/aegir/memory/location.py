"""Where the review memory is, and whether there is one.

    --memory, else $AEGIR_MEMORY, else memory.db in the user's folder ($AEGIR_HOME, else ~/.local/share/aegir)

Looking for a memory that does not exist costs one look at the file system, makes nothing and loads no database.
"""

import os
from pathlib import Path
from typing import TYPE_CHECKING

from aegir_rl.base.errors import AegirError
from aegir_rl.base.files import user_folder

if TYPE_CHECKING:
    from aegir.memory.recall import ReviewMemory

ENVIRONMENT = "AEGIR_MEMORY"
FILE_NAME = "memory.db"


def default_location() -> str | None:
    """Return the store that AEGIR_MEMORY names, else a file in the user's folder; it need not exist."""
    if location := os.environ.get(ENVIRONMENT):
        return location
    folder = user_folder()
    return None if folder is None else str(folder / FILE_NAME)


def memory_exists(location: str) -> bool:
    """Return whether there is a store to open; a URL is taken to name one."""
    return "://" in location or Path(location).is_file()


def load_memory(
    location: str | None = None, *, advice: str = "--no-memory leaves it out"
) -> "ReviewMemory | None":
    """Return what is remembered at this location, by default the user's own; None if there is nothing.

    `advice` ends the sentence of a memory that cannot be read.
    """
    location = location or default_location()
    if location is None or not memory_exists(location):
        return None
    from aegir.memory.conventions import Conventions
    from aegir.memory.recall import ReviewMemory
    from aegir.memory.store import ReviewStore  # loads SQLite

    try:
        with ReviewStore.open(location) as store:
            memory = ReviewMemory(store.read(), Conventions.beside(location))
    except AegirError as error:
        raise type(error)(f"the review memory cannot be read ({error}); {advice}") from None
    return memory if len(memory) else None
