"""The RL library stands alone: its wheel, in an environment that has numpy and nothing else."""

import re
import subprocess
import sys
import zipfile
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

LIBRARY = Path(__file__).parents[2] / "rl"
LARGEST_WHEEL = 2_000_000
SLOWEST_IMPORT = 0.15
"""CPU seconds, beside those of numpy."""
NO_INDEX = ("No matching distribution", "Could not find a version", "Failed to establish")

IMPORTS = """
import importlib, pkgutil
import aegir_rl

TRAINERS = {"atroposlib", "openenv", "skyrl_gym", "stable_baselines3", "torch", "verifiers"}

EXTRAS = {"gymnasium", "duckdb", "psycopg", "yaml", *TRAINERS}
for found in pkgutil.walk_packages(aegir_rl.__path__, "aegir_rl."):
    try:
        module = importlib.import_module(found.name)
    except ImportError as error:
        assert error.name in EXTRAS, (found.name, error)
        print(found.name)
"""
EXAMPLE = """
import importlib.util, pathlib, sys
from aegir_rl.episode import EpisodeBatch
from aegir_rl.offline import DecisionStore, LearningSettings, LoggedDecisions, learn_values
from aegir_rl.offline.synthetic import explore, simulate
from aegir_rl.raters import krippendorff_alpha
from aegir_rl.rl import compute_gae

gae = compute_gae([[1.0, 2.0]], [[3.0, 4.0]], discount=0.5, smoothing=0.5)
assert gae.advantages.tolist() == [[-0.5, -2.0]]  # worked in aegir_rl/rl/advantages.py
alpha = krippendorff_alpha([[1, 2, 3, 3], [1, 2, 4, None]]).alpha
assert abs(alpha - (1 - 5 / 41)) < 1e-12

with DecisionStore.open(pathlib.Path(sys.argv[1]) / "decisions.db") as store:
    store.append(simulate(explore(0.5), 200).episodes())
    log = LoggedDecisions.from_batch(EpisodeBatch.from_episodes(store.read()))
policy = learn_values(log, 1.0, LearningSettings(hidden=(8,), steps=50))
assert policy.probabilities(log.features[:3]).shape == (3, len(log.actions))
policy.save(pathlib.Path(sys.argv[1]) / "cql.safetensors")

foreign = [name for name in ("duckdb", "click", "rich", "torch", "aegir") if importlib.util.find_spec(name)]
assert not foreign, foreign
print(sorted(name for name in ("numpy", "aegir_rl") if name in sys.modules))
"""


def run(*words: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*map(str, words)], capture_output=True, text=True, timeout=120)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    isolated = ["--no-build-isolation"] if find_spec("hatchling") else []
    pip = [sys.executable, "-m", "pip", "wheel", "--no-deps", *isolated, "-w", folder, LIBRARY]
    done = run(*pip)
    if done.returncode and any(sign in done.stderr for sign in NO_INDEX):
        pytest.skip("hatchling is not installed and the package index cannot be reached")
    assert done.returncode == 0, done.stderr
    return next(folder.glob("aegir_rl-*.whl"))


@pytest.fixture(scope="module")
def python(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The interpreter of an environment with the wheel, and numpy by a link."""
    folder = tmp_path_factory.mktemp("environment")
    assert run(sys.executable, "-m", "venv", "--without-pip", folder).returncode == 0
    interpreter = folder / "bin" / "python"
    pip = [sys.executable, "-m", "pip", "--python", interpreter]
    done = run(*pip, "install", "--no-deps", "--no-index", wheel)
    assert done.returncode == 0, done.stderr
    packages = next((folder / "lib").glob("python*/site-packages"))
    home = Path(np.__file__).parent
    for name in ("numpy", "numpy.libs"):
        if (home.parent / name).exists():
            (packages / name).symlink_to(home.parent / name)
    return interpreter


def test_the_wheel_is_small_and_holds_the_data_of_the_library(wheel: Path):
    assert wheel.stat().st_size <= LARGEST_WHEEL
    names = zipfile.ZipFile(wheel).namelist()
    assert {name.split("/")[0].split("-")[0] for name in names} == {"aegir_rl"}
    assert "aegir_rl/health/rules.toml" in names
    assert "aegir_rl/simulator/families/families.toml" in names
    assert "aegir_rl/simulator/ppo/routing.yaml" in names


def test_every_module_is_imported_with_numpy_alone_but_those_of_a_trainer(python: Path):
    done = run(python, "-I", "-c", IMPORTS)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == [
        "aegir_rl.plugins.atropos_env",
        "aegir_rl.plugins.gymnasium",
        "aegir_rl.plugins.openenv",
        "aegir_rl.plugins.skyrl_gym",
        "aegir_rl.plugins.stable_baselines3",
        "aegir_rl.plugins.torch_objectives",
        "aegir_rl.plugins.verifiers",
        "aegir_rl.simulator.coding_environment",
        "aegir_rl.simulator.environment",
    ]


def test_advantages_agreement_a_store_and_cql_work_without_anything_else(
    python: Path, tmp_path: Path
):
    done = run(python, "-I", "-c", EXAMPLE, tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["['aegir_rl',", "'numpy']"]
    assert (tmp_path / "cql.safetensors").stat().st_size > 0


def test_the_readme_solves_five_problems_in_five_snippets_that_print_what_it_says(python: Path):
    text = (LIBRARY / "README.md").read_text(encoding="utf-8")
    snippets = re.findall(r"^## [^\n]*\n\n```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    assert len(snippets) == 5
    for snippet in snippets:
        done = run(python, "-I", "-c", snippet)
        assert done.returncode == 0, done.stderr
        (shown,) = re.findall(r"print\(.*\)  # (.*?)(?: \.\.\.)?$", snippet, re.MULTILINE)
        assert done.stdout.startswith(shown.partition(":")[0]), done.stdout


def test_importing_what_the_readme_uses_is_quick(python: Path):
    names = "aegir_rl.raters aegir_rl.health aegir_rl.rl aegir_rl.offline"
    code = (
        "import time; import numpy; began = time.process_time()\n"
        "from aegir_rl.raters import RewardEnsemble\nfrom aegir_rl.health import HealthMonitor\n"
        "from aegir_rl.rl import Curriculum, find_waits\nfrom aegir_rl.offline import estimate_values\n"
        f"import {names.replace(' ', ', ')}\n"
        "print(time.process_time() - began)"
    )
    seconds = min(float(run(python, "-I", "-c", code).stdout) for _ in range(5))
    assert seconds <= SLOWEST_IMPORT
