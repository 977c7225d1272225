"""The `llm` solver: asks a language model at an endpoint that the user names; off unless one is named.

    LlmSolver(ChatClient(LlmSettings("http://127.0.0.1:8000/v1", "my-model")))

It sends statement, starter, files and public cases. Of the answer it takes the last complete fenced block of Python, for a repository
of a diff, or all of it if it has no block; an answer without either is asked for again, with the reason. It is never executed here, only in the sandbox. Efforts 2 and 3 allow one and two more questions, each with the sentences about the public
cases that failed. A model may answer differently every time: outcomes of this solver must not be cached.
"""

from collections.abc import Mapping
from types import MappingProxyType

from aegir_rl.base.llm_client import ChatClient
from aegir_rl.simulator.checking import Verdict
from aegir_rl.simulator.prompts import question, reader_of, system_of
from aegir_rl.simulator.solvers.solver import Run
from aegir_rl.simulator.task import PublicTask


class LlmSolver:
    """Asks a language model."""

    name = "llm"
    about = "a language model at an endpoint that the user names"
    costs: Mapping[int, float] = MappingProxyType({1: 5.0, 2: 10.0, 3: 15.0})

    def __init__(self, client: ChatClient) -> None:
        self.client = client

    def propose(
        self, task: PublicTask, effort: int, run: Run, feedback: Verdict | None
    ) -> str | None:
        """The first answer that passes the public cases; raise `LlmError` without any answer."""
        failures = feedback.failures if feedback is not None else ()
        system, read = system_of(task), reader_of(task)
        for _ in range(effort):
            source: str = self.client.complete(system, question(task, failures), read)
            verdict = run(source, task.public)
            if verdict.ok:
                return source
            failures = verdict.failures
        return None
