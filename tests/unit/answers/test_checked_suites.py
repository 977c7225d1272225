"""Great Expectations suites and dbt files, run by the real programs where there are some.

GREAT_EXPECTATIONS_PYTHON names the Python of an environment with great_expectations and pandas, DBT the program of one with
dbt-duckdb; both have dependencies that differ from ours. Without them these tests are skipped; the others need neither.
"""

import csv
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import uuid
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

import aegir
from aegir.answers.value_expectations import dbt_lines

VALIDATE = """
import json, sys, warnings
warnings.simplefilter("ignore")
import pandas as pd, great_expectations as gx
context = gx.get_context(mode="ephemeral")
frame = pd.read_csv(sys.argv[2])
(made,) = json.load(open(sys.argv[1]))
suite = context.suites.add(gx.ExpectationSuite(**made))
data = context.data_sources.add_pandas("p").add_dataframe_asset("a").add_batch_definition_whole_dataframe("b")
result = data.get_batch({"dataframe": frame}).validate(suite)
failed = [str(each.expectation_config) for each in result.results if not each.success]
print(json.dumps({"success": result.success, "checked": len(result.results), "failed": failed}))
"""
STATES = ("pending", "shipped", "returned")


def write_orders(folder: Path, *, rows: int = 60) -> Path:
    """A table with columns for which rules are known; every third phone is missing."""
    path = folder / "orders.csv"
    header = [
        "order_id",
        "customer_email",
        "isbn",
        "status",
        "ordered_on",
        "latitude",
        "iban",
        "unit_price",
    ]
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(header)
        for index in range(rows):
            writer.writerow(
                [
                    uuid.UUID(int=index * 7_919 + 2**96, version=4),
                    f"ann{index}@example.org",
                    isbn(index),
                    STATES[index % 3],
                    f"{index % 28 + 1:02d}.03.2030",
                    f"{50 + index / 100:.4f}",
                    f"DE60999000010000{index:06d}"[:22],
                    f"{10 + index}.99",
                ]
            )
    return path


def write_stations(folder: Path, *, rows: int = 60) -> Path:
    """A table of things, which belong to nobody."""
    path = folder / "stations.csv"
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["station_id", "latitude", "longitude", "elevation_m", "status"])
        for index in range(rows):
            place = (f"{50 + index / 100:.4f}", f"{8 + index / 70:.4f}", 100 + 7 * index)
            writer.writerow([f"ST{index:04d}", *place, ("active", "closed")[index % 2]])
    return path


def isbn(index: int) -> str:
    digits = f"9781994{index:05d}"
    check = -sum(int(digit) * (3 if place % 2 else 1) for place, digit in enumerate(digits)) % 10
    return f"{digits}{check}"


def suite_of(path: Path) -> dict[str, list[dict[str, object]]]:
    (suite,) = json.loads(aegir.annotate(path, memory=False).to("great_expectations"))
    found: dict[str, list[dict[str, object]]] = {}
    for each in suite["expectations"]:
        found.setdefault(each["kwargs"]["column"], []).append(each)
    return found


def kinds_of(expectations: list[dict[str, object]]) -> set[object]:
    return {each["type"] for each in expectations}


def test_formats_are_expected_where_a_rule_is_known(tmp_path: Path) -> None:
    suite = suite_of(write_orders(tmp_path))
    regex = "expect_column_values_to_match_regex"
    for column in ("customer_email", "isbn", "order_id"):
        assert regex in kinds_of(suite[column]), column
    (dates,) = [each for each in suite["ordered_on"] if "strftime" in str(each["type"])]
    assert dates["kwargs"] == {"column": "ordered_on", "strftime_format": "%d.%m.%Y"}


def test_ranges_are_expected_of_what_is_surely_a_latitude(tmp_path: Path) -> None:
    path = tmp_path / "stations.csv"
    rows = [f"ST{i},{50 + i / 70:.4f},{8 + i / 90:.4f},{100 + i}" for i in range(120)]
    path.write_text("\n".join(["station,latitude,longitude,elevation_m", *rows]) + "\n")
    assert "expect_column_values_to_be_between" in kinds_of(suite_of(path)["latitude"])


