"""What a healthy metric looks like: one rule per column (rules.toml), for live checks and for run folders alike.

    match = match_rule("router/kl")                     # the rule of `kl`, found by suffix
    match = match_rule("train/entropy_loss")            # the rule of `entropy`, with factor -1 (aliases.tsv)

A rule says what its column measures, between which bounds it must stay, which sudden change is a fault and how large it must
be, and what to try. Bounds mark plain faults only (a constant reward, a collapsed representation). Change a rule with
`{**RULES, "kl": replace(RULES["kl"], high=0.1)}` and pass `rules=`.

Names of other programs are translated by aliases.tsv: Stable-Baselines3, TRL, verl and CleanRL. A name is looked up as
a rule, as an alias, and then without its first parts: `router/kl` is read as `kl`.
"""

import csv
import math
import tomllib
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from aegir_rl.observe.drift_watch import Direction


@dataclass(frozen=True, slots=True)
class HealthRule:
    """Bounds of one column, and the sudden change that is a fault; NaN and infinities always are."""

    measures: str
    low: float = -math.inf
    high: float = math.inf
    advice: str = ""
    drift: Direction | None = None
    """The direction in which a sudden lasting change is a fault; None: not watched."""
    least_change: float = 0.0
    """A smaller change is no fault."""
    least_factor: float = 1.0
    """Nor is a change by a smaller factor."""
    least_share: float = 0.0
    """Nor is a change by a smaller share of the range that the column has covered in this run."""
    stops_at_once: bool = False
    """A broken bound is never chance: no second update is waited for."""
    seen_in_hard_starts: bool = False
    """Hard tasks break the bound too, before anything is learnt: a warning until it has been kept once."""
    seen_in_mastery: bool = False
    """A run that has mastered its tasks breaks the bound too: then a warning."""

    def is_broken_by(self, value: float) -> bool:
        """Whether the value is outside the bounds; NaN is."""
        return not self.low <= value <= self.high

    def describe_bounds(self) -> str:
        """The bounds in words."""
        if math.isinf(self.low) and math.isinf(self.high):
            return "finite"
        if math.isinf(self.high):
            return f"at least {self.low:g}"
        if math.isinf(self.low):
            return f"at most {self.high:g}"
        return f"{self.low:g} to {self.high:g}"


def _read_rules() -> dict[str, HealthRule]:
    tables = tomllib.loads(files("aegir_rl.health").joinpath("rules.toml").read_text("utf-8"))
    return {name: HealthRule(**table) for name, table in tables.items()}


RULES = _read_rules()


@dataclass(frozen=True, slots=True)
class Alias:
    """What a name of another program stands for."""

    column: str
    """A column of RULES; "" when the name must not be read as any."""
    factor: float
    unless: str
    """A column beside which the alias does not hold; "" for none."""


@dataclass(frozen=True, slots=True)
class MetricRule:
    """The rule that a recorded column is held to, and the factor that converts its values."""

    column: str | None
    """Its name in the rules; None without a rule."""
    rule: HealthRule
    factor: float
    label: str
    """The recorded name for a sentence, with the column it is read as where that is not plain."""

    @classmethod
    def without_rule(cls, name: str) -> "MetricRule":
        """No bounds: only NaN and infinities are faults."""
        return cls(None, HealthRule(name), 1.0, name)


def match_rule(
    name: str, rules: Mapping[str, HealthRule] = RULES, recorded: Collection[str] = ()
) -> MetricRule | None:
    """The rule for a recorded column, None without one; `recorded` names the columns beside it."""
    for short in _suffixes(name):
        if short in rules:
            return MetricRule(short, rules[short], 1.0, name)
        alias = load_aliases().get(short)
        if alias is not None:
            if alias.unless in recorded or alias.column not in rules:
                return None
            return MetricRule(
                alias.column, rules[alias.column], alias.factor, f"{name} ({alias.column})"
            )
    return None


def _suffixes(name: str) -> Iterator[str]:
    """`a/b/kl`, `b/kl`, `kl`."""
    while name:
        yield name
        name = name.partition("/")[2]


@cache
def load_aliases() -> dict[str, Alias]:
    """The table aliases.tsv."""
    text = files("aegir_rl.health").joinpath("aliases.tsv").read_text(encoding="utf-8")
    rows = csv.DictReader(text.splitlines(), delimiter="\t")
    return {row["name"]: Alias(row["column"], float(row["factor"]), row["unless"]) for row in rows}
