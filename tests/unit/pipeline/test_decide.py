"""From probabilities to one coherent answer: ties, thresholds, the subject, what nothing is known of."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from aegir.answers.annotation import Guess
from aegir.pipeline.decide import RELATED, SURE_WEB, best_guesses, decide
from aegir.readers.calibration import Thresholds
from aegir.readers.scores import Explanation, TableScores
from aegir.tables.table import Column, Table
from aegir.vocabulary.terms import FINE_NAMES, RELATION_NAMES, ROW_NAMES, TYPE_NAMES

TABLE = Table("t", (Column("who", ("Ann", "Bob")), Column("mail", ("a@b.org", "c@d.org"))))
PLAIN = Table("t", (Column("who", ("Ann", "Bob")), Column("where", ("Oslo", "Bern"))))


def filled(names: Sequence[str], rows: Sequence[dict[str, float]]) -> np.ndarray:
    array = np.zeros((len(rows), len(names)), np.float32)
    for row, known in zip(array, rows, strict=True):
        for name, probability in known.items():
            row[names.index(name)] = probability
    return array


def scores(types: list[dict[str, float]], relations: list[dict[str, float]], subject: int | None):
    """Of an annotator that knows no probabilities of fine types."""
    return TableScores(
        filled(TYPE_NAMES, types),
        filled(RELATION_NAMES, relations),
        subject,
        (Explanation(), Explanation("email_address", ("because",))),
    )


def everyday(
    types: list[dict[str, float]],
    fine: list[dict[str, float]],
    relations: list[dict[str, float]] | None = None,
    personal: list[float] | None = None,
    web: float = 0.1,
) -> TableScores:
    """Of an annotator that knows all parts, on a table that is not one of the web."""
    return TableScores(
        filled(TYPE_NAMES, types),
        filled(RELATION_NAMES, relations or [{}] * len(types)),
        0,
        (Explanation(),) * len(types),
        fine=filled(FINE_NAMES, fine),
        personal=np.array(personal or [0.0] * len(types), np.float32),
        web=web,
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
    assert mail.relation == Guess("email", pytest.approx(0.738, abs=1e-3))  # so is its type
    assert mail.relation_runners_up == (Guess("telephone", pytest.approx(0.262, abs=1e-3)),)
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
    who, mail = decide(TABLE, SCORES, "fake", Thresholds(types=0.8, relations=0.75)).columns
    assert (who.label, who.type, who.confidence, who.iri) == (None, None, 0.75, None)
    assert who.runners_up[0] == who.type_runners_up[0] == Guess("Person/name", 0.75)
    assert (mail.relation, mail.relation_iri) == (None, None)
    assert mail.relation_runners_up[0].label == "email"


def test_a_confidence_at_the_threshold_is_answered():
    who, mail = decide(TABLE, SCORES, "fake", Thresholds(0.75, 0.625)).columns
    assert who.type == "Person/name"
    assert mail.relation is not None


def test_a_sure_fine_type_of_a_rule_excludes_types_that_do_not_go_with_it():
    asked = scores([{}, {"Number": 0.75, "email": 0.125}], [{}, {}], None)
    mail = decide(TABLE, asked, "fake").columns[1]
    assert (mail.label, mail.type, mail.type_confidence) == ("email_address", "email", 0.125)
    assert mail.runners_up == (Guess("Number", 0.75),)  # the type that goes with it is no rival
    withheld = decide(TABLE, asked, "fake", Thresholds(0.96)).columns[1]
    assert (withheld.label, withheld.type, withheld.fine_type) == (None, None, None)
    assert withheld.runners_up[0] == Guess("email_address", 0.95)


def test_a_fine_type_without_a_type_leaves_no_type():
    asked = replace(SCORES, explanations=(Explanation(), Explanation("colour_name")))
    asked = replace(asked, relations=np.zeros_like(asked.relations))
    mail = decide(TABLE, asked, "fake").columns[1]
    assert (mail.label, mail.type, mail.fine_type) == ("colour_name", None, "colour_name")
    assert mail.type_confidence == 0.125  # what types leave for none of them


def test_the_less_sure_of_a_fine_type_and_a_type_that_do_not_go_together_gives_way():
    fine = [{"email_address": 0.7}, {"email_address": 0.6, "full_name": 0.2}]
    types = [{"Number": 0.45, "email": 0.3}, {"Person/name": 0.8, "email": 0.1}]
    first, second = decide(TABLE, everyday(types, fine), "fake").columns
    assert (first.label, first.confidence, first.type, first.type_confidence) == (
        "email_address",
        pytest.approx(0.7),
        "email",
        pytest.approx(0.397, abs=1e-3),  # likelier than by itself, as the fine type goes with it
    )
    assert first.type_runners_up[0].confidence <= first.type_confidence
    assert (second.label, second.type, second.fine_type) == ("Person/name", "Person/name", None)
    assert second.runners_up[0] == Guess("email_address", pytest.approx(0.6))


def test_a_likely_type_gives_way_to_a_surer_fine_type_and_is_no_runner_up():
    fine = [{"email_address": 0.9}, {"email_address": 0.68}]
    types = [{"Number": 0.6, "email": 0.3}, {"Organization": 0.56, "IdentifierAT": 0.3}]
    for column in decide(TABLE, everyday(types, fine), "fake").columns:
        assert (column.label, column.fine_type) == ("email_address", "email_address")
        assert column.type in ("email", None)
        assert column.runners_up[0].confidence < column.confidence


def test_a_fine_type_is_named_from_six_in_ten_and_else_the_type_and_else_the_kind():
    types = [{"price": 0.9}, {"price": 0.2}]
    fine = [{"item_price": 0.59, "currency_amount": 0.2}] * 2
    first, second = decide(TABLE, everyday(types, fine), "fake").columns
    assert (first.label, first.kind) == ("price", "money")
    assert first.confidence == pytest.approx(0.937, abs=1e-3)
    assert (second.label, second.confidence, second.kind) == (
        "money",
        pytest.approx(0.79),
        "money",
    )
    assert (second.type, second.type_confidence) == (None, pytest.approx(0.708, abs=1e-3))
    limited = decide(TABLE, everyday(types, fine), "fake", Thresholds(0.8)).columns[1]
    assert (limited.label, limited.kind) == (None, None)
    assert limited.confidence == limited.runners_up[0].confidence == pytest.approx(0.59)


def test_a_column_of_missing_cells_is_just_that():
    table = Table("t", (Column("a", ("", " ")), Column("b", ())))
    types = [{"price": 0.4}, {}]
    blank, no_rows = decide(table, everyday(types, [{"item_price": 0.4}, {}]), "fake").columns
    assert (blank.label, blank.confidence, blank.fine_type) == ("all_missing", 1.0, "all_missing")
    assert (blank.type, blank.type_confidence, blank.personal) == (None, 1.0, False)
    assert (blank.all_missing, no_rows.all_missing) == (True, False)
    assert (no_rows.label, no_rows.confidence, no_rows.type_confidence) == (None, 0.0, 0.0)


def test_a_header_says_what_a_column_of_missing_cells_would_be():
    table = Table("t", (Column("price", ("", " ")),))
    (blank,) = decide(table, everyday([{"price": 0.9}], [{"item_price": 0.9}]), "fake").columns
    assert (blank.label, blank.type, blank.all_missing) == ("item_price", "price", True)


def test_none_of_the_types_and_relations_wins_where_it_is_likelier():
    asked = scores([{"Date": 0.4}, {}], [{"birthDate": 0.3}, {}], 1)
    who = decide(TABLE, asked, "fake").columns[0]
    assert (who.type, who.type_confidence > 0.5) == (None, True)
    assert (who.label, who.runners_up) == (None, (Guess("Date", who.confidence),))
    assert (who.relation, who.relation_runners_up[0].label) == (None, "birthDate")


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


def test_on_everyday_tables_the_learnt_probability_decides_what_is_personal():
    types, fine = (
        [{"Number": 0.9}, {"email": 0.9}],
        [{"diagnosis_code": 0.1}, {"email_address": 0.85}],
    )
    said = [(0.6, 0.4), (0.4, 0.6)]
    for first, second in said:
        columns = decide(PLAIN, everyday(types, fine, personal=[first, second]), "fake").columns
        assert [column.personal for column in columns] == [first > 0.5, second > 0.5]
    assert (columns[1].personal_level, columns[1].personal_reason) == ("direct", "reaches a person")
    assert (columns[0].personal_level, columns[0].personal_reason) == (None, None)
    age = decide(TABLE, everyday(types, [{"diagnosis_code": 0.8}, {}], personal=[0.9, 0]), "fake")
    assert age.columns[0].personal_level == "about"
    web = decide(TABLE, everyday(types, fine, personal=[0.9, 0.1], web=0.9), "fake").columns
    assert [column.personal for column in web] == [False, True]  # by what the types mean


PERSONS = ("ann.lee@city.example.org", "b.ode@city.example.org", "n/a", "info@city.example.org")
ROLES = ("info@a.example.org", "sales.eu@b.example.org", "no-reply@c.example.org", "kontakt2@d.de")


@pytest.mark.parametrize(("cells", "label"), [(PERSONS, 0.98), (PERSONS, 0.75), ((), 0.98)])
def test_e_mail_addresses_are_personal_in_a_table_of_any_subject(cells, label):
    table = Table("sensors", (Column("temp", cells), Column("inspector", cells)))
    asked = everyday([{}, {"email": label}], [{}, {"email_address": label}], personal=[0, 0.02])
    mail = decide(table, asked, "fake").columns[1]
    assert (mail.personal, mail.personal_level) == (True, "direct")
    assert mail.personal_reason == "reaches a person"
    assert mail.personal_confidence == pytest.approx(label)


def test_e_mail_addresses_of_roles_are_not_personal_and_a_reason_says_so():
    table = Table("firms", (Column("firm", ROLES), Column("mail", ROLES)))
    asked = everyday([{}, {"email": 0.98}], [{}, {"email_address": 0.98}], personal=[0, 0.02])
    mail = decide(table, asked, "fake").columns[1]
    assert not mail.personal
    assert mail.reasons[-1] == (
        "nearly all e-mail addresses are of roles such as info or sales, not of persons"
    )
    mixed = Table("firms", (Column("firm", ROLES), Column("mail", (*ROLES[:3], PERSONS[0]))))
    assert decide(mixed, asked, "fake").columns[1].personal_level == "direct"


def test_a_column_of_which_only_the_kind_is_known_is_personal_by_its_kind():
    fine = [{"salary": 0.4, "currency_amount": 0.4}, {}]  # money 0.8
    pay = decide(TABLE, everyday([{}, {}], fine, personal=[0.9, 0]), "fake").columns[0]
    assert (pay.label, pay.personal_level) == ("money", "about")
    assert pay.personal_reason == "tells something about a person"


def test_a_key_of_persons_is_personal_whatever_was_learnt():
    fine = [{"payment_card": 0.9}, {"city": 0.9}]
    asked = everyday([{}, {}], fine, personal=[0.1, 0.1])
    card, city = decide(PLAIN, asked, "fake").columns
    assert (card.personal, card.personal_level) == (True, "direct")
    assert not city.personal


def test_two_columns_of_an_everyday_table_never_have_the_same_relation():
    table = Table("t", tuple(Column(name, ("a", "a")) for name in "abc"))
    relations = [
        {"telephone": 0.7, "faxNumber": 0.1},
        {"telephone": 0.9},
        {"telephone": 0.3, "faxNumber": 0.6},
    ]
    asked = everyday([{}] * 3, [{}] * 3, relations)
    first, second, third = (column.relation for column in decide(table, asked, "fake").columns)
    assert second == Guess("telephone", pytest.approx(0.896, abs=1e-3))
    assert first is None  # its next best, 0.1, is less likely than none
    assert third is not None
    assert third.label == "faxNumber"
    assert third.confidence > 0.8  # as telephone is taken


def test_an_everyday_column_gets_a_relation_only_where_it_is_clearly_likelier_than_none():
    table = Table("t", tuple(Column(name, ("a", "a")) for name in "ab"))
    asked = everyday([{}] * 2, [{}] * 2, [{"telephone": RELATED - 0.01}, {"faxNumber": RELATED}])
    first, second = (column.relation for column in decide(table, asked, "fake").columns)
    assert first is None
    assert second == Guess("faxNumber", pytest.approx(RELATED))


def test_columns_of_a_web_table_without_headers_may_share_a_relation():
    asked = everyday([{}] * 2, [{}] * 2, [{"telephone": 1}, {"telephone": 1}], web=0.9)
    asked = replace(asked, subject=None)
    for header, expected in ((None, ["telephone", "telephone"]), ("phone", ["telephone", None])):
        table = Table("t", (Column(header, ("a", "a")),) * 2)
        given = [column.relation for column in decide(table, asked, "fake").columns]
        assert [relation and relation.label for relation in given] == expected
    asked = replace(asked, relations=filled(RELATION_NAMES, [{"nutrition": 0.9}] * 2))
    fat, sugar = decide(table, asked, "fake").columns
    assert fat.relation == sugar.relation == Guess("nutrition", pytest.approx(0.9))


@pytest.mark.parametrize(
    ("columns", "fine", "subject"),
    [
        ((("1", "2"), ("x", "y")), ({"primary_key": 0.9}, {}), 0),
        ((("1.5", "2.5"), ("x", "y")), ({"measurement": 0.9}, {}), 1),  # a quantity names no row
        ((("x", "x"), ("1", "2")), ({}, {}), 1),
        ((("x", ""), ("y", "y")), ({}, {}), None),  # missing, and repeated
        (((), ()), ({}, {}), None),
    ],
)
def test_the_subject_of_an_everyday_table_names_every_row(columns, fine, subject):
    table = Table("t", tuple(Column("c", cells) for cells in columns))
    asked = everyday([{}, {}], fine, [{"email": 0.9}, {"telephone": 0.9}])
    answer = decide(table, asked, "fake")
    assert answer.subject == subject
    for column in answer.columns:
        if column.index == subject:
            assert column.relation is None
        assert (column.relation_runners_up == ()) or column.index != subject
    stated = decide(replace(table, subject=1), replace(asked, subject=1), "fake")
    assert stated.subject == 1


def test_the_subject_chosen_on_a_web_table_is_kept_unless_it_describes_a_row():
    table = Table("t", (Column("length", ("PT4M", "PT3M")), Column("song", ("Rain", "Rain"))))
    asked = everyday([{"Duration": 0.9}, {}], [{}, {"title": 0.9}], [{}, {}], web=0.9)
    assert decide(table, replace(asked, subject=1), "fake").subject == 1
    assert decide(table, replace(asked, subject=0), "fake").subject is None


def test_a_subject_that_repeats_names_no_row_of_a_table_with_headers():
    asked = replace(everyday([{}, {}], [{"last_name": 0.9}, {}], [{}, {}], web=0.9), subject=0)
    for name, subject in (("customer", None), (None, 0)):
        table = Table("t", (Column(name, ("Lund", "Lund", "Lund")), Column(None, ("a", "a", "b"))))
        assert decide(table, asked, "fake").subject == subject


def test_a_table_without_rows_has_no_subject():
    table = Table("t", (Column("song", ()), Column("artist", ())))
    asked = replace(everyday([{}, {}], [{"title": 0.9}, {}], [{}, {}], web=0.9), subject=0)
    assert decide(table, asked, "fake").subject is None


@pytest.mark.parametrize(
    ("limits", "label", "type_name"),
    [
        (Thresholds(0.6), "iso_date", "Date"),
        (Thresholds(0.6, labels=0.95), "Date", "Date"),  # the label is the type then
        (Thresholds(0.95, labels=0.7), "iso_date", None),
        (Thresholds(0.95, labels=0.93), "time", None),  # the kind, 0.94
        (Thresholds(0.95), None, None),
    ],
)
def test_fine_types_and_kinds_can_have_a_threshold_of_their_own(limits, label, type_name):
    table = Table("t", (Column("d", ("2031-04-01", "2031-04-02")),))
    asked = everyday([{"Date": 0.8}], [{"iso_date": 0.9, "date": 0.04}], [{}])
    (column,) = decide(table, asked, "fake", limits).columns
    assert (column.label, column.type) == (label, type_name)
    assert column.fine_type == (label if label == "iso_date" else None)


@pytest.mark.parametrize(
    ("types", "fine", "label"),
    [
        ({}, {"constant": 0.7, "status": 0.24}, ("status", 0.8)),  # 0.24 of the 0.3 that are left
        ({"Country": 0.8}, {"constant": 0.99}, ("Country", 0.8)),
        ({"Number": 0.4}, {"constant": 0.7, "status": 0.15}, ("constant", 0.7)),  # nothing better
        ({}, {"constant": 1.0}, ("constant", 1.0)),
    ],
)
def test_that_a_column_is_constant_replaces_no_better_answer(types, fine, label):
    table = Table("t", (Column("c", ("x",) * 4),))
    asked = everyday([types], [fine], [{}])
    (column,) = decide(table, replace(asked, personal=np.array([0.9], np.float32)), "fake").columns
    assert (column.label, column.confidence) == (label[0], pytest.approx(label[1], abs=1e-5))
    assert column.personal == (label[0] == "Country")  # a constant tells nothing about a person


def test_thresholds_depend_on_the_kind_of_table():
    limits = Thresholds(0.95, 0.95, everyday=Thresholds(0.2, 0.2))
    asked = everyday([{"Date": 0.9}] * 2, [{}] * 2, [{"birthDate": 0.9}] * 2)
    assert decide(TABLE, asked, "fake", limits).columns[0].type == "Date"
    assert decide(TABLE, replace(asked, web=SURE_WEB), "fake", limits).columns[0].type is None
    unsure = replace(asked, web=SURE_WEB - 0.01)
    assert decide(TABLE, unsure, "fake", limits).columns[0].type == "Date"


def with_rows(asked: TableScores, row_class: str) -> TableScores:
    rows = np.array([0.9 * (name == row_class) for name in ROW_NAMES], np.float32)
    return replace(asked, rows=rows, person=np.array([0.9, 0.1, 0.0], np.float32))


def test_what_a_row_is_goes_into_the_answer_and_decides_on_the_subject():
    lines = Table(
        "order_lines.csv",
        (Column("order_id", ("7", "7", "8", "9")), Column("units", ("1", "2", "1", "5"))),
    )
    asked = everyday([{"IdentifierAT": 0.9}, {"Number": 0.9}], [{}, {}])
    answer = decide(lines, with_rows(asked, "transaction"), "fake")
    assert answer.row is not None
    assert (answer.row.name, answer.row.noun) == ("transaction", "order line")
    assert (answer.subject, answer.subject_repeats) == (0, True)
    plain = decide(lines, asked, "fake")
    assert (plain.row, plain.subject, plain.subject_repeats) == (None, None, False)


def test_a_subject_whose_values_differ_does_not_repeat():
    answer = decide(PLAIN, everyday([{}, {}], [{"full_name": 0.9}, {}]), "fake")
    assert (answer.subject, answer.subject_repeats) == (0, False)


@pytest.mark.parametrize("web", [0.6, 1.0])
def test_a_column_of_one_repeated_word_is_no_subject_in_a_table_without_headers(web: float):
    rows = 8
    words = Table(
        "t",
        (Column(None, ("pine",) * rows), Column(None, tuple(f"{n}.5" for n in range(rows)))),
    )
    asked = replace(everyday([{}, {}], [{"thing_name": 0.9}, {}], web=web), subject=0)
    assert decide(words, asked, "fake").subject is None


def test_a_table_that_may_be_of_the_web_gets_only_relations_that_everyday_tables_get():
    asked = everyday([{}] * 2, [{}] * 2, [{"email": 0.55}, {"telephone": 0.55}], web=SURE_WEB)
    sure = decide(PLAIN, asked, "fake").columns
    assert any(column.relation for column in sure)
    unsure = decide(PLAIN, replace(asked, web=SURE_WEB - 0.01), "fake").columns
    assert not any(column.relation for column in unsure)
