"""From probabilities to answers: ties, thresholds, the subject, what nothing is known of."""

from dataclasses import replace

import numpy as np
import pytest

from aegir.annotators.decide import Thresholds, best_guesses, decide
from aegir.annotators.scores import Explanation, TableScores
from aegir.answers.annotation import Guess
from aegir.tables.table import Column, Table
from aegir.vocabulary.terms import RELATION_NAMES, TYPE_NAMES

TABLE = Table("t", (Column("who", ("Ann", "Bob")), Column("mail", ("a@b.org", "c@d.org"))))


def scores(types: list[dict[str, float]], relations: list[dict[str, float]], subject: int | None):
    filled = (
        np.zeros((2, len(TYPE_NAMES)), np.float32),
        np.zeros((2, len(RELATION_NAMES)), np.float32),
    )
    for array, names, rows in zip(
        filled, (TYPE_NAMES, RELATION_NAMES), (types, relations), strict=True
    ):
        for row, known in zip(array, rows, strict=True):
            for name, probability in known.items():
                row[names.index(name)] = probability
    return TableScores(
        *filled, subject, (Explanation(), Explanation("email_address", ("because",)))
    )


SCORES = scores(
    [{"Person/name": 0.75, "Book/name": 0.25}, {"email": 0.5, "telephone": 0.25, "URL": 0.125}],
    [{"email": 1.0}, {"email": 0.625, "telephone": 0.375}],
    0,
)


def test_the_likeliest_label_is_the_answer_and_the_next_ones_run_up():
    who, mail = decide(TABLE, SCORES, "fake").columns
    assert (who.type, who.confidence, who.runners_up) == (
        "Person/name",
        0.75,
        (Guess("Book/name", 0.25),),
    )
    assert (who.label, who.type_confidence, who.fine_type) == ("Person/name", 0.75, None)
    assert (mail.type, mail.fine_type, mail.reasons) == ("email", "email_address", ("because",))
    assert (mail.label, mail.confidence) == ("email_address", 0.95)
    assert mail.relation == Guess("email", 0.625)
    assert mail.relation_runners_up == (Guess("telephone", 0.375),)
    assert mail.personal
    assert mail.iri == "https://schema.org/email"
    assert (who.kind, mail.kind) == ("person", "person")
    assert (mail.personal_level, mail.personal_reason) == ("direct", "reaches a person")


def test_the_subject_has_no_relation_to_itself():
    answer = decide(TABLE, SCORES, "fake")
    assert answer.subject == 0
    assert answer.columns[0].relation is None
    assert answer.columns[0].relation_runners_up == ()


def test_below_the_threshold_the_best_guess_only_runs_up():
    who, mail = decide(TABLE, SCORES, "fake", Thresholds(types=0.8, relations=0.7)).columns
    assert (who.label, who.type, who.confidence, who.iri) == (None, None, 0.75, None)
    assert who.runners_up[0] == who.type_runners_up[0] == Guess("Person/name", 0.75)
    assert (mail.relation, mail.relation_iri) == (None, None)
    assert mail.relation_runners_up[0] == Guess("email", 0.625)


def test_a_confidence_at_the_threshold_is_answered():
    who, mail = decide(TABLE, SCORES, "fake", Thresholds(0.75, 0.625)).columns
    assert who.type == "Person/name"
    assert mail.relation is not None


def test_a_fine_type_decides_the_type_and_the_others_share_the_rest():
    asked = scores([{}, {"Number": 0.625, "Date": 0.375}], [{}, {}], None)
    mail = decide(TABLE, asked, "fake").columns[1]
    assert (mail.label, mail.type, mail.type_confidence) == ("email_address", "email", 0.95)
    assert mail.runners_up == (Guess("Number", 0.03125), Guess("Date", 0.01875))
    withheld = decide(TABLE, asked, "fake", Thresholds(0.96)).columns[1]
    assert (withheld.label, withheld.type, withheld.fine_type) == (None, None, None)
    assert withheld.runners_up[0] == Guess("email_address", 0.95)


def test_a_fine_type_without_a_type_leaves_none_of_the_types_likely():
    unsure = scores([{}, {"Number": 0.5, "Date": 0.5}], [{}, {}], None)
    asked = replace(unsure, explanations=(Explanation(), Explanation("colour_name")))
    mail = decide(TABLE, asked, "fake").columns[1]
    assert (mail.label, mail.type, mail.fine_type) == ("colour_name", None, "colour_name")
    assert mail.type_confidence == pytest.approx(0.95)


def test_a_fine_type_gives_way_to_a_sure_type_it_does_not_go_with():
    for fine_type, sure in (("email_address", 0.7), ("constant", 0.4)):
        asked = scores([{}, {"BookFormatType": sure, "Date": 0.3}], [{}, {}], None)
        asked = replace(asked, explanations=(Explanation(), Explanation(fine_type)))
        answer = decide(TABLE, asked, "fake").columns[1]
        assert (answer.label, answer.fine_type) == ("BookFormatType", None)


def test_none_of_the_types_and_relations_wins_where_it_is_likelier():
    asked = scores([{"Date": 0.4}, {}], [{"birthDate": 0.3}, {}], 1)
    who = decide(TABLE, asked, "fake").columns[0]
    assert (who.type, who.type_confidence) == (None, pytest.approx(0.6))
    assert (who.label, who.confidence, who.runners_up) == (None, 0.4, (Guess("Date", 0.4),))
    assert (who.relation, who.relation_runners_up) == (None, (Guess("birthDate", 0.3),))


def test_the_first_cells_are_kept_for_reports_cut_short():
    table = Table("t", (Column("a", ("x" * 500, *map(str, range(50)))),) * 2)
    answer = decide(table, replace(SCORES, subject=None), "fake")
    first, second = answer.preview
    assert first == second == ("x" * 120, *map(str, range(7)))


def test_nothing_known_is_an_abstention_with_confidence_0():
    who = decide(TABLE, scores([{}, {}], [{}, {}], None), "fake").columns[0]
    assert (who.label, who.confidence, who.runners_up) == (None, 0.0, ())
    assert (who.type, who.type_confidence, who.relation) == (None, 0.0, None)


def test_ties_go_to_the_label_that_comes_first():
    tied = best_guesses(np.array([0.1, 0.3, 0.3, 0.3, 0.0], np.float32), "abcde")
    assert [guess.label for guess in tied] == ["b", "c", "d", "a"]
    assert tied[0].confidence == pytest.approx(0.3)


@pytest.mark.parametrize(
    ("types", "relations", "personal"),
    [
        ({"Person/name": 0.4, "Book/name": 0.35}, {}, False),  # the best guess, but 0.4 in all
        ({"Person/name": 0.3, "telephone": 0.3, "Book/name": 0.35}, {}, True),  # 0.6 in all
        ({"Date": 0.9}, {"birthDate": 0.94}, False),
        ({"Date": 0.9}, {"birthDate": 0.96}, True),
    ],
)
def test_a_column_is_personal_when_that_is_likelier_than_not(types, relations, personal):
    asked = scores([types, {}], [relations, {}], 1)
    assert decide(TABLE, asked, "fake").columns[0].personal is personal
