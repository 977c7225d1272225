"""The dispatcher: who is asked about which column, and what happens when that goes wrong."""

import time
from collections.abc import Sequence

import numpy as np
import pytest

from aegir.pipeline.dispatcher import OWN_WORKERS, DispatchAnnotator, load_dispatcher
from aegir.readers.scores import Explanation, TableScores
from aegir.routing.choices import choose_workers
from aegir.routing.exploration import Exploration
from aegir.routing.features import FEATURES, column_features
from aegir.routing.learnt_policy import LearntPolicy
from aegir.routing.routed_table import RoutedTable
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
def shipped() -> DispatchAnnotator:
    return load_dispatcher()


def dispatcher(
    shipped: DispatchAnnotator, rules: str, extra: Extra | None = None, **options: object
) -> DispatchAnnotator:
    others = {"extra": extra} if extra else {}
    table = parse_table(rules, "routing.yaml", FEATURES, (*OWN_WORKERS, *others))
    return DispatchAnnotator(shipped.combined, table, others=others, **options)


def workers_of(routed: RoutedTable) -> list[list[str]]:
    return [[step.worker for step in steps] for steps in routed.steps]


def same(one: TableScores, other: TableScores) -> bool:
    return (one.types == other.types).all() and (one.relations == other.relations).all()


def test_a_table_that_sends_all_to_ngrams_gives_ngrams_corrected_by_rules(
    shipped: DispatchAnnotator,
):
    scores = dispatcher(shipped, "rules:\n  - otherwise -> ngrams").score(TABLES)
    verdicts, cheap = shipped.combined.read_cheaply(TABLES)
    expected = shipped.combined.correct(TABLES, cheap, verdicts)
    assert all(same(*pair) for pair in zip(scores, expected, strict=True))


def test_a_table_that_wakes_all_gives_the_mixture_of_all_columns(shipped: DispatchAnnotator):
    scores = dispatcher(shipped, "rules:\n  - otherwise -> combined").score(TABLES)
    verdicts, cheap = shipped.combined.read_cheaply(TABLES)
    woken = [np.ones(len(table.columns), bool) for table in TABLES]
    expected = shipped.combined.correct(
        TABLES, shipped.combined.wake(TABLES, cheap, woken), verdicts
    )
    assert all(same(*pair) for pair in zip(scores, expected, strict=True))


def test_only_the_columns_that_a_rule_names_are_woken(shipped: DispatchAnnotator):
    extra = Extra()
    routed, *_ = dispatcher(
        shipped, "rules:\n  - header == 0 -> extra\n  - otherwise -> ngrams\ncontext: 1", extra
    ).route(TABLES)
    assert workers_of(routed) == [["ngrams"], ["ngrams"], ["extra"], ["ngrams"]]
    (asked,) = extra.asked
    assert len(asked.columns) == 2  # the woken one and one of context
    assert routed.scores.types[2, 7] > 0.9


def test_a_worker_that_fails_on_one_table_is_replaced_there_and_counted(shipped: DispatchAnnotator):
    rules = "rules:\n  - otherwise -> r\nroles:\n  r:\n    primary: extra\n    fallback: [ngrams]"
    routed = dispatcher(shipped, rules, Extra(fails_on="people")).route(TABLES)
    assert workers_of(routed[0]) == [["extra", "ngrams"]] * 4
    assert workers_of(routed[1]) == [["extra"]] * 2
    first = routed[0].episodes()[0]
    assert first.rewards == {"failures": 1.0}
    assert [decision.decided_by for decision in first.decisions] == ["static table", "fallback"]
    assert first.decisions[1].reason == "extra failed"


def test_when_every_worker_fails_the_ngrams_answer_stands(shipped: DispatchAnnotator):
    broken = dispatcher(shipped, "rules:\n  - otherwise -> extra", Extra(fails_on="people"))
    plain = dispatcher(shipped, "rules:\n  - otherwise -> ngrams")
    assert same(broken.score([PEOPLE])[0], plain.score([PEOPLE])[0])


def test_a_fallback_that_fails_leaves_the_answer_before_it(shipped: DispatchAnnotator):
    rules = (
        "rules:\n  - otherwise -> r\n"
        "roles:\n  r:\n    primary: combined\n    fallback: extra\n    confidence: 1.1"
    )
    (routed,) = dispatcher(shipped, rules, Extra(fails_on="people")).route([PEOPLE])
    plain = dispatcher(shipped, "rules:\n  - otherwise -> combined")
    assert workers_of(routed) == [["combined", "extra"]] * 4
    assert same(routed.scores, plain.score([PEOPLE])[0])


@pytest.mark.parametrize(("sure", "chain"), [(0.6, ["extra"]), (0.4, ["extra", "combined"])])
def test_an_unsure_worker_is_followed_by_the_next(
    shipped: DispatchAnnotator, sure: float, chain: list[str]
):
    rules = (
        "rules:\n  - otherwise -> r\n"
        "roles:\n  r:\n    primary: extra\n    fallback: combined\n    confidence: 0.5"
    )
    (routed,) = dispatcher(shipped, rules, Extra(sure)).route([PEOPLE])
    assert workers_of(routed) == [chain] * 4
    if len(chain) > 1:
        assert routed.episodes()[0].decisions[1].reason == "extra was 0.40 sure"


