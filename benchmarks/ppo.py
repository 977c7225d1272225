"""The simulator's environment and PPO in it, beside stable-baselines3 at the same network, batch and environment.

Environment: steps per CPU second of `SimulatorVectorEnv` with 256 episodes side by side, actions drawn at random.
PPO: decisions per CPU second, playing and updates together. Actor and critic have two layers of 64 with ReLU each, 10 epochs over
about 2,048 decisions per iteration in minibatches of 64 (stable-baselines3's defaults), the same learning rate, discount, clip
range and entropy bonus. Reward: the likeliest action on tasks of another seed, after the same number of decisions.

stable-baselines3 steps the same arrays through a `VecEnv` of its own with 256 environments and 8 steps each. It needs an
environment with `pip install torch==2.13.0 stable-baselines3 gymnasium` and Aegir's own dependencies.
"""

from importlib import import_module
from typing import Any

import numpy as np

from aegir_rl.base.arrays import Ints
from aegir_rl.base.seeding import Seeds
from aegir_rl.offline.learning import Standardised
from aegir_rl.offline.reward_v1 import RewardWeights, compute_reward_v1
from aegir_rl.simulator.environment import SimulatorVectorEnv
from aegir_rl.simulator.episodes import Budget, feature_names
from aegir_rl.simulator.outcome_table import OutcomeTable
from aegir_rl.simulator.playing import Choose, play, prefer
from aegir_rl.simulator.ppo.config import PpoSettings
from aegir_rl.simulator.ppo.learner import ActorStart, PpoLearner
from benchmarks.measuring import Runs, cpu_seconds
from benchmarks.options import Options
from benchmarks.ppo_world import StepArrays, draw_table
from benchmarks.result import Measurement, Ratio, Result, Target, at_least

QUESTION = "Steps of the environment and decisions of PPO per CPU second, and the reward it reaches"
TASKS, SLOTS, STEPS_EACH = 1000, 256, 8
DECISIONS = 20_000
ENTROPY, RATE = 0.01, 5e-4
SETTINGS = PpoSettings(
    hidden=(64, 64),
    epochs=10,
    minibatch=64,
    actor_rate=RATE,
    critic_rate=RATE,
    rate_end=1.0,
    clip_end=0.2,
    entropy_start=ENTROPY,
    entropy_end=ENTROPY,
    kl_stop=0.0,
    critic_first=0,
)
NO_STATIC: Ints = np.zeros((TASKS, 1), np.int64)


def run(options: Options) -> Result:
    """Ours, and the reference where it is installed."""
    decisions, repeats = (3_000, 1) if options.quick else (DECISIONS, min(options.repeats, 3))
    table, test = draw_table(TASKS, 2 * options.seed), draw_table(TASKS, 2 * options.seed + 1)
    steps = _measure_environment(table, 20 if options.quick else 400, repeats)
    speeds, rewards = zip(
        *(_train(table, test, decisions, seed) for seed in range(repeats)), strict=True
    )
    ours = Measurement("aegir, PPO", "decisions per CPU second", Runs(speeds))
    reached = Measurement("aegir, reward on other tasks", "reward", Runs(rewards))
    measurements, ratios = [steps, ours, reached], list[Ratio]()
    targets: list[Target] = [at_least(steps, 20_000)]
    left_out = []
    try:
        theirs, their_reward = _reference(table, test, decisions, repeats)
    except ImportError as error:
        left_out.append(f"{error.name} is not installed; see benchmarks/ppo.py")
    else:
        ratios = [Ratio(ours, theirs), Ratio(reached, their_reward)]
        times = [
            Measurement(f"aegir against stable-baselines3, {name}", "times", Runs((ratio.value,)))
            for name, ratio in zip(("decisions", "reward"), ratios, strict=True)
        ]
        measurements += [theirs, their_reward, *times]
        targets += [at_least(times[0], 2), at_least(times[1], 1)]
    return Result(
        benchmark="ppo",
        question=QUESTION,
        data=f"synthetic: {TASKS:,} made-up tasks, 5 solvers with 3 efforts, no program was run",
        measurements=tuple(measurements),
        ratios=tuple(ratios),
        targets=tuple(targets),
        settings={
            "hidden": list(SETTINGS.hidden),
            "epochs": SETTINGS.epochs,
            "minibatch": SETTINGS.minibatch,
            "decisions_per_iteration": SLOTS * STEPS_EACH,
            "decisions": decisions,
        },
        left_out=tuple(left_out),
    )


def _measure_environment(table: OutcomeTable, steps: int, repeats: int) -> Measurement:
    env = SimulatorVectorEnv(table, SLOTS)
    actions = Seeds(0).generator("actions").integers(len(table.actions), size=(steps, SLOTS))

    def work() -> None:
        env.reset(seed=0)
        for row in actions:
            env.step(row)

    runs = Runs(tuple(cpu_seconds(work) for _ in range(repeats))).per(steps * SLOTS)
    return Measurement("aegir, environment", "steps per CPU second", runs)


