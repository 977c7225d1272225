"""The tables in a folder or behind a pattern: without answers that were written there, and with a word about all that is left out.

find_tables_among("lake", say)     lake/annotations.jsonl is an earlier answer (jsonl); it is not annotated
                                   2 files in lake are not read, because of their suffixes: .docx, .log
"""

from collections.abc import Callable
from pathlib import Path

from aegir.answers.earlier_output import answer_format
from aegir.tables.dataset_folders import dataset_root
from aegir.tables.formats import find_table_files
from aegir_rl.base.errors import UsageError
from aegir_rl.base.text import amount

WRITTEN_SUFFIXES = (".html", ".md", ".sql", ".yaml", ".yml", ".sarif")
"""Of files that answers are written to and tables are not."""
NAMED = 5


def find_tables_among(source: str | Path, say: Callable[[str], None]) -> list[Path]:
    """Return the files that a folder or pattern leads to but for earlier answers; raise `UsageError` if none is left."""
    skipped: list[Path] = []
    files = find_table_files([source], skipped.append)
    answers = {path: form for path in files if (form := answer_format(path))}
    for path in skipped:
        if path.suffix.lower() in WRITTEN_SUFFIXES and (form := answer_format(path)):
            answers[path] = form
    _tell(answers, say)
    others = [path for path in skipped if path not in answers]
    if others:
        kinds = sorted({path.suffix.lower() or "none" for path in others})
        shown = ", ".join(kinds[:NAMED]) + ("…" if len(kinds) > NAMED else "")
        verb = "is" if len(others) == 1 else "are"
        say(
            f"{amount(len(others), 'file')} in {source} {verb} not read, because of their suffixes: {shown}; "
            "name a file to read it whatever its suffix"
        )
    if files and not (kept := [path for path in files if path not in answers]):
        raise UsageError(f"{source} holds nothing but earlier answers; name a file to annotate it")
    return _with_datasets(Path(source), kept) if files else []


def _with_datasets(source: Path, files: list[Path]) -> list[Path]:
    """The files, with the folders of data sets (tables/datasets.py) in place of theirs."""
    if not source.is_dir():
        return files
    places = {dataset_root(file, source) or file: None for file in files}
    return list(places)


def _tell(answers: dict[Path, str], say: Callable[[str], None]) -> None:
    for path, form in list(answers.items())[:NAMED]:
        say(f"{path} is an earlier answer ({form}); it is not annotated")
    if len(answers) > NAMED:
        say(
            f"{amount(len(answers) - NAMED, 'more file')} hold earlier answers; they are not annotated"
        )
