"""Specialists of the user's pool in a search: who is asked about what, what that changes, and what it must not."""

import math
import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from aegir.evaluation.validating import validate_specialist
from aegir.pipeline.added_specialists import AddedSpecialists, could_be_several
from aegir.pipeline.search import load_added
from aegir.readers.swarm.pool.changes import add_specialist
from aegir.readers.swarm.pool.entry import (
    SpecialistValidation,
    load_entry,
    manifest_of,
    save_entry,
    weights_of,
)
from aegir.readers.swarm.pool.loading import load_weights
from aegir.readers.swarm.pool.specialist_pool import SpecialistPool
from aegir.tables.labelled import ColumnLabels, LabelledTable
from aegir.tables.table import Column, Table
from aegir.vocabulary.terms import TYPE_NAMES
from aegir_rl.base.errors import UsageError
from made_up_search import BELIEFS, DATE, FAX, PHONE, search_with
from pooled_specialists import write_insisting

NUMBERS = ("telephone", "faxNumber")
VALIDATED = SpecialistValidation(NUMBERS, 0.25, 0.1, 0.05, 0.2, 90, 30, 12)
TABLE = Table("t", tuple(Column(name, ("1", "2")) for name in BELIEFS))


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A pool with `fax`, which insists on fax numbers and is validated, and `dates`, which is not."""
    home = tmp_path_factory.mktemp("home")
    fax = write_insisting(home / "fax.safetensors", "faxNumber", NUMBERS)
    add_specialist(fax, home / "swarm", validate=lambda _entry, _loaded: VALIDATED)
    add_specialist(write_insisting(home / "dates.safetensors", "DateTime"), home / "swarm")
    return home / "swarm"


@pytest.fixture
def folder(made: Path, tmp_path: Path) -> Path:
    """A copy that a test may change."""
    return Path(shutil.copytree(made, tmp_path / "swarm"))


def test_an_answer_is_added_within_the_group_of_types_and_named_in_the_path(folder):
    """A weight of 0.25 times 7.996 multiplies fax by exp(1.999) = 7.381.

    doubt: 0.9 * 0.4 * 7.381 / (0.5 + 0.4 * 7.381) = 0.7697 for fax, the rest of 0.9 for telephone.
    """
    (scores,) = search_with(AddedSpecialists.open(folder)).score([TABLE])
    assert scores.types[0, FAX] == pytest.approx(0.7697, abs=2e-4)
    assert scores.types[0, [PHONE, FAX]].sum() == pytest.approx(0.9)
    assert scores.explanations[0].evidence == ("searched with fax: person 0.90 > faxNumber 0.77",)
    (before,) = search_with(None).score([TABLE])
    assert scores.types[1:].tobytes() == before.types[1:].tobytes(), "sure, other and half"
    assert scores.explanations[1:] == before.explanations[1:]


def test_only_high_effort_asks_and_an_empty_pool_costs_nothing(folder, tmp_path, monkeypatch):
    (scores,) = search_with(AddedSpecialists.open(folder), effort=0.75).score([TABLE])
    (before,) = search_with(None).score([TABLE])
    assert scores.types.tobytes() == before.types.tobytes()
    monkeypatch.setattr(SpecialistPool, "open", None)  # nothing else of a pool is read
    assert load_added(tmp_path / "none") is None
    assert not (tmp_path / "none").exists()


def test_answers_depend_on_the_table_alone(folder):
    tables = [
        replace(TABLE, name=str(number), columns=TABLE.columns[: 4 - number]) for number in range(3)
    ]
    added = AddedSpecialists.open(folder)
    search = search_with(added)
    together = search.score(tables)
    alone = [search.score([table])[0] for table in reversed(tables)][::-1]
    for one, other in zip(together, alone, strict=True):
        assert one.types.tobytes() == other.types.tobytes()
        assert one.explanations == other.explanations
    assert added.columns_read == {"fax": 6}, "one column of three tables, twice"


def test_two_candidates_of_a_group_make_a_column_doubtful():
    types = np.zeros((4, len(TYPE_NAMES)), np.float32)
    for row, column in zip(types, TABLE.columns, strict=True):
        for place, sure in BELIEFS[column.name or ""].items():
            row[place] = sure
    assert could_be_several(types, np.array([PHONE, FAX])).tolist() == [True, False, False, False]
    assert could_be_several(types, np.array([PHONE, FAX, DATE])).tolist() == [
        True,
        False,  # 0.04 makes no candidate
        False,
        True,
    ]


def test_files_that_are_known_to_be_unusable_cost_a_sentence_each_and_no_answer(folder):
    said: list[str] = []
    content = bytearray(weights_of(folder, "fax").read_bytes())
    content[-1] ^= 1
    weights_of(folder, "fax").write_bytes(content)
    text = manifest_of(folder, "dates").read_text()
    manifest_of(folder, "dates").write_text(text.replace('"vocabulary": "', '"vocabulary": "0'))
    assert AddedSpecialists.open(folder, said.append) is None
    assert len(said) == 2
    assert "another vocabulary" in said[0]
    assert "'fax' is not asked" in said[1]
    assert "fax.safetensors is altered; add it again" in said[1]


@pytest.mark.parametrize("lie", [{"memory": 17}, {"weights_sha256": "0" * 64}])
def test_a_manifest_that_lies_is_noted_with_the_answer_of_those_that_tell_the_truth(folder, lie):
    entry = load_entry(manifest_of(folder, "fax"))
    save_entry(replace(entry, **lie))
    added = AddedSpecialists.open(folder)
    (scores, other) = search_with(added).score([TABLE, replace(TABLE, columns=TABLE.columns[1:])])
    (before,) = search_with(None).score([TABLE])
    assert scores.types.tobytes() == before.types.tobytes()
    assert len(scores.notes) == 1
    assert "the specialist 'fax' was not asked: the manifest of" in scores.notes[0]
    assert other.notes == (), "nobody would have asked it there"


def test_a_file_in_place_of_the_folder_is_refused_with_one_sentence(tmp_path, monkeypatch):
    (tmp_path / "swarm").write_text("no folder")
    monkeypatch.setenv("AEGIR_SWARM", str(tmp_path / "swarm"))
    with pytest.raises(UsageError, match=r"swarm cannot be read as the folder .*set AEGIR_SWARM"):
        load_added()


def test_without_time_for_it_nobody_is_asked_and_a_note_says_so(folder):
    search = search_with(AddedSpecialists.open(folder), within=3600.0, now=lambda: 0.0)
    assert search.score([TABLE])[0].types[0].argmax() == FAX
    search.plan.clock.needs["specialist"] = 1e9
    (scores,) = search.score([TABLE])
    assert scores.types[0].argmax() == PHONE
    assert scores.notes[0].endswith("ended the search before its next step (specialist)")


def labelled(truths: Sequence[str]) -> list[LabelledTable]:
    """Tables of a column in doubt, and of what it is."""
    table = replace(TABLE, columns=TABLE.columns[:1])
    return [
        LabelledTable(replace(table, name=str(number)), (ColumnLabels.of(truth),), {})
        for number, truth in enumerate(truths)
    ]


def validate(made: Path, fitting: Sequence[str], judging: Sequence[str], name: str = "fax"):
    loaded = load_weights(weights_of(made, name))
    entry = load_entry(manifest_of(made, name))
    entry = replace(entry, name="new", validation=None)
    return validate_specialist(
        search_with(None), labelled(fitting), labelled(judging), entry, loaded
    )


def test_a_specialist_that_is_right_is_validated_with_what_it_gains(made):
    """Telephone is said without it and fax with it: of 40 columns 30 become right and 10 wrong, (30 - 10) / 40."""
    judging = ["faxNumber"] * 30 + ["telephone"] * 10
    found = validate(made, ["faxNumber"] * 10, judging)
    assert found.asked
    assert found.types == NUMBERS
    assert found.gain == pytest.approx(20 / 40)
    assert 0 < found.low < found.gain < found.high <= 1
    assert (found.columns, found.tables, found.doubtful) == (40, 40, 50)
    assert found.weight > 1


def test_a_specialist_that_does_not_help_is_not_validated(made):
    both = ["faxNumber", "telephone"] * 5
    assert "likeliest without" in validate(made, both, both).objection
    unlucky = validate(made, ["faxNumber"] * 10, both)
    assert unlucky.weight > 0
    assert "lower end of its gain" in unlucky.objection
    assert "at least 10 tables" in validate(made, both, both[:9]).objection
    assert "with two types" in validate(made, both, both, "dates").objection


def test_a_specialist_is_measured_beside_those_that_are_asked_already(made):
    """`fax` makes every column a fax number already, so that another one like it gains nothing."""
    search = search_with(AddedSpecialists.open(made))
    fax = ["faxNumber"] * 10
    entry = replace(load_entry(manifest_of(made, "fax")), name="new", validation=None)
    loaded = load_weights(weights_of(made, "fax"))
    found = validate_specialist(search, labelled(fax), labelled(fax), entry, loaded)
    assert found.gain == 0
    assert not found.asked
    assert math.isclose(found.low, 0)
