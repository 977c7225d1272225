"""The part of the report of `aegir eval` that has confidence intervals: whole, and by domain."""

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

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


def show_groups(console: Console, result: GroupScores) -> None:
    """Print a line per share, whole and then by domain."""
    whole = _table("95 % interval over groups")
    _add(whole, result.scores)
    console.print(whole, "")
    if named := [domain for domain in result.domains if domain.name is not None]:
        console.print(_by_domain(named[:DOMAINS_SHOWN]), "")


def _table(first: str) -> Table:
    table = Table(first, "share", "from", "to", "of", "groups", box=None)
    table.columns[0].no_wrap = True
    for column in table.columns[1:]:
        column.justify = "right"
    return table


def _by_domain(domains: Sequence[DomainScores]) -> Table:
    """Return a table with the shares of each domain."""
    table = _table("the same by domain")
    for domain in domains:
        sizes = f"{amount(domain.tables, 'table')}, {amount(domain.columns, 'column')}"
        table.add_row(Text(f"{escape_controls(domain.name or '')}, {sizes}", style="bold"))
        _add(table, domain.scores, indent="  ")
    return table


def _add(table: Table, scores: Scores, indent: str = "") -> None:
    for (part, name), title in TITLES.items():
        if part in scores:
            table.add_row(indent + title, *_cells(scores[part][name]))


def _cells(score: Score) -> list[str]:
    shares = [
        "-" if each is None else f"{each:.3f}" for each in (score.value, score.low, score.high)
    ]
    return [*shares, f"{score.of:,}", f"{score.groups:,}"]
