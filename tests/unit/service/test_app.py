"""The routes, with jobs done in this process: what is received, refused, counted and said."""

import asyncio
import errno
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from aegir.answers.writers import FORMATS
from aegir.pipeline.settings import QUERY, AnnotationSettings
from aegir.service.annotations import RequestAnnotator, Stores
from aegir.service.app import Service, is_heavy
from aegir.service.job_queue import QueueMetrics
from aegir.service.jobs import Job
from aegir.service.limits import Refused, RequestLimits
from aegir.service.responses import Reply
from aegir.service.security import HEADERS, Access
from aegir.service.status import Status
from aegir.service.uploads import Upload
from aegir.service.worker import JobWorker
from aegir.vocabulary.terms import KINDS
from aegir_rl.processes.plain import to_json

CSV = b"id,mail\n1,ann@example.org\n2,bob@example.org\n"
LIMITS = RequestLimits(upload_bytes=10_000, files=3)


class Inline:
    """A queue whose jobs are done at once, as they arrive in a worker; it can be full."""

    def __init__(self, stores: Stores) -> None:
        rules = AnnotationSettings(annotator="rules")
        self._worker = JobWorker(RequestAnnotator(rules, LIMITS, stores, print), LIMITS, None)
        self.metrics = QueueMetrics(1)
        self.submitted: list[tuple[Job, dict[str, Any]]] = []

    @contextmanager
    def admit(self) -> Iterator[None]:
        if self.metrics.admitted:
            raise Refused(429, "the service is busy", retry_after=1)
        self.metrics.admitted += 1
        try:
            yield
        finally:
            self.metrics.admitted -= 1

    async def submit(self, job: Job, **how: Any) -> Reply:
        self.submitted.append((job, how))
        batch = json.loads(to_json([(type(job).__name__, job)]))
        ((index, reply),) = self._worker.work(batch)
        assert Reply.from_bytes(reply.to_bytes(index)) == (0, reply)
        return reply


class Client:
    """Sends requests to the application without a network."""

    def __init__(self, folder: Path, stores: Stores, token: str | None = None) -> None:
        self.queue, self.folder = Inline(stores), folder
        about = {"version": "7", "formats": ["text", *FORMATS], "kinds": list(KINDS)}
        self.status = Status(self.queue.metrics, LIMITS, about)
        service = Service(self.queue, self.status, LIMITS, folder)
        transport = httpx.ASGITransport(
            service.app(Access(token=token)), raise_app_exceptions=False
        )
        self._client = httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8080")

    def __call__(self, method: str, path: str, **how: Any) -> httpx.Response:
        return asyncio.run(self._client.request(method, path, **how))


