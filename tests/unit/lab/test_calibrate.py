"""Weights of two models that were planted are found again, and what is measured is what the annotators answer."""

import gzip
import json
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import pytest

from aegir.answers.annotation import ColumnAnnotation, Guess, TableAnnotation
from aegir.lab.calibrate import (
    calibrate_again,
    calibrate_folds,
    calibrating_ngrams,
    compatibility_of,
    extend_linear,
    judge,
)
from aegir.lab.data.sources import Source, TrainingTable, read_training_tables
from aegir.lab.held_out import HeldOut
from aegir.lab.linear_stages import fit_temperatures
from aegir.lab.mixing_fit import fit_pair, fit_powers, fit_rule_trust, types_of_fine_from
from aegir.lab.replay import LINEAR, NETWORK, Calibrating, Held, collect
from aegir.pipeline.decide import decide
from aegir.pipeline.pipeline import Pipeline
from aegir.pipeline.plan import WHOLE_TABLES, TablePlan
from aegir.readers.bytes.annotator import ByteModelAnnotator
from aegir.readers.bytes.network import ByteModel
from aegir.readers.calibration import ByteCalibration, NgramCalibration, OperatingPoints
from aegir.readers.mixing import with_none
from aegir.readers.ngrams.annotator import NgramsAnnotator
from aegir.readers.rules.judge import RuleVerdict, judge_columns
from aegir.readers.scores import Annotator
from aegir.tables.labelled import ColumnLabels, LabelledTable
from aegir.tables.table import Column, Table
from aegir.vocabulary.hierarchy import goes_with
from aegir.vocabulary.terms import (
    FINE_INDEX,
    FINE_NAMES,
    RELATION_NAMES,
    TYPE_INDEX,
    TYPE_NAMES,
)
from aegir_rl.base.arrays import softmax
from aegir_rl.base.errors import UsageError
from byte_models import annotating_checkpoint
from held_out_answers import answers_about, by_origin, linear_only, write_answers
from ngram_models import random_model
from synthetic_labels import (
    MAKERS,
    everyday_table,
    write_everyday_tables,
    write_synthetic_tables,
)

COLUMNS, NAMES = 4000, 12


def two_witnesses(first: float, second: float, seed: int = 0):
    """Probabilities of two models with independent noise, and what is right; a larger signal knows more."""
    random = np.random.default_rng(seed)
    right = np.eye(NAMES + 1, dtype=bool)[random.integers(NAMES + 1, size=COLUMNS)]
    models = [
        softmax(signal * (signal * right + random.standard_normal(right.shape)).astype(np.float32))
        for signal in (first, second)
    ]
    return models[0][:, :-1], models[1][:, :-1], right


@pytest.mark.parametrize("seed", range(3))
def test_planted_weights_are_found_again(seed: int):
    """Answers are drawn from a mixture with known weights."""
    random = np.random.default_rng(seed)
    first, second = (
        softmax(random.normal(0, 2, (COLUMNS, NAMES + 1)).astype(np.float32)) for _ in range(2)
    )
    mixed = softmax(np.log(first) * np.float32(0.8) + np.log(second) * np.float32(0.3))
    drawn = (mixed.cumsum(axis=1) > random.random((COLUMNS, 1))).argmax(axis=1)
    right = np.eye(NAMES + 1, dtype=bool)[drawn]
    assert fit_pair(first[:, :-1], second[:, :-1], right) == pytest.approx((0.8, 0.3), abs=0.06)


@pytest.mark.parametrize("seed", range(3))
def test_independent_witnesses_are_both_believed_and_know_more_together(seed: int):
    first, second, right = two_witnesses(3.0, 1.5, seed)
    weights = fit_pair(first, second, right)
    assert weights == pytest.approx((1, 1), abs=0.15)
    logits = [
        w * np.log(with_none(p) + 1e-9) for w, p in zip(weights, (first, second), strict=True)
    ]
    mixed, alone = (logits[0] + logits[1]).argmax(axis=1), with_none(first).argmax(axis=1)
    labels = right.argmax(axis=1)
    assert (mixed == labels).mean() > (alone == labels).mean() + 0.02


