"""Tests of adapters against the installed packages: `make test-plugins` runs each file in an environment of its own.

    python tests/plugins/installed.py                            # all adapters, in .venv/plugins
    python tests/plugins/installed.py trl --folder FOLDER        # one, in FOLDER/trl

Elsewhere the packages are missing, and the tests are skipped with a reason.
"""

import argparse
import csv
import os
import subprocess
import sys
from importlib import metadata
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGES = ROOT / "src" / "aegir_rl" / "plugins" / "packages.tsv"
DOORS = {
    "openenv": ("openenv",),
    "verifiers": ("verifiers",),
    "trl": ("trl",),
    "stable_baselines3": ("stable-baselines3",),
    "verl": ("verl",),
    "skyrl_gym": ("skyrl-gym",),
    "atropos": ("atroposlib",),
    "training_logs": ("tensorboard", "wandb"),
}
"""The packages that the tests of each adapter need; `tests/plugins/test_installed_NAME.py`."""
TOOLS = ("pytest>=8.3,<10", "numpy>=2.0,<3")


def require_packages(door: str) -> None:
    """Skip the tests of a module unless the packages of its adapter are here; fail if this is their environment."""
    import pytest

    for package in DOORS[door]:
        try:
            metadata.version(package)
        except metadata.PackageNotFoundError:
            if os.environ.get("AEGIR_DOOR") == door:
                pytest.fail(f"{package} is not installed", pytrace=False)
            pytest.skip(
                f"{package} is not here; make test-plugins installs it", allow_module_level=True
            )


def requirements(door: str) -> list[str]:
    """What pip installs for an adapter, at the versions of packages.tsv; first what must not come from elsewhere."""
    rows = csv.DictReader(PACKAGES.read_text("utf-8").splitlines(), delimiter="\t")
    needed = [row for row in rows if row["package"] in DOORS[door]]
    before = {each for row in needed for each in row["with"].split()}
    return [*sorted(before), *(f"{row['package']}=={row['version']}" for row in needed)]


def make_environment(door: str, folder: Path) -> Path:
    """The interpreter of an environment that has what the adapter needs, made if it is not there."""
    python = folder / door / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", folder / door], check=True)
    wanted = requirements(door)
    if not _has(python, wanted):
        pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        for step in (wanted[:-1], [*wanted, *TOOLS]):
            if step:
                subprocess.run([*pip, *step], check=True)
    return python


def _has(python: Path, wanted: list[str]) -> bool:
    """Whether the distributions are installed at these versions, and pytest is."""
    code = (
        "import sys, pytest\nfrom importlib.metadata import version\n"
        "for each in sys.argv[1:]:\n"
        "    name, _, number = each.partition('==')\n"
        "    assert version(name).split('+')[0] == number, each\n"
    )
    done = subprocess.run([python, "-c", code, *wanted], capture_output=True, check=False)
    return done.returncode == 0


def run_tests(door: str, python: Path) -> int:
    """Print the versions and run the tests of one adapter; 0 if all passed and none was skipped."""
    versions = (
        "import sys\nfrom importlib.metadata import version\n"
        "print('python', sys.version.split()[0], *(f'{n} {version(n)}' for n in sys.argv[1:]))"
    )
    names = [each.partition("==")[0] for each in (*requirements(door), "numpy")]
    sys.stdout.write(f"== {door}: ")
    sys.stdout.flush()
    subprocess.run([python, "-c", versions, *names], check=True)
    paths = [ROOT, ROOT / "src", ROOT / "tests", ROOT / "tests" / "plugins"]
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(map(str, paths)),
        "AEGIR_DOOR": door,
        "CI": "true",
        "OMP_NUM_THREADS": "1",
        "HF_HUB_OFFLINE": "1",
        "WANDB_MODE": "offline",
    }
    tests = ROOT / "tests" / "plugins" / f"test_installed_{door}.py"
    options = ["-p", "sandboxes", "-p", "no:cacheprovider", "-W", "default", "--no-header"]
    alone = ["--confcutdir", tests.parent, "--override-ini", "filterwarnings=default", "-q"]
    return subprocess.run(
        [python, "-m", "pytest", *options, *alone, tests], env=environment, cwd=ROOT, check=False
    ).returncode


def main() -> None:
    """Make the environments that are asked for, and run the tests in them."""
    parser = argparse.ArgumentParser()
    parser.add_argument("doors", nargs="*", choices=[*DOORS, []], help="default: all")
    parser.add_argument("--folder", type=Path, default=ROOT / ".venv" / "plugins")
    options = parser.parse_args()
    failed = [
        door
        for door in options.doors or DOORS
        if run_tests(door, make_environment(door, options.folder.absolute()))
    ]
    if failed:
        sys.exit(f"failed: {', '.join(failed)}")


if __name__ == "__main__":
    main()
