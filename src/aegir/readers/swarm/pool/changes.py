"""Adding specialists to the user's pool and removing them.

    add_specialist(Path("mine.safetensors"), folder)     copies the weights into the folder and writes a manifest
    remove_specialist("mine", folder)                    deletes both

A file is loaded and tried before it is added: what cannot be used is refused with one sentence.
"""

import datetime
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path

from aegir.readers.swarm.pool.entry import (
    PoolEntry,
    SpecialistValidation,
    manifest_of,
    save_entry,
    weights_of,
)
from aegir.readers.swarm.pool.loading import LoadedWeights, load_weights
from aegir.readers.swarm.pool.location import MANIFEST_ENDING, manifest_files, swarm_folder
from aegir.readers.swarm.pool.measuring import measure_cost, measure_kinds
from aegir.readers.swarm.weights_file import check_name
from aegir.tables.labelled import LabelledTable
from aegir_rl.base.errors import UsageError
from aegir_rl.base.files import replace_file


def writable_folder(folder: Path | None = None) -> Path:
    """Return the folder of the user's specialists; raise UsageError for a user without a home, or a file in its place."""
    folder = folder if folder is not None else swarm_folder()
    if folder is None:
        raise UsageError(
            "there is no home folder to keep specialists in; set AEGIR_SWARM to a folder"
        )
    manifest_files(folder)
    return folder


def add_specialist(
    weights: Path,
    folder: Path,
    name: str | None = None,
    tables: Iterable[LabelledTable] | None = None,
    validate: Callable[[PoolEntry, LoadedWeights], SpecialistValidation] | None = None,
) -> PoolEntry:
    """Copy a specialist into the folder, measured; `tables` are labelled tables to score it on, per kind.

    `validate` measures whether a search is to call it; the entry that it gets names the file before it is copied.
    """
    loaded = load_weights(weights)
    name = check_name((loaded.name or weights.stem) if name is None else name)
    if manifest_of(folder, name).exists():
        raise UsageError(
            f"there is a specialist {name!r} in {folder} already; give --name, or first: aegir swarm remove {name}"
        )
    entry = PoolEntry(
        name=name,
        domain=loaded.domain,
        family=loaded.family,
        file=weights,
        weights_sha256=loaded.weights_sha256,
        file_sha256=loaded.file_sha256,
        size=loaded.size,
        memory=loaded.memory,
        cost_per_byte=measure_cost(loaded.model),
        scores={} if tables is None else measure_kinds(loaded.model, tables),
        added=datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
    )
    validation = None if validate is None else validate(entry, loaded)
    entry = replace(entry, file=weights_of(folder, name), validation=validation)
    _make_folder(folder)
    replace_file(entry.file, weights.read_bytes())
    save_entry(entry)
    return entry


def remove_specialist(name: str, folder: Path) -> None:
    """Delete a specialist of the user's."""
    known = [path.name.removesuffix(MANIFEST_ENDING) for path in manifest_files(folder)]
    if name not in known:
        names = ", ".join(known) or "none"
        raise UsageError(f"there is no specialist {name!r} in the pool; known are: {names}")
    try:
        weights_of(folder, name).unlink(missing_ok=True)
    except OSError as error:
        raise UsageError(
            f"cannot remove {weights_of(folder, name)} ({error.strerror or error}); the specialist stays"
        ) from None
    manifest_of(folder, name).unlink(missing_ok=True)


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(
            f"{folder} cannot be written ({error.strerror}); set AEGIR_SWARM to another folder"
        ) from None
