"""The service described as an OpenAPI 3.1 document, with examples that work: GET /openapi.json.

openapi.json holds what is the same for every service; added here are version, limits and formats, and the refusals that
operations have in common.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from aegir.service.jobs import REPORT
from aegir.service.limits import RequestLimits

DOCUMENT = Path(__file__).with_suffix(".json")
ERROR_EXAMPLE = {"error": "empty.csv is empty; expected a table"}
REFUSALS = {
    "400": "Asked wrongly: an option, a name, a document that cannot be used",
    "401": "The token is missing or wrong",
    "403": "Sent by a page of another site",
    "408": "The request arrived too slowly",
    "413": "Too large: bytes, unpacked bytes, files or columns",
    "415": "Another content type than those that are listed",
    "421": "Addressed under a name that the service does not have",
    "422": "No table could be read; the sentence says why",
    "429": "Too many requests are waiting; Retry-After says when to try again",
    "431": "Too many headers, or too long ones",
    "503": "The service is stopping, has too many connections, or a worker ended during the request",
    "507": "The disk of the service is full",
}
WITHOUT_BODY = ("400", "401", "403", "421", "429", "431", "503")
"""Refusals of operations that receive no body."""


def describe_api(about: Mapping[str, Any], limits: RequestLimits) -> dict[str, Any]:
    """Return the document for a service with these formats and limits."""
    document: dict[str, Any] = json.loads(DOCUMENT.read_bytes())
    info, paths = document["info"], document["paths"]
    info["version"] = about["version"]
    info["description"] = info["description"].format(
        files=limits.files,
        megabytes=limits.upload_bytes >> 20,
        columns=limits.columns,
        seconds=limits.seconds,
    )
    options = {option["name"]: option for option in paths["/annotate"]["post"]["parameters"]}
    options["format"]["schema"]["enum"] = [*about["formats"], REPORT]
    document["components"]["schemas"]["Lesson"]["properties"]["kind"]["enum"] = about["kinds"]
    for path, operations in paths.items():
        for operation in operations.values():
            for body in operation.get("requestBody", {}).get("content", {}).values():
                if files := body["schema"].get("properties", {}).get("file"):
                    files["maxItems"] = limits.files
            if path == "/metrics":
                continue
            statuses = REFUSALS if "requestBody" in operation else WITHOUT_BODY
            operation["responses"] |= {status: _refusal(status) for status in statuses}
            if "{name}" in path:
                operation["responses"]["404"] = {"description": "There is none of this name"}
    return document


def _refusal(status: str) -> dict[str, Any]:
    schema = {"$ref": "#/components/schemas/Error"}
    content = {"application/json": {"schema": schema, "example": ERROR_EXAMPLE}}
    return {"description": REFUSALS[status], "content": content}
