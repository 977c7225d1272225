"""The static routing table: ordered rules in `routing.yaml` that say who gets a column.

    rules:  - complexity > 0.8 and columns >= 20 -> thorough      the first rule that holds names a role
            - otherwise -> quick
    roles:  a primary worker, the fallbacks that are asked if it fails or is less sure than `confidence`

    table = load_table(Path("routing.yaml"), features, workers)
    table.choose(features)                      # (B, F) -> (B,) numbers of the rules that hold

Promises
  - a table that cannot be used is refused when it is read, with line and column: an unknown feature, worker or key, a
    condition that does not parse, a rule that can never hold because one before it always does;
  - every column gets a role: the last rule holds for all.
"""

import math
import operator
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from aegir_rl.base.arrays import Bools, Floats, Ints
from aegir_rl.base.errors import UsageError
from aegir_rl.offline.positioned_yaml import LONGEST, Position, Section, Text, Value, read_yaml

OTHERWISE = "otherwise"
VERSION = 1
_OPERATORS: dict[str, Callable[[Floats, float], Bools]] = {
    ">": operator.gt,
    ">=": operator.ge,
    "<": operator.lt,
    "<=": operator.le,
    "==": operator.eq,
    "!=": operator.ne,
}
_COMPARISON = re.compile(r"\s*(?P<feature>\w+)\s*(?P<sign>>=|<=|==|!=|>|<)\s*(?P<number>\S+)\s*$")
_KEYS = ("version", "rules", "roles", "context", "costs", "budget")


@dataclass(frozen=True, slots=True)
class FeatureComparison:
    """A feature compared with a number."""

    feature: str
    sign: str
    number: float

    def __str__(self) -> str:
        return f"{self.feature} {self.sign} {self.number:g}"


@dataclass(frozen=True, slots=True)
class RoutingRule:
    """A condition, all of whose comparisons must hold, and the role it leads to."""

    comparisons: tuple[FeatureComparison, ...]
    role: str

    def __str__(self) -> str:
        condition = " and ".join(map(str, self.comparisons)) or OTHERWISE
        return f"{condition} -> {self.role}"

    def holds(self, features: Floats, names: Sequence[str]) -> Bools:
        """(B, F) -> (B,) where the condition holds; a missing feature, nan, makes no comparison true."""
        held = np.ones(len(features), bool)
        for each in self.comparisons:
            values = features[:, names.index(each.feature)]
            held &= _OPERATORS[each.sign](values, each.number) & ~np.isnan(values)
        return held


@dataclass(frozen=True, slots=True)
class Role:
    """Who is asked, and who is asked next."""

    primary: str
    fallback: tuple[str, ...] = ()
    confidence: float = 0.0
    """Below it the next fallback is asked, while there is one and the budget allows it."""

    @property
    def chain(self) -> tuple[str, ...]:
        """The workers in the order they are asked."""
        return self.primary, *self.fallback


@dataclass(frozen=True, slots=True)
class RoutingTable:
    """Rules, roles and what workers cost."""

    rules: tuple[RoutingRule, ...]
    roles: Mapping[str, Role]
    features: tuple[str, ...]
    context: int | None = None
    """Columns read beside those that are asked about; None for the whole table."""
    costs: Mapping[str, float] | None = None
    """Worker to the cost of one column; 0 for the others."""
    most_cost: float = math.inf
    """Budget of a table: fallbacks that would exceed it are not asked."""
    most_seconds: float = math.inf

    def choose(self, features: Floats) -> Ints:
        """(B, F) -> (B,) the number of the first rule that holds."""
        chosen = np.full(len(features), len(self.rules) - 1, np.int64)
        for number in range(len(self.rules) - 1, -1, -1):
            chosen[self.rules[number].holds(features, self.features)] = number
        return chosen

    def role(self, rule: int) -> Role:
        """The role that a rule leads to."""
        return self.roles[self.rules[rule].role]

    def role_of(self, worker: str) -> Role:
        """The first role whose primary is this worker; one without fallbacks if there is none."""
        return next((each for each in self.roles.values() if each.primary == worker), Role(worker))

    def cost(self, worker: str) -> float:
        """What a worker takes for one column."""
        return (self.costs or {}).get(worker, 0.0)


def load_table(path: Path, features: Sequence[str], workers: Collection[str]) -> RoutingTable:
    """Read a routing table; raise `UsageError` for what names other features or workers."""
    try:
        with path.open("rb") as file:
            text = file.read(4 * LONGEST).decode()
    except OSError as error:
        raise UsageError(f"{path} cannot be read ({error.strerror or error})") from None
    except UnicodeDecodeError as error:
        raise UsageError(
            f"{path} is no UTF-8 text ({error.reason} at byte {error.start})"
        ) from None
    return parse_table(text, str(path), features, workers)


def parse_table(
    text: str, file: str, features: Sequence[str], workers: Collection[str]
) -> RoutingTable:
    """Return the routing table in a text; `file` is its name in sentences."""
    top = read_yaml(text, file)
    _require_keys(top, _KEYS)
    if "version" in top.entries and _number(top, "version", 0) != VERSION:
        raise top.position.error(f"the version of this table is not {VERSION}")
    roles = _roles(top, workers)
    budget = _below(top, "budget")
    _require_keys(budget, ("cost", "seconds"))
    costs = _below(top, "costs")
    _require_keys(costs, tuple(workers))
    return RoutingTable(
        rules=_rules(top, features, roles),
        roles=roles,
        features=tuple(features),
        context=int(_number(top, "context", 0)) if "context" in top.entries else None,
        costs={worker: _number(costs, worker, 0) for worker in costs.entries},
        most_cost=_number(budget, "cost", math.inf),
        most_seconds=_number(budget, "seconds", math.inf),
    )


