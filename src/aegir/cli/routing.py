"""Options about routing that verbs share, and what `annotate` shows and logs of it.

The environment is read here and nowhere below: AEGIR_RL_POLICY=1 switches the policy of AEGIR_RL_CHECKPOINT on, and
AEGIR_LLM_KEY is the key for the endpoint that --llm-endpoint names.
"""

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import click

from aegir.answers.annotation import ColumnAnnotation, TableAnnotation
from aegir.cli.options import NumberRange, PathName
from aegir.cli.terminal import tell
from aegir.pipeline.dispatcher import DispatchAnnotator, load_dispatcher
from aegir.pipeline.effort import parse_effort, parse_seconds
from aegir.pipeline.run import Failure
from aegir.pipeline.search import SearchAnnotator, load_search
from aegir.readers.llm.annotator import LlmAnnotator
from aegir.readers.scores import Annotator
from aegir.routing.corrections import record_review
from aegir.routing.learnt_policy import LearntPolicy
from aegir.routing.routed_table import RoutedTable
from aegir_rl.base.errors import UsageError
from aegir_rl.base.llm_client import LlmSettings
from aegir_rl.base.wording import amount
from aegir_rl.episode import Episode
from aegir_rl.offline.store import DecisionStore, new_id

Verb = TypeVar("Verb", bound=Callable[..., Any])
LLM_KEY = "AEGIR_LLM_KEY"
POLICY_SWITCH, POLICY_FILE = "AEGIR_RL_POLICY", "AEGIR_RL_CHECKPOINT"
ON = ("1", "true", "yes", "on")
EPISODES_AT_ONCE = 1000
"""Decisions that are stored together; those of a run that is killed before are not logged."""


def routing_options(verb: Verb) -> Verb:
    """--routing and --policy."""
    verb = click.option(
        "--policy",
        type=PathName(dir_okay=False),
        help="Route by this learnt policy; below its floor, or if it fails, the routing table decides.",
    )(verb)
    return click.option(
        "--routing",
        type=PathName(dir_okay=False),
        help="Route by this table (YAML) instead of the one that ships.",
    )(verb)


def llm_options(verb: Verb) -> Verb:
    """--llm-endpoint, --llm-model and --llm-price."""
    verb = click.option(
        "--llm-price",
        nargs=2,
        type=NumberRange(0),
        default=(0.0, 0.0),
        metavar="IN OUT",
        help="What a million tokens cost, sent and received, for the account at the end.",
    )(verb)
    verb = click.option("--llm-model", metavar="NAME", help="The model to ask at --llm-endpoint.")(
        verb
    )
    return click.option(
        "--llm-endpoint",
        metavar="URL",
        help="Send columns that stay unsure, five cells of each, to this OpenAI-compatible endpoint; "
        f"the key, if it needs one, is read from {LLM_KEY}.",
    )(verb)


def llm_from(
    endpoint: str | None, model: str | None, price: tuple[float, float]
) -> LlmAnnotator | None:
    """The language model that is asked for; None if no endpoint is named."""
    if endpoint is None:
        if model is not None:
            raise UsageError(
                f"--llm-model {model} needs --llm-endpoint, such as http://127.0.0.1:8000/v1"
            )
        return None
    key = os.environ.get(LLM_KEY) or None
    settings = LlmSettings(endpoint, model or "", key, price_in=price[0], price_out=price[1])
    return LlmAnnotator(settings)


def tell_usage(llm: LlmAnnotator | None) -> None:
    """Tell what a language model took."""
    if llm is not None:
        used = llm.usage
        tell(
            f"{llm.settings.model}: {amount(used.calls, 'call')}, {used.retries:,} repeated, "
            f"{amount(used.failures, 'failure')}, {used.tokens_in:,} tokens sent, {used.tokens_out:,} received, "
            f"cost {used.cost:.4g}"
        )


def policy_from(option: Path | None) -> LearntPolicy | None:
    """The policy that is asked for by option or environment; tell of one that cannot be used."""
    if option is None and not _policy_switched_on():
        return None
    path = policy_file(option)
    policy = LearntPolicy.load(path)
    if path is None:
        policy.problem = f"{POLICY_SWITCH} is set, but {POLICY_FILE} names no file"
    if policy.policy is None:
        tell(f"the routing table decides, without a policy: {policy.problem}")
    return policy


