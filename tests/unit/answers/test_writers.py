"""Golden output per format for one small table, and the rules each format sets."""

import csv
import io
import json
import re
from dataclasses import replace
from typing import Any

import pytest

from aegir.answers.annotation import (
    ColumnAnnotation,
    Guess,
    TableAnnotation,
    annotation_as_dict,
    annotation_from_dict,
)
from aegir.answers.metadata_formats import relative_path, unique_names, without_examples
from aegir.answers.routing import RouterScore, Timing
from aegir.answers.writers import CSV_HEADER, FORMATS
from aegir.readers.rules.judge import judge
from aegir.tables.table import Column
from aegir_rl.base.errors import UsageError

TITLE = ColumnAnnotation(
    index=0,
    name="title",
    label="Book/name",
    confidence=0.91239,
    kind="name",
    type="Book/name",
    type_confidence=0.91239,
    fine_type=None,
    datatype="string",
    personal=False,
    iri="https://schema.org/name",
    runners_up=(Guess("Movie/name", 0.05), Guess("product_name", 0.02)),
    type_runners_up=(Guess("Movie/name", 0.05),),
    reasons=("header says title",),
)
PUBLISHED = ColumnAnnotation(
    index=1,
    name="published",
    label="iso_date",
    confidence=0.97,
    kind="time",
    type="Date",
    type_confidence=0.99,
    fine_type="iso_date",
    datatype="date",
    personal=False,
    relation=Guess("datePublished", 0.87),
    iri="https://schema.org/Date",
    relation_iri="https://schema.org/datePublished",
    relation_runners_up=(Guess("releaseDate", 0.1),),
)
UNNAMED = ColumnAnnotation(
    index=2,
    name=None,
    label=None,
    confidence=0.3,
    kind=None,
    type=None,
    type_confidence=0.6,
    fine_type=None,
    datatype="empty",
    personal=False,
    runners_up=(Guess("price", 0.3),),
    type_runners_up=(Guess("price", 0.3),),
)
WRITER = ColumnAnnotation(
    index=3,
    name="title",
    label="Person/name",
    confidence=0.75,
    kind="person",
    type="Person/name",
    type_confidence=0.75,
    fine_type=None,
    datatype="string",
    personal=True,
    personal_level="direct",
    personal_reason="names a person",
    iri="https://schema.org/name",
    reasons=('they said "by"', "two words each"),
)
BOOKS = TableAnnotation(
    table="books.csv",
    source="shelf/books.csv",
    subject=0,
    columns=(TITLE, PUBLISHED, UNNAMED, WRITER),
    annotator="rules",
    warnings=("1 row was cut",),
)


def parsed(name: str, *annotations: TableAnnotation) -> Any:
    return json.loads(FORMATS[name](annotations))


def test_json_is_one_array_with_every_key_in_order():
    [table] = parsed("json", BOOKS)
    assert list(table) == ["form", "table", "source", "subject", "annotator", "columns", "warnings"]
    assert table["form"] == 2
    published = {
        "index": 1,
        "name": "published",
        "label": "iso_date",
        "confidence": 0.97,
        "kind": "time",
        "type": "Date",
        "type_confidence": 0.99,
        "fine_type": "iso_date",
        "datatype": "date",
        "personal": False,
        "personal_level": None,
        "personal_reason": None,
        "personal_confidence": None,
        "identifying_confidence": None,
        "special_category": None,
        "relation": {"label": "datePublished", "confidence": 0.87},
        "iri": "https://schema.org/Date",
        "relation_iri": "https://schema.org/datePublished",
        "runners_up": [],
        "type_runners_up": [],
        "relation_runners_up": [{"label": "releaseDate", "confidence": 0.1}],
        "reasons": [],
        "special": False,
    }
    assert list(table["columns"][1].items()) == list(published.items())
    assert table["columns"][0]["confidence"] == table["columns"][0]["type_confidence"] == 0.9124


def test_jsonl_is_one_line_per_table():
    lines = FORMATS["jsonl"]([BOOKS, BOOKS]).splitlines()
    assert [json.loads(line) for line in lines] == [annotation_as_dict(BOOKS)] * 2


