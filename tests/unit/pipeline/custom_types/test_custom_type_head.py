"""The head of a taught type: what it separates, how sure it may be, what is held out."""

from dataclasses import replace

import numpy as np
import pytest

from aegir.pipeline.custom_types.head import (
    ExampleReadings,
    FittedHead,
    Others,
    fit_head,
    probability,
)
from aegir.readers.ngrams.network import ColumnReadings
from taught_types import NAMES, WIDTH, cloud


def fit(
    examples: ColumnReadings, others: ColumnReadings, headless: ColumnReadings | None = None
) -> FittedHead:
    given = ExampleReadings(
        examples, examples, examples if headless is None else headless, range(len(examples))
    )
    count = len(others)
    return fit_head(given, Others(others, np.ones(count), range(count), count))


def test_what_lies_apart_is_told_apart_on_columns_never_seen():
    fitted = fit(cloud(10, 8, 0), cloud(600, 0, 1))
    assert (fitted.examples >= 0).mean() >= 0.9
    assert (fitted.others >= 0).mean() <= 0.005
    assert (fitted.head.log_odds(cloud(200, 8, 2)) >= 0).mean() >= 0.9
    assert (fitted.head.log_odds(cloud(2000, 0, 3)) >= 0).mean() <= 0.005


def test_examples_like_all_others_are_not_recognised():
    fitted = fit(cloud(8, 0, 0), cloud(600, 0, 1))
    assert (fitted.examples >= 0).sum() == 0  # held out, chance finds none of 8 at odds of 1 to 49


def test_the_evidence_that_tells_the_examples_from_others_weighs_more():
    """Here headers alone say what is of the type, there values alone."""
    others = ColumnReadings.join([cloud(300, 0, 1, "city"), cloud(300, 0, 2, "size")])
    by_header = fit(cloud(8, 0, 3, "ward bed"), others)
    assert (by_header.examples >= 0).sum() >= 7
    assert (by_header.head.log_odds(cloud(50, 0, 4, "bed ward")) >= 0).all()
    assert (by_header.head.log_odds(cloud(50, 0, 4, "city")) < 0).all()
    far = cloud(8, 9, 5)
    plain = cloud(8, 0, 6)
    by_values = fit(ColumnReadings(plain.names, plain.vectors, far.values, far.headers), others)
    usual = by_header.head.weights[[1, 3]]
    ours = by_values.head.weights[[1, 3]]
    assert ours[1] / ours[0] > 2 * usual[1] / usual[0]
    assert (by_header.head.weights >= 0).all()


def test_few_examples_support_little_confidence_and_more_support_more():
    few, many = (fit(cloud(count, 30, 0), cloud(600, 0, 1)) for count in (5, 40))
    sure = [float(np.median(probability(one.examples))) for one in (few, many)]
    assert 0.7 < sure[0] <= 6 / 7 + 1e-9  # odds of 5 + 1 to 1
    assert sure[0] < sure[1] <= 41 / 42 + 1e-9
    assert probability(few.head.log_odds(cloud(100, 300, 2))).max() <= 6 / 7 + 1e-9


def test_an_example_is_judged_by_a_head_that_saw_no_part_of_its_column():
    # Eight columns read alike; the ninth, given in two equal parts, is far from them. With both parts held
    # out nothing speaks for it, with only one held out its twin would.
    twin = np.zeros((2, WIDTH), np.float32)
    twin[:, 5] = 30
    names = np.zeros((2, NAMES), np.float32)
    names[:, 7] = 1
    readings = ColumnReadings.join(
        [cloud(8, 30, 0, "bed"), ColumnReadings(names, twin, twin, ("cot",) * 2)]
    )
    others = Others(cloud(300, 0, 1, "city"), np.ones(300), range(300), 300)
    together, apart = (
        fit_head(ExampleReadings(readings, readings, readings, groups), others).examples[-2:]
        for groups in ([*range(8), 8, 8], list(range(10)))
    )
    assert (together < 0).all()
    assert (apart > together).all()


def test_no_evidence_is_fitted_to_readings_without_headers():
    examples, others = cloud(10, 8, 0), cloud(600, 0, 1)
    plain, hidden = fit(examples, others), fit(examples, others, cloud(10, 0, 4))
    assert (hidden.headless < 0).all()
    column = cloud(5, 8, 2)
    measured = [fitted.head.evidence.measure(column) for fitted in (plain, hidden)]
    assert np.array_equal(*measured)


def test_headers_count_less_when_the_examples_are_known_without_them():
    """Values alone tell them, too; then a column under another header is recognised."""
    others = ColumnReadings.join([cloud(300, 0, 1, "city"), cloud(300, 0, 2, "patient size")])
    examples = cloud(10, 9, 3, "patient number")
    fitted = fit(examples, others, replace(examples, headers=("",) * 10))
    assert (fitted.headless >= 0).sum() >= 9
    assert (fitted.head.log_odds(cloud(50, 9, 4, "pat")) >= 0).mean() >= 0.9
    assert (fitted.head.log_odds(cloud(50, 0, 5, "patient")) < 0).all()


def test_columns_that_count_more_are_taken_less():
    """Some of the others read like the examples: how much these count decides who gets such columns."""
    others = ColumnReadings.join([cloud(600, 0, 1), cloud(6, 8, 2)])
    examples = cloud(8, 8, 0)
    shown = ExampleReadings(examples, examples, examples, range(8))
    light, heavy = (
        fit_head(shown, Others(others, np.append(np.ones(600), np.full(6, w)), range(606), 600))
        for w in (0.01, 20.0)
    )
    new = cloud(100, 8, 3)
    assert (light.head.log_odds(new) >= 0).mean() >= 0.9
    assert (heavy.head.log_odds(new) >= 0).mean() <= 0.2


def test_the_same_input_gives_the_same_head():
    first, second = (fit(cloud(8, 5, 0, "bed"), cloud(200, 0, 1, "city")) for _ in range(2))
    column = cloud(5, 3, 2, "beds")
    assert np.array_equal(first.head.log_odds(column), second.head.log_odds(column))
    assert first.head.bias == second.head.bias


def test_a_column_however_odd_gets_finite_odds():
    head = fit(cloud(10, 8, 0), cloud(600, 0, 1)).head
    odd = np.full((2, WIDTH), 1e30, np.float32)
    unknown = np.zeros((2, NAMES), np.float32)
    assert np.isfinite(
        head.log_odds(ColumnReadings(unknown, odd, odd, ("\u0000 " * 99, "状態")))
    ).all()
    assert np.isfinite(probability(np.array([-1e9, 1e9]))).all()
    assert probability(np.array([0.0])) == pytest.approx([0.5])
