"""Temperatures that undo known over-confidence, rules that get the weight they deserve."""

import numpy as np
import pytest

from aegir.annotators.combined import (
    apply_verdicts,
    reweigh_relations,
    rule_out_relations,
    usual_types,
)
from aegir.annotators.rules.judge import Verdict
from aegir.training.calibrate import (
    HeldOut,
    RuledTypes,
    Tempered,
    cross_fitted,
    fit_relations,
    fit_rules,
    fit_temperature,
    stack,
)
from aegir.vocabulary.terms import TYPE_INDEX, TYPE_NAMES


def held_out(columns: int = 4000, sharpness: float = 1.0, seed: int = 0) -> HeldOut:
    """Labels drawn from softmax(logits); the model then reports its logits times `sharpness`."""
    generator = np.random.default_rng(seed)
    logits = generator.normal(0, 2, (columns, 6)).astype(np.float32)
    noise = generator.gumbel(size=logits.shape)
    labels = (logits + noise).argmax(axis=1)
    return HeldOut(
        logits * np.float32(sharpness), labels, np.arange(columns) // 3, (Verdict(),) * columns
    )


@pytest.mark.parametrize("sharpness", [0.5, 1.0, 2.0])
def test_the_temperature_undoes_known_overconfidence(sharpness: float):
    for seed in range(3):
        fitted = fit_temperature(held_out(sharpness=sharpness, seed=seed))
        assert fitted.temperature == pytest.approx(sharpness, rel=0.12)


def test_cross_fitting_makes_confidence_honest():
    data = held_out(sharpness=2.5)
    judged = cross_fitted(data, fit_temperature)
    raw = cross_fitted(data, lambda _: Tempered(1.0))
    assert judged.ece < 0.025 < 0.1 < raw.ece
    assert judged.micro_f1 == raw.micro_f1  # a temperature changes no answer
    assert judged.columns == 4000


def test_thresholds_of_a_judgement_rise_with_the_wanted_precision():
    judged = cross_fitted(held_out(), fit_temperature)
    wanted, thresholds, coverage = zip(*judged.thresholds, strict=True)
    assert len(wanted) > 10
    assert list(wanted) == sorted(wanted)
    assert list(thresholds) == sorted(thresholds)
    assert list(coverage) == sorted(coverage, reverse=True)


def test_rules_that_are_right_get_weight_and_rules_that_are_wrong_get_none():
    generator = np.random.default_rng(1)
    labels = generator.integers(0, len(TYPE_NAMES), 600)
    logits = generator.normal(0, 1, (600, len(TYPE_NAMES))).astype(np.float32)
    tables = np.arange(600)

    def with_support(answers: np.ndarray) -> HeldOut:
        verdicts = tuple(Verdict(support=((TYPE_NAMES[a], 1.0),)) for a in answers)
        return HeldOut(logits, labels, tables, verdicts)

    right = fit_rules(with_support(labels))
    wrong = fit_rules(with_support((labels + 1) % len(TYPE_NAMES)))
    assert right.rule_weight == 6.0
    assert wrong.rule_weight == 0.0


def test_support_raises_a_type_and_a_veto_ends_it():
    types = np.full((1, len(TYPE_NAMES)), 1 / len(TYPE_NAMES), np.float32)
    verdict = Verdict(support=(("email", 0.4),), vetoes=frozenset({"URL"}))
    told = apply_verdicts(types, [verdict], weight=5.0, temperature=1.0)[0]
    others = told[TYPE_INDEX["price"]]
    assert told[TYPE_INDEX["email"]] == pytest.approx(others * np.exp(2), rel=1e-4)
    assert told[TYPE_INDEX["URL"]] == 0
    # 80 types of weight 1, one of e^2, and the vetoed one of weight 1, whose share is lost
    assert told.sum() == pytest.approx(1 - 1 / (81 + np.exp(2)), abs=1e-5)