@pytest.fixture
def client(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Client:
    monkeypatch.setenv("AEGIR_HOME", str(tmp_path / "home"))
    (tmp_path / "uploads").mkdir()
    return Client(tmp_path / "uploads", Stores(reviews=str(tmp_path / "memory.db")))


def files(*names: str, content: bytes = CSV) -> list[tuple[str, tuple[str, bytes]]]:
    return [("file", (name, content)) for name in names]


def error(response: httpx.Response, status: int) -> str:
    assert response.status_code == status, response.text
    return str(response.json()["error"])


def test_tables_are_answered_and_nothing_of_them_is_kept(client: Client):
    response = client("POST", "/annotate?format=jsonl&rows=50", files=files("a.csv", "b.csv"))
    assert response.status_code == 200
    assert response.headers["content-type"] == "application/x-ndjson"
    tables = [json.loads(line) for line in response.text.splitlines()]
    assert [table["table"] for table in tables] == ["a.csv", "b.csv"]
    (job, how), _ = client.queue.submitted[0], None
    assert how == {"heavy": False, "key": job.key}
    assert [path for path in client.folder.rglob("*") if path.is_file()] == []


def test_a_document_is_answered_too(client: Client):
    response = client("POST", "/annotate", json={"columns": {"city": ["Oslo", "Rome"]}})
    assert [table["table"] for table in response.json()] == ["table"]


def test_wrong_options_are_refused_before_the_body_is_received(client: Client):
    response = client("POST", "/annotate?rows=many", content=b"x" * 50_000)
    assert error(response, 400) == "rows is 'many'; expected a whole number"
    assert client.queue.submitted == []


@pytest.mark.parametrize("name", ["format", "tables", *QUERY])
def test_what_is_wrong_with_an_option_is_said_in_the_names_of_requests(client: Client, name: str):
    for text in ("no such thing", "0", "-1", "0.5", "5", "high", "all", "1s"):
        response = client("POST", "/annotate", params={name: text}, files=files("a.csv"))
        if response.status_code != 200:
            sentence = error(response, 400)
            assert "--" not in sentence


def test_the_bounds_of_a_document_and_of_a_format_are_those_of_the_description(client: Client):
    paths = client("GET", "/openapi.json").json()["paths"]
    options = {each["name"]: each["schema"] for each in paths["/annotate"]["post"]["parameters"]}
    for name in options["format"]["enum"]:
        sent = files("a.csv")
        assert client("POST", f"/annotate?format={name}", files=sent).status_code == 200
    rows = {"rows": [{"a": "x"}]}
    for name, status in (("n" * 255, 200), ("n" * 256, 400), ("n", 200), ("", 400)):
        assert client("POST", "/annotate", json={**rows, "name": name}).status_code == status
    documents: tuple[dict[str, object], ...] = ({"rows": []}, {"columns": {}})
    for document in documents:
        assert client("POST", "/annotate", json=document).status_code == 422
    assert client("POST", "/annotate", files=files("a", "b", "c")).status_code == 200


def test_what_is_too_large_or_of_another_type_is_refused(client: Client):
    large = client("POST", "/annotate", files=files("a.csv", content=b"x" * 20_000))
    assert "larger than 10,000 bytes" in error(large, 413)
    assert "more than 3 files" in error(client("POST", "/annotate", files=files(*"abcd")), 413)
    assert "the content type is 'text/html'" in error(
        client("POST", "/annotate", content=CSV, headers={"content-type": "text/html"}), 415
    )
    assert "the content type is 'text/csv'" in error(
        client("POST", "/feedback", content=CSV, headers={"content-type": "text/csv"}), 415
    )


def test_a_full_service_refuses_and_says_when_to_try_again(client: Client):
    client.queue.metrics.admitted = 1
    response = client("POST", "/annotate", files=files("a.csv"))
    assert (error(response, 429), response.headers["retry-after"]) == ("the service is busy", "1")
    assert client("GET", "/health").json() == {"status": "ok"}


def test_corrections_are_recorded_and_found_again(client: Client):
    correction = {"table": "a.csv", "column": "mail", "label": "city"}

    def send(**changes: object) -> httpx.Response:
        said = {"corrections": json.dumps([correction | changes]), "by": "ada"}
        return client("POST", "/feedback", files=files("a.csv"), data=said)

    assert "no table is called 'x.csv'" in error(send(table="x.csv"), 400)
    assert "has no column 7; it has 2" in error(send(column=7), 400)
    assert "0 columns called 'post'" in error(send(column="post"), 400)
    assert "unknown label 'citty'" in error(send(label="citty"), 400)
    assert "label must be text or null" in error(send(label=3), 400)
    assert "must have table, column and label" in error(send(colour="red"), 400)
    (job, how) = client.queue.submitted[-1]
    assert (how["again"], type(job).__name__) == (False, "FeedbackJob")  # it writes
    recorded = send().json()
    assert (recorded["by"], recorded["recorded"][0]["verdict"]) == ("ada", "corrected")
    (table,) = client("POST", "/annotate", files=files("a.csv")).json()
    assert table["columns"][1]["label"] == "city"
    (table,) = client("POST", "/annotate?memory=false", files=files("a.csv")).json()
    assert table["columns"][1]["label"] != "city"


@pytest.mark.parametrize(
    ("document", "sentence"),
    [
        ([], 'expected {"corrections"'),
        ({"corrections": [], "extra": 1}, 'expected {"corrections"'),
        ({"corrections": []}, "the service logs no decisions; start it with --log-decisions"),
    ],
)
def test_corrections_without_files_need_a_log(client: Client, document: object, sentence: str):
    assert sentence in error(client("POST", "/feedback", json=document), 400)


def test_forms_without_their_part_are_refused(client: Client):
    assert "no part 'corrections'" in error(client("POST", "/feedback", files=files("a.csv")), 400)
    assert "no part 'type'" in error(client("POST", "/types", files=files("a.csv")), 400)
    (_, how) = client.queue.submitted[-1]
    assert how == {"heavy": True, "seconds": 300.0, "again": False}


def test_what_there_is_not_is_said_in_the_form_of_all_errors(client: Client):
    assert "there is no /nothing; GET /openapi.json" in error(client("GET", "/nothing"), 404)
    assert "/annotate does not take GET" in error(client("GET", "/annotate"), 405)
    assert error(client("GET", "/page/..%2fapp.py"), 404)
    assert "did you mean 'telephone'?" in error(client("GET", "/types/telefone"), 404)
    assert error(client("DELETE", "/types/Ward/bed"), 404)
    assert "start with --runs" in error(client("GET", "/runs/x"), 404)


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("GET", "/annotate", "POST"),
        ("PUT", "/types", "GET, HEAD, POST"),
        ("POST", "/types/telephone", "DELETE, GET, HEAD"),
        ("OPTIONS", "/health", "GET, HEAD"),
    ],
)
def test_a_method_that_is_not_taken_is_told_which_are(
    client: Client, method: str, path: str, allowed: str
):
    response = client(method, path)
    assert error(response, 405) == f"{path} does not take {method}; it takes {allowed}"
    assert response.headers["allow"] == allowed


