"""A search on the models that ship: what effort adds, what it must not change, and what a time limit does."""

import math
from itertools import count
from pathlib import Path

import numpy as np
import pytest

from aegir.pipeline.batch import CalledColumns, PipelineBatch
from aegir.pipeline.further_readings import FurtherReadings, unread_cells
from aegir.pipeline.pipeline import Pipeline, load_pipeline
from aegir.pipeline.plan import READERS, Call, SearchDepth, TablePlan
from aegir.pipeline.registry import load_annotator
from aegir.pipeline.run import annotate
from aegir.pipeline.search import Search, describe_path
from aegir.pipeline.settings import AnnotationSettings
from aegir.pipeline.within import TableClock, Within
from aegir.readers.rules.judge import RuleVerdict
from aegir.readers.scores import Explanation, TableScores
from aegir.routing.decisions import load_routing
from aegir.tables.readers import read_tables
from aegir.tables.table import Column, Table
from aegir_rl.base.errors import UsageError

EXAMPLES = Path(__file__).parents[3] / "examples"


@pytest.fixture(scope="module")
def tables() -> list[Table]:
    names = ("books.csv", "access_log.csv", "bestellungen.csv")
    return [table for name in names for table in read_tables(EXAMPLES / name)]


def pipeline(effort: float, within: float | None = None) -> Pipeline:
    return load_pipeline(AnnotationSettings(effort=effort, within=within))


def equal(one: TableScores, other: TableScores) -> bool:
    parts = ("types", "relations", "fine", "personal")
    return all(getattr(one, part).tobytes() == getattr(other, part).tobytes() for part in parts)


def test_normal_effort_gives_the_answers_of_the_default_bit_for_bit(tables):
    default = load_pipeline(AnnotationSettings()).score(tables)
    assert all(map(equal, pipeline(0.5).score(tables), default))


def test_a_search_depends_on_its_table_alone(tables):
    search = pipeline(1.0)
    together = search.score(tables)
    alone = [search.score([table])[0] for table in tables]
    assert all(map(equal, together, alone))


def test_high_effort_searches_only_ambiguous_columns_and_shows_the_path(tables):
    scores = pipeline(1.0).score(tables)
    searched = [
        (each, column)
        for each in scores
        for column, explanation in enumerate(each.explanations)
        if any("searched with" in reason for reason in explanation.evidence)
    ]
    assert 0 < len(searched) < sum(len(table.columns) for table in tables)
    for each, column in searched:
        assert describe_path(each, column) in each.explanations[column].evidence[-1]


def test_a_search_is_a_decision_of_the_effort(tables):
    (scores,) = pipeline(1.0).score(tables[1:2])
    assert scores.routed is not None
    decisions = [episode.decisions for episode in scores.routed.episodes()]
    searches = [each[-1] for each in decisions if each[-1].action["worker"] == "search@1"]
    assert 0 < len(searches) < len(decisions)
    for decision in searches:
        assert decision.decided_by == "effort"
        assert "sure" in decision.reason


def test_low_effort_leaves_every_column_to_the_first_reading(tables):
    for scores in pipeline(0.0).score(tables):
        assert scores.routed is not None
        assert {step.worker for steps in scores.routed.steps for step in steps} == {"ngrams"}


def test_without_time_the_first_pass_answers_and_says_so(tables):
    clock = count(step=1.0)  # every look at the clock costs a second
    plain = pipeline(1.0)
    (cut,) = plain.with_plan(Within(plain.plan, 0.5, lambda: float(next(clock)))).score(tables[1:2])
    (first,) = pipeline(0.0).score(tables[1:2])
    assert equal(cut, first)
    assert "the time limit of 500 ms ended the search" in cut.notes[0]


def test_with_little_time_the_least_sure_columns_come_first(tables):
    batch = pipeline(1.0).read_first(tables[1:2])
    within = Within(TablePlan(load_routing(None, READERS)), 1.0, lambda: 0.0)
    within.clock.start()
    within.clock.needs["byte network"] = 0.3  # three columns fit: one, and two beside it
    unsure = Call("combined", batch.confidence() < 0.9, context=2)
    fitting = within._fit(unsure, batch)
    assert unsure.columns.sum() > 1
    assert batch.confidence()[fitting.columns].tolist() == [batch.confidence().min()]


def test_with_enough_time_a_limit_changes_nothing(tables):
    limited = pipeline(0.75, within=3600.0).score(tables)
    assert all(map(equal, limited, pipeline(0.75).score(tables)))


