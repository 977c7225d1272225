"""`python -m aegir.lab.figures open-bandit`: one policy's click rate estimated from another's log, beside what it really was.

Open Bandit (Saito et al. 2020, arXiv:2008.07146) holds logs of two policies that showed items at the same time to users of the same shop,
drawn at random: uniform, and Bernoulli Thompson sampling (`bts`). The mean click rate of each log is therefore the true value of
its policy, up to chance, and can be estimated from the other one's log with the stated propensities.

How likely Thompson sampling is to show an item is not in the files, as it changes with time; its share of the rows of that place on
the page stands in for it.
"""

import csv
import gzip
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import numpy as np

from aegir.cli.options import verb_options
from aegir.cli.terminal import say, tell
from aegir.lab.figures.text_table import text_table
from aegir_rl.base.arrays import Floats
from aegir_rl.base.errors import UsageError
from aegir_rl.observe.plots import interval_plot, write_svgs
from aegir_rl.offline.estimators import Weighted, estimate_values, weigh
from aegir_rl.offline.fitted_q import FittedQ
from aegir_rl.offline.intervals import Estimate, estimate_mean
from aegir_rl.offline.logged_decisions import LoggedDecisions

CAMPAIGNS, POLICIES = ("men", "women"), ("random", "bts")
SEEN = ("position", "user_feature_0", "user_feature_1", "user_feature_2", "user_feature_3")
Rows = Sequence[Mapping[str, str]]


@dataclass(frozen=True, slots=True)
class Transfer:
    """The value of one policy, estimated from the log of another."""

    campaign: str
    logged: str
    evaluated: str
    truth: Estimate
    """The mean click rate of the evaluated policy's own log."""
    estimates: Mapping[str, Estimate]
    largest_weight: float
    effective: float

    def as_dict(self) -> dict[str, Any]:
        return {
            "campaign": self.campaign,
            "logged": self.logged,
            "evaluated": self.evaluated,
            "largest_weight": self.largest_weight,
            "effective_sample_size": self.effective,
            "truth": self.truth.as_dict(),
            "estimates": {name: each.as_dict() for name, each in self.estimates.items()},
        }


@click.command(
    "open-bandit",
    epilog="Example: python -m aegir.lab.figures open-bandit --data obd --plots plots",
)
@verb_options("figure-open-bandit")
def open_bandit(data: Path, plots: Path | None, as_json: bool) -> None:
    """Estimate each policy of the Open Bandit data from the other one's log, beside its own click rate."""
    found = [
        transfer(campaign, logged, evaluated, data)
        for campaign in CAMPAIGNS
        for logged, evaluated in (POLICIES, POLICIES[::-1])
    ]
    if as_json:
        click.echo(json.dumps([each.as_dict() for each in found], allow_nan=False))
    else:
        say(*_lines(found))
    if plots is not None:
        write_svgs(plots, {"open-bandit": _plot(found)})
        tell(f"wrote {plots}")


def transfer(campaign: str, logged: str, evaluated: str, data: Path) -> Transfer:
    """Estimate the value of one policy from the log of the other."""
    rows, others = (_read(data, campaign, name) for name in (logged, evaluated))
    log = read_log(rows, f"{campaign} {logged}")
    episodes = weigh_policy(
        log, shares_of(others, rows, log.actions, uniform=evaluated == "random")
    )
    clicks = np.array([float(row["click"]) for row in others])
    weights = episodes.products[:, -1]
    truth = estimate_mean(clicks, np.arange(len(clicks))).within(0.0, 1.0)
    return Transfer(
        campaign,
        logged,
        evaluated,
        truth,
        estimate_values(episodes),
        float(weights.max()),
        float(weights.sum() ** 2 / (weights @ weights)),
    )


def read_log(rows: Rows, name: str) -> LoggedDecisions:
    """Rows of Open Bandit as a log, every value of a column that is seen as a feature."""
    values = [(column, value) for column in SEEN for value in Counter(row[column] for row in rows)]
    return LoggedDecisions.of(
        [[float(row[column] == value) for column, value in values] for row in rows],
        [row["item_id"] for row in rows],
        [float(row["click"]) for row in rows],
        [float(row["propensity_score"]) for row in rows],
        feature_names=[f"{column}={value}" for column, value in values],
        name=name,
    )


def shares_of(others: Rows, rows: Rows, actions: Sequence[str], *, uniform: bool) -> Floats:
    """(N, A) how likely the other policy shows each item on each row."""
    if uniform:
        return np.full((len(rows), len(actions)), 1 / len(actions))
    shown = Counter((row["position"], row["item_id"]) for row in others)
    totals = Counter(row["position"] for row in others)
    of_place = {
        place: [shown[place, action] / count for action in actions]
        for place, count in totals.items()
    }
    return np.array([of_place[row["position"]] for row in rows])


def weigh_policy(log: LoggedDecisions, policy: Floats) -> Weighted:
    """The log under a policy of these probabilities (N, A)."""
    model = FittedQ(log)
    return weigh(log, policy, model.evaluate(policy, 1.0), model.logged_returns(1.0))


def _read(data: Path, campaign: str, policy: str) -> Rows:
    path = data / f"open_bandit_{campaign}_{policy}.csv.gz"
    try:
        with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
    except (OSError, EOFError, UnicodeDecodeError, csv.Error) as error:
        raise UsageError(
            f"{path} cannot be read ({error}); expected a log of Open Bandit"
        ) from None
    needed = {"item_id", "click", "propensity_score", *SEEN}
    if not rows or not needed <= set(rows[0]):
        raise UsageError(
            f"{path} is no log of Open Bandit; expected columns {', '.join(sorted(needed))}"
        )
    return rows


def _lines(found: Sequence[Transfer]) -> list[str]:
    names = list(found[0].estimates)
    rows = [("campaign", "log of", "value of", "largest weight", "effective", "true rate", *names)]
    for each in found:
        shown = [_percent(each.truth), *(_percent(each.estimates[name]) for name in names)]
        rows.append(
            (
                each.campaign,
                each.logged,
                each.evaluated,
                f"{each.largest_weight:,.0f}",
                f"{each.effective:,.0f}",
                *shown,
            )
        )
    return [*text_table(rows), "", "click rates in per cent, with 95 % intervals"]


def _percent(estimate: Estimate) -> str:
    return f"{100 * estimate.value:.2f} ({100 * estimate.low:.2f} to {100 * estimate.high:.2f})"


def _plot(found: Sequence[Transfer]) -> str:
    intervals = {}
    for each in found:
        where = f"{each.campaign}\n{each.logged} →\n{each.evaluated}"
        for name, shown in (("true rate", each.truth), ("DR", each.estimates["dr"])):
            intervals[f"{where}\n{name}"] = (shown.low, shown.value, shown.high)
    return interval_plot("click rate, 95 % intervals", intervals, y_label="click rate", zero=True)