def test_csv_is_one_line_per_column():
    assert FORMATS["csv"]([BOOKS]) == (
        "table,source,index,name,subject,label,confidence,kind,type,type_confidence,fine_type,"
        "datatype,personal,personal_level,personal_reason,identifying_confidence,special,special_category,tags,"
        "relation,relation_confidence,iri,relation_iri,runners_up,reasons,reviewed\n"
        "books.csv,shelf/books.csv,0,title,true,Book/name,0.9124,name,Book/name,0.9124,,string,"
        "false,,,,false,,,,,https://schema.org/name,,Movie/name 0.0500 | product_name 0.0200,"
        "header says title,\n"
        "books.csv,shelf/books.csv,1,published,false,iso_date,0.9700,time,Date,0.9900,iso_date,date,"
        "false,,,,false,,,datePublished,0.8700,https://schema.org/Date,https://schema.org/datePublished,,,\n"
        "books.csv,shelf/books.csv,2,,false,,0.3000,,,0.6000,,empty,false,,,,false,,,,,,,price 0.3000,,\n"
        "books.csv,shelf/books.csv,3,title,false,Person/name,0.7500,person,Person/name,0.7500,,"
        "string,true,direct,names a person,,false,,,,,https://schema.org/name,,,"
        '"they said ""by"" | two words each",\n'
    )


def test_a_file_name_that_is_no_utf8_is_written_with_its_bytes():
    odd = replace(BOOKS, table="caf\udce9.csv", source="caf\udce9.csv")
    for name in ("json", "jsonl", "frictionless", "csvw", "dbt"):
        assert r"caf\\xe9.csv" in FORMATS[name]([odd])
    assert FORMATS["csv"]([odd]).splitlines()[1].startswith("caf\\xe9.csv,caf\\xe9.csv,0,")
    assert '"url": "caf%E9.csv"' in FORMATS["csvw"]([odd])


@pytest.mark.parametrize(
    ("name", "cell"),
    [
        ("=cmd|'/c calc'!A1", "'=cmd|'/c calc'!A1"),
        ("+47 22 12", "'+47 22 12"),
        ("-x", "'-x"),
        ("@SUM(A1)", "'@SUM(A1)"),
        ("  =1+1", "'  =1+1"),
        ("＝1+1", "'＝1+1"),
        ("\t=1+1", "'\t=1+1"),
        ("\n=1+1", "'\n=1+1"),
        ("\r=1+1", "\\r=1+1"),
        ("-12.5", "-12.5"),
        ("+3", "+3"),
        ("-1,200.50", "-1,200.50"),
        ("-4%", "-4%"),
        ("1e-5", "1e-5"),
        ("a=1", "a=1"),
        ("red \x1b[31m", "red \\x1b[31m"),
        ("two\nlines", "two\nlines"),
    ],
)
def test_a_csv_cell_is_neither_computed_nor_obeyed(name: str, cell: str):
    text = FORMATS["csv"]([replace(BOOKS, columns=(replace(TITLE, name=name),))])
    assert next(csv.DictReader(io.StringIO(text, newline="")))["name"] == cell


def test_csv_without_tables_is_its_header():
    assert next(csv.reader(io.StringIO(FORMATS["csv"]([])))) == list(CSV_HEADER)


def test_a_data_package_has_what_its_specification_requires():
    package = parsed("frictionless", BOOKS, BOOKS)
    assert re.fullmatch(r"[-a-z0-9._/]+", package["name"])
    assert [each["name"] for each in package["resources"]] == ["books", "books_2"]
    for resource in package["resources"]:
        assert resource["path"] == "shelf/books.csv"
        names = [field["name"] for field in resource["schema"]["fields"]]
        assert names == ["title", "published", "column_3", "title_2"]


