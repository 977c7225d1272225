"""No figure of a weights file or manifest is trusted: any of them may be anything, and the file is used or refused."""

import json
from collections.abc import Callable, Iterable
from functools import partial
from itertools import islice
from pathlib import Path

import pytest

from aegir.readers.bytes.annotator import load_byte_model
from aegir.readers.bytes.checkpoint import save_checkpoint
from aegir.readers.ngrams.model import NgramModel
from aegir.readers.swarm.annotator import load_swarm_annotator
from aegir.readers.swarm.pool.entry import load_entry, manifest_of
from aegir.readers.swarm.pool.loading import load_weights
from aegir.tables.table import Column, Table
from aegir_rl.base.errors import UsageError
from byte_models import annotating_checkpoint
from hostile_metadata import REFUSED, USED, hostile_records, hostile_weights, use_or_refusal
from ngram_models import random_model
from pooled_specialists import make_pool, write_weights
from swarm_folders import LAYOUT, save_random_swarm, small_primary

TABLES = [Table("t.csv", (Column("when", ("2024-05-01", "2024-06-17")), Column("n", ("4", ""))))]
PER_TASK = {"cta": 1.0, "cpa": 2.0}
FACTS = {
    "calibration": {"bytes": PER_TASK},
    "held_out": {"byte_model/cta": {"thresholds": [[0.9, 0.5, 0.1]]}},
    "training": {"seed": 0, "held_out": {"folds": 5}},
}


def check_all(
    path: Path, contents: Iterable[tuple[str, bytes]], use: Callable[[Path], object]
) -> None:
    """Assert that the file is used or refused with each of these contents, and not always used."""
    outcomes = []
    for change, content in contents:
        path.write_bytes(content)
        outcomes.append(use_or_refusal(change, partial(use, path)))
    assert {*outcomes} <= {USED, REFUSED}
    assert REFUSED in outcomes


@pytest.mark.parametrize("key", ["architecture", "facts"])
def test_a_byte_network_with_any_metadata_annotates_or_is_refused(tmp_path: Path, key: str):
    path = tmp_path / "bytes.safetensors"
    save_checkpoint(path, annotating_checkpoint(FACTS))
    check_all(path, hostile_weights(path, key), lambda file: load_byte_model(file).score(TABLES))


@pytest.mark.parametrize("key", ["architecture", "facts"])
def test_a_specialist_with_any_metadata_is_loaded_or_refused(tmp_path: Path, key: str):
    path = write_weights(tmp_path / "amber.safetensors")
    check_all(path, hostile_weights(path, key), load_weights)


def test_an_ngram_model_with_any_metadata_is_loaded_or_refused(tmp_path: Path):
    path = tmp_path / "ngrams.safetensors"
    random_model().save(path)
    some = islice(hostile_weights(path, "facts"), 0, None, 5)  # the file has 13 MB
    check_all(path, some, NgramModel.load)


def test_a_swarm_with_any_metadata_annotates_or_is_refused(tmp_path: Path):
    folder = save_random_swarm(tmp_path / "swarm", small_primary(), {"amber": LAYOUT})
    path = folder / "swarm.safetensors"
    contents = hostile_weights(path, "settings")
    check_all(path, contents, lambda file: load_swarm_annotator(file.parent).score(TABLES))


def test_a_manifest_of_a_pool_with_any_figure_is_loaded_or_refused(tmp_path: Path):
    path = manifest_of(make_pool(tmp_path / "swarm"), "amber")
    record = json.loads(path.read_bytes())
    record["scores"] = {"person": {"columns": 9, "type_right": 0.5, "none_share": 0.1}}
    contents = [(change, json.dumps(each).encode()) for change, each in hostile_records(record)]
    check_all(path, contents, lambda file: load_entry(file))


def test_a_size_beyond_its_limit_is_named_with_the_limit(tmp_path: Path):
    path = tmp_path / "bytes.safetensors"
    save_checkpoint(path, annotating_checkpoint(FACTS))
    change = "('table_blocks',) = '1152921504606846976'"
    path.write_bytes(dict(hostile_weights(path, "architecture"))[change])
    with pytest.raises(
        UsageError,
        match=r"table_blocks is 1152921504606846976; expected a whole number from 0 to 99$",
    ):
        load_byte_model(path)
