"""The pipeline and its plans: who is called about which column, and what happens when that goes wrong."""

import time
from collections.abc import Sequence

import numpy as np
import pytest

from aegir.pipeline.batch import AnnotatorReader, CalledReader, PipelineBatch
from aegir.pipeline.pipeline import Pipeline, load_pipeline
from aegir.pipeline.plan import (
    READERS,
    EffortPlan,
    Explore,
    Plan,
    PolicyPlan,
    SearchDepth,
    TablePlan,
)
from aegir.pipeline.search import Search
from aegir.pipeline.settings import AnnotationSettings
from aegir.readers.scores import Explanation, TableScores
from aegir.routing.decisions import RoutedTable
from aegir.routing.exploration import Exploration
from aegir.routing.features import FEATURES
from aegir.routing.learnt_policy import LearntPolicy
from aegir.tables.table import Column, Table
from aegir_rl.base.errors import AegirError
from aegir_rl.offline.routing_table import parse_table
from routing_policies import Always, Raises

PEOPLE = Table(
    "people",
    (
        Column("name", ("Ann Lee", "Bob Ray", "Eve Fox", "Max Orr", "Kim Day")),
        Column("e-mail", tuple(f"user{number}@example.org" for number in range(5))),
        Column(None, ("12.50", "3.99", "7.00", "1.25", "88.10")),
        Column("x", ("blue moon", "q7", "17-B", "left", "n.n.")),
    ),
)
NUMBERS = Table("numbers", (Column("a", ("1", "2")), Column("b", ("",))))
TABLES = [PEOPLE, NUMBERS, Table("none", ())]


class Extra:
    """A worker that says of every column that it is an e-mail, as sure as it was told, or fails on a table."""

    name = "extra"

    def __init__(self, sure: float = 1.0, fails_on: str = "") -> None:
        self.sure, self.fails_on, self.asked = sure, fails_on, list[Table]()

    def score(self, tables: Sequence[Table]) -> list[TableScores]:
        if any(table.name == self.fails_on for table in tables):
            raise AegirError("out of order")
        self.asked += tables
        return [self._scores(len(table.columns)) for table in tables]

    def _scores(self, columns: int) -> TableScores:
        types = np.zeros((columns, 82), np.float32)
        types[:, 7] = self.sure
        types[:, 8] = (1 - self.sure) / 2  # else the rest would be "none of these"
        types[:, 9] = (1 - self.sure) / 2
        relations = np.zeros((columns, 108), np.float32)
        return TableScores(types, relations, None, (Explanation(),) * columns)


@pytest.fixture(scope="module")
def shipped() -> Pipeline:
    return load_pipeline(AnnotationSettings())


def routing(
    shipped: Pipeline,
    rules: str,
    extra: Extra | None = None,
    policy: LearntPolicy | None = None,
    exploration: Exploration | None = None,
) -> Pipeline:
    others = {"extra": AnnotatorReader(extra)} if extra else {}
    workers = tuple(sorted((*READERS, *others)))
    plan: Plan = TablePlan(parse_table(rules, "routing.yaml", FEATURES, workers), workers)
    if policy is not None:
        plan = PolicyPlan(plan, policy)
    if exploration is not None:
        plan = Explore(plan, exploration)
    return Pipeline(shipped.ngrams, shipped.byte_model, plan, readers=others)


def route(pipeline: Pipeline, tables: Sequence[Table]) -> list[RoutedTable]:
    routed = [scores.routed for scores in pipeline.score(tables)]
    assert None not in routed
    return routed


def workers_of(routed: RoutedTable) -> list[list[str]]:
    return [[step.worker for step in steps] for steps in routed.steps]


def same(one: TableScores, other: TableScores) -> bool:
    return (one.types == other.types).all() and (one.relations == other.relations).all()


def test_a_table_that_sends_all_to_ngrams_gives_ngrams_corrected_by_rules(
    shipped: Pipeline,
):
    scores = routing(shipped, "rules:\n  - otherwise -> ngrams").score(TABLES)
    batch = shipped.read_first(TABLES)
    expected = [
        shipped.corrections.apply(table, first, batch.verdicts[span])
        for table, first, span in zip(TABLES, batch.first, batch.spans, strict=True)
    ]
    assert all(same(*pair) for pair in zip(scores, expected, strict=True))


def test_a_table_that_calls_for_all_gives_the_mixture_of_all_columns(shipped: Pipeline):
    scores = routing(shipped, "rules:\n  - otherwise -> combined\ncontext: 2").score(TABLES)
    expected = shipped.answers_of("combined", TABLES)
    assert all(same(*pair) for pair in zip(scores, expected, strict=True))


