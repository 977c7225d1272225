"""Primary and foreign keys: of one table, between tables of a folder or database, and in the formats."""

import csv
import json
import random
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from aegir.answers.annotation import annotation_as_dict, annotation_from_dict
from aegir.pipeline.header_words import split_key_word, table_words, words_of
from aegir.pipeline.run import Annotations, Answered, annotate, link_answers

LIBRARY = Path(__file__).parents[3] / "examples" / "library" / "library.db"
Link = tuple[str, str, str, str]


def links(answers: Annotations) -> set[Link]:
    """Every foreign key as table, column, other table and its column."""
    return {
        (
            plain(table.table),
            str(table.columns[key.columns[0]].name),
            plain(key.table),
            str(key.names[0]),
        )
        for table in answers
        for key in table.foreign_keys
    }


def plain(table: str) -> str:
    return table.rpartition("#")[2].partition(".")[0]


def write(folder: Path, **tables: dict[str, list[object]]) -> Path:
    for name, columns in tables.items():
        with (folder / f"{name}.csv").open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(columns)
            writer.writerows(zip(*columns.values(), strict=True))
    return folder


def numbers(count: int, most: int, seed: int = 0) -> list[object]:
    draw = random.Random(seed)
    return [draw.randint(1, most) for _ in range(count)]


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Annotations:
    """The library with its declarations hidden."""
    path = tmp_path_factory.mktemp("hidden") / "library.db"
    with sqlite3.connect(LIBRARY) as declared, sqlite3.connect(path) as hidden:
        for name in _tables(declared):
            rows = declared.execute(f"SELECT * FROM {name}")
            columns = [column[0] for column in rows.description]
            hidden.execute(f"CREATE TABLE {name} ({', '.join(columns)})")
            marks = ", ".join("?" for _ in columns)
            hidden.executemany(f"INSERT INTO {name} VALUES ({marks})", rows.fetchall())
    return annotate(path)


def _tables(connection: sqlite3.Connection) -> list[str]:
    return [
        row[0] for row in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")
    ]


def test_the_declared_keys_of_a_database_are_found(library: Annotations):
    with sqlite3.connect(LIBRARY) as connection:
        names = [plain(table.table) for table in library]
        declared = {
            (name, row[3], row[2], connection.execute(f"PRAGMA table_info({row[2]})").fetchone()[1])
            for name in names
            for row in connection.execute(f"PRAGMA foreign_key_list({name})")
        }
        keys = {
            name: [row[1] for row in connection.execute(f"PRAGMA table_info({name})") if row[5]]
            for name in names
        }
    assert links(library) == declared
    assert {
        plain(table.table): [table.columns[column].name for column in table.primary_key.columns]
        for table in library
        if table.primary_key
    } == keys


def test_what_a_database_declares_is_answered_as_declared(library: Annotations):
    declared = annotate(LIBRARY)
    assert links(declared) == links(library)
    for table in declared:
        assert table.primary_key is not None
        assert (table.primary_key.declared, table.primary_key.confidence) == (True, 1.0)
        assert all(key.declared for key in table.foreign_keys)
    assert "book_id -> library.db#books: book_id declared" in " ".join(str(declared).split())


def test_declared_references_without_columns_to_itself_and_of_two_columns(tmp_path: Path):
    with sqlite3.connect(tmp_path / "s.db") as connection:
        connection.executescript("""
            CREATE TABLE orders (oid INTEGER PRIMARY KEY, above INTEGER REFERENCES orders);
            CREATE TABLE p (a INTEGER, b INTEGER, PRIMARY KEY (a, b));
            CREATE TABLE parts (oid INTEGER REFERENCES orders, y INTEGER, x INTEGER,
                FOREIGN KEY (x, y) REFERENCES p (a, b));
            INSERT INTO orders VALUES (1, NULL), (2, 1);
            INSERT INTO p VALUES (1, 5), (2, 6);
            INSERT INTO parts VALUES (1, 5, 1), (2, 6, 2);
        """)
    found = annotate(tmp_path / "s.db")
    keys = {plain(each.table): each.foreign_keys for each in found}
    told = {
        name: [(key.columns, plain(key.table), key.names, key.declared) for key in each]
        for name, each in keys.items()
    }
    assert told == {
        "orders": [((1,), "orders", ("oid",), True)],
        "p": [],
        "parts": [((0,), "orders", ("oid",), True), ((1, 2), "p", ("b", "a"), True)],
    }
    assert 'FOREIGN KEY ("y", "x") REFERENCES "p" ("b", "a")' in found.to("sql")


