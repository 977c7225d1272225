"""A training run that can be killed and resumed: its folder, its checkpoint, and whoever watches it.

    with open_run(folder, config, watch, resume=False) as run:
        run.report(step, metrics)                    a line of metrics.jsonl, and the watcher
        run.checkpoint                               the file from which the run is resumed
        run.resume_after(step, steps)                forget later metrics, which are recorded again

    facts, arrays = split_state({"window": array, "counts": [1, 2]})       nested state as JSON and arrays
    state = join_state(facts, arrays)

Starting refuses a folder that holds a run, resuming refuses settings other than those in its config.toml, and both refuse
a folder that another process is training into. Only the first of several processes writes; the others wait for it.
"""

import contextlib
import shutil
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from aegir_rl.base.errors import UsageError
from aegir_rl.base.run_folder import CONFIG, METRICS, RunFolder, hold_lock, render_toml
from aegir_rl.base.settings import read_toml

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
STATE = "state/"
"""Prefix of the names of arrays in a checkpoint."""
StateArrays = dict[str, npt.NDArray[Any]]


class Watcher(Protocol):
    """Receives progress reports."""

    def say(self, line: str) -> None:
        """Report an event."""

    def step(self, step: int, metrics: Mapping[str, float], /) -> None:
        """Report the metrics of a step."""


class ProcessGroup(Protocol):
    """The processes that train together."""

    @property
    def rank(self) -> int:
        """The number of this process, from 0."""

    def wait(self) -> None:
        """Wait until every process reaches this point."""


class TrainingRun(RunFolder):
    """The folder of a run in progress; `writes` is false in all processes but the first."""

    def __init__(
        self, path: Path, watch: Watcher, writes: bool = True, resumes: bool = False
    ) -> None:
        super().__init__(path)
        self.watch, self.writes, self.resumes = watch, writes, resumes
        """`resumes`: whether it goes on from its checkpoint."""

    @property
    def checkpoint(self) -> Path:
        """The file from which the run is resumed."""
        return self.path / CHECKPOINT

    def record(self, step: int, **values: Any) -> None:
        """Append the metrics of a step to metrics.jsonl."""
        if self.writes:
            super().record(step, **values)

    def report(self, step: int, metrics: Mapping[str, Any]) -> None:
        """Record the metrics of a step and tell the watcher."""
        self.record(step, **metrics)
        self.watch.step(step, metrics)

    def resume_after(self, step: int, steps: int, unit: str = "step") -> None:
        """Forget the metrics of later steps, which will be recorded again, and say where the run goes on."""
        if self.writes:
            self.cut(step)
        self.watch.say(f"going on after {unit} {step} of {steps}")


@contextlib.contextmanager
def open_run(
    folder: Path,
    config: Any,
    watch: Watcher,
    processes: ProcessGroup | None = None,
    *,
    resume: bool,
) -> Iterator[TrainingRun]:
    """Start or resume the run in a folder, which stays locked until the block ends; `config` is a dataclass.

    A run that was killed before its first checkpoint is resumed by starting it again. One that is refused (UsageError) before it
    has learnt anything leaves no folder.
    """
    resumes = resume and will_resume(folder)
    if resumes:
        _check_same_settings(folder, config)
    first = processes is None or processes.rank == 0
    with contextlib.ExitStack() as stack:
        if first:
            made = _make_folder(folder)
            stack.enter_context(hold_lock(folder))
            if not resumes:
                _start(folder, config, again=resume)
                stack.enter_context(_removed_if_refused(folder, made))
        if processes is not None:
            processes.wait()
        if resume and not resumes:
            watch.say(f"{folder} has no checkpoint yet; the run begins again")
        yield TrainingRun(folder, watch, first, resumes)


def will_resume(folder: Path) -> bool:
    """Return whether a run to be resumed has a checkpoint to go on from; raise if there is no folder.

    One without settings is that of a run that was killed as it began.
    """
    if not folder.is_dir():
        raise UsageError(f"{folder} has no {CHECKPOINT} to resume from; start it without --resume")
    return (folder / CHECKPOINT).exists()


def _make_folder(folder: Path) -> list[Path]:
    """Make a folder with those around it, and return those that were made, innermost first."""
    missing = [each for each in (folder, *folder.parents) if not each.exists()]
    with contextlib.suppress(OSError):  # what is wrong is said when the folder is written
        folder.mkdir(parents=True, exist_ok=True)
    return missing


@contextlib.contextmanager
def _removed_if_refused(folder: Path, made: Sequence[Path]) -> Iterator[None]:
    """Remove the folders that were made for a run if it is refused before it has learnt anything."""
    try:
        yield
    except UsageError:
        metrics = folder / METRICS
        learnt = (folder / CHECKPOINT).exists() or (metrics.exists() and metrics.stat().st_size)
        if folder in made and not learnt:
            shutil.rmtree(folder, ignore_errors=True)
            with contextlib.suppress(OSError):  # one that is no longer empty stays
                for each in made[1:]:
                    each.rmdir()
        raise


def checkpoint_of(path: Path) -> Path:
    """Return the checkpoint of a run folder; any other path is taken for a checkpoint itself."""
    return path / CHECKPOINT if path.is_dir() else path


def split_state(
    state: Mapping[str, Any], prefix: str = STATE
) -> tuple[dict[str, Any], StateArrays]:
    """Return what is JSON, and arrays by their path; keys must not contain "/" where arrays lie below them."""
    facts: dict[str, Any] = {}
    arrays: StateArrays = {}
    for key, value in state.items():
        if isinstance(value, np.ndarray):
            arrays[prefix + key] = value
        elif isinstance(value, Mapping):
            facts[key], below = split_state(value, f"{prefix}{key}/")
            arrays |= below
        else:
            facts[key] = value
    return facts, arrays


def join_state(
    facts: Mapping[str, Any], arrays: Mapping[str, Any], prefix: str = STATE
) -> dict[str, Any]:
    """Return the state that was split; arrays may be tensors, and those without the prefix are left out."""
    state: dict[str, Any] = _copy(facts)
    for name, array in arrays.items():
        if name.startswith(prefix):
            *path, last = name.removeprefix(prefix).split("/")
            inner = state
            for key in path:
                inner = inner[key]
            inner[last] = array if isinstance(array, np.ndarray) else array.numpy()
    return state


def _copy(value: Any) -> Any:
    return (
        {key: _copy(part) for key, part in value.items()} if isinstance(value, Mapping) else value
    )


def _start(folder: Path, config: Any, *, again: bool) -> None:
    """Write the settings and the environment; config.toml can be given to `aegir train` again."""
    metrics = folder / METRICS
    if not again and (
        (folder / CHECKPOINT).exists() or (metrics.exists() and metrics.stat().st_size > 0)
    ):
        raise UsageError(
            f"{folder} holds a run already; go on with it by --resume, or choose another --out"
        )
    with contextlib.suppress(OSError):  # of a run that ended before its first step
        metrics.unlink()
    RunFolder.create(folder, asdict(config))


def _check_same_settings(folder: Path, config: Any) -> None:
    """Raise if a run was started with other settings."""
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
