"""Differences between answers, written: for people, for pull requests (Markdown, SARIF) and for programs (JSON).

    render_differences(differences, "markdown")

JSON is one object: `counts` by kind of change, and `tables`, each with its `changes`; JSON lines have one object per change.
"""

import re
from collections.abc import Callable, Sequence

from aegir.answers.annotation import ColumnAnnotation, TableAnnotation
from aegir.answers.differences import ColumnChange, TableDifference, count_changes
from aegir.answers.writers import quoted_json
from aegir_rl.base.errors import UsageError
from aegir_rl.base.text import amount, escape_controls, escape_surrogates

FORM = 1
"""The version of the JSON."""
WORDS = {
    "added": "added",
    "removed": "removed",
    "renamed": "renamed",
    "type": "another type",
    "personal": "newly personal",
    "not-personal": "less personal",
    "confidence": "less sure",
}


def render_differences(differences: Sequence[TableDifference], format_name: str) -> str:
    """Return the differences in a format: text, markdown, json, jsonl or sarif."""
    if format_name not in DIFFERENCE_FORMATS:
        raise UsageError(
            f"unknown format {format_name!r}; there are {', '.join(DIFFERENCE_FORMATS)}"
        )
    return DIFFERENCE_FORMATS[format_name](differences)


def describe_counts(counts: dict[str, int]) -> str:
    """Return the changes that happened, in words: `2 newly personal, 1 removed`."""
    return ", ".join(f"{count:,} {WORDS[name]}" for name, count in counts.items() if count)


def _text(differences: Sequence[TableDifference]) -> str:
    if not differences:
        return "no changes\n"
    lines = []
    for difference in differences:
        lines.append(f"{_plain(difference.table)}{_status(difference)}")
        width = max((len(WORDS[each.change]) for each in difference.changes), default=0)
        lines += [
            f"  {WORDS[change.change]:<{width}}  {_plain(change.column)}{_what(change)}"
            for change in difference.changes
        ]
    counts = count_changes(differences)
    lines.append(
        f"{amount(sum(counts.values()), 'change')}: {describe_counts(counts) or 'tables only'}"
    )
    return "".join(line + "\n" for line in lines)


def _status(difference: TableDifference) -> str:
    if difference.old is None:
        return ": a new table"
    return ": this table is gone" if difference.new is None else ""


def _what(change: ColumnChange) -> str:
    before, after = _plain(change.before), _plain(change.after)
    if before and after:
        return f": {before} -> {after}"
    return f": {before or after}" if before or after else ""


def _markdown(differences: Sequence[TableDifference]) -> str:
    if not differences:
        return "No column has changed.\n"
    counts = count_changes(differences)
    total = amount(sum(counts.values()), "change")
    lines = [f"**{total}**: {describe_counts(counts) or 'tables only'}", ""]
    lines += ["| table | column | change | before | after |", "|---|---|---|---|---|"]
    for difference in differences:
        table = markdown_cell(difference.table) + _status(difference).replace(":", ",")
        for each in difference.changes:
            cells = [
                table,
                markdown_cell(each.column),
                WORDS[each.change],
                markdown_cell(each.before),
                markdown_cell(each.after),
            ]
            lines.append(f"| {' | '.join(cells)} |")
        if not difference.changes:
            lines.append(f"| {table} | | | | |")
    return "".join(line + "\n" for line in lines)


def markdown_cell(text: str) -> str:
    """Return text for a cell of a Markdown table: on one line, and nothing in it is markup."""
    return re.sub(r"([\\`*_{}\[\]<>()#+!|~&@])", r"\\\1", _plain(text))


def _plain(text: str) -> str:
    return escape_controls(escape_surrogates(text))


def _json(differences: Sequence[TableDifference]) -> str:
    document = {
        "form": FORM,
        "counts": count_changes(differences),
        "tables": [
            {**_table(each), "changes": [_change(change) for change in each.changes]}
            for each in differences
        ],
    }
    return quoted_json(document, indent=2) + "\n"


def _json_lines(differences: Sequence[TableDifference]) -> str:
    return "".join(
        quoted_json({**_table(difference), **_change(change)}) + "\n"
        for difference in differences
        for change in difference.changes
    )


def _sarif(differences: Sequence[TableDifference]) -> str:
    from aegir.answers.sarif import differences_as_sarif

    return quoted_json(differences_as_sarif(differences), indent=2) + "\n"


def _table(difference: TableDifference) -> dict[str, object]:
    return {
        "table": difference.table,
        "old_source": _source(difference.old),
        "new_source": _source(difference.new),
    }


def _source(annotation: TableAnnotation | None) -> str | None:
    return None if annotation is None else annotation.source or annotation.table


def _change(change: ColumnChange) -> dict[str, object]:
    return {
        "change": change.change,
        "column": change.column,
        "before": change.before,
        "after": change.after,
        "old": _column(change.old),
        "new": _column(change.new),
    }


def _column(column: ColumnAnnotation | None) -> dict[str, object] | None:
    if column is None:
        return None
    return {
        "index": column.index,
        "name": column.name,
        "label": column.label,
        "confidence": round(column.confidence, 4),
        "type": column.type,
        "personal": column.personal,
        "personal_level": column.personal_level,
        "special": column.special,
        "special_category": column.special_category,
    }


DIFFERENCE_FORMATS: dict[str, Callable[[Sequence[TableDifference]], str]] = {
    "text": _text,
    "markdown": _markdown,
    "json": _json,
    "jsonl": _json_lines,
    "sarif": _sarif,
}
