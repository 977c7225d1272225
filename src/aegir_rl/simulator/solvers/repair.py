"""Mutation repair: change the starter code a little, keep what passes more public cases, and go on from there.

    starter ──all single changes──▶ many versions ──public cases, in the sandbox──▶ the best few ──all single changes──▶ …

A starter that only raises, or returns a constant, has nothing to repair. Many versions are run at once: one program in
the sandbox loads all of them and is called with the number of the version. The effort says how many versions are tried and how
many changes may be combined.
"""

import re
from collections.abc import Mapping, Sequence
from itertools import islice
from types import MappingProxyType

from aegir_rl.simulator.checking import Verdict
from aegir_rl.simulator.solvers.mutations import mutate
from aegir_rl.simulator.solvers.solver import Run, budget, is_too_large, programs_to_skip
from aegir_rl.simulator.task import Case, PublicTask

VERSIONS = {1: 80, 2: 300, 3: 1_000}
ROUNDS = {1: 1, 2: 2, 3: 3}
KEPT = 3
"""Versions that the next round starts from."""
AT_ONCE = 80
FAILED_CASE = re.compile(r"case (\d+)\b")
MOST_STEPS = 20_000
"""Lines that one call of a version may execute: a loop without end is stopped by this count, not by the clock."""
MOST_CUT_OFF = 2
"""Runs that versions may end for all others, by what cannot be counted; after that the rest counts as failed."""
LOADER = """
import sys as _sys

_LOADED = {{}}
_LEFT = [0]


def _count_step(_frame, _event, _argument):
    _LEFT[0] -= 1
    if _LEFT[0] < 0:
        raise RuntimeError("too many steps")
    return _count_step


def {function}(_version, _arguments):
    if _version not in _LOADED:
        _names = {{}}
        exec(_SOURCES[_version], _names)
        _LOADED[_version] = _names[{function!r}]
    _LEFT[0] = {steps}
    _sys.settrace(_count_step)
    try:
        return _LOADED[_version](*_arguments)
    finally:
        _sys.settrace(None)
"""


class RepairSolver:
    """Repairs a starter that almost works."""

    name = "repair"
    about = "small changes of the starter code, guided by the public tests"
    costs: Mapping[int, float] = MappingProxyType({1: 0.05, 2: 0.2, 3: 0.8})

    def propose(
        self, task: PublicTask, effort: int, run: Run, feedback: Verdict | None
    ) -> str | None:
        """The first version found that passes all public cases."""
        if is_too_large(task) or "NotImplementedError" in task.starter:
            return None
        begin = _count_passed([task.starter], task, run)[0]
        if begin == len(task.public) and run(task.starter, task.public).ok:
            return task.starter
        left, skip = budget(VERSIONS, effort, feedback), programs_to_skip(feedback)
        beginnings, seen, found = [(begin, task.starter)], {task.starter}, None
        for _ in range(ROUNDS[effort]):
            scored: list[tuple[int, str]] = []
            for _, source in beginnings:
                fresh = (text for text in mutate(source) if text not in seen)
                versions = list(islice(fresh, max(0, left)))
                left -= len(versions)
                seen.update(versions)
                for passed, text in zip(_count_passed(versions, task, run), versions, strict=True):
                    if passed == len(task.public) and run(text, task.public).ok:
                        found = text
                        if skip == 0:
                            return text
                        skip -= 1
                    scored.append((passed, text))
            best = sorted(scored, key=lambda pair: -pair[0])
            beginnings = [pair for pair in best if pair[0] >= beginnings[0][0]][:KEPT]
            if not beginnings or left <= 0:
                break
        return found


def _count_passed(versions: Sequence[str], task: PublicTask, run: Run) -> list[int]:
    """How many public cases each version passes; several versions share one run of the sandbox."""
    counts: list[int] = []
    cut_off = 0
    while len(counts) < len(versions) and cut_off < MOST_CUT_OFF:
        part = versions[len(counts) : len(counts) + AT_ONCE]
        loader = LOADER.format(function=task.function, steps=MOST_STEPS)
        cases = [
            Case((number, list(case.arguments)), case.expected)
            for number in range(len(part))
            for case in task.public
        ]
        verdict = run(f"_SOURCES = {list(part)!r}\n{loader}", cases)
        cut_off += verdict.ended != "finished"
        counts += _passed_by_version(verdict, len(part), len(task.public))
    return counts + [0] * (len(versions) - len(counts))


def _passed_by_version(verdict: Verdict, versions: int, cases: int) -> list[int]:
    """Passed cases of each version, from the numbers in the sentences about failures.

    If one version ended the run early, the versions after it are not known: they are left for the next run.
    """
    failed = [int(match[1]) - 1 for text in verdict.failures if (match := FAILED_CASE.match(text))]
    passed = [cases] * versions
    for number in failed:
        passed[number // cases] -= 1
    if verdict.ended == "finished":
        return passed
    wrong = set(failed)
    reached = [number for number in range(versions * cases) if number not in wrong]
    known = (max(reached) // cases if reached else 0) + 1
    return [*passed[:known], *([0] if known < versions else [])]
