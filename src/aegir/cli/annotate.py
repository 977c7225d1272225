"""`aegir annotate`: tables in, annotations out, on stdout or in a file; talk goes to stderr."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from aegir.annotators.annotate import Failure
    from aegir.tables.annotation import TableAnnotation

EXAMPLE = "Example: aegir annotate lake/ --format jsonl --out annotations.jsonl"


def annotate(
    sources: Annotated[
        list[str],
        typer.Argument(metavar="TABLE...", help="Files, folders, patterns; - is standard input."),
    ],
    format_name: Annotated[
        str,
        typer.Option(
            "--format",
            "-f",
            metavar="NAME",
            help="text, json, jsonl, csv, frictionless, csvw or dbt.",
        ),
    ] = "text",
    as_json: Annotated[
        bool, typer.Option("--json", help="Short for --format jsonl: one table per line.")
    ] = False,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="FILE", help="Write here, not to stdout.")
    ] = None,
    rows: Annotated[int, typer.Option(min=1, help="Values looked at per column.")] = 200,
    seed: Annotated[int, typer.Option(help="Which rows are sampled.")] = 0,
    min_confidence: Annotated[
        float, typer.Option(min=0, max=1, help="Abstain below this confidence.")
    ] = 0.0,
    precision: Annotated[
        float | None,
        typer.Option(help="Abstain below the confidence that gave this precision in validation."),
    ] = None,
    annotator: Annotated[
        str, typer.Option(metavar="NAME", help="combined, ngrams or rules.")
    ] = "combined",
    model: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Weights made by `aegir train ngrams`.")
    ] = None,
    embed: Annotated[
        bool, typer.Option("--embed", help="Also write answers into Parquet files' metadata.")
    ] = False,
) -> None:
    """Say what every column of these tables is, and how columns relate."""
    from aegir.annotators.annotate import annotate_sources, choose_thresholds
    from aegir.annotators.registry import load_annotator
    from aegir.cli.output import write_annotations
    from aegir.cli.progress import track
    from aegir.tables.discovery import find_table_files

    files = [str(file) for file in find_table_files(sources)]
    chosen = load_annotator(annotator, model)
    thresholds = choose_thresholds(chosen, min_confidence, precision)
    failures: list[Failure] = []
    answers = _successes(
        annotate_sources(track(files, "annotating"), chosen, thresholds, rows=rows, seed=seed),
        failures,
    )
    tally = _Tally()
    write_annotations(
        tally.count(_embedded(answers) if embed else answers),
        "jsonl" if as_json else format_name,
        out,
    )
    _report(tally, failures, len(files), out)


class _Tally:
    """Counts what passes through."""

    tables = columns = 0

    def count(self, answers: Iterable["TableAnnotation"]) -> Iterator["TableAnnotation"]:
        for answer in answers:
            self.tables += 1
            self.columns += len(answer.columns)
            yield answer


def _successes(
    outcomes: Iterable["TableAnnotation | Failure"], failures: list["Failure"]
) -> Iterator["TableAnnotation"]:
    from aegir.annotators.annotate import Failure

    for outcome in outcomes:
        if isinstance(outcome, Failure):
            failures.append(outcome)
            typer.echo(f"aegir: {outcome.reason}", err=True)
        else:
            for warning in outcome.warnings:
                typer.echo(f"aegir: {outcome.table}: {warning}", err=True)
            yield outcome


def _embedded(answers: Iterable["TableAnnotation"]) -> Iterator["TableAnnotation"]:
    """Pass answers on, after writing each into its Parquet file."""
    from aegir.tables.parquet_metadata import embed_annotation

    for answer in answers:
        if answer.source is not None and answer.source.lower().endswith(".parquet"):
            embed_annotation(Path(answer.source), answer)
        yield answer


def _report(tally: _Tally, failures: list["Failure"], files: int, out: Path | None) -> None:
    """Say what was done; any file that failed makes the exit code 2, as grep would."""
    if files > 1 or out is not None:
        where = f", written to {out}" if out else ""
        typer.echo(
            f"aegir: {tally.tables} tables with {tally.columns} columns from {files} files{where}",
            err=True,
        )
    if failures:
        if files > 1:
            names = ", ".join(failure.source for failure in failures[:10])
            more = f" and {len(failures) - 10} more" if len(failures) > 10 else ""
            typer.echo(f"aegir: {len(failures)} of {files} files failed: {names}{more}", err=True)
        raise typer.Exit(2)
