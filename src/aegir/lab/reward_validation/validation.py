"""Is each reward fit to train on? Five questions per component, answered by measurement, before they are combined.

    gradient       through a small router its policy gradient stands out from that of the same rewards shuffled, a
                   constant reward gives none, and climbing it raises it on fresh tables; r_finish leaves a collapse
    polarity       of two hand-made cases the better one gets more
    independence   one fires where others do not; over varied policies no two components are the same
    scale          spreads are comparable, values stay in reach on every case; lambdas that would even them out are
                   suggested
    presence       the reward is missing on hardly any table

A component is any function from a `EpisodeBatch` to one number per table, so that your own can be put to the same
questions: `validate_rewards(components={"parallel": mine})`. One that raises fails its checks; the others go on. One that
never returns keeps the validation waiting.

Limits: the router and its tables are a toy. Passing here is necessary, not sufficient.
"""

from collections.abc import Iterator, Mapping
from itertools import combinations

import numpy as np

from aegir.lab.reward_validation.cases import Component, read_cases
from aegir.lab.reward_validation.config import ValidationConfig
from aegir.lab.reward_validation.gradient_checks import gradient_checks
from aegir.lab.reward_validation.report import RewardCheck, ValidationReport
from aegir.lab.reward_validation.toy_router import fresh_router, roll_out
from aegir_rl.base.arrays import Floats
from aegir_rl.base.errors import AegirError
from aegir_rl.base.seeding import Seeds
from aegir_rl.episode import EpisodeBatch
from aegir_rl.rewards.combined import measure_scale, suggest_lambdas
from aegir_rl.rewards.episodes import (
    compute_batch_finish,
    compute_batch_parallel,
    compute_batch_perf,
)

VARIETY = 4.0
"""How far the biases of varied policies reach: from hardly ever on to nearly always."""


def validate_rewards(
    config: ValidationConfig | None = None, components: Mapping[str, Component] | None = None
) -> ValidationReport:
    """Put perf, parallel and finish, or what is given in their place, to every question."""
    _need_torch()
    settings = config or ValidationConfig()
    guarded = {
        name: _Guarded(name, component)
        for name, component in {**default_components(settings), **(components or {})}.items()
    }
    seeds = Seeds(settings.seed)
    curves: dict[str, tuple[float | None, ...]] = {}
    checks = [*gradient_checks(guarded, settings, seeds, curves)]
    checks += _polarity_checks(guarded, settings)
    checks += _independence_checks(guarded, settings)
    varied = roll_out(fresh_router(), settings.episodes, seeds, "varied", spread=VARIETY).batch
    values = {name: component(varied) for name, component in guarded.items()}
    correlations = _correlations(values)
    checks += _correlation_checks(correlations, settings)
    checks += _scale_checks(values, guarded, settings)
    checks += _presence_checks(guarded, settings)
    shares = (settings.lambda_parallel, settings.lambda_finish)
    scales = suggest_lambdas(values["perf"], values["parallel"], values["finish"], shares)
    errors = tuple(component.error for component in guarded.values() if component.error)
    return ValidationReport(tuple(checks), scales, correlations, curves, settings, errors)


def default_components(config: ValidationConfig) -> dict[str, Component]:
    """The three rewards under the weights of a config."""

    return {
        "perf": compute_batch_perf,
        "parallel": lambda batch: compute_batch_parallel(batch, weights=config.parallel),
        "finish": lambda batch: compute_batch_finish(batch, weights=config.finish),
    }


def _need_torch() -> None:
    try:
        import torch  # noqa: F401 (the toy router imports it late)
    except ModuleNotFoundError:
        raise AegirError(
            "validating rewards needs torch; install it with: pip install 'aegir-tables[train]'"
        ) from None


class _Guarded:
    """A component that turns an exception or a wrong shape into missing rewards, and remembers what it gave."""

    def __init__(self, name: str, component: Component) -> None:
        self._name, self._component = name, component
        self.error: str | None = None
        self.tables = self.missing = 0
        self.lowest, self.highest = np.inf, -np.inf

    def __call__(self, batch: EpisodeBatch) -> Floats:
        rewards = self._compute(batch)
        present = np.isfinite(rewards)
        self.tables += len(rewards)
        self.missing += int((~present).sum())
        self.lowest = min(self.lowest, float(rewards[present].min(initial=np.inf)))
        self.highest = max(self.highest, float(rewards[present].max(initial=-np.inf)))
        return rewards

    def _compute(self, batch: EpisodeBatch) -> Floats:
        episodes = len(batch)
        try:
            rewards = np.asarray(self._component(batch), dtype=np.float64)
            if rewards.shape != (episodes,):
                raise ValueError(f"gave shape {rewards.shape}; expected ({episodes},)")
        except Exception as error:
            self.error = f"component {self._name!r}: {type(error).__name__}: {error}"
            return np.full(episodes, np.nan)
        return np.where(np.isfinite(rewards), rewards, np.nan)


