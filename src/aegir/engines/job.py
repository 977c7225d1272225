"""A job: what every place of an engine is to do, as plain values that can be sent to another machine.

    Job("aegir.engines.annotating:open_annotating", settings.as_dict(), files=sign_files([model]))

The function is called with the settings and the number of worker processes, and returns a context that gives a function of a
shard: items in, answers out, both of them JSON values. What it loads is loaded once per place.

A file is not sent: all places must see it under its name, on a shared file system. `sign` notes what a file looks like here, and
`check_signed` compares that with what a place sees: existence, size, time of the last change, and whether it may be read.
"""

import hashlib
import os
import socket
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from pathlib import Path
from platform import python_version_tuple
from typing import Any

import aegir_rl
from aegir_rl.base.errors import UsageError

RunShard = Callable[[Sequence[Any]], Iterable[tuple[int, Any]]]
"""Works on items; yields answers, each with the index of its item."""
Open = Callable[[Mapping[str, Any], int], AbstractContextManager[RunShard]]
"""Loads what a job needs, for so many worker processes."""
Signed = tuple[str, list[int] | None]
"""The name of a file, and what it looks like; None if it cannot be looked at."""

FOR_ANSWERS = (
    "duckdb",
    "nanoarrow",
    "numpy",
    "phonenumberslite",
    "python-calamine",
    "python-stdnum",
)
"""Packages whose versions may change an answer."""
FOR_TRAINING = (*FOR_ANSWERS, "numba", "scipy", "torch")
"""Packages whose versions may change what training gives."""


@dataclass(frozen=True, slots=True)
class Job:
    """A function of Aegir by its name, `module:function`, and what it is called with."""

    function: str
    settings: Mapping[str, Any]
    files: Sequence[Signed] = ()
    """What all places must see alike."""
    packages: Sequence[str] = FOR_ANSWERS
    """Whose versions must be the same in all places."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """Variables that the job sees; the others are those of the place."""
    folder: str = field(default_factory=os.getcwd)
    """Where relative names begin."""

    def open(self, workers: int) -> AbstractContextManager[RunShard]:
        """Load what the job needs, in this process."""
        module, _, name = self.function.partition(":")
        assert module.startswith("aegir."), module
        opened: AbstractContextManager[RunShard] = getattr(import_module(module), name)(
            self.settings, workers
        )
        return opened


def sign(path: str | Path) -> Signed:
    """Note what a file looks like from here."""
    try:
        status = os.stat(path)  # noqa: PTH116
    except OSError:
        return str(path), None
    return str(path), [status.st_size, int(status.st_mtime), int(os.access(path, os.R_OK))]


def sign_files(paths: Iterable[str | Path | None]) -> list[Signed]:
    """Note what files look like from here, and all files below folders; None is left out."""
    signed = []
    for path in paths:
        if path is None:
            continue
        below = sorted(each for each in Path(path).rglob("*") if each.is_file())
        signed += [sign(each) for each in below or [Path(path)]]
    return signed


def check_signed(signed: Signed) -> None:
    """Raise `UsageError` if a file looks different from here, unless it could not be looked at there either."""
    name, expected = signed
    seen = sign(name)[1]
    if expected is None or seen == expected:
        return
    difference = "it is missing" if seen is None else "it may not be read"
    if seen is not None and seen[:2] != expected[:2]:
        difference = "its size or its time of change is another"
    raise UsageError(
        f"{name} is not the same on {socket.gethostname()} as where the work came from ({difference}); all machines must see the "
        "same files under the same names, on a shared file system"
    )


def describe_installation(packages: Iterable[str]) -> dict[str, str]:
    """What answers depend on beside their input: Aegir's own files, by their SHA-256, and versions."""
    from importlib.metadata import PackageNotFoundError, version  # slow to load

    major, minor, _ = python_version_tuple()
    versions = {"aegir": _hash_package(), "Python": f"{major}.{minor}"}
    for name in packages:
        try:
            versions[name] = version(name)
        except PackageNotFoundError:
            versions[name] = "missing"
    return versions


def check_installation(expected: Mapping[str, str]) -> None:
    """Raise `UsageError` if this interpreter might not answer as the one that sends the work."""
    here = describe_installation(name for name in expected if name not in ("aegir", "Python"))
    for name, wanted in expected.items():
        if here[name] == wanted:
            continue
        if name == "aegir":
            raise UsageError(
                "another Aegir is installed there than here (their files differ); install the same version everywhere"
            )
        raise UsageError(
            f"{name} is {here[name]} there and {wanted} here; install the same versions everywhere"
        )


@cache
def _hash_package() -> str:
    digest = hashlib.sha256()
    for package in (Path(aegir_rl.__file__).parent, Path(__file__).parents[1]):
        for path in sorted(package.rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts:
                digest.update(str(path.relative_to(package.parent)).encode() + b"\0")
                digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()
