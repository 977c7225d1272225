"""The pool: what is warm, what is refused, and that answers do not depend on it."""

import json
import re
import shutil
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aegir.readers.ngrams.network import network_tensors
from aegir.readers.ngrams.specialist import NGRAMS, NgramSpecialist
from aegir.readers.swarm.pool.changes import add_specialist, remove_specialist
from aegir.readers.swarm.pool.entry import (
    SpecialistValidation,
    load_entry,
    manifest_of,
    save_entry,
    weights_of,
)
from aegir.readers.swarm.pool.loading import file_state, load_weights
from aegir.readers.swarm.pool.specialist_pool import SpawnBudget, SpecialistPool
from aegir.readers.swarm.specialists import SpecialistModel
from aegir.readers.swarm.weights_file import FAMILY
from aegir_rl.base.errors import UsageError
from aegir_rl.base.safetensors_file import read_safetensors, safetensors_bytes
from byte_models import text_columns
from command_line import run_process
from ngram_models import random_network
from pooled_specialists import NAMES, entries_of, make_pool, open_pool, write_weights

SYMBOLS = text_columns([30, 7, 18], 0)
VALIDATED = {
    "types": ["Date", "DateTime"],
    "weight": 0.5,
    "gain": 0.1,
    "low": 0.05,
    "high": 0.2,
    "columns": 90,
    "tables": 30,
    "doubtful": 12,
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_pool(tmp_path_factory.mktemp("pool") / "swarm")


@pytest.fixture
def changed(folder: Path, tmp_path: Path) -> Path:
    """A copy that a test may change."""
    return Path(shutil.copytree(folder, tmp_path / "swarm"))


def bits(model: SpecialistModel | None) -> bytes:
    assert model is not None
    given = model.contribute(SYMBOLS)
    assert given.vectors is not None
    assert given.answers is not None
    return b"".join(x.tobytes() for x in (*given.states, given.vectors, given.answers))


def test_without_a_folder_the_pool_is_empty_and_nothing_is_made(tmp_path):
    pool = SpecialistPool.open(tmp_path / "none")
    assert (pool.entries, pool.refused, pool.warm) == ({}, {}, ())
    with pytest.raises(UsageError, match="known are: none"):
        pool.get("time")
    assert not (tmp_path / "none").exists()


def test_the_pool_loads_no_torch(folder):
    code = "import sys, aegir.readers.swarm.pool as pool; assert pool.SpecialistPool.open().get('amber'); assert 'torch' not in sys.modules"
    assert run_process(python=code, AEGIR_SWARM=str(folder)).code == 0


def test_a_specialist_answers_the_same_bits_cold_warm_and_loaded_again(folder):
    pool = open_pool(folder, SpawnBudget(count=1))
    cold, warm = bits(pool.get("amber")), bits(pool.get("amber"))
    pool.get("birch")
    assert pool.warm == ("birch",)
    again = bits(pool.get("amber"))
    assert cold == warm == again == bits(load_weights(weights_of(folder, "amber")).model)


def test_the_least_recently_used_is_dropped(folder):
    pool = open_pool(folder, SpawnBudget(count=2))
    for name in ("amber", "birch", "amber", "cedar"):
        pool.get(name)
    assert pool.warm == ("amber", "cedar"), "the least recently used first"


def test_a_table_activates_no_more_than_its_budget_and_says_why(folder):
    pool = open_pool(folder)
    sizes = {name: entry.memory for name, entry in entries_of(folder).items()}
    spawning = pool.begin(SpawnBudget(count=2))
    assert [pool.get(name, spawning) is None for name in NAMES] == [False, False, True, True]
    assert spawning.skipped == {"cedar": "count", "delta": "count"}
    assert spawning.activated == {name: sizes[name] for name in ("amber", "birch")}
    assert pool.get("amber", spawning) is not None, "what was activated stays active"
    spawning = pool.begin(SpawnBudget(bytes=sizes["amber"] + sizes["birch"]))
    assert pool.get("amber", spawning) is not None
    assert pool.get("delta", spawning) is None
    assert spawning.skipped == {"delta": "bytes"}
    assert pool.get("birch", spawning) is not None


def test_what_a_table_has_activated_is_not_dropped_for_what_it_activates_later(folder):
    pool = open_pool(folder, SpawnBudget(count=2))
    spawning = pool.begin()
    pool.get("birch", spawning)
    pool.get("amber")
    pool.get("cedar", spawning)
    assert set(pool.warm) == {"birch", "cedar"}


@pytest.mark.parametrize("limit", ["count", "bytes"])
@pytest.mark.parametrize("value", [0, -3, float("nan"), True])
def test_a_budget_that_activates_nothing_is_refused(limit, value):
    with pytest.raises(UsageError, match="activates nothing; give a number above 0"):
        SpawnBudget(**{limit: value})


def test_an_unknown_name_is_refused_with_the_known_ones(folder):
    with pytest.raises(UsageError, match=r"no specialist 'ambre' .* amber, birch, cedar, delta"):
        open_pool(folder).get("ambre")


@given(data=st.data())
@settings(max_examples=25)
def test_every_altered_byte_is_refused_and_routed_around(folder, tmp_path_factory, data):
    content = bytearray(weights_of(folder, "amber").read_bytes())
    place = data.draw(st.integers(0, len(content) - 1))
    content[place] ^= 1 << data.draw(st.integers(0, 7))
    altered = tmp_path_factory.mktemp("altered")
    entry = replace(entries_of(folder)["amber"], file=altered / "amber.safetensors")
    entry.file.write_bytes(content)
    pool = SpecialistPool({"amber": entry, "birch": entries_of(folder)["birch"]})
    spawning = pool.begin()
    assert pool.get("amber", spawning) is None
    assert "altered or damaged" in pool.refused["amber"]
    assert spawning.skipped == {"amber": "refused"}
    assert pool.get("birch", spawning) is not None


@pytest.mark.parametrize(
    ("lie", "sentence"),
    [
        ({"weights_sha256": "0" * 64}, "says that its weights_sha256 is"),
        ({"memory": 17}, "says that its memory is 17"),
        ({"size": 17}, "says that its size is 17"),
        ({"family": "ngrams"}, "says that its family is ngrams"),
    ],
)
def test_a_manifest_that_lies_about_its_weights_is_refused(folder, lie, sentence):
    pool = SpecialistPool({"amber": replace(entries_of(folder)["amber"], **lie)})
    assert pool.get("amber") is None
    assert sentence in pool.refused["amber"]
    assert pool.memory == 0


def test_files_that_cannot_be_used_are_routed_around_with_a_sentence_each(changed):
    weights_of(changed, "amber").unlink()
    weights_of(changed, "birch").write_bytes(b"")
    manifest_of(changed, "cedar").write_text("{", encoding="utf-8")
    record = json.loads(manifest_of(changed, "delta").read_text(encoding="utf-8"))
    manifest_of(changed, "delta").write_text(json.dumps({**record, "vocabulary": "other"}))
    pool = SpecialistPool.open(changed)
    assert pool.get("amber") is None
    assert pool.get("birch") is None
    assert tuple(pool.entries) == ("amber", "birch")
    sentences = pool.refused
    assert "No such file" in sentences["amber"]
    assert "cannot be read as a model" in sentences["birch"]
    assert "cannot be read as a manifest" in sentences["cedar"]
    assert "another vocabulary" in sentences["delta"]


@pytest.mark.parametrize(
    "change",
    [
        {"cost_per_byte": float("nan")},
        {"size": -1},
        {"scores": {"nonsense": {}}},
        {"scores": {"time": {"columns": 3, "type_right": 2, "none_share": 0}}},
        {"weights_sha256": "abc"},
        {"name": "../amber"},
        {"family": "trees"},
        {"domain": None, "memory": None},
        {"memory": 10**15},
        {"size": 10**400},
        {"validation": []},
        {"validation": VALIDATED | {"types": ["Date", "Tide"]}},
        {"validation": VALIDATED | {"types": ["Date", "Date"]}},
        {"validation": VALIDATED | {"weight": float("nan")}},
        {"validation": VALIDATED | {"low": 0.3}},
        {"validation": {**VALIDATED, "columns": "many"}},
    ],
)
def test_a_manifest_with_an_impossible_field_is_refused_with_one_sentence(changed, change):
    path = manifest_of(changed, "amber")
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    pool = SpecialistPool.open(changed)
    assert "amber" not in pool.entries
    assert pool.refused["amber"].startswith(str(path))


def test_a_specialist_of_another_vocabulary_or_architecture_cannot_be_added(folder, tmp_path):
    tensors, metadata = read_safetensors(weights_of(folder, "amber"))
    smaller = {**tensors, "heads.cta.weight": tensors["heads.cta.weight"][:10]}
    other = tmp_path / "other.safetensors"
    other.write_bytes(safetensors_bytes(smaller, metadata))
    with pytest.raises(UsageError, match=r"another vocabulary .*has 10 outputs"):
        add_specialist(other, tmp_path / "swarm")
    architecture = json.loads(metadata["architecture"]) | {"column_width": 64}
    other.write_bytes(
        safetensors_bytes(tensors, {**metadata, "architecture": json.dumps(architecture)})
    )
    with pytest.raises(UsageError, match="not a usable byte network"):
        add_specialist(other, tmp_path / "swarm")
    assert not (tmp_path / "swarm").exists()


@given(data=st.data())
@settings(max_examples=15)
def test_what_is_warm_never_exceeds_the_budget(folder, data):
    entries = entries_of(folder)
    sizes = [entry.memory for entry in entries.values()]
    budget = SpawnBudget(
        data.draw(st.integers(1, 4)), data.draw(st.integers(min(sizes) - 1, sum(sizes)))
    )
    pool = open_pool(folder, budget)
    for _ in range(data.draw(st.integers(1, 8))):
        name = data.draw(st.sampled_from(NAMES))
        model = pool.get(name)
        assert (model is None) == (entries[name].memory > budget.bytes)
        assert len(pool.warm) <= budget.count
        assert pool.memory <= budget.bytes


def test_threads_get_the_same_bits_within_the_budget_and_load_each_file_once_while_it_is_warm(
    folder,
):
    pool = open_pool(folder, SpawnBudget(count=2))
    alone = {name: bits(load_weights(weights_of(folder, name)).model) for name in NAMES}

    def work(number: int) -> bool:
        name = NAMES[number % 4]
        return bits(pool.get(name)) == alone[name] and len(pool.warm) <= 2

    with ThreadPoolExecutor(8) as threads:
        assert all(threads.map(work, range(64)))
    roomy = open_pool(folder)
    with ThreadPoolExecutor(8) as threads:
        models = list(threads.map(lambda _: roomy.get("amber"), range(16)))
    assert len(set(map(id, models))) == 1


def test_threads_of_one_table_share_its_budget(folder):
    for _ in range(5):
        pool = open_pool(folder)
        spawning = pool.begin(SpawnBudget(count=2))
        with ThreadPoolExecutor(4) as threads:
            given = list(threads.map(lambda name, s=spawning, p=pool: p.get(name, s), NAMES))
        assert sum(model is not None for model in given) == 2
        assert len(spawning.activated) == 2
        assert len(spawning.skipped) == 2


def test_n_gram_networks_can_be_in_a_pool(changed, tmp_path):
    networks = NgramSpecialist([random_network(0)])
    file = tmp_path / "words.safetensors"
    file.write_bytes(safetensors_bytes(network_tensors(networks.networks), {FAMILY: NGRAMS}))
    entry = add_specialist(file, changed)
    assert (entry.name, entry.family) == ("words", "ngrams")
    assert entry.weights_sha256 == networks.fingerprint()
    assert bits(open_pool(changed).get("words")) == bits(networks)


def test_adding_measures_and_copies_and_refuses_a_name_that_is_taken(changed, tmp_path):
    weights = write_weights(tmp_path / "ember.safetensors", seed=7)
    entry = add_specialist(weights, changed)
    weights.unlink()
    assert entry.cost_per_byte > 0
    assert entry.domain == "ember things"
    assert load_entry(manifest_of(changed, "ember")) == entry
    assert open_pool(changed).get("ember") is not None
    with pytest.raises(UsageError, match="already; give --name"):
        add_specialist(entry.file, changed)
    with pytest.raises(UsageError, match="cannot be the name"):
        add_specialist(entry.file, changed, name="a b")
    remove_specialist("ember", changed)
    assert not entry.file.exists()
    with pytest.raises(UsageError, match="no specialist 'ember'"):
        remove_specialist("ember", changed)


def test_the_program_on_the_page_runs(changed, tmp_path, monkeypatch):
    add_specialist(write_weights(tmp_path / "places.safetensors"), changed)
    monkeypatch.setenv("AEGIR_SWARM", str(changed))
    page = (Path(__file__).parents[3] / "docs" / "swarm.md").read_text(encoding="utf-8")
    (program,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    names: dict[str, object] = {}
    exec(program, names)
    assert names["places"] is not None


def test_an_entry_is_the_same_after_saving_and_loading(changed):
    entry = entries_of(changed)["amber"]
    assert load_entry(save_entry(entry)) == entry
    assert np.isfinite(entry.cost_per_byte)
    assert not entry.asked
    measured = replace(
        entry, validation=SpecialistValidation(**VALIDATED | {"types": ("Date", "DateTime")})
    )
    assert load_entry(save_entry(measured)) == measured
    assert measured.asked


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"low": 0.0}, "the lower end of its gain is not above 0"),
        ({"weight": 0.0}, "right types are likeliest without its answers"),
        ({"tables": 9}, "at least 10 tables are needed"),
        ({"types": ("Date",)}, "does not answer with two types"),
        ({"doubtful": 0}, "no column could be several of its types"),
    ],
)
def test_only_a_specialist_whose_gain_is_sure_is_asked(change, reason):
    validation = SpecialistValidation(**VALIDATED | {"types": ("Date", "DateTime")} | change)
    assert not validation.asked
    assert reason in validation.objection


def test_a_file_that_was_altered_or_lost_since_it_was_added_is_recognised(changed):
    entries = entries_of(changed)
    assert {file_state(entry) for entry in entries.values()} == {"unchanged"}
    content = bytearray(weights_of(changed, "amber").read_bytes())
    content[-1] ^= 1
    weights_of(changed, "amber").write_bytes(content)
    weights_of(changed, "birch").write_bytes(b"")
    weights_of(changed, "cedar").unlink()
    states = [file_state(entries[name]) for name in NAMES]
    assert states == ["altered", "altered", "missing", "unchanged"]