def test_a_budget_serves_the_least_sure_columns_first(shipped: DispatchAnnotator):
    rules = "rules:\n  - otherwise -> extra\ncosts:\n  extra: 1\nbudget:\n  cost: 2"
    extra = Extra()
    (routed,) = dispatcher(shipped, rules, extra).route([PEOPLE])
    confidence = routed.features[:, FEATURES.index("confidence")]
    asked = [steps == ["extra"] for steps in workers_of(routed)]
    assert sum(asked) == 2
    assert confidence[asked].max() <= confidence[np.invert(asked)].min()
    decided = [episode.decisions[0].decided_by for episode in routed.episodes()]
    assert sorted(decided) == ["budget", "budget", "static table", "static table"]


def test_fallbacks_stop_where_the_budget_ends(shipped: DispatchAnnotator):
    rules = (
        "rules:\n  - otherwise -> r\nroles:\n  r:\n    primary: ngrams\n    fallback: extra\n"
        "    confidence: 1.1\ncosts:\n  extra: 1\nbudget:\n  cost: 3"
    )
    (routed,) = dispatcher(shipped, rules, Extra()).route([PEOPLE])
    assert sum(len(steps) == 2 for steps in routed.steps) == 3
    rules = rules.replace("cost: 3", "seconds: 0")
    (routed,) = dispatcher(shipped, rules, Extra()).route([PEOPLE])
    assert workers_of(routed) == [["ngrams"]] * 4


def test_a_policy_decides_above_its_floor_and_the_table_below(shipped: DispatchAnnotator):
    rules = "rules:\n  - otherwise -> ngrams"
    for sure, floor, worker, decided_by, reason in (
        (0.9, 0.8, "combined", "policy", "0.90 for combined (static table: otherwise -> ngrams)"),
        (0.7, 0.8, "ngrams", "static table", "otherwise -> ngrams (the policy's 0.70 for combined"),
    ):
        policy = LearntPolicy(Always("combined", sure, floor))
        (routed,) = dispatcher(shipped, rules, policy=policy).route([PEOPLE])
        (decision,) = routed.episodes(["a"] * 4)[0].decisions
        assert decision.action == {"worker": worker, "label": "a"}
        assert decision.decided_by == decided_by
        assert decision.reason.startswith(reason)
        assert decision.baseline == {"worker": "ngrams"}
        assert (decision.propensity, decision.policy_version) == (1.0, "always-1")


def test_a_policy_that_raises_leaves_the_static_table_to_decide(shipped: DispatchAnnotator):
    policy = LearntPolicy(Raises("combined"))
    broken = dispatcher(shipped, "rules:\n  - otherwise -> ngrams", policy=policy)
    (routed,) = broken.route([PEOPLE])
    decision = routed.episodes()[3].decisions[0]
    assert decision.decided_by == "static table"
    assert "no policy: it failed (RuntimeError" in decision.reason


def test_exploration_stores_the_probability_of_what_was_asked(shipped: DispatchAnnotator):
    exploring = dispatcher(
        shipped, "rules:\n  - otherwise -> ngrams", exploration=Exploration("epsilon", 0.6)
    )
    columns = tuple(Column(f"c{number}", ("1",)) for number in range(60))
    (routed,) = exploring.route([Table("wide", columns)])
    for episode in routed.episodes():
        (decision,) = episode.decisions
        own = decision.action["worker"] == "ngrams"
        # 0.4 + 0.6 / 3 for the chosen worker, 0.6 / 3 for the others
        assert decision.propensity == pytest.approx(0.6 if own else 0.2)
        assert decision.decided_by == ("static table" if own else "exploration")
    assert {decision.action["worker"] for e in routed.episodes() for decision in e.decisions} == {
        *OWN_WORKERS
    }


def test_the_listener_hears_of_every_table_in_order(shipped: DispatchAnnotator):
    heard: list[str] = []
    listening = dispatcher(shipped, "rules:\n  - otherwise -> ngrams")
    listening.listener = lambda routed: heard.append(routed.table.name)
    listening.score(TABLES)
    assert heard == ["people", "numbers", "none"]


def test_features_are_finite_and_named(shipped: DispatchAnnotator):
    verdicts, cheap = shipped.combined.read_cheaply(TABLES)
    features = column_features(TABLES, verdicts, cheap)
    assert features.shape == (6, len(FEATURES))
    assert np.isfinite(features).all()
    by_name = dict(zip(FEATURES, features.T, strict=True))
    assert by_name["columns"].tolist() == [4] * 4 + [2] * 2
    assert by_name["header"].tolist() == [1, 1, 0, 1, 1, 1]
    assert by_name["filled"].tolist() == [1, 1, 1, 1, 1, 0]
    assert (by_name["confidence"] >= by_name["margin"]).all()


def test_deciding_takes_less_than_fifty_microseconds_of_cpu_per_column(shipped: DispatchAnnotator):
    tables = [
        Table(f"t{n}", tuple(Column(f"c{m}", c.values) for m, c in enumerate(PEOPLE.columns * 3)))
        for n in range(40)
    ]
    verdicts, cheap = shipped.combined.read_cheaply(tables)
    policy = LearntPolicy(Always("ngrams", 0.9, 0.5))
    spent = []
    for _ in range(5):
        started = time.process_time()
        features = column_features(tables, verdicts, cheap)
        choose_workers(tables, features, shipped.workers, shipped.routing, policy)
        spent.append((time.process_time() - started) / len(features))
    assert min(spent) < 50e-6
