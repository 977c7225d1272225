"""`aegir.annotate`: every kind of source, folders in parts, abstention, failures, formats."""

import json
import shutil
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import pandas
import polars
import pyarrow
import pytest

import aegir
from aegir.answers.writers import FORMATS
from aegir.pipeline.registry import ANNOTATORS, load_annotator, thresholds_for
from aegir.pipeline.run import Annotations, annotate, choose_thresholds, prepare
from aegir.pipeline.settings import AnnotationSettings
from aegir.readers.calibration import NEVER, OperatingPoints, Thresholds
from aegir.readers.scores import TableScores
from aegir.tables.table import Table
from aegir_rl.base.errors import UnreadableTable, UsageError

EXAMPLES = Path(__file__).parents[3] / "examples"
COLUMNS = {
    "name": ["Ann Lee", "Bob Ray", "Eve Fox", "Max Orr"],
    "email": ["ann@example.org", "bob@example.org", "eve@example.org", "max@example.org"],
    "born": ["1990-01-02", "1985-11-30", "1979-06-01", "2001-08-19"],
}
RECORDS = [dict(zip(COLUMNS, row, strict=True)) for row in zip(*COLUMNS.values(), strict=True)]


def types(found: Annotations) -> list[str | None]:
    (table,) = found
    return [column.type for column in table.columns]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    lake = tmp_path / "lake"
    lake.mkdir()
    for name in ("books.csv", "films.csv", "jobs.jsonl", "products.tsv", "sensors.parquet"):
        shutil.copy(EXAMPLES / name, lake / name)
    return lake


@pytest.mark.parametrize(
    "source",
    [
        COLUMNS,
        RECORDS,
        pandas.DataFrame(COLUMNS),
        polars.DataFrame(COLUMNS),
        pyarrow.table(COLUMNS),
    ],
    ids=["dict", "records", "pandas", "polars", "pyarrow"],
)
def test_a_table_in_memory_is_annotated_like_the_same_dict(source: object):
    assert aegir.annotate(source).tables == annotate(COLUMNS).tables
    assert types(annotate(source))[1] == "email"


def test_a_path_may_be_text_or_a_path():
    assert annotate(EXAMPLES / "books.csv") == annotate(str(EXAMPLES / "books.csv"))


def test_a_list_of_paths_is_several_sources(folder: Path):
    first, second, *_ = sorted(folder.iterdir())
    assert annotate([first, str(second)]) == annotate(first, second)
    assert annotate((first,)) == annotate(first)
    found = annotate([first, folder / "films.csv"], COLUMNS)
    assert [table.table for table in found] == [first.name, "films.csv", "table"]


def test_weights_of_ones_own_are_named_by_their_path(tmp_path: Path):
    shipped = Path(aegir.__file__).parent / "readers" / "weights" / "ngrams.safetensors"
    own = shutil.copy(shipped, tmp_path / "own.safetensors")
    for model in (own, str(own)):
        assert annotate(COLUMNS, model=model) == annotate(COLUMNS)
    with pytest.raises(UsageError, match=r"no\.safetensors cannot be read as a model"):
        annotate(COLUMNS, model="no.safetensors")


def test_a_folder_and_a_pattern_give_a_table_per_file(folder: Path):
    found = annotate(folder)
    assert [table.table for table in found] == [path.name for path in sorted(folder.iterdir())]
    assert len(annotate(f"{folder}/*.csv")) == 2


def test_a_folder_in_two_runs_gives_what_one_run_gives(folder: Path):
    files = sorted(folder.iterdir())
    whole = annotate(folder)
    parts = annotate(*files[:2]).tables + annotate(*files[2:]).tables
    assert whole.tables == parts
    assert annotate(*files[::-1]).tables[::-1] == whole.tables


def test_several_sources_of_different_kinds_go_together():
    found = annotate(EXAMPLES / "books.csv", COLUMNS)
    assert [len(table.columns) for table in found] == [
        len(annotate(EXAMPLES / "books.csv")[0].columns),
        3,
    ]
    assert found[1] == annotate(COLUMNS)[0]


@pytest.mark.parametrize("annotator", sorted(set(ANNOTATORS) - {"swarm"}))
def test_a_copy_without_headers_still_works(annotator: str):
    bare = pandas.DataFrame(list(zip(*COLUMNS.values(), strict=True)))
    found = annotate(bare, annotator=annotator)
    assert [column.name for column in found[0].columns] == [None] * 3
    assert types(found)[1] == "email"


def test_below_min_confidence_the_answer_is_an_abstention():
    (sure,) = annotate(COLUMNS, min_confidence=1.0)
    (plain,) = annotate(COLUMNS)
    for strict, column in zip(sure.columns, plain.columns, strict=True):
        if column.confidence < 1:
            assert strict.label is None
            assert strict.confidence == strict.runners_up[0].confidence
            assert column.label in {guess.label for guess in strict.runners_up}
        assert strict.relation is None or strict.relation.confidence == 1


@pytest.mark.parametrize("annotator", ["combined", "ngrams"])
def test_a_higher_precision_never_means_a_lower_threshold(annotator: str):
    chosen = load_annotator(annotator)
    reached = []
    for percent in range(50, 100):
        try:
            reached.append(thresholds_for(chosen, percent / 100))
        except UsageError:
            break
    assert len(reached) > 20
    for modest, strict in pairwise(reached):
        assert modest.types <= strict.types
        assert modest.relations <= strict.relations
    assert reached[-1].types > reached[0].types


def test_prepare_loads_the_annotator_with_its_thresholds():
    settings = AnnotationSettings(annotator="ngrams", precision=0.85, custom_types=False)
    prepared = prepare(settings)
    assert prepared.annotator.name == "ngrams"
    assert prepared.thresholds == choose_thresholds(load_annotator("ngrams"), settings)
    rules = prepare(AnnotationSettings(annotator="rules", min_confidence=0.3))
    assert rules.thresholds == Thresholds(0.3, 0.3)


