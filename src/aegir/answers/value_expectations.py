"""Claims about values, in the words of tools that check them: Great Expectations suites and dbt tests.

Great Expectations: a list with one suite per table, in the JSON form of version 1. Every expectation says in its `meta` which
answer it follows from and on how many rows; `mostly` is the share of rows that the sample supports.

dbt: a schema.yml (https://docs.getdbt.com/reference/model-properties) with `data_tests` of columns. A dbt test has no share of
rows, so its severity is `warn`.

A claim needs a sure answer (`SURE_ENOUGH`), `LEAST_ROWS` sampled rows, and that every sampled value agrees; how values are written (the
pattern of an e-mail address, the format of dates) needs a likely answer (`LIKELY`) and `LEAST_WRITTEN` values. A sample of n rows
without an exception is likely (95 %) only if exceptions are rarer than about 3 / n, the rule of three. So every claim has
`mostly`, the share of all rows for which the sample supports it: 1 - 3 / n, for a range, which has two ends, 1 - 6 / n, and
None where all rows were seen or the meaning of the column implies it. For personal columns the values and ranges that
were seen are not stated: the largest salary is someone's.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from aegir.answers.annotation import DECIMALS, ColumnAnnotation, TableAnnotation, profile_of
from aegir.answers.catalogue_names import catalogue_table
from aegir.answers.key_exports import dbt_relationships
from aegir.answers.metadata_formats import (
    all_tags,
    describe,
    describe_rows,
    describe_table,
    known_facts,
    slug_of,
    unique_names,
)
from aegir.answers.writers import quoted_json
from aegir.tables.datatype import NUMERIC, ColumnProfile, plain_number
from aegir.tables.table import Notation

SURE_ENOUGH, LIKELY = 0.9, 0.5
LEAST_ROWS = 30
LEAST_SEEN = 5
"""How often each value of a set was seen, at least: a value seen once has unseen companions."""
RULE_OF_THREE = 3
LEAST_WRITTEN = 5
"""Values that must be written alike; their meaning or format implies the rest."""
READ_AS_MISSING = frozenset({"NA", "N/A", "n/a", "#N/A", "nan", "NaN", "null", "NULL", "None"})
"""Words that data frames read as missing."""
QUANTITIES = ("number", "money", "measure")
MEANT_RANGES = {
    "latitude": (-90.0, 90.0),
    "longitude": (-180.0, 180.0),
    "probability": (0.0, 1.0),
    "month_number": (1.0, 12.0),
    "day_of_month": (1.0, 31.0),
    "port": (0.0, 65535.0),
}
"""Fine types whose meaning bounds their values."""


@dataclass(frozen=True, slots=True)
class Claim:
    """One expectation about the values of a column."""

    kind: str
    """`not_null`, `unique`, `in_set`, `between`, `matches` or `date_format`."""
    mostly: float | None = None
    """The share of rows for which the sample supports it; None: all."""
    values: tuple[str, ...] = ()
    least: float | None = None
    greatest: float | None = None
    pattern: str = ""
    """The regular expression that values match, or the format of dates."""


def claims_for(annotation: TableAnnotation, column: ColumnAnnotation) -> tuple[Claim, ...]:
    """The claims about a column; none where the answer is unsure or the values are not known."""
    profile = profile_of(annotation, column)
    if profile is None or column.label is None:
        return ()
    sure = column.confidence >= SURE_ENOUGH and profile.rows >= LEAST_ROWS
    claims = list(_claims(annotation, column, profile)) if sure else []
    if column.index < len(annotation.notations) and column.confidence >= LIKELY:
        claims += _format_claims(annotation.notations[column.index], profile)
    return tuple(claims)


def _claims(
    annotation: TableAnnotation, column: ColumnAnnotation, profile: ColumnProfile
) -> Iterator[Claim]:
    if not profile.missing:
        yield Claim("not_null", _mostly(profile, 1))
        is_key = column.label == "primary_key" or (
            column.kind == "identifier" and column.index == annotation.subject
        )
        if is_key and profile.distinct == profile.rows:
            yield Claim("unique")
    if not column.personal:
        yield from _seen_claims(column, profile)
    meant = MEANT_RANGES.get(column.fine_type or "")
    if meant and _is_within(profile, *meant):
        yield Claim("between", None, (), *meant)


def _seen_claims(column: ColumnAnnotation, profile: ColumnProfile) -> Iterator[Claim]:
    """Claims that state values of the sample."""
    if column.kind == "category" and len(profile.values) > 1:
        if min(count for _, count in profile.values) >= LEAST_SEEN:
            yield Claim("in_set", _mostly(profile, 1), tuple(value for value, _ in profile.values))
        return
    if column.kind not in QUANTITIES or column.fine_type in MEANT_RANGES:
        return
    if profile.least is None or profile.greatest is None or profile.least == profile.greatest:
        return
    yield Claim("between", _mostly(profile, 2), (), profile.least, profile.greatest)


def _is_within(profile: ColumnProfile, least: float, greatest: float) -> bool:
    """Return whether all values of a column are numbers of a range."""
    if profile.least is None or profile.greatest is None:
        return False
    return least <= profile.least and profile.greatest <= greatest


def _format_claims(notation: Notation, profile: ColumnProfile) -> Iterator[Claim]:
    """How values are written. A data frame holds a number instead of a text of digits, and a float where some are missing."""
    present = profile.rows - profile.missing
    numeric = notation.datatype in NUMERIC
    if present < LEAST_WRITTEN or not READ_AS_MISSING.issuperset(notation.missing):
        return
    if notation.pattern and not (numeric and profile.missing):
        yield Claim("matches", _mostly(profile, 1), pattern=f"^({notation.pattern})$")
    format_ = notation.format or ""
    if "%" in format_ and not notation.unparsed and not notation.padded:
        yield Claim("date_format", _mostly(profile, 1), pattern=format_)


def _mostly(profile: ColumnProfile, ends: int) -> float | None:
    """The share of rows that a sample without exceptions supports, in whole percents, rounded down."""
    if profile.complete:
        return None
    return max(0, int(100 * (1 - ends * RULE_OF_THREE / profile.rows))) / 100


EXPECTATIONS = {
    "not_null": "expect_column_values_to_not_be_null",
    "unique": "expect_column_values_to_be_unique",
    "in_set": "expect_column_values_to_be_in_set",
    "between": "expect_column_values_to_be_between",
    "matches": "expect_column_values_to_match_regex",
    "date_format": "expect_column_values_to_match_strftime_format",
}
DBT_TESTS = {"not_null": "not_null", "unique": "unique", "in_set": "accepted_values"}

Document = dict[str, object]


def expectation_suites(annotations: Sequence[TableAnnotation]) -> list[Document]:
    """One suite per table; a column without a header has no name to expect."""
    names = unique_names([".".join(catalogue_table(each).parts) for each in annotations])
    return [
        {
            "name": name,
            "expectations": [
                expectation
                for column in annotation.columns
                if column.name
                for expectation in _column_expectations(annotation, column)
            ],
            "meta": {"aegir": _suite_facts(annotation)},
            "notes": "Made from a sample by aegir annotate; review before use.",
        }
        for name, annotation in zip(names, annotations, strict=True)
    ]


def _suite_facts(annotation: TableAnnotation) -> Document:
    rows = describe_rows(annotation)
    facts: Document = {"table": annotation.table, "annotator": annotation.annotator}
    return facts | ({"rows": rows} if rows else {})


def dbt_lines(annotations: Sequence[TableAnnotation]) -> Iterator[str]:
    """The lines of a dbt schema.yml."""
    yield "version: 2"
    yield "models:" if annotations else "models: []"
    models = unique_names([slug_of(each.table).replace("-", "_") for each in annotations])
    fields = [unique_names([column.name for column in each.columns]) for each in annotations]
    related = dbt_relationships(annotations, models, fields)
    for model, annotation, names, refers in zip(models, annotations, fields, related, strict=True):
        yield f"  - name: {quoted_json(model)}"
        yield f"    description: {quoted_json(describe_table(annotation, annotation.table))}"
        yield "    columns:" if annotation.columns else "    columns: []"
        for name, column in zip(names, annotation.columns, strict=True):
            yield f"      - name: {quoted_json(name)}"
            yield f"        description: {quoted_json(describe(column))}"
            yield "        config:"
            if tags := all_tags(column):
                yield f"          tags: {quoted_json(tags)}"
            yield "          meta:"
            for key, value in known_facts(column).items():
                yield f"            aegir_{key}: {quoted_json(value)}"
            yield f"            aegir_annotator: {quoted_json(annotation.annotator)}"
            yield f"            contains_pii: {quoted_json(column.personal)}"
            yield from _dbt_test_lines(annotation, column, refers.get(column.index))


def _dbt_test_lines(
    annotation: TableAnnotation, column: ColumnAnnotation, refers: tuple[str, str] | None
) -> Iterator[str]:
    """The lines of the tests of a column, indented to stand below it; none without claims.

    `refers` is the model and its field whose keys the column holds.
    """
    claims = [claim for claim in claims_for(annotation, column) if claim.kind in DBT_TESTS]
    if claims or refers:
        yield "        data_tests:"
    if refers:
        yield "          - relationships:"
        yield "              arguments:"
        to = refers[0].replace("'", "''")
        yield f"""                to: {quoted_json(f"ref('{to}')")}"""
        yield f"                field: {quoted_json(refers[1])}"
        yield "              config:"
        yield f"                severity: {quoted_json('warn')}"
    for claim in claims:
        yield f"          - {DBT_TESTS[claim.kind]}:"
        if claim.kind == "in_set":
            yield "              arguments:"
            yield f"                values: {quoted_json(list(claim.values))}"
            if not any(isinstance(_typed(value, column.datatype), str) for value in claim.values):
                yield "                quote: false"
        yield "              config:"
        yield f"                severity: {quoted_json('warn')}"


def _column_expectations(
    annotation: TableAnnotation, column: ColumnAnnotation
) -> Iterator[Document]:
    meta: Document = {"label": column.label, "confidence": round(column.confidence, DECIMALS)}
    if column.personal:
        meta["personal"] = column.personal_level or True
        if column.special:
            meta["special"] = column.special_category or True
        if column.tags:
            meta["tags"] = list(column.tags)
    yield {
        "type": "expect_column_to_exist",
        "kwargs": {"column": column.name},
        "meta": {"aegir": meta},
    }
    profile = profile_of(annotation, column)
    for claim in claims_for(annotation, column):
        assert profile is not None, "claims follow from values"
        yield {
            "type": EXPECTATIONS[claim.kind],
            "kwargs": {"column": column.name, **_arguments(claim, column.datatype)},
            "meta": {"aegir": {**meta, "sampled_rows": profile.rows, "all_rows": profile.complete}},
        }


def _arguments(claim: Claim, datatype: str) -> Document:
    arguments: Document = {}
    if claim.kind == "in_set":
        arguments["value_set"] = [_typed(value, datatype) for value in claim.values]
    elif claim.kind == "between":
        arguments["min_value"], arguments["max_value"] = (
            _whole(claim.least or 0.0),
            _whole(claim.greatest or 0.0),
        )
    elif claim.pattern:
        key = "regex" if claim.kind == "matches" else "strftime_format"
        arguments[key] = claim.pattern
    if claim.mostly is not None:
        arguments["mostly"] = claim.mostly
    return arguments


def _typed(value: str, datatype: str) -> object:
    """A value as a data frame would hold it; text if it is none of the datatype."""
    if datatype in NUMERIC and (number := plain_number(value)) is not None:
        return _whole(number)
    if datatype == "boolean" and value.lower() in ("true", "false"):
        return value.lower() == "true"
    return value


def _whole(number: float) -> float | int:
    return int(number) if number.is_integer() and abs(number) < 2**53 else number
