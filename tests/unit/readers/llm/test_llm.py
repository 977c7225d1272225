"""The language model annotator against a server on loopback that misbehaves in every way. No model is involved."""

import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np
import pytest

from aegir.readers.llm.annotator import LlmAnnotator, read_answer, system_text, user_text
from aegir.tables.table import Column, Table
from aegir.vocabulary.terms import RELATION_INDEX, TYPE_INDEX, TYPE_NAMES
from aegir_rl.base.errors import UsageError
from aegir_rl.base.llm_client import ChatClient, LlmError, LlmSettings

TABLE = Table(
    "shop.csv", (Column("mail", ("a@example.org", "b@example.org")), Column("n", ("1", "2")))
)
Behaviour = Callable[[BaseHTTPRequestHandler, dict[str, Any]], None]


def entry(place: int, type_: str | None = "email", **more: Any) -> dict[str, Any]:
    return {"column": place, "type": type_, "relation": None, "confidence": 0.9, **more}


def completion(text: str, **more: Any) -> bytes:
    return json.dumps({"choices": [{"message": {"content": text}}], **more}).encode()


def good(count: int = 2) -> str:
    return json.dumps({"columns": [entry(place) for place in range(count)]})


def send(handler: BaseHTTPRequestHandler, body: bytes, status: int = 200, **headers: str) -> None:
    handler.send_response(status)
    for name, value in {"Content-Length": str(len(body)), **headers}.items():
        handler.send_header(name.replace("_", "-"), value)
    handler.end_headers()
    handler.wfile.write(body)


def answering(text: str, **more: Any) -> Behaviour:
    return lambda handler, _: send(handler, completion(text, **more))


def with_status(status: int, body: bytes = b"", **headers: str) -> Behaviour:
    return lambda handler, _: send(handler, body, status, **headers)


def slow(handler: BaseHTTPRequestHandler, _: dict[str, Any]) -> None:
    time.sleep(1.0)


def dripping(handler: BaseHTTPRequestHandler, _: dict[str, Any]) -> None:
    """A header that never ends, a byte at a time."""
    for _byte in range(100):
        handler.wfile.write(b"X")
        handler.wfile.flush()
        time.sleep(0.02)


def dripping_body(handler: BaseHTTPRequestHandler, _: dict[str, Any]) -> None:
    handler.send_response(200)
    handler.end_headers()
    dripping(handler, {})


def truncated(handler: BaseHTTPRequestHandler, _: dict[str, Any]) -> None:
    body = completion(good())
    handler.send_response(200)
    handler.send_header("Content-Length", str(len(body)))
    handler.end_headers()
    handler.wfile.write(body[:-20])


def closing(handler: BaseHTTPRequestHandler, _: dict[str, Any]) -> None:
    handler.connection.shutdown(socket.SHUT_RDWR)


class Server:
    """Behaves as the list says, one entry per request; the last one is repeated."""

    def __init__(self) -> None:
        self.behaviours: list[Behaviour] = []
        self.requests: list[dict[str, Any]] = []
        self.headers: list[Any] = []
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                server.requests.append({"path": self.path, **body})
                server.headers.append(self.headers)
                number = min(len(server.requests), len(server.behaviours)) - 1
                with suppress(OSError):  # the client has gone
                    server.behaviours[number](self, body)

            def log_message(self, *_: object) -> None:
                pass

            def finish(self) -> None:
                with suppress(OSError):
                    super().finish()

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.http.daemon_threads = True
        self.thread = threading.Thread(target=self.http.serve_forever, args=(0.02,), daemon=True)
        self.thread.start()

    def ask(
        self, *behaviours: Behaviour, waits: list[float] | None = None, **settings: Any
    ) -> LlmAnnotator:
        self.behaviours, self.requests = [*behaviours], []
        endpoint = f"http://127.0.0.1:{self.http.server_address[1]}/v1/"
        chosen = LlmSettings(endpoint, "test-model", **{"seconds": 5.0, **settings})
        waited = [] if waits is None else waits
        return LlmAnnotator(chosen, ChatClient(chosen, sleep=waited.append))