def _first_look(table: OutcomeTable) -> Any:
    """Observations of random play, to standardise by."""

    def anything(seen: Any, _: Any, random: np.random.Generator) -> Any:
        return random.integers(len(table.actions), size=len(seen)), np.ones(len(seen))

    batch = _play(table, np.arange(TASKS), anything, 0).batch
    return batch.features[batch.decided]


def _play(table: OutcomeTable, tasks: Ints, choose: Choose, seed: int) -> Any:
    return play(
        *(table, tasks, choose, Budget(), RewardWeights()),
        static=NO_STATIC,
        random=Seeds(seed).generator("play"),
    )


def _train(
    table: OutcomeTable, test: OutcomeTable, decisions: int, seed: int
) -> tuple[float, float]:
    """Decisions per CPU second, and the mean reward on test tasks."""
    names = feature_names(table.solvers)
    start = ActorStart.new(_first_look(table), names, table, SETTINGS.hidden, seed)
    learner, random = PpoLearner(SETTINGS, start, seed), Seeds(seed).generator("tasks")
    done: list[int] = []

    def learn() -> None:
        length = 3.0  # decisions of an episode, as the last iteration had it
        while sum(done) < decisions:
            count = max(round(SLOTS * STEPS_EACH / length), 1)
            played = _play(table, random.integers(TASKS, size=count), learner.choose, len(done))
            rewards = compute_reward_v1(played.batch)
            learner.update(played, rewards.steps, len(done), sum(done) / decisions)
            done.append(int(played.batch.decided.sum()))
            length = done[-1] / count

    spent = cpu_seconds(learn)
    policy = learner.policy({})
    batch = _play(test, np.arange(TASKS), prefer(policy, test), 0).batch
    return sum(done) / spent, float(compute_reward_v1(batch).total.mean())


def _reference(
    table: OutcomeTable, test: OutcomeTable, decisions: int, repeats: int
) -> tuple[Measurement, Measurement]:
    """The PPO of stable-baselines3."""
    library, torch = import_module("stable_baselines3"), import_module("torch")
    vectorised = import_module("stable_baselines3.common.vec_env")
    spaces = import_module("gymnasium.spaces")
    torch.set_num_threads(1)
    data = Standardised.of(_first_look(table))
    width = len(feature_names(table.solvers))

    class Env(vectorised.VecEnv):  # type: ignore[misc,name-defined]
        def __init__(self, seed: int) -> None:
            random = Seeds(seed).generator("reference")
            self._arrays = StepArrays(table, SLOTS, data.mean, data.scale, random)
            super().__init__(
                SLOTS,
                spaces.Box(-np.inf, np.inf, (width,), np.float32),
                spaces.Discrete(len(table.actions)),
            )

        def reset(self) -> Any:
            self._arrays.begin()
            return self._arrays.observations

        def step_async(self, actions: Any) -> None:
            self._actions = actions

        def step_wait(self) -> Any:
            rewards, ended, last = self._arrays.step(np.asarray(self._actions, np.int64))
            infos: list[dict[str, Any]] = [{} for _ in range(SLOTS)]
            for row in np.flatnonzero(ended):
                infos[row]["terminal_observation"] = last[row]
            return self._arrays.observations, rewards, ended, infos

        def close(self) -> None: ...

        def get_attr(self, name: str, indices: Any = None) -> Any:  # noqa: ARG002
            return [None] * SLOTS

        def set_attr(self, name: str, value: Any, indices: Any = None) -> None: ...

        def env_method(self, *_: Any, **__: Any) -> Any: ...

        def env_is_wrapped(self, kind: Any, indices: Any = None) -> Any:  # noqa: ARG002
            return [False] * SLOTS

    speeds, rewards = [], []
    for seed in range(repeats):
        model = library.PPO(
            "MlpPolicy",
            Env(seed),
            learning_rate=RATE,
            n_steps=STEPS_EACH,
            batch_size=SETTINGS.minibatch,
            n_epochs=SETTINGS.epochs,
            gamma=SETTINGS.discount,
            gae_lambda=SETTINGS.smoothing,
            clip_range=SETTINGS.clip_start,
            ent_coef=ENTROPY,
            policy_kwargs={
                "net_arch": {"pi": list(SETTINGS.hidden), "vf": list(SETTINGS.hidden)},
                "activation_fn": torch.nn.ReLU,
            },
            seed=seed,
            device="cpu",
        )
        spent = cpu_seconds(lambda model=model: model.learn(decisions))  # type: ignore[misc]
        speeds.append(model.num_timesteps / spent)

        def likeliest(seen: Any, _: Any, __: Any, model: Any = model) -> Any:
            standard = (seen - data.mean) / data.scale
            return model.predict(standard, deterministic=True)[0], np.ones(len(seen))

        batch = _play(test, np.arange(TASKS), likeliest, 0).batch
        rewards.append(float(compute_reward_v1(batch).total.mean()))
    return (
        Measurement("stable-baselines3, PPO", "decisions per CPU second", Runs(tuple(speeds))),
        Measurement("stable-baselines3, reward on other tasks", "reward", Runs(tuple(rewards))),
    )
