"""`aegir annotate`: tables in, annotations out, to stdout or a file; messages go to stderr."""

import os
import stat
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, closing, suppress
from pathlib import Path

import click

from aegir.answers.annotation import TableAnnotation
from aegir.answers.writers import check_format
from aegir.cli.engines import LOCAL, check_engine, engine_options
from aegir.cli.options import (
    NO_DATABASE,
    PathName,
    annotator_options,
    effort_options,
    memory_from,
    memory_option,
    spawn_option,
    tables_option,
    threshold_options,
)
from aegir.cli.output import write_annotations
from aegir.cli.routing import (
    RoutingReport,
    choose_annotator,
    llm_from,
    llm_options,
    routing_options,
    tell_usage,
)
from aegir.cli.terminal import tell, track
from aegir.pipeline.dispatcher import DispatchAnnotator
from aegir.pipeline.run import Failure, annotate_sources, find_places, prepare
from aegir.pipeline.search import SearchAnnotator
from aegir.pipeline.worker_pool import WorkerPool, choose_workers, count_cores
from aegir.pipeline.worker_process import CAN_FORK, Outcome
from aegir.tables.database_urls import DatabaseUrl
from aegir.tables.readers import read_database
from aegir_rl.base.errors import AegirError, UsageError
from aegir_rl.base.wording import amount

MOST_WORKERS = 256
PARQUET_SUFFIXES = (".parquet", ".pq")


@click.command(epilog="Example: aegir annotate lake/ --format jsonl --out annotations.jsonl")
@click.argument("sources", metavar="TABLE...", nargs=-1, required=True)
@click.option(
    "--format",
    "-f",
    "format_name",
    metavar="NAME",
    default="text",
    help="text (default), html, json, jsonl, csv, frictionless, csvw, dbt, openmetadata, datahub, sql or "
    "great_expectations.",
)
@click.option("--json", "as_json", is_flag=True, help="Short for --format jsonl.")
@click.option(
    "--why",
    is_flag=True,
    help="In the text report, print every reason whole and the next-best answers.",
)
@click.option(
    "--out",
    "-o",
    type=PathName(dir_okay=False),
    help="Write to this file, not to stdout (-).",
)
@click.option(
    "--rows",
    default=200,
    type=click.IntRange(1),
    show_default=True,
    help="Values looked at per column, spread over the whole table.",
)
@tables_option
@click.option("--seed", default=0, show_default=True, help="Which rows are looked at.")
@threshold_options(default=0.1)
@annotator_options
@click.option(
    "--no-custom", is_flag=True, help="Leave out the types that you taught (`aegir types learn`)."
)
@memory_option
@click.option("--no-memory", is_flag=True, help="Leave out what was reviewed (`aegir review`).")
@click.option(
    "--timing",
    is_flag=True,
    help="Measure how long each table takes (annotator swarm); such output differs from run to run.",
)
@spawn_option
@click.option(
    "--embed",
    is_flag=True,
    help="Also write answers into Parquet files' metadata, under the key aegir.annotation.",
)
@effort_options
@routing_options
@llm_options
@click.option(
    "--explain-routing",
    is_flag=True,
    help="Say for every column who answered it, who decided that and why (on stderr).",
)
@click.option(
    "--log-decisions",
    metavar="FILE|URL",
    help="Store routing decisions in this SQLite file or PostgreSQL database, for `aegir feedback` and `aegir rl`.",
)
@click.option(
    "--workers",
    metavar="N",
    type=click.IntRange(1, MOST_WORKERS),
    help="Processes that annotate files side by side, on each node of a cluster; by default one per core, and 1 for few "
    "files.",
)
@engine_options
def annotate(
    sources: tuple[str, ...],
    format_name: str,
    as_json: bool,
    why: bool,
    out: Path | None,
    rows: int,
    tables: tuple[str, ...],
    seed: int,
    min_confidence: float,
    precision: float | None,
    annotator: str,
    model: Path | None,
    no_custom: bool,
    memory: str | None,
    no_memory: bool,
    timing: bool,
    spawn: str | int | None,
    embed: bool,
    effort: str | None,
    within: str | None,
    routing: Path | None,
    policy: Path | None,
    explain_routing: bool,
    log_decisions: str | None,
    llm_endpoint: str | None,
    llm_model: str | None,
    llm_price: tuple[float, float],
    workers: int | None,
    engine: str,
    address: str | None,
) -> None:
    """Say what every column of a table is, and how columns relate.

    TABLE is a file, a folder, a pattern in quotes, - for standard input, or the address of a database, such as
    postgresql://user@host/shop, mysql://user@host/shop, sqlite:///shop.db or duckdb:///lake.duckdb.
    """
    format_name = "jsonl" if as_json else format_name
    check_format(format_name)
    out = None if out == Path("-") else out
    files, failures = _find_files(sources, tables)
    kept = _without_output(files, sources, out, format_name)
    routed = explain_routing or log_decisions is not None
    llm = llm_from(llm_endpoint, llm_model, llm_price)
    check_engine(engine, address)
    if engine != LOCAL:
        _check_shareable(kept, routed or llm is not None, within)
    wanted = choose_annotator(
        annotator, model, routing, policy, llm, routed=routed, effort=effort, within=within
    )
    report = RoutingReport(wanted, explain=explain_routing, store=log_decisions)
    chosen, thresholds = prepare(
        wanted,
        model,
        min_confidence=min_confidence,
        precision=precision,
        custom_types=not no_custom,
        timing=timing,
        spawn=spawn,
        say=tell,
    )
    noun = "source" if any(isinstance(each, DatabaseUrl) for each in kept) else "file"
    reviews = None if no_memory else memory_from(memory)
    run = _Run(len(kept), embed, keeps_old=out is not None and out.is_file(), noun=noun)
    run.tell_failures(failures)
    # Decisions are shown and logged, and calls are counted, by the process that makes them.
    alone = engine == LOCAL and (routed or llm is not None)
    count = 1 if alone else _count_workers(workers, kept)
    in_turn = engine == LOCAL and count == 1
    watched: Iterable[object] = run.watch(track(kept, "annotating", by_thread=in_turn))
    if noun == "source":
        watched = _read_databases(watched, rows, seed)
    with ExitStack() as ended_after:
        outcomes: Iterable[Outcome]
        if engine != LOCAL:
            from aegir.cli.annotate_cluster import annotate_over_cluster

            over_cluster = annotate_over_cluster(
                watched,
                len(kept),
                address,
                workers,
                dispatched=isinstance(wanted, DispatchAnnotator),
                routing=routing,
                policy=policy,
                reviewed=reviews is not None,
                memory=memory,
                annotator=annotator if effort is None else f"{SearchAnnotator.name}@{effort}",
                model=model,
                min_confidence=min_confidence,
                precision=precision,
                custom_types=not no_custom,
                timing=timing,
                spawn=spawn,
                rows=rows,
                seed=seed,
            )
            outcomes = ended_after.enter_context(closing(over_cluster))
        elif count == 1:
            outcomes = annotate_sources(
                watched, chosen, thresholds, rows=rows, seed=seed, memory=reviews
            )
        else:
            pool = WorkerPool(
                chosen, thresholds, workers=count, rows=rows, seed=seed, memory=reviews
            )
            names = map(str, watched)
            outcomes = ended_after.enter_context(pool).annotate(names, len(kept))
        try:
            answers = run.answers(report.passing(outcomes))
            write_annotations(answers, format_name, out, why=why)
        except _NoAnswerError:
            tell(f"no table could be annotated; {out} is as it was")
            out = None
    tell_usage(llm)
    run.report(out)


