"""The n-gram model: its numbers by hand, its file, and scores that do not depend on the batch."""

import json
import math
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file

from aegir.readers.ngrams.annotator import NgramsAnnotator
from aegir.readers.ngrams.features import BUCKETS, SparseRows, hashed_features
from aegir.readers.ngrams.model import (
    FORMAT,
    SCORES,
    NgramModel,
    context_features,
    mean_over_views,
)
from aegir.readers.ngrams.network import HashedLinear, weigh
from aegir.tables.table import Column
from aegir_rl.base.errors import UsageError
from aegir_rl.base.safetensors_file import read_safetensors
from command_line import run
from ngram_models import MIXING, TABLES, TRUST, random_layer, random_model

EXAMPLES = Path(__file__).parents[4] / "examples"


def test_saving_then_loading_changes_no_bit(tmp_path: Path):
    model = random_model()
    model.save(tmp_path / "model.safetensors")
    loaded = NgramModel.load(tmp_path / "model.safetensors")
    assert loaded.facts == model.facts
    assert loaded.calibration == model.calibration
    for part in ("compatibility", "types_of_fine"):
        assert getattr(loaded, part).tobytes() == getattr(model, part).tobytes()
    for layer in ("values", "subject", "context"):
        before, after = getattr(model, layer), getattr(loaded, layer)
        for field in before.__dataclass_fields__:
            old, new = getattr(before, field), getattr(after, field)
            assert (old.dtype, old.shape, old.tobytes()) == (new.dtype, new.shape, new.tobytes())
    loaded.save(tmp_path / "again.safetensors")
    first, again = ((tmp_path / f"{name}.safetensors").read_bytes() for name in ("model", "again"))
    assert first == again


def test_what_networks_have_in_common_is_stored_once(tmp_path: Path):
    model = random_model()
    first, second = model.networks
    alike = replace(second, headers=replace(second.headers, buckets=first.headers.buckets))
    model = replace(model, networks=(first, alike))
    model.save(tmp_path / "model.safetensors")
    tensors, _ = read_safetensors(tmp_path / "model.safetensors")
    assert "network.1.headers.buckets" not in tensors
    assert "network.1.values.buckets" in tensors
    loaded = NgramModel.load(tmp_path / "model.safetensors").networks[1].tensors()
    assert all(np.array_equal(tensor, loaded[name]) for name, tensor in alike.tensors().items())


def test_a_loaded_model_scores_as_it_did_before(tmp_path: Path):
    model = random_model()
    model.save(tmp_path / "model.safetensors")
    before = NgramsAnnotator(model).score(TABLES)
    after = NgramsAnnotator(NgramModel.load(tmp_path / "model.safetensors")).score(TABLES)
    for one, two in zip(before, after, strict=True):
        for part in ("types", "relations", "fine", "levels", "special", "rows", "person"):
            assert getattr(one, part).tobytes() == getattr(two, part).tobytes()
        assert (one.web, one.subject) == (two.web, two.subject)


