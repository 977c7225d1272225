"""Adding specialists to the user's pool and removing them; switching shipped ones off and on.

    add_specialist(Path("mine.safetensors"), folder)     copies the weights into the folder and writes a manifest
    remove_specialist("mine", folder)                    deletes both; a shipped specialist is switched off instead
    enable_specialist("places", folder)                  switches it on again

A file is loaded and tried before it is added: what cannot be used is refused with one sentence. Which shipped specialists are
switched off is in pool.json of the user's folder.
"""

import datetime
import json
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Literal

from aegir.readers.swarm.annotator import SHIPPED
from aegir.readers.swarm.pool.entry import (
    PoolEntry,
    SpecialistValidation,
    load_entries,
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
from aegir_rl.base.text import parse_json

SETTINGS_FORMAT = "aegir-pool-settings-1"
SETTINGS_FILE = "pool.json"


def writable_folder(folder: Path | None = None) -> Path:
    """Return the folder of the user's specialists; raise UsageError for a user without a home, or a file in its place."""
    folder = folder if folder is not None else swarm_folder()
    if folder is None:
        raise UsageError(
            "there is no home folder to keep specialists in; set AEGIR_SWARM to a folder"
        )
    manifest_files(folder)
    return folder


def shipped_names() -> list[str]:
    """Return the names of the specialists that ship."""
    return [*load_entries(SHIPPED, "shipped")[0]]


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
    if name in shipped_names():
        raise UsageError(
            f"a specialist {name!r} ships with Aegir; give yours another name with --name"
        )
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
        origin="user",
        added=datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
    )
    validation = None if validate is None else validate(entry, loaded)
    entry = replace(entry, file=weights_of(folder, name), validation=validation)
    _make_folder(folder)
    replace_file(entry.file, weights.read_bytes())
    save_entry(entry)
    return entry


def remove_specialist(name: str, folder: Path) -> Literal["removed", "switched off"]:
    """Delete a specialist of the user's; switch off one that ships."""
    if name in shipped_names():
        if name in load_disabled(folder):
            raise UsageError(
                f"{name!r} is switched off already; to switch it on: aegir swarm add {name}"
            )
        _set_disabled(folder, name, True)
        return "switched off"
    known = [path.name.removesuffix(MANIFEST_ENDING) for path in manifest_files(folder)]
    if name not in known:
        names = ", ".join([*shipped_names(), *known])
        raise UsageError(f"there is no specialist {name!r} in the pool; known are: {names}")
    try:
        weights_of(folder, name).unlink(missing_ok=True)
    except OSError as error:
        raise UsageError(
            f"cannot remove {weights_of(folder, name)} ({error.strerror or error}); the specialist stays"
        ) from None
    manifest_of(folder, name).unlink(missing_ok=True)
    return "removed"


def enable_specialist(name: str, folder: Path) -> bool:
    """Switch a shipped specialist on again; return whether it was off."""
    if name not in load_disabled(folder):
        return False
    _set_disabled(folder, name, False)
    return True


def load_disabled(folder: Path | None) -> frozenset[str]:
    """Return the names that are switched off; none without a file. Raise UsageError for a file that is none of ours."""
    path = folder / SETTINGS_FILE if folder is not None else None
    if path is None or not path.is_file():
        return frozenset()
    try:
        record = parse_json(path.read_text(encoding="utf-8"))
        if not isinstance(record, dict) or record.get("format") != SETTINGS_FORMAT:
            raise ValueError(f"expected format {SETTINGS_FORMAT!r}")
        return frozenset(map(str, record["disabled"]))
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise UsageError(
            f"{path} cannot be read as the settings of a pool ({error}); delete it to begin anew"
        ) from None


def _set_disabled(folder: Path, name: str, disabled: bool) -> None:
    names = load_disabled(folder) - {name} | ({name} if disabled else frozenset())
    record = {"format": SETTINGS_FORMAT, "disabled": sorted(names)}
    _make_folder(folder)
    replace_file(folder / SETTINGS_FILE, (json.dumps(record) + "\n").encode())


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(
            f"{folder} cannot be written ({error.strerror}); set AEGIR_SWARM to another folder"
        ) from None
