"""A learnt policy decides which columns a language model is asked about. A server on loopback answers; no model is involved."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pytest

from aegir_rl.offline.policy import RoutingPolicy
from aegir_rl.offline.store import DecisionStore
from command_line import run

FILMS = Path(__file__).parents[4] / "examples" / "films.csv"
SURE = 0.9


@pytest.fixture
def asked() -> Iterator[list]:
    """The tables that were sent; the first entry is the endpoint's address."""
    seen: list = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            table = json.loads(body["messages"][-1]["content"])
            seen.append(table)
            answers = [
                {"column": each["column"], "type": "email", "relation": None, "confidence": 0.9}
                for each in table["columns"]
            ]
            text = json.dumps({"columns": answers})
            reply = json.dumps({"choices": [{"message": {"content": text}}]}).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(reply)))
            self.end_headers()
            self.wfile.write(reply)

        def log_message(self, *_: object) -> None:
            pass

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=http.serve_forever, args=(0.02,), daemon=True).start()
    seen.append(f"http://127.0.0.1:{http.server_address[1]}/v1")
    yield seen
    http.shutdown()
    http.server_close()


def save_policy(path: Path) -> Path:
    """Ask the language model about columns of which the n-grams are less sure than `SURE`."""
    RoutingPolicy(
        kind="values",
        features=("confidence",),
        actions=("llm", "ngrams"),
        weights=(np.array([[-100.0, 0.0]], np.float32),),
        biases=(np.zeros(2, np.float32),),
        mean=np.array([SURE], np.float32),
        scale=np.ones(1, np.float32),
    ).save(path)
    return path


def test_the_policy_decides_which_columns_the_language_model_is_asked_about(
    asked: list, tmp_path: Path
):
    policy, store = save_policy(tmp_path / "policy.safetensors"), tmp_path / "log.db"
    done = run(
        *("annotate", FILMS, "--json", "--policy", policy, "--log-decisions", store),
        *("--llm-endpoint", asked[0], "--llm-model", "m", "--llm-price", 1, 1),
    )
    assert done.code == 0, done.err
    with DecisionStore.open(str(store)) as opened:
        decisions = [episode.decisions[0] for episode in opened.read()]
    workers = [decision.action["worker"] for decision in decisions]
    assert set(workers) == {"llm", "ngrams"}
    for decision, worker in zip(decisions, workers, strict=True):
        assert decision.decided_by == "policy"
        assert worker == ("llm" if decision.features["confidence"] < SURE else "ngrams")
    assert len(asked) == 2  # one call for the one table
    assert len(asked[1]["columns"]) >= workers.count("llm")
    assert "m: 1 call, 0 repeated, 0 failures" in done.err


def test_without_the_endpoint_the_routing_table_decides_and_says_why(tmp_path: Path):
    policy = save_policy(tmp_path / "policy.safetensors")
    done = run("annotate", FILMS, "--json", "--policy", policy, "--explain-routing")
    assert done.code == 0
    assert "it knows the worker 'llm', which is not here" in done.err
