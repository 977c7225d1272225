"""How two models are mixed: weights of the web, of everyday tables, and in between; figures worked out by hand."""

from dataclasses import asdict, replace

import numpy as np
import pytest

from aegir.readers.mixing import (
    FAILING_TRUST,
    Mixing,
    Powers,
    RuleTrust,
    Weights,
    log_odds,
    per_column,
)
from aegir.vocabulary.terms import FINE_INDEX, FINE_NAMES
from aegir_rl.base.errors import UsageError

WEB = Weights((1.0, 0.0), (1.0, 0.0), (1.0, 0.0), 0.0)
EVERYDAY = Weights((0.0, 1.0), (0.0, 1.0), (0.0, 2.0), 0.5)
MIXING = Mixing(WEB, EVERYDAY)
FIRST = np.array([[0.7, 0.2]], np.float32)
SECOND = np.array([[0.1, 0.3]], np.float32)


def at(web: float) -> np.ndarray:
    return np.array([web], np.float32)


def test_the_web_and_everyday_tables_have_weights_of_their_own():
    assert MIXING.mix("types", FIRST, SECOND, at(1)) == pytest.approx(FIRST, abs=1e-4)
    assert MIXING.mix("types", FIRST, SECOND, at(0)) == pytest.approx(SECOND, abs=1e-4)


def test_a_table_in_between_gets_weights_in_between():
    # sqrt(0.7 * 0.1), sqrt(0.2 * 0.3), and none sqrt(0.1 * 0.6), over their sum
    powers = np.sqrt([0.07, 0.06, 0.06])
    mixed = MIXING.mix("types", FIRST, SECOND, at(0.5))
    assert mixed[0] == pytest.approx(powers[:2] / powers.sum(), abs=1e-4)


def test_a_weight_above_1_sharpens():
    powers = np.array([0.01, 0.09, 0.36])
    mixed = MIXING.mix("fine", FIRST, SECOND, at(0))
    assert mixed[0] == pytest.approx(powers[:2] / powers.sum(), abs=1e-4)


def test_powers_sharpen_levels_and_persons_and_shift_special_categories():
    powers = Powers(levels=2.0, person=2.0, special=(1.0, 0.5))
    levels = powers.apply("levels", np.array([[0.5, 0.25, 0.0]], np.float32))
    assert levels[0] == pytest.approx([0.25 / 0.375, 0.0625 / 0.375, 0.0], abs=1e-4)
    person = powers.apply("person", np.array([[0.5, 0.25, 0.25]], np.float32))
    assert person[0] == pytest.approx([0.25 / 0.375, 0.0625 / 0.375, 0.0625 / 0.375], abs=1e-4)
    odds = 0.25 * np.exp(0.5)  # those of 0.2, times e^0.5
    assert powers.apply("special", np.array([0.2], np.float32)) == pytest.approx(
        [odds / (1 + odds)], abs=1e-4
    )
    assert np.isfinite(log_odds(np.array([0, 1], np.float32))).all()


@pytest.mark.parametrize(
    "wrong", [None, {}, {"levels": 1e9, "rows": 1, "person": 1, "special": [1, 0]}]
)
def test_powers_that_cannot_be_are_refused(wrong: object):
    with pytest.raises(UsageError, match="powers"):
        Powers.from_json(wrong)


def test_fine_types_speak_for_types_as_far_as_their_share_goes():
    types, fine = np.array([[0.6, 0.2]], np.float32), np.array([[0.5]], np.float32)
    # the fine type goes with the first type half of the time and has none otherwise; no fine type: the second
    of_fine = np.array([[0.5, 0, 0.5], [0, 1, 0]], np.float32)
    assert MIXING.with_fine(types, fine, of_fine, at(1)) == pytest.approx(types)
    # half of (0.6, 0.2) and half of 0.5 * (0.5, 0) + 0.5 * (0, 1)
    assert MIXING.with_fine(types, fine, of_fine, at(0))[0] == pytest.approx([0.425, 0.35])


