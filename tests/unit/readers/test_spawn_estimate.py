"""How many specialists a table may wake: estimate, limits, files, answers, the option. Weights are random."""

import json
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from aegir.answers.annotation import annotation_as_dict, annotation_from_dict
from aegir.answers.wording import shown_routing
from aegir.pipeline.decide import decide
from aegir.pipeline.run import annotate
from aegir.pipeline.worker_pool import outcome_from_json
from aegir.readers.bytes.annotator import ByteModelAnnotator
from aegir.readers.bytes.byte_encoding import Symbols
from aegir.readers.bytes.scoring import encode_tables
from aegir.readers.swarm.annotator import SwarmAnnotator, load_swarm_annotator
from aegir.readers.swarm.network import SwarmModel
from aegir.readers.swarm.spawn_estimate import (
    CELL_FEATURES,
    SPAWNING_FILE,
    SpawnEstimate,
    allowed_specialists,
    cell_features,
    feature_names,
)
from aegir.readers.swarm.specialists import Contribution, SpecialistModel
from aegir.readers.swarm.weights_file import load_swarm
from aegir.tables.table import Column, Table
from aegir_rl.base.errors import UsageError
from aegir_rl.processes.plain import to_json
from command_line import run
from swarm_folders import LAYOUT, OTHER_LAYOUT, save_random_swarm, small_primary

