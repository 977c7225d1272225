"""Puts src/aegir_rl, which lies outside this folder, into the wheel; an editable install refers to it instead."""

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class LibrarySources(BuildHookInterface):  # type: ignore[type-arg]
    """The build hook that pyproject.toml names."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict) -> None:  # type: ignore[type-arg]
        """Add the sources unless the install is editable (`dev-mode-dirs` serves that)."""
        if version != "editable":
            build_data["force_include"]["../src/aegir_rl"] = "aegir_rl"