def test_the_same_witness_twice_is_believed_once():
    first, _, right = two_witnesses(3.0, 1.5)
    assert sum(fit_pair(first, first, right)) == pytest.approx(1.0, abs=0.1)


def test_a_witness_who_knows_nothing_is_not_asked():
    first, _, right = two_witnesses(3.0, 1.0)
    guess = softmax(np.random.default_rng(9).normal(0, 1, (COLUMNS, NAMES + 1)).astype(np.float32))
    weights = fit_pair(first, guess[:, :-1], right)
    assert weights == pytest.approx((1, 0), abs=0.08)


def test_any_of_several_acceptable_names_is_right():
    """A model that prefers one of two acceptable names is trusted, and not if only one of them is right."""
    said = np.tile(np.array([[0.8, 0.15]], np.float32), (100, 1))
    both, one = np.zeros((2, 100, 3), bool)
    both[:, :2] = True
    one[np.arange(100), np.arange(100) % 2] = True
    assert sum(fit_pair(said, said, both)) > 2
    assert sum(fit_pair(said, said, one)) < 0.9


def test_planted_powers_of_levels_rows_persons_and_special_categories_are_found_again():
    random = np.random.default_rng(0)
    names = {"levels": 4, "rows": 5, "person": 3}
    parts, accepted = {}, {}
    for head, count in names.items():
        logits = random.normal(0, 2, (COLUMNS, count)).astype(np.float32)
        drawn = (1.3 * logits + random.gumbel(size=logits.shape)).argmax(axis=1)
        said = softmax(logits)
        parts[head] = said[:, :-1] if head == "levels" else said
        accepted[head] = np.eye(count, dtype=bool)[drawn]
    odds = random.normal(0, 2, COLUMNS)
    parts["special"] = (1 / (1 + np.exp(-odds))).astype(np.float32)
    accepted["special"] = (0.7 * odds - 0.5 + random.logistic(size=COLUMNS) > 0)[:, None]
    everything = np.ones(COLUMNS, bool)
    powers = fit_powers(dict.fromkeys(parts, everything), accepted, everything, parts)
    assert (powers.levels, powers.rows, powers.person) == pytest.approx((1.3,) * 3, abs=0.15)
    assert powers.special == pytest.approx((0.7, -0.5), abs=0.15)


def held_out(sharpness: float, seed: int = 0) -> HeldOut:
    """Labels drawn from softmax(logits); the model then reports its logits times `sharpness`."""
    random = np.random.default_rng(seed)
    logits = random.normal(0, 2, (COLUMNS, 6)).astype(np.float32)
    labels = (logits + random.gumbel(size=logits.shape)).argmax(axis=1)
    nobody = {"relations": np.zeros((COLUMNS, 6), bool)}
    return HeldOut(
        {"types": logits * np.float32(sharpness), "relations": logits},
        {"types": np.eye(6, dtype=bool)[labels], **nobody},
        {"types": np.ones(COLUMNS, bool), "relations": np.zeros(COLUMNS, bool)},
        np.arange(COLUMNS) // 3,
        np.arange(COLUMNS) // 3,
        tuple(map(str, range(COLUMNS))),
    )


@pytest.mark.parametrize("sharpness", [0.5, 1.0, 2.0])
def test_the_temperature_undoes_known_overconfidence(sharpness: float):
    for seed in range(3):
        fitted = fit_temperatures([held_out(sharpness, seed)])
        assert fitted["cta"] == pytest.approx(sharpness, rel=0.12)
        assert fitted["cpa"] == 1.0  # nothing is labelled