def test_table_schema_fields_carry_type_meaning_and_nothing_made_up():
    title, published, unnamed, writer = parsed("frictionless", BOOKS)["resources"][0]["schema"][
        "fields"
    ]
    assert title == {
        "name": "title",
        "type": "string",
        "description": "Book/name (0.91): header says title",
        "rdfType": "https://schema.org/name",
        "aegir": {
            "label": "Book/name",
            "confidence": 0.9124,
            "kind": "name",
            "type": "Book/name",
            "type_confidence": 0.9124,
            "reasons": ["header says title"],
            "personal": False,
        },
    }
    assert (published["type"], published["format"]) == ("date", "any")
    assert published["aegir"]["fine_type"] == "iso_date"
    assert published["aegir"]["relation_confidence"] == 0.87
    assert (writer["aegir"]["personal"], writer["aegir"]["personal_level"]) == (True, "direct")
    assert unnamed["type"] == "any"
    assert "rdfType" not in unnamed
    assert writer["title"] == "title"
    assert not any("constraints" in field for field in (title, published, unnamed, writer))


def test_csvw_describes_the_subject_and_its_properties():
    document = parsed("csvw", BOOKS)
    assert document["@context"] == "http://www.w3.org/ns/csvw"
    [table] = document["tables"]
    assert table["url"] == "shelf/books.csv"
    assert table["tableSchema"]["aboutUrl"] == "#{title}"
    title, published, unnamed, writer = table["tableSchema"]["columns"]
    assert title["propertyUrl"] == "https://schema.org/name"
    assert published["propertyUrl"] == "https://schema.org/datePublished"
    assert published["datatype"] == "date"
    facts = {
        fact["schema:name"]: fact["schema:value"] for fact in writer["schema:additionalProperty"]
    }
    assert facts == {
        "label": "Person/name",
        "confidence": 0.75,
        "kind": "person",
        "type": "Person/name",
        "type_confidence": 0.75,
        "personal_level": "direct",
        "personal_reason": "names a person",
        "reasons": ['they said "by"', "two words each"],
        "personal": True,
    }
    assert "propertyUrl" not in writer
    assert (unnamed["name"], "titles" in unnamed) == ("column_3", False)
    assert (writer["name"], writer["titles"]) == ("title_2", "title")


def test_csvw_column_names_are_uri_template_variables():
    odd = replace(BOOKS, subject=0, columns=(replace(TITLE, name="_größe (cm)"),))
    [table] = parsed("csvw", odd)["tables"]
    name = table["tableSchema"]["columns"][0]["name"]
    assert name == "%5Fgr%C3%B6%C3%9Fe%20%28cm%29"
    assert table["tableSchema"]["aboutUrl"] == f"#{{{name}}}"


def test_csvw_says_when_there_is_no_header_line():
    assert "dialect" not in parsed("csvw", BOOKS)["tables"][0]
    bare = replace(BOOKS, columns=(UNNAMED,), subject=None)
    [table] = parsed("csvw", bare)["tables"]
    assert table["dialect"] == {"header": False}
    assert "aboutUrl" not in table["tableSchema"]


def test_dbt_writes_a_schema_file_of_version_2():
    assert FORMATS["dbt"]([replace(BOOKS, columns=(PUBLISHED, WRITER))]) == (
        "version: 2\n"
        "models:\n"
        '  - name: "books"\n'
        '    description: "Read from books.csv."\n'
        "    columns:\n"
        '      - name: "published"\n'
        '        description: "iso_date (0.97)"\n'
        "        config:\n"
        "          meta:\n"
        '            aegir_label: "iso_date"\n'
        "            aegir_confidence: 0.97\n"
        '            aegir_kind: "time"\n'
        '            aegir_type: "Date"\n'
        "            aegir_type_confidence: 0.99\n"
        '            aegir_fine_type: "iso_date"\n'
        '            aegir_relation: "datePublished"\n'
        "            aegir_relation_confidence: 0.87\n"
        '            aegir_annotator: "rules"\n'
        "            contains_pii: false\n"
        '      - name: "title"\n'
        '        description: "Person/name (0.75): they said \\"by\\""\n'
        "        config:\n"
        '          tags: ["personal", "personal_direct"]\n'
        "          meta:\n"
        '            aegir_label: "Person/name"\n'
        "            aegir_confidence: 0.75\n"
        '            aegir_kind: "person"\n'
        '            aegir_type: "Person/name"\n'
        "            aegir_type_confidence: 0.75\n"
        '            aegir_personal_level: "direct"\n'
        '            aegir_personal_reason: "names a person"\n'
        '            aegir_reasons: ["they said \\"by\\"", "two words each"]\n'
        '            aegir_annotator: "rules"\n'
        "            contains_pii: true\n"
    )


