"""Where answers and labels disagree, to be read one by one: `aegir eval --errors` (disagreements_page.py draws them).

    find_disagreements(tables, annotations, PARTS)      {"types": [Disagreement(…), …], "relations": …}

The most confident answers come first, and at most `MOST` of a part are kept. A relation counts as said from one half on, as in
the scores. A subject that nobody labelled is judged by what the values allow (`possible_subjects`).
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from aegir.answers.annotation import TableAnnotation
from aegir.answers.wording import shown_name
from aegir.pipeline.judged_columns import JudgedColumn, JudgedTable, possible_subjects
from aegir.tables.labelled import LabelledTable
from aegir.vocabulary.terms import plain_name

MOST = 300
NOTHING = "none"


@dataclass(frozen=True, slots=True)
class Disagreement:
    """One part of an answer that the labels do not accept."""

    table: int
    """The number of its table."""
    column: int | None
    """None where it is about the table."""
    expected: str
    answered: str
    confidence: float | None
    """Of what was answered; None where no confidence belongs to it."""
    reasons: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Part:
    """The disagreements about one part of the answer."""

    shown: tuple[Disagreement, ...]
    total: int


def find_disagreements(
    tables: Sequence[LabelledTable],
    annotations: Sequence[TableAnnotation],
    parts: Sequence[str] = (),
) -> dict[str, Part]:
    """Return the disagreements of these parts, or of all of them, the most confident first."""
    found = {}
    for part in parts or PARTS:
        of_part = [
            each
            for number, pair in enumerate(zip(tables, annotations, strict=True))
            for each in PARTS[part](number, JudgedTable(*pair))
        ]
        of_part.sort(key=lambda each: (each.confidence is None, -(each.confidence or 0.0)))
        found[part] = Part(tuple(of_part[:MOST]), len(of_part))
    return found


def _columns(judged: JudgedTable) -> Iterator[JudgedColumn]:
    labelled = judged.labelled
    for labels, answer in zip(labelled.labels, judged.answer.columns, strict=True):
        yield JudgedColumn(labels, answer, labelled.domain)


def _types(number: int, judged: JudgedTable) -> Iterator[Disagreement]:
    for column in _columns(judged):
        if column.type_right is False:
            answer = column.answer
            expected = [plain_name(name or NOTHING) for name in column.labels.right_types or ()]
            fine = f" ({', '.join(column.labels.fine)})" if column.labels.fine else ""
            label = f", label {answer.label} {answer.confidence:.2f}" if answer.label else ""
            yield Disagreement(
                number,
                answer.index,
                " or ".join(expected) + fine,
                plain_name(answer.type or NOTHING) + label,
                answer.type_confidence,
                answer.reasons,
            )


def _relations(number: int, judged: JudgedTable) -> Iterator[Disagreement]:
    for column in _columns(judged):
        accepted, answer = column.labels.relations, column.answer
        said = column.answer.relation if column.relation_said else None
        if accepted is None or (said.label in accepted if said else not accepted):
            continue
        yield Disagreement(
            number,
            answer.index,
            " or ".join(accepted) or NOTHING,
            said.label if said else NOTHING,
            said.confidence if said else None,
            answer.reasons,
        )


def _personal(number: int, judged: JudgedTable) -> Iterator[Disagreement]:
    for column in _columns(judged):
        labels, answer = column.labels, column.answer
        wrong_level = labels.level_known and column.answered_level != labels.personal_level
        wrong_flag = labels.personal is not None and answer.personal != labels.personal
        wrong_special = labels.special is not None and answer.special != labels.special
        if not (wrong_flag or wrong_level or wrong_special):
            continue
        sure = answer.personal_confidence
        reason = (answer.personal_reason,) if answer.personal_reason else ()
        yield Disagreement(
            number,
            answer.index,
            _level(labels.personal, labels.personal_level, labels.special),
            _level(answer.personal, answer.personal_level, answer.special, answer.special_category),
            sure if sure is None or answer.personal else 1 - sure,
            (*reason, *answer.reasons),
        )


def _level(
    personal: bool | None, level: str | None, special: bool | None, category: str | None = None
) -> str:
    """Return what is said of a column in words: `personal, direct, special (health)`."""
    if personal is None:
        words = []
    else:
        words = ["personal", *([level] if level else [])] if personal else ["not personal"]
    if special:
        words.append(f"special ({category})" if category else "special")
    elif special is False and personal is None:
        words.append("not special")
    return ", ".join(words)


def _rows(number: int, judged: JudgedTable) -> Iterator[Disagreement]:
    if judged.row_right is not False and judged.person_right is not False:
        return
    labelled, row = judged.labelled, judged.answer.row
    yield Disagreement(
        number,
        None,
        _row(labelled.row_class, labelled.row, labelled.person),
        _row(row.name or NOTHING, row.noun, row.person) if row else "not answered",
        (row.confidence if judged.row_right is False else row.person_confidence) if row else None,
    )


def _row(name: str | None, words: str | None, person: str | None) -> str:
    said = [f"{name} ({words})" if name and words else name or words or "", *_person(person)]
    return ", ".join(filter(None, said))


def _person(person: str | None) -> list[str]:
    return [] if person is None else [f"person: {person}"]


def _subject(number: int, judged: JudgedTable) -> Iterator[Disagreement]:
    labelled, columns = judged.labelled, judged.answer.columns
    possible, said = possible_subjects(labelled), judged.answer.subject
    if not columns or (said in possible if possible else said is None):
        return
    stated = "" if labelled.subjects is not None else ", by its values"
    yield Disagreement(
        number,
        None,
        (" or ".join(shown_name(columns[each]) for each in possible) or NOTHING) + stated,
        NOTHING if said is None else shown_name(columns[said]),
        None,
        () if said is None else columns[said].reasons,
    )


PARTS: Mapping[str, Callable[[int, JudgedTable], Iterator[Disagreement]]] = {
    "types": _types,
    "relations": _relations,
    "personal": _personal,
    "rows": _rows,
    "subject": _subject,
}