def test_linear_stages_speak_of_named_columns_that_they_answered_and_not_of_everyday_tables():
    linear = {"types": np.array([[0.75, 0.25]] * 3, np.float32), "relations": np.ones((3, 1), "f4")}
    network = {
        "types": np.array([[0.1, 0.3]] * 3, np.float32),
        "relations": np.full((3, 1), 0.2, "f4"),
    }
    web, answered = np.array([0.9, 0.01, 0.9], np.float32), np.array([True, True, False])
    extended = extend_linear(linear, network, web, answered)
    assert extended["types"] == pytest.approx(np.array([[0.3, 0.1], [0.1, 0.3], [0.1, 0.3]]))
    assert extended["relations"] == pytest.approx(np.array([[0.2], [0.2], [0.2]]))


def test_types_of_fine_types_are_counted_and_else_what_goes_together():
    fine = np.zeros((4, len(FINE_NAMES) + 1), bool)
    types = np.zeros((4, len(TYPE_NAMES) + 1), bool)
    fine[:, FINE_INDEX["item_price"]] = True
    types[:3, TYPE_INDEX["price"]] = True
    types[3, [TYPE_INDEX["Number"], TYPE_INDEX["MonetaryAmount"]]] = True
    shares = types_of_fine_from(fine, types)
    assert shares.shape == (len(FINE_NAMES) + 1, len(TYPE_NAMES) + 1)
    assert shares.sum(axis=1) == pytest.approx(np.ones(len(shares)), abs=2e-3)
    prior = 0.5 / sum(goes_with("item_price", name) for name in (*TYPE_NAMES, None))
    row = shares[FINE_INDEX["item_price"]]
    assert row[TYPE_INDEX["price"]] == pytest.approx((3 + prior) / 4.5, rel=1e-3)
    assert row[TYPE_INDEX["Number"]] == pytest.approx((0.5 + prior) / 4.5, rel=1e-3)
    unseen = shares[FINE_INDEX["email_address"]]
    assert unseen[TYPE_INDEX["email"]] > 0.2
    assert unseen[TYPE_INDEX["Date"]] == 0


def web_table(number: int, *labels: tuple[str, str | None]) -> TrainingTable:
    columns = tuple(Column(None, (f"x{number}", f"y{place}")) for place in range(len(labels)))
    given = tuple(ColumnLabels.of(name, relation) for name, relation in labels)
    table = Table(f"web {number}", columns, subject=0)
    return TrainingTable(LabelledTable(table, given, {}), Source("gold_val.jsonl"))


def test_the_answers_of_several_models_are_brought_into_one_order():
    tables = [web_table(n, ("email", None), ("Date", "birthDate")) for n in range(4)]
    network, other = answers_about(tables, 0), answers_about(tables, 1)
    shuffled = other.at(np.array([5, 4, 1, 0, 7, 6]))
    models = {NETWORK: {"web": network.at(np.arange(8)[::-1])}, "bytes": {"web": shuffled}}
    held = collect("web", models, tables[::-1])
    assert [table.labelled.table.name for table in held.tables] == [
        "web 3",
        "web 2",
        "web 1",
        "web 0",
    ]
    assert held.half.tolist() == [True, False, True, False]  # by group
    assert held.columns(held.half).tolist() == [True, True, False, False] * 2
    assert held.answered["bytes"].tolist() == [True] * 4 + [False] * 2 + [True] * 2
    expected = softmax(other.logits["types"])[[6, 7, 4, 5, 2, 3, 0, 1], :-1]
    expected[4:6] = 0
    np.testing.assert_allclose(held.parts["bytes"]["types"], expected, rtol=1e-5)
    assert held.accepted["types"][0, TYPE_INDEX["email"]]
    assert held.known["relations"].tolist() == [False, True] * 4
    assert held.parts[NETWORK]["special"].shape == held.parts[NETWORK]["web"].shape == (8,)
    assert held.parts[NETWORK]["levels"].shape == (8, 3)
    assert held.parts[NETWORK]["person"].sum(axis=1) == pytest.approx(np.ones(8))


