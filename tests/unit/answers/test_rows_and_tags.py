"""What a row is, special categories and the tags of an organisation, in words and in every format."""

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import pytest
import yaml

from aegir.answers.annotation import (
    ColumnAnnotation,
    RowAnnotation,
    TableAnnotation,
    annotation_as_dict,
    annotation_from_dict,
)
from aegir.answers.tags import TagPolicy, load_tags
from aegir.answers.text_report import render_text
from aegir.answers.wording import shown_personal, shown_row, shown_subject
from aegir.answers.writers import FORMATS
from aegir.vocabulary.terms import PERSONAL_LEVELS, ROW_NAMES, SPECIAL_CATEGORIES
from aegir_rl.base.errors import UsageError

CUSTOMER = RowAnnotation("person", "customer", 0.97, "self", 0.99)
NUMBER = ColumnAnnotation(
    0, "no", "identifier", 0.9, "identifier", None, 0.9, None, "integer", False
)
NAME = ColumnAnnotation(
    *(1, "name", "full_name", 0.98, "person", "Person/name", 0.98, "full_name", "string", True),
    *("direct", "names a person", 0.99, 0.97),
)
ILLNESS = ColumnAnnotation(
    *(2, "illness", "disease", 0.8, "science", None, 0.8, "disease", "string", True),
    *("about", "the health or body of a person", 0.9, 0.2, True, "health"),
)
TABLE = TableAnnotation("a.csv", "a.csv", 0, (NUMBER, NAME, ILLNESS), "rules", row=CUSTOMER)
POLICY = TagPolicy(
    {"direct": ("PII.High",), "about": ("PII.Low", "Review")},
    {"any": ("GDPR.Art9",), "health": ("PHI", "Review")},
)
TAGGED = POLICY.apply(TABLE)
SAID = "one row is a customer (person 0.97)"
SENTENCE = "One row is a customer (person 0.97)."


@pytest.mark.parametrize(
    ("row", "said"),
    [
        (None, ""),
        (RowAnnotation(None, "customer", 0.3, "self", 0.9), ""),
        (CUSTOMER, SAID),
        (replace(CUSTOMER, noun=None), "one row is a person (0.97)"),
        (replace(CUSTOMER, confidence=0.41), "one row is maybe a customer (person 0.41)"),
        (
            RowAnnotation("transaction", "order", 0.93, "linked", 0.9),
            "one row is an order (transaction 0.93) and belongs to a person (0.90)",
        ),
        (
            RowAnnotation("response", None, 0.8, "self", 0.4),
            "one row is a response (0.80) and maybe stands for a person (0.40)",
        ),
        (RowAnnotation("event", None, 0.9, "none", 0.9), "one row is an event (0.90)"),
        (
            RowAnnotation("software", None, 0.9, "none", 0.9),
            "one row is a piece of software (0.90)",
        ),
        (RowAnnotation("other", None, 0.9, "none", 0.9), "one row is something else (0.90)"),
        (RowAnnotation("other", "user", 0.9, "none", 0.9), "one row is a user (other 0.90)"),
        (RowAnnotation("case", "hour", 0.9, "none", 0.9), "one row is an hour (case 0.90)"),
    ],
)
def test_what_a_row_is_in_words(row: RowAnnotation | None, said: str):
    assert shown_row(row) == said


def test_every_class_of_rows_has_an_article():
    assert {
        shown_row(RowAnnotation(name, None, 0.9, "none", 0.9))
        .removeprefix("one row is ")
        .split()[0]
        for name in ROW_NAMES
    } == {"a", "an", "something"}


def test_the_report_begins_with_what_a_row_is_and_says_that_the_subject_repeats():
    first = render_text([replace(TABLE, subject_repeats=True)], colour=False, width=140).split(
        "\n"
    )[0]
    assert first == (
        f"a.csv   {SAID}   3 columns, subject: no (repeats: several rows share it), 2 personal, 1 special"
    )
    unknown = replace(TABLE, row=replace(CUSTOMER, name=None), subject=None)
    first = render_text([unknown], colour=False, width=140).split("\n")[0]
    assert first == "a.csv   3 columns, 2 personal, 1 special"
    assert shown_subject(unknown) == ""


def test_the_counts_of_personal_and_special_columns_have_a_line_where_one_is_too_short():
    lines = render_text([TABLE], colour=False, width=60).split("\n")
    assert lines[:3] == [f"a.csv   {SAID}", "  3 columns, subject: no, 2 personal, 1 special", ""]


def test_the_report_has_the_special_category_where_there_is_room_and_always_when_asked_why():
    wide = render_text([TAGGED], colour=False, width=100)
    assert re.search(r"illness .* about \(health\)", wide)
    narrow = render_text([TAGGED], colour=False, width=60)
    assert "about" in narrow
    assert "(health)" not in narrow
    why = render_text([TAGGED], colour=False, width=120, why=True)
    assert (
        "personal: the health or body of a person; special category: health; identifying 0.20; "
        "tags: PII.Low, Review, GDPR.Art9, PHI"
    ) in " ".join(why.split())


