"""What this installation has: version, weights and their hashes, extras, formats, and where what the user taught lives.

    for finding in inspect_installation(): ...      each with a part, a name, whether it works, and a sentence

Nothing is read but the installation itself; nothing is written, and no server is asked.
"""

import hashlib
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, distribution, version
from pathlib import Path

from aegir.memory.location import default_location, memory_exists
from aegir.pipeline.custom_types.store import type_files, types_folder
from aegir.pipeline.registry import load_annotator
from aegir.pipeline.settings import AnnotationSettings
from aegir.tables.formats import Format
from aegir_rl.base.errors import AegirError
from aegir_rl.base.text import amount

DISTRIBUTION = "aegir-tables"
WEIGHTS = Path(__file__).parents[1] / "readers" / "weights"
BY_EXTRA = {"Avro": "avro", "ORC": "orc", "PostgreSQL": "postgres", "MySQL": "mysql"}
"""What is read with an extra only."""
SERVERS = ("PostgreSQL", "MySQL")
NOT_FOR_USERS = ("dev", "bench", "distil")
_EXTRA = re.compile(r"""extra\s*==\s*['"]([\w-]+)['"]""")
_NAME = re.compile(r"[A-Za-z0-9._-]+")


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at."""

    part: str
    """version, weights, extra, format, place, engine or sandbox."""
    name: str
    works: bool
    sentence: str


def inspect_installation() -> Iterator[Finding]:
    """Yield what there is, and what is missing with what to install."""
    yield Finding(
        "version", DISTRIBUTION, True, f"{version(DISTRIBUTION)}, Python {sys.version.split()[0]}"
    )
    yield from _weights()
    missing = _missing_by_extra()
    for extra, names in missing.items():
        sentence = f"needs {', '.join(names)}: pip install '{DISTRIBUTION}[{extra}]'"
        yield Finding("extra", extra, not names, sentence if names else "installed")
    for name in (*map(str, Format), *SERVERS):
        lacking = missing.get(BY_EXTRA.get(name, ""), ())
        sentence = f"needs the extra {BY_EXTRA[name]}" if lacking else "readable"
        yield Finding("format", name, not lacking, sentence)
    yield from _places()
    yield Finding("engine", "local", True, "this machine")
    lacking = missing.get("cluster", ())
    sentence = "needs the extra cluster" if lacking else "installed; --engine ray starts or joins a cluster"  # fmt: skip
    yield Finding("engine", "ray", not lacking, sentence)


def _weights() -> Iterator[Finding]:
    for path in sorted(WEIGHTS.rglob("*.safetensors")):
        content = path.read_bytes()
        sentence = f"{len(content) / 1e6:.1f} MB, sha256 {hashlib.sha256(content).hexdigest()}"
        yield Finding("weights", path.relative_to(WEIGHTS).as_posix(), True, sentence)
    settings = AnnotationSettings(memory=False, custom_types=False)
    try:
        load_annotator(settings)
    except AegirError as error:
        yield Finding("weights", settings.annotator, False, str(error))
    else:
        yield Finding("weights", settings.annotator, True, "the annotator loads")


def _missing_by_extra() -> dict[str, tuple[str, ...]]:
    """Return the extras for users, each with those of its packages that are not installed."""
    installed = distribution(DISTRIBUTION)
    names: dict[str, list[str]] = {
        extra: []
        for extra in installed.metadata.get_all("Provides-Extra") or ()
        if extra not in NOT_FOR_USERS
    }
    for requirement in installed.requires or ():
        wanted, package = _EXTRA.search(requirement), _NAME.match(requirement)
        if wanted and package and wanted[1] in names and not _is_installed(package[0]):
            names[wanted[1]].append(package[0])
    return {extra: tuple(packages) for extra, packages in names.items()}


def _is_installed(package: str) -> bool:
    try:
        version(package)
    except PackageNotFoundError:
        return False
    return True


def _places() -> Iterator[Finding]:
    memory, types = default_location(), types_folder()
    if memory is None or types is None:
        yield Finding(
            "place", "home", False, "the user has no home; set AEGIR_HOME for memory and types"
        )
        return
    shown = memory.partition("://")[0] + "://…" if "://" in memory else memory  # a password
    there = "there" if memory_exists(memory) else "nothing is remembered yet"
    yield Finding("place", "memory", True, f"{shown} ({there})")
    taught = amount(len(type_files(types)), "taught type")
    yield Finding("place", "types", True, f"{types} ({taught})")