def test_tables_that_were_held_out_in_part_are_refused():
    tables = [web_table(n, ("email", None), ("Date", "birthDate")) for n in range(2)]
    network = answers_about(tables, 0).at(np.array([0, 1, 2]))
    with pytest.raises(UsageError, match="not held out on whole tables"):
        collect("web", {NETWORK: {"web": network}}, tables)


def calibrating_rules(supported: list[str], tables: list[TrainingTable]) -> Calibrating:
    """A calibration on web tables whose rules support these types, one for each column."""
    everyday = TrainingTable(
        LabelledTable(
            Table("e", (Column(None, ("a",)),)), (ColumnLabels((), (), ("status",), False),), {}
        ),
        Source("open/tables.jsonl.gz", everyday=True, web=False),
    )
    some = {"web": tables, "open": [everyday]}
    models = {NETWORK: {origin: answers_about(t, 0, signal=2.0) for origin, t in some.items()}}
    held = {origin: collect(origin, models, t) for origin, t in some.items()}
    parts = {origin: each.parts[NETWORK] for origin, each in held.items()}
    calibrating = Calibrating(
        "combined", held, parts, parts, compatibility_of(tables), with_rules=True
    )
    calibrating.verdicts["web"] = [RuleVerdict(support=((name, 1.0),)) for name in supported]
    return calibrating


def test_rules_that_are_right_get_weight_and_rules_that_are_wrong_get_none():
    names = [TYPE_NAMES[n * 7 % len(TYPE_NAMES)] for n in range(200)]
    tables = [web_table(n, (name, None)) for n, name in enumerate(names)]
    assert calibrating_rules(names, tables).fit().rule_weight == 4.0
    assert calibrating_rules(names[1:] + names[:1], tables).fit().rule_weight == 0.0


def test_relations_that_follow_the_types_earn_weight():
    pairs = [(TYPE_NAMES[n % 80], name) for n, name in enumerate(RELATION_NAMES)] * 2
    tables = [web_table(n, ("Person/name", None), pair) for n, pair in enumerate(pairs)]
    supported = [name for table in tables for name in table.labelled.types]
    assert calibrating_rules(supported, tables).fit().compatibility_weight == 1.0


def everyday_answer(index: int, name: str | None, confidence: float) -> ColumnAnnotation:
    return ColumnAnnotation(
        index, None, name, confidence, None, name, confidence, None, "string", False
    )


def held_of(tables: list[TrainingTable]) -> Held:
    return Held(tuple(tables), np.zeros(len(tables), bool), {}, {}, {}, {})


def test_figures_count_what_was_answered_and_what_was_right():
    source = Source("open/tables.jsonl.gz", everyday=True, web=False)
    labels = (ColumnLabels(("price", "Number")), ColumnLabels(()), ColumnLabels(("Date",)))
    columns = (Column(None, ("1",)),) * 3
    tables = [
        TrainingTable(LabelledTable(Table(str(n), columns), labels, {}), source) for n in range(40)
    ]
    said = (("Number", 0.9), ("Date", 0.6), (None, 0.7))
    answers = [
        TableAnnotation(
            str(n),
            None,
            None,
            tuple(everyday_answer(i, *one) for i, one in enumerate(said)),
            "fake",
        )
        for n in range(40)
    ]
    (figures,) = judge(held_of(tables), answers, "fake").items()
    name, found = figures
    assert (name, found.columns) == ("fake/cta@open", 120)
    assert found.micro_f1 == pytest.approx(1 / 3)  # a type for a column that has none is wrong
    # 40 answers of 0.9 are right, 40 of 0.6 wrong: (0.1 + 0.6) / 2
    assert found.ece == pytest.approx(0.35)
    assert found.thresholds[0] == (0.7, 0.9, pytest.approx(1 / 3))
    assert str(found) == "120 columns, micro F1 0.3333, macro F1 0.3333, ECE 0.3500"
    silent = [
        replace(one, columns=tuple(everyday_answer(i, None, 0.4) for i in range(3)))
        for one in answers
    ]
    quiet = judge(held_of(tables), silent, "fake")["fake/cta@open"]
    assert (quiet.columns, quiet.micro_f1, quiet.ece, quiet.thresholds) == (80, 0.0, 0.0, ())


