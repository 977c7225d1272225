"""Adds the dependency on aegir-rl, whose code lies in this repository.

A clone installs the library from the folder `rl` beside this file. With AEGIR_RELEASE=1, as in `make wheels`, the dependency is on
the released version instead, so that published metadata name no folder.
"""

import os
from pathlib import Path

from hatchling.metadata.plugin.interface import MetadataHookInterface


class LibraryDependency(MetadataHookInterface):
    """The metadata hook that pyproject.toml names."""

    PLUGIN_NAME = "custom"

    def update(self, metadata: dict) -> None:  # type: ignore[type-arg]
        """Complete the dependencies."""
        if os.environ.get("AEGIR_RELEASE"):
            library = f"aegir-rl=={metadata['version']}"
        else:
            library = f"aegir-rl @ {(Path(self.root) / 'rl').as_uri()}"
        metadata["dependencies"] = [library, *self.config["requirements"]]
