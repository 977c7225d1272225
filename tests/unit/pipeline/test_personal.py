"""Personal data by the rule: what the label says, whose rows they are, and what was learnt."""

import numpy as np
import pytest

from aegir.answers.annotation import ColumnAnnotation
from aegir.pipeline.decide import decide
from aegir.readers.calibration import IDENTIFYING, OperatingPoints, Thresholds
from aegir.readers.scores import Explanation, TableScores
from aegir.tables.table import Column, Table
from aegir.vocabulary.terms import (
    FINE_INDEX,
    FINE_NAMES,
    PERSON_STATES,
    PERSONAL_LEVELS,
    RELATION_NAMES,
    ROW_NAMES,
    TYPE_INDEX,
    TYPE_NAMES,
)

SELF, LINKED, NOBODY = {"self": 0.95}, {"linked": 0.95}, {"none": 0.95}
VALUES = ("a1", "b2", "c3", "d4")


def probabilities(names, known: dict[str, float]) -> np.ndarray:
    array = np.zeros(len(names), np.float32)
    for name, each in known.items():
        array[names.index(name)] = each
    return array


def answer(
    fine: str | None,
    learnt: dict[str, float],
    person: dict[str, float] | None,
    *,
    row: str | None = None,
    type_name: str | None = None,
    special: float | None = None,
    header: str = "c",
    values: tuple[str, ...] = VALUES,
    web: float = 0.1,
    limits: Thresholds | None = None,
) -> ColumnAnnotation:
    """The answer for a column beside another, from made-up probabilities."""
    shape = np.zeros((2, len(FINE_NAMES)), np.float32)
    types = np.zeros((2, len(TYPE_NAMES)), np.float32)
    if fine:
        shape[0, FINE_INDEX[fine]] = 0.97
    if type_name:
        types[0, TYPE_INDEX[type_name]] = 0.97
    levels = np.zeros((2, 4), np.float32)
    levels[0, 1:] = probabilities(PERSONAL_LEVELS, learnt)
    levels[:, 0] = 1 - levels.sum(axis=1)
    scores = TableScores(
        types,
        np.zeros((2, len(RELATION_NAMES)), np.float32),
        None,
        (Explanation(),) * 2,
        fine=shape,
        levels=levels,
        special=None if special is None else np.array([special, 0], np.float32),
        rows=None if row is None else probabilities(ROW_NAMES, {row: 0.9}),
        person=None if person is None else probabilities(PERSON_STATES, person),
        web=web,
    )
    table = Table("t", (Column(header, values), Column("other", VALUES[: len(values)])))
    return decide(table, scores, "fake", limits).columns[0]


def test_the_learnt_level_is_answered_with_what_rows_are():
    city = answer("city", {"indirect": 0.8, "about": 0.1}, SELF)
    assert (city.personal, city.personal_level) == (True, "indirect")
    assert city.personal_reason == "where someone lives or works; rows are persons"
    assert city.personal_confidence == pytest.approx(0.9)
    assert city.identifying_confidence == pytest.approx(0.8)
    score = answer("score", {"about": 0.9}, LINKED)
    assert (score.personal_level, score.identifying_confidence) == ("about", 0)
    assert score.personal_reason == "tells something about a person; rows belong to persons"


@pytest.mark.parametrize(
    ("header", "level"), [("patient_id", "direct"), ("order_id", "about"), ("id", "direct")]
)
def test_a_key_is_that_of_the_noun_in_its_header(header: str, level: str):
    learnt = {"direct": 0.5, "about": 0.4}
    assert answer("primary_key", learnt, LINKED, header=header).personal_level == level


def test_a_key_of_things_is_not_personal_in_rows_of_nobody():
    assert not answer("primary_key", {"direct": 0.9}, NOBODY, header="order_id").personal
    assert answer("primary_key", {"direct": 0.9}, NOBODY, header="id").personal


def test_in_rows_of_nobody_nothing_is_indirect_or_about():
    city = answer("city", {"indirect": 0.8}, NOBODY)
    assert not city.personal
    assert city.personal_confidence == pytest.approx(0.05)


@pytest.mark.parametrize("fine", ["full_name", "person_id", "national_id", "payment_card"])
def test_names_and_numbers_of_persons_are_direct_in_any_table(fine: str):
    column = answer(fine, {}, NOBODY, row="statistic")
    assert (column.personal, column.personal_level) == (True, "direct")
    assert column.personal_confidence == pytest.approx(0.97)
    assert "rows" not in (column.personal_reason or "")


@pytest.mark.parametrize(
    "fine", ["date_of_birth", "gender", "ethnicity", "marital_status", "nationality", "age"]
)
def test_what_the_label_says_of_persons_holds_unless_rows_visibly_are_no_persons(fine: str):
    column = answer(fine, {"about": 0.2}, {"none": 0.6, "self": 0.4})
    assert (column.personal, column.personal_level) == (True, "indirect")
    assert column.identifying_confidence == pytest.approx(column.personal_confidence)
    counted = answer(fine, {"indirect": 0.1}, NOBODY, row="statistic")
    assert not counted.personal
    assert counted.reasons[-1] == "not personal: rows are statistics"
    unsure = answer(fine, {"indirect": 0.1}, {"none": 0.7}, row="statistic")
    assert unsure.personal_level == "indirect"


@pytest.mark.parametrize("fine", ["telephone_number", "street_address", "customer_id"])
def test_contacts_and_keys_of_organisations_are_not_personal(fine: str):
    assert answer(fine, {}, SELF).personal
    firm = answer(fine, {"direct": 0.2}, NOBODY, row="organisation")
    assert not firm.personal
    assert firm.reasons[-1] == "not personal: rows are organisations"
    assert not answer(fine, {}, {"none": 0.6}).personal
    assert answer(fine, {"direct": 0.8}, NOBODY).personal  # a learnt exception


