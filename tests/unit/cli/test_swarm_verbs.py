"""`aegir swarm`: add, list, remove, grow, and the map, as people call them."""

import json
import re
from pathlib import Path

import pytest

from aegir.lab.figures.swarm_map import map_swarm, render_swarm_map
from aegir.readers.bytes.checkpoint import Checkpoint, load_checkpoint, save_checkpoint
from aegir.readers.swarm.pool.specialist_pool import SpecialistPool
from aegir.readers.swarm.weights_file import MANIFEST
from aegir.vocabulary.terms import KINDS
from aegir_rl.base.errors import UsageError
from command_line import refused, run, run_figures
from pooled_specialists import write_weights
from small_specialists import write_specialist_settings
from synthetic_labels import write_synthetic_tables

SHIPPED = ["codes", "names", "numbers", "places", "prose", "time"]


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
    assert names() == [*SHIPPED, "ours"]
    assert re.search(r"^ours +user +0\.\d +[\d.]+  mine things", run("swarm", "list").out, re.M)
    done = run("swarm", "remove", "ours", "--json")
    assert json.loads(done.out) == {"name": "ours", "done": "removed"}
    assert names() == SHIPPED


def test_a_shipped_specialist_is_switched_off_and_on_by_the_commands_that_are_told(pool):
    done = run("swarm", "remove", "places")
    assert "is switched off; to undo: aegir swarm add places" in done.err
    assert "places" not in names()
    refused(run("swarm", "add", "places", "--name", "mine"), "places ships with Aegir", "--name")
    assert "switched on again" in run("swarm", "add", "places").err
    assert names() == SHIPPED


def test_a_pool_of_zero_is_listed_drawn_and_says_that_nobody_is_there(pool):
    for name in SHIPPED:
        assert run("swarm", "remove", name).code == 0
    assert names() == []
    assert "0 specialists in the pool" in render_swarm_map(map_swarm(SpecialistPool.open(), []))
    with pytest.raises(UsageError, match="known are: none"):
        SpecialistPool.open().get("time")


def test_bad_input_is_refused_with_one_sentence(pool, weights, tmp_path):
    refused(
        run("swarm", "add", tmp_path / "none.safetensors"),
        "there is no file",
        "aegir train specialist",
    )
    refused(run("swarm", "add", weights, "--name", "time"), "ships with Aegir", "--name")
    refused(run("swarm", "remove", "mien"), "no specialist 'mien'", "codes, names")
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
        assert len(done.out.splitlines()) == len(SHIPPED)


def test_a_damaged_file_of_the_pool_is_said_and_the_rest_still_listed(pool, weights):
    run("swarm", "add", weights)
    (pool / "mine.specialist.json").write_text("{}")
    done = run("swarm", "list", "--json")
    assert len(done.out.splitlines()) == len(SHIPPED)
    assert "mine.specialist.json is no manifest of this version" in done.err


def test_a_file_that_was_altered_since_it_was_added_is_listed_as_such(pool, weights):
    assert "does not ask mine, because nobody has measured" in run("swarm", "add", weights).err
    file = pool / "mine.safetensors"
    file.write_bytes(file.read_bytes()[:-1] + b"!")
    assert re.search(r"^mine .*mine things; its file is altered$", run("swarm", "list").out, re.M)
    lines = [json.loads(line) for line in run("swarm", "list", "--json").out.splitlines()]
    assert [line["file_state"] for line in lines] == ["unchanged"] * len(SHIPPED) + ["altered"]


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


def test_the_map_shows_who_knows_what_and_who_is_activated_on_one_page(pool, tmp_path):
    table = tmp_path / "people.csv"
    table.write_text("name,born\nAnna Berg,1970-02-01\nOle Holm,1981-12-24\n", encoding="utf-8")
    page = tmp_path / "map.html"
    done = run_figures("swarm-map", "--out", page, "--tables", table)
    assert done.code == 0, done.err
    html = page.read_text(encoding="utf-8")
    assert "Who knows what: share of columns" in html
    assert "Who is activated: share of the columns" in html
    assert "default-src 'none'" in html
    assert not re.search(r"(src|href)=\"(?!data:)", html)
    assert "prefers-color-scheme: dark" in html
    figures = json.loads(run_figures("swarm-map", "--json", "--tables", table).out)
    assert [each["name"] for each in figures["specialists"]] == SHIPPED
    assert sum(each["columns"] for each in figures["woken"].values()) == 2
    assert set(figures["woken"]["time"]["shares"]) == {"ngrams", *SHIPPED}
    refused(run_figures("swarm-map", "--out", page, "--tables", tmp_path / "no"), "no")


def test_what_a_manifest_says_is_shown_and_never_obeyed(pool, tmp_path):
    run("swarm", "add", write_weights(tmp_path / "mine.safetensors"))
    manifest = pool / "mine.specialist.json"
    record = json.loads(manifest.read_text())
    manifest.write_text(json.dumps({**record, "domain": "<script>alert(1)</script>"}))
    html = render_swarm_map(map_swarm(SpecialistPool.open(), []))
    assert "&lt;script&gt;" in html
    assert "<script" not in html


def test_growing_proposes_without_training_and_says_so_when_nothing_is_kept(pool, tmp_path):
    data = write_synthetic_tables(tmp_path / "labelled.jsonl", 40, seed=3)
    done = run("swarm", "grow", "--data", data, "--dry-run", "--json")
    assert done.code == 0, done.err
    assert json.loads(done.out)["proposals"] == []
    text = data.read_text().replace('"cta": "email"', '"cta": "e-mail"', 1)
    data.write_text(text)
    done = run("swarm", "grow", "--data", data, "--dry-run")
    assert "labels left out, because they are not in the vocabulary: 'e-mail' 1" in done.err
    refused(run("swarm", "grow", "--data", data), "--from CONFIG and --out FOLDER")
    template = write_specialist_settings(tmp_path)
    out = tmp_path / "grown"
    done = run("swarm", "grow", "--data", data, "--from", template, "--out", out)
    assert done.code == 3
    assert "no specialist was kept after 0 rounds; the pool is as it was" in done.said[-1]
    assert not pool.exists()
