"""One run, one folder: its settings, its metrics step by step, and where it ran.

    runs/tiny/config.toml          the settings as they were resolved
    runs/tiny/metrics.jsonl        one JSON object per recorded step, appended and flushed at once
    runs/tiny/environment.json     commit, changed or not, versions, device

Promises
  - a run that is killed (`kill -9`) keeps every step it recorded; a line torn by the kill is skipped with a note, by
    this reader and by the next writer, which starts a line of its own;
  - NaN and infinities survive as the strings "NaN", "Infinity" and "-Infinity", so the file stays strict JSON;
  - a value that is None is not written: what could not be computed is absent, never 0.

Nested values become flat names: `record(7, loss={"policy": 0.5})` writes `{"step": 7, "loss/policy": 0.5, …}`.
Limit: flushed to the operating system, not to the disk; a power cut may lose the last seconds.
"""

import contextlib
import datetime
import importlib.metadata
import json
import math
import os
import platform
import re
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from typing import Any

from aegir_rl.base.errors import UsageError
from aegir_rl.base.files import replace_file

if sys.platform != "win32":
    import fcntl

METRICS, CONFIG, ENVIRONMENT = "metrics.jsonl", "config.toml", "environment.json"
LOCK = ".lock"
VERSIONS_OF = ("aegir-rl", "aegir-tables", "numpy", "torch", "gymnasium", "safetensors")
UNUSUAL = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}


@dataclass(frozen=True, slots=True)
class RunHistory:
    """Every recorded step, in the order written, and a sentence for each line that was skipped."""

    steps: tuple[dict[str, Any], ...]
    notes: tuple[str, ...]

    def column(self, name: str) -> list[tuple[int, Any]]:
        """(step, value) wherever the column was recorded."""
        return [(row["step"], row[name]) for row in self.steps if name in row]


class RunFolder:
    """The folder of one run, to write to while it runs and to read afterwards."""

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path)
        if not self.path.is_dir():
            raise UsageError(f"there is no run folder {self.path}; give the folder of a run")

    @classmethod
    def create(cls, path: Path | str, config: Mapping[str, Any] | None = None) -> "RunFolder":
        """Begin a run: make the folder, write its settings and where it runs. A run is never overwritten."""
        folder, settings = Path(path), render_toml(config or {})
        try:
            folder.mkdir(parents=True, exist_ok=True)
            try:
                (folder / METRICS).touch(exist_ok=False)  # of two processes, one gets the folder
            except FileExistsError:
                raise UsageError(
                    f"{folder} holds a run already; choose another folder, "
                    "or continue it with RunFolder"
                ) from None
            (folder / CONFIG).write_text(settings, encoding="utf-8")
            text = json.dumps(describe_environment(), indent=1) + "\n"
            (folder / ENVIRONMENT).write_text(text, encoding="utf-8")
        except OSError as error:
            raise UsageError(f"cannot write run folder {folder}: {error.strerror}") from None
        return cls(folder)

    def record(self, step: int, **values: Any) -> None:
        """Append the metrics of a step; mappings and dataclasses become `name/part`."""
        row = {"step": int(step), "time": round(time.time(), 3), **dict(_flat("", values))}
        line = json.dumps(row, allow_nan=False, ensure_ascii=False) + "\n"
        # One write of the whole line to a file opened for appending: whole, or torn at the very end.
        handle = os.open(self.path / METRICS, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o644)
        try:
            torn = os.fstat(handle).st_size and _last_byte(handle) != b"\n"
            os.write(handle, ("\n" if torn else "").encode() + line.encode())
        finally:
            os.close(handle)

    def cut(self, step: int) -> None:
        """Forget metrics of later steps: a run that goes on from `step` records them again."""
        path = self.path / METRICS
        lines = path.read_bytes().splitlines(keepends=True) if path.exists() else []
        rows = ((line, _read_row(line)) for line in lines)
        replace_file(path, b"".join(line for line, row in rows if row and row["step"] <= step))

    def history(self) -> RunHistory:
        """All steps that were recorded whole."""
        path = self.path / METRICS
        try:
            lines = path.read_bytes().split(b"\n")
        except OSError:
            raise UsageError(
                f"{self.path} has no {METRICS}; expected one JSON object per line, each with a step"
            ) from None
        steps, notes = [], []
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            row = _read_row(line)
            if row is None:
                where = (
                    "torn at the end" if number == len(lines) else "not a JSON object with a step"
                )
                notes.append(f"{path.name} line {number} was skipped: {where}")
            else:
                steps.append(row)
        return RunHistory(tuple(steps), tuple(notes))


@contextlib.contextmanager
def hold_lock(target: Path) -> Iterator[None]:
    """Keep other processes from writing to a run folder or an output file; raise if one is doing so now.

    The lock is flock's on a hidden file in the folder, or beside the output file. The system releases it when the
    process ends, however it ends. Limit: Windows and file systems without flock are not locked.
    """
    if sys.platform == "win32":
        yield
        return
    path = target / LOCK if target.is_dir() else target.with_name(f".{target.name}{LOCK}")
    handle = _locked(path, target)
    try:
        yield
    finally:
        path.unlink(missing_ok=True)
        os.close(handle)


