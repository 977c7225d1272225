"""HTTP responses: answers of workers, and refusals, which carry the sentence that the command line would print."""

import json
from dataclasses import dataclass, field
from typing import Any

from starlette.responses import JSONResponse, Response

from aegir.errors import AegirError
from aegir.service.limits import Refused, status_of


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


def json_reply(value: object, status: int = 200, facts: dict[str, Any] | None = None) -> Reply:
    """Return a reply that is a JSON document."""
    text = json.dumps(value, ensure_ascii=True, allow_nan=False)
    return Reply(status, "application/json", text.encode() + b"\n", facts=facts or {})


def error_reply(error: AegirError, **more: object) -> Reply:
    """Return the reply that tells of an error."""
    return json_reply({"error": str(error), **more}, status_of(error))


def refusal(error: AegirError) -> Response:
    """Return the response that tells of an error."""
    retry = error.retry_after if isinstance(error, Refused) else None
    headers = {} if retry is None else {"retry-after": str(retry)}
    if status_of(error) == 401:
        headers["www-authenticate"] = "Bearer"
    return JSONResponse({"error": str(error)}, status_of(error), headers)
