"""Where and when a result was measured, and whether it may be kept.

A figure is kept as results/<benchmark>/<date>-<commit>.json only when someone can repeat it: the commit is
known, nothing in the tree differs from it, and the Aegir that was measured is the one in the tree.
Otherwise it is printed and forgotten.
"""

import datetime
import importlib.metadata
import json
import os
import platform
import subprocess
from dataclasses import asdict, dataclass
from pathlib import Path

import aegir
from benchmarks.result import Result

ROOT = Path(__file__).parent.parent
RESULTS = Path(__file__).parent / "results"
THREAD_SETTINGS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
"""Threads of numpy's matrix products: waiting threads burn CPU time, so a figure needs these beside it."""
VERSIONS_OF = ("numpy", "duckdb", "scikit-learn", "frictionless", "torch", "stable-baselines3")


@dataclass(frozen=True, slots=True)
class Environment:
    """The machine and the state of the code."""

    date: str
    commit: str | None
    """None when this is not a git checkout."""
    dirty: bool
    from_tree: bool
    """Whether the installed Aegir is this tree (an editable install)."""
    cpu: str
    cores: int
    memory_gb: float
    system: str
    python: str
    versions: dict[str, str]
    thread_settings: dict[str, str]
    """Environment variables that were set; numpy uses every core when none is."""

    @property
    def refusal(self) -> str | None:
        """Why a result from here may not be kept; None when it may."""
        if self.commit is None:
            return "not recorded: the commit is unknown (not a git checkout)"
        if self.dirty:
            return f"not recorded: files differ from commit {self.commit[:10]}; commit them first"
        if not self.from_tree:
            return "not recorded: Aegir is installed from elsewhere; pip install --editable ."
        return None


def describe_environment(root: Path = ROOT) -> Environment:
    """The environment of this run; results already recorded do not make a tree dirty."""
    commit = _git(root, "rev-parse", "HEAD")
    changes = _git(root, "status", "--porcelain", "--", ".", ":!benchmarks/results")
    return Environment(
        date=datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        commit=commit or None,
        dirty=changes != "",
        from_tree=Path(aegir.__file__).is_relative_to(ROOT),
        cpu=_cpu_model(),
        cores=os.cpu_count() or 1,
        memory_gb=round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9, 1),
        system=platform.platform(terse=True),
        python=platform.python_version(),
        versions=_versions(),
        thread_settings={name: os.environ[name] for name in THREAD_SETTINGS if name in os.environ},
    )


def as_record(result: Result, environment: Environment, seed: int) -> dict[str, object]:
    """A result with all that is needed to repeat it."""
    return {**result.as_dict(), "seed": seed, "environment": asdict(environment)}


def save_record(
    record: dict[str, object], environment: Environment, results: Path = RESULTS
) -> Path:
    """Write the record under its benchmark's name; the environment must allow it."""
    assert environment.commit is not None
    assert environment.refusal is None, environment.refusal
    folder = results / str(record["benchmark"])
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{environment.date[:10]}-{environment.commit[:10]}.json"
    path.write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return path


def _git(root: Path, *arguments: str) -> str | None:
    try:
        done = subprocess.run(
            ["git", "-C", str(root), *arguments], capture_output=True, text=True, check=False
        )
    except OSError:
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def _cpu_model() -> str:
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        return platform.processor() or platform.machine()
    names = [line.split(":", 1)[1].strip() for line in text.splitlines() if "model name" in line]
    return names[0] if names else platform.machine()


def _versions() -> dict[str, str]:
    found = {}
    for name in VERSIONS_OF:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found