def _polarity_checks(
    components: Mapping[str, _Guarded], config: ValidationConfig
) -> Iterator[RewardCheck]:
    for case in read_cases("polarity"):
        (name,) = case.expected
        better, worse = (float(components[name](batch)[0]) for batch in case.tables)
        yield RewardCheck.of(
            *("polarity", name, case.name),
            passed=better >= worse + config.limits.margin,
            sentence=f"{better:.3f} against {worse:.3f}",
            better=better,
            worse=worse,
        )


def _independence_checks(
    components: Mapping[str, _Guarded], config: ValidationConfig
) -> Iterator[RewardCheck]:
    limits = config.limits
    for case in read_cases("independence"):
        (batch,) = case.tables
        rewards = {name: float(components[name](batch)[0]) for name in case.expected}
        passed = all(
            rewards[name] >= limits.high if level == "high" else rewards[name] <= limits.low
            for name, level in case.expected.items()
        )
        sentence = ", ".join(
            f"{name} {rewards[name]:.3f} ({level})" for name, level in case.expected.items()
        )
        yield RewardCheck.of("independence", "all", case.name, passed, sentence, **rewards)


def _correlations(values: Mapping[str, Floats]) -> dict[str, float | None]:
    """Correlation of every pair over the tables that have both; None where one does not vary."""
    correlations: dict[str, float | None] = {}
    for first, second in combinations(values, 2):
        both = np.isfinite(values[first]) & np.isfinite(values[second])
        pair = np.stack([values[first][both], values[second][both]])
        varies = both.sum() > 1 and bool((np.ptp(pair, axis=1) > 0).all())
        correlations[f"{first} and {second}"] = (
            float(np.asarray(np.corrcoef(pair))[0, 1]) if varies else None
        )
    return correlations


def _correlation_checks(
    correlations: Mapping[str, float | None], config: ValidationConfig
) -> Iterator[RewardCheck]:
    most = config.limits.correlation
    for pair, value in correlations.items():
        measured = "one of them does not vary" if value is None else f"correlation {value:.3f}"
        yield RewardCheck.of(
            *("independence", "all", f"{pair} are not the same"),
            passed=value is not None and abs(value) <= most,
            sentence=f"{measured} over varied policies (at most {most:g})",
            correlation=np.nan if value is None else value,
        )


def _scale_checks(
    values: Mapping[str, Floats], components: Mapping[str, _Guarded], config: ValidationConfig
) -> Iterator[RewardCheck]:
    """Spread over varied policies; range over every batch and case the component was computed on."""
    limits = config.limits
    scales = {name: measure_scale(part) for name, part in values.items()}
    largest = max((scale.spread or 0.0) for scale in scales.values())
    for name, scale in scales.items():
        if scale.spread is None:
            yield RewardCheck.of(
                "scale", name, "comparable spread", False, "no table has this reward"
            )
            continue
        low, high = components[name].lowest, components[name].highest
        comparable = scale.spread > 0 and largest <= limits.scale_ratio * scale.spread
        yield RewardCheck.of(
            *("scale", name, "comparable spread, values in reach"),
            passed=comparable and max(-low, high) <= limits.reach,
            sentence=f"spread {scale.spread:.3f} (largest {largest:.3f}), from {low:.3f} to {high:.3f} "
            f"(at most {limits.reach:g} from 0)",
            spread=scale.spread,
            lowest=low,
            highest=high,
        )


def _presence_checks(
    components: Mapping[str, _Guarded], config: ValidationConfig
) -> Iterator[RewardCheck]:
    most = config.limits.missing
    for name, component in components.items():
        share = component.missing / max(component.tables, 1)
        yield RewardCheck.of(
            *("presence", name, "hardly ever missing"),
            passed=share <= most,
            sentence=f"missing on {component.missing} of {component.tables} tables (at most {most:.0%})",
            missing=share,
        )
