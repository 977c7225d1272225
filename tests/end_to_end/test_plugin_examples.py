"""Every plug-in example runs as a person would run it, and checks its own result."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).parents[2] / "examples" / "plugins").glob("*.py"))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_the_example_runs(path: Path, tmp_path: Path) -> None:
    if path.stem.startswith("gymnasium") and importlib.util.find_spec("gymnasium") is None:
        pytest.skip("gymnasium is not here (plugins extra)")
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
    assert [path.stem for path in EXAMPLES] == [
        "atropos_reward",
        "gymnasium_loop",
        "verifiers_rubric",
    ]
