"""What `annotate` shows and logs of the decisions who reads a column."""

from collections.abc import Iterable, Iterator

from aegir.answers.annotation import ColumnAnnotation, TableAnnotation
from aegir.cli.terminal import tell
from aegir.pipeline.run import Answered
from aegir.routing.corrections import record_review
from aegir.routing.decisions import RoutedTable
from aegir_rl.base.llm_client import LlmUsage
from aegir_rl.base.text import amount
from aegir_rl.episode import Episode
from aegir_rl.offline.store import DecisionStore, new_id

EPISODES_AT_ONCE = 1000
"""Decisions that are stored together; those of a run that is killed before are not logged."""


class RoutingReport:
    """Shows and logs how the columns of each table were routed, beside its answer."""

    def __init__(self, *, explain: bool, store: str | None) -> None:
        self.explain, self.path = explain, store
        self.run = new_id()
        self._episodes: list[Episode] = []
        self._reviewed: list[tuple[str, ColumnAnnotation]] = []
        """Columns whose answer is known from a review: an outcome of the decision about them."""
        self._tables = self._stored = 0
        self._store = None if store is None else DecisionStore.open(store)

    def passing(self, answers: Iterable[Answered]) -> Iterator[Answered]:
        """Yield the answers, and show or log how their tables were routed."""
        try:
            for each in answers:
                if each.routed is not None and isinstance(each.answer, TableAnnotation):
                    self._add(each.routed, each.answer)
                yield each
        finally:
            if self._store is not None:
                self._flush()
                self._store.close()
        if self.path is not None:
            tell(
                f"{amount(self._stored, 'decision')} logged in {self.path} as run {self.run}; correct them with: "
                f"aegir feedback FILE --store {self.path}"
            )

    def _add(self, routed: RoutedTable, answer: TableAnnotation) -> None:
        labels = [
            column.reviewed.said if column.reviewed else column.label for column in answer.columns
        ]
        episodes = routed.episodes(labels, run=f"{self.run}/{self._tables}")
        self._tables += 1
        if self.explain:
            for column, episode in enumerate(episodes):
                tell(explain_episode(answer.table, column, episode))
        if self._store is not None:
            self._episodes += episodes
            self._reviewed += [
                (episode.id, column)
                for episode, column in zip(episodes, answer.columns, strict=True)
                if column.reviewed
            ]
            if len(self._episodes) >= EPISODES_AT_ONCE:
                self._flush()

    def _flush(self) -> None:
        if self._store is not None and self._episodes:
            self._stored += len(self._store.append(self._episodes))
            for episode_id, column in self._reviewed:
                record_review(self._store, episode_id, column)
            self._episodes, self._reviewed = [], []


def explain_episode(table: str, column: int, episode: Episode) -> str:
    """One line: the column, who answered it, who decided that and why, and at which cost."""
    steps = [
        f"{decision.action['worker']} by {decision.decided_by}: {decision.reason}"
        for decision in episode.decisions
    ]
    first = episode.decisions[0]
    propensity = "unknown" if first.propensity is None else f"{first.propensity:.3g}"
    cost = sum(decision.cost for decision in episode.decisions)
    milliseconds = 1000 * sum(decision.seconds for decision in episode.decisions)
    return (
        f"{table}, column {column} ({episode.task}): {'; then '.join(steps)}; propensity {propensity}, "
        f"confidence {first.features['confidence']:.2f}, cost {cost:.3g}, {milliseconds:.1f} ms"
    )


def tell_usage(model: str, used: LlmUsage) -> None:
    """Tell what a language model took."""
    tell(
        f"{model}: {amount(used.calls, 'call')}, {used.retries:,} repeated, "
        f"{amount(used.failures, 'failure')}, {used.tokens_in:,} tokens sent, {used.tokens_out:,} received, "
        f"cost {used.cost:.4g}"
    )
