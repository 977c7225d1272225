"""Markdown tables of the scores that have intervals (evaluation/group_scores.py), for docs/results.md and the model card.

All of them take the JSON form of `GroupScores`, which the facts of a weights file hold, too.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from aegir.evaluation.group_scores import TITLES

Record = Mapping[str, Any]
SCARCE = 5
"""Classes with fewer held-out columns or tables are marked."""
BY_DOMAIN = (
    *(("type", "right"), ("row", "right"), ("person", "right")),
    *(("personal", "precision"), ("personal", "recall")),
    *(("identifying", "precision"), ("identifying", "recall")),
)
"""The shares that a table by domain has room for."""


def overall_table(record: Record) -> Iterator[str]:
    """Yield the lines of a table with every share, its interval and what it is a share of."""
    yield "| | share | 95 % interval | of | groups |"
    yield "|---|---|---|---|---|"
    for (part, name), title in TITLES.items():
        if part in record["scores"]:
            score = record["scores"][part][name]
            share, sizes = _share(score), f"{score['of']:,} | {score['groups']:,}"
            yield f"| {title} | {share} | {_interval(score)} | {sizes} |"


def domain_table(record: Record) -> Iterator[str]:
    """Yield the lines of a table with a row per domain that is stated."""
    domains = [domain for domain in record["domains"] if domain["name"]]
    shares = [each for each in BY_DOMAIN if any(each[0] in one["scores"] for one in domains)]
    yield f"| domain | tables | columns | {' | '.join(TITLES[each] for each in shares)} |"
    yield f"|---|---|---|{'---|' * len(shares)}"
    for domain in domains:
        cells = (_with_interval(domain["scores"].get(part, {}).get(name)) for part, name in shares)
        sizes = f"{domain['tables']:,} | {domain['columns']:,}"
        yield f"| {_cell(domain['name'])} | {sizes} | {' | '.join(cells)} |"


def row_class_table(record: Record, worst: int | None = None) -> Iterator[str]:
    """Yield the lines of a table of the classes of rows, those that are found least often first."""
    yield "| class | tables | precision | recall | mistaken for |"
    yield "|---|---|---|---|---|"
    ordered = sorted(record["row_classes"], key=lambda one: (one["recall"], one["name"]))
    for one in ordered[:worst]:
        mark = " (few)" if one["tables"] < SCARCE else ""
        precision = f"{one['precision']:.2f}" if one["answered"] else "–"
        shares = f"{one['tables']} | {precision} | {one['recall']:.2f}"
        yield f"| {one['name']}{mark} | {shares} | {one['mistaken_for'] or '–'} |"


def level_table(record: Record) -> Iterator[str]:
    """Yield the lines of a table that says how often each level was answered with which."""
    levels = record["levels"]
    yield f"| labelled as | columns | {' | '.join(f'answered {name}' for name in levels)} |"
    yield f"|---|---|{'---|' * len(levels)}"
    for name, answered in levels.items():
        columns = sum(answered.values())
        shares = (f"{count / columns:.2f}" if columns else "–" for count in answered.values())
        yield f"| {name} | {columns:,} | {' | '.join(shares)} |"


def special_table(record: Record) -> Iterator[str]:
    """Yield the lines of a table of the special categories that were answered."""
    yield "| answered category | columns | special data in fact |"
    yield "|---|---|---|"
    for name, counts in record["special_categories"].items():
        yield f"| {_cell(name)} | {counts['columns']:,} | {counts['right'] / counts['columns']:.2f} |"


def _share(score: Record) -> str:
    return "–" if score["value"] is None else f"{score['value']:.3f}"


def _interval(score: Record) -> str:
    return "–" if score["low"] is None else f"{score['low']:.3f} to {score['high']:.3f}"


def _with_interval(score: Record | None) -> str:
    """Return a share with its interval in two digits; a dash for a share of nothing."""
    if score is None or score["value"] is None:
        return "–"
    if score["low"] is None:
        return f"{score['value']:.2f}"
    return f"{score['value']:.2f} ({score['low']:.2f} to {score['high']:.2f})"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")
