"""Training runs of a folder, for the page: the functions of `aegir runs`.

GET /runs           what was annotated lately, and the newest runs of the folder with their last step
GET /runs/NAME      one run: every metric, checks on held-out tables, health
"""

import os
from pathlib import Path

from aegir.service.jobs import ListRunsJob, ShowRunJob
from aegir.service.limits import Refused
from aegir.service.responses import Reply, json_reply
from aegir_rl.base.errors import UsageError
from aegir_rl.base.run_folder import METRICS, RunFolder
from aegir_rl.health.run_summary import read_run

MOST_RUNS = 50
LARGEST = 64 << 20
"""Bytes of metrics that are read."""


def answer_about_runs(job: ListRunsJob | ShowRunJob, folder: Path | None) -> Reply:
    """List the runs of a folder, or summarise one."""
    if isinstance(job, ListRunsJob):
        names = [path.name for path in _run_folders(folder)[:MOST_RUNS]]
        return json_reply({"annotated": job.annotated, "training": names})
    paths = {path.name: path for path in _run_folders(folder)}
    if job.name not in paths:
        where = (
            "no folder of runs is served; start with --runs"
            if folder is None
            else "GET /runs lists them"
        )
        raise Refused(404, f"there is no run {job.name!r}; {where}")
    if (paths[job.name] / METRICS).stat().st_size > LARGEST:
        raise UsageError(
            f"the metrics of {job.name} are larger than {LARGEST >> 20} MB; use python -m aegir.lab.figures run"
        )
    return json_reply(read_run(RunFolder(paths[job.name])).as_dict())


def _run_folders(folder: Path | None) -> list[Path]:
    """Return the folders that hold metrics, the last written first."""
    if folder is None or not folder.is_dir():
        return []
    written = []
    with os.scandir(folder) as entries:
        for entry in entries:
            metrics = Path(entry.path) / METRICS
            if metrics.is_file():
                written.append((metrics.stat().st_mtime, Path(entry.path)))
    return [path for _, path in sorted(written, reverse=True)]
