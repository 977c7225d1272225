"""Where answers go: stdout or a file, whole or as they come.

JSON lines, CSV and the readable report are written table by table, so an interrupted run keeps what it had
said; the other formats are one document, written to a temporary file and moved into place when complete.
"""

import io
import os
import sys
import uuid
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import TextIO

from aegir.answers.annotation import TableAnnotation
from aegir.answers.writers import FORMATS, render_text
from aegir.errors import UsageError

STREAMED = ("text", "jsonl", "csv")


def write_annotations(
    annotations: Iterable[TableAnnotation], format_name: str, out: Path | None
) -> None:
    """Write all annotations in one format to stdout or to a file."""
    if format_name in STREAMED:
        _stream(annotations, format_name, out)
    elif out is None:
        _say(_stdout(format_name), FORMATS[format_name](list(annotations)))
    else:
        _replace(out, FORMATS[format_name](list(annotations)))


def _stream(annotations: Iterable[TableAnnotation], format_name: str, out: Path | None) -> None:
    if out is None:
        stdout = _stdout(format_name)
        render = _renderer(format_name, colour=_wants_colour(stdout))
        for number, annotation in enumerate(annotations):
            _say(stdout, render(annotation, number == 0))
        return
    render = _renderer(format_name, colour=False)
    try:
        with out.open("w", encoding="utf-8", newline="") as file:
            for number, annotation in enumerate(annotations):
                _say(file, render(annotation, number == 0))
    except OSError as error:
        raise UsageError(f"cannot write {out}: {error.strerror}") from None


def _renderer(format_name: str, *, colour: bool) -> Callable[[TableAnnotation, bool], str]:
    def render(annotation: TableAnnotation, first: bool) -> str:
        if format_name == "text":
            return ("" if first else "\n") + render_text([annotation], colour=colour)
        text = FORMATS[format_name]([annotation])
        return text if first or format_name != "csv" else text.split("\n", 1)[1]

    return render


def _stdout(format_name: str) -> TextIO:
    """Standard output; data is UTF-8 whatever the terminal's own encoding."""
    if format_name != "text" and isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8")
    return sys.stdout


def _wants_colour(stream: TextIO) -> bool:
    return stream.isatty() and "NO_COLOR" not in os.environ


def _say(stream: TextIO, text: str) -> None:
    stream.write(text)
    stream.flush()


def _replace(out: Path, text: str) -> None:
    """Write beside the target, then move into place: readers see the old file or the whole new one."""
    partial = out.with_name(f".{out.name}.{uuid.uuid4().hex}.partial")
    # A link, a pipe or a device such as /dev/null is written through, never replaced.
    through = out.is_symlink() or (out.exists() and not out.is_file())
    try:
        (out if through else partial).write_text(text, encoding="utf-8", newline="")
        if not through:
            partial.replace(out)
    except OSError as error:
        raise UsageError(f"cannot write {out}: {error.strerror}") from None
    finally:
        with suppress(OSError):
            partial.unlink(missing_ok=True)
