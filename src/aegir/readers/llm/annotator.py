"""The `llm` annotator: calls a language model at an endpoint that the user named.

    LlmAnnotator(LlmSettings("http://127.0.0.1:8000/v1", "my-model")).score(tables)

A model states its confidence itself; nobody has calibrated it, so it counts for at most `MOST_CONFIDENCE`. What is left
is spread over the other types. Of wide tables, `COLUMNS_AT_ONCE` columns are sent at a time. A table without an answer that
can be used raises `LlmError`: the dispatcher then calls the next worker.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from aegir.readers.llm.prompt import ColumnAnswer, read_answer, system_text, user_text
from aegir.readers.scores import Explanation, TableScores
from aegir.tables.table import Table
from aegir.vocabulary.terms import RELATION_INDEX, RELATION_NAMES, TYPE_INDEX, TYPE_NAMES
from aegir_rl.base.llm_client import ChatClient, LlmSettings, LlmUsage

COLUMNS_AT_ONCE = 25
MOST_CONFIDENCE = 0.95


class LlmAnnotator:
    """Scores tables by asking a language model."""

    name = "llm"

    def __init__(self, settings: LlmSettings, client: ChatClient | None = None) -> None:
        self.settings = settings
        self._client = client or ChatClient(settings)

    @property
    def usage(self) -> LlmUsage:
        """Calls, retries, tokens and cost so far."""
        return self._client.usage

    def score(self, tables: Sequence[Table]) -> list[TableScores]:
        """Return probabilities for every column of every table; raise `LlmError` if one gets no answer."""
        return [self._score(table) for table in tables]

    def _score(self, table: Table) -> TableScores:
        answers: list[ColumnAnswer] = []
        for start in range(0, len(table.columns), COLUMNS_AT_ONCE):
            part = replace(
                table, columns=table.columns[start : start + COLUMNS_AT_ONCE], subject=None
            )
            check = partial(read_answer, columns=len(part.columns))
            answers += self._client.complete(system_text(), user_text(part), check)
        types = np.zeros((len(answers), len(TYPE_NAMES)), np.float32)
        relations = np.zeros((len(answers), len(RELATION_NAMES)), np.float32)
        explanations = []
        for index, (column, answer) in enumerate(zip(table.columns, answers, strict=True)):
            if not column.present:
                explanations.append(Explanation(evidence=("there are no values to judge by",)))
                continue
            sure = min(answer.confidence, MOST_CONFIDENCE)
            others = len(TYPE_NAMES) - (answer.type is not None)
            types[index] = (1 - sure) / others
            if answer.type is not None:
                types[index, TYPE_INDEX[answer.type]] = sure
            if answer.relation is not None:
                relations[index, RELATION_INDEX[answer.relation]] = sure
            says = answer.type or "none of the 82 types"
            explanations.append(
                Explanation(evidence=(f"the language model {self.settings.model} says {says}",))
            )
        return TableScores(types, relations, table.subject, tuple(explanations))
