"""Whatever an annotation holds, every format gives output its readers accept."""

import csv
import io
import json
import re
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from aegir.answers.annotation import (
    ColumnAnnotation,
    TableAnnotation,
    annotation_as_dict,
    annotation_from_dict,
)
from aegir.answers.metadata_formats import without_examples
from aegir.answers.text_report import render_text
from aegir.answers.wording import shown_review
from aegir.answers.writers import CSV_HEADER, FORMATS
from aegir_rl.base.text import escape_controls, escape_formula, escape_surrogates
from answer_columns import annotations

LAW = settings(deadline=None)  # the first example pays for imports


@LAW
@given(annotations)
def test_json_and_jsonl_read_back_as_the_same_annotations(tables: list[TableAnnotation]):
    expected = [annotation_as_dict(each) for each in tables]
    written = without_surrogates(expected)
    assert json.loads(FORMATS["json"](tables)) == written
    assert [json.loads(line) for line in FORMATS["jsonl"](tables).splitlines()] == written
    for data in expected:
        assert annotation_as_dict(annotation_from_dict(data)) == data


@LAW
@given(annotations)
def test_csv_reads_back_one_full_row_per_column(tables: list[TableAnnotation]):
    text = FORMATS["csv"](tables)
    rows = list(csv.DictReader(io.StringIO(text, newline=""), strict=True))
    every = [(table, column) for table in tables for column in table.columns]
    assert len(rows) == len(every)
    for row, (_, column) in zip(rows, every, strict=True):
        assert set(row) == set(CSV_HEADER)
        for key in ("name", "label", "kind", "type", "fine_type", "personal_level", "iri"):
            assert row[key] == in_a_cell(getattr(column, key) or ""), key
        assert float(row["confidence"]) == round(column.confidence, 4)
        assert float(row["type_confidence"]) == round(column.type_confidence, 4)
        assert row["personal"] == str(column.personal).lower()
        assert row["reasons"] == in_a_cell(" | ".join(column.reasons))


def in_a_cell(text: str) -> str:
    return escape_formula(escape_controls(text, keep="\n\t"))


@LAW
@given(annotations)
def test_metadata_documents_hold_what_is_known_of_every_column(tables: list[TableAnnotation]):
    columns = [column for table in tables for column in table.columns]
    package = json.loads(FORMATS["frictionless"](tables))
    fields = [field for each in package["resources"] for field in each["schema"]["fields"]]
    document = json.loads(FORMATS["csvw"](tables))
    described = [one for each in document["tables"] for one in each["tableSchema"]["columns"]]
    models = FORMATS["dbt"](tables).split("        meta:\n")[1:]
    for column, field, one, meta in zip(columns, fields, described, models, strict=True):
        expected = known_facts(column)
        assert field["aegir"] == expected
        facts = one["schema:additionalProperty"]
        assert {fact["schema:name"]: fact["schema:value"] for fact in facts} == expected
        written = dict(re.findall(r"^ {12}(?:aegir|contains)_(\w+): (.+)$", meta, re.MULTILINE))
        del written["annotator"]
        expected["pii"] = expected.pop("personal")
        assert {key: json.loads(value) for key, value in written.items()} == expected


PUBLISHED = (
    "label",
    "confidence",
    "kind",
    "type",
    "type_confidence",
    "fine_type",
    "personal_level",
    "personal_reason",
    "identifying_confidence",
    "special_category",
    "personal",
)


def known_facts(column: ColumnAnnotation) -> dict[str, Any]:
    """The parts of a column's answer that are published, without what is not known."""
    data = without_surrogates(annotation_as_dict(TableAnnotation("", None, None, (column,), "")))
    (known,) = data["columns"]
    relation = known["relation"] or {"label": None, "confidence": None}
    reasons = [without_examples(each) if column.personal else each for each in column.reasons]
    facts = {key: known[key] for key in PUBLISHED}
    facts |= {"relation": relation["label"], "relation_confidence": relation["confidence"]}
    facts["reasons"] = without_surrogates(reasons) or None
    facts |= {"special": column.special or None, "tags": known.get("tags")}
    facts["reviewed"] = without_surrogates([shown_review(column)])[0] or None
    return {key: value for key, value in facts.items() if value is not None}


CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")


@LAW
@given(annotations)
def test_no_format_passes_on_a_control_character(tables: list[TableAnnotation]):
    for render in FORMATS.values():
        assert not CONTROL.search(render(tables))
    assert not CONTROL.search(render_text(tables, colour=False, width=100))


@LAW
@given(annotations)
def test_no_cell_of_the_csv_format_is_a_formula(tables: list[TableAnnotation]):
    for row in csv.reader(io.StringIO(FORMATS["csv"](tables), newline=""), strict=True):
        for cell in row:
            assert not cell.lstrip().startswith(tuple("=+-@")) or re.fullmatch(
                r"[+-]?[0-9.,eE+-]+%?", cell
            )


@LAW
@given(annotations)
def test_metadata_documents_have_unique_names(tables: list[TableAnnotation]):
    package = json.loads(FORMATS["frictionless"](tables))
    document = json.loads(FORMATS["csvw"](tables))
    resources = [each["name"] for each in package["resources"]]
    assert len(set(resources)) == len(resources)
    for resource, table in zip(package["resources"], document["tables"], strict=True):
        assert re.fullmatch(r"[-a-z0-9._/]+", resource["name"])
        assert not resource["path"].startswith(("/", "../"))
        assert_unique(field["name"] for field in resource["schema"]["fields"])
        names = [column["name"] for column in table["tableSchema"]["columns"]]
        assert all(re.fullmatch(r"(?:[A-Za-z0-9_]|%[0-9A-F]{2})+", name) for name in names)
        assert not any(name.startswith("_") for name in names)


@LAW
@given(annotations)
def test_every_line_of_the_dbt_file_is_a_key_with_a_json_scalar(tables: list[TableAnnotation]):
    for line in FORMATS["dbt"](tables).splitlines():
        match = re.fullmatch(r" *(?:- )?[a-z_]+:(?: (.+))?", line)
        assert match, line
        if match[1]:
            json.loads(match[1])


@LAW
@given(annotations, st.booleans(), st.integers(60, 120))
def test_output_ends_in_one_newline_and_is_valid_utf8(
    tables: list[TableAnnotation], colour: bool, width: int
):
    outputs = [render(tables) for render in FORMATS.values()]
    outputs.append(render_text(tables, colour=colour, width=width))
    for output in outputs:
        output.encode("utf-8")
        assert output == "" or output.endswith("\n")


def without_surrogates(value: Any) -> Any:
    if isinstance(value, str):
        return escape_surrogates(value)
    if isinstance(value, list):
        return [without_surrogates(part) for part in value]
    if isinstance(value, dict):
        return {escape_surrogates(key): without_surrogates(part) for key, part in value.items()}
    return value


def assert_unique(names: Any) -> None:
    names = list(names)
    assert len(set(names)) == len(names)
