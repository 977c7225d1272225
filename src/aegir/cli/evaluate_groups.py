"""The part of the report of `aegir eval` that has confidence intervals: whole, and by domain."""

from collections.abc import Sequence

from aegir.answers.cells import table_lines
from aegir.cli.terminal import say
from aegir.evaluation.group_scores import (
    TITLES,
    DomainScores,
    GroupScores,
    Score,
    Scores,
)
from aegir_rl.base.text import amount, escape_controls

DOMAINS_SHOWN = 10
"""The largest; the others are only in the JSON object."""


def show_groups(result: GroupScores) -> None:
    """Print a line per share, whole and then by domain."""
    say(*_table("95 % interval over groups", _rows(result.scores)), "")
    if named := [domain for domain in result.domains if domain.name is not None]:
        say(*_by_domain(named[:DOMAINS_SHOWN]), "")


def _table(first: str, rows: Sequence[Sequence[str]]) -> list[str]:
    return table_lines((first, "share", "from", "to", "of", "groups"), rows)


def _by_domain(domains: Sequence[DomainScores]) -> list[str]:
    """Return a table with the shares of each domain."""
    rows: list[Sequence[str]] = []
    for domain in domains:
        sizes = f"{amount(domain.tables, 'table')}, {amount(domain.columns, 'column')}"
        rows += [(f"{escape_controls(domain.name or '')}, {sizes}",)]
        rows += _rows(domain.scores, indent="  ")
    return _table("the same by domain", rows)


def _rows(scores: Scores, indent: str = "") -> list[Sequence[str]]:
    return [
        (indent + title, *_cells(scores[part][name]))
        for (part, name), title in TITLES.items()
        if part in scores
    ]


def _cells(score: Score) -> list[str]:
    shares = [
        "-" if each is None else f"{each:.3f}" for each in (score.value, score.low, score.high)
    ]
    return [*shares, f"{score.of:,}", f"{score.groups:,}"]
