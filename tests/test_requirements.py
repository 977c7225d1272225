"""The bounds of pyproject.toml, the lock files and the oldest versions agree."""

import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "requirements"))

import lock  # noqa: E402

_REQUIREMENT = re.compile(r"([\w.-]+)(?:\[[\w,]+\])?(==|>=)([\w.]+)(?:,<([\w.]+))?")
_PINNED = re.compile(r"^([\w.-]+)==([\w.]+)", re.MULTILINE)


def canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def version(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", text)[:3])


def pinned(name: str) -> dict[str, str]:
    text = (ROOT / "requirements" / f"{name}.txt").read_text(encoding="utf-8")
    return {canonical(package): each for package, each in _PINNED.findall(text)}


@pytest.mark.parametrize("name", lock.LOCKS)
def test_a_lock_holds_every_requirement_within_its_bounds(name: str):
    versions = pinned(name)
    for requirement in lock.requirements(lock.LOCKS[name]):
        found = _REQUIREMENT.match(requirement)
        assert found, f"{requirement} has no bounds"
        package, sign, lower, upper = found.groups()
        if package == lock.UNLOCKED:
            continue
        assert sign == "==" or upper, f"{requirement} has no upper bound"
        at = version(versions[canonical(package)])
        assert at >= version(lower), requirement
        assert not upper or at < version(upper), requirement


@pytest.mark.parametrize("name", lock.LOCKS)
def test_every_package_of_a_lock_has_a_hash(name: str):
    text = (ROOT / "requirements" / f"{name}.txt").read_text(encoding="utf-8")
    entries = re.split(r"\n(?=\S)", text.strip())
    assert len(entries) == len(pinned(name)) > 10
    assert all("--hash=sha256:" in entry for entry in entries)


def test_the_oldest_versions_are_the_lower_bounds():
    written = (ROOT / "requirements" / "oldest.txt").read_text(encoding="utf-8").splitlines()
    assert written == lock.oldest()
