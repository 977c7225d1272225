"""HTTP responses: answers of workers, and refusals, which carry the sentence that the command line would print.

Where that sentence names an option of the command line that a request has under another name, it is said in the names of HTTP.
"""

import json
import re
from dataclasses import dataclass, field, replace
from typing import Any

from starlette.responses import JSONResponse, Response

from aegir.service.limits import UNAVAILABLE, Refused, status_of
from aegir_rl.base.errors import AegirError

SECONDS_TO_RETRY = 5
_IN_REQUESTS = (
    (re.compile(r" or --annotator out\b"), " out"),
    (
        re.compile(
            r"(?<![\w'\"-])--(rows|seed|min-confidence|precision|effort|within|tables|format|not)(?![\w.-])"
        ),
        lambda match: match[1].replace("-", "_"),
    ),
)
"""Options of the command line in sentences, and what a request has instead."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What a worker has to say about one job."""

    status: int
    content_type: str
    body: bytes
    headers: dict[str, str] = field(default_factory=dict)
    facts: dict[str, Any] = field(default_factory=dict)
    """For the service itself: what was annotated, and how it was routed."""

    def response(self) -> Response:
        """Return the HTTP response."""
        return Response(self.body, self.status, self.headers, self.content_type)

    def to_bytes(self, index: int) -> bytes:
        """Return the message that brings this reply to the job of an index: a line of JSON, then the body."""
        header = (index, self.status, self.content_type, self.headers, self.facts)
        return json.dumps(header).encode() + b"\n" + self.body

    @classmethod
    def from_bytes(cls, message: bytes) -> "tuple[int, Reply]":
        """Return the index and the reply of a message that `to_bytes` made."""
        header, _, body = message.partition(b"\n")
        index, status, content_type, headers, facts = json.loads(header)
        return index, cls(status, content_type, body, headers, facts)


def json_reply(value: object, status: int = 200, facts: dict[str, Any] | None = None) -> Reply:
    """Return a reply that is a JSON document."""
    text = json.dumps(value, ensure_ascii=True, allow_nan=False)
    return Reply(status, "application/json", text.encode() + b"\n", facts=facts or {})


def error_reply(error: AegirError, **more: object) -> Reply:
    """Return the reply that tells of an error."""
    reply = json_reply({"error": sentence_of(error), **more}, status_of(error))
    return replace(reply, headers=_retry_header(error))


def refusal(error: AegirError) -> Response:
    """Return the response that tells of an error."""
    headers = _retry_header(error)
    if status_of(error) == 401:
        headers["www-authenticate"] = "Bearer"
    return JSONResponse({"error": sentence_of(error)}, status_of(error), headers)


def sentence_of(error: AegirError) -> str:
    """Return what an error says, in the names that options have in a request."""
    sentence = str(error)
    for pattern, words in _IN_REQUESTS:
        sentence = pattern.sub(words, sentence)
    return sentence


def _retry_header(error: AegirError) -> dict[str, str]:
    """Say when to try again, where that may help."""
    seconds = error.retry_after if isinstance(error, Refused) else None
    if seconds is None and status_of(error) != UNAVAILABLE:
        return {}
    return {"retry-after": str(SECONDS_TO_RETRY if seconds is None else seconds)}
