"""Annotations as one HTML page for a person, which needs nothing beside it: `aegir annotate --format html`.

    totals, kinds and a filter at the top; per table some of its rows under the labels, then a line per column that opens
    to the meaning of the label, the reasons, what was likely next and which specialists of a swarm were activated

Promises
  - one file: no request is made, no font, no image, no framework; the page can be mailed and opened offline;
  - nothing from a table is executed: every text is escaped, and a content security policy allows only the style and the
    script of html_page.css and html_page.js, by their hashes;
  - without scripts all is readable, only the filter is missing; every part is reached with the keyboard;
  - the page depends on nothing but the annotations.

Limits: the page holds values of the tables, personal ones too. Hiding them on the page is for screens and paper; it does not
remove them from the file.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

from aegir.answers.annotation import ColumnAnnotation, Guess, TableAnnotation, profile_of
from aegir.answers.metadata_formats import EXAMPLE
from aegir.answers.routing import RouterScore, woken_first
from aegir.answers.statistics import shown_statistics
from aegir.answers.wording import (
    SURE,
    is_unsure,
    maybe,
    shown_confidence,
    shown_declared,
    shown_keys,
    shown_label,
    shown_level,
    shown_name,
    shown_offer,
    shown_personal,
    shown_review,
    shown_routing,
    shown_row,
    shown_special,
    shown_subject,
    shown_type,
    worth_listing,
)
from aegir.vocabulary.terms import (
    COLUMN_TYPES,
    FINE_TYPES,
    KINDS,
    RELATIONS,
    Kind,
    Term,
    plain_name,
)
from aegir_rl.base.safe_html import content_policy, page_style
from aegir_rl.base.safe_html import escape_text as _text
from aegir_rl.base.text import amount

HERE = Path(__file__).parent
STYLE = HERE / "html_page.css"
BEGINNING = """\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="generator" content="aegir annotate">
"""
LEVELS = {
    "direct": "identifies a person",
    "indirect": "identifies a person together with other columns",
    "about": "tells something about a person",
}
SPECIAL = "special category of personal data (GDPR, articles 9 and 10)"
NOTE = (
    "The page holds values of the tables, personal ones too; hiding them here does not remove them."
)


def render_page(annotations: Sequence[TableAnnotation]) -> str:
    """The whole page."""
    style, script = page_style(STYLE), _script()
    lines = [
        f'<meta http-equiv="Content-Security-Policy" content="{content_policy(style, script)}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        '<link rel="icon" href="data:,">',
        f"<title>{_text(_title(annotations))}</title>",
        f"<style>{style}</style>",
        "</head>",
        "<body>",
        *_overview(annotations),
        "<main>",
        *(line for number, each in enumerate(annotations, 1) for line in _table(number, each)),
        "</main>",
        f'<footer class="soft"><p>{NOTE} Made by <code>aegir annotate --format html</code>.</p></footer>',
        f"<script>{script}</script>",
        "</body>",
        "</html>",
    ]
    return BEGINNING + "\n".join(lines) + "\n"


def _overview(annotations: Sequence[TableAnnotation]) -> Iterator[str]:
    columns = [column for annotation in annotations for column in annotation.columns]
    yield f"<header><h1>{_text(_title(annotations))}</h1>"
    yield '<ul class="totals">'
    for counted in (amount(len(annotations), "table"), amount(len(columns), "column")):
        total, noun = counted.split()
        yield f"<li><b>{total}</b>{noun}</li>"
    personal = Counter(shown_level(column) for column in columns if column.personal)
    levels = ", ".join(f"{personal[level]:,} {level}" for level in LEVELS if personal[level])
    levels = f' <span class="soft">({levels})</span>' if levels else ""
    yield f'<li class="personal"><b>{personal.total():,}</b>with personal data{levels}</li>'
    if special := sum(map(bool, map(shown_special, columns))):
        yield f'<li class="personal" title="{SPECIAL}"><b>{special:,}</b>of special categories</li>'
    yield f"<li><b>{sum(map(is_unsure, columns)):,}</b>unsure</li>"
    yield "</ul>"
    kinds = Counter(column.kind for column in columns if column.kind)
    if kinds:
        yield '<ul class="legend" aria-label="Kinds of columns">'
        for kind, count in sorted(kinds.items(), key=lambda item: (-item[1], item[0])):
            meaning = f' title="{_text(KINDS[kind].definition)}"' if kind in KINDS else ""
            yield f'<li class="{_chip_class(kind)}"{meaning}>{_text(kind)} {count:,}</li>'
        yield "</ul>"
    yield "</header>"
    if columns:
        yield from _filter([kind for kind in KINDS if kinds[kind]])
    if len(annotations) > 1:
        yield '<nav aria-label="Tables"><ul>'
        for number, each in enumerate(annotations, 1):
            yield f'<li><a href="#table-{number}" dir="auto">{_text(each.table)}</a></li>'
        yield "</ul></nav>"


def _filter(kinds: Sequence[str]) -> Iterator[str]:
    yield '<div class="filter" role="search" hidden>'
    yield (
        '<input type="search" aria-label="Filter by table, column, label, type or relation" '
        'placeholder="Filter by table, column, label, type or relation" autocomplete="off">'
    )
    yield '<select aria-label="Which columns to show"><option value="">all columns</option>'
    yield '<option value="unsure">unsure</option><option value="personal">personal data</option>'
    for level, meaning in LEVELS.items():
        yield f'<option value="{level}" title="{meaning}">personal, {level}</option>'
    yield f'<option value="special" title="{SPECIAL}">special categories</option>'
    yield from (f'<option value="kind-{kind}">kind {kind}</option>' for kind in kinds)
    yield "</select>"
    yield '<label><input type="checkbox"> hide personal values</label>'
    yield '<button type="button">Open or close all</button>'
    yield '<output aria-live="polite"></output></div>'


def _table(number: int, annotation: TableAnnotation) -> Iterator[str]:
    yield f'<section class="table" id="table-{number}" aria-labelledby="table-{number}-name">'
    yield f'<h2 id="table-{number}-name" dir="auto">{_text(annotation.table)}</h2>'
    yield f'<p class="facts">{_facts(annotation)}</p>'
    if keys := shown_keys(annotation):
        yield f'<p class="facts">keys: <bdi>{_text("; ".join(keys))}</bdi></p>'
    yield from (f'<p class="warning">{_text(warning)}</p>' for warning in annotation.warnings)
    if annotation.columns:
        yield from _preview(annotation)
        yield '<div class="head" aria-hidden="true"><span>column</span><span>label</span>'
        yield "<span>sure</span><span>relation</span><span>personal</span></div>"
        yield '<ul class="columns">'
        for column in annotation.columns:
            yield from _column(annotation, column)
        yield "</ul>"
    yield "</section>"


def _facts(annotation: TableAnnotation) -> str:
    row = shown_row(annotation.row)
    facts = [f"<b><bdi>{_text(row)}</bdi></b>"] if row else []
    facts.append(amount(len(annotation.columns), "column"))
    if annotation.profiles and (rows := annotation.profiles[0].total_rows) is not None:
        facts.append(amount(rows, "row"))
    if annotation.source and annotation.source != annotation.table:
        facts.append(_text(annotation.source))
    if subject := shown_subject(annotation):
        facts.append(f"subject: <bdi>{_text(subject)}</bdi>")
    facts.append(f"answered by {_text(annotation.annotator)}")
    if routed := shown_routing(annotation):
        facts.append(_text(routed))
    return " · ".join(facts)


def _preview(annotation: TableAnnotation) -> Iterator[str]:
    """Some rows of the table under its labels, if the annotation still has them."""
    cells = annotation.preview
    rows = max(map(len, cells), default=0)
    if not rows or len(cells) != len(annotation.columns):
        return
    yield '<div class="preview" tabindex="0" role="region" aria-label="Some rows"><table>'
    yield f"<caption>{rows} of the rows that were looked at</caption><thead><tr>"
    for column in annotation.columns:
        yield f'<th scope="col"><bdi>{_text(shown_name(column))}</bdi><br>{_chip(column)}</th>'
    yield "</tr></thead><tbody>"
    for row in range(rows):
        yield "<tr>" + "".join(
            map(_cell, annotation.columns, (each[row : row + 1] for each in cells))
        )
        yield "</tr>"
    yield "</tbody></table></div>"


def _cell(column: ColumnAnnotation, values: Sequence[str]) -> str:
    personal = ' class="personal-values"' if column.personal else ""
    return f'<td{personal} dir="auto"><span>{_text("".join(values))}</span></td>'


def _column(annotation: TableAnnotation, column: ColumnAnnotation) -> Iterator[str]:
    marks = [
        *(["personal", column.personal_level or ""] if column.personal else []),
        *(["special"] if shown_special(column) else []),
        *(["unsure"] if is_unsure(column) else []),
        *([f"kind-{column.kind}"] if column.kind in KINDS else []),
    ]
    yield f'<li data-marks="{_text(" ".join(marks))}"><details><summary>'
    is_subject = column.index == annotation.subject
    subject = ' <span class="subject">subject</span>' if is_subject else ""
    yield f'<span class="name"><bdi>{_text(shown_name(column))}</bdi>{subject}</span>'
    beside = shown_type(column)
    beside = f' <span class="soft">{_text(beside)}</span>' if beside else ""
    yield f"<span>{_chip(column)}{beside}</span>"
    yield f"<span>{_sureness(column.confidence) if shown_confidence(column) else ''}</span>"
    yield f"<span>{_relation(column.relation) if column.relation else ''}</span>"
    yield f"<span>{_badge(column)}</span>"
    yield '</summary><div class="more">'
    yield from _explanation(column)
    if profile := profile_of(annotation, column):
        said = shown_statistics(profile, personal=column.personal)
        yield f'<h3>Statistics</h3><p dir="auto">{_text("; ".join(said))}</p>'
    yield "</div></details></li>"


def _explanation(column: ColumnAnnotation) -> Iterator[str]:
    for name, meaning in meanings(column):
        yield f"<p><b>{_text(name)}</b>: {_text(meaning)}</p>"
    if column.reasons:
        masked = ' class="personal-values"' if column.personal else ""
        yield "<h3>Why</h3><ul>"
        for reason in column.reasons:
            said, such_as, example = reason.partition(EXAMPLE)
            value = f"<span{masked}><span>{_text(example)}</span></span>" if such_as else ""
            yield f"<li>{_text(said + such_as)}{value}</li>"
        yield "</ul>"
    if said := shown_personal(column):
        level = f"{column.personal_level}: " if column.personal_level else ""
        yield f"<h3>Personal data</h3><p>{_text(level + said)}</p>"
    yield from _guesses("Next best" if column.label else "Perhaps", column.runners_up)
    if column.type_runners_up != column.runners_up:
        yield from _guesses("Other types", column.type_runners_up)
    related = "Other relations" if column.relation else "No relation is likely enough, perhaps"
    yield from _guesses(related, column.relation_runners_up)
    if column.routing:
        yield from _specialists(column.routing)
    if column.offers:
        offers = "".join(f"<li>{_text(shown_offer(offer))}</li>" for offer in column.offers)
        yield f"<h3>Offered, from reviews of similar columns</h3><ul>{offers}</ul>"
    yield f'<p class="soft">{" · ".join(_details(column))}</p>'


def _specialists(routing: Sequence[RouterScore]) -> Iterator[str]:
    """The router's score of every specialist, the activated ones first."""
    yield "<details><summary>Details</summary>"
    yield '<h3>Specialists, by the router\'s score</h3><dl class="guesses specialists">'
    for each in woken_first(routing):
        note = "" if each.woken else ' <span class="soft">not woken</span>'
        yield f"<dt>{_text(each.specialist)}{note}</dt><dd>{_sureness(each.score)}</dd>"
    yield "</dl></details>"


