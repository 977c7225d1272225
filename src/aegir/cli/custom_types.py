"""`aegir types learn` and `aegir types forget`: types of the user's own."""

import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path

import click

from aegir.answers.writers import quoted_json
from aegir.cli.options import verb_options
from aegir.cli.terminal import say, tell
from aegir.memory.examples import ReviewedExamples, reviewed_examples
from aegir.pipeline.custom_types.learning import Report, learn_type
from aegir.pipeline.custom_types.reader import load_reader
from aegir.pipeline.custom_types.store import DEFAULT_KIND, forget_type, save_type, types_folder
from aegir.pipeline.custom_types.validating import TypeValidation, validate_type
from aegir.pipeline.registry import load_annotator
from aegir.pipeline.run import load_reviews
from aegir.pipeline.settings import AnnotationSettings
from aegir.tables.labelled import read_labelled_tables
from aegir_rl.base.errors import CheckFailed, UsageError
from aegir_rl.base.text import amount


class _TakesLists(click.Command):
    """Lets an option that may be repeated take several values in a row: --examples a b --not c."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        lists = {
            name
            for option in self.params
            if isinstance(option, click.Option) and option.multiple
            for name in option.opts
        }
        spread: list[str] = []
        current: str | None = None
        for word in args:
            if word.startswith("--"):
                current = word if word in lists else None
            elif current is not None and spread[-1] != current:
                spread.append(current)
            spread.append(word)
        return super().parse_args(ctx, spread)


@click.command(
    "learn",
    cls=_TakesLists,
    epilog="Example: aegir types learn Ward/bed --examples wards.csv:bed visits.csv:bed_no --not bills.csv:room",
)
@click.argument("name")
@verb_options("types learn", "memory", kind=DEFAULT_KIND)
def learn(
    name: str,
    examples: tuple[str, ...],
    against: tuple[str, ...],
    validate: Path | None,
    about: str | None,
    kind: str,
    personal: bool,
    reviewed: bool,
    memory: str | None,
    force: bool,
    as_json: bool,
) -> None:
    """Teach a type by a few example columns; `annotate` answers with it from then on.

    Five columns or more are best; fewer will do when they are long. Other columns of the same
    tables are taken to be of other types.
    """
    if reviewed:
        examples, against = _with_reviewed(name, examples, against, memory)
    elif not examples:
        raise UsageError("--examples names no column; give FILE:COLUMN, or --reviewed")
    reader, annotator = load_reader(), load_annotator()
    learnt = learn_type(
        name,
        examples,
        against,
        reader,
        annotator,
        personal=personal,
        about=about or "",
        kind=kind,
    )
    validation = None
    if validate is not None:
        tables = list(read_labelled_tables(validate))
        validation = validate_type(learnt.type, tables, annotator, reader)
    complaint = learnt.report.complaint()
    keep = force or complaint is None
    if as_json:
        effect = None if validation is None else validation.as_dict()
        click.echo(quoted_json({**learnt.as_dict(kept=keep), "validation": effect}))
    else:
        say(*_report_lines(name, learnt.report, validation))
    if complaint is not None and not keep:
        raise CheckFailed(f"{name} was not kept: {complaint} (--force keeps it anyway)")
    if complaint is not None:
        tell(f"kept although {complaint}")
    path = save_type(types_folder(), learnt.type)
    tell(f"{name} is kept in {path}; to undo: aegir types forget {shlex.quote(name)}")


@click.command("forget", epilog="Example: aegir types forget Ward/bed")
@click.argument("name")
def forget(name: str) -> None:
    """Forget a type that was taught."""
    forget_type(types_folder(), name)
    tell(f"{name} is forgotten")


def _with_reviewed(
    name: str, examples: tuple[str, ...], against: tuple[str, ...], location: str | None
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The examples and counter-examples, with those that were reviewed."""
    memory = load_reviews(AnnotationSettings(memory=True if location is None else location))
    found = reviewed_examples(memory, name) if memory else ReviewedExamples((), (), ())
    for file in found.gone:
        tell(f"{file} was reviewed, but is not there any more; it is left out")
    if not (*examples, *found.examples):
        raise UsageError(
            f"no column of a file that is there was reviewed as {name!r}; say so in: aegir review FILE, or give --examples FILE:COLUMN"
        )
    return (*examples, *found.examples), (*against, *found.against)


def _report_lines(name: str, report: Report, validation: TypeValidation | None) -> Iterator[str]:
    """The report for a person."""
    columns, files = amount(report.columns, "column"), amount(report.files, "file")
    cut = f", cut into {report.parts} examples" if report.parts != report.columns else ""
    so_far = ", ".join(f"{label} ({count})" for label, count in list(report.so_far.items())[:3])
    held_out = "held out by column" if report.columns > 1 else "held out, but all from one column"
    yield f"{name}: learnt from {columns} of {files}{cut}"
    yield f"  answered so far  {so_far or 'nothing'}"
    yield (
        f"  recognised       {report.recognised} of {report.parts} examples, {held_out}; "
        f"{report.recognised_without_header} with the header hidden"
    )
    alarms = "  false alarms    "
    yield f"{alarms} {_share(report.taken, report.known)} made-up columns{_listed(report.taken_of)}"
    if report.disguised:
        taken = f"{report.disguised_taken} of {report.disguised}"
        yield f"{alarms} {taken} made-up columns under the examples' headers"
    if report.neighbours:
        taken = f"{report.neighbours_taken} of {amount(report.neighbours, 'column')}"
        yield f"{alarms} {taken} beside the examples or given with --not"
    if validation is not None:
        before, after = (
            f"{100 * right / validation.columns:.1f} %"
            for right in (validation.right_before, validation.right_after)
        )
        yield (
            f"  on your tables   {_share(validation.taken, validation.columns)} columns of other types"
            f"{_listed(validation.taken_of)}; right answers {before} -> {after}"
        )
        if validation.of_type:
            found = f"{validation.recognised} of {validation.of_type}"
            yield f"                   {found} columns of the type"


def _share(part: int, whole: int) -> str:
    return f"{part} of {whole:,} ({100 * part / whole:.1f} %)"


def _listed(taken_of: Mapping[str, int]) -> str:
    """Which types would lose columns; known columns without a type are not named."""
    named = ", ".join(f"{count} {label}" for label, count in list(taken_of.items())[:4])
    return f" ({named})" if named else ""
