"""Teaching a type: what is learnt, what is measured, what is refused, and what it changes."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from aegir.answers.text_report import render_text
from aegir.answers.writers import FORMATS
from aegir.lab.data.background_tables import background_tables
from aegir.pipeline.custom_types.examples import names_of
from aegir.pipeline.custom_types.learning import Learnt, Report, learn_type
from aegir.pipeline.custom_types.reader import (
    TABLES_AT_ONCE,
    Reader,
    fingerprint_of,
    load_reader,
    read_background,
    read_known_columns,
)
from aegir.pipeline.custom_types.recognising import (
    WithCustomTypes,
    with_custom_types,
)
from aegir.pipeline.custom_types.store import save_type
from aegir.pipeline.custom_types.validating import validate_type
from aegir.pipeline.decide import decide
from aegir.pipeline.registry import load_annotator
from aegir.pipeline.run import Prepared, annotate_sources
from aegir.pipeline.settings import DEFAULTS
from aegir.readers.calibration import Thresholds
from aegir.readers.ngrams.annotator import NgramsAnnotator
from aegir.tables.labelled import read_labelled_tables
from aegir.tables.readers import read_tables
from aegir.tables.table import Table
from aegir.vocabulary.terms import FINE_NAMES, TYPE_NAMES, plain_name
from aegir_rl.base.errors import UsageError
from ngram_models import random_model
from taught_types import EXAMPLES, NOT, write_hospital


def teach(folder: Path, name: str, examples: list[str], against: list[str] | None = None) -> Learnt:
    places = [f"{folder}/{place}" for place in examples]
    others = [f"{folder}/{place}" for place in against or []]
    return learn_type(name, places, others, load_reader(), load_annotator(), personal=True)


@pytest.fixture(scope="module")
def hospital(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_hospital(tmp_path_factory.mktemp("hospital"))


@pytest.fixture(scope="module")
def learnt(hospital: Path) -> Learnt:
    return teach(hospital, "Patient/id", [*EXAMPLES], [*NOT])


def answers(folder: Path, annotator, *files: str):
    places = [str(folder / file) for file in files]
    prepared = Prepared(DEFAULTS, annotator, Thresholds(0.1, 0.1))
    return [each.answer for each in annotate_sources(places, prepared)]


def test_the_report_counts_examples_parts_and_mistakes(learnt: Learnt):
    report = learnt.report
    assert (report.columns, report.files, report.parts) == (2, 2, 6)
    assert report.recognised == 6
    assert report.known == sum(len(one.table.columns) for one in read_background())
    assert report.taken <= 3
    assert (report.neighbours, report.neighbours_taken) == (7, 0)  # 3 + 3 beside, 1 given
    assert sum(report.so_far.values()) == 2
    assert report.disguised_taken <= 1
    assert report.complaint() is None
    assert json.loads(json.dumps(learnt.type.figures)) == learnt.type.figures


def test_a_taught_type_is_answered_in_a_table_it_never_saw(hospital: Path, learnt: Learnt):
    annotator = WithCustomTypes(load_annotator(), [learnt.type], load_reader())
    lab, bills = answers(hospital, annotator, "lab.csv", "bills.csv")
    patient = lab.columns[0]
    assert (patient.type, patient.iri, patient.personal) == ("Patient/id", None, True)
    assert 0.5 <= patient.confidence <= 0.875  # (6 + 1) / (6 + 2) for six parts
    assert patient.reasons[0] == "reads like the 2 columns Patient/id was learnt from"
    assert patient.runners_up[0].label in map(plain_name, TYPE_NAMES)
    assert "Patient/id" not in [column.type for column in (*lab.columns[1:], *bills.columns)]


def test_columns_that_are_not_claimed_keep_their_answer_bit_for_bit(hospital: Path, learnt: Learnt):
    plain = load_annotator()
    table = next(iter(read_tables(str(hospital / "lab.csv"))))
    before = plain.score([table])[0]
    after = WithCustomTypes(plain, [learnt.type], load_reader()).score([table])[0]
    assert [len(one) for one in after.custom] == [1, 0, 0]
    assert np.array_equal(before.types[1:], after.types[1:])
    assert np.array_equal(before.relations, after.relations)
    assert decide(table, before, "x").columns[1:] == decide(table, after, "x").columns[1:]
    claimed = after.custom[0][0].confidence
    assert after.types[0].sum() == pytest.approx(before.types[0].sum() * (1 - claimed), rel=1e-5)


def test_every_format_takes_a_taught_type(hospital: Path, learnt: Learnt):
    odd = replace(learnt.type, name='Pa"ti\u00e9nt: #1, <id>')
    found = answers(hospital, WithCustomTypes(load_annotator(), [odd], load_reader()), "lab.csv")
    for name, render in FORMATS.items():
        assert name.startswith("load") or "Pa" in render(
            found
        )  # load scripts state no types of ours
    assert "Pa" in render_text(found, colour=False)


def test_abstaining_on_a_taught_type_names_it_as_the_best_guess(hospital: Path, learnt: Learnt):
    annotator = WithCustomTypes(load_annotator(), [learnt.type], load_reader())
    prepared = Prepared(DEFAULTS, annotator, Thresholds(0.99, 0.99))
    (found,) = annotate_sources([str(hospital / "lab.csv")], prepared)
    assert found.answer.columns[0].type is None
    assert found.answer.columns[0].runners_up[0].label == "Patient/id"


def test_a_taught_type_is_answered_where_the_annotator_knows_nothing(
    hospital: Path, learnt: Learnt
):
    annotator = WithCustomTypes(load_annotator("rules"), [learnt.type], load_reader())
    assert answers(hospital, load_annotator("rules"), "lab.csv")[0].columns[0].type is None
    assert answers(hospital, annotator, "lab.csv")[0].columns[0].type == "Patient/id"
    empty = Table("none", ())
    assert not len(annotator.score([empty])[0].types)


def test_two_types_that_claim_a_column_share_it_by_their_odds(hospital: Path, learnt: Learnt):
    twins = [replace(learnt.type, name=name) for name in ("B", "A")]
    table = next(iter(read_tables(str(hospital / "lab.csv"))))
    one = WithCustomTypes(load_annotator(), twins[:1], load_reader()).score([table])[0]
    two = WithCustomTypes(load_annotator(), twins, load_reader()).score([table])[0]
    alone = one.custom[0][0].confidence  # odds a: a / (1 + a) alone, a / (1 + 2 a) each together
    assert [guess.name for guess in two.custom[0]] == ["A", "B"]
    assert two.custom[0][0].confidence == pytest.approx(alone / (1 + alone))


def test_without_taught_types_the_annotator_comes_back_as_it_was(tmp_path: Path):
    def never() -> Reader:
        raise AssertionError("nothing is to be loaded")

    annotator = load_annotator()
    assert with_custom_types(annotator, tmp_path / "nothing", load=never) is annotator


def test_other_weights_and_broken_files_are_passed_over_with_a_sentence(
    tmp_path: Path, learnt: Learnt
):
    save_type(tmp_path, replace(learnt.type, fingerprint="old"))
    (tmp_path / "broken.json").write_text("{")
    said: list[str] = []
    annotator = load_annotator()
    same = with_custom_types(annotator, tmp_path, say=said.append, load=load_reader)
    assert same is annotator
    assert "holds no type" in said[0]
    assert "Patient/id is not used: it was learnt with other weights; learn it again" in said[1]
    (tmp_path / "broken.json").unlink()
    with pytest.warns(UserWarning, match="learn it again"):
        with_custom_types(annotator, tmp_path, load=load_reader)


def test_precision_works_with_taught_types(tmp_path: Path, learnt: Learnt):
    save_type(tmp_path, learnt.type)
    annotator = load_annotator()
    wrapped = with_custom_types(annotator, tmp_path, load=load_reader)
    assert vars(wrapped)["operating_points"] == vars(annotator)["operating_points"]
    assert wrapped.name == annotator.name


def test_too_few_and_too_short_examples_are_refused_in_a_sentence(tmp_path: Path):
    (tmp_path / "short.csv").write_text("code,n\n" + "".join(f"a{i},{i}\n" for i in range(20)))
    with pytest.raises(UsageError, match="Foo has 2 examples, and 5 are needed"):
        teach(tmp_path, "Foo", ["short.csv:code"])


def test_a_column_cannot_be_both_an_example_and_none(hospital: Path):
    with pytest.raises(UsageError, match=r"wards.csv:patient is given as an example and with"):
        teach(hospital, "Foo", ["wards.csv:patient"], ["wards.csv:1"])


def test_examples_with_nothing_in_common_are_refused(tmp_path: Path):
    kinds = ["red\nblue\n" * 9, "1.5\n2.5\n" * 9, "a@b.org\nc@d.org\n" * 9]
    kinds += ["2031-01-02\n" * 18, "https://example.org/x\n" * 18, "+44 1632 960552\n" * 18]
    for i, cells in enumerate(kinds):
        (tmp_path / f"{i}.csv").write_text(f"h{i}{i}\n{cells}")
    report = teach(tmp_path, "Mixed", [f"{i}.csv:1" for i in range(6)]).report
    assert report.recognised < 3
    assert "too little in common" in str(report.complaint())


@pytest.mark.parametrize(
    ("figures", "said"),
    [
        ({"taken": 17, "taken_of": {"sku": 9}}, "17 of 1000 known columns (of sku)"),
        ({"neighbours_taken": 7}, "take 7 of 20 columns beside the examples"),
        ({"recognised": 2}, "only 2 of 6 examples would be recognised"),
        ({"taken": 10, "neighbours_taken": 6, "recognised": 3}, "None"),
    ],
)
def test_a_type_that_cannot_be_told_from_others_says_why(figures: dict, said: str):
    fair = Report(6, 6, 6, 6, 6, 1000, 0, {}, 100, 0, 20, 0, {})
    assert said in str(replace(fair, **figures).complaint())


def test_validation_counts_what_other_types_lose(tmp_path: Path, hospital: Path, learnt: Learnt):
    lab = next(iter(read_tables(str(hospital / "lab.csv"))))
    labels = ["Patient/id", "Number", None]
    other = [{"name": "patient", "values": lab.columns[0].values, "cta": "IdentifierAT"}]
    lines = [
        [
            {"name": column.name, "values": column.values, "cta": label}
            for column, label in zip(lab.columns, labels, strict=True)
        ],
        [*other, {"name": "unit", "values": ["mg/l"] * 20, "cta": None}],
    ]
    path = tmp_path / "labelled.jsonl"
    path.write_text("".join(json.dumps({"columns": line}) + "\n" for line in lines))
    tables = list(read_labelled_tables(path))
    found = validate_type(learnt.type, tables, load_annotator(), load_reader())
    assert (found.columns, found.of_type, found.recognised) == (2, 1, 1)
    assert (found.taken, found.taken_of) == (1, {"IdentifierAT": 1})
    assert found.right_after <= found.right_before


def test_validation_reads_fine_types_and_columns_without_a_type(
    tmp_path: Path, hospital: Path, learnt: Learnt
):
    lab = next(iter(read_tables(str(hospital / "lab.csv"))))
    cells = lab.columns[0].values[:20]
    columns: list[dict] = [
        {"name": "patient", "values": cells, "types": ["IdentifierAT"], "fine": ["Patient/id"]},
        {"name": "patient", "values": cells, "types": [], "fine": []},
        {"name": "patient", "values": cells, "fine": ["person_id"]},
        {"name": "note", "values": ["mg/l"] * 20, "personal": False},
    ]
    path = tmp_path / "open.jsonl"
    path.write_text("".join(json.dumps({"columns": [column]}) + "\n" for column in columns))
    tables = list(read_labelled_tables(path))
    found = validate_type(learnt.type, tables, load_annotator(), load_reader())
    assert (found.columns, found.of_type, found.recognised) == (2, 1, 1)
    assert found.taken_of == {"no type": 1, "person_id": 1}
    assert found.right_after == 0


def test_the_fingerprint_is_of_the_networks_alone():
    model = random_model()
    assert fingerprint_of(model) == fingerprint_of(replace(model, facts={"x": 1}))
    assert fingerprint_of(model) != fingerprint_of(random_model(seed=1))
    assert fingerprint_of(model) != fingerprint_of(replace(model, networks=model.networks[:1]))
    assert len(fingerprint_of(model)) == 16


def test_columns_are_read_alike_however_many_are_read_at_once():
    reader = Reader(NgramsAnnotator(random_model()), "random")
    tables = [one.table for one in read_background()[: TABLES_AT_ONCE + 3]]
    readings = reader.read(tables)
    assert [len(one) for one in readings] == [len(table.columns) for table in tables]
    (last,) = reader.read(tables[-1:])
    assert np.array_equal(last.vectors, readings[-1].vectors)


def test_the_records_that_ship_are_what_their_maker_makes():
    def records(tables):
        named = (one.table for one in tables if one.table.name.startswith("record/"))
        return [(table.name, table.columns) for table in named]

    assert records(read_background()) == records(background_tables())


def test_the_background_has_headers_and_columns_alone_in_fair_shares():
    tables = read_background()
    columns = sum(len(one.table.columns) for one in tables)
    headed = np.mean([one.table.columns[0].name is not None for one in tables])
    alone = sum(len(one.table.columns) == 1 for one in tables) / columns
    assert 0.65 < headed < 0.85
    assert 0.1 < alone < 0.4
    named = {name for one in tables for labels in one.labels for name in names_of(labels)}
    assert len(named & set(TYPE_NAMES)) >= 60
    assert len(named & set(FINE_NAMES)) >= 250


def test_known_columns_are_read_with_their_names_and_some_again_under_the_headers():
    reader = Reader(NgramsAnnotator(random_model()), "random")
    background = read_known_columns(reader, ["patient", None, "bed"])
    assert len(background.readings) == len(background.labels) == len(background.groups)
    assert len(set(background.groups)) == len(read_background())
    assert {"telephone", "status", None} <= set(background.labels)
    assert 100 <= len(background.disguised) <= 110
    assert set(background.disguised.headers) == {"patient", "bed"}
    assert not len(read_known_columns(reader, [None]).disguised)