def _details(column: ColumnAnnotation) -> Iterator[str]:
    yield f"column {column.index + 1}"
    if column.kind:
        yield f"kind {_text(column.kind)}"
    yield f"stored as {_text(column.datatype)}"
    if column.all_missing:
        yield "every value is missing"
    if declared := shown_declared(column.declared):
        yield f"declared as {_text(declared)}"
    if column.type:
        yield f"type {_link(plain_name(column.type), column.iri)} {column.type_confidence:.2f}"
    else:
        yield f"none of the column types {column.type_confidence:.2f}"
    if column.relation:
        yield f"relation {_link(column.relation.label, column.relation_iri)}"
    if column.reviewed:
        yield _text(shown_review(column))


def meanings(column: ColumnAnnotation) -> Iterator[tuple[str, str]]:
    """Yield the label and the relation with their definitions, as far as they are in the vocabulary."""
    if column.label is not None:
        term: Term | Kind | None
        if column.label == column.fine_type:
            term = FINE_TYPES.get(column.label)
        elif column.label == plain_name(column.type or ""):
            term = COLUMN_TYPES.get(column.type or "")
        else:
            term = KINDS.get(column.label)
        if term:
            yield column.label, term.definition
    if column.relation and column.relation.label in RELATIONS:
        yield column.relation.label, RELATIONS[column.relation.label].definition


