"""`aegir annotate`: tables in, annotations out, to stdout or a file; messages go to stderr."""

import os
import stat
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, closing, suppress
from pathlib import Path
from typing import Any

import click

from aegir.answers.annotation import TableAnnotation
from aegir.answers.writers import NOTATED, check_format
from aegir.cli.engines import LOCAL, check_engine, engine_options
from aegir.cli.options import (
    NO_DATABASE,
    settings_from,
    verb_options,
)
from aegir.cli.output import write_annotations
from aegir.cli.terminal import tell, track
from aegir.pipeline.registry import check_routes
from aegir.pipeline.run import (
    Answered,
    Failure,
    annotate_linked,
    find_places,
    link_answers,
    prepare,
)
from aegir.pipeline.settings import AnnotationSettings
from aegir.readers.scores import Annotator
from aegir.tables.database_urls import DatabaseUrl
from aegir.tables.formats import is_remote
from aegir.tables.readers import read_database
from aegir_rl.base.errors import AegirError, UsageError
from aegir_rl.base.text import amount
from aegir_rl.processes import CAN_FORK, count_cores

PARQUET_SUFFIXES = (".parquet", ".pq")


@click.command(epilog="Example: aegir annotate lake/ --format jsonl --out annotations.jsonl")
@click.argument("sources", metavar="TABLE...", nargs=-1, required=True)
@verb_options("annotate", "tags")
@verb_options("rows", "names", "tables", "seed", "reading")
@verb_options("threshold")
@verb_options(*("annotator", "custom", "memory", "no_memory", "timing", "effort", "routing", "llm"))
@verb_options("annotate-routing")
@engine_options
def annotate(
    sources: tuple[str, ...],
    format_name: str,
    as_json: bool,
    why: bool,
    out: Path | None,
    embed: bool,
    explain_routing: bool,
    log_decisions: str | None,
    workers: int | None,
    engine: str,
    address: str | None,
    **options: Any,
) -> None:
    """Say what every column of a table is, and how columns relate.

    TABLE is a file, a folder, a pattern in quotes, - for standard input, or the address of a database, such as
    postgresql://user@host/shop, mysql://user@host/shop, sqlite:///shop.db or duckdb:///lake.duckdb.
    """
    format_name = "jsonl" if as_json else format_name
    check_format(format_name)
    settings = settings_from(options).changed(notations=format_name in NOTATED)
    found, failures = _find_files(sources, settings.tables)
    files = _without_output(found, sources, out, format_name)
    routed = explain_routing or log_decisions is not None
    if routed:
        check_routes(settings)
    # Decisions are shown and logged, and calls are counted, by the process that makes them.
    one_process = routed or settings.llm is not None
    if engine != LOCAL or address is not None:
        check_engine(engine, address)
        _check_shareable(files, one_process, settings.within)
    noun = "source" if any(isinstance(each, DatabaseUrl) for each in files) else "file"
    run = _Run(len(files), embed, keeps_old=out is not None and out.is_file(), noun=noun)
    with ExitStack() as ended_after:
        if engine != LOCAL:
            answers = _over_cluster(files, settings, run, address, workers, ended_after)
        else:
            count = 1 if one_process else _count_workers(workers, files)
            answers = _over_processes(files, settings, run, count, ended_after)
        run.tell_failures(failures)
        if routed:
            from aegir.cli.routing import RoutingReport

            answers = RoutingReport(explain=explain_routing, store=log_decisions).passing(answers)
        try:
            write_annotations(run.answers(answers), format_name, out, why=why)
        except _NoAnswerError:
            tell(f"no table could be annotated; {out} is as it was")
            out = None
    run.report(out)


def _over_processes(
    files: Sequence[str | DatabaseUrl],
    settings: AnnotationSettings,
    run: "_Run",
    count: int,
    ended_after: ExitStack,
) -> Iterator[Answered]:
    """Yield the answers of this process, or of `count` forked ones."""
    readers: dict[str, Annotator] | None = None
    if settings.llm is not None:
        from aegir.cli.routing import tell_usage
        from aegir.readers.llm.annotator import LlmAnnotator

        llm = LlmAnnotator(settings.llm)
        readers = {llm.name: llm}
        ended_after.callback(lambda: tell_usage(llm.settings.model, llm.usage))
    prepared = prepare(settings, readers=readers, say=tell)
    watched: Iterable[object] = run.watch(track(files, "annotating"))
    if run.noun == "source":
        watched = _read_databases(watched, settings)
    if count == 1:
        return annotate_linked(watched, prepared)
    from aegir.pipeline.worker_pool import WorkerPool

    pool = ended_after.enter_context(WorkerPool(prepared, workers=count))
    outcomes = pool.annotate(map(str, watched), len(files))
    return link_answers(Answered(0, outcome) for outcome in outcomes)


