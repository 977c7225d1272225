"""GET /runs, GET, POST and DELETE /types, as workers answer them."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from aegir.service import runs
from aegir.service.custom_types import answer_about_types
from aegir.service.jobs import (
    ForgetTypeJob,
    ListRunsJob,
    ListTypesJob,
    Sent,
    ShowRunJob,
    ShowTypeJob,
    TeachJob,
)
from aegir.service.limits import Refused
from aegir.service.responses import Reply
from aegir.service.runs import answer_about_runs
from aegir_rl.base.errors import UsageError


def body(reply: Reply) -> Any:
    assert reply.status == 200
    return json.loads(reply.body)


def make_run(folder: Path, name: str, age: float) -> Path:
    path = folder / name
    path.mkdir()
    (path / "metrics.jsonl").write_text('{"step": 1, "loss": 2.0}\n{"step": 2, "loss": 1.0}\n')
    os.utime(path / "metrics.jsonl", (1e9 - age, 1e9 - age))
    return path


def test_training_runs_are_listed_the_newest_first(tmp_path: Path):
    for name, age in (("old", 50), ("new", 0), ("middle", 10)):
        make_run(tmp_path, name, age)
    (tmp_path / "no run").mkdir()
    job = ListRunsJob([{"run": "r"}])
    assert body(answer_about_runs(job, tmp_path)) == {
        "annotated": [{"run": "r"}],
        "training": ["new", "middle", "old"],
    }
    assert body(answer_about_runs(job, None))["training"] == []
    assert body(answer_about_runs(job, tmp_path / "gone"))["training"] == []


def test_a_run_is_shown_by_its_name_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    make_run(tmp_path, "tiny", 0)
    shown = body(answer_about_runs(ShowRunJob("tiny"), tmp_path))
    assert "loss" in json.dumps(shown)
    for name in ("../tiny", "tiny/../tiny", "", "other"):
        with pytest.raises(Refused, match="GET /runs lists them") as refused:
            answer_about_runs(ShowRunJob(name), tmp_path)
        assert refused.value.status == 404
    with pytest.raises(Refused, match="start with --runs"):
        answer_about_runs(ShowRunJob("tiny"), None)
    monkeypatch.setattr(runs, "LARGEST", 10)
    with pytest.raises(UsageError, match=r"use python -m aegir\.lab\.figures run"):
        answer_about_runs(ShowRunJob("tiny"), tmp_path)


@pytest.fixture(autouse=True)
def _own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AEGIR_HOME", str(tmp_path / "home"))


def test_every_name_of_an_answer_is_listed_and_can_be_shown():
    names = [each["name"] for each in body(answer_about_types(ListTypesJob()))["types"]]
    assert {"identifier", "telephone", "isbn"} <= set(names)
    meanings = body(answer_about_types(ShowTypeJob("telephone")))["types"]
    assert {each["name"] for each in meanings} == {"telephone"}


@pytest.mark.parametrize("job", [ShowTypeJob("telefone"), ForgetTypeJob("Ward/bed")])
def test_a_name_that_is_not_there_is_not_found(job: ShowTypeJob | ForgetTypeJob):
    with pytest.raises(Refused) as refused:
        answer_about_types(job)
    assert refused.value.status == 404


def lesson(**values: object) -> str:
    example = {"file": "wards.csv", "column": "bed"}
    return json.dumps({"name": "Ward/bed", "examples": [example], **values})


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (None, "the form has no part 'type'"),
        ("{", "the part 'type' is no JSON"),
        ("[]", "must be an object with a name and examples"),
        ('{"name": 3}', "must be an object with a name and examples"),
        (lesson(colour="red"), "unknown key 'colour'"),
        (lesson(examples="wards.csv:bed"), "examples must be a list"),
        (lesson(examples=["bed"]), "expected one of the files sent"),
        (lesson(examples=[{"file": "/etc/passwd", "column": "x"}]), "one of the files sent"),
        (lesson(examples=[{"file": "wards.csv", "column": True}]), "a header or a number from 0"),
        (lesson(examples=[{"file": "wards.csv", "column": 0, "table": 1}]), "a header or a number"),
        (lesson(about=3), "about is 3; expected text"),
        (lesson(kind=3), "kind is 3; expected text"),
        (lesson(force="yes"), "force is 'yes'; expected true or false"),
    ],
)
def test_a_lesson_that_cannot_be_understood_is_refused(
    tmp_path: Path, text: str | None, sentence: str
):
    fields = {} if text is None else {"type": text}
    with pytest.raises(UsageError) as refused:
        answer_about_types(TeachJob(Sent(str(tmp_path), ("wards.csv",), fields)))
    assert sentence in str(refused.value)
