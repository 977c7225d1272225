"""docs/recipes.md: its Python runs against a service, and what is not run names only what exists."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from running_service import EXAMPLES, RunningService, running_service

PAGE = (Path(__file__).parent.parent / "docs" / "recipes.md").read_text(encoding="utf-8")
TOKEN = "a-token-for-the-recipes"


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningService]:
    patch = pytest.MonkeyPatch()
    patch.setenv("AEGIR_TOKEN", TOKEN)
    folder = tmp_path_factory.mktemp("recipes")
    with patch.context(), running_service(folder, "--workers", 1, "--annotator", "rules") as started:  # fmt: skip
        started.client.headers["authorization"] = f"Bearer {TOKEN}"
        yield started
    patch.undo()


def test_the_python_of_the_page_runs(
    service: RunningService, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    pytest.importorskip("requests")
    monkeypatch.setenv("AEGIR_URL", service.url)
    monkeypatch.setenv("AEGIR_TOKEN", TOKEN)
    monkeypatch.chdir(EXAMPLES)
    page: dict[str, object] = {}
    exec("\n".join(blocks("python")), page)
    said = capsys.readouterr().out
    assert "customers.csv email email_address direct" in said
    assert f"{page['run']} table" in said
    assert set(page["labels"]) == {"city", "people"}
    page["client"].close()  # type: ignore[attr-defined]


def test_every_address_of_the_page_exists(service: RunningService):
    paths = service.client.get("/openapi.json").json()["paths"]
    named = set(re.findall(r"[\"'LU}](/[a-z]+)[\"'/?]", PAGE)) - {"/data"}
    assert named == {"/annotate", "/tables"}
    known = {f"/{path.split('/')[1]}" for path in paths}
    assert named <= known
    for language in ("r", "python airflow"):
        (code,) = blocks(language)
        assert "/annotate" in code


def test_every_field_and_header_that_r_and_airflow_read_exists(service: RunningService):
    answer = service.annotate(EXAMPLES / "customers.csv")
    assert "Aegir-Run" in answer.headers
    page = service.client.get(f"/tables/{answer.headers['Aegir-Run']}").json()
    (airflow,) = blocks("python airflow")
    (in_r,) = blocks("r")
    column = answer.json()[0]["columns"][0]
    assert {*re.findall(r"page\[\"(\w+)\"\]", airflow)} <= {*page}
    assert {*re.findall(r"column\[\"(\w+)\"\]", airflow)} <= {*column}
    assert {*re.findall(r"pick\(\"(\w+)\"\)", in_r)} == {"name", "label", "confidence", "personal_level"}  # fmt: skip
    assert {*re.findall(r"pick\(\"(\w+)\"\)", in_r)} <= {*column}


def test_the_task_for_airflow_is_python():
    (code,) = blocks("python airflow")
    compile(code, "recipes.md", "exec")
