"""`aegir serve` over HTTP: the answers and sentences of the command line, and nothing that a request does ends it."""

import gzip
import json
import os
import signal
import socket
import zipfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families

import aegir
from aegir.answers.writers import FORMATS
from aegir.service.uploads import TABLE_BODIES
from command_line import refused, run
from nasty_files import CSV, REFUSED
from running_service import EXAMPLES, RunningService, running_service, wait_until

TABLES = sorted(path for path in EXAMPLES.iterdir() if path.suffix != ".md" and path.is_file())


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningService]:
    limits = ("--max-upload", 4, "--max-unpacked", 8, "--max-columns", 500)
    with running_service(tmp_path_factory.mktemp("service"), *limits) as running:
        yield running


def error_of(response: httpx.Response, status: int) -> str:
    assert response.status_code == status, response.text
    return response.json()["error"]


def test_every_example_gets_the_answer_of_the_command_line(
    service: RunningService, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(EXAMPLES)
    said = run("annotate", *(path.name for path in TABLES), "--format", "json", "--workers", "1")
    response = service.annotate(*TABLES)
    assert response.status_code == (200 if said.code == 0 else 207)
    assert response.content == said.out.encode()
    with ThreadPoolExecutor(
        8
    ) as clients:  # small ones are annotated together, with the same answers
        alone = list(clients.map(service.annotate, TABLES))
    assert [answer for each in alone for answer in each.json()] == response.json()


def test_every_format_is_that_of_the_command_line(
    service: RunningService, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(EXAMPLES)
    books = EXAMPLES / "books.csv"
    for name in ("text", *FORMATS):
        said = run("annotate", books.name, "--format", name)
        assert service.annotate(books, format=name).content == said.out.encode(), name
    few = run("annotate", books.name, "--json", "--rows", 5, "--seed", 3, "--min-confidence", 0.7)
    options = {"format": "jsonl", "rows": 5, "seed": 3, "min_confidence": 0.7}
    assert service.annotate(books, **options).content == few.out.encode()


def test_rows_and_columns_as_json_get_the_answer_of_the_python_call(service: RunningService):
    rows = [{"city": city, "people": count} for city, count in [("Oslo", 7), ("Rome", 28)] * 4]
    columns = {key: [row[key] for row in rows] for key in rows[0]}
    wanted = json.loads(aegir.annotate(rows).to("json"))
    assert service.client.post("/annotate", json={"rows": rows}).json() == wanted
    assert service.client.post("/annotate", json={"columns": columns}).json() == wanted
    # Numbers are read as they are written: a price of 2.50, and one with more digits than Python computes with.
    content = b'{"rows": [{"price": 2.50, "big": ' + b"9" * 5000 + b"}]}"
    headers = {"content-type": "application/json"}
    report = service.client.post(
        "/annotate", params={"format": "report"}, content=content, headers=headers
    ).json()
    assert [cells[0][:4] for cells in report["tables"][0]["preview"]] == ["2.50", "9999"]


def test_a_file_that_holds_no_table_is_refused_with_the_sentence_of_the_command_line(
    service: RunningService, nasty: dict[str, Path], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(nasty["empty.csv"].parent)
    for name in sorted({*REFUSED} - {"folder.csv", "pipe.csv"}):
        said = run("annotate", name, "--annotator", "rules")
        refused(said, name)
        # Libraries name files with their folders; the service leaves out those of uploads.
        sentence = said.said[-1].removeprefix("aegir: ").replace(f"{Path.cwd()}/", "")
        assert error_of(service.annotate(nasty[name]), 422) == sentence


def test_nasty_files_are_answered_or_refused_and_end_no_worker(
    service: RunningService, nasty: dict[str, Path]
):
    accepted = sorted(set(nasty) - set(REFUSED))
    before = service.status()["pool"]["restarts"]
    with ThreadPoolExecutor(4) as clients:
        responses = dict(
            zip(accepted, clients.map(lambda n: service.annotate(nasty[n]), accepted), strict=True)
        )
    for name, response in responses.items():
        if name == "many_columns.csv":
            assert "4,000 columns; the service takes 500" in error_of(response, 413)
        else:
            assert response.status_code == 200, f"{name}: {response.text}"
    assert service.status()["pool"]["restarts"] == before


def test_some_files_that_cannot_be_read_leave_the_others_their_answers(
    service: RunningService, nasty: dict[str, Path]
):
    response = service.annotate(EXAMPLES / "books.csv", nasty["empty.csv"])
    assert response.status_code == 207
    assert [table["table"] for table in response.json()] == ["books.csv"]
    assert json.loads(response.headers["aegir-failures"]) == [
        "empty.csv is empty; expected a table"
    ]


def test_bombs_are_refused_before_they_are_unpacked(service: RunningService, tmp_path: Path):
    bomb = tmp_path / "bomb.csv.gz"
    bomb.write_bytes(gzip.compress(b"a,b\n1,2\n" * 1_200_000, 1))
    assert "unpacks to more than 8 MB" in error_of(service.annotate(bomb), 413)
    with zipfile.ZipFile(
        tmp_path / "bomb.zip", "w", zipfile.ZIP_DEFLATED, compresslevel=1
    ) as archive:
        archive.writestr("a.csv", b"a,b\n" * 2_500_000)
    assert "unpacks to more than 8 MB" in error_of(service.annotate(tmp_path / "bomb.zip"), 413)


@pytest.mark.parametrize(
    ("name", "kept"),
    [
        ("../../etc/passwd.csv", "passwd.csv"),
        ("C:\\Users\\ann\\x.csv", "x.csv"),
        ("/etc/shadow", "shadow"),
        ("-", "-"),
        ("a b;c'd.csv", "a b;c'd.csv"),
        ("Übersicht 表.csv", "Übersicht 表.csv"),
    ],
)
def test_the_name_of_a_file_never_leads_out_of_its_folder(
    service: RunningService, tmp_path: Path, name: str, kept: str
):
    (tmp_path / "t.csv").write_text(CSV)
    response = service.annotate(tmp_path / "t.csv", names=[name])
    assert response.status_code == 200, response.text
    assert [(table["table"], table["source"]) for table in response.json()] == [(kept, kept)]


def test_wrong_requests_get_one_clear_sentence(service: RunningService):
    post = service.client.post
    csv = ("file", ("a.csv", CSV.encode()))
    json_type = {"content-type": "application/json"}
    cases = [
        (post("/annotate", files=[csv], params={"format": "xml"}), 400, "unknown format 'xml'; there are text, json"),
        (post("/annotate", files=[csv], params={"fromat": "csv"}), 400, "did you mean 'format'?"),
        (post("/annotate", files=[csv], params={"rows": "many"}), 400, "rows is 'many'; expected a whole number"),
        (post("/annotate", files=[csv], params={"rows": "0"}), 400, "at least 1 row"),
        (post("/annotate", files=[csv], params={"precision": "2"}), 400, "precision is 2.0"),
        (post("/annotate", files=[csv, csv]), 400, "two files are called a.csv"),
        (post("/annotate", files=[("file", ("..", b"x"))]), 400, "a file cannot be called '..'"),
        (post("/annotate", files=[("file", ("x" * 300, b"x"))]), 400, "longer than 255 bytes"),
        (post("/annotate", files={"x": (None, "y")}), 400, "has a part 'x' that is no file"),
        (post("/annotate", files=[("file", (f"{n}.csv", b"x")) for n in range(40)]), 413, "more than 32 files"),
        (post("/annotate", content=b"x" * 6_000_000, headers=json_type), 413, "larger than 4 MB"),
        (post("/annotate", content=b"a,b\n", headers={"content-type": "text/html"}), 415, "'text/html'"),
        (post("/annotate"), 415, "the content type is 'nothing'"),
        (post("/annotate", content=b"{", headers=json_type), 400, "is no JSON"),
        (post("/annotate", content=b"[" * 50_000, headers=json_type), 400, "is no JSON (it is nested too deep)"),
        (post("/annotate", json=[]), 422, "the JSON document is an empty list"),
        (post("/annotate", json={"rows": []}), 422, 'holds no columns; expected {"rows"'),
        (post("/annotate", json={"columns": {}}), 422, "holds no columns"),
        (post("/annotate", json={"columns": {"a": {"b": 1}}}), 400, "column 'a' is an object; expected a list of values"),
        (post("/annotate", json={"rows": [], "columns": {}}), 400, "either rows or columns"),
        (post("/annotate", json={"rows": [{}, 1]}), 400, "row 2 is a number; expected an object"),
        (post("/annotate", json={"columns": {"a": [1], "b": []}}), 400, "all must be equally long"),
        (post("/annotate", json={"rows": [], "path": "/etc"}), 400, "unknown key 'path'"),
        (post("/annotate", json={"rows": [], "name": "a\nb"}), 400, "the name of the table is 'a\\nb'; expected printable"),
        (post("/annotate", content=b"--b\r\nbroken", headers={"content-type": "multipart/form-data; boundary=b"}), 400, "form"),
        (service.client.get("/annotate"), 405, "/annotate does not take GET"),
        (service.client.get("/page/../app.py"), 404, "there is no"),
        (service.client.get("/types/telefone"), 404, "did you mean 'telephone'?"),
        (service.client.get("/runs/x"), 404, "start with --runs"),
    ]  # fmt: skip
    for response, status, sentence in cases:
        assert sentence in error_of(response, status)


def test_a_connection_that_is_cut_costs_nothing(service: RunningService):
    host, port = httpx.URL(service.url).host, httpx.URL(service.url).port
    head = f"POST /annotate HTTP/1.1\r\nHost: {host}\r\nContent-Type: multipart/form-data; boundary=b\r\n"
    part = b'--b\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\n\r\nid,na'
    for ended in (b"", part):
        with socket.create_connection((host, port)) as connection:
            connection.sendall(f"{head}Content-Length: 5000\r\n\r\n".encode() + ended)
    assert wait_until(lambda: service.status()["pool"]["admitted"] == 0)
    assert service.annotate(EXAMPLES / "books.csv").status_code == 200


def test_a_worker_that_is_killed_is_replaced(service: RunningService):
    before = service.status()["pool"]
    for pid in before["pids"]:
        os.kill(pid, signal.SIGKILL)
    with ThreadPoolExecutor(4) as clients:
        answers = list(clients.map(service.annotate, [EXAMPLES / "books.csv"] * 4))
    assert [answer.status_code for answer in answers] == [200] * 4
    assert service.status()["pool"]["restarts"] > before["restarts"]


def test_a_correction_is_found_when_the_table_comes_again(service: RunningService, tmp_path: Path):
    grown = tmp_path / "films.csv"
    text = (EXAMPLES / "films.csv").read_text(encoding="utf-8")
    grown.write_text(text + text.split("\n", 1)[1], encoding="utf-8")
    first = service.annotate(EXAMPLES / "films.csv").json()[0]["columns"][0]
    assert "reviewed" not in first
    sent = {"file": ("films.csv", text.encode())}

    def say(**correction: object) -> httpx.Response:
        said = {"corrections": json.dumps([{"table": "films.csv", "column": 0, **correction}])}
        return service.client.post("/feedback", files=sent, data={**said, "by": "ada"})

    assert "unknown label 'citty'; did you mean 'city'?" in error_of(say(label="citty"), 400)
    assert "has no column 99" in error_of(say(label="city", column=99), 400)
    assert "reviewed" not in service.annotate(grown).json()[0]["columns"][0]
    assert say(label="city").json()["recorded"][0]["verdict"] == "corrected"
    for _ in range(3):  # whichever worker answers
        column = service.annotate(grown).json()[0]["columns"][0]
        assert column["label"] == "city"
        assert column["reviewed"]["by"] == "ada"
    assert "reviewed" not in service.annotate(grown, memory=False).json()[0]["columns"][0]
    assert say(label=None).json()["recorded"][0]["verdict"] == "none"
    assert service.annotate(grown).json()[0]["columns"][0]["label"] is None


def test_the_description_of_the_service_is_complete_and_its_examples_work(service: RunningService):
    described = service.client.get("/openapi.json").json()
    body = described["paths"]["/annotate"]["post"]["requestBody"]["content"]["application/json"]
    for example in body["examples"].values():
        assert service.client.post("/annotate", json=example["value"]).status_code == 200
    content = described["paths"]["/annotate"]["post"]["requestBody"]["content"]
    assert {*content} == {"multipart/form-data", "application/json"} | {
        kind.decode() for kind in TABLE_BODIES
    }
    for kind, body in content.items():
        if isinstance(body.get("example"), str):
            sent = service.client.post(
                "/annotate", content=body["example"], headers={"content-type": kind}
            )
            assert sent.status_code == 200, kind
    run = sent.headers["aegir-run"]
    for path, methods in described["paths"].items():
        if "get" in methods and path != "/runs/{name}":
            named = path.replace("{name}", "telephone").replace("{run}", run)
            assert service.client.get(named).status_code == 200, path
    assert service.client.get("/types/Book/name").json()["types"][0]["name"] == "Book/name"
    names = [each["name"] for each in service.client.get("/types").json()["types"]]
    assert {"identifier", "telephone", "isbn"} <= set(names)


def test_metrics_and_runs_tell_what_was_done(service: RunningService):
    service.annotate(EXAMPLES / "books.csv")
    families = {
        family.name: family
        for family in text_string_to_metric_families(service.client.get("/metrics").text)
    }
    counts = {
        sample.labels.get("operation"): sample.value
        for sample in families["aegir_operation_seconds"].samples
        if sample.name.endswith("_count")
    }
    assert counts["annotate"] >= 1
    assert families["aegir_service_workers"].samples[0].value >= 1
    last = service.client.get("/runs").json()["annotated"][0]
    assert (last["tables"], last["columns"], last["failures"]) == (["books.csv"], 11, 0)


def test_what_was_accepted_is_finished_when_the_service_is_stopped(tmp_path: Path):
    with running_service(tmp_path, "--annotator", "rules", "--workers", 1) as service:
        with ThreadPoolExecutor(6) as clients:
            waiting = [clients.submit(service.annotate, *TABLES[:8]) for _ in range(6)]
            assert wait_until(lambda: service.status()["pool"]["admitted"] >= 2)
            assert service.stop() == 0
            answered = [each for each in waiting if each.exception() is None]
        # A connection that the service had not taken yet is refused; every one it took is answered.
        assert len(answered) >= 2
        assert {each.result().status_code for each in answered} == {200}


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--host", "0.0.0.0"], "--host 0.0.0.0 can be reached from other machines, which needs --token"),
        (["--host", "0.0.0.0", "--token", "short"], "the token has 5 characters; expected at least 16"),
        (["--annotator", "rulez"], "unknown annotator 'rulez'; did you mean 'rules'?"),
        (["--log-decisions", "/nowhere/at/all.db"], "there is no folder /nowhere/at"),
        (["--memory", __file__], "is damaged, or no SQLite file"),
        (["--runs", "/nowhere"], "there is no folder /nowhere; --runs names one"),
        (["--host", "192.0.2.1", "--token", "0123456789abcdef"], "port 8080 of 192.0.2.1 cannot be used"),
    ],
)  # fmt: skip
def test_a_service_that_cannot_start_says_why(options: list[str], sentence: str):
    refused(run("serve", *options), sentence)