def test_a_category_is_said_of_personal_columns_alone():
    assert shown_personal(replace(ILLNESS, personal=False)) == ""
    unknown = replace(ILLNESS, special_category=None, identifying_confidence=None)
    assert shown_personal(unknown) == "the health or body of a person; special category"
    assert "special category: sexual life" in shown_personal(
        replace(ILLNESS, special_category="sexual_life")
    )


def test_json_has_tags_only_where_there_are_some_and_reads_them_back():
    data: dict[str, Any] = annotation_as_dict(TAGGED)
    number, name, illness = data["columns"]
    assert "tags" not in number
    assert (name["tags"], illness["tags"]) == (
        ["PII.High"],
        ["PII.Low", "Review", "GDPR.Art9", "PHI"],
    )
    assert annotation_from_dict(data) == TAGGED
    assert json.loads(FORMATS["jsonl"]([TABLE])) == annotation_as_dict(TABLE)


def test_an_answer_without_the_new_fields_is_read():
    data: dict[str, Any] = annotation_as_dict(TAGGED)
    del data["row"]
    for column in data["columns"]:
        for name in ("identifying_confidence", "special", "special_category", "tags"):
            column.pop(name, None)
    read = annotation_from_dict(data)
    assert (read.row, read.subject_repeats) == (None, False)
    assert {(each.special, each.special_category, each.tags) for each in read.columns} == {
        (False, None, ())
    }
    for write in FORMATS.values():
        assert write([read])


def test_dbt_has_description_tags_and_meta():
    (model,) = yaml.safe_load(FORMATS["dbt"]([TAGGED]))["models"]
    assert model["description"] == f"Read from a.csv. {SENTENCE}"
    number, name, illness = (column["config"] for column in model["columns"])
    assert "tags" not in number
    assert name["tags"] == ["personal", "personal_direct", "PII.High"]
    assert illness["tags"][:4] == ["personal", "personal_about", "special", "special_health"]
    assert illness["tags"][4:] == ["PII.Low", "Review", "GDPR.Art9", "PHI"]
    meta = illness["meta"]
    assert (meta["aegir_special"], meta["aegir_special_category"]) == (True, "health")
    assert meta["aegir_identifying_confidence"] == 0.2
    assert meta["aegir_tags"] == illness["tags"][4:]
    assert "aegir_special" not in name["meta"]


def test_packages_and_csvw_describe_tables_and_columns():
    (resource,) = json.loads(FORMATS["frictionless"]([TAGGED]))["resources"]
    assert resource["description"] == SENTENCE
    facts = resource["schema"]["fields"][2]["aegir"]
    assert (facts["personal_level"], facts["special_category"]) == ("about", "health")
    assert facts["tags"] == ["PII.Low", "Review", "GDPR.Art9", "PHI"]
    (table,) = json.loads(FORMATS["csvw"]([TAGGED]))["tables"]
    assert table["dc:description"] == SENTENCE
    stated = table["tableSchema"]["columns"][2]["schema:additionalProperty"]
    values = {each["schema:name"]: each["schema:value"] for each in stated}
    assert values == facts
    plain = replace(TABLE, row=None)
    assert "description" not in json.loads(FORMATS["frictionless"]([plain]))["resources"][0]
    assert "dc:description" not in json.loads(FORMATS["csvw"]([plain]))["tables"][0]


def test_openmetadata_takes_the_tags_of_the_organisation_in_place_of_its_own():
    def tags(annotation: TableAnnotation) -> list[list[str]]:
        (table,) = json.loads(FORMATS["openmetadata"]([annotation]))["tables"]
        assert table["description"] == f"Read from a.csv. {SENTENCE}"
        return [
            [tag["tagFQN"] for tag in column["tags"] if tag["source"] == "Classification"]
            for column in table["columns"]
        ]

    assert tags(TABLE) == [
        [],
        ["PII.Sensitive"],
        ["PII.Sensitive", "PersonalData.SpecialCategory"],
    ]
    assert tags(TAGGED) == [[], ["PII.High"], ["PII.Low", "Review", "GDPR.Art9", "PHI"]]


def test_datahub_describes_the_dataset_and_leaves_the_organisations_tags_their_properties():
    proposals = json.loads(FORMATS["datahub"]([TAGGED]))
    described = {each["entityUrn"] for each in proposals if each["entityType"] == "tag"}
    ours = ("personal", "personal_direct", "personal_about", "special", "special_health")
    assert described == {f"urn:li:tag:{tag}" for tag in ours}
    aspects = {each["aspectName"]: each["aspect"]["json"] for each in proposals}
    assert aspects["editableDatasetProperties"]["description"] == SENTENCE
    illness = aspects["editableSchemaMetadata"]["editableSchemaFieldInfo"][2]
    tags = [each["tag"].removeprefix("urn:li:tag:") for each in illness["globalTags"]["tags"]]
    assert tags[-4:] == ["PII.Low", "Review", "GDPR.Art9", "PHI"]
    assert "personal data (about, special category: health)" in illness["description"]