@pytest.fixture
def server() -> Iterator[Server]:
    made = Server()
    yield made
    made.http.shutdown()
    made.http.server_close()


def test_an_answer_becomes_probabilities_and_its_tokens_are_counted(server: Server):
    text = json.dumps(
        {"columns": [entry(0, confidence=1, relation="email"), entry(1, None, confidence=0.6)]}
    )
    usage = {"prompt_tokens": 1000, "completion_tokens": 100}
    annotator = server.ask(answering(text, usage=usage), key="secret", price_in=2, price_out=10)
    (scores,) = annotator.score([TABLE])
    assert scores.types[0, TYPE_INDEX["email"]] == np.float32(0.95)  # a stated 1 counts as 0.95
    assert scores.types[0].sum() == pytest.approx(1)
    assert scores.relations[0, RELATION_INDEX["email"]] == np.float32(0.95)
    assert scores.types[1].sum() == pytest.approx(0.4)  # the rest is "none of these"
    assert scores.explanations[0].evidence == ("the language model test-model says email",)
    used = annotator.usage
    assert (used.calls, used.retries, used.tokens_in, used.tokens_out) == (1, 0, 1000, 100)
    assert used.cost == pytest.approx(0.003)  # (1000 * 2 + 100 * 10) / 1e6
    assert server.requests[0]["path"] == "/v1/chat/completions"
    assert server.headers[0]["Authorization"] == "Bearer secret"