def test_what_is_vetoed_is_shared_out_only_where_a_rule_knows_better():
    types = np.full((1, len(TYPE_NAMES)), 1 / len(TYPE_NAMES), np.float32)
    knows = Verdict(support=(("email", 0.5),), vetoes=frozenset({"URL"}))
    assert apply_verdicts(types, [knows], 1.0, 1.0)[0].sum() == pytest.approx(1, abs=1e-5)
    doubts = Verdict(vetoes=frozenset({"URL"}))
    assert apply_verdicts(types, [doubts], 1.0, 1.0)[0].sum() == pytest.approx(81 / 82, abs=1e-5)


def test_a_veto_of_everything_is_ignored():
    types = np.eye(len(TYPE_NAMES), dtype=np.float32)[:1]
    told = apply_verdicts(types, [Verdict(vetoes=frozenset(TYPE_NAMES))], 1.0, 1.0)
    assert told[0] == pytest.approx(types[0], abs=1e-6)


def test_stacked_folds_keep_their_tables_apart():
    one, two = held_out(6), held_out(3, seed=1)
    both = stack([one, two])
    assert both.table.tolist() == [0, 0, 0, 1, 1, 1, 2, 2, 2]
    assert len(both) == len(both.verdicts) == 9
    assert both.part(both.table == 2).labels.tolist() == two.labels.tolist()


def test_a_relation_is_believed_as_far_as_the_type_allows():
    # Two relations, equally likely; the first goes with type 0 only, the second with type 1 only.
    relations = np.array([[0.5, 0.5]], np.float32)
    types = np.array([[0.9, 0.1]], np.float32)
    told = reweigh_relations(relations, types, np.eye(2, dtype=np.float32), 1.0, 1.0)[0]
    # 0.5 * (0.9 + 0.03), 0.5 * (0.1 + 0.03), and 0.02 for no relation, over their sum 0.55
    assert told == pytest.approx([0.465 / 0.55, 0.065 / 0.55], rel=1e-4)


def test_where_no_relation_fits_the_type_none_is_likely():
    relations = np.array([[1.0, 0.0]], np.float32)
    types = np.array([[0.0, 1.0]], np.float32)
    told = reweigh_relations(relations, types, np.eye(2, dtype=np.float32), 1.0, 1.0)[0]
    assert told[0] == pytest.approx(0.03 / 0.05, rel=1e-3)  # 1 * 0.03 against 0.02 for none
    assert told.sum() < 0.61


def test_relations_that_follow_the_types_earn_weight():
    generator = np.random.default_rng(2)
    labels = generator.integers(0, 4, 900)
    sure_types = 6 * np.eye(4, dtype=np.float32)[labels]
    vague = generator.normal(0, 1, (900, 4)).astype(np.float32)
    data = HeldOut(vague, labels, np.arange(900), (Verdict(),) * 900, sure_types)
    types = RuledTypes(Tempered(1.0), 0.0, 1.0)
    fitted = fit_relations(data, types, np.eye(4, dtype=np.float32))
    assert fitted.weight >= 1.0
    assert (fitted(data).argmax(axis=1) == labels).mean() > 0.95
    assert (vague.argmax(axis=1) == labels).mean() < 0.4


def test_a_relation_falls_with_the_types_its_columns_have():
    relations = np.array([[0.6, 0.3, 0.1]], np.float32)
    compatibility = np.zeros((3, len(TYPE_NAMES)), np.float32)
    compatibility[0, TYPE_INDEX["telephone"]] = 1.0
    compatibility[1, [TYPE_INDEX["telephone"], TYPE_INDEX["price"]]] = 0.8, 0.2
    compatibility[2] = 1.0  # nothing is known of its columns
    verdict = Verdict(vetoes=frozenset({"telephone"}))
    told = rule_out_relations(relations, [verdict], usual_types(compatibility))[0]
    assert told.tolist() == [0.0, *relations[0, 1:].tolist()]
