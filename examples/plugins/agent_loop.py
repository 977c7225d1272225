"""A loop of agents with tools, whose trajectories go through raters, normaliser, health checks and a tracker for 20 steps.

    python examples/plugins/agent_loop.py                # numpy only

An agent answers sums. In each turn it calls a tool (`add`, right; `guess`, often wrong) or hands in its answer. Its policy is a
softmax over tools, learnt by the clipped policy loss; a tool call takes time, so that quick answers are worth something.
Put your agent in place of `Agent.act`, and your tools in place of `TOOLS`: the rest stays as it is.
"""
# ruff: noqa: T201

import numpy as np

from aegir_rl.health import HealthMonitor, measure_advantages, measure_rewards
from aegir_rl.observe import APIPerformanceTracker, render_prometheus
from aegir_rl.raters import RewardEnsemble
from aegir_rl.rewards import RunningNormalizer
from aegir_rl.rl import PpoForm, compute_policy_loss, group_advantages

TOOLS = {
    "add": lambda task, _: sum(task),
    "guess": lambda task, random: sum(task) + int(random.integers(-1, 2)),
}
TURNS, TASKS, TRIES, STEPS = 3, 8, 8, 20


class Agent:
    """A policy over what to do in each turn: call a tool, or answer with what the last tool said."""

    def __init__(self, seed):
        self.logits = np.zeros((TURNS, len(TOOLS) + 1))
        self.random = np.random.default_rng(seed)

    def log_probabilities(self):
        shifted = self.logits - self.logits.max(axis=1, keepdims=True)
        return shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))

    def act(self, turn):
        chances = np.exp(self.log_probabilities()[turn])
        return int(self.random.choice(len(chances), p=chances))


def roll_out(agent, task, tracker):
    """One trajectory: messages as a chat has them, and the decisions with their log probabilities."""
    messages, said, decisions = [{"role": "user", "content": f"{task}"}], None, []
    for turn in range(TURNS):
        choice = agent.act(turn)
        decisions.append((turn, choice, agent.log_probabilities()[turn, choice]))
        if choice == len(TOOLS):
            break
        name = list(TOOLS)[choice]
        with tracker.measure("tools", name):
            said = TOOLS[name](task, agent.random)
        messages.append({"role": "tool", "name": name, "content": str(said)})
    messages.append({"role": "assistant", "content": "" if said is None else str(said)})
    return {"task": task, "messages": messages, "decisions": decisions}


def exact(trajectories):
    return [
        float(each["messages"][-1]["content"] == str(sum(each["task"]))) for each in trajectories
    ]


def close(trajectories):
    return [
        max(0.0, 1 - abs(int(said) - sum(each["task"])) / 2)
        if (said := each["messages"][-1]["content"])
        else 0.0
        for each in trajectories
    ]


def brief(trajectories):
    return [
        exact([each])[0] * (1 - 0.1 * (len(each["messages"]) - 2))
        if each["messages"][-1]["content"]
        else 0.0
        for each in trajectories
    ]


def learn(agent, trajectories, advantages):
    """One update by the clipped loss; the gradient goes from log probabilities to logits."""
    rows = [
        (t, c, old, i) for i, each in enumerate(trajectories) for t, c, old in each["decisions"]
    ]
    turns, choices, old, owners = (np.array(column) for column in zip(*rows, strict=True))
    for _ in range(2):
        now = agent.log_probabilities()
        loss = compute_policy_loss(now[turns, choices], old, advantages[owners], PpoForm(0.2))
        slope = np.eye(len(TOOLS) + 1)[choices] - np.exp(now[turns])
        np.subtract.at(agent.logits, turns, 8.0 * loss.gradient[:, None] * slope)
    return loss.figures


def train(seed=0):
    agent, tracker, monitor = Agent(seed), APIPerformanceTracker(), HealthMonitor()
    ensemble = RewardEnsemble({"exact": exact, "close": close, "brief": brief}, method="median")
    normalizer, means = RunningNormalizer(half_life=1000), []
    groups = np.repeat(np.arange(TASKS), TRIES)
    for step in range(STEPS):
        tasks = agent.random.integers(0, 50, (TASKS, 2))[groups]
        with tracker.measure("agent", "rollout", items=len(tasks)):
            trajectories = [roll_out(agent, task, tracker) for task in tasks]
        with tracker.measure("raters", "score", items=len(tasks)):
            result = ensemble.score(trajectories)
        rewards = normalizer.update_and_normalize(result.scores)
        advantages = group_advantages(rewards, groups, scaled=False)
        figures = learn(agent, trajectories, advantages)
        metrics = {
            **measure_rewards(result.scores, groups, missing=result.missing),
            **measure_advantages(advantages),
            **figures,
        }
        monitor.observe(step, metrics).raise_if_unwell()
        means.append(float(np.nanmean(result.scores)))
    return means, ensemble, tracker, monitor


def main():
    means, ensemble, tracker, monitor = train()
    print(f"mean reward: first 3 steps {np.mean(means[:3]):.2f}, last 3 {np.mean(means[-3:]):.2f}")
    print(*ensemble.report().sentences[:2], sep="\n")
    print({name: x for name, x in monitor.metrics().items() if name.count("/") == 1})
    print(
        "\n".join(line for line in render_prometheus(tracker).splitlines() if "guess" in line)[:300]
    )
    assert np.mean(means[-3:]) > np.mean(means[:3]) + 0.2


if __name__ == "__main__":
    main()