def test_probabilities_of_types_are_sharpened_none_of_them_included():
    sharp = Mixing(WEB, replace(WEB, sharpness=2.0))
    types, fine = np.array([[0.6, 0.2]], np.float32), np.zeros((1, 1), np.float32)
    of_fine = np.full((2, 3), 1 / 3, np.float32)
    powers = np.array([0.36, 0.04, 0.04])
    found = sharp.with_fine(types, fine, of_fine, at(0))[0]
    assert found == pytest.approx(powers[:2] / powers.sum(), abs=1e-5)


def test_a_table_says_once_per_column_what_it_is():
    assert per_column([0.5, 1.0, 0.25], [2, 0, 1]).tolist() == [0.5, 0.5, 0.25]
    assert per_column([], []).tolist() == []


def test_what_is_written_as_json_is_read_again():
    assert Mixing.from_json(asdict(MIXING)) == MIXING


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        (None, "no mixture for web and everyday tables"),
        ([], "no mixture for web and everyday tables"),
        ({"web": asdict(WEB)}, "no mixture for web and everyday tables"),
        ({"web": asdict(WEB), "everyday": None}, "no weights of a mixture"),
        ({"web": asdict(WEB), "everyday": {"types": [1, 1]}}, "no weights of a mixture"),
        ({"web": asdict(WEB) | {"types": "ab"}, "everyday": asdict(WEB)}, "no weights"),
        ({"web": asdict(WEB) | {"fine": [1, 1, 1]}, "everyday": asdict(WEB)}, "two per part"),
        ({"web": asdict(WEB) | {"types": [1, float("nan")]}, "everyday": {}}, "not finite"),
        (asdict(Mixing(WEB, replace(WEB, via_fine=-0.1))), "a share from 0 to 1"),
        (asdict(Mixing(WEB, replace(WEB, sharpness=0.0))), "a number above 0"),
    ],
)
def test_other_json_is_refused_in_one_sentence(given: object, reason: str):
    with pytest.raises(UsageError, match=reason) as refused:
        Mixing.from_json(given)
    assert "\n" not in str(refused.value)


def test_what_a_rule_names_gets_its_trust_and_the_others_share_the_rest():
    fine = np.zeros((3, len(FINE_NAMES)), np.float32)
    isbn, gtin = FINE_INDEX["isbn"], FINE_INDEX["gtin"]
    fine[:, isbn], fine[:, gtin] = 0.2, 0.4
    trust = RuleTrust(dict.fromkeys(FINE_NAMES, 0.0) | {"isbn": 0.75})
    found = trust.apply(fine, ["isbn", None, "gtin"])
    np.testing.assert_allclose(found[0, [isbn, gtin]], [0.25 * 0.2 + 0.75, 0.25 * 0.4])
    np.testing.assert_array_equal(found[1:], fine[1:])


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        (None, "no trust in rules"),
        ({"shares": 3}, "no trust in rules"),
        ({"shares": {}}, "is None; expected a share"),
        ({"shares": dict.fromkeys(FINE_NAMES, 1.5)}, "is 1.5; expected a share from 0 to 1"),
        ({"shares": dict.fromkeys(FINE_NAMES, float("nan"))}, "is nan; expected a share"),
    ],
)
def test_a_trust_that_cannot_be_read_is_refused(given: object, reason: str):
    with pytest.raises(UsageError, match=reason):
        RuleTrust.from_json(given)


def test_a_rule_whose_values_fail_their_check_digit_is_trusted_less():
    trust = RuleTrust(dict.fromkeys(FINE_NAMES, 0.95))
    fine = np.zeros((2, len(FINE_NAMES)), np.float32)
    sure, failing = trust.apply(fine, ["payment_card", "payment_card"], [0.0, 1.0])
    place = FINE_INDEX["payment_card"]
    assert sure[place] == pytest.approx(0.95)
    assert failing[place] == pytest.approx(FAILING_TRUST)
