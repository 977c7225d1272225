"""Annotating in a worker: jobs together or alone, what a request chooses, and stores that are away."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from aegir.answers.annotation import ColumnAnnotation, RowAnnotation, TableAnnotation
from aegir.pipeline.registry import load_annotator
from aegir.pipeline.run import annotate
from aegir.pipeline.settings import AnnotationSettings
from aegir.readers.scores import Annotator, TableScores
from aegir.service import annotations
from aegir.service.annotations import RequestAnnotator, Stores
from aegir.service.jobs import REPORT, AnnotateJob, Sent
from aegir.service.limits import RequestLimits
from aegir.service.reports import JobAnswers, reply_to
from aegir.service.responses import Reply
from aegir.service.worker import JobWorker, build_worker
from aegir.tables.table import Table
from aegir_rl.base.errors import UsageError
from aegir_rl.processes.plain import to_json

NOWHERE = Stores()
CSV = {
    "a.csv": "id,mail\n1,ann@example.org\n2,bob@example.org\n",
    "b.csv": "when,city\n2024-05-01,Oslo\n2024-06-17,Rome\n",
    "empty.csv": "",
}


RULES = AnnotationSettings(annotator="rules")


def request_annotator(stores: Stores = NOWHERE, **limits: Any) -> RequestAnnotator:
    return RequestAnnotator(RULES, RequestLimits(**limits), stores, say=print)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("AEGIR_HOME", str(tmp_path / "home"))
    for name, content in CSV.items():
        (tmp_path / name).write_text(content)
    return tmp_path


def job(folder: Path, *files: str, format_: str = "json", **settings: Any) -> AnnotateJob:
    return AnnotateJob(Sent(str(folder), files), AnnotationSettings(**settings), format_)


def answers(*jobs: AnnotateJob, **limits: Any) -> list[Reply]:
    annotator = request_annotator(**limits)
    return [reply for _, reply in sorted(annotator.answer_jobs(jobs), key=lambda each: each[0])]


def test_jobs_that_are_done_together_get_the_answers_they_get_alone(folder: Path):
    jobs = [job(folder, "a.csv"), job(folder, "b.csv", format_="csv"), job(folder, "empty.csv")]
    together = answers(*jobs)
    alone = [answers(each)[0] for each in jobs]
    assert [reply.body for reply in together] == [reply.body for reply in alone]
    assert [reply.status for reply in together] == [200, 200, 422]
    assert together[1].content_type == "text/csv; charset=utf-8"


def test_the_answer_is_that_of_the_python_call(folder: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(folder)
    (reply,) = answers(job(folder, "a.csv", "b.csv", rows=1, seed=3))
    said = annotate("a.csv", "b.csv", annotator="rules", rows=1, seed=3)
    assert reply.body.decode() == said.to("json")


def test_the_tags_of_the_service_are_in_every_answer_and_no_request_names_a_file(folder: Path):
    tags = folder / "tags.toml"
    tags.write_text('[levels]\ndirect = "PII.High"\n')
    annotator = RequestAnnotator(RULES.changed(tags=tags), RequestLimits(), NOWHERE, say=print)
    for format_ in ("json", REPORT):
        ((_, reply),) = annotator.answer_jobs([job(folder, "a.csv", format_=format_)])
        answered = json.loads(reply.body)
        number, mail = (answered["tables"] if format_ == REPORT else answered)[0]["columns"]
        assert "tags" not in number
        assert mail["tags"] == ["PII.High"]
    assert mail["shown_personal"].endswith("tags: PII.High")
    with pytest.raises(UsageError, match="unknown option 'tags'"):
        AnnotationSettings.from_query({"tags": str(tags)})


def test_the_report_for_the_page_says_what_a_row_is(folder: Path):
    row = RowAnnotation("person", "customer", 0.97, "self", 0.99)
    column = ColumnAnnotation(
        *(0, "faith", "religion", 0.9, "category", None, 0.9, "religion", "string", True, "about"),
        special=True,
        special_category="religion",
    )
    table = TableAnnotation("a.csv", None, 0, (column,), "rules", row=row, subject_repeats=True)
    reply = reply_to(JobAnswers(0, job(folder, "a.csv", format_=REPORT), [table]), 0.1)
    (shown,) = json.loads(reply.body)["tables"]
    assert shown["shown_row"] == "one row is a customer (person 0.97)"
    assert (shown["subject_repeats"], shown["row"]["class"]) == (True, "person")
    assert shown["columns"][0]["shown_special"] == "religion"
    assert (
        shown["columns"][0]["shown_personal"]
        == "likely to hold personal data; special category: religion"
    )


def test_a_part_that_cannot_be_read_is_told_in_a_header(folder: Path):
    (reply,) = answers(job(folder, "a.csv", "empty.csv"))
    assert reply.status == 207
    assert json.loads(reply.headers["aegir-failures"]) == ["empty.csv is empty; expected a table"]
    assert (reply.facts["columns"], reply.facts["failures"]) == (2, 1)
    (report,) = answers(job(folder, "empty.csv", format_="report"))
    assert (report.status, json.loads(report.body)["tables"]) == (200, [])


def test_many_failures_fit_into_the_header(folder: Path):
    names = [f"{number:03}{'x' * 100}.csv" for number in range(60)]
    for name in names:
        (folder / name).write_text("")
    (reply,) = answers(job(folder, "a.csv", *names))
    assert len(reply.headers["aegir-failures"]) <= 4_000
    assert 10 < len(json.loads(reply.headers["aegir-failures"])) < 60


def test_wrong_jobs_are_refused_and_leave_the_others_their_answers(folder: Path):
    jobs = [job(folder, "a.csv", format_="xml"), job(folder, "a.csv"), job(folder)]
    wrong, right, nothing = answers(*jobs)
    assert (wrong.status, right.status, nothing.status) == (400, 200, 400)
    assert "unknown format 'xml'" in json.loads(wrong.body)["error"]
    (precise,) = answers(job(folder, "a.csv", precision=0.9))
    assert "has no validation figures" in json.loads(precise.body)["error"]


def test_tables_with_too_many_columns_are_refused(folder: Path):
    (reply,) = answers(job(folder, "a.csv", "b.csv"), columns=3)
    assert reply.status == 413
    assert "the tables have 4 columns; the service takes 3 at once" in reply.body.decode()


def test_what_a_request_chooses_is_loaded_once_and_a_few_are_kept(
    folder: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(annotations, "MOST_VARIANTS", 2)
    asked: list[object] = []

    def load(settings: AnnotationSettings, **_: object) -> Annotator:
        asked.append(settings.effort)
        return load_annotator("rules")

    monkeypatch.setattr(annotations, "load_annotator", load)
    annotator = request_annotator()
    for effort in ("low", "high", "high", "low", None, "0.3", "high", "low"):
        ((_, reply),) = annotator.answer_jobs([job(folder, "a.csv", effort=effort)])
        assert reply.status == 200
    # the usual one first; 0.3 takes the place of low, which is then loaded again
    assert asked == [None, "low", "high", "0.3", "low"]


def test_a_memory_that_cannot_be_read_is_not_the_senders_fault(folder: Path):
    memory = folder / "memory.db"
    annotator = request_annotator(Stores(reviews=str(memory)))
    memory.write_text("no database")
    ((_, reply),) = annotator.answer_jobs([job(folder, "a.csv")])
    sentence = json.loads(reply.body)["error"]
    assert reply.status == 503
    assert sentence.startswith(f"the review memory cannot be read ({memory} is damaged, or no")
    assert sentence.endswith("; memory=false leaves it out")
    assert reply.headers == {"retry-after": "5"}
    ((_, reply),) = annotator.answer_jobs([job(folder, "a.csv", memory=False)])
    assert reply.status == 200


class Failing:
    """The rules, which fail on tables of one name."""

    name = "rules"

    def __init__(self, error: Exception) -> None:
        self._error, self._rules = error, load_annotator("rules")

    def score(self, tables: Sequence[Table]) -> list[TableScores]:
        if any(table.name == "b.csv" for table in tables):
            raise self._error
        return self._rules.score(tables)


@pytest.mark.parametrize(
    ("error", "status", "sentence"),
    [
        (RuntimeError("a bug"), 500, "something went wrong inside the service; its log says what"),
        (MemoryError(), 422, "needs more memory than a worker may have"),
    ],
)
def test_what_nobody_expected_costs_its_own_job_only(
    folder: Path,
    error: Exception,
    status: int,
    sentence: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr(annotations, "load_annotator", lambda *_, **__: Failing(error))
    worker = JobWorker(request_annotator(), RequestLimits(), None)
    jobs = [job(folder, name) for name in ("a.csv", "b.csv", "a.csv")]
    batch = json.loads(to_json([(type(each).__name__, each) for each in jobs]))
    replies = dict(worker.work(batch))
    assert [replies[index].status for index in range(3)] == [200, status, 200]
    assert sentence in json.loads(replies[1].body)["error"]
    assert ("RuntimeError: a bug" in capsys.readouterr().err) == (status == 500)


def test_a_worker_says_what_the_service_can_do(folder: Path):
    stores = Stores(decisions=str(folder / "decisions.db"))
    _, about = build_worker(request_annotator(stores), RequestLimits(), None, folder)
    assert (about["annotator"], about["logged"], about["remembers"]) == ("rules", True, False)
    assert about["formats"][:2] == ["text", "json"]
    assert (folder / "decisions.db").exists()  # what cannot be opened raises before any request