@pytest.mark.parametrize(
    ("said", "columns", "right"), [(None, 1, 0), ("price", 2, 1), ("URL", 2, 0)]
)
def test_no_answer_is_no_error_where_none_is_acceptable_beside_types(
    said: str | None, columns: int, right: int
):
    source = Source("open/tables.jsonl.gz", everyday=True, web=False)
    labels = (ColumnLabels(("price",), none_too=True), ColumnLabels(("Date",)))
    table = Table("t", (Column(None, ("1",)),) * 2)
    answer = TableAnnotation(
        "t", None, None, (everyday_answer(0, said, 0.9), everyday_answer(1, None, 0.9)), "fake"
    )
    held = held_of([TrainingTable(LabelledTable(table, labels, {}), source)])
    found = judge(held, [answer], "fake")["fake/cta@open"]
    assert (found.columns, found.micro_f1) == (columns, right / columns)


def test_labels_that_are_no_types_are_judged_by_themselves():
    source = Source("open/tables.jsonl.gz", everyday=True, web=False)
    labels = (
        ColumnLabels(("Date",), fine=("iso_date", "date")),
        ColumnLabels((), fine=("status",)),
        ColumnLabels(("Number",), fine=("count",)),
        ColumnLabels(("Date",)),
    )
    columns = (Column(None, ("1",)),) * 4
    tables = [
        TrainingTable(LabelledTable(Table(str(n), columns), labels, {}), source) for n in range(40)
    ]
    given = (
        replace(everyday_answer(0, "Date", 0.9), label="date", fine_type="date", confidence=0.9),
        replace(everyday_answer(1, None, 0.9), label="number", confidence=0.6),  # a wrong kind
        replace(everyday_answer(2, "Number", 0.9), label="Number"),  # a type
        replace(everyday_answer(3, "Date", 0.9), label="date", fine_type="date"),  # nobody knows
    )
    answers = [TableAnnotation(str(n), None, None, given, "fake") for n in range(40)]
    found = judge(held_of(tables), answers, "fake")["fake/label@open"]
    assert (found.columns, found.micro_f1) == (80, 0.5)
    assert found.ece == pytest.approx(0.35)  # 0.9 is right, 0.6 wrong: (0.1 + 0.6) / 2
    assert found.thresholds[0] == (0.7, 0.9, 0.5)
    points = OperatingPoints.from_facts({"held_out": {"fake/label@open": asdict(found)}}, "fake")
    assert points.thresholds(0.7).finer == 0.9


def test_web_files_that_do_not_calibrate_and_relations_are_judged_by_themselves():
    table = web_table(0, ("Person/name", None), ("Date", "birthDate"))
    other = replace(table, source=Source("other_val.jsonl", cta_weight=0, calibrates=False))
    answer = TableAnnotation(
        "t",
        None,
        0,
        (
            everyday_answer(0, "Person/name", 0.9),
            replace(everyday_answer(1, "Date", 0.9), relation=Guess("birthDate", 0.8)),
        ),
        "fake",
    )
    figures = judge(held_of([table, other]), [answer, answer], "fake")
    assert {name: (one.columns, one.micro_f1) for name, one in figures.items()} == {
        "fake/cta": (2, 1.0),
        "fake/cpa": (1, 1.0),
        "fake/cpa@other_val": (1, 1.0),
    }


