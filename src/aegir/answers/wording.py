"""How answers are put into words, the same way in the report and on the page.

shown_label(column)     "iso_date", "maybe category" below one half, "unsure (price?)", "no values"
shown_row(row)          "one row is a customer (person 0.97)", "one row is an order (transaction 0.91) and belongs to a person (0.88)"
"""

import re
from collections import Counter
from collections.abc import Sequence

from aegir.answers.annotation import ColumnAnnotation, Guess, RowAnnotation, TableAnnotation
from aegir.answers.keys import ForeignKey, PrimaryKey
from aegir.answers.reviewing import Offer
from aegir.answers.routing import RouterScore, Timing, woken_first
from aegir.tables.table import Declared
from aegir.vocabulary.terms import plain_name
from aegir_rl.base.text import amount

SURE, UNSURE = 0.8, 0.5
"""From the first on an answer is sure; below the second it is a `maybe`."""
WORTH_LISTING = 0.005
"""Guesses below this would be shown as 0.00."""
UNCOUNTED = {"other": "something else", "software": "a piece of software"}
"""Row classes that do not go with `a`."""
VOWEL = re.compile(r"[ai]|e(?!u)|o(?!ne\b)|u(?!ni|s|ti)|hour|heir|hono", re.IGNORECASE)
"""How a word begins that `an` stands before."""


def shown_name(column: ColumnAnnotation) -> str:
    """The header, or the position of a column without one."""
    return column.name or f"column_{column.index + 1}"


def shown_label(column: ColumnAnnotation) -> str:
    """The label as it is said to people."""
    if column.label is not None:
        return maybe(column.confidence) + column.label
    if column.reviewed:
        return "no name fits"
    if column.runners_up:
        return f"unsure ({column.runners_up[0].label}?)"
    return "no values" if column.datatype == "empty" else "unsure"


def shown_type(column: ColumnAnnotation) -> str:
    """The type where it says more than the label: beside `iso_date` Date does, beside `date` it does not."""
    if column.type is None or column.label is None:
        return ""
    name = plain_name(column.type)
    if _letters(name) == _letters(column.label):
        return ""
    return maybe(column.type_confidence) + name


def shown_confidence(column: ColumnAnnotation) -> str:
    """The probability of the label or of the best guess; nothing for a column of which nothing is known."""
    known = column.label is not None or column.runners_up
    return f"{column.confidence:.2f}" if known else ""


def shown_level(column: ColumnAnnotation) -> str:
    """How near to a person, `yes` where that is not known, nothing for other columns."""
    return (column.personal_level or "yes") if column.personal else ""


def shown_special(column: ColumnAnnotation) -> str:
    """The special category of a personal column, `special` where it is not known which; nothing for other columns."""
    if not (column.personal and column.special):
        return ""
    return (column.special_category or "special").replace("_", " ")


def shown_category(column: ColumnAnnotation) -> str:
    """The same in a sentence: `special category: sexual life`, or `special category`; nothing for other columns."""
    special = shown_special(column)
    return f"special category: {special}".removesuffix(": special") if special else ""


def shown_personal(column: ColumnAnnotation) -> str:
    """Why a column is personal, its special category, how likely it identifies persons, and its tags; nothing for other columns."""
    if not column.personal:
        return ""
    identifying = column.identifying_confidence
    said = (
        column.personal_reason or "likely to hold personal data",
        shown_category(column),
        "" if identifying is None else f"identifying {identifying:.2f}",
        f"tags: {', '.join(column.tags)}" if column.tags else "",
    )
    return "; ".join(filter(None, said))


def shown_row(row: RowAnnotation | None) -> str:
    """What one row is, and whether it is a person or belongs to one; nothing where its class is not known."""
    if row is None or row.name is None:
        return ""
    thing = UNCOUNTED.get(row.name) or _with_article(row.name)
    sure = f"{row.confidence:.2f}"
    if row.noun:
        thing, sure = _with_article(row.noun), f"{row.name} {sure}"
    said = f"one row is {maybe(row.confidence)}{thing} ({sure})"
    is_said = row.name == "person" and row.person == "self"
    verb = {"self": "stands for", "linked": "belongs to"}.get(row.person)
    if verb is None or is_said:
        return said
    return f"{said} and {maybe(row.person_confidence)}{verb} a person ({row.person_confidence:.2f})"


