"""The benchmarks' form: keys, positive figures, repeatable tables. How fast we are is never asserted here."""

import json
import random
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from aegir_rl.simulator.sandbox import Sandbox
from ngram_models import random_model

ROOT = Path(__file__).parents[2]


@pytest.fixture
def benchmark_module(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Import a module of the benchmarks package, which is not installed."""
    monkeypatch.syspath_prepend(ROOT)

    def load(name: str) -> ModuleType:
        return import_module(f"benchmarks.{name}")

    return load


def run_benchmarks(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "benchmarks", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def quick_run() -> dict[str, Any]:
    done = run_benchmarks("columns", "cold_start", "--quick", "--json", "--seed", "3")
    assert done.returncode == 0, done.stderr
    assert "not recorded" in done.stderr
    records = [json.loads(line) for line in done.stdout.splitlines()]
    return {record["benchmark"]: record for record in records}


@pytest.mark.parametrize("name", ["columns", "cold_start"])
def test_a_record_says_what_is_needed_to_repeat_it(quick_run: dict[str, Any], name: str) -> None:
    record = quick_run[name]
    assert record["seed"] == 3
    assert "synthetic" in record["data"]
    assert {"commit", "dirty", "cpu", "cores", "python", "date"} <= set(record["environment"])
    assert record["environment"]["cores"] >= 1


@pytest.mark.parametrize("name", ["columns", "cold_start"])
def test_figures_and_ratios_are_positive(quick_run: dict[str, Any], name: str) -> None:
    record = quick_run[name]
    assert all(min(one["runs"]) > 0 for one in record["measurements"])
    assert record["ratios"]
    values = {one["name"]: one["value"] for one in record["measurements"]}
    for ratio in record["ratios"]:
        expected = values[ratio["of"]] / values[ratio["to"]]
        assert ratio["value"] == pytest.approx(expected, rel=1e-3)


def test_every_target_says_whether_it_was_reached(quick_run: dict[str, Any]) -> None:
    bounds = [
        (target["measurement"], target.get("at_least", target.get("at_most")))
        for record in quick_run.values()
        for target in record["targets"]
    ]
    speeds = [("dispatch", 1200), ("combined", 470), ("byte_model", 300), ("ngrams", 1500)]
    assert bounds == [*speeds, ("aegir --help", 0.06), ("aegir annotate one.csv", 0.35)]
    for record in quick_run.values():
        assert all(isinstance(target["reached"], bool) for target in record["targets"])


def test_an_unknown_benchmark_is_refused_with_the_names_there_are() -> None:
    done = run_benchmarks("colums")
    assert done.returncode == 2
    assert "colums" in done.stderr
    assert "cold_start" in done.stderr
    assert "Traceback" not in done.stderr


def test_the_same_seed_gives_the_same_tables(benchmark_module: Any) -> None:
    tables = benchmark_module("synthetic_tables")
    first, again, other = (tables.csv_text(10, 20, random.Random(seed)) for seed in (7, 7, 8))
    assert first == again != other
    assert first.count("\n") == 21


def test_synthetic_labels_are_column_types(benchmark_module: Any) -> None:
    from aegir.vocabulary.terms import COLUMN_TYPES

    tables = benchmark_module("synthetic_tables")
    assert set(tables.DRAWS) <= set(COLUMN_TYPES)
    labelled = tables.labelled_tables(50, random.Random(0))
    assert {len(column.values) for one in labelled for column in one.table.columns} == {5}


def test_nothing_is_recorded_outside_git_or_beside_uncommitted_changes(
    benchmark_module: Any, tmp_path: Path
) -> None:
    recording = benchmark_module("recording")
    assert "commit is unknown" in recording.describe_environment(tmp_path).refusal
    git = ["git", "-C", str(tmp_path), "-c", "user.name=a", "-c", "user.email=a@example.org"]
    subprocess.run([*git, "init", "-q"], check=True)
    subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "empty"], check=True)
    clean = recording.describe_environment(tmp_path)
    assert clean.refusal is None
    path = recording.save_record({"benchmark": "columns"}, clean, tmp_path / "results")
    assert path == tmp_path / f"results/columns/{clean.date[:10]}-{clean.commit[:10]}.json"
    (tmp_path / "new.txt").touch()
    assert "commit them first" in recording.describe_environment(tmp_path).refusal


def test_a_command_is_charged_for_its_own_memory_only(benchmark_module: Any) -> None:
    measuring, commands = benchmark_module("measuring"), benchmark_module("commands")
    ballast = bytearray(200_000_000)
    ballast[::4096] = b"x" * len(ballast[::4096])  # touched, so that it is resident
    usage = measuring.run_command(commands.python("bytearray(10**7)"))
    assert 0 < usage.cpu_seconds < 10
    assert usage.peak_bytes < 100_000_000


def test_a_command_that_fails_says_why(benchmark_module: Any) -> None:
    measuring, commands = benchmark_module("measuring"), benchmark_module("commands")
    with pytest.raises(measuring.CommandFailed, match=r"left with 3: no such luck"):
        measuring.run_command(
            commands.python("import sys; print('no such luck', file=sys.stderr); sys.exit(3)")
        )


@pytest.mark.parametrize(("text", "size"), [("2GB", 2 * 10**9), ("0.5 mb", 500_000), ("12", 12)])
def test_sizes_read_as_people_write_them(benchmark_module: Any, text: str, size: int) -> None:
    assert benchmark_module("options").parse_size(text) == size


@pytest.mark.parametrize("text", ["", "GB", "-1MB", "lots", "nan", "inf"])
def test_a_size_that_is_none_is_refused(benchmark_module: Any, text: str) -> None:
    with pytest.raises(ValueError, match="expected a positive number"):
        benchmark_module("options").parse_size(text)


def test_every_fault_of_the_health_benchmark_is_found(benchmark_module: Any) -> None:
    delays = benchmark_module("health")._find_faults(1, 100)
    assert len(delays) >= 22
    assert {name for name, (delay,) in delays.items() if delay is None or delay > 12} == set()


@pytest.mark.parametrize("seed", [1, 5, 9])
def test_a_simulated_run_that_learns_is_not_stopped(benchmark_module: Any, seed: int) -> None:
    health = benchmark_module("health")
    (stopped, _), learnt = health._follow(health._learn(seed, 200))
    assert (stopped, learnt) == (False, True)


def test_the_benchmark_of_the_policy_loss_runs_without_trl(benchmark_module: Any) -> None:
    result = benchmark_module("policy_loss").run(benchmark_module("options").Options(quick=True))
    assert all(one.value > 0 for one in result.measurements)
    assert bool(result.targets) != bool(result.left_out)  # compared with TRL, or said why not


def write_wards(folder: Path, groups: int) -> None:
    """One labelled table per group: a bed in its ward, a note that may be one, and a column nobody labelled."""
    lines = [
        {
            "id": f"t{number}",
            "group": f"g{number}",
            "columns": [
                {"name": "bed", "values": [f"B{number}-{i}" for i in range(9)], "fine": ["bed"]},
                {"name": "note", "values": ["x y"] * 9, "types": [], "fine": ["note", "bed"]},
                {"name": "ward", "values": ["A1", "B2"] * 4, "types": [], "fine": []},
                {"name": "who", "values": ["Ann"] * 9},
                {"name": "empty", "values": [""] * 9, "fine": ["bed"]},
            ],
        }
        for number in range(groups)
    ]
    text = "".join(json.dumps(line) + "\n" for line in lines)
    (folder / "wards.jsonl").write_text(text, encoding="utf-8")


def test_taught_types_are_learnt_from_one_column_of_each_of_eight_groups(
    benchmark_module: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from aegir.pipeline.custom_types.reader import Reader
    from aegir.readers.ngrams.annotator import NgramsAnnotator

    taught, options = benchmark_module("taught_types"), benchmark_module("options")
    reader = Reader(NgramsAnnotator(random_model()), "random")
    monkeypatch.setattr(taught, "load_reader", lambda: reader)
    write_wards(tmp_path, 12)
    columns = list(taught.find_columns(tmp_path))
    assert len(columns) == 3 * 12  # without the one that is not labelled and the empty one
    examples = taught.draw_examples("bed", columns, random.Random(0))
    assert len({one.group for one in examples}) == 8
    assert {one.index for one in examples} == {0}

    asked = options.Options(quick=True, data=tmp_path, types=("bed", "note", "crib"))
    result = taught.run(asked).as_dict()
    assert result["left_out"] == ["crib occurs in 0 groups, and 9 are needed"]
    assert "may have learnt from these tables" in result["data"]
    values = {one["name"]: one["value"] for one in result["measurements"]}
    shares = ("kept", "precision", "recall", "average precision")
    assert all(0 <= values[f"bed: {part}"] <= 1 for part in shares)
    assert values["bed: average precision"] > 0.9  # all beds have the same header
    assert result["targets"] == []  # those are for the types that are learnt by default


def test_average_precision_is_the_mean_precision_at_the_columns_of_the_type(
    benchmark_module: Any,
) -> None:
    ranked = benchmark_module("taught_types").average_precision(
        np.array([0.1, 0.9, 0.8, 0.5]), np.array([False, True, False, True])
    )
    assert ranked == pytest.approx((1 + 2 / 3) / 2)  # first and third of four


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("taught_types",), "taught_types needs --data FOLDER with labelled tables"),
        (("taught_types", "--data", ".", "--types", "a,,b"), "'a,,b' is no list of names"),
    ],
)
def test_taught_types_without_tables_or_names_are_refused(
    arguments: tuple[str, ...], said: str
) -> None:
    done = run_benchmarks(*arguments)
    assert done.returncode == 2
    assert said in done.stderr


def test_taught_types_need_enough_groups(benchmark_module: Any, tmp_path: Path) -> None:
    from aegir_rl.base.errors import UsageError

    taught, options = benchmark_module("taught_types"), benchmark_module("options")
    asked = options.Options(data=tmp_path, types=("bed",))
    with pytest.raises(UsageError, match="has no labelled tables"):
        taught.run(asked)
    write_wards(tmp_path, 8)
    with pytest.raises(UsageError, match="bed occurs in 8 groups, and 9 are needed"):
        taught.run(asked)


def test_the_benchmark_of_offline_rl_runs_without_its_references(benchmark_module: Any) -> None:
    result = benchmark_module("offline").run(benchmark_module("options").Options(quick=True))
    names = {one.name for one in result.measurements}
    assert {"aegir, cloning", "aegir, CQL", "aegir, four estimators", "coverage of dr"} <= names
    assert all(one.value > 0 for one in result.measurements)


def test_the_benchmark_of_the_sandbox_finds_nothing_left_behind(
    benchmark_module: Any, sandbox: Sandbox
) -> None:
    result = benchmark_module("sandbox").run(benchmark_module("options").Options(quick=True))
    assert result.settings["left"] == []
    assert all(one.value > 0 for one in result.measurements if one.unit != "items")


@pytest.mark.slow
def test_writers_of_a_locked_store_wait_or_say_so_and_lose_nothing(benchmark_module: Any) -> None:
    result = benchmark_module("locked_store").run(benchmark_module("options").Options(quick=True))
    found = {one.name: one.value for one in result.measurements}
    assert found == {
        "waited and stored": 2,  # the lock was released after a second
        "refused with a sentence": 2,  # it was held until they ended
        "writers with another end": 0,
        "rows lost or stored by a refused writer": 0,
    }


@pytest.mark.slow
def test_a_killed_and_resumed_training_run_leaves_the_same_files(benchmark_module: Any) -> None:
    result = benchmark_module("killed_training").run(
        benchmark_module("options").Options(quick=True)
    )
    assert {one.name: one.value for one in result.measurements} == {
        "kills in the middle": 1,
        "files that differ": 0,
    }


@pytest.mark.slow
def test_the_soak_of_the_service_states_memory_at_three_moments(benchmark_module: Any) -> None:
    result = benchmark_module("soak").run(benchmark_module("options").Options(quick=True))
    found = {one.name: one.value for one in result.measurements}
    assert sum(name.startswith("memory at minute") for name in found) == 9
    assert all(value > 0 for name, value in found.items() if name.startswith("memory"))
    assert found["requests with another end than an answer or a sentence"] == 0