CITIES = Table(
    "cities",
    (
        Column("city", ("Oslo", "Rome", "")),
        Column("code", ("12", "7", "100")),
        Column(None, ("a@b.org", "c@d.org", "e")),
        Column("note", ("x y", "some longer text of a note, longer than the others", "z")),
    ),
)
TABLES = [
    CITIES,
    Table("none", ()),
    *(
        Table(f"t{number}", (Column(f"h{number}", (str(number), "b" * number)),) * (1 + number % 3))
        for number in range(5)
    ),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    layouts = {"geo": LAYOUT, "names": OTHER_LAYOUT, "codes": LAYOUT}
    return save_random_swarm(tmp_path_factory.mktemp("swarm"), small_primary(), layouts)


@pytest.fixture(scope="module")
def swarm(folder: Path) -> SwarmModel:
    return SwarmModel.load(folder)


@pytest.fixture(scope="module")
def estimate(swarm: SwarmModel) -> SpawnEstimate:
    """Complexities differ from table to table; above their middle two specialists pay, below none."""
    features = feature_names(swarm)
    random = np.random.default_rng(0)
    made = SpawnEstimate(
        features=features,
        mean=np.zeros(len(features)),
        scale=np.ones(len(features)),
        weights=random.standard_normal(len(features)) / 10,
        bias=1.0,
        counts=(0, 2, None),
        value=np.zeros((3, 2)),
        path=np.array([[0.0, 0.0], [0.5, 0.0], [1.0, 0.0]]),
        path_cost=0.1,
        primary_sha256=swarm.settings.primary_sha256,
        specialists=swarm.names,
        training={"made": "up"},
    )
    annotator = SwarmAnnotator(swarm, spawning=made)
    found = [scores.spawned for scores in annotator.score(TABLES)]
    middle = float(np.median([each.complexity for each in found if each]))
    # 2 specialists earn slope * complexity and cost 0.1 * 0.5; more than 0 above the middle
    return replace(made, value=np.array([[0.0, 0.0], [0.05 - middle, 1.0], [0.0, 0.0]]))


def test_the_count_with_the_highest_reward_is_taken(estimate: SpawnEstimate):
    lines = np.array([[0.5, 0.0], [0.4, 0.2], [0.3, 0.3]])
    made = replace(estimate, value=lines, path_cost=0.1)
    # at 1: 0.5, 0.6 - 0.05, 0.6 - 0.1; at 3: 0.5, 1.0 - 0.05, 1.2 - 0.1; at 0.5 the first two are 0.5 and 0.45
    np.testing.assert_allclose(made.rewards(1.0), [0.5, 0.55, 0.5])
    assert [made.choose(each).count for each in (0.5, 1.0, 3.0)] == [0, 2, None]
    assert made.choose(1.0).complexity == 1.0
    # a path cost of 1 takes 0.5 and 1 off: 0.5, 0.1, -0.4 at 1
    assert replace(made, path_cost=1.0).choose(1.0).count == 0
    # equal rewards: the fewest
    assert replace(made, value=np.ones((3, 2)), path_cost=0.0).choose(1.0).count == 0


def test_allowed_are_those_with_the_highest_total_score_in_any_order_of_columns():
    scores = np.array([[0.5, 0.25, 0.5], [0.25, 0.25, 0.5], [0.25, 0.5, 0.5]], np.float32)
    # totals 1, 1, 1.5; of equals the first
    assert allowed_specialists(scores, 1).tolist() == [False, False, True]
    assert allowed_specialists(scores, 2).tolist() == [True, False, True]
    assert allowed_specialists(scores, 0).tolist() == [False] * 3
    assert allowed_specialists(scores, None).all()
    assert allowed_specialists(scores, 9).all()
    many = np.random.default_rng(0).random((500, 2)).astype(np.float32) * np.float32(1e-3)
    assert (allowed_specialists(many, 1) == allowed_specialists(many[::-1], 1)).all()


def test_figures_of_a_column_are_those_of_its_header_and_cells():
    figures = dict(
        zip(CELL_FEATURES, cell_features(Column("ab", ("12", "", "x1", "x1"))), strict=True)
    )
    assert figures["header"] == 1
    assert figures["header_length"] == pytest.approx(math.log(3))
    assert figures["filled"] == 0.75  # three of four
    assert figures["distinct"] == pytest.approx(2 / 3)
    assert (figures["numeric"], figures["mixed"]) == pytest.approx((1 / 3, 2 / 3))
    assert figures["length_spread"] == 0  # all have two characters
    assert len(cell_features(Column(None, ()))) == len(CELL_FEATURES)


def test_tables_get_the_same_bits_in_any_company_and_with_any_number_of_threads(
    estimate: SpawnEstimate, folder: Path
):
    annotators = [
        SwarmAnnotator(SwarmModel.load(folder, workers=workers), spawning=estimate)
        for workers in (1, 3)
    ]
    together = annotators[0].score(TABLES)
    in_threads = annotators[1].score(TABLES[::-1])[::-1]
    alone = [annotators[1].score([table])[0] for table in TABLES]
    allowed = {len(each.spawned.specialists) for each in together if each.spawned}
    assert allowed == {0, 2}
    for first, second, third in zip(together, in_threads, alone, strict=True):
        assert first.spawned == second.spawned == third.spawned
        assert first.routing == second.routing == third.routing
        for name in ("types", "relations", "fine", "personal"):
            bits = {getattr(each, name).tobytes() for each in (first, second, third)}
            assert len(bits) == 1


class Counting:
    """A specialist that counts how often it is called, and for how many columns."""

    def __init__(self, specialist: SpecialistModel) -> None:
        self.specialist = specialist
        self.rows: list[int] = []
        self.state_shapes, self.vector_width = specialist.state_shapes, specialist.vector_width

    def contribute(self, symbols: Symbols) -> Contribution:
        self.rows.append(len(symbols))
        return self.specialist.contribute(symbols)


def test_many_tables_share_the_batches_of_a_specialist(swarm: SwarmModel, folder: Path):
    counting = [Counting(each) for each in swarm.specialists]
    weights = load_swarm(folder / "swarm.safetensors")
    annotator = SwarmAnnotator(SwarmModel(swarm.primary, counting, weights))
    scores = annotator.score([CITIES] * 10)
    woken = np.array(
        [[each.woken for each in column] for one in scores for column in one.routing or ()]
    )
    # forty columns are one batch: everyone who is woken is called once, for all of its columns
    assert [each.rows for each in counting] == [[n] if n else [] for n in woken.sum(axis=0)]
    assert woken.any()


def test_the_order_of_columns_changes_neither_complexity_nor_specialists(
    estimate: SpawnEstimate, swarm: SwarmModel
):
    annotator = SwarmAnnotator(swarm, spawning=estimate)
    turned = replace(CITIES, columns=CITIES.columns[::-1])
    one, other = annotator.score([CITIES, turned])
    assert one.spawned == other.spawned
    assert one.routing == (other.routing or ())[::-1]


def test_a_limit_wakes_no_one_else_and_all_is_the_router_alone(swarm: SwarmModel):
    (free,) = SwarmAnnotator(swarm).score([CITIES])
    assert free.spawned is None
    for most in (1, 2, 3):
        (limited,) = SwarmAnnotator(swarm, most_specialists=most).score([CITIES])
        assert limited.spawned is not None
        assert len(limited.spawned.specialists) == most
        for before, after in zip(free.routing or (), limited.routing or (), strict=True):
            for was, now in zip(before, after, strict=True):
                assert now.score == was.score
                assert now.woken == (was.woken and now.specialist in limited.spawned.specialists)
    assert limited.types.tobytes() == free.types.tobytes()
    (nobody,) = SwarmAnnotator(swarm, most_specialists=0).score([CITIES])
    (primary,) = ByteModelAnnotator(swarm.primary).score([CITIES])
    assert nobody.types.tobytes() == primary.types.tobytes()


def test_a_limit_holds_against_the_estimate_and_timing_keeps_both(
    estimate: SpawnEstimate, swarm: SwarmModel
):
    eager = replace(estimate, value=np.array([[0.0, 0], [0.0, 0], [9.0, 0]]))
    annotator = SwarmAnnotator(swarm, spawning=eager, most_specialists=1).timed()
    (scores,) = annotator.score([CITIES])
    assert scores.spawned is not None
    assert scores.timing is not None
    assert len(scores.spawned.specialists) == 1
    assert scores.spawned.reason.endswith("; at most 1")
    (all_of_them,) = annotator.spawning_at("auto").score([CITIES])
    assert len(all_of_them.spawned.specialists) == 3
    with pytest.raises(UsageError, match="most_specialists is -1"):
        SwarmAnnotator(swarm, most_specialists=-1)


def test_an_answer_says_how_many_were_allowed_and_why(estimate: SpawnEstimate, swarm: SwarmModel):
    (scores,) = SwarmAnnotator(swarm, spawning=estimate).score([CITIES])
    answer = decide(CITIES, scores, "swarm")
    record = annotation_as_dict(answer)
    told = record["spawned"]
    assert isinstance(told, dict)
    assert told["allowed"] == len(told["specialists"]) == len(answer.spawned.specialists)
    assert told["of"] == 3
    assert told["complexity"] == round(answer.spawned.complexity, 4)
    assert told["reason"] == f"complexity {answer.spawned.complexity:.3f}, path cost 0.1"
    back = annotation_from_dict(json.loads(json.dumps(record)))
    assert back.spawned.specialists == answer.spawned.specialists
    assert outcome_from_json(json.loads(to_json(answer))) == answer
    assert f"of 3 specialists allowed ({told['reason']})" in shown_routing(answer)


def test_an_estimate_is_saved_and_found_in_the_folder_of_its_swarm(
    estimate: SpawnEstimate, folder: Path, tmp_path: Path
):
    for file in folder.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    estimate.save(tmp_path / SPAWNING_FILE)
    annotator = load_swarm_annotator(tmp_path)
    assert annotator.spawning is not None
    again = annotator.spawning
    assert again.weights.tobytes() == estimate.weights.tobytes()
    assert (again.counts, again.path_cost) == (estimate.counts, estimate.path_cost)
    routed = annotator.route(encode_tables([CITIES], annotator.swarm.primary))
    assert again.complexity(CITIES.columns, routed) == estimate.complexity(CITIES.columns, routed)
    with_option = annotate(
        {"a": ["x", "y"]}, annotator="swarm", model=tmp_path, spawn="all", memory=False
    )
    assert with_option[0].spawned is None


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"primary_sha256": "0" * 64}, "was fitted for a primary with SHA-256 000000000000"),
        ({"specialists": ["geo"]}, "was fitted for the specialists geo but the swarm has geo, nam"),
        ({"features": None}, "is no estimate of spawning"),
        ({"counts": [0, -1, "all"]}, "counts must be 0 or more"),
        ({"path": [[0, 0]]}, r"path must be finite and of shape \(3, 2\)"),
        ({"format": "other"}, "its format is 'other'"),
        ({"path_cost": -1}, "path_cost is -1"),
    ],
)
def test_a_file_of_something_else_is_refused_with_one_sentence(
    change: dict[str, object],
    sentence: str,
    estimate: SpawnEstimate,
    swarm: SwarmModel,
    tmp_path: Path,
):
    path = tmp_path / SPAWNING_FILE
    estimate.save(path)
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    with pytest.raises(UsageError, match=sentence):
        SpawnEstimate.load(path).check(swarm, str(path))