def test_a_reader_is_called_only_about_the_columns_that_a_rule_names(shipped: Pipeline):
    extra = Extra()
    rules = "rules:\n  - header == 0 -> extra\n  - otherwise -> ngrams\ncontext: 1"
    scores, *_ = routing(shipped, rules, extra).score(TABLES)
    assert workers_of(scores.routed) == [["ngrams"], ["ngrams"], ["extra"], ["ngrams"]]
    (read,) = extra.asked
    assert len(read.columns) == 2  # the called one and one of context
    assert scores.types[2, 7] > 0.9


def test_a_worker_that_fails_on_one_table_is_replaced_there_and_counted(shipped: Pipeline):
    rules = "rules:\n  - otherwise -> r\nroles:\n  r:\n    primary: extra\n    fallback: [ngrams]"
    routed = route(routing(shipped, rules, Extra(fails_on="people")), TABLES)
    assert workers_of(routed[0]) == [["extra", "ngrams"]] * 4
    assert workers_of(routed[1]) == [["extra"]] * 2
    first = routed[0].episodes()[0]
    assert first.rewards == {"failures": 1.0}
    assert [decision.decided_by for decision in first.decisions] == ["static table", "fallback"]
    assert first.decisions[1].reason == "extra failed"


def test_when_every_worker_fails_the_ngrams_answer_stands(shipped: Pipeline):
    broken = routing(shipped, "rules:\n  - otherwise -> extra", Extra(fails_on="people"))
    plain = routing(shipped, "rules:\n  - otherwise -> ngrams")
    assert same(broken.score([PEOPLE])[0], plain.score([PEOPLE])[0])


def test_a_fallback_that_fails_leaves_the_answer_before_it(shipped: Pipeline):
    rules = (
        "rules:\n  - otherwise -> r\n"
        "roles:\n  r:\n    primary: combined\n    fallback: extra\n    confidence: 1.1"
    )
    (scores,) = routing(shipped, rules, Extra(fails_on="people")).score([PEOPLE])
    plain = routing(shipped, "rules:\n  - otherwise -> combined")
    assert workers_of(scores.routed) == [["combined", "extra"]] * 4
    assert same(scores, plain.score([PEOPLE])[0])


@pytest.mark.parametrize(("sure", "chain"), [(0.6, ["extra"]), (0.4, ["extra", "combined"])])
def test_an_unsure_worker_is_followed_by_the_next(shipped: Pipeline, sure: float, chain: list[str]):
    rules = (
        "rules:\n  - otherwise -> r\n"
        "roles:\n  r:\n    primary: extra\n    fallback: combined\n    confidence: 0.5"
    )
    (routed,) = route(routing(shipped, rules, Extra(sure)), [PEOPLE])
    assert workers_of(routed) == [chain] * 4
    if len(chain) > 1:
        assert routed.episodes()[0].decisions[1].reason == "extra was 0.40 sure"


def test_a_budget_serves_the_least_sure_columns_first(shipped: Pipeline):
    rules = "rules:\n  - otherwise -> extra\ncosts:\n  extra: 1\nbudget:\n  cost: 2"
    extra = Extra()
    (routed,) = route(routing(shipped, rules, extra), [PEOPLE])
    confidence = routed.features[:, FEATURES.index("confidence")]
    asked = [steps == ["extra"] for steps in workers_of(routed)]
    assert sum(asked) == 2
    assert confidence[asked].max() <= confidence[np.invert(asked)].min()
    decided = [episode.decisions[0].decided_by for episode in routed.episodes()]
    assert sorted(decided) == ["budget", "budget", "static table", "static table"]


def test_fallbacks_stop_where_the_budget_ends(shipped: Pipeline):
    rules = (
        "rules:\n  - otherwise -> r\nroles:\n  r:\n    primary: ngrams\n    fallback: extra\n"
        "    confidence: 1.1\ncosts:\n  extra: 1\nbudget:\n  cost: 3"
    )
    (routed,) = route(routing(shipped, rules, Extra()), [PEOPLE])
    assert sum(len(steps) == 2 for steps in routed.steps) == 3
    rules = rules.replace("cost: 3", "seconds: 0")
    (routed,) = route(routing(shipped, rules, Extra()), [PEOPLE])
    assert workers_of(routed) == [["ngrams"]] * 4


def test_a_policy_decides_above_its_floor_and_the_table_below(shipped: Pipeline):
    rules = "rules:\n  - otherwise -> ngrams"
    for sure, floor, worker, decided_by, reason in (
        (0.9, 0.8, "combined", "policy", "0.90 for combined (static table: otherwise -> ngrams)"),
        (0.7, 0.8, "ngrams", "static table", "otherwise -> ngrams (the policy's 0.70 for combined"),
    ):
        policy = LearntPolicy(Always("combined", sure, floor))
        (routed,) = route(routing(shipped, rules, policy=policy), [PEOPLE])
        (decision,) = routed.episodes(["a"] * 4)[0].decisions
        assert decision.action == {"worker": worker, "label": "a"}
        assert decision.decided_by == decided_by
        assert decision.reason.startswith(reason)
        assert decision.baseline == {"worker": "ngrams"}
        assert (decision.propensity, decision.policy_version) == (1.0, "always-1")


