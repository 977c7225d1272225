"""Regular expression inference: the narrowest form that all positive cases have and no negative case has.

    'AB-123', 'K-77'   ->   [A-Z]{1,2}\\-[0-9]{2,3}

Values are cut into fields in one of two ways: at every change between letters, digits and signs, or at signs only. Fields in the same place
are generalised from words over single classes to mixed ones; the combinations are tried from narrow to wide against the
negative cases. Values that lack the last fields of others make these optional. The effort adds ways of cutting and generalising.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice, product
from types import MappingProxyType

from aegir_rl.simulator.solvers.solver import Candidate, SearchSolver, fitting
from aegir_rl.simulator.task import PublicTask

COMBINATIONS = {1: 4, 2: 60, 3: 600}
CLASSES = ("[0-9]", "[A-Z]", "[a-z]", "[0-9a-f]", "[A-Z0-9]", "[A-Za-z]", "[A-Za-z0-9]", ".")
RUNS = re.compile(r"[A-Z]+|[a-z]+|[0-9]+|.", re.DOTALL)
PARTS = re.compile(r"[A-Za-z0-9]+|.", re.DOTALL)
MOST_WORDS = 4


def has_pattern(value: str, pattern: str) -> bool:
    """Whether the whole value matches."""
    return re.fullmatch(pattern, value) is not None


class RegexSolver(SearchSolver):
    """Infers a form for functions from text to True or False."""

    name = "regex"
    about = "the narrowest form that all positive cases have and no negative one"
    costs: Mapping[int, float] = MappingProxyType({1: 0.02, 2: 0.02, 3: 0.03})
    amounts = COMBINATIONS

    def search(self, task: PublicTask, effort: int, amount: int) -> Iterator[str]:
        """Patterns, the narrowest first."""
        if not all(
            len(case.arguments) == 1
            and isinstance(case.arguments[0], str)
            and isinstance(case.expected, bool)
            for case in task.public
        ):
            return
        good = [str(case.arguments[0]) for case in task.public if case.expected]
        if good:
            patterns = _patterns(good, effort, amount)
            candidates = (Candidate(has_pattern, (pattern,)) for pattern in patterns)
            yield from fitting(task, candidates, 4 * amount)


def _patterns(good: Sequence[str], effort: int, limit: int) -> Iterator[str]:
    for cut in (RUNS,) if effort == 1 else (RUNS, PARTS):
        rows = [cut.findall(value) for value in good]
        if len({len(row) for row in rows}) == 1:
            yield from (
                text.replace("\x00", "") for text in islice(_combine(_choices(rows, effort)), limit)
            )
        elif effort > 1:
            yield from islice(_optional(rows, effort), limit)


def _optional(rows: list[list[str]], effort: int) -> Iterator[str]:
    """Forms whose last fields only the longer rows have."""
    short, long = min(map(len, rows)), max(map(len, rows))
    if short == 0 or any(len(row) not in (short, long) for row in rows):
        return
    first = _choices([row[:short] for row in rows], effort)
    last = _choices([row[short:] for row in rows if len(row) == long], effort)
    for pattern in _combine([*first, *last]):
        parts = pattern.split("\x00")
        yield f"{''.join(parts[:short])}(?:{''.join(parts[short:])})?"


def _combine(choices: list[list[str]]) -> Iterator[str]:
    """All combinations of the fields' patterns, those with the fewest wide ones first."""
    widest = max(map(len, choices), default=0)
    places = product(*(range(len(each)) for each in choices))
    if widest <= 1:
        yield "\x00".join(each[0] for each in choices)
        return
    ordered = sorted(islice(places, 5_000), key=sum)
    for chosen in ordered:
        yield "\x00".join(each[place] for each, place in zip(choices, chosen, strict=True))


def _choices(rows: list[list[str]], effort: int) -> list[list[str]]:
    """For every field its patterns, from narrow to wide."""
    return [
        _field(list(dict.fromkeys(column)), len(column), effort)
        for column in zip(*rows, strict=True)
    ]


def _field(texts: list[str], count: int, effort: int) -> list[str]:
    least, most = min(map(len, texts)), max(map(len, texts))
    times = f"{{{least}}}" if least == most else f"{{{least},{most}}}"
    if len(texts) == 1 and (count > 2 or not texts[0].isalnum()):
        literal = [re.escape(texts[0])]
    elif effort > 1 and len(texts) <= MOST_WORDS and 2 * len(texts) <= count and texts[0].isalpha():
        literal = [f"(?:{'|'.join(map(re.escape, sorted(texts)))})"]
    else:
        literal = []
    if not texts[0].isalnum():
        return literal or [f"[{''.join(map(re.escape, sorted(set(''.join(texts)))))}]{times}"]
    classes = [kind for kind in CLASSES if all(re.fullmatch(f"{kind}+", text) for text in texts)]
    return [*literal, *(f"{kind}{times}" for kind in classes[: effort + 1])]