def test_scores_per_class_count_what_was_wanted_and_what_was_given():
    wanted, given = ("email", "email", "Date", "Date"), ("email", "email", "email", "Date")
    table = web_table(0, *((name, None) for name in wanted))
    answer = TableAnnotation(
        "t", None, 0, tuple(everyday_answer(i, name, 0.9) for i, name in enumerate(given)), "fake"
    )
    assert judge(held_of([table]), [answer], "fake")["fake/cta"].classes == {
        "Date": (2, 1.0, 0.5, 0.667),
        "email": (2, 0.667, 1.0, 0.8),
    }


@pytest.fixture(scope="module")
def labelled(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[TrainingTable]]:
    folder = tmp_path_factory.mktemp("calibrate")
    web = write_synthetic_tables(folder / "made_up_val.jsonl", 24, seed=1)
    tables = read_training_tables([web, write_everyday_tables(folder, 12)])
    # What the models choose as a subject is not kept, so every table names its own.
    tables = [replace(t, labelled=_with_blank_column(t.labelled).with_subject(0)) for t in tables]
    return by_origin(tables)


def _with_blank_column(labelled: LabelledTable) -> LabelledTable:
    columns = (*labelled.table.columns, Column(None, ("", " ")))
    labels = (*labelled.labels, ColumnLabels())
    return replace(labelled, table=replace(labelled.table, columns=columns), labels=labels)


def answers_of_ngrams(annotator: NgramsAnnotator, tables: list[TrainingTable]):
    """What the linear stages and the networks of a model say, as training keeps it."""
    some = [table.labelled.table for table in tables]
    columns = [column for table in some for column in table.columns]
    rows = annotator._networks.hash_values(columns)
    _, context, _ = annotator._read_linear(some, rows)
    probabilities = annotator.ask_networks(some, judge_columns(columns))
    template = answers_about(tables, 0)
    logits = {
        part: np.log(with_none(probabilities[part]))
        for part in ("types", "relations", "fine", "levels")
    }
    logits |= {
        part: np.log(probabilities[part]) - np.log1p(-probabilities[part])
        for part in ("special", "web")
    }
    sizes = [len(table.columns) for table in some]
    logits |= {
        part: np.repeat(np.log(probabilities[part]), sizes, axis=0) for part in ("rows", "person")
    }
    linear = linear_only(template)
    types = len(TYPE_NAMES)
    return (
        replace(linear, logits={"types": context[:, :types], "relations": context[:, types:]}),
        replace(template, logits=logits),
    )


def assert_same_answers(
    annotator: Annotator, tables: list[TrainingTable], replayed: list[TableAnnotation]
) -> None:
    some = [table.labelled.table for table in tables]
    for table, scores, answer in zip(some, annotator.score(some), replayed, strict=True):
        expected = decide(table, scores, annotator.name)
        assert answer.subject == expected.subject
        for one, two in zip(answer.columns, expected.columns, strict=True):
            for field in ("label", "kind", "type", "fine_type", "personal", "personal_level"):
                assert getattr(one, field) == getattr(two, field), field
            assert one.confidence == pytest.approx(two.confidence, abs=2e-3)
            assert one.type_confidence == pytest.approx(two.type_confidence, abs=2e-3)
            assert (one.relation and one.relation.label) == (two.relation and two.relation.label)


