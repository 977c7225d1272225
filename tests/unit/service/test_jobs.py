"""Jobs: how a query chooses them, and that they cross to a worker as they are."""

import json
from typing import get_args

import pytest

from aegir.pipeline.settings import AnnotationSettings
from aegir.service.jobs import (
    AnnotateJob,
    FeedbackJob,
    ForgetTypeJob,
    Job,
    ListRunsJob,
    ListTypesJob,
    Sent,
    ShowRunJob,
    ShowTypeJob,
    TeachJob,
    read_query,
)
from aegir_rl.base.errors import UsageError
from aegir_rl.processes.plain import from_plain, to_json

SENT = Sent("/tmp/request-3", ("a.csv", "caf\udce9.csv"), {"by": "ada"})
JOBS: list[Job] = [
    AnnotateJob(SENT, AnnotationSettings(effort="high", tables=("o*",)), "csv"),
    FeedbackJob(Sent("/tmp/x", body="body.json")),
    TeachJob(SENT),
    ListTypesJob(),
    ShowTypeJob("telephone"),
    ForgetTypeJob("Ward/bed"),
    ListRunsJob([{"run": "r", "columns": 3}]),
    ShowRunJob("tiny"),
]


def test_there_is_an_example_of_every_kind_of_job():
    assert {type(job) for job in JOBS} == set(get_args(Job))


@pytest.mark.parametrize("job", JOBS, ids=lambda job: type(job).__name__)
def test_a_job_crosses_to_a_worker_as_it_is(job: Job):
    assert from_plain(type(job), json.loads(to_json(job))) == job


def test_a_query_chooses_settings_and_format():
    assert read_query([]) == (AnnotationSettings(), "json")
    query = {"format": "csv", "rows": "50", "custom": "0", "effort": "0.7", "within": "200ms"}
    settings, format_ = read_query([*query.items(), ("tables", "orders, sales.*")])
    assert format_ == "csv"
    assert settings == AnnotationSettings(
        rows=50,
        custom_types=False,
        effort="0.7",
        within=0.2,
        tables=("orders", "sales.*"),
    )


@pytest.mark.parametrize(
    ("name", "text", "sentence"),
    [
        ("fromat", "csv", "unknown option 'fromat'; did you mean 'format'?"),
        ("model", "/etc/passwd", "unknown option 'model'; there are format, rows"),
        ("policy", "x", "unknown option 'policy'"),
        ("rows", "many", "rows is 'many'; expected a whole number"),
        ("rows", "10001", "the service samples at most 10,000 rows"),
        ("rows", "0", "at least 1 row"),
        ("rows", "1_0", "rows is '1_0'; expected a whole number"),
        ("rows", "\u0663", "expected a whole number"),
        ("seed", "9" * 5000, "expected a whole number"),
        ("precision", "0_1", "precision is '0_1'; expected a number"),
        ("memory", "maybe", "memory is 'maybe'; expected true or false"),
        ("min_confidence", "2", "expected a number from 0 to 1"),
        ("effort", "huge", "expected low, normal, high or a number"),
        ("within", "soon", "such as 200ms or 1.5s"),
    ],
)
def test_what_a_query_cannot_choose_is_refused(name: str, text: str, sentence: str):
    with pytest.raises(UsageError) as refused:
        read_query([(name, text)])
    assert sentence in str(refused.value)


def test_an_option_that_is_given_twice_is_refused():
    for value in ("low", "high"):
        with pytest.raises(UsageError, match="the option effort is given twice; send one value"):
            read_query([("effort", "low"), ("rows", "5"), ("effort", value)])


def test_only_jobs_with_the_same_settings_are_done_together():
    first = AnnotateJob(Sent("a"), AnnotationSettings(rows=5), "json")
    same = AnnotateJob(Sent("b"), AnnotationSettings(rows=5), "csv")
    other = AnnotateJob(Sent("a"), AnnotationSettings(rows=6), "json")
    assert first.key == same.key != other.key


def test_a_request_is_called_by_its_files():
    assert str(SENT) == "a.csv, caf\udce9.csv"
    assert str(Sent("x", body="body.json")) == "the request"