@pytest.mark.parametrize("wrapped", [False, True])
def test_the_key_of_a_nested_list_refers_to_its_parent(tmp_path: Path, wrapped: bool):
    users = [
        {"id": 100 + n, "name": f"u{n}", "tags": [{"word": f"w{n}"}, {"word": "x"}]}
        for n in range(12)
    ]
    path = tmp_path / "people.json"
    path.write_text(json.dumps({"users": users, "other": [{"a": 1}]} if wrapped else users))
    child = next(each for each in annotate(path) if each.table.endswith("tags"))
    (key,) = child.foreign_keys
    assert key.table == ("people.json#users" if wrapped else "people.json")
    assert (key.columns, key.names, key.confidence, key.holds) == ((0,), ("id",), 1.0, True)
    assert child.primary_key is None or child.primary_key.columns != (0,)


def test_a_reference_within_the_only_table_of_a_database_is_given(tmp_path: Path):
    with sqlite3.connect(tmp_path / "one.db") as connection:
        connection.execute("CREATE TABLE n (id INTEGER PRIMARY KEY, up INTEGER REFERENCES n)")
        connection.execute("INSERT INTO n VALUES (1, NULL), (2, 1)")
    (answer,) = annotate(tmp_path / "one.db")
    assert [(key.columns, key.references) for key in answer.foreign_keys] == [((1,), (0,))]


def test_a_sample_without_repetition_is_no_key_where_another_table_has_fewer_rows(tmp_path: Path):
    orders: list[object] = list(range(5001, 5201))
    lines: list[object] = [oid for oid in orders for _ in range(2)]
    write(
        tmp_path,
        orders={"oid": orders, "placed": [f"2024-03-{n % 28 + 1:02}" for n in range(200)]},
        lines={"oid": lines, "pos": [1, 2] * 200, "sku": [f"K{n % 37:03}" for n in range(400)]},
    )
    answers = annotate(tmp_path)
    assert ("lines", "oid", "orders", "oid") in links(answers)
    keys = {plain(each.table): each.primary_key for each in answers}
    assert keys["orders"] is not None
    assert keys["lines"] is None or keys["lines"].columns != (0,)


def test_keys_have_a_confidence_and_say_whether_all_rows_agree(library: Annotations):
    loans = next(table for table in library if table.table.endswith("#loans"))
    assert loans.primary_key is not None
    assert loans.primary_key.holds
    assert 0.9 < loans.primary_key.confidence < 1
    book = loans.foreign_keys[0]
    assert book.holds
    assert "distinct values are among its keys" in book.reason


def test_keys_survive_json(library: Annotations):
    for table in library:
        data = json.loads(json.dumps(annotation_as_dict(table)))
        again = annotation_from_dict(data)
        assert again.foreign_keys == tuple(
            type(key)(**{**_fields(key), "confidence": round(key.confidence, 4)})
            for key in table.foreign_keys
        )
        assert annotation_as_dict(again) == data


def _fields(key: object) -> dict[str, object]:
    return {name: getattr(key, name) for name in key.__slots__}  # type: ignore[attr-defined]


def test_keys_of_large_tables_are_found_in_samples(tmp_path: Path):
    write(
        tmp_path,
        customers={"id": list(range(1, 3001)), "name": [f"customer {n}" for n in range(3000)]},
        orders={
            "id": list(range(1, 5001)),
            "customer_id": numbers(5000, 3000),
            "total": numbers(5000, 90, 1),
        },
    )
    answers = annotate(tmp_path)
    assert links(answers) == {("orders", "customer_id", "customers", "id")}
    assert not any(key.holds for table in answers for key in table.foreign_keys)


def test_a_role_another_word_for_key_and_a_shortened_name_are_understood(tmp_path: Path):
    codes: list[object] = [f"P{n:03}" for n in range(100, 140)]
    write(
        tmp_path,
        ports={"code": codes, "harbour": [f"harbour of {c}" for c in codes]},
        customers={"customer_id": list(range(1, 51)), "since": numbers(50, 30)},
        trips={
            "trip_id": list(range(1, 61)),
            "home_port_code": codes + codes[:20],
            "port_ref": codes[20:] + codes,
            "cust_id": numbers(60, 50),
        },
    )
    assert links(annotate(tmp_path)) == {
        ("trips", "home_port_code", "ports", "code"),
        ("trips", "port_ref", "ports", "code"),
        ("trips", "cust_id", "customers", "customer_id"),
    }


def test_values_that_are_not_among_the_keys_are_no_reference(tmp_path: Path):
    write(
        tmp_path,
        customers={"id": list(range(1, 41)), "name": [f"customer {n}" for n in range(40)]},
        orders={"id": list(range(1, 61)), "customer_id": [9000 + n for n in range(60)]},
    )
    assert links(annotate(tmp_path)) == set()


def test_texts_and_numbers_are_never_linked(tmp_path: Path):
    write(
        tmp_path,
        customers={"id": list(range(1, 41)), "name": [f"customer {n}" for n in range(40)]},
        orders={"id": list(range(1, 41)), "customer_id": [f"C-{n}" for n in range(40)]},
    )
    assert links(annotate(tmp_path)) == set()


