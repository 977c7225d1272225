"""SARIF and Markdown for pull requests, of answers and of differences."""

import json
from pathlib import Path
from typing import Any

import aegir
from command_line import run

CUSTOMERS = Path(__file__).parents[3] / "examples" / "customers.csv"
LEVELS = {"none", "note", "warning", "error"}


def check_sarif(document: dict[str, Any]) -> list[dict[str, Any]]:
    """Check what the schema of SARIF 2.1.0 requires of the parts that are used; return the results."""
    assert document["version"] == "2.1.0"
    assert document["$schema"].endswith("sarif-2.1.0.json")
    (run,) = document["runs"]
    driver = run["tool"]["driver"]
    assert isinstance(driver["name"], str)
    identifiers = [rule["id"] for rule in driver["rules"]]
    assert len(set(identifiers)) == len(identifiers)
    for rule in driver["rules"]:
        assert rule["shortDescription"]["text"]
        assert rule["defaultConfiguration"]["level"] in LEVELS
    for result in run["results"]:
        assert result["message"]["text"]
        assert result["level"] in LEVELS
        assert identifiers[result["ruleIndex"]] == result["ruleId"]
        assert all(isinstance(each, str) for each in result["partialFingerprints"].values())
        for location in result["locations"]:
            physical = location["physicalLocation"]
            assert " " not in physical["artifactLocation"]["uri"]
            assert physical["region"]["startLine"] >= 1
            for logical in location.get("logicalLocations", ()):
                assert logical["name"]
    return list(run["results"])


def test_personal_columns_are_results_without_values() -> None:
    text = aegir.annotate(CUSTOMERS, memory=False).to("sarif")
    results = check_sarif(json.loads(text))
    emails = [
        each for each in results if each["locations"][0]["logicalLocations"][0]["name"] == "email"
    ]
    assert [(each["ruleId"], each["level"]) for each in emails] == [("personal-direct", "warning")]
    assert "example.org" not in text


def test_the_line_is_that_of_the_header(tmp_path: Path) -> None:
    path = tmp_path / "with space.csv"
    body = "".join(f"{n},ann{n}@example.org,{n}.5\n" for n in range(20))
    path.write_text("Report\n\nid,email,price\n" + body)
    results = check_sarif(json.loads(aegir.annotate(path, memory=False).to("sarif")))
    places = {each["locations"][0]["physicalLocation"]["region"]["startLine"] for each in results}
    assert places == {3}
    assert "reading" in {each["ruleId"] for each in results}


def test_markdown_lists_personal_columns_first_and_holds_no_markup_of_the_table(
    tmp_path: Path,
) -> None:
    path = tmp_path / "a_b.csv"
    body = "".join(f"{n},ann{n}@example.org\n" for n in range(20))
    path.write_text("a|b<script>,email\n" + body.replace(",", ".5,"))
    text = aegir.annotate(path, memory=False).to("markdown")
    rows = [line for line in text.splitlines() if line.startswith("| ")]
    assert rows[1].startswith("| email | email\\_address |")
    assert "**direct**" in rows[1]
    assert "<script>" not in text
    assert "a\\|b" in text
    assert "1 table, 2 columns: " in text


def test_diff_writes_sarif(tmp_path: Path) -> None:
    old, new = tmp_path / "old", tmp_path / "new"
    old.mkdir()
    new.mkdir()
    contacts = {old: "{n}.25", new: "ann{n}.lee@example.org"}
    for folder, contact in contacts.items():
        rows = [f"{n + 100},2030-01-{n % 28 + 1:02d},{contact.format(n=n)}" for n in range(40)]
        (folder / "t.csv").write_text("\n".join(["customer_id,joined,contact", *rows]) + "\n")
    done = run("diff", str(old), str(new), "--format", "sarif", "--no-memory")
    assert done.code == 0, done.err
    results = check_sarif(json.loads(done.out))
    found = {(each["ruleId"], each["level"]) for each in results}
    assert found == {("personal", "error"), ("type", "warning")}
    assert "example.org" not in done.out