def policy_file(option: Path | None) -> Path | None:
    """The file of the policy that is asked for by option or environment."""
    named = os.environ.get(POLICY_FILE) if _policy_switched_on() else None
    return option or (Path(named) if named else None)


def _policy_switched_on() -> bool:
    return os.environ.get(POLICY_SWITCH, "").lower() in ON


def choose_annotator(
    name: str,
    model: Path | None,
    routing: Path | None = None,
    policy: Path | None = None,
    llm: LlmAnnotator | None = None,
    *,
    routed: bool = False,
    effort: str | None = None,
    within: str | None = None,
) -> str | Annotator:
    """The dispatcher as options and environment ask for it, a search with some effort, or the name of another annotator."""
    if effort is not None or within is not None:
        return _choose_search(name, model, effort, within, routed or any((routing, policy, llm)))
    if name == DispatchAnnotator.name:
        others = {llm.name: llm} if llm else {}
        return load_dispatcher(model, routing, policy_from(policy), others, say=tell)
    if routed or any(option is not None for option in (routing, policy, llm)):
        raise UsageError(
            f"the annotator {name!r} does not route columns; leave --annotator out, or give "
            f"--annotator {DispatchAnnotator.name}"
        )
    return name


def _choose_search(
    name: str, model: Path | None, effort: str | None, within: str | None, routed: bool
) -> SearchAnnotator:
    option = "--effort" if effort is not None else "--within"
    if "@" in name:
        raise UsageError(f"--annotator {name} says its effort already; leave {option} out")
    if name not in (DispatchAnnotator.name, SearchAnnotator.name):
        raise UsageError(
            f"the annotator {name!r} has no effort to choose; leave {option} or --annotator out"
        )
    if routed:
        raise UsageError(
            f"{option} decides itself who reads a column; leave out --routing, --policy, --llm-endpoint, "
            "--explain-routing and --log-decisions, or name swarm@high as a worker in a routing table"
        )
    if policy_file(None) is not None:
        tell(f"{option} decides who reads a column; the policy of {POLICY_FILE} is not asked")
    usual = "high" if name == SearchAnnotator.name else "normal"
    return load_search(
        model,
        parse_effort(usual if effort is None else effort),
        None if within is None else parse_seconds(within),
        say=tell,
    )


class RoutingReport:
    """Shows and logs how the columns of each table were routed, beside its answer."""

    def __init__(self, annotator: str | Annotator, *, explain: bool, store: str | None) -> None:
        self.explain, self.path = explain, store
        self.run = new_id()
        self._routed: deque[RoutedTable] = deque()
        self._episodes: list[Episode] = []
        self._reviewed: list[tuple[str, ColumnAnnotation]] = []
        """Columns whose answer is known from a review: an outcome of the decision about them."""
        self._tables = self._stored = 0
        self._store = None if store is None else DecisionStore.open(store)
        if isinstance(annotator, DispatchAnnotator) and (explain or store is not None):
            annotator.listener = self._routed.append

    def passing(
        self, outcomes: Iterable[TableAnnotation | Failure]
    ) -> Iterator[TableAnnotation | Failure]:
        """Yield the outcomes; those of tables are matched with how the table was routed."""
        try:
            for outcome in outcomes:
                if isinstance(outcome, TableAnnotation) and self._routed:
                    self._take(self._routed.popleft(), outcome)
                yield outcome
        finally:
            if self._store is not None:
                self._flush()
                self._store.close()
        if self.path is not None:
            tell(
                f"{amount(self._stored, 'decision')} logged in {self.path} as run {self.run}; correct them with: "
                f"aegir feedback FILE --store {self.path}"
            )

    def _take(self, routed: RoutedTable, answer: TableAnnotation) -> None:
        labels = [
            column.reviewed.said if column.reviewed else column.label for column in answer.columns
        ]
        episodes = routed.episodes(labels, run=f"{self.run}/{self._tables}")
        self._tables += 1
        if self.explain:
            for place, episode in enumerate(episodes):
                tell(explain_episode(answer.table, place, episode))
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


def explain_episode(table: str, place: int, episode: Episode) -> str:
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
        f"{table}, column {place} ({episode.task}): {'; then '.join(steps)}; propensity {propensity}, "
        f"confidence {first.features['confidence']:.2f}, cost {cost:.3g}, {milliseconds:.1f} ms"
    )
