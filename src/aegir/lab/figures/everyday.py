"""`python -m aegir.lab.figures everyday`: n-grams on everyday tables that they have not seen, for docs/results.md.

Every table is answered by networks that were not trained on it, mixed with weights fitted on the other half of the groups.
"""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import click

from aegir.cli.options import PathName, verb_options
from aegir.cli.terminal import say, tell
from aegir.lab.cli.train import training_packages
from aegir.lab.data.sources import read_training_tables
from aegir.lab.score_tables import (
    domain_table,
    level_table,
    overall_table,
    row_class_table,
    special_table,
)
from aegir_rl.base.errors import UsageError
from aegir_rl.base.files import replace_file

BEGIN, END = "<!-- everyday: begin -->", "<!-- everyday: end -->"


@click.command(
    "everyday",
    epilog="Example: python -m aegir.lab.figures everyday runs/ngrams-parts --data DATA --into docs/results.md",
)
@click.argument("work", type=PathName(file_okay=False))
@verb_options("figure-everyday")
def everyday(work: Path, data: tuple[Path, ...], into: Path | None, as_json: bool) -> None:
    """Score the answers that `aegir train ngrams` kept in WORK: all parts, by domain, with intervals over groups."""
    page = None if into is None else _read_page(into)
    with training_packages():
        from aegir.lab.calibrate import calibrate_ngrams

    *_, evaluation = calibrate_ngrams(work, read_training_tables(data))
    record = evaluation.as_dict()
    if evaluation.by_group is None:
        raise UsageError(
            "no everyday table has labels of rows, persons or levels; docs/labelled-tables.md describes them"
        )
    lines = list(_lines(record))
    if into is not None and page is not None:
        before, after = page
        text = "\n".join([before + BEGIN, "", *lines, "", END + after])
        replace_file(into, text.encode())
        tell(f"wrote the scores into {into}")
    if as_json:
        click.echo(json.dumps(record))
    elif into is None:
        say(*lines)


def _read_page(path: Path) -> tuple[str, str]:
    """Return what stands before and after the marks of a page; raise if it has not exactly one pair."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(
            f"cannot read {path}: {getattr(error, 'strerror', None) or error}"
        ) from None
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end) or BEGIN in rest or END in after:
        raise UsageError(
            f"{path} has no place for the scores; expected one line {BEGIN} and below it one line {END}"
        )
    return before, after


def _lines(record: Mapping[str, Any]) -> Iterator[str]:
    groups = record["by_group"]
    yield f"{record['columns']:,} columns of {record['tables']:,} tables from {groups['groups']:,} groups, `{record['annotator']}`:"
    yield from ("", *overall_table(groups), "")
    if any(domain["name"] for domain in groups["domains"]):
        yield "By domain, where it is stated, in brackets the 95 % interval:"
        yield from ("", *domain_table(groups), "")
    yield "Classes of rows, those that are found least often first:"
    yield from ("", *row_class_table(groups), "")
    yield "Levels of personal data, as shares of the columns labelled so:"
    yield from ("", *level_table(groups))
    if groups["special_categories"]:
        yield from ("", "Special categories:", "", *special_table(groups))