def test_what_is_replayed_is_what_the_annotators_answer(labelled):
    """Both annotators with random weights, on web and everyday tables, with what was fitted for them."""
    model = replace(random_model(), facts={})
    plain = NgramsAnnotator(model)
    pairs = {origin: answers_of_ngrams(plain, tables) for origin, tables in labelled.items()}
    answers = {
        LINEAR: {origin: pair[0] for origin, pair in pairs.items()},
        NETWORK: {origin: pair[1] for origin, pair in pairs.items()},
    }
    tables = [*labelled["web"], *labelled["open"]]
    calibrating = calibrating_ngrams(answers, tables)
    fitted = calibrating.fit()
    calibration = NgramCalibration(
        {"cta": 1.0, "cpa": 1.0}, fitted.mixing, fitted.trust(), powers=fitted.powers
    )
    ngrams = NgramsAnnotator(
        replace(
            model,
            calibration=calibration,
            types_of_fine=fitted.types_of_fine,
            compatibility=calibrating.compatibility,
        )
    )
    for origin, some in labelled.items():
        assert_same_answers(ngrams, some, calibrating.replay(origin, fitted))

    facts = {"calibration": ByteCalibration({"cta": 1.0, "cpa": 1.0}).as_json()}
    byte_model = ByteModelAnnotator(ByteModel(annotating_checkpoint(facts)))
    held = dict(calibrating.held)
    bytes_ = {origin: parts_of(byte_model, some) for origin, some in labelled.items()}
    combined = Calibrating(
        "combined",
        {o: replace(h, parts={**h.parts, "bytes": bytes_[o]}) for o, h in held.items()},
        calibrating,
        bytes_,
        calibrating.compatibility,
        with_rules=True,
    )
    both = combined.fit()
    facts = {"calibration": ByteCalibration({"cta": 1.0, "cpa": 1.0}, both.mixture).as_json()}
    byte_model = ByteModelAnnotator(ByteModel(annotating_checkpoint(facts)))
    annotator = Pipeline(ngrams, byte_model, TablePlan(WHOLE_TABLES))
    for origin, some in labelled.items():
        assert_same_answers(annotator, some, combined.replay(origin, both))


def parts_of(byte_model: ByteModelAnnotator, tables: list[TrainingTable]):
    scores = byte_model.score([table.labelled.table for table in tables])
    return {
        part: np.concatenate([getattr(each, part) for each in scores])
        for part in ("types", "relations", "fine", "personal")
    }


def test_calibrating_again_keeps_the_mixture_and_fits_what_follows(
    data: list[Path], tmp_path: Path
):
    everyday = tmp_path / "more" / "open" / "more.jsonl.gz"
    everyday.parent.mkdir(parents=True)
    lines = [json.dumps(everyday_table(number)) for number in range(100, 112)]
    everyday.write_bytes(gzip.compress("\n".join(lines).encode()))
    data = [*data, everyday]
    ngrams, runs = write_answers(tmp_path, read_training_tables(data))
    first = tmp_path / "first.json"
    calibrate_folds(runs, data[:2], ngrams, first)
    facts = json.loads(first.read_text())
    byte_model = ByteModelAnnotator(ByteModel(annotating_checkpoint(facts)))
    again = tmp_path / "again.json"
    figures, _ = calibrate_again(byte_model, data, ngrams, again)
    written = json.loads(again.read_text())
    alone = {name for name in facts["held_out"] if name.startswith("byte_model/")}
    assert set(written["held_out"]) == {*alone, *figures}
    calibration = ByteCalibration.from_json(written["calibration"])
    assert calibration.mixture is not None
    assert calibration.mixture.mixing == byte_model.calibration.mixture.mixing
    assert figures["combined/cta"].columns == 120
    assert figures["combined/identifying"].columns > 0
    assert not any(name.startswith("byte_model/") for name in figures)


def test_a_byte_network_that_was_never_mixed_is_not_calibrated_again(tmp_path: Path):
    facts = {"calibration": ByteCalibration({"cta": 1.0, "cpa": 1.0}).as_json()}
    byte_model = ByteModelAnnotator(ByteModel(annotating_checkpoint(facts)))
    with pytest.raises(UsageError, match="never mixed with n-grams; give the folders of fold"):
        calibrate_again(byte_model, [], tmp_path, tmp_path / "out.json")


def test_figures_of_a_table_come_from_weights_fitted_on_the_other_half(labelled):
    answers = {
        LINEAR: {o: linear_only(answers_about(t, 1)) for o, t in labelled.items()},
        NETWORK: {o: answers_about(t, 2) for o, t in labelled.items()},
    }
    calibrating = calibrating_ngrams(answers, [*labelled["web"], *labelled["open"]])
    half = calibrating.held["open"].half
    assert 0 < half.sum() < len(half)
    crossed = calibrating.cross_fitted("open")
    for in_second, other in ((False, True), (True, False)):
        expected = calibrating.replay("open", calibrating.fit(other))
        for place in np.flatnonzero(half == in_second):
            assert crossed[place] == expected[place]


