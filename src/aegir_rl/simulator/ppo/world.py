"""The simulator as PPO meets it: outcomes split into training and test tasks, and what the static table does on each.

    world = load_world(config, solvers)
    world.training, world.test, world.families           # Part: an OutcomeTable and the static table's chains

The static table is a routing table of dispatch (aegir_rl/offline/routing_table.py) over the features of tasks: its workers are the
actions `solver@effort`, and a role's primary and fallbacks are tried in turn until an answer passes the public cases.
`routing.yaml` beside this file ships.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from aegir_rl.base.arrays import Bools, Floats, Ints
from aegir_rl.base.errors import UsageError
from aegir_rl.offline.reward_v1 import compute_reward_v1
from aegir_rl.offline.routing_table import RoutingTable, load_table, parse_table
from aegir_rl.simulator.outcome_table import (
    GIVE_UP,
    RETRY,
    OutcomeTable,
    action_names,
    build_table,
)
from aegir_rl.simulator.outcomes import OutcomeCache
from aegir_rl.simulator.playing import Choose, Played, follow, play
from aegir_rl.simulator.ppo.config import PpoTraining
from aegir_rl.simulator.solvers.solver import Solver
from aegir_rl.simulator.task import read_tasks
from aegir_rl.simulator.task_features import TASK_FEATURES

SHIPPED = "routing.yaml"


@dataclass(frozen=True, slots=True, eq=False)
class TaskPart:
    """Some tasks, with the static table's choices for each."""

    table: OutcomeTable
    static: Ints
    """(T, D) actions in the order they are tried, then `give up`."""

    def __len__(self) -> int:
        return len(self.table)

    def play(
        self,
        config: PpoTraining,
        choose: Choose,
        random: np.random.Generator,
        *,
        tasks: Ints | None = None,
        static: Ints | None = None,
        **named: Any,
    ) -> Played:
        """Play these tasks, or every task once; `static` replaces the static table's choices, the rest goes to `play`."""
        return play(
            self.table,
            np.arange(len(self)) if tasks is None else tasks,
            choose,
            config.budget,
            config.reward,
            static=self.static if static is None else static,
            random=random,
            **named,
        )

    def follow_chain(self, config: PpoTraining, chain: Sequence[int]) -> Floats:
        """(T,) rewards of trying these actions in turn on every task."""
        static = np.tile(np.array(chain, np.int64), (len(self), 1))
        played = self.play(config, follow, np.random.default_rng(0), static=static)
        return compute_reward_v1(played.batch, config.reward).total


@dataclass(frozen=True, slots=True, eq=False)
class World:
    """Training tasks, test tasks of the same families, and tasks of held-out families."""

    training: TaskPart
    test: TaskPart
    families: TaskPart

    @property
    def parts(self) -> Mapping[str, TaskPart]:
        """The parts that are evaluated, those without tasks left out."""
        named = {"training": self.training, "test": self.test, "families": self.families}
        return {name: part for name, part in named.items() if len(part)}

    @property
    def fingerprint(self) -> str:
        """SHA-256 of tasks and outcomes."""
        digest = hashlib.sha256()
        for part in (self.training, self.test, self.families):
            digest.update(repr((part.table.ids, part.table.keys)).encode())
        return digest.hexdigest()


def load_world(config: PpoTraining, solvers: Sequence[Solver]) -> World:
    """Read tasks and outcomes, and split them."""
    settings = config.tasks
    training, test = read_tasks(Path(settings.training)), read_tasks(Path(settings.test))
    shared = {task.seed for task in training} & {task.seed for task in test}
    if shared:
        raise UsageError(
            f"{settings.training} and {settings.test} both have tasks of seed {min(shared)}; generate the test tasks with "
            "another seed: aegir sim generate --seed 1 …"
        )
    with OutcomeCache(Path(settings.outcomes), create=False) as cache:
        table = build_table(cache, [*training, *test], solvers)
    unknown = sorted(set(settings.held_out_families) - set(table.families))
    if unknown:
        known = ", ".join(sorted(set(table.families)))
        raise UsageError(f"held_out_families has {unknown[0]!r}; the tasks are of {known}")
    return split_world(config, table, np.arange(len(table)) >= len(training))


def split_world(config: PpoTraining, table: OutcomeTable, is_test: Bools) -> World:
    """The parts of a table, each with the static table's chains; `is_test` (T,) says which tasks are never learnt from."""
    routing = read_static_table(config.tasks.static_table, table.solvers)
    held_out = np.isin(np.array(table.families), np.array(config.tasks.held_out_families, str))
    chosen = (~is_test & ~held_out, is_test & ~held_out, is_test & held_out)
    parts = [table.select(rows) for rows in chosen]
    if not len(parts[0]):
        raise UsageError("no task is left to learn from; hold out fewer families")
    return World(*(TaskPart(part, static_chains(routing, part)) for part in parts))


def read_static_table(path: str, solvers: Sequence[str]) -> RoutingTable:
    """The routing table in a file, or the one that ships, for these solvers."""
    workers = [name for name in action_names(solvers) if name not in (RETRY, GIVE_UP)]
    if path:
        return load_table(Path(path), TASK_FEATURES, workers)
    text = (files("aegir_rl.simulator.ppo") / SHIPPED).read_text("utf-8")
    return parse_table(text, SHIPPED, TASK_FEATURES, workers)


def static_chains(routing: RoutingTable, table: OutcomeTable) -> Ints:
    """(T, D) numbers of the actions that a routing table tries, padded with `give up`."""
    rules = routing.choose(table.features.astype(np.float64))
    chains = [routing.role(int(rule)).chain for rule in rules]
    static = np.full((len(table), max(map(len, chains), default=1)), table.give_up_action)
    for row, chain in enumerate(chains):
        static[row, : len(chain)] = [table.actions.index(name) for name in chain]
    return static