def test_the_clock_learns_how_long_steps_take():
    seconds = iter([0.0, 0.0, 0.0, 4.0, 4.0, 4.0, 4.0])
    clock = TableClock(10.0, lambda: next(seconds))
    clock.start()
    clock.needs["reading"] = 1.0
    assert clock.may_go_on("reading", 2)  # began at 0
    clock.stop()  # at 4: two seconds per column, so 1 + 0.3 (2 - 1)
    assert clock.needs["reading"] == pytest.approx(1.3)
    assert not clock.may_go_on("reading", 5)  # 6.5 seconds would be needed, 6 are left
    assert clock.cut == "reading"
    clock.start()  # a tenth of the way back to the usual 0.002
    assert clock.needs["reading"] == pytest.approx(1.3 - 0.1 * (1.3 - 0.002))


def test_further_readings_share_the_cells_that_the_first_one_left():
    cells = tuple(str(number) for number in range(30))
    column = Column("n", cells)
    further = [cell for reading in (1, 2, 3, 4) for cell in unread_cells(column, reading)]
    assert sorted(further, key=int) == sorted(set(cells) - set(column.spread(12)), key=int)
    assert unread_cells(Column("n", cells[:12]), 1) == ()


def test_a_search_ends_when_a_step_tells_nothing_new():
    class Unchanging:
        calls = 0

        def ask_networks(self, tables, verdicts):
            Unchanging.calls += 1
            return {
                "types": np.full((1, 82), 0.01, np.float32),
                "fine": np.full((1, 3), 0.1, np.float32),
            }

    table = Table("t", (Column("n", tuple(map(str, range(100)))),))
    types = np.full((1, 82), 0.01, np.float32)
    fine = np.full((1, 3), 0.1, np.float32)
    start = TableScores(types, types[:, :0], None, (Explanation(),), fine=fine)
    batch = PipelineBatch([table], [RuleVerdict()], [start])
    search = Search(Unchanging(), SearchDepth(readings=3, calls_specialists=False))
    (scores,) = search.read(batch, CalledColumns([0], [np.array([True])], None))
    assert batch.searched == {0: "1 further reading"}
    assert Unchanging.calls == 2  # as at first, and one further reading
    assert scores.types == pytest.approx(types, abs=1e-5)


def test_python_and_command_line_names_lead_to_a_search():
    answers = annotate(EXAMPLES / "books.csv", annotator="search@low", memory=False)
    assert answers.tables[0].annotator == "search"
    with pytest.raises(UsageError, match="the effort is 'most'"):
        load_annotator("search@most")
    with pytest.raises(UsageError, match="unknown annotator 'swarm@high'"):
        load_annotator("swarm@high")


def test_a_column_counts_only_its_own_readings():
    class Counting:
        """Says 0.5 for the first column at first and 0.9 in its further reading, and the same for the second."""

        calls = 0

        def ask_networks(self, tables, verdicts):
            sure = 0.5 if Counting.calls == 0 else 0.9
            Counting.calls += 1
            return {part: np.full((2, 1), sure, np.float32) for part in ("types", "fine")}

    table = Table("t", tuple(Column(name, tuple(map(str, range(100)))) for name in "ab"))
    readings = FurtherReadings(Counting(), table, [])
    first = readings.read(1, np.array([True, True]))["types"][0, 0]
    # log((0.5 + 0.9) / 2) - log(0.5), times 0.6
    assert first == pytest.approx(0.6 * math.log(0.7 / 0.5), abs=1e-4)
    later = readings.read(2, np.array([False, True]))["types"]
    assert later[0, 0] == pytest.approx(first)
    assert later[1, 0] == pytest.approx(0.6 * math.log((0.5 + 0.9 + 0.9) / 3 / 0.5), abs=1e-4)


def test_several_tables_under_a_limit_are_searched_one_by_one(tables):
    assert len(pipeline(0.75, within=3600.0).score_uncorrected(tables)) == len(tables)


def test_a_routing_table_may_name_a_search_as_a_reader(tmp_path, tables):
    routing = tmp_path / "routing.yaml"
    routing.write_text(
        "rules:\n  - confidence >= 0.7 -> sure\n  - otherwise -> hard\ncontext: 2\n"
        "roles:\n  sure:\n    primary: ngrams\n  hard:\n    primary: search@normal\n"
    )
    searching = load_pipeline(AnnotationSettings(routing=routing))
    assert "search@normal" in searching.plan.workers
    assert "search@high" not in searching.plan.workers
    # A search with normal effort has the byte network read the columns, as the table that ships does.
    default = load_pipeline(AnnotationSettings())
    assert all(map(equal, searching.score(tables), default.score(tables)))