def _rules(
    top: Section, features: Sequence[str], roles: Mapping[str, Role]
) -> tuple[RoutingRule, ...]:
    texts = top.entries.get("rules", ())
    if isinstance(texts, Text):
        raise texts.position.error(f"{texts.text!r} is no item; expected `- condition -> ROLE`")
    if not isinstance(texts, tuple) or not texts:
        raise top.position.error(
            "there are no rules; expected `rules:` and below it `- otherwise -> ROLE`"
        )
    rules = []
    for number, text in enumerate(texts):
        rules.append(_rule(text, features, roles))
        last = number == len(texts) - 1
        if not rules[-1].comparisons and not last:
            raise texts[number + 1].position.error(
                f"this rule can never hold, because `{OTHERWISE}` stands before it"
            )
        if last and rules[-1].comparisons:
            raise text.position.error(
                f"the last rule is `{rules[-1]}`; expected one that always holds: `{OTHERWISE} -> ROLE`"
            )
    return tuple(rules)


def _rule(text: Text, features: Sequence[str], roles: Mapping[str, Role]) -> RoutingRule:
    condition, arrow, role = text.text.partition("->")
    if not arrow:
        raise text.position.error(
            f"{text.text!r} has no arrow; expected a rule such as `complexity > 0.8 -> swarm`"
        )
    name = role.strip()
    if name not in roles:
        at = text.position.after(len(condition) + 2 + len(role) - len(role.lstrip()))
        raise at.error(f"unknown role {name!r}; {_near(name, roles)}")
    if condition.strip() == OTHERWISE:
        return RoutingRule((), name)
    comparisons, at = [], text.position
    for part in re.split(r"(\band\b)", condition):
        if part != "and":
            comparisons.append(_comparison(part, at, features))
        at = at.after(len(part))
    return RoutingRule(tuple(comparisons), name)


def _comparison(text: str, position: Position, features: Sequence[str]) -> FeatureComparison:
    position = position.after(len(text) - len(text.lstrip()))
    match = _COMPARISON.match(text)
    if match is None:
        raise position.error(
            f"{text.strip()!r} is no condition; expected `feature > number` (or >=, <, <=, ==, !=), "
            f"joined by `and`, or `{OTHERWISE}`"
        )
    if match["feature"] not in features:
        raise position.error(
            f"unknown feature {match['feature']!r}; {_near(match['feature'], features)}"
        )
    try:
        return FeatureComparison(match["feature"], match["sign"], float(match["number"]))
    except ValueError:
        at = position.after(match.start("number") - (len(text) - len(text.lstrip())))
        raise at.error(f"{match['number']!r} is no number") from None


def _roles(top: Section, workers: Collection[str]) -> dict[str, Role]:
    """Return the roles by name; every worker is a role of its own, too."""
    found = {worker: Role(worker) for worker in workers}
    for name, section in _below(top, "roles").entries.items():
        if not isinstance(section, Section):
            raise _position(section, top).error(f"the role {name!r} has no `primary:` below it")
        _require_keys(section, ("primary", "fallback", "confidence"))
        primary = section.entries.get("primary")
        if not isinstance(primary, Text):
            raise section.position.error(f"the role {name!r} has no `primary: WORKER`")
        fallback = section.entries.get("fallback", ())
        chain = (primary, *(fallback if isinstance(fallback, tuple) else (fallback,)))
        asked = []
        for worker in chain:
            if not isinstance(worker, Text) or worker.text not in workers:
                name_of = worker.text if isinstance(worker, Text) else "a mapping"
                raise _position(worker, section).error(
                    f"unknown worker {name_of!r}; {_near(name_of, workers)}"
                )
            if worker.text in asked:
                raise worker.position.error(f"{worker.text!r} is asked twice by the role {name!r}")
            asked.append(worker.text)
        found[name] = Role(asked[0], tuple(asked[1:]), _number(section, "confidence", 0.0))
    return found


def _below(top: Section, key: str) -> Section:
    section = top.entries.get(key, Section({}, top.position))
    if not isinstance(section, Section):
        raise _position(section, top).error(
            f"{key!r} holds no entries; expected `name: value` below it"
        )
    return section


def _number(section: Section, key: str, default: float) -> float:
    value = section.entries.get(key)
    if value is None:
        return default
    try:
        number = float(value.text) if isinstance(value, Text) else math.nan
    except ValueError:
        number = math.nan
    if not number >= 0:
        raise _position(value, section).error(f"{key!r} is no number from 0 on")
    return number


def _require_keys(section: Section, known: Sequence[str]) -> None:
    for key, value in section.entries.items():
        if key not in known:
            raise _position(value, section).error(f"unknown key {key!r}; {_near(key, known)}")


def _position(value: Value, section: Section) -> Position:
    if isinstance(value, tuple):
        return value[0].position if value else section.position
    return value.position


def _near(name: str, known: Collection[str]) -> str:
    from difflib import get_close_matches  # few runs have a name to correct

    near = get_close_matches(name, known, 1)
    return f"did you mean {near[0]!r}?" if near else f"there are {', '.join(known)}"
