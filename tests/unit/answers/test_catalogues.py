"""Answers in the words of catalogues and checking tools: names, claims, and statements that databases execute."""

import json
import re
from dataclasses import replace
from typing import Any

import duckdb
import pytest
import yaml

from aegir.answers.annotation import ColumnAnnotation, TableAnnotation
from aegir.answers.catalogue_names import CatalogueTable, catalogue_table
from aegir.answers.value_expectations import Claim, claims_for
from aegir.answers.writers import FORMATS
from aegir.tables.contents import describe_column
from aegir.tables.datatype import ColumnProfile
from aegir.tables.table import Column

SOURCE = "postgresql://ann@db.example/shop"


def a_column(
    index: int, name: str | None, label: str | None, kind: str, **more: Any
) -> ColumnAnnotation:
    fields = {"type": None, "type_confidence": 0.9, "fine_type": label, "datatype": "string"}
    fields |= {"personal": False, "reasons": (f"reads like {label}, such as 'O''Hara \\ 7'",)}
    return ColumnAnnotation(
        index=index, name=name, label=label, confidence=0.97, kind=kind, **{**fields, **more}
    )


KEY = a_column(0, "id", "primary_key", "identifier", datatype="integer")
MAIL = a_column(1, "e mail", "email_address", "person", personal=True, personal_level="direct")
STATUS = a_column(2, "status", "status", "category")
PRICE = a_column(3, 'unit "price"', "item_price", "money", datatype="number")
WHERE = a_column(4, "lat", "latitude", "place", datatype="number")
UNSURE = replace(a_column(5, "misc", None, "text", datatype="integer"), kind=None, confidence=0.3)
NAMELESS = a_column(6, None, "status", "category")
SAMPLED = ColumnProfile(200, 0, 200, False)
PROFILES = (
    SAMPLED._replace(least=1, greatest=9000),
    SAMPLED,
    ColumnProfile(200, 3, 2, False, values=(("open", 150), ("shut", 47))),
    ColumnProfile(200, 0, 90, False, 0.5, 19.99),
    ColumnProfile(200, 0, 90, False, 57.1, 71.2),
    SAMPLED._replace(least=1, greatest=2),
    ColumnProfile(200, 0, 2, False, values=(("a", 100), ("b", 100))),
)
ORDERS = TableAnnotation(
    "sales.Orders",
    SOURCE,
    0,
    (KEY, MAIL, STATUS, PRICE, WHERE, UNSURE, NAMELESS),
    "combined",
    profiles=PROFILES,
)


def parsed(name: str, *annotations: TableAnnotation) -> Any:
    return json.loads(FORMATS[name](annotations))


@pytest.mark.parametrize(
    ("source", "table", "expected"),
    [
        (SOURCE, "orders", CatalogueTable("postgres", "shop", "public", "orders")),
        (SOURCE, '"a.b".c', CatalogueTable("postgres", "shop", "a.b", "c")),
        ("mysql://h/shop", "orders", CatalogueTable("mysql", None, "shop", "orders")),
        ("d/shop.db", "shop.db#o", CatalogueTable("sqlite", None, None, "o", "d/shop.db", True)),
        ("x.duckdb", "x.duckdb#s.o", CatalogueTable("duckdb", None, "s", "o", "x.duckdb", True)),
        (
            "/home/x/o.csv.gz",
            "o.csv.gz",
            CatalogueTable("file", None, None, "o", "/home/x/o.csv.gz"),
        ),
        ("b.xlsx", "b.xlsx#May", CatalogueTable("file", None, None, "May", "b.xlsx", True)),
        ("d\\o.csv", "o.csv", CatalogueTable("file", None, None, "o", "d/o.csv")),
        ("-", "stdin", CatalogueTable("file", None, None, "stdin", "stdin")),
        (None, "table", CatalogueTable("file", None, None, "table", "table")),
        ("mysql://[", "t", CatalogueTable("file", None, None, "t", "mysql://[")),
    ],
)
def test_a_table_is_named_by_where_it_is(source: str | None, table: str, expected: CatalogueTable):
    assert catalogue_table(replace(ORDERS, source=source, table=table)) == expected


