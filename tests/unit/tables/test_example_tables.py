"""The examples keep their promises: invented contacts, valid check digits, the quirks they are for."""

import csv
import re
from pathlib import Path

import pytest
from stdnum import bic, ean, iban, isbn, luhn

from aegir.tables.readers import read_tables

EXAMPLES = Path(__file__).parents[3] / "examples"
FILES = sorted(path for path in EXAMPLES.iterdir() if path.is_file() and path.name != "README.md")
TEXT_FILES = [
    path for path in FILES if path.suffix in {".csv", ".tsv", ".json", ".jsonl", ".geojson"}
]


def rows_of(name: str, delimiter: str = ",") -> list[dict[str, str]]:
    with (EXAMPLES / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter=delimiter))


def test_the_readme_lists_every_example_and_no_other():
    readme = (EXAMPLES / "README.md").read_text(encoding="utf-8")
    listed = re.findall(r"^\| \[(.+?)\]", readme, re.MULTILINE)
    folders = ["library/library.db", "snapshots/"]
    assert sorted(listed) == sorted([*(path.name for path in FILES), *folders])
    assert len(FILES) == 18


@pytest.mark.parametrize("path", TEXT_FILES, ids=lambda path: path.name)
def test_addresses_and_links_use_reserved_domains(path: Path):
    text = path.read_bytes().decode("latin-1")
    assert all(domain == "example.org" for domain in re.findall(r"@([\w.-]+\w)", text))
    hosts = set(re.findall(r"https?://([\w.-]+)", text))
    assert all(host == "schema.org" or host.endswith("example.org") for host in hosts)


@pytest.mark.parametrize("path", TEXT_FILES, ids=lambda path: path.name)
def test_phone_numbers_come_from_ranges_kept_for_fiction(path: Path):
    text = path.read_bytes().decode("latin-1")
    fictional = r"\+44 20 7946 0\d{3}|\+44 1632 960\d{3}|\+1 206-555-01\d\d"
    numbers = re.findall(r"\+\d[\d -]{7,}", text)
    assert all(re.fullmatch(fictional, number.strip()) for number in numbers)


def test_identifiers_have_valid_check_digits():
    for row in rows_of("payments.csv"):
        assert iban.is_valid(row["iban"])
        assert bic.is_valid(row["bic"])
        assert luhn.is_valid(row["card_number"])
    assert all(ean.is_valid(row["gtin"]) for row in rows_of("products.tsv", "\t"))
    assert all(isbn.is_valid(row["isbn"]) for row in rows_of("books.csv"))


def test_client_addresses_come_from_documentation_ranges():
    reserved = ("192.0.2.", "198.51.100.", "203.0.113.", "2001:db8::")
    assert all(row["client_ip"].startswith(reserved) for row in rows_of("access_log.csv"))


def test_the_awkward_examples_are_awkward():
    assert len(rows_of("wide.csv")[0]) == 44
    german = (EXAMPLES / "bestellungen.csv").read_bytes()
    assert "Straße;PLZ" in german.decode("latin-1")
    broken = (EXAMPLES / "broken.csv").read_bytes()
    assert len({line.count(b",") for line in broken.splitlines()}) > 3
    for damaged in (german, broken):
        with pytest.raises(UnicodeDecodeError):
            damaged.decode("utf-8")


def test_the_nested_examples_give_their_tables():
    orders, items, stores = read_tables(EXAMPLES / "orders.json")
    assert [table.name for table in (items, stores)] == [
        "orders.json#orders.items",
        "orders.json#stores",
    ]
    assert [column.name for column in orders.columns][2:5] == [
        "customer.name",
        "customer.email",
        "customer.address.city",
    ]
    assert items.columns[0].name == "orders.order_id"
    (trees,) = read_tables(EXAMPLES / "trees.geojson")
    names = [column.name for column in trees.columns]
    assert (names[1], names[-1]) == ("properties.tree_id", "geometry")
