"""Files and folders that a verb writes, as options: what cannot be written is refused before any work begins.

    output           a file, - or nothing for stdout           review export --out reviews.jsonl
    output-lines     a file, or - for stdout                    rl export --output log.jsonl
    output-file      a file; - is refused                       train ngrams --out ngrams.safetensors
    output-folder    a folder, which need not exist             train parl --out runs/parl
    output-path      a file or a folder                         train export --out swarm/

Folders that are missing are made when the file is written (aegir_rl.base.files), so that what is refused for another reason leaves none.
Here is checked that they can be made: the nearest folder that exists can be written to, and nothing on the way is a file.
"""

import os
from pathlib import Path
from typing import Any

import click

STDOUT = Path("/dev/stdout")


class OutputPath(click.ParamType):  # type: ignore[type-arg]
    """A path to write to."""

    name = "path"

    def __init__(
        self, *, file: bool = True, folder: bool = False, dash: Path | str | None = ""
    ) -> None:
        """`dash` is what - stands for; empty where it is refused."""
        self.name = "file" if not folder else "path" if file else "directory"
        self.file, self.folder, self.dash = file, folder, dash

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> Path | None:
        text = os.fspath(value)
        if text == "":
            self.fail("the name is empty.", param, ctx)
        if text == "-" and not isinstance(self.dash, str):
            return self.dash
        if text == "-":
            self.fail(
                "- stands for stdout, which does not take this; name a file, or ./-", param, ctx
            )
        path = Path(text)
        if problem := self._find_problem(path):
            self.fail(f"{text!r} cannot be written ({problem}).", param, ctx)
        return path

    def _find_problem(self, path: Path) -> str | None:
        """What keeps a path from being written; None for nothing that can be seen now."""
        if "\0" in str(path):
            return "it has a NUL character"
        try:
            if path.exists():
                if path.is_dir() and not self.folder:
                    return "it is a folder; name a file"
                if not path.is_dir() and not self.file:
                    return "it is a file; name a folder"
                return None if os.access(path, os.W_OK) else "permission denied"
            nearest = next(each for each in path.absolute().parents if os.path.lexists(each))
            if not nearest.is_dir():
                return f"{nearest} is no folder"
            writable = os.access(nearest, os.W_OK | os.X_OK)
            return None if writable else f"no permission to write into {nearest}"
        except OSError as error:  # a name that is too long
            return error.strerror or str(error)