def test_precision_and_min_confidence_together_take_the_stricter():
    class Known:
        name = "known"
        operating_points = OperatingPoints(
            {"cta": [(0.9, 0.6)], "cpa": [(0.9, 0.7)], "cta@open": [(0.9, 0.4)], "cpa@open": []}
        )

        def score(self, tables: Sequence[Table]) -> list[TableScores]:
            raise AssertionError("nothing is annotated")

    def thresholds(least: float, precision: float | None) -> Thresholds:
        settings = AnnotationSettings(min_confidence=least, precision=precision)
        return choose_thresholds(Known(), settings)

    assert thresholds(0.5, None) == Thresholds(0.5, 0.5)
    asked = thresholds(0.0, 0.85)
    assert asked == Thresholds(0.6, 0.7, Thresholds(0.4, NEVER))
    assert thresholds(0.3, 0.85) == asked
    stricter = thresholds(0.65, 0.85)
    assert stricter == Thresholds(0.65, 0.7, Thresholds(0.65, NEVER))
    Known.operating_points = OperatingPoints(
        {**Known.operating_points.points, "label@open": [(0.9, 0.55)]}
    )
    assert thresholds(0.3, 0.85).finer == 0.55
    assert thresholds(0.65, 0.85).on(web=0.1).finer == 0.65


@pytest.mark.parametrize(
    ("asked", "sentence"),
    [
        (
            {"precision": 0.999999},
            r"precision 0.999999 was not reached .* the highest that was is 0\.\d+",
        ),
        ({"precision": 1.5}, "precision is 1.5; expected a number between 0 and 1"),
        (
            {"precision": 0.9, "annotator": "rules"},
            "has no validation figures .* use --min-confidence",
        ),
        ({"min_confidence": -1}, "min_confidence is -1; expected a number from 0 to 1"),
        ({"annotator": "combind"}, "unknown annotator 'combind'; did you mean 'combined'?"),
        (
            {"annotator": "zzz"},
            "unknown annotator 'zzz'; there are dispatch, combined, byte_model, ngrams, rules",
        ),
        ({"rows": 0}, "rows is 0"),
    ],
)
def test_what_cannot_be_asked_is_refused_in_one_sentence(asked: dict, sentence: str):
    with pytest.raises(UsageError, match=sentence):
        annotate(COLUMNS, **asked)


def test_a_single_source_that_fails_raises_its_error(nasty: dict[str, Path]):
    with pytest.raises(UnreadableTable, match=r"empty\.csv"):
        annotate(nasty["empty.csv"])
    with pytest.raises(UsageError, match="there is no file or folder"):
        annotate("nowhere.csv")
    with pytest.raises(UsageError, match="cannot read a table from int"):
        annotate(42)


def test_among_several_sources_a_missing_file_is_a_failure():
    books = EXAMPLES / "books.csv"
    for sources in ((books, "nowhere.csv"), ([books, "nowhere.csv"],)):
        found = annotate(*sources)
        assert [table.table for table in found] == ["books.csv"]
        (failure,) = found.failures
        assert (failure.source, failure.kind) == ("nowhere.csv", UsageError)


def test_among_several_sources_failures_are_collected(nasty: dict[str, Path]):
    found = annotate(nasty["empty.csv"], COLUMNS, nasty["photo.csv"], {"a": [1], "b": [1, 2]})
    assert len(found) == 1
    assert [failure.source for failure in found.failures] == [
        str(nasty["empty.csv"]),
        str(nasty["photo.csv"]),
        "table",
    ]
    assert "empty.csv" in found.failures[0].reason
    assert "equally long" in found.failures[2].reason


def test_printing_shows_a_line_per_column():
    shown = str(annotate(COLUMNS))
    lines = {
        line.split()[0]: line for line in shown.replace("* ", "  ").splitlines() if line.strip()
    }
    assert {"name", "email", "born"} <= set(lines)
    assert " email" in lines["email"]
    assert "\x1b" not in shown
    assert not shown.endswith("\n")


@pytest.mark.parametrize("format_name", sorted(FORMATS))
def test_annotations_are_given_in_every_format(format_name: str):
    text = annotate(COLUMNS).to(format_name)
    # Databases load files, not what is in memory.
    assert ("not loaded" if format_name.startswith("load") else "email") in text
    if format_name in ("json", "jsonl", "frictionless", "csvw"):
        assert json.loads(text)


def test_the_text_format_is_what_print_shows():
    found = annotate(COLUMNS)
    assert found.to("text") == f"{found}\n"


def test_an_unknown_format_is_refused_with_those_there_are():
    with pytest.raises(UsageError, match="unknown format 'xml'; there are text, json, jsonl, csv"):
        annotate(COLUMNS).to("xml")


def test_annotations_are_a_sequence():
    found = annotate(COLUMNS, COLUMNS)
    assert len(found) == 2
    assert found[0] == found[-1]
    assert found[:1] == (found[0],)
    assert list(found) == list(found.tables)


def test_no_source_gives_no_annotation():
    assert len(annotate()) == 0


def test_settings_that_an_annotator_object_cannot_follow_are_refused():
    rules = load_annotator("rules")
    assert len(annotate(COLUMNS, annotator=rules, memory=False)) == 1
    with pytest.raises(UsageError, match="effort does not go with an annotator object"):
        annotate(COLUMNS, annotator=rules, effort="high")
    with pytest.raises(UsageError, match="the annotator is 42; expected a name, or an object"):
        annotate(COLUMNS, annotator=42)