def test_an_error_that_nobody_expected_has_the_headers_of_every_response(
    client: Client, monkeypatch: pytest.MonkeyPatch
):
    def fail() -> None:
        raise RuntimeError("a bug")

    monkeypatch.setattr(client.status, "as_dict", fail)
    response = client("GET", "/status")
    assert error(response, 500) == "something went wrong inside the service; its log says what"
    assert response.headers["content-security-policy"].startswith("default-src 'none'")
    for name in HEADERS:
        assert name in response.headers


@pytest.mark.parametrize(
    ("number", "status", "sentence"),
    [
        (errno.ENOSPC, 507, "the disk of the service is full; try again when it has room"),
        (errno.EDQUOT, 507, "the disk of the service is full; try again when it has room"),
        (errno.EMFILE, 503, "the service has too many files open; try again in a moment"),
        (errno.EACCES, 500, "something went wrong inside the service; its log says what"),
    ],
)
def test_what_is_used_up_is_told_apart_from_what_is_broken(
    client: Client, monkeypatch: pytest.MonkeyPatch, number: int, status: int, sentence: str
):
    def fail(*_: object, **__: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(Path, "open", fail)
    assert error(client("POST", "/annotate", files=files("a.csv")), status) == sentence


def test_the_boundary_of_a_form_has_a_bound(client: Client):
    kind = {"content-type": f"multipart/form-data; boundary={'b' * 257}"}
    sentence = error(client("POST", "/annotate", content=b"x", headers=kind), 400)
    assert sentence.startswith("the form cannot be read (")


def test_what_is_given_twice_is_refused(client: Client):
    twice = client("POST", "/annotate?effort=low&effort=high", files=files("a.csv"))
    assert error(twice, 400) == "the option effort is given twice; send one value for it"
    parts = [*files("a.csv"), ("by", (None, b"ada")), ("by", (None, b"bob"))]
    assert "the form has two parts 'by'" in error(client("POST", "/feedback", files=parts), 400)


def test_the_page_and_its_files_are_served_with_their_types(client: Client):
    page = client("GET", "/")
    assert page.headers["content-type"].startswith("text/html")
    assert "script-src 'self'" in page.headers["content-security-policy"]
    for name, kind in (("colours.css", "text/css"), ("answers.css", "text/css")):
        assert client("GET", f"/page/{name}").headers["content-type"].startswith(kind)


def test_requests_are_counted_whether_they_fail_or_not(client: Client):
    client("POST", "/annotate", files=files("a.csv"))
    client("POST", "/annotate", files=files("a.csv"), params={"format": "xml"})
    status = client("GET", "/status").json()
    (annotate,) = [each for each in status["operations"] if each["operation"] == "annotate"]
    assert (annotate["calls"], annotate["errors"]) == (2, 1)
    assert [run["columns"] for run in client("GET", "/runs").json()["annotated"]] == [2]
    assert 'operation="annotate"' in client("GET", "/metrics").text
    assert client("GET", "/openapi.json").json()["info"]["version"] == "7"


def test_a_token_guards_everything_but_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("AEGIR_HOME", str(tmp_path / "home"))
    token = "0123456789abcdef"
    guarded = Client(tmp_path, Stores(), token)
    assert "token is missing" in error(guarded("GET", "/types"), 401)
    assert guarded("GET", "/").status_code == guarded("GET", "/health").status_code == 200
    allowed = guarded("GET", "/types", headers={"authorization": f"Bearer {token}"})
    assert allowed.status_code == 200


@pytest.mark.parametrize(
    ("name", "content", "heavy"),
    [
        ("a.csv", CSV, False),
        ("a.csv", b"x" * 2_000_000, True),  # large
        ("a.zip", b"PK\x03\x04 whatever follows", True),
        ("a.db", b"SQLite format 3\x00" + bytes(100), True),
        ("a.pdf", b"%PDF-1.7 refused by its first bytes", False),
    ],
)
def test_large_files_and_all_but_text_are_heavy(
    tmp_path: Path, name: str, content: bytes, heavy: bool
):
    (tmp_path / name).write_bytes(content)
    assert is_heavy(tmp_path, Upload(files=[name], size=len(content))) == heavy


LINES = b'{"id": 1, "mail": "ann@example.org"}\n{"id": 2, "mail": "bob@example.org"}\n'


@pytest.mark.parametrize(
    ("kind", "content", "name"),
    [
        ("text/csv", CSV, "body.csv"),
        ("text/csv; charset=utf-8", CSV, "body.csv"),
        ("TEXT/CSV", CSV, "body.csv"),
        ("text/tab-separated-values", CSV.replace(b",", b"\t"), "body.tsv"),
        ("application/x-ndjson", LINES, "body.jsonl"),
        ("application/jsonl", LINES, "body.jsonl"),
    ],
)
def test_a_body_that_is_a_table_gets_the_answer_of_its_file(
    client: Client, kind: str, content: bytes, name: str
):
    answer = client("POST", "/annotate", content=content, headers={"content-type": kind})
    assert answer.status_code == 200, answer.text
    assert answer.json() == client("POST", "/annotate", files=files(name, content=content)).json()
    assert not list(client.folder.rglob("body*"))


def test_a_parquet_body_is_read(client: Client, tmp_path: Path):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    pq.write_table(pa.table({"mail": ["ann@example.org", "bob@example.org"]}), tmp_path / "t")
    kind = {"content-type": "application/vnd.apache.parquet"}
    answer = client("POST", "/annotate", content=(tmp_path / "t").read_bytes(), headers=kind)
    assert answer.json()[0]["table"] == "body.parquet"
    assert client.queue.submitted[0][1]["heavy"]


def test_a_body_may_say_the_name_of_its_file(client: Client):
    headers = {
        "content-type": "text/csv",
        "content-disposition": 'attachment; filename="/etc/people.csv"',
    }
    answer = client("POST", "/annotate", content=CSV, headers=headers)
    assert answer.json()[0]["table"] == "people.csv"
    headers["content-disposition"] = 'attachment; filename=".."'
    assert "cannot be called" in error(
        client("POST", "/annotate", content=CSV, headers=headers), 400
    )


def test_a_body_that_is_a_table_is_held_to_the_limit_of_bytes(client: Client):
    big = CSV + b"3,x\n" * 5000
    sent = client("POST", "/annotate", content=big, headers={"content-type": "text/csv"})
    assert "larger than 10,000 bytes" in error(sent, 413)


def test_a_bare_list_is_accepted_and_an_empty_one_refused(client: Client):
    rows = [{"id": 1, "mail": "ann@example.org"}, {"id": 2, "mail": "bob@example.org"}]
    answer = client("POST", "/annotate", json=rows)
    assert answer.json() == client("POST", "/annotate", json={"rows": rows}).json()
    grid = client("POST", "/annotate", json=[["id", "mail"], [1, "ann@example.org"]])
    assert [column["name"] for column in grid.json()[0]["columns"]] == ["id", "mail"]
    assert "is an empty list" in error(client("POST", "/annotate", json=[]), 422)


def test_the_answers_of_a_finished_run_can_be_asked_for_again(client: Client):
    answer = client("POST", "/annotate", files=files("a.csv", "b.csv", "c.csv"))
    run = answer.headers["aegir-run"]
    again = client("GET", f"/tables/{run}").json()
    assert (again["run"], again["total"], again["next"]) == (run, 3, None)
    without = [
        {**table, "columns": [column | {"reasons": []} for column in table["columns"]]}
        for table in answer.json()
    ]
    assert again["tables"] == without
    first = client("GET", f"/tables/{run}?limit=2").json()
    assert [table["table"] for table in first["tables"]] == ["a.csv", "b.csv"]
    rest = client("GET", f"/tables/{run}?limit=2&offset={first['next']}").json()
    assert ([table["table"] for table in rest["tables"]], rest["next"]) == (["c.csv"], None)


def test_kept_answers_hold_no_values(client: Client):
    answer = client("POST", "/annotate", files=files("a.csv"))
    assert "ann@example.org" in answer.text  # a reason quotes it
    kept = client("GET", f"/tables/{answer.headers['aegir-run']}").text
    assert "example.org" not in kept
    assert "example.org" not in client("GET", "/runs").text


@pytest.mark.parametrize(
    ("path", "status", "sentence"),
    [
        ("/tables/nope", 404, "there is no run 'nope'"),
        ("/tables/nope?limit=0", 400, "limit is '0'; expected a whole number from 1 to 100"),
        ("/tables/nope?limit=101", 400, "from 1 to 100"),
        (
            "/tables/nope?offset=-1",
            400,
            "offset is '-1'; expected a whole number from 0 to 1,000,000",
        ),
        ("/tables/nope?page=2", 400, "unknown option 'page'"),
        ("/tables/nope?limit=2&limit=3", 400, "the option limit is given twice"),
    ],
)
def test_a_wrong_question_about_a_run_gets_one_sentence(
    client: Client, path: str, status: int, sentence: str
):
    assert sentence in error(client("GET", path), status)


def test_answers_of_runs_need_the_token(tmp_path: Path):
    guarded = Client(tmp_path, Stores(), token="a-token-of-some-length")
    assert guarded("GET", "/tables/any").status_code == 401
    asked = guarded(
        "GET", "/tables/any", headers={"authorization": "Bearer a-token-of-some-length"}
    )
    assert asked.status_code == 404