def test_a_server_that_counts_no_tokens_is_counted_by_characters(server: Server):
    annotator = server.ask(answering(good(), usage={"prompt_tokens": "many"}))
    annotator.score([TABLE])
    assert annotator.usage.tokens_out == -(-len(good()) // 4)
    assert annotator.usage.tokens_in > 1000  # the vocabulary


@pytest.mark.parametrize(
    ("first", "problem"),
    [
        (with_status(429, b"slow down", Retry_After="3"), "status 429 (slow down)"),
        (with_status(500, b"\x1b[2Joops"), "status 500"),
        (closing, "the connection failed"),
        (truncated, "the connection failed"),
        (with_status(200, b"<html>"), "no chat completion"),
        (with_status(200, b'{"choices": []}'), "no chat completion"),
        (with_status(200, completion("x").replace(b'"x"', b"7")), "without a text"),
        (answering("Sure! It is an e-mail."), "is no JSON object"),
        (answering(good()[:-5]), "is no JSON object"),
        (answering(good(1)), "no answer for column 1"),
        (answering(good(3)), "for the column '2', which was not asked"),
        (answering(json.dumps({"columns": [entry(0), entry(0)]})), "twice for column 0"),
        (
            answering(json.dumps({"columns": [entry(0, "emial"), entry(1)]})),
            "'emial', which is no type",
        ),
        (answering(json.dumps({"columns": [entry(0, relation="x"), entry(1)]})), "is no relation"),
        (
            answering(json.dumps({"columns": [entry(0, confidence=2), entry(1)]})),
            "confidence of column 0",
        ),
        (
            answering(json.dumps({"columns": [entry(0, confidence=True), entry(1)]})),
            "confidence of",
        ),
        (answering("[]"), "it has no list `columns`"),
        (answering("[" * 100_000), "is no JSON object"),
    ],
)
def test_what_may_pass_is_tried_again_and_at_last_is_one_sentence(
    server: Server, first: Behaviour, problem: str
):
    annotator = server.ask(first, answering(good()))
    (scores,) = annotator.score([TABLE])
    assert scores.types[0].argmax() == TYPE_INDEX["email"]
    assert (annotator.usage.calls, annotator.usage.retries) == (2, 1)
    annotator = server.ask(first)
    with pytest.raises(LlmError) as refused:
        annotator.score([TABLE])
    assert str(refused.value).startswith(
        "the model test-model at 127.0.0.1 gave no answer in 3 tries: "
    )
    assert problem in str(refused.value)
    assert "\x1b" not in str(refused.value)
    assert (annotator.usage.calls, annotator.usage.failures) == (3, 1)


@pytest.mark.parametrize("behaviour", [slow, dripping, dripping_body])
def test_a_slow_server_is_given_up_in_time(server: Server, behaviour: Behaviour):
    annotator = server.ask(behaviour, seconds=0.2, retries=1)
    started = time.monotonic()
    with pytest.raises(LlmError, match=r"no whole answer within 0\.2 seconds"):
        annotator.score([TABLE])
    assert time.monotonic() - started < 5  # two calls of 0.2 s, on a busy machine
    assert annotator.usage.timeouts == 2


@pytest.mark.parametrize(
    ("behaviour", "problem"),
    [
        (with_status(401, b'{"error": "no key"}'), 'status 401 ({"error": "no key"})'),
        (with_status(302, Location="http://127.0.0.1:1/elsewhere"), "redirects are not followed"),
        (answering(" " * 5000), "an answer of more than 4,000 bytes"),
    ],
)
def test_what_will_not_pass_is_not_tried_again(server: Server, behaviour: Behaviour, problem: str):
    annotator = server.ask(behaviour, most_bytes=4000)
    with pytest.raises(LlmError) as refused:
        annotator.score([TABLE])
    assert problem in str(refused.value)
    assert (annotator.usage.calls, annotator.usage.failures) == (1, 1)


def test_waits_grow_and_follow_the_server_up_to_a_limit(server: Server):
    waits: list[float] = []
    annotator = server.ask(
        with_status(503),
        with_status(503),
        with_status(429, Retry_After="1"),
        with_status(429, Retry_After="3600"),
        answering(good()),
        waits=waits,
        retries=4,
    )
    annotator.score([TABLE])
    assert waits == [0.5, 1.0, 1.0, 8.0]


def test_a_server_that_is_not_there_is_one_sentence():
    settings = LlmSettings("http://127.0.0.1:9/v1", "m", retries=0, key="secret")
    with pytest.raises(LlmError, match="the connection failed") as refused:
        LlmAnnotator(settings).score([TABLE])
    assert "secret" not in str(refused.value) + repr(settings)


@pytest.mark.parametrize(
    "endpoint", ["", "localhost:8000", "ftp://host/v1", "http://", "http://h:x"]
)
def test_an_endpoint_that_is_no_url_is_refused(endpoint: str):
    with pytest.raises(UsageError, match="endpoint"):
        LlmSettings(endpoint, "m")


def test_a_wide_table_is_asked_about_in_parts_and_an_empty_column_gets_nothing(server: Server):
    columns = tuple(Column(None, ("a@example.org",) if n else ("",)) for n in range(60))

    def answer(handler: BaseHTTPRequestHandler, body: dict[str, Any]) -> None:
        asked = json.loads(body["messages"][1]["content"])["columns"]
        send(handler, completion(good(len(asked))))

    annotator = server.ask(answer)
    (scores,) = annotator.score([Table("wide", columns)])
    assert annotator.usage.calls == 3  # 25 + 25 + 10
    assert not scores.types[0].any()
    assert (scores.types[1:].argmax(axis=1) == TYPE_INDEX["email"]).all()


def test_the_prompt_holds_the_vocabulary_and_few_short_cells():
    assert all(f"- {name}: " in system_text() for name in TYPE_NAMES)
    table = Table("t", (Column("h" * 500, tuple(str(n) * 500 for n in range(9))),))
    (column,) = json.loads(user_text(table))["columns"]
    assert len(column["cells"]) == 5
    assert all(len(cell) <= 80 for cell in (*column["cells"], column["header"]))


def test_an_answer_in_a_fenced_block_is_read():
    assert read_answer(f"```json\n{good(1)}\n```", 1)[0].type == "email"
    with pytest.raises(ValueError, match="no JSON"):
        read_answer(f"Here you are:\n```json\n{good(1)}\n```", 1)


def test_an_answer_that_cannot_be_used_is_asked_again_with_its_reason(server: Server):
    annotator = server.ask(answering("no idea"), answering(good()))
    annotator.score([TABLE])
    first, second = (request["messages"] for request in server.requests)
    assert second[:2] == first
    assert second[2] == {"role": "assistant", "content": "no idea"}
    assert second[3]["content"].startswith("That answer cannot be used: ")
    assert second[3]["role"] == "user"
