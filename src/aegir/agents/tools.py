"""What an agent may ask for: annotate, explain, mask, types, diff, sample; each returns JSON values.

    tools = AgentTools(ReadableFolders([Path("lake")]), settings, policy, key)
    tools.annotate("customers.csv")        tools.sample("customers.csv", rows=5)

Promises
  - only files below the folders are read (folders.py), and no masked value is returned (masked_table.py);
  - only `mask` writes: a new file, in the folder that was named for it, and nothing where none was;
  - answers are bounded, and say what was left out;
  - what is refused raises `AegirError` with one sentence.

The docstrings of the tools are what a language model reads. Calls are worked on one after the other.
"""

import json
import os
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from threading import RLock
from typing import Any

from aegir.agents.folders import ReadableFolders
from aegir.agents.masked_table import MaskedTable
from aegir.answers.difference_report import render_differences
from aegir.answers.differences import ComparedAnswer, compare
from aegir.answers.earlier_output import answer_format
from aegir.masking.masking import Say, mask
from aegir.masking.policy import MaskPolicy
from aegir.pipeline.compared import annotate_side, read_answers
from aegir.pipeline.custom_types.store import load_types, types_folder
from aegir.pipeline.run import Answered, Failure, Prepared, annotate_linked, prepare
from aegir.pipeline.settings import AnnotationSettings
from aegir.pipeline.type_catalogue import Entry, entry_as_dict, lies_in, list_entries
from aegir.vocabulary.hierarchy import meanings_of, places_of
from aegir.vocabulary.terms import Kind, Relation
from aegir_rl.base.errors import UsageError

MOST_FILES = 50
"""Files of a folder that one call annotates."""
MOST_COLUMNS = 1_000
"""Columns after which one call answers no further table."""
MOST_ROWS = 100


