"""The folder of a training run: started once, resumed with the settings it was started with.

    with open_run(folder, config, processes, resume=False) as run: ...

Starting refuses a folder that holds a run, resuming refuses settings other than those in its config.toml, and both refuse
a folder that another process is training into. Only the first of several processes writes; the others wait for it.
"""

import contextlib
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aegir_rl.base.errors import UsageError
from aegir_rl.base.run_folder import CONFIG, METRICS, RunFolder, hold_lock, render_toml
from aegir_rl.base.settings import read_toml

if TYPE_CHECKING:  # recipes without torch use this module too
    from aegir.lab.byte_network.learner import Processes

CHECKPOINT = "checkpoint.safetensors"
FREE_SETTINGS = (
    "threads",
    "data.folders",
    "specialists",
    "tasks.training",
    "tasks.test",
    "tasks.outcomes",
)
"""What may differ when a run is resumed: where it runs, not what it learns."""


@contextlib.contextmanager
def open_run(
    folder: Path, config: Any, processes: "Processes | None" = None, *, resume: bool
) -> Iterator[RunFolder]:
    """Start or resume the run in a folder, which stays locked until the block ends; `config` is a dataclass."""
    if resume:
        _check_resumable(folder, config)
    with contextlib.ExitStack() as stack:
        if processes is None or processes.rank == 0:
            with contextlib.suppress(OSError):  # what is wrong is said when the folder is written
                folder.mkdir(parents=True, exist_ok=True)
            stack.enter_context(hold_lock(folder))
            if not resume:
                _start(folder, config)
        if processes is not None:
            processes.wait()
        yield RunFolder(folder)


def checkpoint_of(path: Path) -> Path:
    """Return the checkpoint of a run folder; any other path is taken for a checkpoint itself."""
    return path / CHECKPOINT if path.is_dir() else path


def _start(folder: Path, config: Any) -> None:
    """Write the settings and the environment; config.toml can be given to `aegir train` again."""
    metrics = folder / METRICS
    if (folder / CHECKPOINT).exists() or (metrics.exists() and metrics.stat().st_size > 0):
        raise UsageError(
            f"{folder} holds a run already; go on with it by --resume, or choose another --out"
        )
    with contextlib.suppress(OSError):  # of a run that ended before its first step
        metrics.unlink()
    RunFolder.create(folder, asdict(config))


def _check_resumable(folder: Path, config: Any) -> None:
    """Raise if there is nothing to resume, or if it was started with other settings."""
    if not (folder / CHECKPOINT).exists():
        raise UsageError(f"{folder} has no {CHECKPOINT} to resume from; start it without --resume")
    started = dict(_flat_settings(read_toml(folder / CONFIG)))
    now = dict(_flat_settings(tomllib.loads(render_toml(asdict(config)))))
    for name in sorted(started.keys() & now.keys()):
        if started[name] != now[name] and not name.startswith(FREE_SETTINGS):
            raise UsageError(
                f"{name} was {started[name]!r} when {folder} began and is {now[name]!r} now; "
                f"resume with its own settings, or begin another run with --from {folder}"
            )


def _flat_settings(section: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, Any]]:
    """Every setting of a TOML document as (`section.name`, value)."""
    for name, value in section.items():
        if isinstance(value, Mapping):
            yield from _flat_settings(value, f"{above}{name}.")
        else:
            yield f"{above}{name}", value
