"""Every plug-in example runs as a person would run it, and checks its own result."""

import csv
import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

ALONE = {"agent_loop", "atropos_reward", "gymnasium_loop"}
"""The others need a trainer."""
ADAPTERS = Path(__file__).parents[2] / "src" / "aegir_rl" / "plugins"
EXAMPLES = sorted((Path(__file__).parents[2] / "examples" / "plugins").glob("*.py"))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_the_example_runs(path: Path, tmp_path: Path) -> None:
    if path.stem.startswith("gymnasium") and importlib.util.find_spec("gymnasium") is None:
        pytest.skip("gymnasium is not here (plugins extra)")
    if path.stem not in ALONE:
        pytest.skip("it needs its trainer: make test-plugins")
    done = subprocess.run(
        [sys.executable, str(path)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout


def test_there_is_an_example_per_trainer() -> None:
    names = {path.stem for path in EXAMPLES}
    assert names >= ALONE
    with (ADAPTERS / "packages.tsv").open(encoding="utf-8", newline="") as file:
        modules = {row["module"].partition(".")[0] for row in csv.DictReader(file, delimiter="\t")}
    for door in modules - {"torch", "tensorboard", "wandb"}:
        assert any(name.startswith(door.removesuffix("lib")) for name in names), door
