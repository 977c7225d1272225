"""The service described as an OpenAPI 3.1 document, with examples that work: GET /openapi.json."""

from collections.abc import Mapping
from typing import Any

from aegir.pipeline.settings import AnnotationSettings
from aegir.service.jobs import REPORT
from aegir.service.limits import RequestLimits

ROWS_EXAMPLE = {
    "name": "customers",
    "rows": [
        {"id": 1, "email": "ann@example.org", "joined": "2024-05-01"},
        {"id": 2, "email": "bob@example.org", "joined": "2024-06-17"},
    ],
}
COLUMNS_EXAMPLE = {"name": "cities", "columns": {"city": ["Oslo", "Rome", "Lyon"]}}
TYPE_EXAMPLE = '{"name": "Ward/bed", "examples": [{"file": "wards.csv", "column": "bed"}], "about": "Bed of a ward"}'
CORRECTIONS_EXAMPLE = '[{"table": "customers.csv", "column": "email", "label": "email_address"}]'
FEEDBACK_EXAMPLE = {
    "corrections": [{"table": "customers.csv", "column": "email", "label": "email"}],
    "by": "ada",
}
REPORT_EXAMPLE = {
    "run": "20261117T183615316825-4ceacda07187f103",
    "tables": [],
    "failures": [{"source": "empty.csv", "reason": "empty.csv is empty; expected a table"}],
}
ERROR_EXAMPLE = {"error": "empty.csv is empty; expected a table"}
_SETTINGS = AnnotationSettings()
OPTIONS: dict[str, tuple[dict[str, Any], str]] = {
    "format": (
        {"type": "string", "default": "json"},
        f"How the answer is written, as --format; {REPORT} is one JSON object for pages, with run, tables and failures",
    ),
    "rows": (
        {"type": "integer", "default": _SETTINGS.rows},
        "Values looked at per column, spread over the whole table",
    ),
    "seed": ({"type": "integer", "default": _SETTINGS.seed}, "Which rows are looked at"),
    "min_confidence": (
        {"type": "number", "default": _SETTINGS.min_confidence},
        "Abstain below this confidence",
    ),
    "precision": (
        {"type": "number"},
        "Abstain so that this share of answers was right on validation tables",
    ),
    "custom": ({"type": "boolean", "default": True}, "Whether types that were taught may answer"),
    "memory": (
        {"type": "boolean", "default": True},
        "Whether columns that were reviewed get the reviewed answer",
    ),
    "effort": (
        {"type": "string"},
        "How hard to try: low, normal, high or a number from 0 to 1, as --effort",
    ),
    "within": ({"type": "string"}, "Time for each table, such as 200ms, as --within"),
    "spawn": ({"type": "string"}, "Specialists that a swarm may activate per table, as --spawn"),
    "tables": ({"type": "string"}, "Patterns of tables of SQLite and DuckDB files, with commas"),
}
"""The options of `POST /annotate`: their form and meaning."""
REFUSALS = {
    "400": "Asked wrongly: an option, a name, a document that cannot be used",
    "401": "The token is missing or wrong",
    "403": "Sent by a page of another site",
    "408": "The request arrived too slowly",
    "413": "Too large: bytes, unpacked bytes, files or columns",
    "415": "Another content type than multipart/form-data or application/json",
    "422": "No table could be read; the sentence says why",
    "429": "Too many requests are waiting; Retry-After says when to try again",
    "503": "The service is stopping, or a worker ended during the request",
}


def describe_api(about: Mapping[str, Any], limits: RequestLimits) -> dict[str, Any]:
    """Return the document for a service with these formats and limits."""
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Aegir",
            "version": about["version"],
            "description": "Says what every column of a table is, and how columns relate. A request may hold "
            f"{limits.files} files of {limits.upload_bytes >> 20} MB together with {limits.columns:,} columns, and be at work "
            f"for {limits.seconds:g} seconds.",
        },
        "paths": {
            "/annotate": {"post": _annotate(about["formats"])},
            "/feedback": {"post": _feedback()},
            "/types": {
                "get": _get("types", "Every kind, type, fine type, taught type and relation"),
                "post": _teach(),
            },
            "/types/{name}": {
                "get": _get("type", "What one name means", name="telephone"),
                "delete": _get("forget", "Forget a type that was taught", name="Ward/bed"),
            },
            "/runs": {"get": _get("runs", "What was annotated lately, and training runs")},
            "/runs/{name}": {"get": _get("run", "One training run", name="tiny")},
            "/status": {"get": _get("status", "Latency, throughput, queue and limits")},
            "/health": {"get": _get("health", "Whether the service is up", {"status": "ok"})},
            "/metrics": {"get": _metrics()},
            "/openapi.json": {"get": _get("openapi", "This document")},
        },
        "components": {
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
            "schemas": {
                "Error": {
                    "type": "object",
                    "required": ["error"],
                    "properties": {"error": {"type": "string"}},
                }
            },
        },
        "security": [{}, {"token": []}],
    }