def test_dbt_without_tables_or_columns_is_still_valid():
    assert FORMATS["dbt"]([]) == "version: 2\nmodels: []\n"
    assert "    columns: []\n" in FORMATS["dbt"]([replace(BOOKS, columns=())])


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (["a", "a", "a"], ["a", "a_2", "a_3"]),
        ([None, "", "x"], ["column_1", "column_2", "x"]),
        ([None, "column_1"], ["column_1_2", "column_1"]),
        (["a", "a", "a_2"], ["a", "a_3", "a_2"]),
    ],
)
def test_names_are_made_unique_without_touching_given_ones(
    given: list[str | None], expected: list[str]
):
    assert unique_names(given) == expected


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("data/a.csv", "data/a.csv"),
        ("data\\a.csv", "data/a.csv"),
        ("/home/someone/a.csv", "a.csv"),
        ("C:\\tables\\a.csv", "a.csv"),
        ("../a.csv", "a.csv"),
        ("https://example.org/a.csv", "https://example.org/a.csv"),
        ("postgresql://ann@host/shop", "postgresql://ann@host/shop"),
    ],
)
def test_paths_in_a_package_stay_below_it(source: str, expected: str):
    assert relative_path(source) == expected


def test_sheets_of_one_workbook_become_models_of_their_own():
    sheets = [replace(BOOKS, table=f"My Shop.xlsx#{sheet}") for sheet in ("Orders", "Stores")]
    names = re.findall(r'^  - name: "(.*)"', FORMATS["dbt"](sheets), re.MULTILINE)
    assert names == ["my_shop_orders", "my_shop_stores"]


def test_a_dictionary_reads_back_as_the_annotation_up_to_rounding():
    title = replace(TITLE, confidence=0.9124, type_confidence=0.9124)
    rounded = replace(BOOKS, columns=(title, *BOOKS.columns[1:]))
    assert annotation_from_dict(annotation_as_dict(BOOKS)) == rounded


def test_a_dictionary_that_is_no_annotation_is_refused_in_a_sentence():
    data = annotation_as_dict(BOOKS)
    with pytest.raises(UsageError, match="has no 'table'"):
        annotation_from_dict({"form": 2})
    with pytest.raises(UsageError, match="is of type list; it must be an object as written by"):
        annotation_from_dict([data])
    with pytest.raises(UsageError, match="7 where text was expected"):
        annotation_from_dict({**data, "table": 7})
    with pytest.raises(UsageError, match="wrong kind"):
        annotation_from_dict({**data, "columns": ["not a column"]})
    with pytest.raises(UsageError, match="wrong kind"):
        annotation_from_dict({**data, "columns": None})


def test_the_keys_of_a_swarm_are_there_only_if_there_was_one():
    plain: dict[str, Any] = annotation_as_dict(BOOKS)
    assert not {"routing", "routing_scores"} & plain["columns"][0].keys()
    assert "timing" not in plain
    routing = (RouterScore("geo", 0.83126, True), RouterScore("names", 0.12, False))
    steps = (("router", 0.00123456), ("primary", 0.5))
    routed = replace(
        BOOKS, columns=(replace(TITLE, routing=routing),), timing=Timing(0.5012, 0.75, steps)
    )
    data: dict[str, Any] = annotation_as_dict(routed)
    column = data["columns"][0]
    assert column["routing"] == [{"specialist": "geo", "score": 0.8313}]
    assert column["routing_scores"] == {"geo": 0.8313, "names": 0.12}
    assert data["timing"] == {
        "critical_path": 0.5012,
        "cost": 0.75,
        "steps": {"router": 0.001235, "primary": 0.5},
    }
    back = annotation_from_dict(data)
    assert back.columns[0].routing == (RouterScore("geo", 0.8313, True), routing[1])
    assert annotation_as_dict(back) == data