def test_the_swarm_that_ships_has_an_estimate_and_can_do_without():
    shipped = load_swarm_annotator()
    assert shipped.spawning is not None
    (scores,) = shipped.score([CITIES])
    assert scores.spawned is not None
    assert scores.spawned.complexity is not None
    (free,) = shipped.spawning_at("all").score([CITIES])
    assert free.spawned is None


def test_an_estimate_of_other_features_is_refused(estimate: SpawnEstimate, swarm: SwarmModel):
    renamed = replace(estimate, features=(*estimate.features[:-1], "something"))
    with pytest.raises(UsageError, match="was fitted on other features"):
        SwarmAnnotator(swarm, spawning=renamed)


def test_the_option_limits_specialists_and_refuses_what_cannot_be(folder: Path, tmp_path: Path):
    table = tmp_path / "a.csv"
    table.write_text("a,b\n1,Oslo\n2,Rome\n")
    model = ("--annotator", "swarm", "--model", str(folder))
    limited = run("annotate", str(table), *model, "--spawn", "1", "--json")
    assert json.loads(limited.out)["spawned"]["allowed"] == 1
    for options, sentence in (
        ((*model, "--spawn", "auto"), "this swarm has no spawning.json"),
        ((*model, "--spawn", "few"), "'few' is no number of specialists"),
        (("--spawn", "1"), "the annotator 'dispatch' has no specialists"),
    ):
        refused = run("annotate", str(table), *options)
        assert refused.code == 2
        assert sentence in refused.err
    with pytest.raises(UsageError, match="spawn is 'few'"):
        load_swarm_annotator(folder).spawning_at("few")