def _annotate(formats: list[str]) -> dict[str, Any]:
    return {
        "operationId": "annotate",
        "summary": "Say what every column of the tables is; the answers of aegir annotate",
        "parameters": [
            {
                "name": name,
                "in": "query",
                "description": meaning,
                "schema": schema | ({"enum": [*formats, REPORT]} if name == "format" else {}),
            }
            for name, (schema, meaning) in OPTIONS.items()
        ],
        "requestBody": {
            "required": True,
            "content": {
                "multipart/form-data": {
                    "schema": {
                        "type": "object",
                        "properties": {
                            "file": {
                                "type": "array",
                                "items": {"type": "string", "format": "binary"},
                            }
                        },
                    }
                },
                "application/json": {
                    "schema": _document_schema(),
                    "examples": {
                        "rows": {"value": ROWS_EXAMPLE},
                        "columns": {"value": COLUMNS_EXAMPLE},
                    },
                },
            },
        },
        "responses": {
            "200": {
                "description": f"The answers; with format={REPORT} also where no table could be read",
                "content": {"application/json": {"examples": {REPORT: {"value": REPORT_EXAMPLE}}}},
            },
            "207": {
                "description": "Answers, and files that could not be read: header Aegir-Failures"
            },
            **_refusals(),
        },
    }


def _document_schema() -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {
            "name": {"type": "string"},
            "rows": {"type": "array", "items": {"type": "object"}},
            "columns": {"type": "object", "additionalProperties": {"type": "array"}},
        },
        "oneOf": [{"required": ["rows"]}, {"required": ["columns"]}],
        "additionalProperties": False,
    }


def _teach() -> dict[str, Any]:
    return {
        "operationId": "teach",
        "summary": "Teach a type from columns of the files; the answers of aegir types learn",
        "requestBody": {
            "required": True,
            "content": {
                "multipart/form-data": {
                    "schema": {
                        "type": "object",
                        "required": ["type"],
                        "properties": {
                            "file": {
                                "type": "array",
                                "items": {"type": "string", "format": "binary"},
                            },
                            "type": {"type": "string", "examples": [TYPE_EXAMPLE]},
                        },
                    }
                }
            },
        },
        "responses": {
            "200": {"description": "The type is kept; its report"},
            "409": {"description": "The type is not kept, because it would take columns of others"},
            **_refusals(),
        },
    }


def _feedback() -> dict[str, Any]:
    files = {"type": "array", "items": {"type": "string", "format": "binary"}}
    corrections = {"type": "string", "examples": [CORRECTIONS_EXAMPLE]}
    return {
        "operationId": "feedback",
        "summary": "Remember what columns are: those of the files sent along, or those of a logged run",
        "requestBody": {
            "required": True,
            "content": {
                "multipart/form-data": {
                    "schema": {
                        "type": "object",
                        "required": ["corrections"],
                        "properties": {
                            "file": files,
                            "corrections": corrections,
                            "by": {"type": "string"},
                        },
                    }
                },
                "application/json": {"example": FEEDBACK_EXAMPLE},
            },
        },
        "responses": {
            "200": {"description": "Recorded, and on the disk"},
            **_refusals(),
        },
    }


def _get(
    operation: str, summary: str, example: object = None, *, name: str | None = None
) -> dict[str, Any]:
    content: dict[str, Any] = {} if example is None else {"example": example}
    described: dict[str, Any] = {
        "operationId": operation,
        "summary": summary,
        "responses": {
            "200": {"description": summary, "content": {"application/json": content}},
            **_refusals("400", "401", "429"),
        },
    }
    if name is not None:
        described["responses"]["404"] = {"description": "There is none of this name"}
        schema = {"type": "string"}
        described["parameters"] = [
            {"name": "name", "in": "path", "required": True, "schema": schema, "example": name}
        ]
    return described


def _metrics() -> dict[str, Any]:
    text = {"text/plain": {"example": "aegir_service_workers 2\n"}}
    return {
        "operationId": "metrics",
        "summary": "Figures in the text format of Prometheus",
        "responses": {"200": {"description": "The figures", "content": text}},
    }


def _refusals(*only: str) -> dict[str, Any]:
    schema = {"$ref": "#/components/schemas/Error"}
    content = {"application/json": {"schema": schema, "example": ERROR_EXAMPLE}}
    return {
        status: {"description": meaning, "content": content}
        for status, meaning in REFUSALS.items()
        if not only or status in only
    }
