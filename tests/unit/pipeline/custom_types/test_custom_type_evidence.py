"""The four kinds of evidence about a column: numbers worked out by hand, and what must not matter."""

import math

import numpy as np
import pytest

from aegir.pipeline.custom_types.evidence import (
    KINDS,
    UNSEEN,
    EvidenceFitter,
    Line,
    NameRatios,
    pieces_of,
    unit_rows,
)
from aegir.readers.ngrams.network import ColumnReadings
from taught_types import NAMES, WIDTH, cloud


def fitter(others: ColumnReadings, fold_of: list[int] | None = None) -> EvidenceFitter:
    count = len(others)
    return EvidenceFitter(others, np.ones(count), count, fold_of or [0] * count)


def with_headers(*headers: str) -> ColumnReadings:
    made = cloud(len(headers), 0, 0)
    return ColumnReadings(made.names, made.vectors, made.values, headers)


def with_names(rows: list[list[float]]) -> ColumnReadings:
    made = cloud(len(rows), 0, 0)
    return ColumnReadings(np.array(rows, np.float32), made.vectors, made.values, made.headers)


def test_names_that_are_rare_elsewhere_and_shared_by_the_examples_count_most():
    others = with_names([[0.1, 0.9], [0.3, 0.7]])
    examples = with_names([[0.81, 0.09], [0.81, 0.09]])
    names = fitter(others).fit(examples, examples).names
    # Elsewhere (0.2, 0.8), with the added share (0.45, 1.05). Among the examples 0.81 ** 1.5 = 0.729 and
    # 0.09 ** 1.5 = 0.027: shares 27 / 28 and 1 / 28.
    assert names.ratios == pytest.approx([27 / 28 / 0.45, 1 / 28 / 1.05], rel=1e-5)
    column = np.array([[1.0, 0.0]], np.float32)
    assert names.measure(column) == pytest.approx([math.log(27 / 28 / 0.45 + 0.05)], rel=1e-5)


def test_no_ratio_is_extreme_for_a_column_of_other_names():
    assert NameRatios(np.array([40.0, 0.0])).measure(np.array([[0.0, 1.0]], np.float32)) == (
        pytest.approx([math.log(0.05)])
    )


def test_a_word_is_cut_into_pieces_with_its_ends_marked():
    assert list(pieces_of("bed")) == ["^be", "bed", "ed$", "^bed", "bed$", "^bed$"]
    assert list(pieces_of("a bc")) == ["^a$", "^bc", "bc$", "^bc$"]
    assert not list(pieces_of(""))


def test_the_header_of_every_example_has_the_likeness_1_and_no_header_0():
    known = with_headers("city", "bed size", "", "name")
    headers = fitter(known).fit(with_headers("ward bed"), with_headers("ward bed")).headers
    found = headers.measure(["ward bed", "bed ward", "bed", "city", ""])
    assert found[:2] == pytest.approx([1, 1])
    assert 0.2 < found[2] < 0.8
    assert found[3:].tolist() == [0, 0]


def test_half_of_the_examples_with_a_header_count_half():
    known = with_headers("city", "name")
    examples = with_headers("bed", "")
    assert fitter(known).fit(examples, examples).headers.measure(["bed"]) == pytest.approx([0.5])


def test_pieces_of_common_headers_count_less():
    # Of three known headers two begin like the example: log(5 / 3) for their pieces, log(5 / 1) for the others.
    known = with_headers("bed", "bed", "city")
    headers = fitter(known).fit(with_headers("bed x"), with_headers("bed x")).headers
    assert headers.rarity["bed"] == pytest.approx(math.log(5 / 3))
    assert headers.rarity["^x$"] == pytest.approx(math.log(5))
    # 6 pieces of bed and one of x; a header "x" has one, of the length log(5).
    length = math.sqrt(6 * math.log(5 / 3) ** 2 + math.log(5) ** 2)
    assert headers.measure(["x"]) == pytest.approx([math.log(5) / length])
    # "xy" shares no piece; "x yz" shares one, and three that no example has.
    assert headers.measure(["xy"]).tolist() == [0]
    longer = math.sqrt(math.log(5) ** 2 + 3 * UNSEEN**2)
    assert headers.measure(["x yz"]) == pytest.approx([math.log(5) ** 2 / length / longer])


def test_a_line_finds_the_number_in_which_examples_differ():
    evidence = fitter(cloud(400, 0, 0)).fit(cloud(8, 6, 1), cloud(8, 6, 2))
    for line in (evidence.vectors, evidence.values):
        assert np.abs(line.weights).argmax() == 0
        assert line.weights[0] > 5 * np.abs(line.weights[1:]).max()
    measured = evidence.measure(cloud(50, 6, 3)), evidence.measure(cloud(50, 0, 4))
    for kind in (0, 2, 3):
        assert measured[0][:, kind].mean() > measured[1][:, kind].mean() + 0.3


def test_a_vector_that_is_merely_extreme_scores_like_a_plain_one_in_its_direction():
    line = Line(np.array([1.0, 2.0]), np.array([1.0, 2.0]), np.array([1.0, -1.0]))
    near, far = (np.array([[1 + 3 * n, 2 + 8 * n]], np.float32) for n in (1, 1000))
    # centred and scaled (3, 4) n, of length 1 (0.6, 0.8)
    assert line.measure(near) == pytest.approx([-0.2])
    assert line.measure(far) == pytest.approx([-0.2])
    assert unit_rows(np.array([[1.0, 2.0]], np.float32), line.centre, line.scale).tolist() == [
        [0, 0]
    ]


def test_columns_of_a_fold_that_is_left_out_do_not_matter():
    others, examples = cloud(60, 0, 0), cloud(6, 4, 1)
    folds = [number % 3 for number in range(60)]
    without = fitter(others, folds).fit(examples, examples, without_fold=1)
    weights = np.array([0.0 if fold == 1 else 1.0 for fold in folds])
    expected = EvidenceFitter(others, weights, 60, folds).fit(examples, examples)
    whole = fitter(others, folds).fit(examples, examples)
    assert without.vectors.weights == pytest.approx(expected.vectors.weights)
    assert without.vectors.weights != pytest.approx(whole.vectors.weights)


def test_examples_that_are_given_twice_change_nothing():
    others, examples = cloud(60, 0, 0, "city"), cloud(6, 4, 1, "bed")
    twice = ColumnReadings.join([examples, examples])
    once, again = (fitter(others).fit(given, given) for given in (examples, twice))
    column = cloud(3, 2, 2, "bed no")
    assert once.measure(column) == pytest.approx(again.measure(column))


def test_without_examples_there_is_no_evidence_for_any_column():
    nothing = cloud(0, 0, 0)
    found = fitter(cloud(40, 0, 1, "city")).fit(
        ColumnReadings(np.full((1, NAMES), 1 / NAMES, np.float32), *_none(), ("",)), nothing
    )
    assert found.headers.measure(["city"]).tolist() == [0]
    assert found.measure(cloud(2, 0, 3)).shape == (2, len(KINDS))


def _none() -> tuple[np.ndarray, np.ndarray]:
    return np.zeros((1, WIDTH), np.float32), np.zeros((1, WIDTH), np.float32)
