"""What an RL engineer imports loads numpy and nothing of tables, command lines or torch."""

import subprocess
import sys

import pytest

HEAVY = {
    "duckdb",
    "rich",
    "click",
    "torch",
    "pandas",
    "scipy",
    "sklearn",
    "gymnasium",
    "phonenumbers",
}
MODULES = [
    "aegir_rl.observe.performance_tracker",
    "aegir_rl.observe.prometheus",
    "aegir_rl.observe.drift_watch",
    "aegir_rl.health.monitor",
    "aegir_rl.health.run_health",
    "aegir_rl.plugins.atropos",
    "aegir_rl.plugins.trl",
    "aegir_rl.plugins.verl",
    "aegir_rl.plugins.training_logs",
    "aegir_rl.offline.policy",
    "aegir_rl.rl.curriculum",
    "aegir_rl.base.run_folder",
]


@pytest.mark.parametrize("module", MODULES)
def test_importing_it_is_light(module: str) -> None:
    code = f"import sys, {module}; print(*sorted({{n.split('.')[0] for n in sys.modules}}))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not HEAVY & set(done.stdout.split())
    assert "aegir.tables" not in done.stdout