class AgentTools:
    """The six tools, over the folders that may be read."""

    def __init__(
        self,
        folders: ReadableFolders,
        settings: AnnotationSettings,
        policy: MaskPolicy,
        key: bytes,
        *,
        write: Path | None = None,
        say: Say,
    ) -> None:
        """`write` is the folder for masked copies; `say` is called with sentences for whoever started the server."""
        if write is not None and not write.is_dir():
            raise UsageError(f"there is no folder {write}; make it, or leave --write out")
        self.folders, self._settings, self._policy, self._key = folders, settings, policy, key
        self._write = None if write is None else Path(os.path.realpath(write))
        self._say = say
        self._lock = RLock()

    @cached_property
    def prepared(self) -> Prepared:
        """The annotator, loaded on first use."""
        return prepare(self._settings, say=self._say)

    def warm_up(self) -> None:
        """Load the annotator before the first call needs it."""
        with self._lock:
            _ = self.prepared

    def annotate(self, path: str) -> dict[str, Any]:
        """Say what every column of the tables in a file or folder is: label, confidence, type, relation, personal level, and what the rows are.

        Call this first, for a file or a whole folder; "." is the first folder that may be read. `masked` says what is done with a column's
        values when rows are sampled; null means that they are shown as they are.
        """
        with self._lock:
            notes: list[str] = []
            tables: list[dict[str, object]] = []
            failures: list[dict[str, str]] = []
            for each in self._answers(self._files(path, notes), notes):
                if isinstance(each.answer, Failure):
                    failures.append({"file": each.answer.source, "reason": each.answer.reason})
                else:
                    tables.append(self._masked(each).verdicts())
            return {"tables": tables, "failures": failures, "notes": notes}

    def explain(
        self, path: str, column: str | None = None, table: str | None = None
    ) -> dict[str, Any]:
        """Give the reasons, runners-up, statistics and masking of the columns of one table, or of one column.

        `column` is its name, or its number from 1 as #3. `table` chooses one of a file with several tables, by its name.
        """
        with self._lock:
            return self._one_table(path, table).explain(column)

    def sample(self, path: str, rows: int = 10, table: str | None = None) -> dict[str, Any]:
        """Show rows of one table, at most 100, with personal columns masked: their shape without the people in it.

        `masked` names the masked columns with what was done and why. `table` chooses one of a file with several tables, by its name.
        """
        if not 1 <= rows <= MOST_ROWS:
            raise UsageError(f"rows is {rows}; ask for 1 to {MOST_ROWS}")
        with self._lock:
            return self._one_table(path, table).sample(rows)

    def mask(self, path: str, out: str) -> dict[str, Any]:
        """Write a copy of a whole file with its personal columns masked, and report what was done with each column.

        The file is CSV or the like, JSON lines, a list of JSON objects, or Parquet. `out` is the name of a new file; it is written into the
        folder that the server was started with.
        """
        with self._lock:
            source, target = self.folders.find(path), self._target(out)
            report = mask(
                source,
                target,
                policy=self._policy,
                key=self._key,
                settings=self._settings,
                say=self._say,
            )
            return report.as_dict()

    def types(self, name: str | None = None, under: str | None = None) -> dict[str, Any]:
        """Explain a name that answers use (a label, type or relation), or list the names below a kind such as money.

        Without arguments the kinds are listed.
        """
        taught = load_types(types_folder(), self._say)
        found: list[Entry]
        if name is not None:
            found = [each for each in taught if each.name == name] or list(meanings_of(name))
        elif under is not None:
            places = places_of(under)
            found = [each for each in list_entries(taught) if lies_in(places, each)]
        else:
            found = [each for each in list_entries(taught) if isinstance(each, Kind)]
        return {"types": [entry_as_dict(each) for each in found]}

    def diff(self, old: str, new: str) -> dict[str, Any]:
        """Compare two versions of tables: columns that were added, removed or renamed, changed type or became personal.

        Both are files or folders; an answer that `aegir annotate --format jsonl` wrote stands for its tables.
        """
        with self._lock:
            sides = [self._side(each) for each in (old, new)]
            report: dict[str, Any] = json.loads(render_differences(compare(*sides), "json"))
            return report

    def vocabulary(self) -> str:
        """Return every kind, type, fine type and relation with its definition, and the types that the user taught, as JSON."""
        taught = load_types(types_folder(), self._say)
        return json.dumps([_short(each) for each in list_entries(taught)], ensure_ascii=False)

    def _files(self, path: str, notes: list[str]) -> list[Path]:
        """The files of a path, up to MOST_FILES; the rest is noted."""
        files = self.folders.find_tables(path, notes.append)
        if len(files) > MOST_FILES:
            notes.append(
                f"only the first {MOST_FILES} of {len(files):,} files are annotated; name a folder below, or a file: "
                f"the next is {files[MOST_FILES]}"
            )
        return files[:MOST_FILES]

    def _answers(self, files: list[Path], notes: list[str]) -> Iterator[Answered]:
        """The answers to tables of these files, up to MOST_COLUMNS columns; the rest is noted."""
        columns = 0
        for each in annotate_linked(files, self.prepared):
            if columns >= MOST_COLUMNS:
                notes.append(
                    f"tables after the first {columns:,} columns are left out, from {files[each.source]} on; name a file"
                )
                return
            if not isinstance(each.answer, Failure):
                columns += len(each.answer.columns)
            yield each

    def _masked(self, answered: Answered) -> MaskedTable:
        return MaskedTable(answered, self._policy, self._key)

    def _one_table(self, path: str, name: str | None) -> MaskedTable:
        """The table of a file, or the one of this name."""
        place = self.folders.find(path)
        if place.is_dir() and self.folders.find_tables(path, self._say) != [place]:
            raise UsageError(f"{path} is a folder; name a file in it (annotate lists them)")
        answers = list(annotate_linked([place], self.prepared))
        for each in answers:
            if isinstance(each.answer, Failure):
                raise each.answer.kind(each.answer.reason)
        tables = {
            each.answer.table: each for each in answers if not isinstance(each.answer, Failure)
        }
        chosen = [each for each in tables if name in (None, each, each.partition("#")[2])]
        if len(chosen) == 1:
            return self._masked(tables[chosen[0]])
        came = f"no table {name!r}" if name is not None else f"{len(tables):,} tables"
        listed = ", ".join(list(tables)[:20])
        raise UsageError(f"{path} has {came}; give one as `table`: {listed}")

    def _target(self, out: str) -> Path:
        """The file for a masked copy; raise unless it is a new one in the folder for them."""
        if self._write is None:
            raise UsageError(
                "nothing may be written; whoever starts the server can name a folder: aegir mcp … --write FOLDER"
            )
        if not out or Path(out).name != out or out.startswith(".") or "\0" in out:
            raise UsageError(
                f"{out!r} is no plain name of a file; copies are written into {self._write}"
            )
        target = self._write / out
        if os.path.lexists(target):
            raise UsageError(f"{target} exists already; give another name")
        return target

    def _side(self, path: str) -> list[ComparedAnswer]:
        place = self.folders.find(path)
        if not place.is_dir() and answer_format(place):
            return read_answers(place)
        return list(annotate_side(self.folders.find_tables(path, self._say), self.prepared))


def _short(entry: Entry) -> dict[str, object]:
    shown = entry_as_dict(entry)
    names = ("name", "level", "definition", "personal_level")
    more = ("domain",) if isinstance(entry, Relation) else ("tree",)
    return {name: shown[name] for name in (*names, *more) if shown.get(name)}
