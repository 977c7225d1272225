"""Damaged files of every format give an answer or one sentence: a small run of the benchmark, and its mutator."""

from importlib import import_module
from pathlib import Path
from random import Random
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
FORMATS = "arrow arrows csv csv.bz2 csv.gz csv.xz csv.zst duckdb feather json jsonl ods parquet sqlite tsv xls xlsx zip"


@pytest.fixture
def mutations(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(ROOT)
    return import_module("benchmarks.mutations")


def test_mutated_files_never_end_stall_or_exhaust_the_process(mutations: Any) -> None:
    check = import_module("benchmarks.mutated_files")
    outcomes = check.check_files(60, seed=0, workers=1)
    assert [outcome.number for outcome in outcomes] == list(range(60))
    assert [outcome for outcome in outcomes if outcome.outcome in check.FAILURES] == []
    assert {outcome.outcome for outcome in outcomes} == {"read", "refused"}


def test_every_sample_is_readable_before_it_is_mutated(mutations: Any, tmp_path: Path) -> None:
    from aegir.tables.readers import read_tables

    samples = mutations.sample_files()
    assert sorted(samples) == FORMATS.split()
    for suffix, contents in samples.items():
        for content in contents:
            path = tmp_path / f"sample.{suffix}"
            path.write_bytes(content)
            assert all(table.columns for table in read_tables(path)), suffix


def test_a_mutated_file_depends_on_its_seed_alone(mutations: Any) -> None:
    samples = mutations.sample_files()
    first, second = (
        [mutations.mutated_file(samples, Random(f"7/{number}")) for number in range(50)]
        for _ in range(2)
    )
    assert first == second
    assert len({content for _, content in first}) > 45


def test_a_duckdb_file_keeps_its_checksums_when_nothing_was_changed(mutations: Any) -> None:
    (content,) = mutations.sample_files()["duckdb"]
    assert mutations._with_checksums(content) == content
