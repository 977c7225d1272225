"""Repository tasks: every seeded bug fails a test and a hidden case, and the patch repairs all of them."""

from dataclasses import replace
from random import Random

import pytest

from aegir_rl.simulator import Task, check, create
from aegir_rl.simulator.checking import refuse
from aegir_rl.simulator.families.family import read_table
from aegir_rl.simulator.families.registry import FAMILIES
from aegir_rl.simulator.families.repositories import package_files
from aegir_rl.simulator.patches import apply_patch, make_patch
from aegir_rl.simulator.sandbox import Sandbox
from aegir_rl.simulator.task import REPOSITORY, parse_task, task_line

PACKAGES = ["ledger", "sensors", "contacts"]


def made(package: str, sandbox: Sandbox, level: int = 1, size: int = 1) -> list[Task]:
    return list(create(f"repository_{package}", level, size, 1, sandbox=sandbox))


@pytest.mark.parametrize("package", PACKAGES)
def test_a_patch_repairs_a_package_that_its_tests_and_hidden_cases_find_broken(
    package: str, sandbox: Sandbox
):
    (task,) = made(package, sandbox, level=3)
    assert task.kind == REPOSITORY
    assert task.difficulty["bugs"] == 3
    assert len([name for name in task.files if name.startswith(f"{package}/")]) >= 5
    assert refuse(task, sandbox) is None
    assert apply_patch(task.files, task.solution) == package_files(package)
    broken = check(sandbox, "", task, task.public)
    assert broken.passed < broken.total
    assert not check(sandbox, "", task, task.hidden).ok
    assert parse_task(task_line(task).encode(), "line 1") == task


@pytest.mark.slow
@pytest.mark.parametrize("package", PACKAGES)
def test_every_seeded_bug_fails_a_test_and_a_hidden_case_of_most_tasks(
    package: str, sandbox: Sandbox
):
    right = package_files(package)
    tasks = [replace(task, files=right) for task in made(package, sandbox, size=3)]
    missed = []
    for file, good, bad in read_table("repositories.toml")[package]["bugs"]:
        path = f"{package}/{file}"
        assert right[path].count(good) == 1
        patch = make_patch(right, {**right, path: right[path].replace(good, bad)})
        assert not check(sandbox, patch, tasks[0], tasks[0].public).ok, (file, bad)
        missed += [(file, bad) for task in tasks if check(sandbox, patch, task, task.hidden).ok]
    assert len(missed) <= 2, missed


@pytest.mark.parametrize("package", PACKAGES)
def test_drafts_are_not_all_of_one_bug(package: str):
    family = FAMILIES[f"repository_{package}"]
    drafts = [family.draw(Random(seed), 1) for seed in range(12)]
    assert len({draft.solution for draft in drafts}) >= 6
    assert all(draft.difficulty["bugs"] == 1 for draft in drafts)
