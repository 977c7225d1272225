"""Training runs of a folder, for the page: the functions of `aegir runs`.

GET /runs           what was annotated lately, and the newest runs of the folder with their last step
GET /runs/NAME      one run: figures of every metric, checks on held-out tables, health
"""

import os
from pathlib import Path

from aegir.service.fork_server import Job
from aegir.service.limits import Refused
from aegir.service.responses import Reply, json_reply
from aegir_rl.base.errors import UsageError
from aegir_rl.base.run_folder import METRICS, RunFolder
from aegir_rl.health.run_summary import read_run

MOST_RUNS = 50
LARGEST = 64 << 20
"""Bytes of metrics that are read."""


class TrainingRuns:
    """The runs of one folder, or none."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder

    def list_runs(self, job: Job) -> Reply:
        """Return what was annotated lately, as the service says, and the names of training runs, the newest first."""
        names = [path.name for path in self._paths()[:MOST_RUNS]]
        return json_reply({"annotated": job["annotated"], "training": names})

    def show_run(self, job: Job) -> Reply:
        """Return the summary of one training run."""
        name = job["name"]
        paths = {path.name: path for path in self._paths()}
        if name not in paths:
            where = (
                "no folder of runs is served; start with --runs"
                if self._folder is None
                else "GET /runs lists them"
            )
            raise Refused(404, f"there is no run {name!r}; {where}")
        if (paths[name] / METRICS).stat().st_size > LARGEST:
            raise UsageError(
                f"the metrics of {name} are larger than {LARGEST >> 20} MB; use python -m aegir.lab.figures run"
            )
        return json_reply(read_run(RunFolder(paths[name])).as_dict())

    def _paths(self) -> list[Path]:
        """Return the folders that hold metrics, the last written first."""
        if self._folder is None or not self._folder.is_dir():
            return []
        found = []
        with os.scandir(self._folder) as entries:
            for entry in entries:
                metrics = Path(entry.path) / METRICS
                if metrics.is_file():
                    found.append((metrics.stat().st_mtime, Path(entry.path)))
        return [path for _, path in sorted(found, reverse=True)]
