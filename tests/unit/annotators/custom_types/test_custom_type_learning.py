"""Teaching a type: what is learnt, what is measured, what is refused, and what it changes."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from aegir.annotators.annotate import annotate_sources
from aegir.annotators.byte_model import ByteModelAnnotator
from aegir.annotators.custom_types.embedder import (
    Embedder,
    embed_background,
    fingerprint_of,
    load_embedder,
    read_background,
)
from aegir.annotators.custom_types.learning import Learnt, Report, learn_type
from aegir.annotators.custom_types.recognising import (
    WithCustomTypes,
    validate_type,
    with_custom_types,
)
from aegir.annotators.custom_types.store import save_type
from aegir.annotators.decide import Thresholds, decide
from aegir.annotators.registry import load_annotator
from aegir.answers.writers import FORMATS, render_text
from aegir.data.background_tables import background_tables
from aegir.errors import UsageError
from aegir.model.network import ByteModel
from aegir.tables.labelled import read_labelled_tables
from aegir.tables.readers import read_tables
from aegir.tables.table import Table
from aegir.vocabulary.terms import TYPE_NAMES
from byte_models import LAYOUTS, random_checkpoint
from taught_types import EXAMPLES, NOT, ngrams_only, write_hospital


def teach(folder: Path, name: str, examples: list[str], against: list[str] | None = None) -> Learnt:
    places = [f"{folder}/{place}" for place in examples]
    others = [f"{folder}/{place}" for place in against or []]
    return learn_type(name, places, others, ngrams_only(), load_annotator(), personal=True)


@pytest.fixture(scope="module")
def hospital(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_hospital(tmp_path_factory.mktemp("hospital"))


@pytest.fixture(scope="module")
def learnt(hospital: Path) -> Learnt:
    return teach(hospital, "Patient/id", [*EXAMPLES], [*NOT])


def answers(folder: Path, annotator, *files: str):
    places = [str(folder / file) for file in files]
    return list(annotate_sources(places, annotator, Thresholds(0.1, 0.1)))


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
    annotator = WithCustomTypes(load_annotator(), [learnt.type], ngrams_only())
    lab, bills = answers(hospital, annotator, "lab.csv", "bills.csv")
    patient = lab.columns[0]
    assert (patient.type, patient.iri, patient.personal) == ("Patient/id", None, True)
    assert 0.5 <= patient.confidence <= 0.875  # (6 + 1) / (6 + 2) for six parts
    assert patient.reasons[0] == "reads like the 2 columns Patient/id was learnt from"
    assert patient.runners_up[0].label in TYPE_NAMES
    assert "Patient/id" not in [column.type for column in (*lab.columns[1:], *bills.columns)]


def test_columns_that_are_not_claimed_keep_their_answer_bit_for_bit(hospital: Path, learnt: Learnt):
    plain = load_annotator()
    table = next(iter(read_tables(str(hospital / "lab.csv"))))
    before = plain.score([table])[0]
    after = WithCustomTypes(plain, [learnt.type], ngrams_only()).score([table])[0]
    assert [len(one) for one in after.custom] == [1, 0, 0]
    assert np.array_equal(before.types[1:], after.types[1:])
    assert np.array_equal(before.relations, after.relations)
    assert decide(table, before, "x").columns[1:] == decide(table, after, "x").columns[1:]
    claimed = after.custom[0][0].confidence
    assert after.types[0].sum() == pytest.approx(before.types[0].sum() * (1 - claimed), rel=1e-5)


def test_every_format_takes_a_taught_type(hospital: Path, learnt: Learnt):
    odd = replace(learnt.type, name='Pa"ti\u00e9nt: #1, <id>')
    found = answers(hospital, WithCustomTypes(load_annotator(), [odd], ngrams_only()), "lab.csv")
    for render in FORMATS.values():
        assert "Pa" in render(found)
    assert "Pa" in render_text(found, colour=False)


def test_abstaining_on_a_taught_type_names_it_as_the_best_guess(hospital: Path, learnt: Learnt):
    annotator = WithCustomTypes(load_annotator(), [learnt.type], ngrams_only())
    found = list(annotate_sources([str(hospital / "lab.csv")], annotator, Thresholds(0.99, 0.99)))
    assert found[0].columns[0].type is None
    assert found[0].columns[0].runners_up[0].label == "Patient/id"


def test_a_taught_type_is_answered_where_the_annotator_knows_nothing(
    hospital: Path, learnt: Learnt
):
    annotator = WithCustomTypes(load_annotator("rules"), [learnt.type], ngrams_only())
    assert answers(hospital, load_annotator("rules"), "lab.csv")[0].columns[0].type is None
    assert answers(hospital, annotator, "lab.csv")[0].columns[0].type == "Patient/id"
    empty = Table("none", ())
    assert not len(annotator.score([empty])[0].types)


def test_two_types_that_claim_a_column_share_it_by_their_odds(hospital: Path, learnt: Learnt):
    twins = [replace(learnt.type, name=name) for name in ("B", "A")]
    table = next(iter(read_tables(str(hospital / "lab.csv"))))
    one = WithCustomTypes(load_annotator(), twins[:1], ngrams_only()).score([table])[0]
    two = WithCustomTypes(load_annotator(), twins, ngrams_only()).score([table])[0]
    alone = one.custom[0][0].confidence  # odds a: a / (1 + a) alone, a / (1 + 2 a) each together
    assert [guess.name for guess in two.custom[0]] == ["A", "B"]
    assert two.custom[0][0].confidence == pytest.approx(alone / (1 + alone))


def test_without_taught_types_the_annotator_comes_back_as_it_was(tmp_path: Path):
    def never() -> Embedder:
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
    same = with_custom_types(annotator, tmp_path, say=said.append, load=ngrams_only)
    assert same is annotator
    assert "holds no type" in said[0]
    assert "Patient/id is not used: it was learnt with other weights; learn it again" in said[1]
    (tmp_path / "broken.json").unlink()
    with pytest.warns(UserWarning, match="learn it again"):
        with_custom_types(annotator, tmp_path, load=ngrams_only)


def test_precision_works_with_taught_types(tmp_path: Path, learnt: Learnt):
    save_type(tmp_path, learnt.type)
    annotator = load_annotator()
    wrapped = with_custom_types(annotator, tmp_path, load=ngrams_only)
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
        ({"neighbours_taken": 3}, "take 3 of 20 columns beside the examples"),
        ({"recognised": 2}, "only 2 of 6 examples would be recognised"),
        ({"taken": 10, "neighbours_taken": 2, "recognised": 3}, "None"),
    ],
)
def test_a_type_that_cannot_be_told_from_others_says_why(figures: dict, said: str):
    fair = Report(6, 6, 6, 6, 6, 1000, 0, {}, 100, 0, 20, 0, {})
    assert said in str(replace(fair, **figures).complaint())


def test_validation_counts_what_other_types_lose(tmp_path: Path, hospital: Path, learnt: Learnt):
    lab = next(iter(read_tables(str(hospital / "lab.csv"))))
    labels = ["Patient/id", "Number", None]
    other = [{"name": "pat", "values": lab.columns[0].values[:20], "cta": "IdentifierAT"}]
    lines = [
        [
            {"name": column.name, "values": column.values[:20], "cta": label}
            for column, label in zip(lab.columns, labels, strict=True)
        ],
        [*other, {"name": "unit", "values": ["mg/l"] * 20, "cta": None}],
    ]
    path = tmp_path / "labelled.jsonl"
    path.write_text("".join(json.dumps({"columns": line}) + "\n" for line in lines))
    tables = list(read_labelled_tables(path))
    found = validate_type(learnt.type, tables, load_annotator(), ngrams_only())
    assert (found.columns, found.of_type, found.recognised) == (2, 1, 1)
    assert (found.taken, found.taken_of) == (1, {"IdentifierAT": 1})
    assert found.right_after <= found.right_before


def test_types_learnt_before_the_weights_file_lost_unread_facts_stay_usable():
    assert load_embedder().fingerprint == "d8b68e0f33d8e56b"


def test_an_embedder_sets_models_side_by_side_and_ignores_the_subject():
    facts = {"calibration": {"bytes": {"cta": 1.0, "cpa": 1.0}}}
    checkpoint = replace(random_checkpoint(LAYOUTS["bare"]), facts=facts)
    network = ByteModelAnnotator(ByteModel(checkpoint))
    both = Embedder((*ngrams_only().parts, network), fingerprint_of(["a", "b"]))
    tables = [one.table for one in read_background()[:20]]
    found = both.embed(tables)
    width = 3 * (82 + 108) + 32
    assert [one.shape for one in found] == [(len(table.columns), width) for table in tables]
    named = [replace(table, subject=0) for table in tables]
    assert all(np.array_equal(a, b) for a, b in zip(found, both.embed(named), strict=True))
    assert len(both.fingerprint) == 16


def test_the_records_that_ship_are_what_their_maker_makes():
    def records(tables):
        named = (one.table for one in tables if one.table.name.startswith("record/"))
        return [(table.name, table.columns) for table in named]

    assert records(read_background()) == records(background_tables())


def test_the_background_has_headers_and_columns_alone_in_fair_shares():
    tables = read_background()
    background = embed_background(ngrams_only(), ["patient", None])
    headed = np.mean([one.table.columns[0].name is not None for one in tables])
    alone = sum(len(one.table.columns) == 1 for one in tables) / len(background.groups)
    assert 0.65 < headed < 0.85
    assert 0.25 < alone < 0.4
    assert len(set(background.labels) - {None}) >= 60
    assert 100 <= len(background.disguised) <= 110
    assert not len(embed_background(ngrams_only(), [None]).disguised)