def test_no_two_tables_of_an_export_share_a_name():
    places = [
        ("a/shop.db", "shop.db#orders"),
        ("b/shop.db", "shop.db#orders"),
        ("a/shop.duckdb", "shop.duckdb#s.orders"),
        ("a/orders.csv", "orders.csv"),
        ("a/orders.parquet", "orders.parquet"),
        ("b/orders.csv", "orders.csv"),
        ("orders.csv", "orders.csv"),
        ("shop.xlsx", "shop.xlsx#orders"),
        ("shop.xlsx", "shop.xlsx#sold"),
    ]
    answers = [replace(ORDERS, source=source, table=table) for source, table in places]
    tables = parsed("openmetadata", *answers)["tables"]
    names = [(each["databaseSchema"], each["name"]) for each in tables]
    assert names[0] == ('sqlite."a/shop.db".default', "orders")
    assert names[2:4] == [('duckdb."a/shop.duckdb".s', "orders"), ("file.default.a", "orders.csv")]
    assert names[-2] == ('file."shop.xlsx".default', "orders")
    assert len(set(names)) == len(places)
    proposals = parsed("datahub", *answers)
    urns = {each["entityUrn"] for each in proposals if each["entityType"] == "dataset"}
    assert len(urns) == len(places)


def test_claims_follow_from_sure_answers_and_values_that_all_agree():
    # 200 rows without an exception: 1 - 3/200 = 0.985; a range has two ends: 1 - 6/200 = 0.97. Rounded down.
    assert claims_for(ORDERS, KEY) == (Claim("not_null", 0.98), Claim("unique"))
    assert claims_for(ORDERS, MAIL) == (Claim("not_null", 0.98),)
    assert claims_for(ORDERS, STATUS) == (Claim("in_set", 0.98, ("open", "shut")),)
    assert claims_for(ORDERS, PRICE)[1] == Claim("between", 0.97, (), 0.5, 19.99)
    assert claims_for(ORDERS, WHERE)[1] == Claim("between", None, (), -90, 90)
    assert claims_for(ORDERS, UNSURE) == ()


def test_no_claim_is_made_where_the_values_or_the_answer_do_not_support_it():
    def claimed(column: ColumnAnnotation, profile: ColumnProfile) -> set[str]:
        profiles = (*PROFILES[: column.index], profile, *PROFILES[column.index + 1 :])
        return {each.kind for each in claims_for(replace(ORDERS, profiles=profiles), column)}

    assert claimed(KEY, PROFILES[0]._replace(distinct=199)) == {"not_null"}
    assert claimed(KEY, PROFILES[0]._replace(rows=29, distinct=29)) == set()
    assert claimed(replace(KEY, confidence=0.89), PROFILES[0]) == set()
    assert claimed(replace(KEY, label="order_number", index=1), SAMPLED) == {"not_null"}
    assert claimed(STATUS, ColumnProfile(200, 0, 2, False, values=(("a", 196), ("b", 4)))) == {
        "not_null"
    }
    for personal in (STATUS, PRICE):
        hidden = replace(personal, personal=True, personal_level="about")
        assert claimed(hidden, PROFILES[personal.index]) <= {"not_null"}
    at_home = replace(WHERE, personal=True, personal_level="indirect")
    assert claims_for(ORDERS, at_home)[1] == Claim("between", None, (), -90, 90)  # says nothing
    assert claimed(WHERE, PROFILES[4]._replace(greatest=91.0)) == {"not_null"}
    complete = replace(ORDERS, profiles=(PROFILES[0]._replace(complete=True),))
    assert claims_for(complete, KEY)[0] == Claim("not_null", None)
    assert claims_for(replace(ORDERS, profiles=()), KEY) == ()


def test_a_profile_counts_what_was_sampled():
    column = Column("n", ("3", "", "10", "n/a", "3"))
    assert describe_column(column, 5) == (
        "integer",
        ColumnProfile(
            *(5, 2, 2, True, 3.0, 10.0, (("10", 1), ("3", 2))),
            total_rows=5,
            once=1,
            mean_length=4 / 3,
            common=(("3", 2),),
            digits=3,
        ),
    )
    assert describe_column(Column("n", ("1,5", "2,5")), None)[1][:6] == (
        *(2, 0, 2, False, None, None),
    )
    assert describe_column(Column("n", tuple(map(str, range(21)))), 900)[1].values == ()