def test_a_policy_that_raises_leaves_the_static_table_to_decide(shipped: Pipeline):
    policy = LearntPolicy(Raises("combined"))
    broken = routing(shipped, "rules:\n  - otherwise -> ngrams", policy=policy)
    (routed,) = route(broken, [PEOPLE])
    decision = routed.episodes()[3].decisions[0]
    assert decision.decided_by == "static table"
    assert "no policy: it failed (RuntimeError" in decision.reason


def test_exploration_stores_the_probability_of_what_was_asked(shipped: Pipeline):
    exploring = routing(
        shipped, "rules:\n  - otherwise -> ngrams", exploration=Exploration("epsilon", 0.6)
    )
    columns = tuple(Column(f"c{number}", ("1",)) for number in range(60))
    (routed,) = route(exploring, [Table("wide", columns)])
    for episode in routed.episodes():
        (decision,) = episode.decisions
        own = decision.action["worker"] == "ngrams"
        # 0.4 + 0.6 / 3 for the chosen worker, 0.6 / 3 for the others
        assert decision.propensity == pytest.approx(0.6 if own else 0.2)
        assert decision.decided_by == ("static table" if own else "exploration")
    assert {decision.action["worker"] for e in routed.episodes() for decision in e.decisions} == {
        *READERS
    }


def test_every_table_says_how_it_was_routed(shipped: Pipeline):
    routed = route(routing(shipped, "rules:\n  - otherwise -> ngrams"), TABLES)
    assert [each.table.name for each in routed] == ["people", "numbers", "none"]


def test_fallbacks_come_after_a_search(shipped: Pipeline):
    rules = (
        "rules:\n  - otherwise -> r\n"
        "roles:\n  r:\n    primary: ngrams\n    fallback: extra\n    confidence: 1.1"
    )
    plain = routing(shipped, rules, Extra())
    search = Search(shipped.ngrams, SearchDepth(readings=1, calls_specialists=False))
    pipeline = Pipeline(
        shipped.ngrams,
        shipped.byte_model,
        EffortPlan(plain.plan, "search@0.7"),
        readers={**plain.others, "search@0.7": search},
    )
    (routed,) = route(pipeline, [PEOPLE])
    chains = workers_of(routed)
    assert all(chain[0] == "ngrams" and chain[-1] == "extra" for chain in chains)
    assert ["ngrams", "search@0.7", "extra"] in chains
    searched = next(
        episode for episode in routed.episodes() if len(episode.decisions) == 3
    ).decisions
    assert [decision.decided_by for decision in searched] == ["static table", "effort", "fallback"]


def test_a_search_that_an_effort_asks_for_does_not_fail_silently(shipped: Pipeline):
    class Broken(CalledReader):
        def read(self, batch, called):
            raise AegirError("the weights are damaged")

    plan = EffortPlan(shipped.plan, "search@1")
    pipeline = Pipeline(shipped.ngrams, shipped.byte_model, plan, readers={"search@1": Broken()})
    with pytest.raises(AegirError, match="the weights are damaged"):
        pipeline.score([PEOPLE])


def test_features_are_finite_and_named(shipped: Pipeline):
    features = shipped.read_first(TABLES).features
    assert features.shape == (6, len(FEATURES))
    assert np.isfinite(features).all()
    by_name = dict(zip(FEATURES, features.T, strict=True))
    assert by_name["columns"].tolist() == [4] * 4 + [2] * 2
    assert by_name["header"].tolist() == [1, 1, 0, 1, 1, 1]
    assert by_name["filled"].tolist() == [1, 1, 1, 1, 1, 0]
    assert (by_name["confidence"] >= by_name["margin"]).all()


def test_deciding_takes_less_than_fifty_microseconds_of_cpu_per_column(shipped: Pipeline):
    tables = [
        Table(f"t{n}", tuple(Column(f"c{m}", c.values) for m, c in enumerate(PEOPLE.columns * 3)))
        for n in range(40)
    ]
    first = shipped.read_first(tables)
    plan = PolicyPlan(shipped.plan, LearntPolicy(Always("ngrams", 0.9, 0.5)))
    spent = []
    for _ in range(5):
        batch = PipelineBatch(tables, first.verdicts, first.first)
        started = time.process_time()
        plan.choose(batch)
        spent.append((time.process_time() - started) / len(first.verdicts))
    assert min(spent) < 50e-6
