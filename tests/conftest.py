"""Fixtures shared by all tests; being here also makes `tests/` importable (nasty_files)."""

from pathlib import Path

import pytest

from nasty_files import write_nasty_files


@pytest.fixture(scope="session")
def nasty(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A folder of files that real life produces and readers trip over, by name."""
    return write_nasty_files(tmp_path_factory.mktemp("nasty"))
