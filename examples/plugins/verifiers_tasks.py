"""Tasks of the simulator as a taskset of verifiers; several attempts at one task are compared with each other.

    aegir sim generate --count 100 --out tasks.jsonl
    cd examples/plugins
    eval verifiers_tasks --env.taskset.task.tasks ../../tasks.jsonl -m MODEL          # pip install verifiers

The module is what `--env.taskset.id` names: a taskset, and an environment for it.
"""

from verifiers.v1.envs.best_of_n.env import BestOfNEnv

from aegir_rl.plugins.verifiers import CodeTaskset, GroupReward
from aegir_rl.raters import RewardEnsemble


def brief(traces):
    return [1 / (1 + len(trace.last_reply) / 1000) for trace in traces]


def fenced(traces):
    return [float(trace.last_reply.count("```") == 2) for trace in traces]


STYLE = GroupReward(RewardEnsemble({"brief": brief, "fenced": fenced}), name="style", weight=0.1)


class ComparedAttempts(BestOfNEnv):
    async def finalize(self, task, episode):
        await super().finalize(task, episode)
        await STYLE.score(episode)


__all__ = ["CodeTaskset", "ComparedAttempts"]