def _locked(path: Path, target: Path) -> int:
    while True:
        try:
            handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
        except OSError as error:
            raise UsageError(f"cannot write {target}: {error.strerror}") from None
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(handle)
            raise UsageError(
                f"another process is writing to {target}; wait for it, or choose another --out"
            ) from None
        except OSError:
            return handle  # this file system has no locks
        with contextlib.suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(handle), path.stat()):
                return handle
        os.close(handle)  # the last holder removed the file after it was opened here


def describe_environment() -> dict[str, Any]:
    """What is needed to repeat a run; unknown facts are None."""
    commit = _git("rev-parse", "HEAD")
    changes = _git("status", "--porcelain")
    return {
        "date": datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "commit": commit,
        "dirty": None if changes is None else changes != "",
        "command": [Path(sys.argv[0]).name, *sys.argv[1:]] if sys.argv else [],
        "python": platform.python_version(),
        "system": platform.platform(terse=True),
        "versions": {name: _version(name) for name in VERSIONS_OF},
        "device": _device(),
        "cores": os.cpu_count(),
    }


def render_toml(config: Mapping[str, Any]) -> str:
    """Settings as TOML: text, numbers, booleans, lists and nested mappings; None is left out."""
    return "\n".join(_toml_lines(config, ())).lstrip("\n") + "\n"


def _toml_lines(table: Mapping[str, Any], path: tuple[str, ...]) -> Iterator[str]:
    inner = {key: value for key, value in table.items() if isinstance(value, Mapping)}
    plain = {key: value for key, value in table.items() if key not in inner and value is not None}
    if path and (plain or not inner):
        yield "\n[" + ".".join(map(_toml_key, path)) + "]"
    for key, value in plain.items():
        yield f"{_toml_key(key)} = {_toml_value((*path, str(key)), value)}"
    for key, value in inner.items():
        yield from _toml_lines(value, (*path, str(key)))


def _toml_key(key: object) -> str:
    text = str(key)
    return text if re.fullmatch(r"[A-Za-z0-9_-]+", text) else _toml_text(text)


def _toml_value(path: tuple[str, ...], value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str | Path):
        return _toml_text(str(value))
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return repr(float(value))  # TOML spells inf and nan as Python does
    if isinstance(value, list | tuple):
        return "[" + ", ".join(_toml_value(path, part) for part in value) + "]"
    if hasattr(value, "item"):
        return _toml_value(path, value.item())
    raise UsageError(
        f"setting {'.'.join(path)} is of type {type(value).__name__}; "
        "expected text, a number, a boolean or a list of these"
    )


def _toml_text(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("\x7f", r"\u007f")


def _flat(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    if is_dataclass(value) and not isinstance(value, type):
        value = {field.name: getattr(value, field.name) for field in fields(value)}
    if isinstance(value, Mapping):
        for key, part in value.items():
            yield from _flat(f"{name}/{key}" if name else str(key), part)
    elif value is not None:
        yield name, _plain(name, value)


def _plain(name: str, value: Any) -> Any:
    """Numbers, text and lists of them as strict JSON holds them; arrays and tensors become lists."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if isinstance(value, list | tuple):
        return [_plain(name, part) for part in value]
    if value is None or isinstance(value, bool | int | float | str):
        return value
    raise UsageError(
        f"figure {name} is of type {type(value).__name__}; expected a number, text, a list or an array"
    )


def _last_byte(handle: int) -> bytes:
    os.lseek(handle, -1, os.SEEK_END)
    return os.read(handle, 1)


def _read_row(line: bytes) -> dict[str, Any] | None:
    """The metrics of one line; None for what is not a JSON object with a step, or is nested too deeply."""
    try:
        row = json.loads(line)
        if not isinstance(row, dict) or type(row.get("step")) is not int:
            return None
        if abs(row["step"]) >= 1 << 63:
            return None
        return {name: _unusual(value) for name, value in row.items()}
    except (ValueError, RecursionError):
        return None


def _unusual(value: Any) -> Any:
    """The value with the spellings of NaN and infinities read; integers that no float holds are infinite."""
    if isinstance(value, list):
        return [_unusual(part) for part in value]
    if isinstance(value, int) and abs(value) > sys.float_info.max:
        return math.copysign(math.inf, value > 0 or -1)
    return UNUSUAL.get(value, value) if isinstance(value, str) else value


def _git(*arguments: str) -> str | None:
    try:
        done = subprocess.run(
            ["git", *arguments],  # noqa: S607 - whichever git the user has
            capture_output=True,
            text=True,
            check=False,
            timeout=10,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def _version(name: str) -> str | None:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def _device() -> str:
    """The graphics card torch would use, when torch is loaded already; else the processor."""
    torch = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_available():
        return str(torch.cuda.get_device_name())
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        return platform.processor() or platform.machine()
    named = re.search(r"^model name\s*:\s*(.+)$", text, re.MULTILINE)
    return named[1] if named else platform.machine()