def test_open_metadata_gets_a_glossary_and_suggested_labels():
    document = parsed("openmetadata", ORDERS)
    assert list(document) == ["glossary", "glossaryTerms", "tables"]
    names = [term["name"] for term in document["glossaryTerms"]]
    assert names == sorted({column.label for column in ORDERS.columns if column.label})
    assert all(
        term["description"] and term["glossary"] == "Aegir" for term in document["glossaryTerms"]
    )
    (table,) = document["tables"]
    assert (table["databaseSchema"], table["name"]) == ("postgres.shop.sales", "Orders")
    columns = table["columns"]
    assert [column["name"] for column in columns][-2:] == ["misc", "column_7"]
    suggested = {"labelType": "Automated", "state": "Suggested"}
    assert columns[1]["tags"] == [
        {"tagFQN": "Aegir.email_address", "source": "Glossary", **suggested},
        {"tagFQN": "PII.Sensitive", "source": "Classification", **suggested},
    ]
    assert columns[5]["tags"] == []
    assert columns[5]["description"].startswith("not decided (0.30)")
    assert "personal data (direct) [Aegir, combined]" in columns[1]["description"]
    assert [column["dataType"] for column in columns[:4]] == [
        "BIGINT",
        "STRING",
        "STRING",
        "DOUBLE",
    ]


def test_open_metadata_names_are_those_it_accepts():
    odd = replace(ORDERS, columns=(replace(KEY, name="a::b>c\nd", label="my.type"),))
    document = parsed("openmetadata", odd)
    (column,) = document["tables"][0]["columns"]
    assert column["name"] == "a_b_c\\nd"
    assert column["tags"][0]["tagFQN"] == 'Aegir."my.type"'
    assert document["glossaryTerms"][0]["description"] == (
        "A type that was taught, of the kind identifier."
    )


def test_datahub_gets_proposals_for_tags_terms_and_columns():
    proposals = parsed("datahub", ORDERS)
    assert {each["changeType"] for each in proposals} == {"UPSERT"}
    tags = [each["entityUrn"] for each in proposals if each["entityType"] == "tag"]
    assert tags == ["urn:li:tag:personal", "urn:li:tag:personal_direct"]
    dataset = proposals[-1]
    assert dataset["entityUrn"] == (
        "urn:li:dataset:(urn:li:dataPlatform:postgres,shop.sales.Orders,PROD)"
    )
    fields = dataset["aspect"]["json"]["editableSchemaFieldInfo"]
    terms = {each["entityUrn"] for each in proposals if each["entityType"] == "glossaryTerm"}
    used = [
        term["urn"] for field in fields for term in field.get("glossaryTerms", {}).get("terms", [])
    ]
    assert set(used) == terms
    mail = fields[1]
    assert [tag["tag"] for tag in mail["globalTags"]["tags"]] == tags
    assert mail["glossaryTerms"]["terms"][0]["attribution"]["sourceDetail"] == {
        "annotator": "combined",
        "confidence": "0.97",
    }
    assert "glossaryTerms" not in fields[5]
    odd = parsed("datahub", replace(ORDERS, source=None, table="a,b (1).csv"))
    assert odd[-1]["entityUrn"].endswith(":file,a%2Cb %281%29.csv,PROD)")


def test_a_great_expectations_suite_states_claims_with_their_evidence():
    (suite,) = parsed("great_expectations", ORDERS)
    assert suite["name"] == "shop.sales.Orders"
    stated = {
        (each["type"].removeprefix("expect_column_"), each["kwargs"].pop("column")): each
        for each in suite["expectations"]
    }
    assert {name for kind, name in stated if kind == "to_exist"} == {
        column.name for column in ORDERS.columns if column.name
    }
    assert stated["values_to_be_between", 'unit "price"']["kwargs"] == {
        "min_value": 0.5,
        "max_value": 19.99,
        "mostly": 0.97,
    }
    assert stated["values_to_be_in_set", "status"]["kwargs"]["value_set"] == ["open", "shut"]
    assert stated["values_to_be_unique", "id"]["meta"]["aegir"] == {
        "label": "primary_key",
        "confidence": 0.97,
        "sampled_rows": 200,
        "all_rows": False,
    }
    assert len(stated) == 6 + 4 + 1 + 1 + 2