def test_routing_that_contradicts_itself_is_refused():
    data: dict[str, Any] = annotation_as_dict(BOOKS)
    for keys, reason in (
        ({"routing": [{"specialist": "geo"}], "routing_scores": {}}, "'geo' is woken but has no"),
        ({"routing_scores": {"geo": 0.5}}, "has no 'routing'"),
        ({"routing": [], "routing_scores": {"geo": "high"}}, "wrong kind"),
    ):
        column = {**data["columns"][0], **keys}
        with pytest.raises(UsageError, match=reason):
            annotation_from_dict({**data, "columns": [column]})


@pytest.mark.parametrize(
    ("form", "came"),
    [
        ({}, "is of an earlier version"),
        ({"form": 1}, "is of form 1"),
        ({"form": 3}, "is of form 3"),
        ({"form": "2"}, "is of form '2'"),
        ({"form": True}, "is of form True"),
    ],
)
def test_an_answer_of_another_form_is_refused_with_what_to_do(form: dict[str, Any], came: str):
    data = annotation_as_dict(BOOKS)
    del data["form"]
    with pytest.raises(UsageError) as refused:
        annotation_from_dict({**form, **data})
    assert str(refused.value) == (
        f"this annotation {came}, but form 2 is expected; run `aegir annotate` on its table again"
    )


CONTACT = replace(
    WRITER,
    name="contact",
    label="email_address",
    type="email",
    fine_type="email_address",
    reasons=(
        "3 of 3 values are e-mail addresses, such as 'anders.solheim7@example.org'",
        "header 'contact' suggests it",
    ),
)


PUBLISHED_FORMATS = ["frictionless", "csvw", "dbt", "openmetadata", "datahub", "sql"]


@pytest.mark.parametrize("name", PUBLISHED_FORMATS)
def test_metadata_that_people_commit_never_quotes_a_personal_value(name: str):
    text = FORMATS[name]([replace(BOOKS, columns=(CONTACT,))])
    assert "anders" not in text
    assert "example.org" not in text
    shape = "''xxxxxx.xxxxx''" if name == "sql" else "'xxxxxx.xxxxx'"
    assert f"3 of 3 values are e-mail addresses, such as {shape}" in text


@pytest.mark.parametrize("name", PUBLISHED_FORMATS)
def test_metadata_quotes_values_of_other_columns(name: str):
    text = FORMATS[name]([replace(BOOKS, columns=(replace(CONTACT, personal=False),))])
    assert "anders.solheim7@example.org" in text


@pytest.mark.parametrize("name", ["json", "jsonl", "csv"])
def test_the_report_to_who_asked_keeps_its_reasons(name: str):
    assert "anders.solheim7@example.org" in FORMATS[name]([replace(BOOKS, columns=(CONTACT,))])


@pytest.mark.parametrize(
    ("sentence", "shown"),
    [
        ("2 of 2 values are telephone numbers, such as '+47 22 12'", ", such as '+99 99 99'"),
        ('2 of 2 values are names, such as "Ann, such as O\'Hara"', ", such as 'xxx, xxxx xx'"),
        ("2 of 2 values are names, such as 'Žofia Müller'", ", such as 'xxxxx xxxxxx'"),
        (
            "header 'phone' suggests a telephone number",
            "header 'phone' suggests a telephone number",
        ),
    ],
)
def test_an_example_is_given_by_its_shape(sentence: str, shown: str):
    assert without_examples(sentence).endswith(shown)


def test_the_rules_give_examples_where_they_are_looked_for():
    [sentence, *_] = judge(Column(None, ("ann@example.org", "bo@example.org"))).evidence
    assert without_examples(sentence).endswith(", such as 'xxx@xxxxxxx.'")
