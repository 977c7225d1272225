"""The n-gram model: its numbers by hand, its file, and scores that do not depend on the batch."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file

from aegir.annotators.calibration import NgramCalibration
from aegir.annotators.ngrams.features import BUCKETS, SparseRows, hashed_features
from aegir.annotators.ngrams.model import (
    CONTEXT_FEATURES,
    FORMAT,
    RELATIONS,
    SCORES,
    TYPES,
    Dense,
    HashedLinear,
    NgramModel,
    context_features,
    mean_over_views,
    weigh,
)
from aegir.errors import UsageError
from aegir.model.safetensors_file import read_safetensors
from aegir.tables.table import Column
from command_line import run

EXAMPLES = Path(__file__).parents[4] / "examples"


def random_layer(features: int, seed: int = 0) -> HashedLinear:
    generator = np.random.default_rng(seed)
    return HashedLinear(
        np.sort(generator.choice(BUCKETS, features, replace=False)).astype(np.int32),
        generator.random(features, np.float32) + 1,
        generator.integers(-127, 128, (features, SCORES), np.int8),
        generator.random(features, np.float32),
        generator.random(SCORES, np.float32),
    )


def random_model() -> NgramModel:
    generator = np.random.default_rng(5)
    return NgramModel(
        random_layer(50, 1),
        random_layer(0, 2),
        Dense(generator.random((SCORES, 1), np.float32), generator.random(1, np.float32)),
        Dense(
            generator.random((CONTEXT_FEATURES, SCORES), np.float32),
            generator.random(SCORES, np.float32),
        ),
        generator.random((RELATIONS, TYPES), np.float32),
        NgramCalibration(
            {"cta": 0.1 + 0.2, "cpa": 1.0}, {"cta": 0.5, "cpa": 0.25}, [-0.5] * SCORES
        ),
        {"städte": ["Köln"]},
    )


def test_saving_then_loading_changes_no_bit(tmp_path: Path):
    model = random_model()
    model.save(tmp_path / "model.safetensors")
    loaded = NgramModel.load(tmp_path / "model.safetensors")
    assert loaded.facts == model.facts
    assert loaded.calibration == model.calibration
    assert loaded.compatibility.tobytes() == model.compatibility.tobytes()
    for layer in ("values", "headers", "subject", "context"):
        before, after = getattr(model, layer), getattr(loaded, layer)
        for field in before.__dataclass_fields__:
            old, new = getattr(before, field), getattr(after, field)
            assert (old.dtype, old.shape, old.tobytes()) == (new.dtype, new.shape, new.tobytes())


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
    "tensor", ["values.scale", "headers.bias", "subject.bias", "context.weights", "compatibility"]
)
def test_weights_that_are_not_finite_are_refused(saved: Path, tmp_path: Path, tensor: str):
    said = refusal(saved, tmp_path / "nan.safetensors", tensor)
    assert f"{tensor} has numbers that are not finite" in said


@pytest.mark.parametrize(
    ("calibration", "reason"),
    [
        (None, "the calibration has no 'ngrams'"),
        ({}, "the calibration has no 'ngrams'"),
        ({"ngrams": {"cta": math.nan, "cpa": 1.0}}, "has no 'header_weight'"),
        (
            {"ngrams": {"cta": math.nan, "cpa": 1}, "header_weight": 1, "header_log_prior": []},
            "ngrams.cta of the calibration is nan; expected a finite number above 0",
        ),
        (
            {
                "ngrams": {"cta": 1, "cpa": 1},
                "header_weight": {"cta": 0, "cpa": 0},
                "header_log_prior": [0.0],
            },
            "header_log_prior of the calibration needs 190 numbers",
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
    changes = {
        "context.weights is float32": {"context.weights": tensors["context.weights"][:9]},
        "values.weights is float32": {"values.weights": tensors["values.weights"].astype("f4")},
        "values.buckets has numbers outside": {
            "values.buckets": tensors["values.buckets"] + BUCKETS
        },
        "values.buckets is not in ascending": {"values.buckets": tensors["values.buckets"][::-1]},
        "a relation without any": {"compatibility": 0 * tensors["compatibility"]},
    }
    for reason, changed in changes.items():
        contiguous = {name: np.ascontiguousarray(t) for name, t in (tensors | changed).items()}
        save_file(contiguous, tmp_path / "model", metadata)
        with pytest.raises(UsageError, match=reason):
            NgramModel.load(tmp_path / "model")


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
