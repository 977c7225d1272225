"""Temperatures that undo known over-confidence; weights of rules and of two models."""

import json
from pathlib import Path

import numpy as np
import pytest

from aegir.annotators.calibration import ByteCalibration
from aegir.annotators.combined import (
    apply_verdicts,
    reweigh_relations,
    rule_out_relations,
    type_shares,
)
from aegir.annotators.rules.judge import Verdict
from aegir.data.sources import TrainingTable, read_training_tables
from aegir.training.calibrate import (
    RuledTypes,
    Tempered,
    calibrate_bytes,
    calibrate_folds,
    cross_fitted,
    fit_mixer,
    fit_relations,
    fit_rules,
    fit_temperature,
    scores_per_class,
)
from aegir.training.held_out import ANSWERS, HeldOut, column_names, save_answers, stack
from aegir.vocabulary.terms import RELATION_NAMES, TYPE_INDEX, TYPE_NAMES
from synthetic_labels import MAKERS, write_synthetic_tables


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
    told = rule_out_relations(relations, [verdict], type_shares(compatibility))[0]
    assert told.tolist() == [0.0, *relations[0, 1:].tolist()]


COLUMNS, CLASSES = 3000, 12


def two_witnesses(first: float, second: float, seed: int = 0) -> tuple[HeldOut, HeldOut]:
    """Answers of two models with independent noise; a larger signal knows more."""
    random = np.random.default_rng(seed)
    labels = random.integers(CLASSES, size=COLUMNS)
    truth = np.eye(CLASSES, dtype=np.float32)[labels]
    names = tuple(f"t/{i}#0" for i in range(COLUMNS))
    made = [
        (signal * truth + random.standard_normal(truth.shape)).astype(np.float32) * np.float32(2)
        for signal in (first, second)
    ]
    one, other = (
        HeldOut(logits, labels, np.arange(COLUMNS), type_logits=logits, names=names)
        for logits in made
    )
    return one, other


@pytest.mark.parametrize("seed", range(3))
def test_independent_witnesses_are_both_believed_and_know_more_together(seed: int):
    one, other = two_witnesses(3.0, 1.5, seed)
    mixer = fit_mixer(one, other)
    assert min(mixer.weights) >= 0.8  # temperatures have made each worth what it says
    mixed = mixer(one.logits, other.logits)
    alone = (one.logits.argmax(axis=1) == one.labels).mean()
    assert (mixed.argmax(axis=1) == one.labels).mean() > alone + 0.02


def test_the_same_witness_twice_is_believed_once():
    one, _ = two_witnesses(3.0, 1.5)
    assert sum(fit_mixer(one, one).weights) == pytest.approx(1.0, abs=0.15)


def test_a_witness_who_knows_nothing_is_not_asked():
    first, second = fit_mixer(*two_witnesses(3.0, 0.0)).weights
    assert first >= 0.9
    assert second <= 0.1


def test_temperatures_and_figures_of_the_byte_network_alone():
    _, answers = two_witnesses(3.0, 3.0)
    temperatures, figures = calibrate_bytes({"cta": answers})
    assert temperatures["cpa"] == 1.0  # nothing was held out for relations
    assert temperatures["cta"] != 1.0
    assert figures["byte_model/cta"].columns == COLUMNS
    assert figures["byte_model/cta"].ece < 0.03


def test_scores_per_class_count_what_was_wanted_and_what_was_given():
    logits = np.zeros((4, len(TYPE_NAMES)), np.float32)
    logits[[0, 1, 2], 0] = 1  # three columns are called the first type, one of them wrongly
    logits[3, 1] = 1
    held_out = HeldOut(logits, np.array([0, 0, 1, 1]), np.arange(4))
    scores = scores_per_class({"cta": held_out})["cta"]
    assert scores[TYPE_NAMES[0]] == [2, 0.667, 1.0, 0.8]
    assert scores[TYPE_NAMES[1]] == [2, 1.0, 0.5, 0.667]


def answers_about(tables: list[TrainingTable], seed: int) -> dict[str, HeldOut]:
    """Noisy logits for every labelled column of the tables."""
    random = np.random.default_rng(seed)
    types = [TYPE_INDEX[name] for one in tables for name in one.labelled.types if name]
    relations = [
        RELATION_NAMES.index(name) if name else 0
        for one in tables
        for name in one.labelled.relations
    ]
    names = tuple(name for one in tables for name in column_names(one))
    table = np.repeat(np.arange(len(tables)), 3)
    logits = {
        count: (3 * np.eye(count)[labels] + random.standard_normal((len(labels), count))).astype(
            np.float32
        )
        for count, labels in ((len(TYPE_NAMES), types), (len(RELATION_NAMES), relations))
    }
    first, second = logits.values()
    related = np.arange(len(names)) % 3 > 0  # the first column of each table is its subject
    return {
        "cta": HeldOut(first, np.array(types), table, type_logits=first, names=names),
        "cpa": HeldOut(second, np.array(relations), table, type_logits=first, names=names).part(
            related
        ),
    }


def test_fold_runs_and_n_grams_are_calibrated_into_one_file(tmp_path: Path):
    write_synthetic_tables(tmp_path / "made_up_val.jsonl", 40, seed=1)
    data = [tmp_path / "made_up_val.jsonl"]
    tables = read_training_tables(data)
    for fold, part in enumerate((tables[:20], tables[20:])):
        (tmp_path / f"fold-{fold}").mkdir()
        save_answers(tmp_path / f"fold-{fold}" / ANSWERS, answers_about(part, fold))
    save_answers(tmp_path / "ngrams", answers_about(tables, 2))
    folds = [tmp_path / "fold-0", tmp_path / "fold-1"]
    figures = calibrate_folds(folds, data, tmp_path / "ngrams", tmp_path / "new" / "out.json")
    written = json.loads((tmp_path / "new" / "out.json").read_text())
    calibration = ByteCalibration.from_json(written["calibration"])
    assert calibration.mixture is not None
    assert calibration.as_json() == written["calibration"]
    assert list(written["held_out"]) == list(figures)
    assert figures["combined/cta"].columns == 120
    assert figures["combined/cpa"].columns == figures["ngrams+rules/cpa"].columns == 80
    assert figures["combined/cta"].micro_f1 > figures["byte_model/cta"].micro_f1
    assert set(written["per_class"]["cta"]) == set(MAKERS)