def _guesses(title: str, guesses: tuple[Guess, ...]) -> Iterator[str]:
    if likely := worth_listing(guesses):
        yield f'<h3>{title}</h3><dl class="guesses">'
        for guess in likely:
            yield f"<dt>{_text(plain_name(guess.label))}</dt><dd>{_sureness(guess.confidence)}</dd>"
        yield "</dl>"


def _chip(column: ColumnAnnotation) -> str:
    """The label in the colour of its kind; dashed when unsure."""
    unsure = " unsure" if is_unsure(column) else ""
    kind = f' title="{_text(column.kind)}"' if column.kind else ""
    return f'<span class="{_chip_class(column.kind)}{unsure}"{kind}>{_text(shown_label(column))}</span>'


def _chip_class(kind: str | None) -> str:
    return f"chip kind-{kind}" if kind in KINDS else "chip"


def _relation(guess: Guess) -> str:
    shown = _text(maybe(guess.confidence) + guess.label)
    return f'{shown} <span class="soft number">{guess.confidence:.2f}</span>'


def _badge(column: ColumnAnnotation) -> str:
    if not column.personal:
        return ""
    meaning = LEVELS.get(column.personal_level or "", "likely to hold personal data")
    badge = f'<span class="badge" title="{_text(meaning)}">{_text(shown_level(column))}</span>'
    if special := shown_special(column):
        badge += f' <span class="badge" title="{SPECIAL}">{_text(special)}</span>'
    return badge


def _sureness(confidence: float) -> str:
    """A bar and the number it stands for."""
    trust = "sure" if confidence >= SURE else "weak" if maybe(confidence) else "fair"
    return (
        '<span class="sureness"><svg class="bar" viewBox="0 0 100 10" preserveAspectRatio="none" '
        'aria-hidden="true"><rect class="track" width="100" height="10" rx="4"/>'
        f'<rect class="{trust}" width="{100 * confidence:.0f}" height="10" rx="4"/></svg>'
        f'<span class="number">{confidence:.2f}</span></span>'
    )


def _link(name: str, iri: str | None) -> str:
    """The name, with a link to its vocabulary if that is a web address."""
    if iri is None or not iri.startswith(("https://", "http://")):
        return _text(name)
    return f'<a href="{_text(iri)}" rel="noopener noreferrer">{_text(name)}</a>'


def _title(annotations: Sequence[TableAnnotation]) -> str:
    if len(annotations) == 1:
        return f"What the columns of {annotations[0].table} are"
    return "What the columns of these tables are"


@cache
def _script() -> str:
    return (HERE / "html_page.js").read_text(encoding="utf-8")
