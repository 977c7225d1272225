"""Text to tables: JSON when it reads as JSON, delimited text otherwise."""

from collections.abc import Iterator

from aegir.errors import UnreadableTable
from aegir.tables.byte_stream import ByteSample
from aegir.tables.delimited import read_delimited
from aegir.tables.sampling import Request
from aegir.tables.table import Table
from aegir.tables.text_decoding import decode_sample

JSON_SUFFIXES = (".json", ".jsonl", ".ndjson", ".geojson")


def read_text(sample: ByteSample, request: Request) -> Iterator[Table]:
    """The table in a sample of text; empty content is refused with a sentence."""
    if not sample.head:
        raise UnreadableTable(_empty(request, sample, "is empty"))
    text = decode_sample(sample, request.label, lines=False)
    beginning = text.head[:1000].lstrip()
    if not text.head.strip():
        raise UnreadableTable(_empty(request, sample, "holds only blanks"))
    if beginning.startswith(("{", "[")):
        from aegir.tables.json_documents import (
            looks_like_lines,
            read_json_document,
            read_json_lines,
        )

        if looks_like_lines(text.head):
            yield read_json_lines(decode_sample(sample, request.label), request)
            return
        try:
            table = read_json_document(text, request)
        except UnreadableTable:
            if _is_named_json(request):
                raise
        else:
            yield table
            return
    yield read_delimited(decode_sample(sample, request.label), request)


def _is_named_json(request: Request) -> bool:
    return any(suffix in request.file_name.lower() for suffix in JSON_SUFFIXES)


def _empty(request: Request, sample: ByteSample, what: str) -> str:
    reason = f" ({sample.warnings[0]})" if sample.warnings else ""
    return f"{request.label} {what}{reason}; expected a table"
