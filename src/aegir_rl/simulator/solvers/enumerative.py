"""Enumerative synthesis: put the expected texts together from pieces of the value and constants.

    atoms      words[0], words[-1][:3].upper(), digits, split(',')[1].strip(), …      each with its text in every case
    search     depth first over concatenations: the next piece must continue the expected text of all cases at once

Programs with few pieces and little constant text come first. A blank value may give a constant of its own, and missing parts are
empty. The effort says how many pieces are known and how many nodes are searched.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from aegir_rl.simulator.solvers.solver import Candidate, SearchSolver, fitting
from aegir_rl.simulator.task import Case, PublicTask

NODES = {1: 400, 2: 4_000, 3: 40_000}
MOST_PIECES = {1: 3, 2: 5, 3: 7}
CASES = ("", "upper", "lower", "title")
SLICES: dict[int, tuple[tuple[int | None, int | None], ...]] = {
    1: ((None, None),),
    2: ((None, None), (0, 1), (0, 3)),
    3: (
        *((None, None), (0, 1), (0, 2), (0, 3), (1, None), (2, None)),
        *((-2, None), (-1, None), (-3, None), (-4, None), (None, -1)),
    ),
}
SEPARATORS = (",", "-", "/", ".", ":", ";", "_", "@", "|", "=", " ")


def cut_piece(
    value: str, how: str, index: int, start: int | None, stop: int | None, case: str
) -> str:
    """A piece of the value: a word or a part between separators, cut to a slice, in a case."""
    if how == "words":
        parts = [part for part in re.split(r"[^A-Za-z0-9]+", value) if part]
    elif how == "digits":
        parts = re.findall(r"[0-9]+", value)
    elif how == "letters":
        parts = re.findall(r"[^\W\d_]+", value)
    else:
        parts = [part.strip() for part in (value.split(how) if how else [value])]
    text = parts[index][start:stop] if -len(parts) <= index < len(parts) else ""
    if case == "pad":
        return text.zfill(2)
    return getattr(text, case)() if case else text


def join_pieces(value: str, pieces: list[Any], blank: Any) -> Any:
    """The pieces in order; `blank` for a value without anything."""
    if not value.strip():
        return blank
    return "".join(
        piece if isinstance(piece, str) else cut_piece(value, *piece) for piece in pieces
    )


@dataclass(frozen=True, slots=True)
class _Atom:
    piece: tuple[Any, ...]
    texts: tuple[str, ...]


class EnumerativeSolver(SearchSolver):
    """Synthesises functions from text to text."""

    name = "enumerative"
    about = "texts put together from pieces of the value and constants"
    costs: Mapping[int, float] = MappingProxyType({1: 0.02, 2: 0.1, 3: 0.6})
    amounts = NODES

    def search(self, task: PublicTask, effort: int, amount: int) -> Iterator[str]:
        """Concatenations, the simplest first."""
        if not all(
            len(case.arguments) == 1 and isinstance(case.arguments[0], str) for case in task.public
        ):
            return
        blanks = [case.expected for case in task.public if not str(case.arguments[0]).strip()]
        full = [case for case in task.public if str(case.arguments[0]).strip()]
        if full and all(isinstance(case.expected, str) for case in full):
            blank = blanks[0] if blanks else ""
            found = _concatenations(full, effort, amount)
            candidates = (Candidate(join_pieces, (pieces, blank)) for pieces in found)
            yield from fitting(task, candidates, amount)


def _concatenations(cases: list[Case], effort: int, nodes: int) -> Iterator[list[Any]]:
    """Lists of pieces that give the expected texts, those with fewest pieces first."""
    wanted = [str(case.expected) for case in cases]
    atoms = _atoms([str(case.arguments[0]) for case in cases], wanted, effort)
    left = nodes
    for size in range(1, MOST_PIECES[effort] + 1):
        stack: list[tuple[list[Any], tuple[int, ...]]] = [([], (0,) * len(wanted))]
        while stack and left > 0:
            left -= 1
            pieces, places = stack.pop()
            if all(place == len(text) for place, text in zip(places, wanted, strict=True)):
                if len(pieces) == size:
                    yield pieces
                continue
            if len(pieces) < size:
                stack.extend(reversed(list(_continue(pieces, places, wanted, atoms))))


def _continue(
    pieces: list[Any], places: tuple[int, ...], wanted: list[str], atoms: list[_Atom]
) -> Iterator[tuple[list[Any], tuple[int, ...]]]:
    """All lists with one piece more that still agree with the expected texts."""
    for atom in atoms:
        pairs = zip(atom.texts, wanted, places, strict=True)
        if all(whole.startswith(text, place) for text, whole, place in pairs):
            moved = tuple(place + len(text) for place, text in zip(places, atom.texts, strict=True))
            yield [*pieces, atom.piece], moved
    if pieces and isinstance(pieces[-1], str):
        return
    rest = wanted[0][places[0] :]
    for length in range(1, min(len(rest), 12) + 1):
        constant = rest[:length]
        if not all(
            whole.startswith(constant, place) for whole, place in zip(wanted, places, strict=True)
        ):
            return
        yield [*pieces, constant], tuple(place + length for place in places)


def _atoms(values: list[str], wanted: list[str], effort: int) -> list[_Atom]:
    """Pieces that occur in the expected text of every case, one for each list of texts."""
    found: dict[tuple[str, ...], _Atom] = {}
    separators = [sign for sign in SEPARATORS if any(sign in value for value in values)]
    indices = (0, 1, -1) if effort == 1 else (0, 1, 2, 3, -1, -2, -3)
    sources = [("words", index) for index in indices] + [("", 0)]
    if effort > 1:
        sources += [(kind, index) for kind in ("digits", "letters") for index in (0, 1, 2, -1)]
        sources += [(sign, index) for sign in separators for index in (0, 1, 2, -1)]
    for start, stop in SLICES[effort]:
        for case in (*CASES, "pad") if effort > 1 else CASES:
            for how, index in sources:
                piece = (how, index, start, stop, case)
                texts = tuple(cut_piece(value, *piece) for value in values)
                if (
                    any(texts)
                    and texts not in found
                    and all(text in whole for text, whole in zip(texts, wanted, strict=True))
                ):
                    found[texts] = _Atom(piece, texts)
    return list(found.values())
