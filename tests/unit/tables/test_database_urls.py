"""Addresses of databases: what they choose, and that no password is ever shown."""

from pathlib import Path
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aegir.tables.database_urls import (
    is_database_url,
    is_selected,
    parse_database_url,
    show_relation,
    split_relation,
)
from aegir_rl.base.errors import UsageError

names = st.text(min_size=1, max_size=8)


def test_an_address_is_taken_apart_and_shown_without_password_and_parameters():
    url = parse_database_url(
        "postgresql://ann:p%40ss@db.example:5433/shop?schema=sales&table=a*&table=b&sslmode=require"
    )
    assert (url.driver, url.host, url.port) == ("postgresql", "db.example", 5433)
    assert (url.user, url.password, url.database) == ("ann", "p@ss", "shop")
    assert (url.schemas, url.tables) == (("sales",), ("a*", "b"))
    assert url.parameters == (("sslmode", "require"),)
    assert str(url) == "postgresql://ann@db.example:5433/shop"
    assert url.hide_secrets("login of ann with p@ss failed") == "login of ann with … failed"
    assert parse_database_url("mariadb://h/d").driver == "mysql"


def test_three_slashes_are_a_relative_path_and_four_an_absolute_one():
    assert parse_database_url("sqlite:///data/shop.db").path == Path("data/shop.db")
    assert parse_database_url("duckdb:////data/my%20lake.duckdb?table=t").path == Path(
        "/data/my lake.duckdb"
    )


@pytest.mark.parametrize(
    ("address", "sentence"),
    [
        ("mssql://u:secret@h/d", "mssql:// addresses cannot be read; give a file, or postgresql:"),
        ("postgresql://u:se/cret@h/d", "with %40, %2F, %3A, %3F and %23 for @, /, :, ? and #"),
        ("postgresql://u:12/secret@h/d", "with %40, %2F"),
        ("postgresql://u:12#secret@h/d", "with %40, %2F"),
        ("postgresql://u:secret?x@h/d", "the postgresql address cannot be read"),
        ("mysql://u:secret@h:port/d", "the mysql address cannot be read"),
        ("mysql://u:secret@[::1/d", "the mysql address cannot be read"),
        ("sqlite://shop.db", "sqlite://shop.db names no file; write sqlite:///file.db"),
        ("duckdb:///", "names no file"),
        ("sqlite:///shop.db?mode=rw", "unknown parameter 'mode' of a sqlite address"),
    ],
)
def test_a_wrong_address_is_one_sentence_that_keeps_the_password(address: str, sentence: str):
    with pytest.raises(UsageError) as refused:
        parse_database_url(address)
    assert sentence in str(refused.value)
    assert "secret" not in str(refused.value)
    assert "\n" not in str(refused.value)


@given(before=names, after=names)
def test_no_password_is_in_what_an_address_shows(before: str, after: str):
    password = quote(f"{before}SECRET{after}", safe="", errors="replace")
    url = parse_database_url(f"mysql://ann:{password}@host/shop?password={password}")
    assert url.password is not None
    assert "SECRET" in url.password
    assert "SECRET" not in f"{url} {url!r} {url.hide_secrets(url.password * 2)}"


@given(schema=names, table=names, default=st.none() | st.just("public"))
def test_the_shown_name_of_a_relation_reads_back(schema: str, table: str, default: str | None):
    shown = show_relation(schema, table, default)
    expected = (None, table) if schema == default else (schema, table)
    assert split_relation(shown) == expected


def test_patterns_choose_by_table_by_schema_and_by_both():
    assert is_selected("sales", "orders")
    assert is_selected("sales", "orders", tables=["ord*"])
    assert is_selected("sales", "orders", tables=["x", "sales.*"])
    assert not is_selected("sales", "orders", tables=["Orders", "public.*"])
    assert not is_selected("sales", "orders", schemas=["public"], tables=["orders"])
    assert is_database_url("POSTGRES://h/d")
    assert not is_database_url(Path("sqlite:///x"))