def test_no_value_of_a_personal_column_is_written(tmp_path: Path) -> None:
    text = aegir.annotate(write_orders(tmp_path), memory=False).to("great_expectations")
    assert "example.org" not in text


def test_a_format_that_a_sampled_value_breaks_is_not_expected(tmp_path: Path) -> None:
    path = write_orders(tmp_path)
    path.write_text(path.read_text().replace("ann7@example.org", "none given"))
    suite = suite_of(path)
    assert "expect_column_values_to_match_regex" not in kinds_of(suite["customer_email"])


def great_expectations() -> str:
    """The Python that has it."""
    if python := os.environ.get("GREAT_EXPECTATIONS_PYTHON"):
        return python
    if importlib.util.find_spec("great_expectations") is None:
        pytest.skip("no great_expectations: GREAT_EXPECTATIONS_PYTHON=VENV/bin/python")
    return sys.executable


EXAMPLES = Path(__file__).parents[3] / "examples"
PLAIN_EXAMPLES = (
    *("access_log.csv", "books.csv", "customers.csv", "films.csv", "hotels.csv", "payments.csv"),
    *("recipes.csv", "wide.csv"),
)


@pytest.mark.parametrize("name", ["orders.csv", *PLAIN_EXAMPLES])
def test_great_expectations_finds_the_file_as_its_suite_says(name: str, tmp_path: Path) -> None:
    python = great_expectations()
    path = write_orders(tmp_path) if name == "orders.csv" else tmp_path / name
    if not path.exists():
        shutil.copy(EXAMPLES / name, path)
    (tmp_path / "suite.json").write_text(
        aegir.annotate(path, memory=False).to("great_expectations")
    )
    done = subprocess.run(
        [python, "-c", VALIDATE, str(tmp_path / "suite.json"), str(path)],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": "", "GX_ANALYTICS_ENABLED": "false"},
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout.splitlines()[-1])
    assert report["success"], report["failed"]
    assert report["checked"] >= 8


def test_dbt_has_tags_and_meta_of_personal_columns(tmp_path: Path) -> None:
    document = yaml.safe_load(aegir.annotate(write_orders(tmp_path), memory=False).to("dbt"))
    columns = {each["name"]: each for each in document["models"][0]["columns"]}
    assert columns["customer_email"]["config"]["tags"] == ["personal", "personal_direct"]
    assert columns["customer_email"]["config"]["meta"]["contains_pii"] is True
    assert "personal_direct" not in columns["isbn"]["config"].get("tags", ())


def test_dbt_has_no_tags_but_values_of_columns_that_are_not_personal(tmp_path: Path) -> None:
    (answer,) = aegir.annotate(write_stations(tmp_path), memory=False)
    sure = replace(answer, columns=tuple(replace(each, confidence=0.95) for each in answer.columns))
    document = yaml.safe_load("\n".join(dbt_lines([sure])))
    columns = {each["name"]: each for each in document["models"][0]["columns"]}
    assert not any("tags" in each["config"] for each in columns.values())
    tests = {name for each in columns["status"]["data_tests"] for name in each}
    assert "accepted_values" in tests


def test_dbt_builds_with_the_file(tmp_path: Path) -> None:
    program = os.environ.get("DBT") or shutil.which("dbt")
    if program is None:
        pytest.skip("no dbt with dbt-duckdb: DBT=VENV/bin/dbt")
    path = write_orders(tmp_path)
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / "orders.sql").write_text(f"SELECT * FROM read_csv('{path}')")
    (tmp_path / "models" / "schema.yml").write_text(aegir.annotate(path, memory=False).to("dbt"))
    (tmp_path / "dbt_project.yml").write_text("name: shop\nprofile: shop\nmodel-paths: [models]\n")
    (tmp_path / "profiles.yml").write_text(
        "shop:\n  target: t\n  outputs:\n    t:\n      type: duckdb\n      path: shop.duckdb\n"
    )
    done = subprocess.run(
        [program, "build", "--project-dir", ".", "--profiles-dir", "."],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": "", "DBT_SEND_ANONYMOUS_USAGE_STATS": "false"},
    )
    assert done.returncode == 0, done.stdout
    assert "WARN=0 ERROR=0" in done.stdout, done.stdout