def test_sql_comments_run_and_the_comment_of_the_table_waits_behind_dashes():
    hostile = replace(TABLE, row=replace(CUSTOMER, noun="o'client\n; DROP TABLE a;"))
    script = FORMATS["sql"]([hostile])
    (line,) = [line for line in script.splitlines() if "COMMENT ON TABLE" in line]
    assert line.startswith("-- COMMENT ON TABLE \"a\" IS 'One row is an o''client")
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE a (no INTEGER, name TEXT, illness TEXT)")
        connection.execute(script)
        connection.execute(line.removeprefix("-- "))
        comments = connection.execute("SELECT comment FROM duckdb_columns()").fetchall()
    assert ("personal data (about, special category: health)") in comments[2][0]


def test_markdown_has_the_row_the_category_and_a_column_of_tags_where_there_are_some():
    text = FORMATS["markdown"]([TAGGED])
    assert "2 with personal data (1 direct, 1 special), 0 not decided." in text
    assert "\nOne row is a customer \\(person 0.97\\).\n" in text
    assert "| column | answer | sure | personal | tags |\n|---|---|---|---|---|\n" in text
    assert (
        "| illness | disease | 0.80 | **about** (health) | PII.Low, Review, GDPR.Art9, PHI |"
        in text
    )
    assert "tags" not in FORMATS["markdown"]([TABLE])


def test_the_page_shows_row_category_and_tags():
    page = FORMATS["html"]([replace(TAGGED, subject_repeats=True)])
    assert f"<b><bdi>{SAID}</bdi></b> · 3 columns" in page
    assert "subject: <bdi>no (repeats: several rows share it)</bdi>" in page
    assert 'data-marks="personal about special kind-science"' in page
    assert ">health</span>" in page
    assert "tags: PII.Low, Review, GDPR.Art9, PHI</p>" in page


def test_sarif_and_expectations_carry_category_and_tags():
    (run,) = json.loads(FORMATS["sarif"]([TAGGED]))["runs"]
    name, illness = run["results"]
    assert illness["message"]["text"].endswith(", special category: health")
    assert illness["properties"]["tags"] == ["PII.Low", "Review", "GDPR.Art9", "PHI"]
    assert name["properties"]["tags"] == ["PII.High"]
    (suite,) = json.loads(FORMATS["great_expectations"]([TAGGED]))
    assert suite["meta"]["aegir"]["rows"] == SENTENCE
    assert suite["expectations"][2]["meta"]["aegir"]["special"] == "health"


def test_a_policy_replaces_tags_and_tags_personal_columns_alone():
    again = TagPolicy({"any": ("PII",)}).apply(TAGGED)
    assert [column.tags for column in again.columns] == [(), ("PII",), ("PII",)]
    assert [column.tags for column in TagPolicy().apply(TAGGED).columns] == [(), (), ()]
    assert TagPolicy().apply(TABLE) is TABLE
    assert POLICY.tags_of(replace(ILLNESS, personal=False)) == ()
    assert POLICY.tags_of(replace(NAME, personal_level=None)) == ()


def test_a_file_of_tags_is_read(tmp_path: Path):
    path = tmp_path / "tags.toml"
    path.write_text('[levels]\ndirect = "PII.High"\nabout = ["A ", "B"]\n[special]\nany = []\n')
    policy = TagPolicy({"direct": ("PII.High",), "about": ("A", "B")}, {"any": ()})
    assert load_tags(path) == policy
    path.write_text("")
    assert load_tags(path) == load_tags(None) == TagPolicy()


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (
            'colour = 1\n[levels]\nhigh = "A"\ndirect = "B"\n[special]\nhelth = "C"\n[kinds]\nx = 1\n',
            "has unknown names: 'colour' outside of a section, 'high' in [levels], 'helth' in [special], "
            f"[kinds]; there are any, {', '.join(PERSONAL_LEVELS)} in [levels] and "
            f"any, {', '.join(SPECIAL_CATEGORIES)} in [special]",
        ),
        ("levels = 3", "'levels' in {path} is 3; expected [levels]"),
        ("[levels]\ndirect = 3", "'direct' in [levels] of {path} is 3; expected a tag or a list"),
        ('[levels]\ndirect = " "', "'direct' in [levels] of {path} is ' '; expected a tag"),
        (
            '[special]\nany = ["A", "b\\nc"]',
            "'any' in [special] of {path} is ['A', 'b\\nc']; expected",
        ),
        ("[levels", "{path} is no TOML file: "),
    ],
)
def test_a_wrong_file_is_refused_in_one_sentence(tmp_path: Path, text: str, sentence: str):
    path = tmp_path / "tags.toml"
    path.write_text(text)
    with pytest.raises(UsageError) as refused:
        load_tags(path)
    assert sentence.replace("{path}", str(path)) in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_missing_file_is_refused(tmp_path: Path):
    with pytest.raises(UsageError, match="cannot read"):
        load_tags(tmp_path / "no.toml")