def test_dbt_tests_warn_and_are_there_only_with_claims():
    document = yaml.safe_load(FORMATS["dbt"]([ORDERS]))
    key, mail, status, price, _, unsure, _ = document["models"][0]["columns"]
    warn = {"config": {"severity": "warn"}}
    assert key["data_tests"] == [{"not_null": warn}, {"unique": warn}]
    assert mail["config"]["meta"]["contains_pii"] is True
    assert mail["config"]["meta"]["aegir_annotator"] == "combined"
    assert status["data_tests"] == [
        {"accepted_values": {"arguments": {"values": ["open", "shut"]}, **warn}}
    ]
    assert price["data_tests"] == [{"not_null": warn}]
    for values, quote in (((("no", 9), ("yes", 9)), {}), ((("0", 9), ("1", 9)), {"quote": False})):
        datatype = "boolean" if quote == {} else "integer"
        flags = replace(
            ORDERS,
            columns=(replace(STATUS, index=0, datatype=datatype),),
            profiles=(PROFILES[2]._replace(values=values),),
        )
        (flag,) = yaml.safe_load(FORMATS["dbt"]([flags]))["models"][0]["columns"]
        listed = [value for value, _ in values]
        assert flag["data_tests"][0]["accepted_values"]["arguments"] == {"values": listed, **quote}
    assert "data_tests" not in unsure
    assert "data_tests" not in FORMATS["dbt"]([replace(ORDERS, profiles=())])


COMMENTED = "SELECT column_name, comment FROM duckdb_columns() WHERE table_name = 'Orders'"


def test_duckdb_executes_the_comments():
    script = FORMATS["sql"]([ORDERS])
    with duckdb.connect() as connection:
        connection.execute("CREATE SCHEMA sales")
        connection.execute(
            'CREATE TABLE sales."Orders" (id int, "e mail" text, status text, "unit ""price""" double, lat double, misc int)'
        )
        connection.execute(script)
        comments = dict(connection.execute(COMMENTED).fetchall())
    assert comments["id"] == "primary_key (0.97): reads like primary_key, such as 'O''Hara \\ 7'"
    assert comments["e mail"].endswith("; personal data (direct)")
    assert comments['unit "price"'].startswith("item_price (0.97)")
    assert comments["misc"] is None


def test_postgresql_executes_the_comments(postgres_server: str):
    import psycopg

    quoted = '"Odd ""Orders"""'
    odd = replace(ORDERS, table=f"sales.{quoted}")
    with psycopg.connect(postgres_server) as connection:
        connection.execute("CREATE SCHEMA sales")
        connection.execute(
            f'CREATE TABLE sales.{quoted} (id int, "e mail" text, status text, "unit ""price""" float8, lat float8, misc int)'
        )
        script = FORMATS["sql"]([odd]).replace("BEGIN;\n", "").replace("COMMIT;\n", "")
        connection.execute(script)
        rows = connection.execute(
            "SELECT attname, col_description(attrelid, attnum) FROM pg_attribute "
            "WHERE attrelid = %s::regclass AND attnum > 0",
            (f"sales.{quoted}",),
        ).fetchall()
        connection.rollback()
    comments: dict[str, str | None] = dict(rows)
    assert comments["id"] == "primary_key (0.97): reads like primary_key, such as 'O''Hara \\ 7'"
    assert comments['unit "price"'] is not None
    assert comments["misc"] is None


def test_a_name_that_cannot_be_quoted_is_left_out_with_a_line_that_says_so():
    text = FORMATS["sql"]([replace(ORDERS, columns=(replace(KEY, name="a\x1bb"), STATUS))])
    assert "-- the name of column 1 has control characters: a\\x1bb\n" in text
    assert len(re.findall("^COMMENT ON", text, re.MULTILINE)) == 1
