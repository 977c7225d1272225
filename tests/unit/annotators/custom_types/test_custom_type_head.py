"""The head of a taught type: what it separates, how sure it may be, what is held out."""

import numpy as np

from aegir.annotators.custom_types.head import Examples, Fitted, Others, fit_head, probability

WIDTH = 12


def cloud(count: int, at: float, seed: int) -> np.ndarray:
    """Columns that differ from others in the first number of their embedding."""
    drawn = np.random.default_rng(seed).standard_normal((count, WIDTH)).astype(np.float32)
    drawn[:, 0] += at
    return drawn


def fit(examples: np.ndarray, others: np.ndarray, headless: np.ndarray | None = None) -> Fitted:
    shown = Examples(
        examples, examples, examples if headless is None else headless, range(len(examples))
    )
    return fit_head(shown, Others(others, np.ones(len(others)), range(len(others))))


def test_what_lies_apart_is_told_apart_on_columns_never_seen():
    fitted = fit(cloud(10, 8, 0), cloud(600, 0, 1))
    assert (fitted.examples >= 0).mean() >= 0.9
    assert (fitted.others >= 0).mean() <= 0.005
    assert (fitted.head.log_odds(cloud(200, 8, 2)) >= 0).mean() >= 0.9
    assert (fitted.head.log_odds(cloud(2000, 0, 3)) >= 0).mean() <= 0.005


def test_examples_like_all_others_are_not_recognised():
    fitted = fit(cloud(8, 0, 0), cloud(600, 0, 1))
    assert (fitted.examples >= 0).sum() == 0  # held out, chance finds none of 8 at odds of 1 to 19


def test_few_examples_support_little_confidence_and_more_support_more():
    few, many = (fit(cloud(count, 30, 0), cloud(600, 0, 1)) for count in (5, 40))
    sure = [float(np.median(probability(one.examples))) for one in (few, many)]
    assert 0.7 < sure[0] <= 6 / 7 + 1e-9  # odds of 5 + 1 to 1
    assert sure[0] < sure[1] <= 41 / 42 + 1e-9
    assert probability(few.head.log_odds(cloud(100, 300, 2))).max() <= 6 / 7 + 1e-9


def test_an_example_is_judged_by_a_head_that_saw_no_part_of_its_column():
    # Four columns read alike; the fifth, given in two equal parts, is far from them. With both parts held
    # out nothing speaks for it, with only one held out its twin would.
    twin = np.zeros((2, WIDTH), np.float32)
    twin[:, 5] = 30
    readings = np.concatenate([cloud(8, 30, 0), twin])
    others = Others(cloud(300, 0, 1), np.ones(300), range(300))
    together, apart = (
        fit_head(Examples(readings, readings, readings, groups), others).examples[-2:]
        for groups in ([*range(8), 8, 8], list(range(10)))
    )
    assert (together < 0).all()
    assert (apart > together).all()


def test_readings_without_headers_are_judged_and_not_learnt_from():
    examples, others = cloud(10, 8, 0), cloud(600, 0, 1)
    plain, hidden = fit(examples, others), fit(examples, others, cloud(10, 0, 4))
    assert (hidden.headless < 0).all()
    assert np.array_equal(plain.head.weights, hidden.head.weights)


def test_a_column_however_odd_gets_finite_odds():
    head = fit(cloud(10, 8, 0), cloud(600, 0, 1)).head
    odd = np.full((2, WIDTH), 1e30, np.float32)
    assert np.isfinite(head.log_odds(odd)).all()
    assert np.isfinite(probability(np.array([-1e9, 1e9]))).all()
