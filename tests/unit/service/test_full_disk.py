"""A real service on a disk that is full: one sentence with status 507, no traceback, and all is well when there is room again."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from full_disks import filled, small_disk
from running_service import EXAMPLES, RunningService, running_service

BOOKS = EXAMPLES / "books.csv"
MEGABYTES = 8
CODES = [f"W{ward}-{bed:02}" for ward in range(5) for bed in range(8)]


def annotate(service: RunningService) -> httpx.Response:
    return service.annotate(BOOKS)


def annotate_workbook(service: RunningService) -> httpx.Response:
    return service.annotate(EXAMPLES / "shop.xlsx")


def annotate_document(service: RunningService) -> httpx.Response:
    return service.client.post("/annotate", json={"columns": {"bed": CODES * 50}})


def correct(service: RunningService) -> httpx.Response:
    said = json.dumps([{"table": BOOKS.name, "column": 0, "label": "city"}])
    return service.client.post(
        "/feedback", files={"file": (BOOKS.name, BOOKS.read_bytes())}, data={"corrections": said}
    )


def correct_run(service: RunningService) -> httpx.Response:
    column = BOOKS.read_text(encoding="utf-8").partition(",")[0]
    said = {"table": BOOKS.name, "column": column, "label": "city"}
    return service.client.post("/feedback", json={"corrections": [said]})


def teach(service: RunningService) -> httpx.Response:
    names = [f"ward-{ward}.csv" for ward in range(5)]
    files = [
        ("file", (name, "bed\n" + "\n".join(CODES[8 * ward : 8 * ward + 8]) + "\n"))
        for ward, name in enumerate(names)
    ]
    examples = [{"file": name, "column": "bed"} for name in names]
    lesson = {"name": "Ward/bed", "examples": examples, "force": True}
    return service.client.post("/types", files=files, data={"type": json.dumps(lesson)})


UPLOADS = [annotate, annotate_workbook, annotate_document, correct, correct_run, teach]
WRITES = [annotate, correct, correct_run, teach]
"""Those that keep something: decisions, reviews, types."""


@contextmanager
def service_on(folder: Path, disk: Path, part: str) -> Iterator[RunningService]:
    """A service that has its home, or its temporary folder, on a disk."""
    (disk / part).mkdir()
    (folder / part).symlink_to(disk / part)
    decisions = (disk if part == "home" else folder) / "decisions.db"
    with running_service(folder, "--workers", 1, "--log-decisions", decisions) as service:
        yield service


@pytest.mark.parametrize(("part", "requests"), [("tmp", UPLOADS), ("home", WRITES)])
@pytest.mark.parametrize("used", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_a_full_disk_is_told_in_a_sentence_and_forgotten_when_there_is_room(
    tmp_path: Path,
    part: str,
    requests: list[Callable[[RunningService], httpx.Response]],
    used: bool,
):
    with (
        small_disk(tmp_path / "disk", MEGABYTES) as disk,
        service_on(tmp_path, disk, part) as service,
    ):
        if used:
            assert [request(service).status_code for request in requests] == [200] * len(requests)
        with filled(disk):
            for request in requests:
                response = request(service)
                sentence = response.json()["error"]
                assert response.status_code == 507, (request.__name__, sentence)
                assert "full" in sentence or "No space left" in sentence or "I/O error" in sentence
                assert response.headers["x-content-type-options"] == "nosniff"
            assert service.client.get("/types").status_code == 200
            assert service.client.get("/health").status_code == 200
        assert [request(service).status_code for request in requests] == [200] * len(requests)
        assert service.status()["pool"]["restarts"] == 0
        service.stop()
        assert service.process.stderr is not None
        assert service.process.stderr.read() == ""
