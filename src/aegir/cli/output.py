"""Write annotations to stdout or to a file, table by table or as one document.

JSON lines, CSV and the readable report are written table by table; the other formats are one document, written
when all tables are annotated.

A file is replaced when its new content is complete (aegir_rl/base/files.py). Until then it keeps its old content: a run that is
interrupted (Ctrl-C) or terminated (SIGTERM, SIGHUP) leaves the answers so far beside it, in a file that it names.
"""

import io
import os
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TextIO

from aegir.answers.annotation import TableAnnotation
from aegir.answers.text_report import render_text
from aegir.answers.writers import FORMATS
from aegir.cli.terminal import tell
from aegir_rl.base.files import replacing
from aegir_rl.base.text import amount

STREAMED = ("text", "jsonl", "csv")


def write_annotations(
    annotations: Iterable[TableAnnotation],
    format_name: str,
    out: Path | None,
    *,
    why: bool = False,
) -> None:
    """Write all annotations in one format to stdout or to a file; `why` asks the report for all reasons."""
    if out is None:
        stdout = _stdout(format_name)
        for text in _render(annotations, format_name, colour=_wants_colour(stdout), why=why):
            stdout.write(text)
            stdout.flush()
        return
    with replacing(out) as new:
        tables = 0
        try:
            for text in _render(annotations, format_name, colour=False, why=why):
                new.write(text.encode())
                tables += 1
        except (KeyboardInterrupt, SystemExit):
            if tables and (kept := new.keep()):
                tell(
                    f"{out} is as it was; the answers so far ({amount(tables, 'table')}) are in {kept}"
                )
            raise


def _render(
    annotations: Iterable[TableAnnotation], format_name: str, *, colour: bool, why: bool
) -> Iterator[str]:
    """The output in pieces: one per table where the format allows it."""
    if format_name not in STREAMED:
        yield FORMATS[format_name](list(annotations))
        return
    for number, annotation in enumerate(annotations):
        if format_name == "text":
            yield ("\n" if number else "") + render_text([annotation], colour=colour, why=why)
        else:
            text = FORMATS[format_name]([annotation])
            yield text.split("\n", 1)[1] if format_name == "csv" and number else text


def _stdout(format_name: str) -> TextIO:
    """Standard output; data is UTF-8 whatever the terminal's own encoding."""
    if format_name != "text" and isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8")
    return sys.stdout


def _wants_colour(stream: TextIO) -> bool:
    return stream.isatty() and "NO_COLOR" not in os.environ
