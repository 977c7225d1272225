"""Files annotated by several processes, some of which are killed."""

import json
import os
import signal
import sqlite3
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from aegir.answers.annotation import TableAnnotation
from aegir.pipeline.registry import load_annotator
from aegir.pipeline.run import Failure, Prepared, annotate_sources
from aegir.pipeline.settings import DEFAULTS, AnnotationSettings
from aegir.pipeline.worker_pool import Outcome, WorkerPool, choose_workers, outcome_from_json
from aegir.readers.calibration import Thresholds
from aegir.readers.scores import TableScores
from aegir.tables.table import Table
from aegir_rl.base.errors import UsageError
from aegir_rl.processes.plain import to_json
from swarm_folders import LAYOUT, save_random_swarm, small_primary

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="workers are forked on Linux only")
EXAMPLES = Path(__file__).parents[3] / "examples"


class Deadly:
    """The rules; but whoever scores the table of one name is killed, as often as there are bullets."""

    name = "rules"

    def __init__(self, table: str, bullets: Path | None = None) -> None:
        self.table, self.bullets = table, bullets
        self._rules = load_annotator("rules")

    def score(self, tables: Sequence[Table]) -> list[TableScores]:
        if any(self.table in table.name for table in tables) and self._has_bullet():
            os.kill(os.getpid(), signal.SIGKILL)
        return self._rules.score(tables)

    def _has_bullet(self) -> bool:
        if self.bullets is None:
            return True
        left = int(self.bullets.read_text())
        self.bullets.write_text(str(max(left - 1, 0)))
        return left > 0


def prepared(annotator: object) -> Prepared:
    return Prepared(DEFAULTS, annotator, Thresholds())


def alone(annotator: object, files: Sequence[object]) -> list[Outcome]:
    """The answers of one process."""
    return [each.answer for each in annotate_sources(files, prepared(annotator))]


def csv_files(folder: Path, count: int) -> list[str]:
    paths = [folder / f"t{number:02}.csv" for number in range(count)]
    for number, path in enumerate(paths):
        path.write_text(f"id,mail\n{number},user{number}@example.org\n{number + 1},b@example.org\n")
    return [str(path) for path in paths]


def in_pool(annotator: object, files: Sequence[str], workers: int = 2) -> list[Outcome]:
    with WorkerPool(prepared(annotator), workers=workers) as pool:
        return list(pool.annotate(files, len(files)))


def is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.parametrize(
    "workers",
    [pytest.param(1, marks=pytest.mark.slow), 2, pytest.param(5, marks=pytest.mark.slow)],
)
def test_any_number_of_workers_gives_the_outcomes_of_none(workers: int, nasty: dict[str, Path]):
    files = [str(path) for path in (*sorted(EXAMPLES.glob("*.*")), *nasty.values())]
    rules = load_annotator("rules")
    expected, shared = alone(rules, files), in_pool(rules, files, workers)
    assert shared == expected
    previews = [[getattr(each, "preview", None) for each in some] for some in (shared, expected)]
    assert previews[0] == previews[1]


def test_outcomes_are_sent_without_loss(tmp_path: Path):
    source = EXAMPLES / "customers.csv"
    folder = save_random_swarm(tmp_path, small_primary(), {"geo": LAYOUT})
    timed = load_annotator(AnnotationSettings(annotator="swarm", model=folder, timing=True))
    found = [*alone(load_annotator("combined"), [source]), *alone(timed, [source])]
    for outcome in (*found, Failure("x", "no \ud800 file", UsageError)):
        again = outcome_from_json(json.loads(to_json(outcome)))
        assert again == outcome
        assert getattr(again, "preview", ()) == getattr(outcome, "preview", ())


def test_a_file_whose_worker_is_killed_once_is_annotated_all_the_same(tmp_path: Path):
    files, bullets = csv_files(tmp_path, 40), tmp_path / "bullets"
    bullets.write_text("1")
    rules = load_annotator("rules")
    assert in_pool(Deadly("t13", bullets), files) == alone(rules, files)
    assert bullets.read_text() == "0"


