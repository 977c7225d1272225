"""Write a solution over several turns: edit, run the public tests, submit.

    episode = CodingEpisode(task, sandbox, CodingBudget(turns=12))
    episode.observation                                            # statement, tests, files, last output, what is left
    turn = episode.step('{"action": "edit", "file": "solution.py", "text": "def clean(value): …"}')
    turn = episode.step('{"action": "run"}')                       # the public tests, in the sandbox
    turn = episode.step('{"action": "submit"}')                    # turn.done; turn.reward is decided by the hidden tests

`edit` with `text` replaces a file or adds one; with `old` and `new` it replaces the only place where `old` stands. The solution of a
function or of a suite is the file solution.py; that of a repository is whatever changes in its files, except for its tests. An action
may be a JSON object, a text that is one, or a text whose last fenced block is one; the methods `edit`, `run` and `submit` do the same.

Promises
  - the episode ends with `submit`, or when turns, tokens or CPU seconds are used up; then what stands is handed in;
  - an action that cannot be carried out costs its turn and its tokens, and the next observation says why;
  - the reward at the end is 1 if every hidden case passes, else 0 (with `partial`, the share that passes). With a `shaping` of w, a
    step adds w (discount · after − before) of the share of public cases that passed at the last run; it is 0 at the end, so
    with discount 1 the shaped rewards of an episode have the sum of the plain ones, and no loop of edits and runs earns anything;
  - no observation is longer than `LONGEST`, and none shows anything of the hidden cases.

Limits: tokens are estimated at four bytes each unless `count_tokens` counts them. The end of a budget terminates an episode and does not truncate
it, because what is left is part of the observation.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Any

from aegir_rl.base.errors import UsageError
from aegir_rl.simulator.checking import Verdict, check
from aegir_rl.simulator.patches import FILE_NAME, PROTECTED, make_patch
from aegir_rl.simulator.prompts import last_block, show_cases
from aegir_rl.simulator.sandbox.program import Limits, Sandbox
from aegir_rl.simulator.task import REPOSITORY, Task

SOLUTION = "solution.py"
LONGEST = 24_000
"""Characters of an observation."""
LONGEST_PART = 6_000
"""Characters of one file, of the tests, and of the last output in it."""
LONGEST_ACTION = 256 << 10
MOST_FILES = 64
LEAST_SECONDS = 0.01
BYTES_PER_TOKEN = 4
ACTIONS = """Answer with one JSON object:
{"action": "edit", "file": NAME, "text": WHOLE TEXT}
{"action": "edit", "file": NAME, "old": TEXT THAT STANDS ONCE, "new": TEXT}
{"action": "run"} runs the tests shown here
{"action": "submit"} hands in; other tests decide"""


@dataclass(frozen=True, slots=True)
class CodingBudget:
    """What an episode may use."""

    turns: int = 12
    tokens: int = 20_000
    """Of all actions together."""
    seconds: float = 60.0
    """CPU seconds of all runs of the public tests together."""

    def __post_init__(self) -> None:
        for each in fields(self):
            if not getattr(self, each.name) > 0:
                raise UsageError(
                    f"{each.name} of the budget is {getattr(self, each.name)}; expected a number above 0"
                )


@dataclass(frozen=True, slots=True)
class CodingTurn:
    """What came of an action."""

    observation: str
    reward: float
    done: bool
    info: dict[str, Any]
    """What was used so far; at the end also `ended`, `success`, `passed` and `total` of the hidden cases."""


def estimate_tokens(text: str) -> int:
    """Tokens of a text at four bytes each, at least one."""
    return max(1, -(-len(text.encode("utf-8", "surrogatepass")) // BYTES_PER_TOKEN))


class CodingEpisode:
    """One task, from its starter to what is handed in."""

    def __init__(
        self,
        task: Task,
        sandbox: Sandbox,
        budget: CodingBudget | None = None,
        *,
        partial: bool = False,
        shaping: float = 0.0,
        discount: float = 1.0,
        count_tokens: Callable[[str], int] = estimate_tokens,
    ) -> None:
        self.task, self.budget = task, budget or CodingBudget()
        self.files = dict(task.files)
        if task.kind != REPOSITORY:
            self.files[SOLUTION] = task.starter
        self.turns, self.tokens, self.seconds = 0, 0, 0.0
        self.output, self.done = "", False
        self._sandbox, self._count = sandbox, count_tokens
        self._partial, self._shaping, self._discount = partial, shaping, discount
        self._potential = 0.0
        self._ended = ""

    @property
    def solution(self) -> str:
        """What would be handed in now: a module, or a patch."""
        if self.task.kind == REPOSITORY:
            return make_patch(self.task.files, self.files)
        return self.files[SOLUTION]

    @property
    def observation(self) -> str:
        """What is seen now."""
        return _observe(self)

    def edit(
        self, file: str, text: str | None = None, old: str | None = None, new: str | None = None
    ) -> CodingTurn:
        """Write a whole file, or replace the only place where `old` stands."""
        given = {"text": text, "old": old, "new": new}
        named = {name: value for name, value in given.items() if value is not None}
        return self.step({"action": "edit", "file": file, **named})

    def run(self) -> CodingTurn:
        """Run the public tests."""
        return self.step({"action": "run"})

    def submit(self) -> CodingTurn:
        """Hand in what stands."""
        return self.step({"action": "submit"})

    def step(self, action: str | Mapping[str, Any]) -> CodingTurn:
        """Carry out one action."""
        if self.done:
            raise UsageError(f"the episode of task {self.task.id!r} has ended; begin another one")
        before = self._potential
        self.turns += 1
        text = action if isinstance(action, str) else json.dumps(dict(action), ensure_ascii=False)
        self.tokens += self._count(text)
        if self.tokens > self.budget.tokens:
            self._end("tokens")
        else:
            try:
                self._carry_out(read_action(action))
            except UsageError as error:
                self.output = f"The action was not carried out: {error}"
            if not self.done and self.seconds >= self.budget.seconds:
                self._end("seconds")
            elif not self.done and self.turns >= self.budget.turns:
                self._end("turns")
        reward, info = 0.0, dict[str, Any]()
        if self.done:
            reward, info = self._judge()
        reward += self._shaping * (self._discount * self._potential - before)
        used = {"turns": self.turns, "tokens": self.tokens, "cpu_seconds": self.seconds}
        return CodingTurn(self.observation, reward, self.done, {**used, **info})

    def _carry_out(self, action: Mapping[str, Any]) -> None:
        name = action["action"]
        if name == "edit":
            self._edit(action)
        elif name == "run":
            verdict = self._run()
            self._potential = verdict.passed / max(1, verdict.total)
            self.output = describe_run(verdict)
        else:
            self._end("submitted")

    def _edit(self, action: Mapping[str, Any]) -> None:
        name, text = action["file"], action.get("text")
        self._check_file(name)
        if text is None:
            old, current = action["old"], self.files.get(name, "")
            if not old or current.count(old) != 1:
                count = current.count(old) if old else "any number of"
                raise UsageError(
                    f"'old' stands in {count} places of {name}; expected a text that stands there once"
                )
            text = current.replace(old, action["new"])
        if len(text) > LONGEST_ACTION or (name not in self.files and len(self.files) >= MOST_FILES):
            raise UsageError(
                f"{name} would be too large, or one file too many; expected at most {LONGEST_ACTION:,} characters and {MOST_FILES} files"
            )
        self.files[name] = text
        self.output = f"{name} has {len(text.splitlines())} lines now."

    def _check_file(self, name: str) -> None:
        if self.task.kind != REPOSITORY:
            if name != SOLUTION:
                raise UsageError(f"{name[:100]!r} cannot be changed; the solution is {SOLUTION}")
        elif not FILE_NAME.fullmatch(name) or name.startswith(PROTECTED):
            raise UsageError(
                f"{name[:100]!r} cannot be changed; expected a file of the package, not of its tests"
            )

    def _run(self) -> Verdict:
        left = max(LEAST_SECONDS, self.budget.seconds - self.seconds)
        limits = Limits(cpu_seconds=min(left, Limits().cpu_seconds))
        verdict = check(self._sandbox, self.solution, self.task, self.task.public, limits)
        self.seconds += verdict.cpu_seconds
        return verdict

    def _end(self, why: str) -> None:
        self.done, self._ended, self._potential = True, why, 0.0
        self.output = f"The episode has ended ({why})."

    def _judge(self) -> tuple[float, dict[str, Any]]:
        """The reward of what stands, from the hidden cases."""
        verdict = check(self._sandbox, self.solution, self.task, self.task.hidden)
        share = verdict.passed / max(1, verdict.total)
        reward = share if self._partial and verdict.ended == "finished" else float(verdict.ok)
        counts = {"passed": verdict.passed, "total": verdict.total}
        return reward, {"ended": self._ended, "success": verdict.ok, **counts}


def read_action(action: str | Mapping[str, Any]) -> Mapping[str, Any]:
    """The action in a text; raise `UsageError` for what is none."""
    values: Any = action
    if isinstance(action, str):
        if len(action) > LONGEST_ACTION:
            raise UsageError(f"it has more than {LONGEST_ACTION:,} characters")
        try:
            values = json.loads(last_block(action, ("", "json")))
        except (ValueError, RecursionError):
            raise UsageError("it is no JSON object; " + ACTIONS.splitlines()[0]) from None
    if not isinstance(values, Mapping) or values.get("action") not in ("edit", "run", "submit"):
        raise UsageError("it has no 'action' that is edit, run or submit")
    if values["action"] == "edit":
        needed = ("file", "text") if "text" in values else ("file", "old", "new")
        for name in needed:
            if not isinstance(values.get(name), str):
                raise UsageError(f"an edit needs {name!r} as a text, beside 'action'")
    return values


def describe_run(verdict: Verdict) -> str:
    """What a run of the public tests says."""
    shown = [f"{verdict.passed} of {verdict.total} tests passed."]
    if verdict.ended != "finished":
        shown.append(f"The run did not finish ({verdict.ended}).")
    return "\n".join([*shown, *verdict.failures])


def _observe(episode: CodingEpisode) -> str:
    task, budget = episode.task, episode.budget
    left = (
        f"turn {episode.turns} of {budget.turns}, {episode.tokens:,} of {budget.tokens:,} tokens, "
        f"{episode.seconds:.2f} of {budget.seconds:g} CPU seconds"
    )
    ends = [
        f"# Last output\n{_cut(episode.output) or 'Nothing yet.'}",
        f"# Used\n{left}",
        f"# Actions\n{ACTIONS}",
    ]
    tail = "\n\n".join(ends)
    parts = [f"# Task\n{task.statement[:LONGEST_PART]}", _cut(show_cases(task))]
    names = sorted(episode.files, key=lambda name: (name.startswith(PROTECTED), name != SOLUTION))
    parts += [f"# File {name}\n{_cut(episode.files[name])}" for name in names]
    head = "\n\n".join(parts)
    room = LONGEST - len(tail) - 2
    if len(head) > room:
        head = f"{head[: room - 20]}\n… (cut here)"
    return f"{head}\n\n{tail}"


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST_PART else f"{text[:LONGEST_PART]}\n… (cut here)"
