"""Weights of critical tokens: worked numbers, what is critical and how it is shown."""

import numpy as np
import pytest

from aegir_rl.base.errors import UsageError
from aegir_rl.rl.token_weights import compute_information, compute_token_weights, mark_boundaries

NAN = float("nan")


def test_the_worked_number_of_the_docstring():
    # Raw 1 + 0 + 1 = 2 and 1 + 0.4 / (0.4 + 0.2) = 1.6667; their mean is 1.8333.
    found = compute_token_weights([[0, 0.4]], [[True, False]])
    assert found.weights == pytest.approx(np.array([[1.090909, 0.909091]]), abs=1e-6)
    assert found.critical.tolist() == [[True, False]]


def test_information_is_the_divergence_from_the_mean_distribution():
    # The mean of (1, 0) and (0, 1) is (1/2, 1/2): log 2 each. Equal distributions carry nothing.
    assert compute_information([[[1, 0], [0, 1]]]) == pytest.approx(np.log(2) * np.ones((1, 2)))
    assert compute_information([[[0.9, 0.1], [0.9, 0.1]]]) == pytest.approx(np.zeros((1, 2)))


def test_mean_information_is_the_mutual_information_of_token_and_answer():
    # H of the mean (0.5, 0.5) minus mean H of (0.9, 0.1) and (0.1, 0.9): 0.693147 - 0.325083 = 0.368064.
    found = compute_information([[[0.9, 0.1], [0.1, 0.9]]])
    assert found.mean() == pytest.approx(0.368064, abs=1e-6)


def test_information_gained_is_what_a_token_changed():
    # The second token of the row changes nothing; the third moves (1/2, 1/2) to (1, 0): log 2.
    path = [[[0.5, 0.5], [0.5, 0.5], [NAN, NAN], [1, 0]]]
    found = compute_information(path, "previous", mask=[[1, 1, 0, 1]])
    # The first is compared with the mean (2/3, 1/3): 0.5 log 0.75 + 0.5 log 1.5 = 0.058892.
    assert found == pytest.approx(np.array([[0.058892, 0, 0, 0.693147]]), abs=1e-6)


def test_boundaries_are_the_first_tokens_of_columns():
    columns = [[0, 0, 1, 1, 2], [7, 7, 7, 8, 7]]
    assert mark_boundaries(columns).astype(int).tolist() == [[1, 0, 1, 0, 1], [1, 0, 0, 1, 1]]


def test_boundaries_are_found_across_tokens_that_do_not_count():
    found = mark_boundaries([["a", "b", "a", "a", "b"]], mask=[[0, 1, 0, 0, 1]])
    assert found.astype(int).tolist() == [[0, 1, 0, 0, 0]]
    assert not mark_boundaries([["a"]], mask=[[0]]).any()


def test_no_token_weighs_more_than_the_strengths_allow():
    information = np.zeros((1, 1000))
    information[0, 7] = 9.0  # all of it in one token
    found = compute_token_weights(information, np.arange(1000)[None] == 7)
    assert found.weights.mean() == pytest.approx(1)
    assert found.weights[0, 7] / found.weights[0, 0] == pytest.approx(2 + 9 / 9.009)  # below 3


def test_without_strength_or_difference_all_weights_are_one():
    boundaries = [[1, 0, 0]]
    flat = compute_token_weights(
        [[1, 2, 3]], boundaries, information_strength=0, boundary_strength=0
    )
    assert flat.weights.tolist() == [[1, 1, 1]]
    equal = compute_token_weights([[0.1, 0.1, 0.1]])
    assert equal.weights == pytest.approx(np.ones((1, 3)))
    assert not equal.critical.any()


def test_the_critical_tokens_are_shown_with_their_reasons():
    found = compute_token_weights([[0.0, 1.2, 0.0, 0.0]], [[1, 0, 0, 0]], mask=[[1, 1, 1, 0]])
    # Mean information 0.4: raw 2, 1 + 1.2 / 1.6 = 1.75, 1; mean 1.5833.
    shown = found.describe(names=[["city,", "Oslo", "a", ""]])
    assert shown == (
        "2 of 3 tokens are critical: mean weight 1.18, of the others 0.63\n"
        "row 0, token 0 city,: weight 1.26, information 0.00 nats, column begins\n"
        "row 0, token 1 Oslo: weight 1.11, information 1.20 nats"
    )
    assert len(found.describe(most=1).splitlines()) == 2
    assert found.figures == {
        "token_weight/critical_share": pytest.approx(2 / 3),
        "token_weight/max": pytest.approx(2 / 1.583333, abs=1e-5),
    }


def test_without_a_token_nothing_is_critical():
    found = compute_token_weights([[NAN]], mask=[[0]])
    assert found.weights.tolist() == [[0]]
    assert found.describe() == "0 of 0 tokens are critical"
    assert found.figures == {}
    assert compute_information([[[NAN, NAN]]], mask=[[0]]).tolist() == [[0]]


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: compute_token_weights(), "expected information, boundaries or both"),
        (
            lambda: compute_token_weights([1], [1, 0]),
            "expected information, boundaries or both, in one",
        ),
        (lambda: compute_token_weights([NAN]), "information is nan at row 0"),
        (lambda: compute_token_weights([-1]), "information holds -1.0; expected nats, 0 or more"),
        (
            lambda: compute_token_weights(boundaries=[3]),
            "boundaries holds other values than 0 and 1",
        ),
        (lambda: compute_token_weights([1], boundary_strength=-1), "boundary_strength is -1"),
        (lambda: compute_token_weights([1]).describe(names=["a", "b"]), r"names have shape \(2,\)"),
        (lambda: compute_information([[0.5, 0.5]]), r"expected \(rows, tokens, classes\)"),
        (
            lambda: compute_information([[[0.5, 0.4]]]),
            "at row 0, token 0 are none: expected numbers",
        ),
        (lambda: compute_information([[[1]]], "next"), "against is 'next'; expected marginal"),
        (lambda: mark_boundaries([1, 2]), r"columns have shape \(2,\); expected \(rows, tokens\)"),
    ],
)
def test_what_cannot_be_is_refused(make, sentence):
    with pytest.raises(UsageError, match=sentence):
        make()
