"""Disagreements between answers and labels as one HTML page to read, which needs nothing beside it and no script.

    a section per part of the answer; in it a card per table, the most confident answers first: what a row is, the columns
    with header and some values, what was expected, what was answered, how surely and why

Promises
  - every text of a table is escaped, and a content security policy allows nothing but the page's own style;
  - the page is of bounded size: at most `MOST` disagreements of a part (disagreements.py), and long texts are cut.

Limit: the page holds values of the tables, personal ones too.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from aegir.answers.annotation import TableAnnotation
from aegir.answers.wording import shown_name
from aegir.evaluation.disagreements import Disagreement, Part
from aegir.tables.labelled import LabelledTable
from aegir_rl.base.safe_html import content_policy, escape_text, page_style
from aegir_rl.base.text import amount

STYLE = Path(__file__).with_suffix(".css")
TITLES = {
    "types": "Types",
    "relations": "Relations",
    "personal": "Personal data",
    "rows": "What a row is",
    "subject": "Subject columns",
}
VALUES, LONGEST_VALUE, LONGEST_TEXT = 5, 40, 200
REASONS, COLUMNS = 3, 12
"""Reasons of an answer, and columns of a table, that are shown."""
HEADS = ("column", "values", "expected", "answered", "sure", "why")
NOTE = "The page holds values of the tables, personal ones too."


def render_disagreements(
    tables: Sequence[LabelledTable],
    annotations: Sequence[TableAnnotation],
    found: Mapping[str, Part],
) -> str:
    """Return the whole page."""
    style = page_style(STYLE)
    total = sum(part.total for part in found.values())
    title = f"{amount(total, 'disagreement')} in {amount(len(tables), 'table')}"
    lines = [
        "<!doctype html>",
        '<html lang="en">',
        "<head>",
        '<meta charset="utf-8">',
        '<meta name="generator" content="aegir eval">',
        f'<meta http-equiv="Content-Security-Policy" content="{content_policy(style)}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        '<link rel="icon" href="data:,">',
        f"<title>{title}</title>",
        f"<style>{style}</style>",
        "</head>",
        "<body>",
        f"<header><h1>{title}</h1>",
        "<p>Labels and answers that differ, the most confident answers first.</p>",
        '<nav aria-label="Parts"><ul>',
        *(
            f'<li><a href="#{name}">{TITLES[name]}</a> {part.total:,}</li>'
            for name, part in found.items()
        ),
        "</ul></nav></header>",
        "<main>",
        *(
            line
            for name, part in found.items()
            for line in _section(name, part, tables, annotations)
        ),
        "</main>",
        f'<footer class="soft"><p>{NOTE} Made by <code>aegir eval --errors</code>.</p></footer>',
        "</body>",
        "</html>",
    ]
    return "\n".join(lines) + "\n"


def _section(
    name: str,
    part: Part,
    tables: Sequence[LabelledTable],
    annotations: Sequence[TableAnnotation],
) -> Iterator[str]:
    yield f'<section id="{name}"><h2>{TITLES[name]}: {amount(part.total, "disagreement")}</h2>'
    if left := part.total - len(part.shown):
        yield f'<p class="soft">{left:,} less confident ones are left out.</p>'
    by_table: dict[int, list[Disagreement]] = {}
    for each in part.shown:
        by_table.setdefault(each.table, []).append(each)
    for number, of_table in by_table.items():
        yield from _card(tables[number], annotations[number], of_table)
    yield "</section>"


def _card(
    labelled: LabelledTable, annotation: TableAnnotation, found: Sequence[Disagreement]
) -> Iterator[str]:
    yield f'<article><h3 dir="auto">{_text(labelled.table.name)}</h3>'
    yield f'<p class="soft">{" · ".join(_facts(labelled))}</p>'
    about = {each.column for each in found}
    heads = [*([] if None in about else HEADS[:2]), *HEADS[2:]]
    yield f"<table><thead><tr><th>{'</th><th>'.join(heads)}</th></tr></thead><tbody>"
    for each in found:
        yield from _line(labelled, annotation, each)
    yield "</tbody></table>"
    if None in about:
        yield from _values_of_columns(labelled, annotation)
    elif others := [shown_name(each) for each in annotation.columns if each.index not in about]:
        more = ", …" if len(others) > COLUMNS else ""
        beside = ", ".join(f"<bdi>{_text(name, LONGEST_VALUE)}</bdi>" for name in others[:COLUMNS])
        yield f'<p class="soft">beside {beside}{more}</p>'
    yield "</article>"


def _facts(labelled: LabelledTable) -> Iterator[str]:
    """What is known of the table: a row of it, where it is from, its size."""
    row = [each for each in (labelled.row, labelled.row_class) if each]
    if row:
        yield f"a row is: <bdi>{_text(', '.join(row))}</bdi>"
    if labelled.person:
        yield f"person: {_text(labelled.person)}"
    for each in (labelled.domain, labelled.language, labelled.group):
        if each:
            yield f"<bdi>{_text(each)}</bdi>"
    rows = max((len(column.values) for column in labelled.table.columns), default=0)
    yield f"{amount(len(labelled.table.columns), 'column')}, {amount(rows, 'row')}"


def _line(
    labelled: LabelledTable, annotation: TableAnnotation, found: Disagreement
) -> Iterator[str]:
    column = ""
    if found.column is not None:
        name = _text(shown_name(annotation.columns[found.column]))
        values = _values(labelled, found.column)
        column = f'<th scope="row"><bdi>{name}</bdi></th><td>{values}</td>'
    sure = "" if found.confidence is None else f"{found.confidence:.2f}"
    reasons = "".join(f"<li>{_text(reason)}</li>" for reason in found.reasons[:REASONS])
    yield f"<tr>{column}<td>{_text(found.expected)}</td><td>{_text(found.answered)}</td>"
    yield f'<td class="number">{sure}</td><td>{f"<ul>{reasons}</ul>" if reasons else ""}</td></tr>'


def _values_of_columns(labelled: LabelledTable, annotation: TableAnnotation) -> Iterator[str]:
    """The first columns of a table with some values, where all of them matter."""
    yield "<table><tbody>"
    for column in annotation.columns[:COLUMNS]:
        header = f'<th scope="row"><bdi>{_text(shown_name(column))}</bdi></th>'
        yield f"<tr>{header}<td>{_values(labelled, column.index)}</td></tr>"
    yield "</tbody></table>"
    if (left := len(annotation.columns) - COLUMNS) > 0:
        yield f'<p class="soft">and {amount(left, "further column")}</p>'


def _values(labelled: LabelledTable, column: int) -> str:
    values = list(dict.fromkeys(labelled.table.columns[column].present))[:VALUES]
    shown = " · ".join(f"<bdi>{_text(value, LONGEST_VALUE)}</bdi>" for value in values)
    return shown or '<span class="soft">no values</span>'


def _text(text: str, longest: int = LONGEST_TEXT) -> str:
    return escape_text(text if len(text) <= longest else f"{text[: longest - 1]}…")
