"""`aegir.mask` and `aegir mask`: annotate a sample, plan, rewrite the whole file, read it back, put it in place.

    report = mask("customers.csv", "masked.csv", key=Path("mask.key").read_bytes())
    print(report)

    file ── sample ──▶ answer ──▶ plan (plan.py) ─┐
         ── every row ──▶ rows.py, by the plan ───┴──▶ hidden file ── read back ──▶ out

Promises
  - the result gets its name when it is complete and checked; what ends the run before (Ctrl-C, a full disk) leaves nothing;
  - the same file, policy and key give the same bytes;
  - memory does not depend on the size of CSV, JSON lines and Parquet files;
  - format, encoding, dialect, headers and the order of columns stay.

Limits: what a column is comes from the sample. CSV and the like, JSON lines, lists of JSON objects and Parquet are
rewritten; other formats are refused.
"""

import os
import secrets
import warnings
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from aegir.masking.actions import LEAST_KEY
from aegir.masking.checking import Check, check_rows
from aegir.masking.plan import MaskPlan, plan_masking
from aegir.masking.policy import MaskPolicy, load_policy
from aegir.masking.report import MaskReport, build_report
from aegir.masking.rows import RowMasker
from aegir.masking.text_streams import TextFile, open_text
from aegir.pipeline.custom_types.store import load_types, types_folder
from aegir.pipeline.run import Answered, Failure, Prepared, annotate_sources, prepare
from aegir.pipeline.settings import AnnotationSettings
from aegir.tables.formats import MAGIC_LENGTH, Format, recognise
from aegir.tables.json_documents import looks_like_lines
from aegir.tables.overrides import Overrides
from aegir_rl.base.errors import CheckFailed, UnreadableTable, UsageError
from aegir_rl.base.files import NewContent, replacing

LINES_SUFFIXES = (".jsonl", ".ndjson")
Watch = Callable[[int, int], None]
"""Called now and then with how much of how much is done."""
Say = Callable[[str], None]


def mask(
    source: str | Path,
    out: str | Path,
    *,
    policy: str | Path | MaskPolicy | None = None,
    key: bytes | None = None,
    settings: AnnotationSettings | None = None,
    watch: Watch = lambda _done, _total: None,
    say: Say = warnings.warn,
    **changes: Any,
) -> MaskReport:
    """Write `source` to `out` with its personal columns masked, and report what was done to each column.

    `policy` is a TOML file (docs/masking.md); with the same `key`, of at least 16 bytes, equal values have equal tokens in all files;
    line ends after it do not count, so the bytes of a file are the key that --key-file reads; without one a random key is used. How the table is annotated is said by `settings` or its fields as keywords. `say` is called
    with a sentence for each taught type that cannot be used.
    """
    path, target = Path(source), Path(out)
    _check_paths(path, target)
    if isinstance(policy, str | Path):
        check_apart(target, policy, "the mask policy")
    key = check_key(key)
    chosen = policy if isinstance(policy, MaskPolicy) else read_policy(policy)
    annotating = (settings or AnnotationSettings()).changed(**changes)
    if isinstance(annotating.memory, str | Path):
        check_apart(target, annotating.memory, "the memory")
    format_, answered = _annotate(path, prepare(annotating, say=say))
    plan = _plan(answered, chosen)
    with replacing(target) as new:
        if new.partial is None:
            raise UsageError(f"{target} is a pipe or a device; masking needs a regular file")
        key_used = key or secrets.token_bytes(32)
        work = _Work(path, format_, plan, chosen, key_used, new, watch, annotating.overrides)
        notes = work.rewrite()
        check = check_rows(work.read_back(), work.masker.originals, work.masker.plan.columns)
        _raise_if_found(path, work.masker, check)
    return build_report(
        path, target, work.format_name, work.masker, check, [*plan.notes, *notes], random_key=key is None
    )  # fmt: skip


def read_policy(path: str | Path | None) -> MaskPolicy:
    """Read a policy, or the one that ships; types that the user taught may be named in it."""
    if path is None:
        return load_policy(None)
    taught = [each.name for each in load_types(types_folder(), say=lambda _: None)]
    return load_policy(Path(path), taught)


def _check_paths(source: Path, out: Path) -> None:
    if str(source) == "-":
        raise UsageError("standard input cannot be masked: it is read twice; write it to a file")
    if not source.exists():
        raise UsageError(f"there is no file {source}")
    if source.is_dir():
        raise UsageError(f"{source} is a folder; mask its files one by one")
    if not source.is_file():
        raise UsageError(f"{source} is a pipe or a device; masking reads twice, so give a file")
    if out.is_dir():
        raise UsageError(f"--out {out} is a folder; give the name of a file in it")
    check_apart(out, source, "the table itself")


def check_apart(out: Path, read: str | Path, what: str) -> None:
    """Refuse an output that is a file which is read, by whatever path or link it is named.

    Folders on the way that are not there yet count as if they were made, since writing makes them.
    """
    written, other = (Path(os.path.realpath(path)) for path in (out, read))
    both = written.exists() and other.exists()
    if written == other or (both and written.samefile(other)):
        raise UsageError(f"--out {out} is {what}; give another name")