def _check_shareable(
    files: Sequence[str | DatabaseUrl], by_one_process: bool, within: str | None
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


def _read_databases(sources: Iterable[object], rows: int, seed: int) -> Iterator[object]:
    """The sources, with databases replaced by their tables, behind a progress bar if there are many."""

    def watch(names: Sequence[str]) -> Iterator[str]:
        return track(names, "sampling tables")

    for source in sources:
        if not isinstance(source, DatabaseUrl):
            yield source
            continue
        try:
            yield from read_database(source, rows=rows, seed=seed, watch=watch)
        except AegirError as error:
            yield Failure(str(source), str(error), type(error))


def _count_workers(asked: int | None, files: Sequence[str | DatabaseUrl]) -> int:
    """How many processes annotate the files: as many as asked for, or as pay; 1 where only this one can read them."""
    statuses = []
    if any(isinstance(file, DatabaseUrl) for file in files):
        return 1
    for file in map(str, files):
        with suppress(OSError):  # reading the file will say what is wrong
            statuses.append(os.stat(file))  # noqa: PTH116
    if not CAN_FORK or "-" in files or any(stat.S_ISFIFO(each.st_mode) for each in statuses):
        return 1
    if asked is not None:
        return min(asked, len(files))
    return choose_workers([each.st_size for each in statuses], count_cores())


def _find_files(
    sources: tuple[str, ...], tables: tuple[str, ...]
) -> tuple[list[Path | DatabaseUrl], list[Failure]]:
    """The sources that were asked for, each once, and the names that lead to no table; raise if all do.

    Of databases only these tables are chosen.
    """
    places = dict.fromkeys(place for source in sources for place in find_places(source))
    failures = [place for place in places if isinstance(place, Failure)]
    files = [
        place.selecting(tables) if isinstance(place, DatabaseUrl) else Path(str(place))
        for place in places
        if not isinstance(place, Failure)
    ]
    if not files:
        raise UsageError("; ".join(failure.reason for failure in failures))
    if tables and not any(isinstance(file, DatabaseUrl) for file in files):
        raise UsageError(NO_DATABASE)
    return list(dict.fromkeys(files)), failures


def _without_output(
    files: list[Path | DatabaseUrl], sources: tuple[str, ...], out: Path | None, format_name: str
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
    return kept


def _same_file(first: Path | DatabaseUrl, second: Path) -> bool:
    path = first.path if isinstance(first, DatabaseUrl) else first
    try:
        return path is not None and path.samefile(second)
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
            if self.embed and isinstance(file, str) and file.lower().endswith(PARQUET_SUFFIXES):
                with suppress(OSError):  # reading the file will say what is wrong
                    self._statuses[_real(file)] = os.stat(file)  # noqa: PTH116
            yield file

    def answers(self, outcomes: Iterable[TableAnnotation | Failure]) -> Iterator[TableAnnotation]:
        """Yield the answers; tell of failures and warnings.

        Raises `_NoAnswerError` at the end if there is an old output to keep and nothing to replace it with.
        """
        for outcome in outcomes:
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