@pytest.fixture
def data(tmp_path: Path) -> list[Path]:
    web = write_synthetic_tables(tmp_path / "made_up_val.jsonl", 40, seed=1)
    return [web, write_everyday_tables(tmp_path, 16)]


def test_fold_runs_and_n_grams_are_calibrated_into_one_file(data: list[Path], tmp_path: Path):
    ngrams, runs = write_answers(tmp_path, read_training_tables(data))
    out = tmp_path / "new" / "out.json"
    figures, everyday = calibrate_folds(runs, data, ngrams, out)
    written = json.loads(out.read_text())
    calibration = ByteCalibration.from_json(written["calibration"])
    assert calibration.mixture is not None
    assert json.loads(json.dumps(calibration.as_json())) == written["calibration"]
    assert list(written["held_out"]) == list(figures)
    assert written["everyday"] == everyday.as_dict()
    assert figures["combined/cta"].columns == 120
    assert figures["combined/cpa"].columns == 80
    assert figures["combined/cta"].micro_f1 > 0.95
    assert figures["combined/cta@open"].micro_f1 > 0.95
    assert everyday.type["right"] > 0.9
    assert figures["byte_model/cta"].columns == 120
    assert figures["byte_model/cta"].micro_f1 < figures["combined/cta"].micro_f1
    assert set(written["held_out"]["combined/cta"]["classes"]) == set(MAKERS)
    weights = calibration.mixture.mixing.everyday
    assert min(*weights.types, *weights.fine) > 0.2  # both models are independent witnesses


@pytest.mark.slow
def test_of_some_folds_the_byte_network_is_judged_on_their_tables_alone(
    data: list[Path], tmp_path: Path
):
    ngrams, runs = write_answers(tmp_path, read_training_tables(data))
    some, _ = calibrate_folds(runs[:1], data, ngrams, tmp_path / "some.json")
    everything, _ = calibrate_folds(runs, data, ngrams, tmp_path / "all.json")
    assert some["combined/cta"].columns == everything["byte_model/cta"].columns == 120
    assert some["byte_model/cta"].columns == 60
    assert some["byte_model/cta"].micro_f1 == pytest.approx(
        everything["byte_model/cta"].micro_f1, abs=0.1
    )


def test_a_folder_without_answers_of_n_grams_is_refused(data: list[Path], tmp_path: Path):
    with pytest.raises(UsageError, match="has no answers of n-grams; make them with: aegir train"):
        calibrate_folds([tmp_path], data, tmp_path, tmp_path / "out.json")
    assert not (tmp_path / "out.json").exists()


def test_rules_are_trusted_as_far_as_what_they_name_is_right():
    """Of common names that rules give, one is always right, one never; a rare one is right in 3 of 4 columns."""
    named = ["isbn"] * 40 + ["md5_hash"] * 40 + ["iban"] * 4 + [None] * 5
    fine = np.full((len(named), len(FINE_NAMES)), 0.2 / len(FINE_NAMES), np.float32)
    fine[:40, FINE_INDEX["isbn"]] = fine[40:80, FINE_INDEX["md5_hash"]] = 0.3
    accepted = np.zeros((len(named), len(FINE_NAMES) + 1), bool)
    accepted[:40, FINE_INDEX["isbn"]] = accepted[81:84, FINE_INDEX["iban"]] = True
    accepted[40:81, -1] = accepted[84:, -1] = True
    trust = fit_rule_trust(fine, named, accepted).shares
    assert list(trust) == list(FINE_NAMES)
    assert trust["isbn"] > trust["uuid"] > trust["md5_hash"]
    assert trust["uuid"] == trust["email_address"]
