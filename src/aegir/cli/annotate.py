"""`aegir annotate`: tables in, annotations out, on stdout or in a file; talk goes to stderr."""

from collections.abc import Iterable, Iterator
from pathlib import Path

import click

from aegir.annotators.annotate import Failure, annotate_sources, prepare
from aegir.answers.annotation import TableAnnotation
from aegir.answers.parquet_metadata import ANNOTATION_KEY, embed_annotation
from aegir.answers.writers import check_format, is_earlier_output
from aegir.cli.options import annotator_options, threshold_options
from aegir.cli.output import write_annotations
from aegir.cli.terminal import tell, track
from aegir.errors import AegirError, UsageError
from aegir.tables.amounts import amount
from aegir.tables.discovery import find_table_files

PARQUET_SUFFIXES = (".parquet", ".pq")


@click.command(epilog="Example: aegir annotate lake/ --format jsonl --out annotations.jsonl")
@click.argument("sources", metavar="TABLE...", nargs=-1, required=True)
@click.option(
    "--format",
    "-f",
    "format_name",
    metavar="NAME",
    default="text",
    help="text (default), json, jsonl, csv, frictionless, csvw or dbt.",
)
@click.option("--json", "as_json", is_flag=True, help="Short for --format jsonl.")
@click.option(
    "--out",
    "-o",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write to this file, not to stdout.",
)
@click.option(
    "--rows",
    default=200,
    type=click.IntRange(1),
    show_default=True,
    help="Values looked at per column, spread over the whole table.",
)
@click.option("--seed", default=0, show_default=True, help="Which rows are looked at.")
@threshold_options(default=0.1)
@annotator_options
@click.option(
    "--no-custom", is_flag=True, help="Leave out the types that you taught (`aegir types learn`)."
)
@click.option(
    "--embed",
    is_flag=True,
    help="Also write answers into Parquet files' metadata, under the key aegir.annotation.",
)
def annotate(
    sources: tuple[str, ...],
    format_name: str,
    as_json: bool,
    out: Path | None,
    rows: int,
    seed: int,
    min_confidence: float,
    precision: float | None,
    annotator: str,
    model: Path | None,
    no_custom: bool,
    embed: bool,
) -> None:
    """Say what every column of a table is, and how columns relate.

    TABLE is a file, a folder, a pattern in quotes, or - for standard input.
    """
    format_name = "jsonl" if as_json else format_name
    found = find_table_files(sources)
    files = [str(file) for file in _without(out, found, sources, format_name)]
    chosen, thresholds = prepare(
        annotator,
        model,
        min_confidence=min_confidence,
        precision=precision,
        custom_types=not no_custom,
        say=tell,
    )
    failures: list[Failure] = []
    answers = _successes(
        annotate_sources(track(files, "annotating"), chosen, thresholds, rows=rows, seed=seed),
        failures,
    )
    tally, embedding = _Tally(), _Embedding()
    if embed:
        answers = embedding.pass_on(answers, failures)
    write_annotations(tally.count(answers), format_name, out)
    if embed:
        embedding.report()
    _report(tally, failures, len(files), out)


class _Tally:
    """Counts what passes through."""

    tables = columns = 0

    def count(self, answers: Iterable[TableAnnotation]) -> Iterator[TableAnnotation]:
        for answer in answers:
            self.tables += 1
            self.columns += len(answer.columns)
            yield answer


def _without(
    out: Path | None, files: list[Path], sources: tuple[str, ...], format_name: str
) -> list[Path]:
    """The files to read; what is about to be written over is none of them.

    Only an earlier answer, left in a folder that is read again, may be written over.
    """
    check_format(format_name)
    if out is None or not out.exists():
        return files
    kept = [file for file in files if not (file.exists() and out.samefile(file))]
    if len(kept) == len(files):
        return files
    named = any(Path(source).exists() and out.samefile(source) for source in sources)
    if named or not is_earlier_output(out, format_name):
        raise UsageError(f"--out {out} would write over a table to be read; give another name")
    tell(f"{out} is an earlier answer; it is written anew, not read")
    return kept


def _successes(
    outcomes: Iterable[TableAnnotation | Failure], failures: list[Failure]
) -> Iterator[TableAnnotation]:
    for outcome in outcomes:
        if isinstance(outcome, Failure):
            _note(outcome, failures)
        else:
            for warning in outcome.warnings:
                tell(f"{outcome.table}: {warning}")
            yield outcome


def _note(failure: Failure, failures: list[Failure]) -> None:
    failures.append(failure)
    tell(f"{failure.reason}")


class _Embedding:
    """Writes each answer into its Parquet file on its way past."""

    def __init__(self) -> None:
        self.files: dict[str, None] = {}

    def pass_on(
        self, answers: Iterable[TableAnnotation], failures: list[Failure]
    ) -> Iterator[TableAnnotation]:
        for answer in answers:
            if answer.source is not None and answer.source.lower().endswith(PARQUET_SUFFIXES):
                try:
                    embed_annotation(Path(answer.source), answer)
                    self.files[answer.source] = None
                except AegirError as error:
                    _note(Failure(answer.source, str(error)), failures)
            yield answer

    def report(self) -> None:
        """Say where the answers went."""
        first = next(iter(self.files), "no Parquet file")
        where = first if len(self.files) < 2 else f"{len(self.files)} Parquet files"
        key = f" under the key {ANNOTATION_KEY}" if self.files else ""
        tell(f"answers embedded in {where}{key}")


def _report(tally: _Tally, failures: list[Failure], files: int, out: Path | None) -> None:
    """Say what was done; any file that failed makes the exit code 2, as grep would."""
    if files > 1 or out is not None:
        where = f", written to {out}" if out else ""
        tables, columns = amount(tally.tables, "table"), amount(tally.columns, "column")
        tell(f"{tables} with {columns} from {amount(files, 'file')}{where}")
    if failures:
        if files > 1:
            names = ", ".join(failure.source for failure in failures[:10])
            more = f" and {len(failures) - 10} more" if len(failures) > 10 else ""
            tell(f"{len(failures)} of {amount(files, 'file')} failed: {names}{more}")
        raise click.exceptions.Exit(2)
