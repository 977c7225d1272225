"""Parts of an answer that agree: types, fine types and relations of a column, relations of a table, over made-up scores."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from aegir.answers.annotation import ColumnAnnotation
from aegir.pipeline.agree import AGREEMENT, REPEATED, Strengths, agree
from aegir.pipeline.decide import decide
from aegir.readers.calibration import Thresholds
from aegir.readers.scores import CustomGuess, Explanation, TableScores
from aegir.tables.table import Column, Table
from aegir.vocabulary.hierarchy import goes_with, kind_of, relates
from aegir.vocabulary.terms import FINE_NAMES, RELATION_NAMES, TYPE_NAMES, plain_name

CELLS = ("x", "y", "z")
LIMITS = (None, Thresholds(0.6), Thresholds(0.3, labels=0.8), Thresholds(0.9, labels=0.2))


def filled(names: Sequence[str], rows: Sequence[dict[str, float]]) -> np.ndarray:
    array = np.zeros((len(rows), len(names)), np.float32)
    for row, known in zip(array, rows, strict=True):
        for name, probability in known.items():
            row[names.index(name)] = probability
    return array


def scored(
    types: Sequence[dict[str, float]],
    relations: Sequence[dict[str, float]],
    fine: Sequence[dict[str, float]] | None = None,
    web: float = 0.1,
    subject: int | None = None,
) -> TableScores:
    return TableScores(
        filled(TYPE_NAMES, types),
        filled(RELATION_NAMES, relations),
        subject,
        (Explanation(evidence=("reads like a name",)),) * len(types),
        fine=None if fine is None else filled(FINE_NAMES, fine),
        web=web,
    )


def table_of(count: int, named: bool = False) -> Table:
    return Table("t", tuple(Column(f"col{i} name" if named else None, CELLS) for i in range(count)))


def made_up(random: np.random.Generator) -> tuple[Table, TableScores]:
    """Return a table of random scores: peaked or flat, with room for none or without, of the web or not."""
    count = int(random.integers(1, 6))

    def part(names: Sequence[str]) -> np.ndarray:
        rows = random.dirichlet(np.full(len(names), random.choice([0.005, 0.02, 0.2])), count)
        return np.asarray(rows * random.uniform(0, 1, (count, 1)) ** 0.3, np.float32)

    scores = TableScores(
        part(TYPE_NAMES),
        part(RELATION_NAMES),
        int(random.integers(count)) if random.random() < 0.5 else None,
        (Explanation(),) * count,
        fine=part(FINE_NAMES) if random.random() < 0.8 else None,
        web=float(random.random()),
    )
    return table_of(count, named=bool(random.random() < 0.5)), scores


def check_agreement(column: ColumnAnnotation) -> None:
    if column.label is not None:
        assert all(guess.confidence <= column.confidence for guess in column.runners_up)
        assert column.label in (column.fine_type, plain_name(column.type or ""), column.kind)
        assert column.kind == kind_of(column.label) or column.label == column.kind
    if column.type is not None:
        assert all(each.confidence <= column.type_confidence for each in column.type_runners_up)
    if column.fine_type is not None:
        assert column.label == column.fine_type
        assert column.type is None or goes_with(column.fine_type, column.type)
    if column.relation is not None:
        sure = column.relation.confidence
        assert all(guess.confidence <= sure for guess in column.relation_runners_up)
        assert relates(column.relation.label, column.type, column.fine_type)


@pytest.mark.parametrize("seed", range(60))
def test_no_answer_is_below_its_runner_up_and_all_parts_go_together(seed):
    random = np.random.default_rng(seed)
    for limits in LIMITS:
        table, scores = made_up(random)
        answer = decide(table, scores, "fake", limits)
        for column in answer.columns:
            check_agreement(column)
        unique = scores.web < 0.5 or table.columns[0].name is not None
        given = [column.relation.label for column in answer.columns if column.relation]
        single = [name for name in given if name not in REPEATED]
        assert not unique or len(single) == len(set(single))


@pytest.mark.parametrize("seed", range(10))
def test_probabilities_stay_probabilities(seed):
    table, scores = made_up(np.random.default_rng(seed))
    agreed = agree(table, scores)
    for part in (agreed.types, agreed.relations):
        assert (part >= 0).all()
        assert (part.sum(axis=1) <= 1 + 1e-5).all()
    alone = agree(table, scores, Strengths(fine=1, relation=1, taken=0))
    settled = (alone.types.argmax(axis=1) == scores.types.argmax(axis=1)) & alone.types.any(axis=1)
    np.testing.assert_allclose(alone.types[settled], scores.types[settled], atol=1e-5)


def test_a_relation_decides_for_a_type_that_goes_with_it():
    types = [{"Movie/name": 0.9}, {"Movie/name": 0.76, "Organization": 0.2}]
    relations = [{}, {"productionCompany": 0.91}]
    table, scores = table_of(2), scored(types, relations, web=0.9, subject=0)
    agreed = agree(table, scores)
    assert TYPE_NAMES[int(agreed.types[1].argmax())] == "Organization"
    reason = "the first guess was Movie/name, which does not go with the relation productionCompany"
    assert agreed.explanations[1].evidence[-1] == reason
    studio = decide(table, scores, "fake").columns[1]
    assert (studio.type, studio.relation and studio.relation.label) == (
        "Organization",
        "productionCompany",
    )


def test_a_fine_type_decides_for_a_type_that_goes_with_it():
    types = [{"category": 0.5, "addressLocality": 0.4}]
    scores = scored(types, [{}], [{"city": 0.75}])
    assert TYPE_NAMES[int(agree(table_of(1), scores).types[0].argmax())] == "addressLocality"
    on_the_web = replace(scores, web=0.9)  # where fine types were not taught
    assert TYPE_NAMES[int(agree(table_of(1), on_the_web).types[0].argmax())] == "category"


def test_that_values_are_equal_says_nothing_about_their_type():
    scores = scored([{"Country": 0.8}], [{}], [{"constant": 0.99}])
    assert agree(table_of(1), scores).types.max() == pytest.approx(0.8)


@pytest.mark.parametrize(
    ("both", "likelier", "other"),
    [
        ("telephone", "telephone", "faxNumber"),
        ("startDate", "startDate", "endDate"),
        ("brand", "brand", "manufacturer"),
        ("totalTime", "totalTime", "cookTime"),
    ],
)
@pytest.mark.parametrize("web", [0.1, 0.9])
def test_of_two_columns_that_read_the_same_the_less_sure_gets_the_other_relation(
    both, likelier, other, web
):
    relations = [{}, {both: 0.7, other: 0.3}, {both: 0.9, other: 0.1}]
    scores = scored([{}] * 3, relations, web=web, subject=0)
    answer = decide(table_of(3), scores, "fake")
    assert [column.relation and column.relation.label for column in answer.columns] == [
        None,
        other,
        likelier,
    ]


def test_cooking_times_of_a_table_without_headers_are_settled_together():
    times = {"totalTime": 0.4, "cookTime": 0.35, "prepTime": 0.25}
    relations = [{}, {**times, "prepTime": 0.6}, times, {**times, "totalTime": 0.7}]
    relations[1]["totalTime"], relations[3]["prepTime"], relations[3]["cookTime"] = 0.05, 0.1, 0.2
    scores = scored([{"Recipe/name": 0.9}, *[{"Duration": 0.9}] * 3], relations, web=0.9, subject=0)
    given = [column.relation for column in decide(table_of(4), scores, "fake").columns]
    assert [each and each.label for each in given] == [None, "prepTime", "cookTime", "totalTime"]


def test_relations_that_tables_repeat_are_left_to_all():
    scores = scored([{"Mass": 0.9}] * 3, [{"nutrition": 0.8}] * 3, web=0.9)
    assert agree(table_of(3), scores).relations.max(axis=1) == pytest.approx([0.81] * 3, abs=0.05)


def test_the_subject_takes_no_relation_from_others():
    relations = [{"email": 1.0}, {"email": 0.8}]
    scores = scored([{}, {}], relations, web=0.9, subject=0)
    assert agree(table_of(2), scores).relations[1].max() == pytest.approx(0.8)


def test_a_column_of_a_taught_type_keeps_its_types():
    taught = CustomGuess("sort_code", 0.9, personal=False, kind="identifier")
    scores = scored([{"Movie/name": 0.1}, {"Movie/name": 0.5, "Brand": 0.3}], [{"brand": 0.9}] * 2)
    scores = replace(scores, custom=((taught,), ()))
    agreed = agree(table_of(2), scores)
    np.testing.assert_array_equal(agreed.types[0], scores.types[0])
    assert TYPE_NAMES[int(agreed.types[1].argmax())] == "Brand"
    assert decide(table_of(2), scores, "fake").columns[0].label == "sort_code"


def test_a_column_of_which_nothing_is_known_stays_so():
    scores = scored([{}, {"Date": 0.9}], [{}, {}], [{}, {}])
    agreed = agree(table_of(2), scores)
    assert not agreed.types[0].any()
    assert not agreed.relations.any()


def test_first_names_are_no_family_names():
    scores = scored(
        [{"Person/name": 0.9}] * 2, [{}, {"familyName": 0.8}], [{}, {"first_name": 0.9}], subject=0
    )
    first = decide(table_of(2, named=True), scores, "fake").columns[1]
    assert (first.label, first.relation) == ("first_name", None)


def test_the_strengths_are_shares():
    assert all(0 <= each <= 1 for each in (AGREEMENT.fine, AGREEMENT.relation, AGREEMENT.taken))
