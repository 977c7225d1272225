"""Tasks of the simulator as an environment of Atropos, whose command line this is.

aegir sim generate --count 100 --out tasks.jsonl
python examples/plugins/atropos_code_env.py serve --env.tasks tasks.jsonl --env.group_size 8   # pip install atroposlib
"""

from aegir_rl.plugins.atropos_env import CodeEnv

if __name__ == "__main__":
    CodeEnv.cli()
