"""`aegir swarm`: add, list and remove, as people call them."""

import json
import re
from pathlib import Path

import pytest

from aegir.readers.bytes.checkpoint import Checkpoint, load_checkpoint, save_checkpoint
from aegir.readers.swarm.weights_file import MANIFEST
from aegir.vocabulary.terms import KINDS
from command_line import refused, run
from pooled_specialists import write_weights
from synthetic_labels import write_synthetic_tables


@pytest.fixture
def pool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's folder, empty."""
    monkeypatch.setenv("AEGIR_SWARM", str(tmp_path / "swarm"))
    return tmp_path / "swarm"


@pytest.fixture
def weights(tmp_path: Path) -> Path:
    return write_weights(tmp_path / "mine.safetensors")


def names() -> list[str]:
    done = run("swarm", "list", "--json")
    assert done.code == 0, done.err
    return [json.loads(line)["name"] for line in done.out.splitlines()]


def test_a_specialist_is_added_scored_listed_and_removed(pool, weights, tmp_path):
    tables = write_synthetic_tables(tmp_path / "labelled.jsonl", 6, seed=0)
    done = run("swarm", "add", weights, "--name", "ours", "--tables", tables, "--json")
    assert done.code == 0, done.err
    added = json.loads(done.out)
    assert added["name"] == "ours"
    assert added["cost_per_byte"] > 0
    assert sum(each["columns"] for each in added["scores"].values()) == 18, "three per table"
    assert "to undo: aegir swarm remove ours" in done.err
    assert (
        "--effort high` does not ask ours, because at least 10 tables are needed" in done.said[-1]
    )
    assert (added["asked"], added["validation"]["tables"]) == (False, 3)
    assert names() == ["ours"]
    assert re.search(r"^ours +0\.\d +[\d.]+  mine things", run("swarm", "list").out, re.M)
    done = run("swarm", "remove", "ours", "--json")
    assert json.loads(done.out) == {"name": "ours", "done": "removed"}
    assert names() == []


def test_bad_input_is_refused_with_one_sentence(pool, weights, tmp_path):
    refused(
        run("swarm", "add", tmp_path / "none.safetensors"),
        "there is no file",
        "aegir train specialist",
    )
    refused(run("swarm", "remove", "mien"), "no specialist 'mien'", "known are: none")
    (tmp_path / "text.safetensors").write_text("no model")
    refused(run("swarm", "add", tmp_path / "text.safetensors"), "cannot be read as a model")
    refused(run("swarm", "add", weights, "--tables", tmp_path / "none.jsonl"), "none.jsonl")
    assert not pool.exists() or not list(pool.glob("*.json"))


@pytest.mark.parametrize(
    ("facts", "told"),
    [
        ({"scores_inside": {"columns": 2**60}}, "score 'columns' of specialist 'mine' is 1152921"),
        ({"scores_outside": {"type_right": 1e300}}, "expected a finite number, at most"),
        ({"scores_inside": {"x" * 1000: 0.5}}, "the name of a score of specialist 'mine' is 1,000"),
        ({"scores_inside": {f"x{n}": 0.5 for n in range(1001)}}, "1,001 sources or scores"),
        ({"domain": "x" * 100_000}, "is 100,000 characters long; expected text of at most 500"),
        ({"domain": 7}, "the domain of specialist 'mine' is int"),
        ({"data": ["x" * 1000]}, "a source of specialist 'mine' is 1,000 characters long"),
        ({"types": ["email", "email"]}, "lists a column type twice"),
    ],
)
def test_facts_of_a_specialist_are_bounded(pool, weights, facts, told):
    made = load_checkpoint(weights)
    record = {**made.facts[MANIFEST], **facts}
    altered = Checkpoint(made.architecture, made.tensors, {**made.facts, MANIFEST: record})
    save_checkpoint(weights, altered)
    done = run("swarm", "add", weights)
    refused(done, told)
    assert len(done.err) < 1000
    assert not pool.exists() or not list(pool.iterdir())


def test_facts_of_a_manifest_in_the_pool_are_bounded(pool, weights):
    run("swarm", "add", weights)
    path = pool / "mine.specialist.json"
    record = json.loads(path.read_text())
    score = {"columns": 2**60, "type_right": None, "none_share": 0.5}
    for facts in ({"domain": "x" * 100_000}, {"scores": {next(iter(KINDS)): score}}):
        path.write_text(json.dumps({**record, **facts}))
        done = run("swarm", "list", "--json")
        assert "mine.specialist.json is no usable manifest" in done.err
        assert done.out == ""


def test_a_damaged_file_of_the_pool_is_said_and_the_rest_still_listed(pool, weights):
    run("swarm", "add", weights)
    run("swarm", "add", weights, "--name", "other")
    (pool / "mine.specialist.json").write_text("{}")
    done = run("swarm", "list", "--json")
    assert [json.loads(line)["name"] for line in done.out.splitlines()] == ["other"]
    assert "mine.specialist.json is no manifest of this version" in done.err


def test_a_file_that_was_altered_since_it_was_added_is_listed_as_such(pool, weights):
    assert "does not ask mine, because nobody has measured" in run("swarm", "add", weights).err
    file = pool / "mine.safetensors"
    file.write_bytes(file.read_bytes()[:-1] + b"!")
    assert re.search(r"^mine .*mine things; its file is altered$", run("swarm", "list").out, re.M)
    lines = [json.loads(line) for line in run("swarm", "list", "--json").out.splitlines()]
    assert [line["file_state"] for line in lines] == ["altered"]


def test_a_file_in_place_of_the_folder_is_refused_by_every_verb_that_needs_it(pool, weights):
    pool.write_text("no folder")
    table = pool.with_name("t.csv")
    table.write_text("a,b\n1,2\n")
    for words in (
        ("swarm", "list"),
        ("swarm", "add", weights),
        ("annotate", table, "--effort", "high"),
        ("annotate", table, "--annotator", "search@high"),
    ):
        refused(run(*words), "cannot be read as the folder of your specialists", "AEGIR_SWARM")