def check_key(key: bytes | None) -> bytes | None:
    """Return a key as it counts, without the line ends with which files of keys end; raise for a short one."""
    if key is None:
        return None
    key = key.rstrip(b"\r\n")
    if len(key) < LEAST_KEY:
        raise UsageError(
            f"the key has {len(key)} bytes; expected at least {LEAST_KEY}, such as `openssl rand -hex 32` writes"
        )
    return key


def _annotate(path: Path, prepared: Prepared) -> tuple[Format, Answered]:
    """The format of a file, and the answer to its table; refuse what cannot be rewritten."""
    try:
        with path.open("rb") as file:
            format_ = recognise(file.read(MAGIC_LENGTH), str(path))
    except OSError as error:
        raise UnreadableTable(f"{path} cannot be read ({error.strerror})") from None
    if format_ not in (Format.TEXT, Format.PARQUET):
        what = "zip archive or workbook" if format_ is Format.ZIP else f"{format_} file"
        raise UsageError(
            f"{path} is a {what}; `aegir mask` rewrites CSV, TSV, JSON lines, lists of JSON objects and Parquet: convert or unpack it first"
        )
    answers = list(annotate_sources([path], prepared))
    first = answers[0]
    if isinstance(first.answer, Failure):
        raise first.answer.kind(first.answer.reason)
    return format_, first


def _plan(answered: Answered, policy: MaskPolicy) -> MaskPlan:
    table, answer = answered.table, answered.answer
    assert table is not None, "failures were raised"
    assert not isinstance(answer, Failure), "failures were raised"
    return plan_masking(table, answer, answered.personal, policy)


class _Work:
    """One file on its way to its masked copy."""

    def __init__(
        self,
        path: Path,
        format_: Format,
        plan: MaskPlan,
        policy: MaskPolicy,
        key: bytes,
        new: NewContent,
        watch: Watch,
        overrides: Overrides,
    ) -> None:
        self.path, self.new = path, new
        self._size, self._watch = path.stat().st_size, watch
        assert new.partial is not None, "refused before"
        self._partial = new.partial
        if format_ is Format.PARQUET:
            from aegir.masking.parquet_files import fit_plan

            self.format_name = "Parquet"
            self.masker = RowMasker(fit_plan(path, plan), policy, key)
            return
        self.masker = RowMasker(plan, policy, key)
        self._file, sample = open_text(path, overrides.encoding)
        self._file.encode(policy.redacted)
        start = sample.head.lstrip()[:1]
        is_lines = looks_like_lines(sample.head) or path.name.lower().endswith(LINES_SUFFIXES)
        if not overrides.delimited and start == "{" and is_lines:
            self.format_name = "JSON lines"
        elif not overrides.delimited and start in ("{", "["):
            self.format_name = "JSON"
        else:
            from aegir.masking.delimited_files import find_structure

            self.format_name = "delimited text"
            self._structure = find_structure(sample, overrides)
            if self._structure.columns != len(plan.columns):
                raise UnreadableTable(
                    f"{path} has {self._structure.columns} columns for rewriting but {len(plan.columns)} for reading; convert it to plain CSV first"
                )

    def rewrite(self) -> list[str]:
        """Write the masked content to the hidden file; return notes."""
        if self.format_name == "Parquet":
            from aegir.masking.parquet_files import rewrite_parquet

            return rewrite_parquet(self.path, self._partial, self.masker, self._progress)
        if self.format_name == "JSON lines":
            from aegir.masking.json_files import rewrite_lines

            return rewrite_lines(self._file, self.masker, self.new.write, self._progress)
        if self.format_name == "JSON":
            from aegir.masking.json_files import rewrite_list

            return rewrite_list(self._file, self.masker, self.new.write)
        from aegir.masking.delimited_files import rewrite_delimited

        return rewrite_delimited(
            self._file, self._structure, self.masker, self.new.write, self._progress
        )

    def _progress(self, done: int) -> None:
        self._watch(done, 2 * self._size)

    def _check_progress(self, done: int) -> None:
        written = max(1, self._partial.stat().st_size)
        self._watch(self._size + done * self._size // written, 2 * self._size)

    def read_back(self) -> Iterable[Sequence[tuple[int, str]]]:
        """The rows of the hidden file."""
        if self.format_name == "Parquet":
            from aegir.masking import parquet_files

            return parquet_files.read_masked(self._partial)
        written = TextFile(self._partial, self._file.codec, self._file.mark)
        if self.format_name == "delimited text":
            from aegir.masking import delimited_files

            return delimited_files.read_masked(written, self._structure, self._check_progress)
        from aegir.masking import json_files

        return json_files.read_masked(
            written, self.masker, self._check_progress, lines=self.format_name == "JSON lines"
        )


def _raise_if_found(path: Path, masker: RowMasker, check: Check) -> None:
    """Raise `CheckFailed` if a masked value was found in its own column, or rows are missing."""
    if check.same_column:
        names = [
            str(masker.plan.columns[index].name or f"#{index + 1}") for index in check.same_column
        ]
        raise CheckFailed(
            f"the masked copy of {path} still holds values of {', '.join(names)}; nothing was written"
        )
    if check.rows != masker.rows:
        raise CheckFailed(
            f"{masker.rows} rows of {path} were masked but {check.rows} are read back; nothing was written"
        )
