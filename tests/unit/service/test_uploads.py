"""Receiving a body: forms in any pieces, slow senders, and limits."""

import asyncio
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from starlette.requests import Request

from aegir.service.limits import Refused, RequestLimits
from aegir.service.uploads import Upload, receive

BODY = (
    b"--edge\r\n"
    b'Content-Disposition: form-data; name="by"\r\n\r\nada\r\n'
    b"--edge\r\n"
    b'Content-Disposition: form-data; name="file"; filename="a.csv"\r\nContent-Type: text/csv\r\n\r\n'
    b"id,name\r\n1,--edg\r\n\r\n"
    b"--edge\r\n"
    b'Content-Disposition: form-data; name="file"; filename="empty.csv"\r\n\r\n\r\n'
    b"--edge--\r\n"
)


def request(pieces: Sequence[bytes], *, wait: float = 0.0, kind: str = "") -> Request:
    """A request whose body comes in these pieces, with a pause before each."""
    left = list(pieces)

    async def next_piece() -> dict[str, object]:
        await asyncio.sleep(wait)
        piece = left.pop(0)
        return {"type": "http.request", "body": piece, "more_body": bool(left)}

    headers = [(b"content-type", (kind or "multipart/form-data; boundary=edge").encode())]
    return Request({"type": "http", "method": "POST", "headers": headers}, next_piece)


def received(given: Request, folder: Path, limits: RequestLimits | None = None) -> Upload:
    return asyncio.run(receive(given, folder, limits or RequestLimits(), fields=("by",)))


@settings(max_examples=40)
@given(cuts=st.lists(st.integers(0, len(BODY)), max_size=6))
def test_a_form_is_the_same_however_it_is_cut(
    tmp_path_factory: pytest.TempPathFactory, cuts: list[int]
):
    folder = tmp_path_factory.mktemp("form")
    edges = [0, *sorted(cuts), len(BODY)]
    pieces = [BODY[start:end] for start, end in pairwise(edges)]
    upload = received(request(pieces), folder)
    assert upload.files == ["a.csv", "empty.csv"]
    assert upload.fields == {"by": "ada"}
    assert (folder / "a.csv").read_bytes() == b"id,name\r\n1,--edg\r\n"
    assert (folder / "empty.csv").read_bytes() == b""


def test_a_slow_sender_is_refused(tmp_path: Path):
    slow = request([BODY[:50], BODY[50:]], wait=0.05)
    with pytest.raises(Refused, match=r"did not arrive within 0.06 seconds") as refused:
        received(slow, tmp_path, RequestLimits(upload_seconds=0.06))
    assert refused.value.status == 408


def test_a_sender_that_trickles_is_refused_before_the_time_for_all_is_over(tmp_path: Path):
    slow = request([bytes([byte]) for byte in BODY], wait=0.01)
    with pytest.raises(Refused, match="arrives at less than 1,024 bytes a second") as refused:
        received(slow, tmp_path, RequestLimits(header_seconds=0.1, upload_seconds=1e6))
    assert refused.value.status == 408


def test_a_form_that_ends_early_is_refused(tmp_path: Path):
    with pytest.raises(Refused, match="breaks off before its end"):
        received(request([BODY[:-12]]), tmp_path)


def test_a_file_is_refused_while_it_is_received(tmp_path: Path):
    large = BODY.replace(b"1,--edg", b"1," + b"x" * 5000)
    with pytest.raises(Refused, match="larger than 2,000 bytes") as refused:
        received(request([large]), tmp_path, RequestLimits(upload_bytes=2000))
    assert refused.value.status == 413


def test_a_name_that_is_no_text_is_refused(tmp_path: Path):
    for name in (b"\xff\xfe.csv", b"a\tb.csv", b"", b"."):
        with pytest.raises(Refused) as refused:
            received(request([BODY.replace(b"a.csv", name)]), tmp_path)
        assert refused.value.status == 400
