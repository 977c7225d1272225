"""Annotating as a job: what a place answers is what one process answers, for files and for tables that are sent."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from aegir.engines.annotating import annotate_all_over, file_item, open_annotating, table_item
from aegir.engines.engine import Engine
from aegir.engines.job import Job
from aegir.pipeline.registry import load_annotator
from aegir.pipeline.run import Failure, annotate_sources, prepare
from aegir.pipeline.settings import AnnotationSettings
from aegir.pipeline.worker_pool import outcome_from_json
from aegir.tables.readers import read_tables
from aegir.tables.table import Table
from aegir_rl.base.errors import AegirError
from aegir_rl.processes.plain import to_json

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="workers are forked on Linux only")
EXAMPLES = Path(__file__).parents[3] / "examples"
FILES = [EXAMPLES / name for name in ("books.csv", "customers.csv", "films.csv")]
SETTINGS = AnnotationSettings(annotator="rules", custom_types=False, memory=False, rows=20, seed=1)


class Here(Engine):
    """A place in this process: items and answers cross as JSON."""

    most_places = 1

    def places(self, job: Job) -> Any:
        raise AssertionError("no place is started")

    def count_workers(self) -> int:
        return 1

    def close(self) -> None:
        pass

    def map(self, job: Job, items: Any, count: int, *, ordered: bool = True) -> Any:
        with job.open(2) as run:
            shard = json.loads(to_json(list(items)))
            for _, answer in run(shard):
                yield json.loads(to_json(answer))


def run_place(items: list[Any], settings: AnnotationSettings = SETTINGS) -> list[Any]:
    with open_annotating(json.loads(json.dumps(settings.as_dict())), 2) as run:
        outcomes = list(run(json.loads(to_json(items))))
    assert [index for index, _ in outcomes] == sorted(index for index, _ in outcomes)
    return [outcome_from_json(json.loads(to_json(outcome))) for _, outcome in outcomes]


def expected(sources: list[Any]) -> list[Any]:
    return [each.answer for each in annotate_sources(sources, prepare(SETTINGS))]


def test_files_get_the_answers_of_one_process_in_their_order(tmp_path: Path):
    (tmp_path / "empty.csv").write_text("")
    files = [*map(str, FILES), str(tmp_path / "empty.csv")] * 3
    assert run_place([file_item(file) for file in files]) == expected(files)


def test_tables_are_sent_whole():
    tables = [table for file in FILES for table in read_tables(file, rows=20)]
    assert run_place([table_item(table) for table in tables]) == expected(tables)


def test_a_file_that_looks_different_here_is_a_failure_and_the_others_are_answered(tmp_path: Path):
    path = tmp_path / "a.csv"
    path.write_text("id,city\n1,Oslo\n")
    item = file_item(str(path))
    path.write_text("id,city\n1,Oslo\n2,Rome\n")
    changed, books = run_place([item, file_item(str(FILES[0]))])
    assert isinstance(changed, Failure)
    assert "its size or its time of change is another" in changed.reason
    assert books.table == "books.csv"


def test_evaluation_gets_an_answer_for_every_table():
    tables = [table for file in FILES for table in read_tables(file, rows=20)]
    job = Job("aegir.engines.annotating:open_annotating", SETTINGS.as_dict())
    annotate_all = annotate_all_over(Here(), job)
    rules = load_annotator("rules")
    answers, cpu_seconds = annotate_all(rules, tables, None)
    assert (answers, cpu_seconds) == (expected(tables), None)


def test_evaluation_raises_where_a_table_has_no_answer(monkeypatch: pytest.MonkeyPatch):
    failure = {"source": "t", "reason": "t ended 3 worker processes", "kind": "AegirError"}
    monkeypatch.setattr(Here, "map", lambda *_, **__: iter([failure]))
    annotate_all = annotate_all_over(Here(), Job("aegir.nothing:needed", {}))
    with pytest.raises(AegirError, match="t ended 3 worker processes"):
        annotate_all(load_annotator("rules"), [Table("t", ())], None)
