"""Fixtures shared by all tests; being here also makes `tests/` importable (nasty_files).

Laws are tried on the same examples in every run, so that a fresh clone is green or red for everyone.
To look for new counterexamples: pytest tests/laws --hypothesis-profile=search

A session has a temporary folder of its own, also with several processes (pytest-xdist), and fails if Aegir has left a folder in it.
"""

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from aegir.tables.reader_process import close_readers
from nasty_files import write_nasty_files

pytest_plugins = ["browser", "database_servers", "process_kinds", "sandboxes"]

# Read when torch is loaded. Its threads wait by spinning: tests of networks take half the CPU time with one.
os.environ.setdefault("OMP_NUM_THREADS", "1")

# A busy machine must not fail a law: no deadline, and slow generation is no complaint.
settings.register_profile(
    "steady", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("search", deadline=None, max_examples=1000, print_blob=True)
settings.load_profile("steady")


def pytest_configure(config: pytest.Config) -> None:
    """Make the temporary folder of the session; processes of pytest-xdist inherit it."""
    if hasattr(config, "workerinput"):
        return
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", tempfile.gettempdir())  # where tmp_path is
    folder = Path(tempfile.mkdtemp(prefix="tests-"))
    folder.chmod(0o1777)  # database servers run as another user
    os.environ["TMPDIR"] = tempfile.tempdir = str(folder)
    config.stash[_TEMPORARY] = folder


_TEMPORARY = pytest.StashKey[Path]()


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fail a session in which Aegir left a temporary folder; trylast: pytest-xdist has ended its processes."""
    folder = session.config.stash.get(_TEMPORARY, None)
    if folder is None:
        return
    close_readers()
    if left := sorted(path.name for path in folder.glob("aegir-*")):
        sentence = f"temporary folders were left in {folder}: {', '.join(left)}"
        session.config.get_terminal_writer().line(f"\n{sentence}", red=True)
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
    else:
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session", autouse=True)
def _no_taught_types(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Types that whoever runs the tests has taught must not answer in them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AEGIR_HOME", str(tmp_path_factory.mktemp("home")))
        yield


@pytest.fixture(scope="session")
def nasty(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A folder of files that real life produces and readers trip over, by name."""
    return write_nasty_files(tmp_path_factory.mktemp("nasty"))
