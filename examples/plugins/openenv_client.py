"""A client of OpenEnv plays one task of the simulator, in two answers.

aegir sim generate --count 100 --out tasks.jsonl
aegir sim serve --openenv --tasks tasks.jsonl --attempts 2 &  # pip install openenv
python examples/plugins/openenv_client.py http://127.0.0.1:8000
"""
# ruff: noqa: T201

import asyncio
import sys

from openenv.core import GenericEnvClient


async def play(url, answers=("def solve(value):\n    return value\n", "no module")):
    async with GenericEnvClient(base_url=url) as environment:
        shown = await environment.reset(index=0)
        print(shown.observation["prompt"][:200])
        for answer in answers:
            shown = await environment.step({"answer": answer})
            print(shown.reward, shown.done, shown.observation["feedback"][:200])
        return shown.reward


if __name__ == "__main__":
    asyncio.run(play(sys.argv[1]))
