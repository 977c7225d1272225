"""The swarm as an annotator: who is woken, n-gram networks as a specialist, folders, times. Weights are random."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from aegir.pipeline.decide import decide
from aegir.pipeline.registry import load_annotator
from aegir.pipeline.run import annotate
from aegir.readers.bytes.annotator import ByteModelAnnotator
from aegir.readers.bytes.byte_encoding import Symbols, pad
from aegir.readers.bytes.checkpoint import Checkpoint
from aegir.readers.bytes.scoring import encode_tables
from aegir.readers.swarm.annotator import (
    SwarmAnnotator,
    load_swarm_annotator,
)
from aegir.readers.swarm.network import SwarmModel
from aegir.readers.swarm.specialists import Contribution, SpecialistModel
from aegir.readers.swarm.weights_file import (
    SwarmWeights,
    load_swarm,
    save_swarm,
)
from aegir.tables.table import Column, Table
from aegir_rl.base.errors import UsageError
from command_line import run
from swarm_folders import LAYOUT, OTHER_LAYOUT, save_random_swarm, small_primary

TABLES = [
    Table("cities", (Column("city", ("Oslo", "Rome")), Column("code", ("12", "7")))),
    Table("none", ()),
    Table("mails", (Column(None, ("a@b.org", "c@d.org", "")), Column("note", ("x", "y")))),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_random_swarm(
        tmp_path_factory.mktemp("swarm"), small_primary(), {"geo": LAYOUT, "names": OTHER_LAYOUT}
    )


@pytest.fixture(scope="module")
def annotator(folder: Path) -> SwarmAnnotator:
    return load_swarm_annotator(folder)


def set_router(folder: Path, weight: float) -> None:
    """Every score becomes that of this weight: 0 gives 0.5, which wakes nobody."""
    weights = load_swarm(folder / "swarm.safetensors")
    tensors = {**weights.tensors, "router.weight": weight * weights.tensors["router.weight"]}
    save_swarm(folder / "swarm.safetensors", SwarmWeights(weights.settings, tensors))


def test_scores_are_those_of_the_swarms_vectors_and_the_primarys_heads(annotator: SwarmAnnotator):
    swarm = annotator.swarm
    (scores,) = annotator.score(TABLES[:1])
    symbols = encode_tables(TABLES[:1], swarm.primary)
    read = swarm.read(pad(symbols)[0])
    (expected,) = ByteModelAnnotator(swarm.primary).score_vectors(TABLES[:1], symbols, read.vectors)
    np.testing.assert_array_equal(scores.types, expected.types)
    assert scores.routing is not None
    for column, routing in enumerate(scores.routing):
        assert [each.specialist for each in routing] == ["geo", "names"]
        assert [each.score for each in routing] == read.scores[column].tolist()
        assert [each.woken for each in routing] == (read.scores[column] > 0.5).tolist()
    assert read.activation_mask.any()


def test_an_answer_says_who_was_woken_and_no_time_unless_asked(annotator: SwarmAnnotator):
    (scores,) = annotator.score(TABLES[:1])
    answer = decide(TABLES[0], scores, annotator.name)
    assert [column.routing for column in answer.columns] == list(scores.routing or ())
    assert answer.timing is None
    (timed,) = annotator.timed().score(TABLES[:1])
    assert timed.timing is not None
    assert replace(timed, timing=None).routing == scores.routing
    steps = dict(timed.timing.steps)
    assert next(iter(steps)) == "router"
    assert list(steps)[-2:] == ["primary", "table stage"]
    specialists = [steps[name] for name in steps if name.startswith("specialist ")]
    longest = max(specialists, default=0.0)
    alone = steps["router"] + steps["primary"] + steps["table stage"]
    # the columns are one batch: router, then the longest specialist, then primary and table stage
    assert timed.timing.critical_path == pytest.approx(alone + longest)
    assert timed.timing.cost > 0


def test_a_swarm_that_wakes_nobody_scores_as_the_byte_network(folder: Path, tmp_path: Path):
    for file in folder.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    set_router(tmp_path, 0.0)
    annotator = load_swarm_annotator(tmp_path)
    for scores, alone in zip(
        annotator.score(TABLES),
        ByteModelAnnotator(annotator.swarm.primary).score(TABLES),
        strict=True,
    ):
        assert scores.types.tobytes() == alone.types.tobytes()
        assert scores.relations.tobytes() == alone.relations.tobytes()
        assert not any(each.woken for routing in scores.routing or () for each in routing)


def test_a_swarm_without_specialists_is_its_primary(tmp_path: Path):
    annotator = load_swarm_annotator(save_random_swarm(tmp_path, small_primary(), {}))
    (scores,) = annotator.score(TABLES[:1])
    (alone,) = ByteModelAnnotator(annotator.swarm.primary).score(TABLES[:1])
    assert scores.types.tobytes() == alone.types.tobytes()
    assert scores.routing == ((), ())


class NeverFinite:
    """Gives vectors that are not numbers, in the place of a byte network of its shape."""

    def __init__(self, specialist: SpecialistModel) -> None:
        self.specialist = specialist
        self.state_shapes, self.vector_width = specialist.state_shapes, specialist.vector_width

    def contribute(self, symbols: Symbols) -> Contribution:
        given = self.specialist.contribute(symbols)
        return Contribution(given.states, np.full_like(given.vectors, np.nan))


def test_what_is_not_finite_is_left_out_and_noted(annotator: SwarmAnnotator, folder: Path):
    swarm = annotator.swarm
    weights = load_swarm(folder / "swarm.safetensors")
    weights.tensors["router.weight"][:] = 0
    everyone = SwarmWeights(replace(weights.settings, threshold=0.4), weights.tensors)
    geo, names = swarm.specialists
    spoilt = SwarmAnnotator(SwarmModel(swarm.primary, [NeverFinite(geo), names], everyone))
    (scores,) = spoilt.score(TABLES[:1])
    assert all(routing[0].woken for routing in scores.routing or ())
    sentence = "specialist 'geo' gave numbers that are not finite on 2 columns; left out"
    assert scores.notes == (sentence,)
    assert decide(TABLES[0], scores, "swarm").warnings == scores.notes
    assert np.isfinite(scores.types).all()


def test_the_ngram_networks_can_be_a_specialist(tmp_path: Path):
    made = save_random_swarm(tmp_path, small_primary(), {"geo": LAYOUT}, "words")
    annotator = load_swarm_annotator(made)
    swarm = annotator.swarm
    symbols = pad(encode_tables(TABLES[:1], swarm.primary))[0]
    everyone = np.ones((2, 2), bool)
    with_words = swarm.read(symbols, everyone).vectors
    without = swarm.read(symbols, everyone & [True, False]).vectors
    assert np.abs(with_words - without).max(axis=1).min() > 0.01
    (scores,) = annotator.score(TABLES[:1])
    assert np.isfinite(scores.types).all()


def test_a_swarm_of_other_ngram_weights_or_an_unknown_family_is_refused(tmp_path: Path):
    made = save_random_swarm(tmp_path, small_primary(), {"geo": LAYOUT}, "words")
    weights = load_swarm(made / "swarm.safetensors")
    other = replace(
        weights.settings, specialists={**weights.settings.specialists, "words": "0" * 64}
    )
    save_swarm(made / "swarm.safetensors", SwarmWeights(other, weights.tensors))
    sentence = r"'words' of family ngrams has weights with SHA-256 \w+ but the swarm"
    with pytest.raises(UsageError, match=sentence):
        load_swarm_annotator(made)
    other = replace(weights.settings, families={"words": "unheard-of"})
    save_swarm(made / "swarm.safetensors", SwarmWeights(other, weights.tensors))
    with pytest.raises(UsageError, match="unknown family 'unheard-of'; expected ngrams"):
        load_swarm_annotator(made)


def test_a_primary_without_calibration_is_refused_with_its_folder(tmp_path: Path):
    primary = small_primary()
    bare = Checkpoint(primary.architecture, primary.tensors, {})
    made = save_random_swarm(tmp_path, bare, {"geo": LAYOUT})
    with pytest.raises(
        UsageError, match=rf"the primary of {made} cannot annotate \(the calibration"
    ):
        load_swarm_annotator(made)


def test_a_wrong_folder_is_refused_with_one_sentence(tmp_path: Path):
    (tmp_path / "t.csv").write_text("city\nOslo\nRome\n")
    for wrong, sentence in (
        ("t.csv", "is a file; the annotator 'swarm' takes the folder"),
        ("nowhere", "swarm.safetensors cannot be read as a model"),
    ):
        done = run(
            *("annotate", tmp_path / "t.csv", "--annotator", "swarm", "--model", tmp_path / wrong)
        )
        assert done.code == 2
        (said,) = done.said
        assert sentence in said


def test_without_a_folder_a_sentence_says_how_to_make_one(tmp_path: Path):
    (tmp_path / "t.csv").write_text("city\nOslo\n")
    done = run("annotate", tmp_path / "t.csv", "--annotator", "swarm")
    assert (done.code, done.out) == (2, "")
    assert done.said == [
        "aegir: the annotator 'swarm' has no weights of its own; give the folder of a swarm as --model FOLDER, "
        "made with: aegir train parl CONFIG, then aegir train export RUN"
    ]


def test_the_command_line_and_the_python_call_say_who_was_woken(folder: Path, tmp_path: Path):
    (tmp_path / "t.csv").write_text("city,code\nOslo,12\nRome,7\n")
    options = ("--annotator", "swarm", "--model", folder)
    done = run("annotate", tmp_path / "t.csv", *options, "--json")
    assert done.code == 0
    answer = json.loads(done.out)
    assert "timing" not in answer
    scores = [list(column["routing_scores"]) for column in answer["columns"]]
    assert scores == [["geo", "names"]] * 2
    again = run("annotate", tmp_path / "t.csv", *options, "--json")
    assert again.out == done.out
    (table,) = annotate(tmp_path / "t.csv", annotator="swarm", model=folder, timing=True)
    assert table.timing is not None
    timed = json.loads(run("annotate", tmp_path / "t.csv", *options, "--json", "--timing").out)
    assert timed["timing"]["critical_path"] > 0
    assert {key: timed[key] for key in answer} == answer
    report = run("annotate", tmp_path / "t.csv", *options, "--why").out
    assert " of 2 columns" in report
    assert "    specialists: " in report


def test_only_the_swarm_measures_times(tmp_path: Path):
    (tmp_path / "t.csv").write_text("city\nOslo\n")
    done = run("annotate", tmp_path / "t.csv", "--annotator", "rules", "--timing")
    assert done.code == 2
    assert done.said == [
        "aegir: the annotator 'rules' measures no times; leave --timing out, or use --annotator swarm"
    ]
    with pytest.raises(UsageError, match="did you mean 'swarm'"):
        load_annotator("swam")