def test_years_and_bare_ids_are_shared_without_being_keys(tmp_path: Path):
    years: list[object] = list(range(1980, 2020))
    write(
        tmp_path,
        rain={"year": years, "millimetres": numbers(40, 900)},
        harvest={"year": years, "tonnes": numbers(40, 90, 1)},
        staff={"id": list(range(1, 41)), "desk": numbers(40, 9)},
        rooms={"id": list(range(1, 41)), "floor": numbers(40, 4)},
    )
    assert links(annotate(tmp_path)) == set()


def test_two_tables_that_fit_equally_are_not_guessed_at(tmp_path: Path):
    ids: list[object] = list(range(1, 41))
    write(
        tmp_path,
        north={"member_id": ids, "points": numbers(40, 9)},
        south={"member_id": ids, "points": numbers(40, 9, 1)},
        visits={"visit_no": list(range(1, 61)), "member_id": numbers(60, 40)},
    )
    assert links(annotate(tmp_path)) == set()


def test_tables_of_other_folders_are_not_linked(tmp_path: Path):
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
    write(tmp_path / "a", customers={"id": list(range(1, 41)), "name": ["x"] * 40})
    write(tmp_path / "b", orders={"id": list(range(1, 61)), "customer_id": numbers(60, 40)})
    assert links(annotate(tmp_path)) == set()


def test_a_table_without_a_unique_column_has_no_single_key():
    rows = {"city": ["Porto", "Lima", "Porto", "Oslo"] * 10, "note": ["wet", "dry"] * 20}
    assert annotate(rows)[0].primary_key is None


def test_an_interrupt_passes_on_the_answers_that_wait(library: Annotations):
    def interrupted() -> Iterator[Answered]:
        yield Answered(0, library[0])
        yield Answered(1, library[1])
        raise KeyboardInterrupt

    stream = link_answers(interrupted())
    assert [next(stream).answer, next(stream).answer] == [library[0], library[1]]
    with pytest.raises(KeyboardInterrupt):
        next(stream)


def test_formats_carry_the_keys(library: Annotations):
    package = json.loads(library.to("frictionless"))
    schemas = {each["name"]: each["schema"] for each in package["resources"]}
    loans = schemas["library-db-loans"]
    assert loans["primaryKey"] == "loan_id"
    assert loans["foreignKeys"][0] == {
        "fields": ["book_id"],
        "reference": {"resource": "library-db-books", "fields": ["book_id"]},
    }
    assert schemas["library-db-book-subjects"]["primaryKey"] == ["book_id", "subject_id"]
    assert schemas["library-db-staff"]["foreignKeys"][0]["reference"]["resource"] == ""
    dbt = library.to("dbt")
    assert "to: \"ref('library_db_books')\"" in dbt
    sql = library.to("sql")
    constraint = 'FOREIGN KEY ("book_id") REFERENCES "books" ("book_id")'
    assert f'-- ALTER TABLE "loans" ADD {constraint}; -- 0.97' in sql
    assert "book_id -> library.db#books: book_id" in " ".join(str(library).split())
    assert "reports_to -&gt; library.db#staff: staff_id" in library.to("html")


def test_a_key_that_only_a_sample_supports_is_not_stated_to_validators(tmp_path: Path):
    write(
        tmp_path,
        customers={"id": list(range(1, 3001)), "name": [f"customer {n}" for n in range(3000)]},
        orders={"id": list(range(1, 901)), "customer_id": numbers(900, 3000)},
    )
    package = json.loads(annotate(tmp_path).to("frictionless"))
    for resource in package["resources"]:
        assert "primaryKey" not in resource["schema"]
        assert "foreignKeys" not in resource["schema"]
        assert resource["schema"]["aegir"]["primary_key"]["confidence"] > 0.9


@pytest.mark.parametrize(
    ("header", "stem", "key_word"),
    [
        ("CustomerID", ("customer",), "id"),
        ("customer_ids", ("customer", "id"), None),
        ("albumid", ("album",), "id"),
        ("id", (), "id"),
        ("FK_Customer", ("customer",), "fk"),
        ("Categories", ("category",), None),
    ],
)
def test_headers_are_split_into_what_they_name_and_a_word_for_key(
    header: str, stem: tuple[str, ...], key_word: str | None
):
    if key_word is None:
        assert split_key_word(words_of(header))[0][:1] == stem[:1]
    else:
        assert split_key_word(words_of(header)) == (stem, key_word)


def test_words_for_sorts_of_tables_are_left_out_of_their_names():
    assert table_words("dim_customers") == ("customer",)
    assert table_words("tbl") == ("tbl",)