def test_a_file_that_kills_every_worker_gets_one_sentence_and_the_others_their_answers(
    tmp_path: Path,
):
    files = csv_files(tmp_path, 40)
    outcomes = in_pool(Deadly("t13"), files)
    (failure,) = [outcome for outcome in outcomes if isinstance(outcome, Failure)]
    assert outcomes.index(failure) == 13
    assert failure.source == files[13]
    assert "t13.csv ended 3 worker processes (SIGKILL)" in failure.reason
    assert [each.source for each in outcomes if isinstance(each, TableAnnotation)] == [
        file for file in files if file != files[13]
    ]


def test_when_every_file_kills_its_worker_every_file_has_its_sentence(tmp_path: Path):
    files = csv_files(tmp_path, 6)
    outcomes = in_pool(Deadly("t"), files)
    assert [outcome.source for outcome in outcomes] == files
    assert all(isinstance(outcome, Failure) for outcome in outcomes)


def test_tables_of_a_database_that_were_answered_before_a_kill_are_not_answered_twice(
    tmp_path: Path,
):
    path, bullets = tmp_path / "shop.sqlite", tmp_path / "bullets"
    with sqlite3.connect(path) as database:
        for number in range(6):  # two tables are scored at once
            columns = ", ".join(f"c{column} INT" for column in range(300))
            database.execute(f"CREATE TABLE t{number} ({columns})")
            database.execute(f"INSERT INTO t{number} (c0) VALUES ({number})")
    database.close()
    bullets.write_text("1")
    outcomes = in_pool(Deadly("t3", bullets), [str(path)])
    assert [o.table for o in outcomes if isinstance(o, TableAnnotation)] == [
        f"shop.sqlite#t{number}" for number in range(6)
    ]
    bullets.write_text("3")
    outcomes = in_pool(Deadly("t3", bullets), [str(path)])
    assert [getattr(outcome, "table", "failed") for outcome in outcomes] == [
        "shop.sqlite#t0",
        "shop.sqlite#t1",
        "failed",
    ]


@pytest.mark.parametrize("moment", [0, 20, 59])
def test_a_worker_killed_from_outside_costs_no_answer(tmp_path: Path, moment: int):
    files = csv_files(tmp_path, 60)
    rules = load_annotator("rules")
    outcomes = []
    with WorkerPool(prepared(rules), workers=3) as pool:
        for number, outcome in enumerate(pool.annotate(files, len(files))):
            outcomes.append(outcome)
            if number == moment:
                os.kill(pool.pids[0], signal.SIGKILL)
    assert outcomes == alone(rules, files)


def test_no_process_is_left_when_the_reader_of_the_outcomes_stops_early(tmp_path: Path):
    files = csv_files(tmp_path, 40)
    pool = WorkerPool(prepared(load_annotator("rules")), workers=2)
    with pool:
        pids = pool.pids
        next(pool.annotate(files, len(files)))
    assert not any(map(is_running, pids))


def test_workers_end_when_their_parent_is_killed(tmp_path: Path):
    files = csv_files(tmp_path, 40)
    told, tell = os.pipe()
    if (parent := os.fork()) == 0:
        with WorkerPool(prepared(load_annotator("rules")), workers=2) as pool:
            next(pool.annotate(files, len(files)))
            os.write(tell, json.dumps(pool.pids).encode())
            time.sleep(60)
        os._exit(1)
    os.close(tell)
    pids = json.loads(os.read(told, 1000))
    os.close(told)
    os.kill(parent, signal.SIGKILL)
    os.waitpid(parent, 0)
    deadline = time.monotonic() + 30
    while any(map(is_running, pids)) and time.monotonic() < deadline:
        if not any("Z" not in Path(f"/proc/{pid}/stat").read_text() for pid in pids):
            break  # ended, and waiting for whoever adopted them
        time.sleep(0.02)
    else:
        assert not any(map(is_running, pids))


@pytest.mark.parametrize(
    ("sizes", "cores", "workers"),
    [
        ([], 4, 1),
        ([100], 4, 1),
        ([1 << 40], 4, 1),  # one file is read by one worker
        ([100] * 15, 4, 1),  # 15 // 8
        ([100] * 16, 4, 2),
        ([100] * 500, 4, 4),
        ([100] * 500, 1, 1),
        ([32 << 20] * 3, 4, 3),  # each counts 1 + 8 times
    ],
)
def test_few_or_small_files_start_few_workers(sizes: list[int], cores: int, workers: int):
    assert choose_workers(sizes, cores) == workers
