"""`aegir mask FILE --out COPY`: the same table with its personal columns masked; the report goes to stdout."""

import json
import os
from pathlib import Path
from typing import Any

import click

from aegir.cli.options import PathName, settings_from, verb_options
from aegir.cli.terminal import say, tell
from aegir.masking.masking import check_apart, read_policy
from aegir.masking.masking import mask as mask_file
from aegir_rl.base.errors import UsageError

KEY = "AEGIR_MASK_KEY"
WORTH_A_BAR = 32 << 20


@click.command(epilog="Example: aegir mask customers.csv --out masked.csv --key-file mask.key")
@click.argument("file", type=PathName())
@verb_options("mask", "mask policy", "mask report")
@verb_options("rows", "seed", "reading", "annotator", "effort", "custom", "memory", "no_memory")
def mask(
    file: Path,
    out: Path,
    mask_policy: Path | None,
    key_file: Path | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Write a table again with its personal columns redacted, tokenised, shifted or generalised.

    FILE is CSV or the like, JSON lines, a list of JSON objects, or Parquet; the copy has the same format. What happens to a column
    depends on its personal level and kind, by a policy: docs/masking.md.
    """
    for read, what in ((key_file, "the key"), (mask_policy, "the mask policy")):
        if read is not None:
            check_apart(out, read, what)
    key = read_key(key_file)
    policy = read_policy(mask_policy)
    with _Progress(file) as progress:
        report = mask_file(
            file,
            out,
            policy=policy,
            key=key,
            settings=settings_from(options),
            watch=progress.show,
            say=tell,
        )
    if key is None:
        tell(
            f"a random key was used: tokens and shifts of {out} fit no other file; give --key-file to join files"
        )
    if as_json:
        click.echo(json.dumps(report.as_dict(), ensure_ascii=False))
    else:
        say(*str(report).split("\n"))


def read_key(file: Path | None) -> bytes | None:
    """The key in a file, else that of the environment."""
    if file is None:
        return os.fsencode(os.environ[KEY]) if os.environ.get(KEY) else None
    try:
        return file.read_bytes()
    except OSError as error:
        raise UsageError(
            f"the key {file} cannot be read ({error.strerror}); make one with: openssl rand -hex 32 > {file}"
        ) from None


class _Progress:
    """A bar for a large file; nothing is loaded or printed for a small one."""

    def __init__(self, file: Path) -> None:
        self._large = file.is_file() and file.stat().st_size >= WORTH_A_BAR
        self._line: Any = None

    def __enter__(self) -> "_Progress":
        return self

    def __exit__(self, *_: object) -> None:
        if self._line is not None:
            self._line.close()

    def show(self, done: int, total: int) -> None:
        """Show how much was masked and checked."""
        if not self._large:
            return
        if self._line is None:
            from aegir.cli.progress import ProgressLine

            self._line = ProgressLine("masking and checking", 100)
        self._line.show(min(99, 100 * done // total), "%")
