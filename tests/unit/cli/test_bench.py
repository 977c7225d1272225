"""`aegir bench`: policy off and on over the same tables, run packs, and whether they reproduce. All tables are made up."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from aegir.evaluation.bench_tables import read_bench_tables
from aegir_rl.offline.policy import RoutingPolicy
from command_line import Finished, refused, run

PEOPLE = (
    "mail,born,note\nada@example.org,1990-01-02,x\nbob@example.org,1985-12-31,y\n"
    "eve@example.org,2001-07-08,z\n"
)
LABELLED = {
    "id": "shop",
    "columns": [
        {"name": "mail", "values": ["a@example.org", "b@example.org"], "cta": "email"},
        {"name": "day", "values": ["2020-01-02", "2021-03-04"], "cta": "Book/name"},
        {"name": "x", "values": ["1", "2"]},
    ],
}


def save_policy(path: Path, worker: str, floor: float = 0.0) -> Path:
    """A policy that always proposes one worker, with probability 0.9997."""
    actions = ("combined", "ngrams")
    RoutingPolicy(
        kind="cloning",
        features=("confidence",),
        actions=actions,
        weights=(np.zeros((1, 2), np.float32),),
        biases=(np.array([8.0 * (name == worker) for name in actions], np.float32),),
        mean=np.zeros(1, np.float32),
        scale=np.ones(1, np.float32),
        floor=floor,
    ).save(path)
    return path


def compare(folder: Path, policy: Path, *more: object) -> Finished:
    return run(
        *("bench", "--compare-policy", "--tables", folder, "--policy", policy, "--json", *more)
    )


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A plain table, a labelled one, and a file that holds no table."""
    folder = tmp_path_factory.mktemp("suite") / "tables"
    folder.mkdir()
    (folder / "people.csv").write_text(PEOPLE)
    (folder / "labelled.jsonl").write_text(json.dumps(LABELLED) + "\n")
    (folder / "empty.csv").write_text("")
    return folder


@pytest.fixture(scope="module")
def pack(suite: Path) -> Path:
    policy = save_policy(suite.parent / "always.safetensors", "combined")
    made = compare(
        suite, policy, "--run-pack-dir", suite.parent / "pack", "--out", suite.parent / "b.json"
    )
    assert made.code == 0, made.err
    assert "empty.csv is left out" in made.err
    assert json.loads(made.out) == json.loads((suite.parent / "b.json").read_text())
    return suite.parent / "pack"


def test_accuracy_is_of_labelled_columns_and_agreement_of_all(pack: Path):
    bench = json.loads((pack / "bench.json").read_text())
    assert bench["suite"] | {"left_out": 0} == {
        "tables": 2,
        "columns": 6,
        "labelled_columns": 2,
        "left_out": 0,
    }
    assert "accuracy is that of the 2 labelled columns" in bench["compared_by"]
    results = bench["results"]
    # e-mail addresses are right whoever answers; a date is no Book/name
    assert [results[way]["accuracy"] for way in ("off", "on", "full")] == [0.5, 0.5, 0.5]
    # the policy asks `combined`, which costs 0.25, about every column
    assert results["on"]["cost"] == pytest.approx(0.25)
    assert results["on"]["woken"] == results["on"]["by_policy"] == 1.0
    assert results["off"]["by_policy"] == 0.0
    assert results["off"]["cost"] < 0.25
    assert results["full"]["agreement"] == 1.0
    assert sum(each["on"]["columns"] for each in results["by_kind"].values()) == 6
    difference = results["difference"]
    assert difference["cost"]["value"] == pytest.approx(0.25 - results["off"]["cost"])
    assert difference["accuracy"]["value"] == 0.0
    # the value of a labelled column is its accuracy minus a tenth of its cost
    rows = [json.loads(line) for line in (pack / "decisions.jsonl").read_text().splitlines()]
    off = [row["cost"] for row in rows if row["way"] == "off" and row["right"] is not None]
    assert difference["value"]["value"] == pytest.approx(0.1 * (sum(off) / 2 - 0.25))
    for way in ("off", "on", "full"):
        times = bench["measured"][way]["table_ms"]
        assert 0 < times["p50"] <= times["p95"]


def test_a_policy_below_its_floor_leaves_all_to_the_static_table(suite: Path, tmp_path: Path):
    policy = save_policy(tmp_path / "p.safetensors", "combined", floor=1.0)
    results = json.loads(compare(suite, policy).out)["results"]
    assert results["on"] == results["off"]


