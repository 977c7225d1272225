"""Earlier answers as a prior: `aegir annotate lake/ --previous answers.jsonl` keeps an earlier answer while it stays plausible.

    previous = PreviousAnswers.read(Path("answers.jsonl"))
    previous.apply(answer)          the answer, with columns that only changed their wording called as before

Tables are found by their name, of several with the same name by the end of their path; columns by their header, or without one by position. What stays
plausible is said by answers/plausible.py, the rule of `aegir diff`: so answers that are written anew with `--previous` do not wander between near
names, and a real change still gets its new answer.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path, PurePath
from typing import Self

from aegir.answers.annotation import ColumnAnnotation, Guess, TableAnnotation
from aegir.answers.differences import ComparedAnswer, column_keys, evidence_of
from aegir.answers.plausible import Evidence, personal_moved, stays
from aegir_rl.base.errors import UsageError

KEPT = "called as in the earlier answer, which is still plausible"


class PreviousAnswers:
    """The answers of an earlier run."""

    def __init__(self, answers: Sequence[TableAnnotation]) -> None:
        self._tables: defaultdict[str, list[TableAnnotation]] = defaultdict(list)
        for each in answers:
            self._tables[each.table].append(each)

    @classmethod
    def read(cls, path: Path) -> Self:
        """Read the answers of a JSON or JSON lines file; raise `UsageError` for anything else."""
        from aegir.answers.earlier_output import answer_format
        from aegir.pipeline.compared import read_answers

        if answer_format(path) is None:
            came = "holds no answers" if path.is_file() else "does not exist"
            raise UsageError(
                f"the earlier answers {path} cannot be kept: the file {came}; give a json or jsonl file written by aegir annotate"
            )
        return cls([each.annotation for each in read_answers(path)])

    def apply(self, answer: TableAnnotation) -> TableAnnotation:
        """Return an answer in which columns that only changed their wording are called as before."""
        old = self._find(answer)
        if old is None:
            return answer
        places = {key: index for index, key in enumerate(column_keys(old.columns))}
        columns = list(answer.columns)
        for index, key in enumerate(column_keys(answer.columns)):
            if key in places:
                before = places[key]
                evidence = evidence_of(ComparedAnswer(old), before, ComparedAnswer(answer), index)
                columns[index] = _kept(old.columns[before], columns[index], evidence)
        return replace(answer, columns=tuple(columns))

    def _find(self, answer: TableAnnotation) -> TableAnnotation | None:
        found = self._tables.get(answer.table, [])
        return max(found, key=lambda each: _common_tail(each, answer), default=None)


def _common_tail(first: TableAnnotation, second: TableAnnotation) -> int:
    """Return how many parts two paths share, from their ends."""
    parts = [reversed(PurePath(each.source or each.table).parts) for each in (first, second)]
    count = 0
    for one, other in zip(*parts, strict=False):
        if one != other:
            break
        count += 1
    return count


def _kept(old: ColumnAnnotation, new: ColumnAnnotation, evidence: Evidence) -> ColumnAnnotation:
    """Return the new answer, called and marked as the old one as far as that stays plausible; a review decides alone."""
    if new.reviewed:
        return new
    kept = new
    if not personal_moved(old, new, evidence) and stays(old, new, evidence):
        kept = replace(
            kept,
            personal=old.personal,
            personal_level=old.personal_level,
            personal_reason=old.personal_reason,
            special=old.personal and new.special,
            special_category=new.special_category if old.personal else None,
        )
    named = (old.label, old.type, old.fine_type)
    is_same = named == (new.label, new.type, new.fine_type)
    if old.label is None or old.reviewed or is_same or not stays(old, new, evidence):
        return kept
    others = [Guess(new.label, new.confidence)] if new.label not in (None, old.label) else []
    others += [guess for guess in new.runners_up if guess.label != old.label]
    return replace(
        kept,
        label=old.label,
        confidence=_confidence_of(old.label, old, new),
        kind=old.kind,
        type=old.type,
        type_confidence=_type_confidence(old, new),
        fine_type=old.fine_type,
        iri=old.iri,
        runners_up=tuple(others[:3]),
        reasons=(*new.reasons, KEPT),
    )


def _confidence_of(label: str, old: ColumnAnnotation, new: ColumnAnnotation) -> float:
    """Return how likely an old label is by the new reading: as a guess of its own, or as a wider name of the new answer."""
    if label in (new.label, new.type, new.kind):
        return new.confidence
    guesses = [guess.confidence for guess in new.runners_up if guess.label == label]
    return max(guesses, default=min(old.confidence, new.confidence))


def _type_confidence(old: ColumnAnnotation, new: ColumnAnnotation) -> float:
    if old.type == new.type:
        return new.type_confidence
    guesses = [each.confidence for each in new.type_runners_up if each.label == old.type]
    return max(guesses, default=min(old.type_confidence, new.type_confidence))