def _over_cluster(
    files: Sequence[str | DatabaseUrl],
    settings: AnnotationSettings,
    run: "_Run",
    address: str | None,
    workers: int | None,
    ended_after: ExitStack,
) -> Iterator[Answered]:
    """Yield the answers of the nodes of a cluster."""
    from aegir.cli.annotate_cluster import annotate_over_cluster

    prepare(settings, say=tell)  # what cannot be used is told here, once
    watched = run.watch(track(files, "annotating"))
    outcomes = annotate_over_cluster(watched, len(files), address, workers, settings)
    ended_after.enter_context(closing(outcomes))
    return link_answers(Answered(0, outcome) for outcome in outcomes)


def _check_shareable(
    files: Sequence[str | DatabaseUrl], by_one_process: bool, within: float | None
) -> None:
    """Raise `UsageError` for what a cluster cannot do: sources that only this process can read, decisions to show."""
    if within is not None:
        raise UsageError(
            "--within needs the clock of one machine; leave it or --engine ray out, or use --effort"
        )
    if by_one_process:
        raise UsageError(
            "--explain-routing, --log-decisions and --llm-endpoint need one process; leave them or --engine ray out"
        )
    for file in files:
        if isinstance(file, DatabaseUrl) or file == "-" or Path(file).is_fifo():
            raise UsageError(
                f"{'standard input' if file == '-' else file} cannot be read by the nodes of a cluster; give files, or leave "
                "--engine ray out"
            )


def _read_databases(sources: Iterable[object], settings: AnnotationSettings) -> Iterator[object]:
    """The sources, with databases replaced by their tables, behind a progress bar if there are many."""

    def watch(names: Sequence[str]) -> Iterator[str]:
        return track(names, "sampling tables")

    for source in sources:
        if not isinstance(source, DatabaseUrl):
            yield source
            continue
        try:
            yield from read_database(
                source,
                rows=settings.rows,
                seed=settings.seed,
                watch=watch,
                overrides=settings.overrides,
                names_only=settings.names_only,
            )
        except AegirError as error:
            yield Failure(str(source), str(error), type(error))


def _count_workers(asked: int | None, files: Sequence[str | DatabaseUrl]) -> int:
    """How many processes annotate the files: as many as asked for, or as pay; 1 where only this one can read them."""
    if len(files) == 1 or any(
        isinstance(file, DatabaseUrl) or file == "-" or is_remote(file) for file in files
    ):
        return 1  # clients of object stores have threads, which a process that forks must not have
    from aegir.pipeline.worker_pool import choose_workers

    statuses = []
    for file in map(str, files):
        with suppress(OSError):  # reading the file will say what is wrong
            statuses.append(os.stat(file))  # noqa: PTH116
    if not CAN_FORK or any(stat.S_ISFIFO(each.st_mode) for each in statuses):
        return 1
    if asked is not None:
        return min(asked, len(files))
    return choose_workers([each.st_size for each in statuses], count_cores())


def _find_files(
    sources: tuple[str, ...], tables: tuple[str, ...]
) -> tuple[list[Path | str | DatabaseUrl], list[Failure]]:
    """The sources that were asked for, each once, and the names that lead to no table; raise if all do."""
    places = dict.fromkeys(
        place for source in sources for place in find_places(source, tables, tell)
    )
    failures = [place for place in places if isinstance(place, Failure)]
    files: list[Path | str | DatabaseUrl] = [
        place
        if isinstance(place, DatabaseUrl)
        else str(place)
        if is_remote(place)
        else Path(str(place))
        for place in places
        if not isinstance(place, Failure)
    ]
    if not files:
        raise UsageError("; ".join(failure.reason for failure in failures))
    if tables and not any(isinstance(file, DatabaseUrl) for file in files):
        raise UsageError(NO_DATABASE)
    return list(dict.fromkeys(files)), failures


def _without_output(
    files: list[Path | str | DatabaseUrl],
    sources: tuple[str, ...],
    out: Path | None,
    format_name: str,
) -> list[str | DatabaseUrl]:
    """The files to read: all but an earlier answer that is about to be replaced.

    Raises if `out` is a table to be read. Only an earlier answer, in a folder that is read again, may be replaced.
    """
    kept = [
        file if isinstance(file, DatabaseUrl) else str(file)
        for file in files
        if out is None or not _same_file(file, out)
    ]
    if out is not None and len(kept) < len(files):
        from aegir.answers.earlier_output import is_earlier_output

        named = any(_same_file(Path(source), out) for source in sources)
        if named or not is_earlier_output(out, format_name):
            raise UsageError(f"--out {out} would write over a table to be read; give another name")
        tell(f"{out} is an earlier answer; it is written anew, not read")
    elif out is not None and _is_other_answer(out, sources, format_name):
        raise UsageError(
            f"--out {out} holds an answer in another format, in a folder that is read; give another name"
        )
    return kept


