"""Scores of the answers that training kept, as Markdown, printed or written into a page."""

import gzip
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from aegir.lab.calibrate import calibrate_ngrams
from aegir.lab.data.sources import read_training_tables
from aegir.lab.figures.__main__ import figures
from aegir.lab.figures.everyday import BEGIN, END
from aegir.lab.model_card import card
from byte_models import annotating_checkpoint
from held_out_answers import write_answers
from ngram_models import random_model
from synthetic_labels import write_synthetic_tables

RULED = {"row": "order", "row_class": "transaction", "person": "linked"}


def order_table(number: int) -> dict[str, Any]:
    """A key, a state and a price, of which only the price is about a person."""
    keys = [f"K{number:03}-{row:06}" for row in range(12)]
    states = ["open", "lost", f"other {number}"] * 4
    prices = [f"{number}{row}.50" for row in range(12)]
    columns = [
        {"name": "id", "values": keys, "types": ["IdentifierAT"], "fine": ["primary_key"]},
        {"name": "state", "values": states, "types": [], "fine": ["status"]},
        {"name": "cost", "values": prices, "types": ["price", "Number"], "fine": []},
    ]
    for column, personal in zip(columns, (False, False, True), strict=True):
        column |= {"relation": [], "personal": personal}
    domain = "sales | retail" if number % 2 else "hr"
    return {"id": f"t{number}", "group": f"owner/{number}", "domain": domain, "columns": columns}


def write_tables(folder: Path, tables: int, *, ruled: bool = True) -> Path:
    """Everyday tables of two domains; `ruled` ones have labels of rows, persons and levels."""
    lines = []
    for number in range(tables):
        table = order_table(number)
        if ruled:
            for column in table["columns"]:
                level = "about" if column["personal"] else None
                column |= {"personal_level": level, "special": bool(level) and number % 2 == 0}
            table |= RULED
        lines.append(json.dumps(table))
    path = folder / "open" / "tables.jsonl.gz"
    path.parent.mkdir()
    path.write_bytes(gzip.compress("\n".join(lines).encode()))
    return path


def prepare(folder: Path, everyday: Path) -> tuple[Path, list[Path]]:
    data = [write_synthetic_tables(folder / "made_up_val.jsonl", 12, seed=1), everyday]
    work, _ = write_answers(folder, read_training_tables(data))
    return work, data


def invoke(work: Path, data: list[Path], *more: object):
    options = [word for each in data for word in ("--data", str(each))]
    return CliRunner().invoke(figures, ["everyday", str(work), *options, *map(str, more)])


def test_scores_are_written_between_the_marks_of_a_page(tmp_path: Path):
    work, data = prepare(tmp_path, write_tables(tmp_path, 24))
    page = tmp_path / "results.md"
    page.write_text(f"# Results\n\n{BEGIN}\nold\n{END}\nafter\n")
    done = invoke(work, data, "--into", page, "--json")
    assert done.exception is None
    text = page.read_text()
    assert text.startswith(f"# Results\n\n{BEGIN}\n\n72 columns of 24 tables from ")
    assert text.endswith(f"\n\n{END}\nafter\n")
    assert "\nold\n" not in text
    lines = text.splitlines()
    record = json.loads(done.stdout.splitlines()[-1])["by_group"]
    type_right = record["scores"]["type"]["right"]
    (line,) = [line for line in lines if line.startswith("| type right |")]
    assert line.split(" | ")[1] == f"{type_right['value']:.3f}"
    assert line.split(" | ")[3:] == ["72", f"{type_right['groups']} |"]
    assert any(line.startswith("| sales \\| retail | 12 | 36 | ") for line in lines)
    assert any(line.startswith("| transaction | 24 | ") for line in lines)
    assert any(line.startswith("| about | 24 | ") for line in lines)
    tables = [line.count("|") - line.count("\\|") for line in lines if line.startswith("|")]
    assert min(tables) >= 4
    again = invoke(work, data, "--into", page)
    assert (again.exception, page.read_text()) == (None, text)


def test_without_a_page_the_tables_are_printed(tmp_path: Path):
    work, data = prepare(tmp_path, write_tables(tmp_path, 24))
    done = invoke(work, data)
    assert "| personal: recall | " in done.stdout
    assert BEGIN not in done.stdout


@pytest.mark.parametrize("text", ["# Results\n", f"{END}\n{BEGIN}\n", f"{BEGIN}{END}" * 2])
def test_a_page_without_one_pair_of_marks_is_refused_before_anything_is_computed(
    tmp_path: Path, text: str
):
    page = tmp_path / "results.md"
    page.write_text(text)
    done = invoke(tmp_path, [tmp_path], "--into", page)
    assert "has no place for the scores; expected one line" in str(done.exception)
    assert page.read_text() == text


def test_tables_without_the_labels_are_refused(tmp_path: Path):
    work, data = prepare(tmp_path, write_tables(tmp_path, 16, ruled=False))
    assert "no everyday table has labels of rows" in str(invoke(work, data).exception)


def test_the_model_card_says_where_rows_levels_and_special_data_fail(tmp_path: Path):
    work, data = prepare(tmp_path, write_tables(tmp_path, 24))
    *_, evaluation = calibrate_ngrams(work, read_training_tables(data))
    training = {"steps": 7, "tables": 1234, "seed": 0, "sources": {"gold": True}}
    facts = {"training": training, "everyday": json.loads(json.dumps(evaluation.as_dict()))}
    model = replace(random_model(), facts={"training": {"tables": 5678}})
    page = card(model, annotating_checkpoint(facts), [1, 2])
    assert "## Where it fails on everyday tables\n\n" in page
    assert "| transaction | 24 | " in page
    assert "| labelled as | columns | answered direct | " in page
    assert "| special: recall | " in page
    assert "\n## Where it fails on everyday tables" not in card(
        model, annotating_checkpoint({"training": training}), [1, 2]
    )
