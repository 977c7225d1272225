"""What the formats that other tools read share: names, paths, descriptions and the facts of a column.

Promises
  - names are unique where a format demands it: a second `id` becomes `id_2`, a missing header `column_3`;
  - paths in a Data Package are relative, as its specification asks; absolute ones keep their file name;
  - only what is known is stated;
  - values of personal columns are never quoted, since people commit and publish these files: an example
    is given by its shape ('anders.solheim@…' becomes 'xxxxxx.xxxxx').
"""

import re
from collections.abc import Sequence
from pathlib import PureWindowsPath

from aegir.answers.annotation import DECIMALS, ColumnAnnotation, TableAnnotation
from aegir.answers.statistics import shape_of
from aegir.answers.wording import shown_category, shown_level, shown_review, shown_row
from aegir.tables.database_urls import is_database_url
from aegir.vocabulary.terms import SPECIAL_CATEGORIES

CSVW_CONTEXT = "http://www.w3.org/ns/csvw"
EXAMPLE = ", such as "
"""What stands before the example in a reason; a test holds the rules to it."""
PERSONAL_TAGS = {
    "personal": "Holds personal data.",
    "personal_direct": "Identifies a person.",
    "personal_indirect": "Identifies a person together with other columns.",
    "personal_about": "Describes a person.",
    "special": "Holds data of a special category (GDPR, articles 9 and 10).",
    **{
        f"special_{name}": f"Holds data of a special category: {name.replace('_', ' ')}."
        for name in SPECIAL_CATEGORIES
    },
}


def describe_rows(annotation: TableAnnotation) -> str:
    """A sentence that says what one row of a table is; empty where that is not known."""
    said = shown_row(annotation.row)
    return f"{said[0].upper()}{said[1:]}." if said else ""


def describe_table(annotation: TableAnnotation, read_from: str) -> str:
    """What a table was read from, and what one row of it is."""
    return f"Read from {read_from}. {describe_rows(annotation)}".rstrip()


def describe(column: ColumnAnnotation) -> str:
    """One line for a catalogue: the answer, how sure it is, and the first reason."""
    answer = f"{column.label or 'not decided'} ({column.confidence:.2f})"
    return ": ".join([answer, *_publishable_reasons(column)[:1]])


def _publishable_reasons(column: ColumnAnnotation) -> list[str]:
    return [without_examples(each) if column.personal else each for each in column.reasons]


def without_examples(sentence: str) -> str:
    """The sentence with the value it gives as an example replaced by the value's shape.

    The value stands last and is quoted as Python quotes text; from the opening quote on nothing is kept.
    """
    said, such_as, example = sentence.partition(EXAMPLE)
    return said + such_as + f"'{shape_of(example[1:-1])}'" if such_as else sentence


def describe_personal(column: ColumnAnnotation) -> str:
    """What follows a description where the column is personal: its level and its special category."""
    if not column.personal:
        return ""
    said = ", ".join(filter(None, (shown_level(column), shown_category(column))))
    return f"; personal data ({said})"


def personal_tags(column: ColumnAnnotation) -> list[str]:
    """Our own tags of a column that holds personal data; none of another."""
    if not column.personal:
        return []
    tags = ["personal", f"personal_{column.personal_level}"]
    if column.special:
        tags += ["special", f"special_{column.special_category}"]
    return [tag for tag in tags if tag in PERSONAL_TAGS]


def all_tags(column: ColumnAnnotation) -> list[str]:
    """Our own tags and those of the user's organisation, each once."""
    return list(dict.fromkeys((*personal_tags(column), *column.tags)))


def unique_names(names: Sequence[str | None]) -> list[str]:
    """Every name once: missing ones by position, repeated ones numbered, own ones unchanged."""
    headers = {name for name in names if name}
    used: set[str] = set()
    result = []
    for position, name in enumerate(names, start=1):
        stem = name or f"column_{position}"
        candidate, number = stem, 1
        # A made-up name must not take one that a later column was really given.
        while candidate in used or (candidate in headers and candidate != name):
            number += 1
            candidate = f"{stem}_{number}"
        used.add(candidate)
        result.append(candidate)
    return result


def relative_path(source: str) -> str:
    """The source as a Data Package may state it: a URL, or a POSIX path below the package."""
    if source.startswith(("http://", "https://")) or is_database_url(source):
        return source
    path = PureWindowsPath(source)
    if path.root or path.drive or ".." in path.parts:
        return path.name or "table"
    return path.as_posix() if path.name else "table"


def known_facts(column: ColumnAnnotation) -> dict[str, object]:
    """What is known about a column; what is not known is left out."""
    facts = {
        "label": column.label,
        "confidence": round(column.confidence, DECIMALS),
        "kind": column.kind,
        "type": column.type,
        "type_confidence": round(column.type_confidence, DECIMALS),
        "fine_type": column.fine_type,
        "personal_level": column.personal_level,
        "personal_reason": column.personal_reason,
        "identifying_confidence": None
        if column.identifying_confidence is None
        else round(column.identifying_confidence, DECIMALS),
        "special": column.special or None,
        "special_category": column.special_category,
        "tags": list(column.tags) or None,
        "relation": column.relation.label if column.relation else None,
        "relation_confidence": round(column.relation.confidence, DECIMALS)
        if column.relation
        else None,
        "reasons": _publishable_reasons(column) or None,
        "reviewed": shown_review(column) or None,
    }
    return {key: value for key, value in facts.items() if value is not None}


def slug_of(table: str) -> str:
    """Lower-case letters, digits and single dashes: what Data Package and dbt accept as names."""
    stem = PureWindowsPath(table.partition("#")[0]).name
    stem = re.sub(r"\.(csv|tsv|txt|json|jsonl|ndjson|parquet|xlsx|xls|ods)(\.\w+)?$", "", stem)
    sheet = table.partition("#")[2]
    words = re.findall(r"[a-z0-9]+", f"{stem} {sheet}".lower())
    return "-".join(words) or "table"