def _with_article(noun: str) -> str:
    return f"{'an' if VOWEL.match(noun) else 'a'} {noun}"


def shown_subject(annotation: TableAnnotation) -> str:
    """The name of the subject column, and whether its values repeat; nothing where there is none."""
    for column in annotation.columns:
        if column.index == annotation.subject:
            repeats = " (repeats: several rows share it)" if annotation.subject_repeats else ""
            return shown_name(column) + repeats
    return ""


def shown_routing(annotation: TableAnnotation) -> str:
    """Which specialists a swarm activated for how many columns, and its times if measured; nothing for other annotators."""
    routed = [column.routing for column in annotation.columns if column.routing is not None]
    if not routed:
        return ""
    counts = Counter(each.specialist for routing in routed for each in routing if each.woken)
    woken = ", ".join(f"{name} {count}" for name, count in counts.most_common()) or "no specialist"
    times = f"; {shown_timing(annotation.timing)}" if annotation.timing else ""
    return f"woken: {woken} of {amount(len(routed), 'column')}{times}"


def shown_timing(timing: Timing) -> str:
    """How long a table took."""
    return f"critical path {timing.critical_path:.3f} s, cost {timing.cost:.3f} CPU s"


def shown_specialists(routing: Sequence[RouterScore]) -> str:
    """Every specialist with the router's score, the activated ones first."""
    return ", ".join(
        f"{each.specialist} {each.score:.2f}{'' if each.woken else ' (not woken)'}"
        for each in woken_first(routing)
    )


def shown_review(column: ColumnAnnotation) -> str:
    """Who reviewed the column and when; nothing for a column that nobody reviewed."""
    review = column.reviewed
    return f"{review.verdict} by {review.by} at {review.at}" if review else ""


def shown_declared(declared: Declared | None) -> str:
    """What the source says of a column: its type, keys and comment; nothing where it says nothing."""
    if declared is None:
        return ""
    said = (
        declared.type,
        "primary key" if declared.primary_key else None,
        f"references {declared.references}" if declared.references else None,
        repr(declared.comment) if declared.comment else None,
    )
    return ", ".join(filter(None, said))


def shown_offer(offer: Offer) -> str:
    """What was said about a similar column, and why it is similar."""
    label = plain_name(offer.label) if offer.label else "no name fits"
    return f"{label} ({offer.similarity:.2f}): {offer.reason}, by {offer.by} on {offer.at[:10]}"


def is_unsure(column: ColumnAnnotation) -> bool:
    """Whether the answer is less likely than not."""
    return column.label is None or bool(maybe(column.confidence))


def maybe(confidence: float) -> str:
    """What stands before a name that is less likely than not, by the two digits that are shown."""
    return "maybe " if round(confidence, 2) < UNSURE else ""


def worth_listing(guesses: tuple[Guess, ...]) -> list[Guess]:
    """The guesses whose probability can be seen."""
    return [guess for guess in guesses if guess.confidence >= WORTH_LISTING]


def _letters(name: str) -> str:
    return "".join(filter(str.isalnum, name.lower()))


def shown_keys(annotation: TableAnnotation) -> list[str]:
    """The keys of a table in words: `primary key order_id 0.97`, `customer_id -> customers.csv: id 0.95`."""
    columns = annotation.columns
    shown = []
    if key := annotation.primary_key:
        names = ", ".join(shown_name(columns[column]) for column in key.columns)
        shown.append(f"primary key {names} {shown_sureness(key)}")
    for foreign in annotation.foreign_keys:
        own = ", ".join(shown_name(columns[column]) for column in foreign.columns)
        places = zip(foreign.names, foreign.references, strict=True)
        names = ", ".join(name or f"column_{place + 1}" for name, place in places)
        shown.append(f"{own} -> {foreign.table}: {names} {shown_sureness(foreign)}")
    return shown


def shown_sureness(key: PrimaryKey | ForeignKey) -> str:
    """How sure a key is; a declared one is said to be so."""
    return "declared" if key.declared else f"{key.confidence:.2f}"
