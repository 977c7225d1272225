"""Replies and refusals: how they cross a process, and what a sender is told."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aegir.service.limits import Refused, RequestLimits, status_of
from aegir.service.responses import Reply, error_reply, json_reply, refusal
from aegir_rl.base.errors import AegirError, CheckFailed, UnreadableTable, UsageError


@given(
    index=st.integers(0, 100),
    status=st.integers(200, 599),
    body=st.binary(),
    header=st.text(),
    columns=st.integers(),
)
def test_a_reply_crosses_a_process_as_it_is(
    index: int, status: int, body: bytes, header: str, columns: int
):
    reply = Reply(status, "text/csv", body, {"aegir-run": header}, {"columns": columns})
    assert Reply.from_bytes(reply.to_bytes(index)) == (index, reply)


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (UsageError("x"), 400),
        (UnreadableTable("x"), 422),
        (CheckFailed("x"), 409),
        (AegirError("x"), 503),
        (Refused(413, "x"), 413),
    ],
)
def test_every_error_has_a_status_and_its_sentence(error: AegirError, status: int):
    assert status_of(error) == status
    reply = error_reply(error, more=1)
    assert (reply.status, json.loads(reply.body)) == (status, {"error": "x", "more": 1})
    assert refusal(error).status_code == status


@pytest.mark.parametrize(
    "sentence",
    [
        "a.db cannot be used as a store (database or disk is full)",
        "types/ward.json cannot be written (No space left on device)",
        "a.db cannot be used as a store (disk I/O error)",
    ],
)
def test_a_full_disk_is_told_apart_from_what_was_asked_wrongly(sentence: str):
    for kind in (UsageError, UnreadableTable, AegirError):
        assert (status_of(kind(sentence)), refusal(kind(sentence)).status_code) == (507, 507)


@pytest.mark.parametrize(
    ("said", "in_request"),
    [
        ("--within is 'soon'; expected a time", "within is 'soon'; expected a time"),
        ("no figures; use --min-confidence", "no figures; use min_confidence"),
        ("no effort; leave --effort or --annotator out", "no effort; leave effort out"),
        ("a.csv:b is an example and with --not; choose one", "a.csv:b is an example and with not; choose one"),
        ("'--rows' is no label; start it with --memory FILE", "'--rows' is no label; start it with --memory FILE"),
        ("--rows.csv is empty", "--rows.csv is empty"),
    ],
)  # fmt: skip
def test_options_have_the_names_of_requests(said: str, in_request: str):
    assert json.loads(error_reply(UsageError(said)).body)["error"] == in_request
    assert json.loads(refusal(UsageError(said)).body)["error"] == in_request


def test_a_sender_learns_when_to_try_again():
    assert error_reply(AegirError("the store is away")).headers == {"retry-after": "5"}
    assert error_reply(Refused(429, "busy", retry_after=2)).headers == {"retry-after": "2"}
    assert error_reply(UsageError("never")).headers == {}
    assert refusal(Refused(401, "no token")).headers["www-authenticate"] == "Bearer"


def test_numbers_that_json_does_not_know_are_refused():
    with pytest.raises(ValueError, match="JSON"):
        json_reply({"value": float("nan")})


@pytest.mark.parametrize(
    "values",
    [{"upload_bytes": 0}, {"files": -1}, {"queue": 0}, {"seconds": 0}, {"seconds": float("inf")}],
)
def test_limits_that_let_nothing_through_are_refused(values: dict[str, float]):
    with pytest.raises(UsageError, match=f"the limit {next(iter(values))} is "):
        RequestLimits(**values)
