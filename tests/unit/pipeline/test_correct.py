"""The pipeline with random weights: a mixture, corrections by rules on tables of the web, and who said what."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from aegir.pipeline.batch import _explain_mixture
from aegir.pipeline.correct import (
    _explain,
    _overruled,
    _reasons_for,
    apply_verdicts,
    reweigh_relations,
    rule_out_phone_names,
    rule_out_phones,
    rule_out_relations,
    type_shares,
)
from aegir.pipeline.pipeline import Pipeline
from aegir.pipeline.plan import WHOLE_TABLES, TablePlan
from aegir.readers.bytes.annotator import ByteModelAnnotator
from aegir.readers.bytes.network import ByteModel
from aegir.readers.calibration import ByteCalibration, Mixture
from aegir.readers.mixing import Mixing, Weights
from aegir.readers.ngrams.annotator import NgramsAnnotator
from aegir.readers.ngrams.model import NgramModel
from aegir.readers.rules.judge import RuleVerdict, judge_columns
from aegir.readers.scores import NO_VALUES, Explanation, Probabilities, TableScores
from aegir.tables.table import Column, Table
from aegir.vocabulary.terms import (
    FINE_INDEX,
    FINE_NAMES,
    RELATION_INDEX,
    RELATION_NAMES,
    TYPE_INDEX,
    TYPE_NAMES,
)
from aegir_rl.base.errors import UsageError
from byte_models import annotating_checkpoint
from ngram_models import EVERYDAY, MIXING, NO_TRUST, PEOPLE, TABLES, TRUST, random_model

LEARNT = Explanation(None, ("header points to price",))
PARTS = ("types", "relations", "fine", "personal")


def byte_annotator(mixture: Mixture | None) -> ByteModelAnnotator:
    calibration = ByteCalibration({"cta": 1.0, "cpa": 2.0}, mixture)
    facts: dict[str, Any] = {"calibration": calibration.as_json(), "held_out": {}}
    return ByteModelAnnotator(ByteModel(annotating_checkpoint(facts)))


def combined(mixture: Mixture) -> Pipeline:
    return Pipeline(
        NgramsAnnotator(random_model()), byte_annotator(mixture), TablePlan(WHOLE_TABLES)
    )


@pytest.fixture(scope="module")
def annotator() -> Pipeline:
    return combined(Mixture(MIXING, TRUST, rule_weight=2.0, compatibility_weight=0.5))


def test_every_part_is_mixed_and_sums_to_at_most_1(annotator: Pipeline):
    for table, scores in zip(TABLES, annotator.score(TABLES), strict=True):
        filled = [bool(column.present or column.name) for column in table.columns]
        assert scores.fine.shape == (len(table.columns), len(FINE_NAMES))
        for part in PARTS[:3]:
            totals = getattr(scores, part).sum(axis=1, dtype=np.float64)
            assert (totals <= 1 + 1e-5).all()
            assert ((totals > 0) == filled).all()
        assert scores.personal is not None
        assert not scores.personal[[not known for known in filled]].any()


def test_a_table_is_scored_the_same_whatever_is_beside_it(annotator: Pipeline):
    together = annotator.score([*TABLES, *[PEOPLE] * 9])
    for table, scores in zip(TABLES, together, strict=False):
        (alone,) = annotator.score([table])
        for part in PARTS:
            assert getattr(alone, part).tobytes() == getattr(scores, part).tobytes()
        assert (alone.web, alone.subject) == (scores.web, scores.subject)
    assert annotator.score([]) == []


def one_sided(pair: tuple[float, float]) -> Mixture:
    """A mixture of one model alone, without rules."""
    weights = Weights(pair, pair, pair, 0.0)
    return Mixture(Mixing(weights, weights), NO_TRUST, rule_weight=0.0, compatibility_weight=0.0)


def score_at(annotator: Pipeline, table: Table, web: float) -> TableScores:
    """With n-grams that take the table for one of the web with this probability."""
    score = annotator.ngrams.score_judged

    def sure(tables: Any, verdicts: Any) -> list[TableScores]:
        return [replace(scores, web=web) for scores in score(tables, verdicts)]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(annotator.ngrams, "score_judged", sure)
        return annotator.score([table])[0]


def without_phones(scores: TableScores, table: Table) -> TableScores:
    """The scores of an everyday table, with telephones ruled out by the rules."""
    verdicts = judge_columns(table.columns)
    types, relations = rule_out_phones(scores.types, scores.relations, verdicts)
    fine = rule_out_phone_names(scores.fine, verdicts)
    return replace(scores, types=types, relations=relations, fine=fine)


def without_trust(model: NgramModel) -> NgramModel:
    return replace(model, calibration=replace(model.calibration, rule_trust=NO_TRUST))


def test_a_model_with_all_the_weight_answers_alone():
    for pair, alone in (
        ((1.0, 0.0), NgramsAnnotator(without_trust(random_model()))),
        ((0.0, 1.0), byte_annotator(None)),
    ):
        expected = without_phones(alone.score([PEOPLE])[0], PEOPLE)
        found = score_at(combined(one_sided(pair)), PEOPLE, 0.0)
        for part in PARTS[:3]:
            assert getattr(found, part) == pytest.approx(getattr(expected, part), abs=2e-4), part


@pytest.mark.parametrize("pair", [(1.0, 0.0), (0.0, 1.0)])
def test_personal_data_is_what_the_ngrams_say(pair: tuple[float, float]):
    expected = NgramsAnnotator(random_model()).score([PEOPLE])[0].personal
    found = score_at(combined(one_sided(pair)), PEOPLE, 0.0).personal
    assert found == pytest.approx(expected, abs=2e-4)


def test_rules_are_applied_again_on_tables_of_the_web_only():
    emails = Table("t", (Column("mail", tuple(f"user{n}@example.org" for n in range(9))),))
    annotator = combined(Mixture(Mixing(EVERYDAY, EVERYDAY), NO_TRUST, 9.0, 1.0))
    email = TYPE_INDEX["email"]
    web, everyday = score_at(annotator, emails, 0.9), score_at(annotator, emails, 0.4)
    assert web.types[0, email] > everyday.types[0, email]
    assert web.types[0, TYPE_INDEX["Date"]] == 0  # no address is one
    assert everyday.types[0, TYPE_INDEX["Date"]] > 0


def test_telephones_are_ruled_out_on_everyday_tables_where_a_rule_names_something_else():
    phones = {"telephone", "faxNumber"}
    code = RuleVerdict((("postalCode", 0.9),), frozenset(phones), "postal_code", 0.95)
    verdicts = [
        code,
        replace(code, fine_type=None),
        replace(code, fine_type="constant"),
        replace(code, vetoes=frozenset()),
    ]
    types = np.zeros((4, len(TYPE_NAMES)), np.float32)
    types[:, [TYPE_INDEX["telephone"], TYPE_INDEX["postalCode"]]] = (0.7, 0.1)
    relations = np.zeros((4, len(RELATION_NAMES)), np.float32)
    relations[:, RELATION_INDEX["telephone"]] = 0.6
    fine = np.zeros((4, len(FINE_NAMES)), np.float32)
    fine[:, [FINE_INDEX["telephone_number"], FINE_INDEX["postal_code"]]] = (0.5, 0.4)
    found, related = rule_out_phones(types, relations, verdicts)
    named = rule_out_phone_names(fine, verdicts)
    assert found[0, TYPE_INDEX["telephone"]] == related[0].sum() == 0
    assert found[0, TYPE_INDEX["postalCode"]] == pytest.approx(0.8)
    assert named[0, FINE_INDEX["postal_code"]] == pytest.approx(0.9)
    for before, after in ((types, found), (relations, related), (fine, named)):
        np.testing.assert_array_equal(before[1:], after[1:])


def test_japanese_postal_codes_of_an_everyday_table_are_not_taken_for_telephones():
    codes = Table("t", (Column("郵便番号", tuple(f"{n}-000{n % 9}" for n in range(101, 112))),))
    annotator = combined(Mixture(Mixing(EVERYDAY, EVERYDAY), NO_TRUST, 0.0, 0.0))
    scores = score_at(annotator, codes, 0.1)
    assert scores.types[0, TYPE_INDEX["telephone"]] == 0
    assert scores.fine is not None
    assert scores.fine[0, FINE_INDEX["telephone_number"]] == 0


def test_weights_that_were_not_calibrated_together_are_refused():
    ngrams = NgramsAnnotator(random_model())
    with pytest.raises(UsageError, match="not calibrated together with n-grams"):
        Pipeline(ngrams, byte_annotator(None), TablePlan(WHOLE_TABLES))


def test_a_byte_network_without_all_parts_is_refused():
    calibration = ByteCalibration({"cta": 1.0, "cpa": 1.0}, one_sided((1.0, 0.0)))
    whole = annotating_checkpoint({"calibration": calibration.as_json()})
    tensors = {
        name: one[:-1] if name.startswith("heads.c") else one
        for name, one in whole.tensors.items()
        if not name.startswith(("heads.fine", "heads.personal"))
    }
    with pytest.raises(UsageError, match=r"tensor heads\.fine\.bias is missing"):
        replace(whole, tensors=tensors)


def test_a_guess_that_the_rules_ruled_out_is_mentioned() -> None:
    verdict = RuleVerdict(vetoes=frozenset({"telephone"}), evidence=("4 of 4 values are numbers",))
    assert _explain(verdict, LEARNT, "telephone").evidence == (
        "4 of 4 values are numbers",
        "the models' first guess, telephone, was ruled out",
    )


def test_a_finding_that_supports_another_type_is_no_reason():
    degrees = Table("t", (Column("f1", tuple(f"0.{n}871" for n in range(11, 20))),))
    annotator = combined(Mixture(Mixing(EVERYDAY, EVERYDAY), NO_TRUST, 0.0, 0.0))
    (verdict,) = judge_columns(degrees.columns)
    assert verdict.argues_for == {"CoordinateAT"}
    scores = score_at(annotator, degrees, 0.1)
    answered = TYPE_NAMES[int(scores.types[0].argmax())]
    given = verdict.evidence[0] in scores.explanations[0].evidence
    assert given == (answered == "CoordinateAT")
    assert _reasons_for(verdict, TYPE_INDEX["CoordinateAT"]) == verdict
    assert verdict.evidence[0] not in _reasons_for(verdict, TYPE_INDEX["Number"]).evidence


def test_a_guess_that_was_outweighed_is_mentioned() -> None:
    assert _explain(RuleVerdict(), LEARNT, "Number").evidence == (
        "the models' first guess was Number",
    )


def test_where_both_agree_each_gives_its_reason() -> None:
    assert _explain(RuleVerdict(evidence=("why",)), LEARNT, None).evidence == (
        "why",
        "header points to price",
    )


def explained(
    web: float, fine: str = "iso_date"
) -> tuple[TableScores, Probabilities, Probabilities]:
    """Scores of n-grams that read one column as a Date and `fine`, with types and fine types of a mixture: City, city."""
    types, names = (
        np.zeros((2, 1, len(all_names)), np.float32) for all_names in (TYPE_NAMES, FINE_NAMES)
    )
    types[0, 0, TYPE_INDEX["Date"]] = types[1, 0, TYPE_INDEX["addressLocality"]] = 0.9
    names[0, 0, FINE_INDEX[fine]] = names[1, 0, FINE_INDEX["city"]] = 0.9
    relations = np.zeros((1, len(RELATION_NAMES)), np.float32)
    ngrams = TableScores(types[0], relations, None, (LEARNT,), fine=names[0], web=web)
    return ngrams, types[1], names[1]


def test_reasons_name_what_both_models_read_not_the_ngrams_alone():
    table = Table("t", (Column("ort", ("Eastmere",)),))
    for web, reason in (
        (0.1, "reads like city by header 'ort', values and table"),
        (0.9, "reads like addressLocality, by n-grams alone like Date"),
    ):
        (explanation,) = _explain_mixture(table, *explained(web))
        assert explanation.evidence == (reason,)
    ngrams, _, fine = explained(web=0.9)
    assert _explain_mixture(table, ngrams, ngrams.types, fine) == (LEARNT,)


def test_a_fine_type_that_the_rules_replaced_was_a_first_guess():
    learnt, types, fine = explained(web=0.1)
    assert _overruled(learnt, learnt, 0) is None
    assert _overruled(learnt, replace(learnt, types=types), 0) == "Date"
    assert _overruled(learnt, replace(learnt, fine=fine), 0) == "iso_date"
    unlikely = replace(learnt, fine=learnt.fine * np.float32(0.5))  # 0.45
    assert _overruled(unlikely, replace(learnt, fine=fine), 0) is None


def test_missing_values_are_mentioned_once() -> None:
    (verdict,) = judge_columns([Column("x", ("", " "))])
    assert _explain(verdict, Explanation(None, (NO_VALUES,)), None).evidence == (
        "every value is missing",
    )


def uniform(total: float = 1.0) -> np.ndarray:
    return np.full((1, len(TYPE_NAMES)), total / len(TYPE_NAMES), np.float32)


def test_support_raises_a_type_and_a_veto_ends_it():
    verdict = RuleVerdict(support=(("email", 0.4),), vetoes=frozenset({"URL"}))
    told = apply_verdicts(uniform(), [verdict], weight=5.0)[0]
    others = told[TYPE_INDEX["price"]]
    assert told[TYPE_INDEX["email"]] == pytest.approx(others * np.exp(2), rel=1e-4)
    assert told[TYPE_INDEX["URL"]] == 0
    # 80 types of weight 1, one of e^2, and the vetoed one of weight 1, whose share is lost
    assert told.sum() == pytest.approx(1 - 1 / (81 + np.exp(2)), abs=1e-5)


def test_what_is_left_for_none_of_the_types_stays():
    told = apply_verdicts(uniform(0.25), [RuleVerdict(support=(("email", 0.4),))], weight=5.0)
    assert told.sum() == pytest.approx(0.25, abs=1e-5)


def test_what_is_vetoed_is_shared_out_only_where_a_rule_knows_better():
    knows = RuleVerdict(support=(("email", 0.5),), vetoes=frozenset({"URL"}))
    assert apply_verdicts(uniform(), [knows], 1.0)[0].sum() == pytest.approx(1, abs=1e-5)
    doubts = RuleVerdict(vetoes=frozenset({"URL"}))
    assert apply_verdicts(uniform(), [doubts], 1.0)[0].sum() == pytest.approx(81 / 82, abs=1e-5)


def test_a_veto_of_everything_is_ignored():
    types = np.eye(len(TYPE_NAMES), dtype=np.float32)[:1]
    told = apply_verdicts(types, [RuleVerdict(vetoes=frozenset(TYPE_NAMES))], 1.0)
    assert told[0] == pytest.approx(types[0], abs=1e-6)


def test_a_relation_is_believed_as_far_as_the_type_allows():
    # Two relations, equally likely; the first goes with type 0 only, the second with type 1 only.
    relations = np.array([[0.4, 0.4]], np.float32)
    types = np.array([[0.9, 0.1]], np.float32)
    told = reweigh_relations(relations, types, np.eye(2, dtype=np.float32), 1.0)[0]
    # 0.4 * (0.9 + 0.03), 0.4 * (0.1 + 0.03), and none, 0.2 times the mean of both factors, over their sum
    powers = np.array([0.4 * 0.93, 0.4 * 0.13, 0.2 * 0.53])
    assert told == pytest.approx(powers[:2] / powers.sum(), rel=1e-4)


def test_without_weight_the_types_change_no_relation():
    relations = np.array([[0.7, 0.1]], np.float32)
    types = np.array([[0.0, 1.0]], np.float32)
    told = reweigh_relations(relations, types, np.eye(2, dtype=np.float32), 0.0)
    assert told == pytest.approx(relations, rel=1e-5)


def test_a_relation_falls_with_the_types_its_columns_have():
    relations = np.array([[0.6, 0.3, 0.1]], np.float32)
    compatibility = np.zeros((3, len(TYPE_NAMES)), np.float32)
    compatibility[0, TYPE_INDEX["telephone"]] = 1.0
    compatibility[1, [TYPE_INDEX["telephone"], TYPE_INDEX["price"]]] = 0.8, 0.2
    compatibility[2] = 1.0  # nothing is known of its columns
    verdict = RuleVerdict(vetoes=frozenset({"telephone"}))
    told = rule_out_relations(relations, [verdict], type_shares(compatibility))[0]
    assert told.tolist() == [0.0, *relations[0, 1:].tolist()]