def _is_other_answer(out: Path, sources: tuple[str, ...], format_name: str) -> bool:
    """Whether a file in a folder that is read holds an earlier answer that is not of this format."""
    folders = [Path(source).resolve() for source in sources if Path(source).is_dir()]
    if not any(out.resolve().is_relative_to(folder) for folder in folders):
        return False
    from aegir.answers.earlier_output import answer_format

    return answer_format(out) not in (None, format_name)


def _same_file(first: Path | str | DatabaseUrl, second: Path) -> bool:
    path = first.path if isinstance(first, DatabaseUrl) else first
    try:
        return isinstance(path, Path) and path.samefile(second)
    except OSError:  # one of them is missing, or may not be looked at
        return False


class _NoAnswerError(Exception):
    """Every file failed."""


class _Run:
    """Counts answers and failures on their way to the output, and embeds answers in Parquet files."""

    def __init__(self, files: int, embed: bool, keeps_old: bool, noun: str) -> None:
        self.files, self.embed, self.keeps_old, self.noun = files, embed, keeps_old, noun
        self.tables = self.columns = 0
        self.failures: list[Failure] = []
        self.embedded: dict[str, None] = {}
        self._statuses: dict[Path, os.stat_result] = {}
        """How each Parquet file was when it was about to be read; a changed one is not embedded into."""

    def tell_failures(self, failures: Sequence[Failure]) -> None:
        """Tell of what was asked for and is not there; it counts among the files."""
        self.files += len(failures)
        for failure in failures:
            self._fail(failure)

    def watch(self, files: Iterable[str | DatabaseUrl]) -> Iterator[str | DatabaseUrl]:
        """Yield the sources, remembering the status of the files to embed into."""
        for file in files:
            if (
                self.embed
                and isinstance(file, str)
                and file.lower().endswith(PARQUET_SUFFIXES)
                and not is_remote(file)
            ):
                with suppress(OSError):  # reading the file will say what is wrong
                    self._statuses[_real(file)] = os.stat(file)  # noqa: PTH116
            yield file

    def answers(self, answers: Iterable[Answered]) -> Iterator[TableAnnotation]:
        """Yield the answers; tell of failures and warnings.

        Raises `_NoAnswerError` at the end if there is an old output to keep and nothing to replace it with.
        """
        for outcome in (each.answer for each in answers):
            if isinstance(outcome, Failure):
                self._fail(outcome)
                continue
            for warning in outcome.warnings:
                tell(f"{outcome.table}: {warning}")
            if self.embed:
                self._embed(outcome)
            self.tables += 1
            self.columns += len(outcome.columns)
            yield outcome
        if self.keeps_old and self.failures and not self.tables:
            raise _NoAnswerError

    def report(self, out: Path | None) -> None:
        """Tell what was done; raise an exit with code 2 if any file failed, as grep would."""
        if self.embed:
            from aegir.answers.parquet_metadata import ANNOTATION_KEY

            first = next(iter(self.embedded), "no Parquet file")
            where = first if len(self.embedded) < 2 else f"{len(self.embedded)} Parquet files"
            key = f" under the key {ANNOTATION_KEY}" if self.embedded else ""
            tell(f"answers embedded in {where}{key}")
        files = amount(self.files, self.noun)
        if self.files > 1 or out is not None:
            tables, columns = amount(self.tables, "table"), amount(self.columns, "column")
            tell(f"{tables} with {columns} from {files}" + (f", written to {out}" if out else ""))
        if self.failures:
            if self.files > 1:
                names = ", ".join(failure.source or "''" for failure in self.failures[:10])
                more = f" and {len(self.failures) - 10} more" if len(self.failures) > 10 else ""
                tell(f"{len(self.failures)} of {files} failed: {names}{more}")
            raise click.exceptions.Exit(2)

    def _fail(self, failure: Failure) -> None:
        self.failures.append(failure)
        tell(failure.reason)

    def _embed(self, answer: TableAnnotation) -> None:
        if answer.source is None or (path := _real(answer.source)) not in self._statuses:
            return
        from aegir.answers.parquet_metadata import embed_annotation

        try:
            embed_annotation(Path(answer.source), answer, unchanged_since=self._statuses[path])
        except AegirError as error:
            self._fail(Failure(answer.source, str(error)))
            return
        self.embedded[answer.source] = None
        with suppress(OSError):
            self._statuses[path] = path.stat()  # a link to the same file may follow


def _real(file: str) -> Path:
    """Where a file is once links are followed."""
    return Path(os.path.realpath(file))