def test_a_run_pack_reproduces(pack: Path):
    manifest = json.loads((pack / "manifest.json").read_text())
    assert sorted(manifest["tables"]["files"]) == ["empty.csv", "labelled.jsonl", "people.csv"]
    assert set(manifest["models"]) == {
        "bytes.safetensors",
        "ngrams.safetensors",
        "reranking.safetensors",
    }
    assert manifest["environment"]["versions"]["numpy"] == np.__version__
    assert manifest["environment"]["command"][1:3] == ["bench", "--compare-policy"]
    done = run("bench", "--verify", pack)
    assert done.code == 0, done.err
    assert "reproduces: 6 columns routed again" in done.out


def changed(pack: Path, folder: Path, file: str, old: str, new: str) -> Path:
    """A copy of the pack with a text replaced in one of its files."""
    copy = shutil.copytree(pack, folder / "copy")
    text = (copy / file).read_text()
    assert old in text
    (copy / file).write_text(text.replace(old, new))
    return copy


def test_a_pack_whose_files_were_changed_does_not_reproduce(pack: Path, tmp_path: Path):
    copy = changed(pack, tmp_path, "bench.json", '"columns": 6', '"columns": 7')
    done = run("bench", "--verify", copy, "--json")
    assert done.code == 3
    assert json.loads(done.out)["differences"] == [
        "bench.json is not what the manifest says: it was changed"
    ]
    assert done.said == [
        f"aegir: {copy} does not reproduce: bench.json is not what the manifest says: it was changed"
    ]


def test_a_pack_with_other_figures_does_not_reproduce(pack: Path, tmp_path: Path):
    """As if the figures had been made by another program: file and manifest agree with each other."""
    copy = changed(pack, tmp_path, "bench.json", '"woken": 1.0', '"woken": 0.5')
    manifest = json.loads((copy / "manifest.json").read_text())
    from aegir.evaluation.bench_tables import hash_file

    manifest["files"]["bench.json"] = hash_file(copy / "bench.json")
    manifest["models"]["bytes.safetensors"] = "0"
    (copy / "manifest.json").write_text(json.dumps(manifest))
    done = run("bench", "--verify", copy)
    assert done.code == 3
    assert "on.woken was 0.5 and is 1.0" in done.said[-1]
    assert "the weights bytes.safetensors are others" in done.said[0]


def test_tables_that_changed_or_moved_are_named(pack: Path, suite: Path, tmp_path: Path):
    moved = shutil.copytree(suite, tmp_path / "tables")
    (moved / "people.csv").write_text(PEOPLE.replace("ada", "ida"))
    (moved / "empty.csv").rename(moved / "more.csv")
    done = run("bench", "--verify", pack, "--tables", moved)
    assert done.code == 3
    for part in ("empty.csv is not there", "people.csv is not the file it was", "more.csv was not"):
        assert part in done.said[-1]
    refused(
        run("bench", "--verify", pack, "--tables", tmp_path / "none"), "say where with --tables"
    )


def test_the_tables_that_come_with_aegir_are_found():
    suite = read_bench_tables(None)
    assert suite.shipped
    assert {"films.csv", "jobs.jsonl", "shop.xlsx"} <= set(suite.hashes)
    assert suite.columns > 150
    assert not suite.left_out


def test_bad_input_is_one_sentence(
    pack: Path, suite: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.delenv("AEGIR_RL_CHECKPOINT", raising=False)
    policy = pack / "policy.safetensors"
    (tmp_path / "none").mkdir()
    broken = changed(pack, tmp_path, "manifest.json", '"rows": 200', '"rows": "many"')
    newer = changed(pack, tmp_path / "newer", "manifest.json", '"format": 1', '"format": 9')
    here = ("--compare-policy", "--tables", suite)
    for arguments, sentence in [
        ((), "say what to do: either --compare-policy or --verify PACK"),
        (("--compare-policy", "--verify", pack), "say what to do"),
        (("--verify", pack, "--policy", policy), "--policy does not go with --verify"),
        (("--verify", tmp_path), "is no run pack: it has no manifest.json"),
        (("--verify", broken), "is incomplete; make the run pack again"),
        (("--verify", newer), "has the format 9"),
        (here, "there is no policy to switch on"),
        ((*here, "--policy", tmp_path / "no"), "cannot be compared"),
        ((*here, "--policy", suite / "people.csv"), "cannot be read as a model"),
        ((*here, "--policy", policy, "--routing", tmp_path / "no"), "cannot be read"),
        ((*here, "--policy", policy, "--run-pack-dir", pack), "is not empty"),
        (("--compare-policy", "--tables", tmp_path / "none"), "holds no tables"),
        (("--compare-policy", "--tables", suite / "empty.csv"), "has no table to compare"),
        (("--compare-policy", "--tables", tmp_path / "gone"), "there is no file or folder"),
    ]:
        refused(run("bench", *arguments), sentence)
