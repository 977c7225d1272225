"""The folder of a training run of the byte network: begun once, gone on with under the settings it began with.

    run = start_run(folder, config, processes)          refuses a folder that holds a run
    run = continue_run(folder, config, processes)       refuses other settings than those in its config.toml

Only the first of several processes writes; the others wait for it.
"""

import contextlib
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from aegir.config.settings import read_toml
from aegir.errors import UsageError
from aegir.run_folder import CONFIG, METRICS, RunFolder, render_toml
from aegir.training.byte_network.config import ByteTraining
from aegir.training.byte_network.learner import Processes

CHECKPOINT = "checkpoint.safetensors"
FREE_SETTINGS = ("threads", "data.folders")
"""What may differ when a run goes on: where it runs, not what it learns."""


def start_run(folder: Path, config: ByteTraining, processes: Processes) -> RunFolder:
    """Make the folder; its config.toml can be given to `aegir train` again."""
    if processes.rank == 0:
        if _has_learnt(folder):
            raise UsageError(
                f"{folder} holds a run already; go on with it by --resume, or choose another --out"
            )
        with contextlib.suppress(OSError):  # of a run that ended before its first step
            (folder / METRICS).unlink()
        RunFolder.create(folder, asdict(config))
    processes.wait()
    return RunFolder(folder)


def continue_run(folder: Path, config: ByteTraining, processes: Processes) -> RunFolder:
    """Open the folder of a run that stopped, for whatever reason, after its first checkpoint."""
    if not (folder / CHECKPOINT).exists():
        raise UsageError(f"{folder} has no {CHECKPOINT} to resume from; start it without --resume")
    _refuse_other_settings(folder, config)
    processes.wait()
    return RunFolder(folder)


def _has_learnt(folder: Path) -> bool:
    metrics = folder / METRICS
    return (folder / CHECKPOINT).exists() or (metrics.exists() and metrics.stat().st_size > 0)


def checkpoint_of(given: Path) -> Path:
    """The checkpoint of a run folder; any other path is taken for a checkpoint itself."""
    return given / CHECKPOINT if given.is_dir() else given


def _refuse_other_settings(folder: Path, config: ByteTraining) -> None:
    """With other settings it would be neither one run nor the other."""
    then = dict(_settings_in(read_toml(folder / CONFIG)))
    now = dict(_settings_in(tomllib.loads(render_toml(asdict(config)))))
    for name in sorted(then.keys() & now.keys()):
        if then[name] != now[name] and not name.startswith(FREE_SETTINGS):
            raise UsageError(
                f"{name} was {then[name]!r} when {folder} began and is {now[name]!r} now; "
                f"resume with its own settings, or begin another run with --from {folder}"
            )


def _settings_in(section: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, Any]]:
    """Every setting of a TOML document as (`section.name`, value)."""
    for name, value in section.items():
        if isinstance(value, Mapping):
            yield from _settings_in(value, f"{above}{name}.")
        else:
            yield f"{above}{name}", value