def test_the_same_model_is_saved_as_the_same_bytes(tmp_path: Path):
    for name in ("a", "b"):
        random_model().save(tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


@pytest.mark.parametrize(
    "kind", ["missing", "text", "folder", "stranger", "other version", "half", "bad facts"]
)
def test_a_file_that_is_not_a_model_is_refused_in_one_sentence(tmp_path: Path, kind: str):
    path = tmp_path / "weights.safetensors"
    tensors = {"weights": np.zeros(3, np.float32)}
    if kind == "text":
        path.write_text("hello")
    elif kind == "folder":
        path.mkdir()
    elif kind == "stranger":
        save_file(tensors, path)
    elif kind == "other version":
        save_file(tensors, path, metadata={"format": "aegir-ngrams-0"})
    elif kind == "half":
        save_file(tensors, path, metadata={"format": FORMAT, "facts": "{}"})
    elif kind == "bad facts":
        save_file(tensors, path, metadata={"format": FORMAT, "facts": "{"})
    with pytest.raises(UsageError, match="make one with: aegir train ngrams") as refused:
        NgramModel.load(path)
    assert str(path) in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("model") / "model.safetensors"
    random_model().save(path)
    return path


def refusal(saved: Path, path: Path, tensor: str | None = None, **facts: object) -> str:
    """Save the model again with one number of a tensor replaced by nan, or with other facts."""
    tensors, metadata = read_safetensors(saved)
    if tensor is not None:
        tensors[tensor].flat[-1] = math.nan
    changed = json.loads(metadata["facts"]) | facts
    save_file(tensors, path, metadata | {"facts": json.dumps(changed)})
    done = run("annotate", EXAMPLES / "books.csv", "--annotator", "ngrams", "--model", path)
    assert (done.code, done.out, len(done.said)) == (2, "", 1)
    assert str(path) in done.err
    return done.err


@pytest.mark.parametrize(
    ("tensor", "name"),
    [
        ("values.scale", "values"),
        ("subject.bias", "subject.bias"),
        ("context.weights", "context.weights"),
        ("compatibility", "compatibility"),
        ("types_of_fine", "types_of_fine"),
        ("network.0.headers.importance", "headers"),
        ("network.1.own.weight", "layer own"),
        ("network.1.table_norm.bias", "layer table_norm"),
    ],
)
def test_weights_that_are_not_finite_are_refused(
    saved: Path, tmp_path: Path, tensor: str, name: str
):
    said = refusal(saved, tmp_path / "nan.safetensors", tensor)
    assert f"{name} has numbers that are not finite" in said


WARM = {"ngrams": {"cta": 1, "cpa": 1}, "rule_trust": asdict(TRUST)}
WEIGHTS = asdict(MIXING)


@pytest.mark.parametrize(
    ("calibration", "reason"),
    [
        (None, "the calibration has no 'ngrams'"),
        ({}, "the calibration has no 'ngrams'"),
        (WARM, "the calibration has no 'mixing'"),
        (
            WARM | {"ngrams": {"cta": math.nan, "cpa": 1}, "mixing": WEIGHTS},
            "ngrams.cta of the calibration is nan; expected a finite number above 0",
        ),
        (WARM | {"mixing": {"web": WEIGHTS["web"]}}, "no mixture for web and everyday tables"),
        (WARM | {"mixing": WEIGHTS | {"web": 3}}, "the calibration has no weights of a mixture"),
        (
            WARM | {"mixing": WEIGHTS | {"web": WEIGHTS["web"] | {"types": [1, 2, 3]}}},
            "are not finite numbers, two per part",
        ),
        (
            WARM | {"mixing": WEIGHTS | {"everyday": WEIGHTS["web"] | {"fine": [1, math.inf]}}},
            "are not finite numbers, two per part",
        ),
        (
            WARM | {"mixing": WEIGHTS | {"web": WEIGHTS["web"] | {"via_fine": 1.5}}},
            "via_fine of the calibration is 1.5 and sharpness 1.0; expected a share from 0 to 1",
        ),
    ],
)
def test_weights_without_a_usable_calibration_are_refused(
    saved: Path, tmp_path: Path, calibration: object, reason: str
):
    said = refusal(saved, tmp_path / "model.safetensors", calibration=calibration)
    assert reason in said


def test_weights_without_facts_are_refused(saved: Path, tmp_path: Path):
    tensors, metadata = read_safetensors(saved)
    for facts in ("{}", "[]", "3"):
        save_file(tensors, tmp_path / "model", metadata | {"facts": facts})
        with pytest.raises(UsageError, match="its facts have no calibration"):
            NgramModel.load(tmp_path / "model")


def test_weights_of_another_shape_type_or_order_are_refused(saved: Path, tmp_path: Path):
    tensors, metadata = read_safetensors(saved)
    own, facts = tensors["network.1.own.weight"], tensors["network.0.facts.weight"]
    changes = {
        "context.weights is float16": {"context.weights": tensors["context.weights"][:9]},
        "values has parts that do not fit": {
            "values.weights": tensors["values.weights"].astype("f4")
        },
        "values.buckets has numbers outside": {
            "values.buckets": tensors["values.buckets"] + BUCKETS
        },
        "values.buckets is not in ascending": {"values.buckets": tensors["values.buckets"][::-1]},
        "compatibility has negative shares or a row": {
            "compatibility": 0 * tensors["compatibility"]
        },
        "types_of_fine has negative shares": {"types_of_fine": -tensors["types_of_fine"]},
        "headers has parts that do not fit": {
            "network.0.headers.bias": tensors["network.0.headers.bias"][:3]
        },
        r"layer own is \(\d+, 11\), expected \(\d+, 12\)": {"network.1.own.weight": own[:11]},
        r"layer own is \(12,\), expected": {"network.1.own.weight": own[:, 0]},
        "layer facts is ": {"network.0.facts.weight": facts[:, 1:]},
        "layer own_norm is ": {
            "network.0.own_norm.weight": tensors["network.0.own_norm.weight"][:4]
        },
        "layer heads.web is ": {"network.0.heads.web.weight": own},
    }
    for reason, changed in changes.items():
        contiguous = {name: np.ascontiguousarray(t) for name, t in (tensors | changed).items()}
        save_file(contiguous, tmp_path / "model", metadata)
        with pytest.raises(UsageError, match=reason):
            NgramModel.load(tmp_path / "model")


@pytest.mark.parametrize(
    ("left_out", "reason"),
    [
        ("types_of_fine", "types_of_fine is missing"),
        ("values.scale", "values.scale is missing"),
        ("network.0.facts.bias", "network.facts.bias is missing"),
        ("network.0.values.buckets", "network.0.values.buckets is missing"),
        ("network.0.", "it has no networks, or gaps between them"),
        ("network.", "it has no networks, or gaps between them"),
    ],
)
def test_a_model_without_all_its_parts_is_refused(
    saved: Path, tmp_path: Path, left_out: str, reason: str
):
    tensors, metadata = read_safetensors(saved)
    rest = {name: one for name, one in tensors.items() if not name.startswith(left_out)}
    save_file(rest, tmp_path / "model", metadata)
    with pytest.raises(UsageError, match=f"model is not a complete n-gram model .{reason}") as said:
        NgramModel.load(tmp_path / "model")
    assert "\n" not in str(said.value)


def test_context_of_three_columns_by_hand():
    scores = np.array([[1, 2], [3, 5], [-1, 0]], np.float32)
    ln4 = math.log(4)
    expected = [
        #  own  mean of others  best of others  subject's  is subject, alone, ln(1 + columns)
        [1, 2, 1, 2.5, 3, 5, 3, 5, 0, 0, ln4],
        [3, 5, 0, 1, 1, 2, 0, 0, 1, 0, ln4],
        [-1, 0, 2, 3.5, 3, 5, 3, 5, 0, 0, ln4],
    ]
    assert context_features(scores, subject=1) == pytest.approx(np.array(expected))


def test_context_of_a_column_alone_by_hand():
    expected = [1, 2, 0, 0, -1.5, -1.5, 0, 0, 1, 1, math.log(2)]
    assert context_features(np.array([[1, 2]], np.float32), 0)[0] == pytest.approx(expected)


def test_the_best_sibling_of_a_tie_is_the_other_one():
    best = context_features(np.array([[4.0], [4.0], [1.0]], np.float32), 0)[:, 2]
    assert best.tolist() == [4, 4, 4]


def test_rows_are_weighed_by_importance_and_scaled_to_length_1():
    # sqrt(1) * 3 = 3 and sqrt(0.25) * 8 = 4: length 5; the second row has nothing to scale
    rows = SparseRows(np.array([0, 2, 2]), np.array([0, 1]), np.array([1, 0.25], np.float32))
    assert weigh(rows, np.array([3, 8], np.float32)).tolist() == pytest.approx([0.6, 0.8])


def test_a_layer_multiplies_weighed_shares_with_scaled_weights():
    bucket = int(hashed_features([("Oslo",)]).features[0])
    weights = np.arange(SCORES, dtype=np.int64).astype(np.int8)[None]
    layer = HashedLinear(
        np.array([bucket], np.int32),
        np.array([2], np.float32),
        weights,
        np.array([0.5], np.float32),
        np.ones(SCORES, np.float32),
    )
    # one known feature: its row has length 1, so a score is 1 * 0.5 * weight + 1
    scores = layer.scores([("Oslo",), ("",)], layer.index)
    assert scores[0].tolist() == (weights[0] * 0.5 + 1).tolist()


def test_a_column_without_cells_scores_the_bias():
    layer = random_layer(20)
    scores = mean_over_views([Column("a", ("", " "))], layer, layer.index)
    assert scores[0].tobytes() == layer.bias.tobytes()


def test_scores_of_a_column_do_not_depend_on_the_batch():
    layer = random_layer(BUCKETS // 4)
    columns = [
        Column(None, tuple(f"cell {row * seed % 17} of {seed}" for row in range(seed % 23)))
        for seed in range(60)
    ]
    together = mean_over_views(columns, layer, layer.index)
    backwards = mean_over_views(columns[::-1], layer, layer.index)[::-1]
    assert together.tobytes() == backwards.tobytes()
    for column, scores in zip(columns, together, strict=True):
        alone = mean_over_views([column], layer, layer.index)
        assert alone.tobytes() == scores.tobytes()
