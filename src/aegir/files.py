"""Files that are written whole or not at all: a full disk or a sudden end leaves what was there before."""

import contextlib
import os
import tempfile
from pathlib import Path

from aegir.errors import UsageError


def replace_file(path: Path, content: bytes) -> None:
    """Write `content` beside `path`, flush it to disk, and rename it over `path`."""
    try:
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            Path(name).chmod(0o644)  # temporary files are private
            Path(name).replace(path)
        except BaseException:
            with contextlib.suppress(OSError):
                Path(name).unlink()
            raise
    except OSError as error:
        raise UsageError(
            f"{path} cannot be written ({error.strerror or error}); what was there before is untouched"
        ) from None