def test_a_level_never_contradicts_the_term():
    assert answer("full_name", {"about": 0.9}, SELF).personal_level == "direct"
    assert answer("age", {"direct": 0.5, "about": 0.4}, SELF).personal_level == "indirect"
    assert answer("disease", {"direct": 0.9}, SELF).personal_level == "about"
    assert answer("primary_key", {"direct": 0.9}, SELF).personal_level == "direct"
    assert answer("order_number", {"about": 0.9}, LINKED).personal_level == "about"
    assert answer("isbn", {"direct": 0.6, "about": 0.3}, LINKED).personal_level == "about"
    assert answer("foreign_key", {"direct": 0.6, "about": 0.3}, LINKED).personal_level == "direct"


@pytest.mark.parametrize("values", [("x",) * 4, ("",) * 4])
def test_a_constant_or_empty_column_is_never_about(values):
    assert not answer("score", {"about": 0.95}, SELF, values=values).personal
    assert answer("gender", {"indirect": 0.9}, SELF, values=values).personal_level == "indirect"


def test_the_only_row_of_a_table_is_no_constant():
    assert answer("score", {"about": 0.95}, SELF, values=("3",)).personal_level == "about"


def test_without_probabilities_of_rows_the_learnt_levels_decide():
    assert answer("city", {"indirect": 0.8}, None).personal_level == "indirect"
    assert not answer("city", {"indirect": 0.3}, None).personal
    assert answer("date_of_birth", {}, None).personal_level == "indirect"


def test_the_contacts_in_a_web_table_of_organisations_are_not_personal():
    phone = answer(None, {}, NOBODY, row="organisation", type_name="telephone", web=0.9)
    assert not phone.personal
    assert phone.reasons[-1] == "not personal: rows are organisations"
    assert answer(None, {}, SELF, type_name="telephone", web=0.9).personal_level == "direct"
    assert answer(None, {}, NOBODY, type_name="Person/name", web=0.9).personal_level == "direct"


@pytest.mark.parametrize(
    ("fine", "header", "special", "category"),
    [
        ("disease", "c", None, "health"),
        ("boolean_flag", "smoker", None, "health"),
        ("boolean_flag", "union_member", 0.3, "union"),
        ("category_label", "Konfession", 0.9, "religion"),
        ("category_label", "Religion", 0.05, "religion"),  # a name that leaves no doubt
        ("boolean_flag", "x1", 0.9, None),
        ("genetic_variant", "rs12", 0.0, "genetic"),
    ],
)
def test_special_categories_by_term_by_header_or_learnt(fine, header, special, category):
    column = answer(fine, {"about": 0.9}, SELF, header=header, special=special)
    assert (column.special, column.special_category) == (True, category)


@pytest.mark.parametrize(
    ("fine", "header", "special"),
    [
        ("boolean_flag", "smoker", 0.1),  # learnt to be none
        ("boolean_flag", "x1", 0.4),
        ("foreign_key", "diagnosis_id", None),
        ("primary_key", "Religion", 0.05),
        ("score", "points", None),
    ],
)
def test_other_personal_columns_are_not_special(fine, header, special):
    column = answer(fine, {"about": 0.9}, SELF, header=header, special=special)
    assert (column.personal, column.special, column.special_category) == (True, False, None)


def test_what_is_not_personal_is_not_special():
    column = answer("disease", {}, NOBODY, row="statistic", special=0.9)
    assert (column.personal, column.special, column.special_category) == (False, False, None)


def test_nothing_identifies_below_the_threshold():
    limits = Thresholds(identifying=0.9)
    sure = answer("city", {"indirect": 0.92}, SELF, limits=limits)
    assert sure.personal_level == "indirect"
    unsure = answer("city", {"indirect": 0.8}, SELF, limits=limits)
    assert (unsure.personal, unsure.personal_level) == (False, None)
    assert unsure.reasons[-1] == "identifies persons with probability 0.80, less than asked for"
    assert answer("score", {"about": 0.6}, SELF, limits=limits).personal_level == "about"


def test_what_is_surely_personal_but_may_not_identify_is_about_a_person():
    limits = Thresholds(identifying=0.9)
    column = answer("category_label", {"indirect": 0.6, "about": 0.35}, SELF, limits=limits)
    assert (column.personal, column.personal_level) == (True, "about")
    assert column.personal_reason == "tells something about a person"
    assert column.reasons[-1] == "identifies persons with probability 0.60, less than asked for"
    age = answer("age", {"indirect": 0.6, "about": 0.35}, {"self": 0.8}, limits=limits)
    assert age.personal_level != "about"
    learnt = {"indirect": 0.6, "about": 0.35}
    constant = answer("category_label", learnt, SELF, values=("a", "a", "a"), limits=limits)
    assert not constant.personal


def test_the_threshold_of_identifying_columns_is_read_where_it_was_calibrated():
    row = {"thresholds": [[0.9, 0.6, 1.0], [0.95, 0.8, 0.9]]}
    known = {f"ngrams/{task}": row for task in ("cta", "cpa", "cta@open", "cpa@open")}
    absent = OperatingPoints.from_facts({"held_out": known}, "ngrams").thresholds(0.95)
    assert (absent.on(0.0).identifying, absent.on(1.0).identifying) == (0.0, 0.0)
    reached = {"thresholds": [[0.9, 0.55, 1.0], [0.95, 0.7, 0.9]]}
    facts = {"held_out": {**known, f"ngrams/{IDENTIFYING}": reached}}
    limits = OperatingPoints.from_facts(facts, "ngrams").thresholds(0.95)
    assert (limits.on(0.0).identifying, limits.on(1.0).identifying) == (0.7, 0.7)
