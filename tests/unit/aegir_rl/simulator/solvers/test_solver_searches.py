"""Searches of solvers: which programs they find, in which order, and what they leave alone."""

import re
from collections.abc import Sequence

import pytest

from aegir_rl.simulator.checking import Verdict
from aegir_rl.simulator.solvers.composition import fit_columns
from aegir_rl.simulator.solvers.enumerative import cut_piece, join_pieces
from aegir_rl.simulator.solvers.mutations import mutate
from aegir_rl.simulator.solvers.registry import find_solver
from aegir_rl.simulator.solvers.solver import (
    LONGEST_CASES,
    Candidate,
    budget,
    first_confirmed,
    fitting,
    is_too_large,
    programs_to_skip,
)
from aegir_rl.simulator.task import Case, PublicTask

PASSED = Verdict(1, 1, (), "finished", 0.0, 0.0)
FAILED = Verdict(0, 1, ("case 1",), "finished", 0.0, 0.0)


def task_of(pairs: Sequence[tuple[object, object]], statement: str = "", **more) -> PublicTask:
    return PublicTask(
        statement=statement,
        function="solve",
        files=more.get("files", {}),
        starter=more.get("starter", "def solve(value):\n    raise NotImplementedError\n"),
        public=tuple(Case((argument,), expected) for argument, expected in pairs),
        difficulty={},
    )


def accept(_source: str, _cases: Sequence[Case]) -> Verdict:
    return PASSED


def solve(name: str, task: PublicTask, effort: int = 3, feedback: Verdict | None = None):
    """The function that a solver proposes, None if it proposes none."""
    source = find_solver(name).propose(task, effort, accept, feedback)
    if source is None:
        return None
    names: dict = {}
    exec(source, names)
    return names["solve"]


def test_effort_bounds_the_work_and_a_failure_triples_it():
    amounts = {1: 10, 2: 20, 3: 30}
    assert budget(amounts, 2, None) == budget(amounts, 2, PASSED) == 20
    assert budget(amounts, 2, FAILED) == 60
    assert [programs_to_skip(each) for each in (None, FAILED, PASSED)] == [0, 0, 1]


def double(value: int, factor: int) -> int:
    return value * factor


def test_the_first_candidate_that_fits_is_written_and_one_may_be_passed_over():
    task = task_of([(0, 0)])
    candidates = [Candidate(double, (factor,)) for factor in range(5)]
    first = first_confirmed(fitting(task, candidates, 10), task, accept, skip=0)
    second = first_confirmed(fitting(task, candidates, 10), task, accept, skip=1)
    assert first is not None
    assert second is not None
    assert "double(*arguments, 0)" in first
    assert "double(*arguments, 1)" in second
    assert not list(fitting(task_of([(1, 7)]), candidates, 10))
    assert not list(fitting(task_of([(1, 4)]), candidates, 4))  # beyond the limit


def test_a_candidate_that_raises_does_not_fit():
    assert not Candidate(double, ()).fits([Case((1,), 2)])


def test_a_program_must_pass_in_the_sandbox_too():
    def refuse_a(source: str, _cases: Sequence[Case]) -> Verdict:
        return FAILED if source == "a" else PASSED

    task = task_of([(0, 0)])
    assert first_confirmed(iter("ab"), task, refuse_a, 0) == "b"
    assert first_confirmed(iter("aa"), task, refuse_a, 0) is None
    assert first_confirmed(iter("bc"), task, refuse_a, 1) == "c"
    assert first_confirmed(iter("b"), task, refuse_a, 1) == "b"  # there is no other


def test_tasks_with_huge_cases_are_left_alone():
    large = task_of([("x" * LONGEST_CASES, "x")])
    assert is_too_large(large)
    assert not is_too_large(task_of([("x", "x")]))
    for name in ("templates", "enumerative", "regex", "composition", "repair"):
        assert solve(name, large) is None


@pytest.mark.parametrize(
    ("how", "index", "start", "stop", "case", "piece"),
    [
        ("words", 0, None, None, "", "Maple"),
        ("words", -1, None, None, "upper", "B12"),
        ("words", 5, None, None, "", ""),
        ("digits", 0, None, None, "", "7"),
        ("digits", 0, None, None, "pad", "07"),
        ("letters", 1, 0, 2, "lower", "st"),
        (",", 1, None, None, "", "b12"),
        ("", 0, 0, 3, "", "Map"),
    ],
)
def test_pieces_of_a_value(how: str, index: int, start, stop, case: str, piece: str):
    assert cut_piece("Maple Street 7, b12", how, index, start, stop, case) == piece


def test_pieces_are_joined_with_constants():
    pieces = [("words", 1, None, None, "upper"), ", ", ("words", 0, 0, 1, "")]
    assert join_pieces("ada berg", pieces, "-") == "BERG, a"
    assert join_pieces("  ", pieces, "-") == "-"


def test_enumeration_finds_the_rule_of_examples_and_the_value_of_blanks():
    examples = [("Ada Berg", "BERG-A"), ("Nils Keller", "KELLER-N"), ("", "none")]
    found = solve("enumerative", task_of(examples))
    assert [found("Olga Hansen"), found(" ")] == ["HANSEN-O", "none"]
    assert solve("enumerative", task_of([("a", 1)])) is None  # not a text
    assert solve("enumerative", task_of([("ab cd", "xyz"), ("ef gh", "uvw")])) is None


def test_the_narrowest_form_of_the_positive_cases():
    pairs = [("AB-12", True), ("K-7", True), ("XYZ-123", True), ("ab-12", False), ("AB12", False)]
    found = solve("regex", task_of(pairs))
    assert [found(text) for text in ("QR-99", "Q-1234", "QRST-9", "Q_1")] == [True] + [False] * 3
    assert solve("regex", task_of([("a", False)])) is None  # nothing has the form
    assert solve("regex", task_of([("a", "b")])) is None


def test_a_last_field_may_be_optional_and_words_are_alternatives():
    pairs = [(f"{word}{number}", True) for word in ("AB", "XY") for number in (12, 34, 56)]
    pairs += [("CD12", False)]
    assert not solve("regex", task_of(pairs))("CD99")
    optional = [("12-ab", True), ("34-cd", True), ("56", True), ("78", True), ("ab", False)]
    found = solve("regex", task_of(optional))
    assert [found("99"), found("99-zz"), found("99-")] == [True, True, False]


@pytest.mark.parametrize(
    ("pairs", "argument", "result"),
    [
        ([("9.3.2021", "2021-03-09"), ("1.12.2020", "2020-12-01")], "5.6.2019", "2019-06-05"),
        ([("dr. ada berg", "Berg, Ada"), ("nils keller", "Keller, Nils")], "o. li", "Li, O."),
        ([("1,234.5", 1234.5), ("(7)", -7.0)], "2k", 2000.0),
    ],
)
def test_readers_and_writers_are_chained_by_type(pairs: list, argument: str, result: object):
    assert solve("composition", task_of(pairs))(argument) == result


def test_what_no_step_reads_is_one_constant_of_the_cases():
    found = solve("composition", task_of([("9.3.2021", "2021-03-09"), ("soon", "invalid")]))
    assert found("later") == "invalid"


def test_columns_of_a_mapping_are_fitted_one_by_one():
    pairs = [
        ({"a": "7", "b": " x "}, {"n": 7, "t": "x"}),
        ({"a": "", "b": "y"}, {"n": 0, "t": "y"}),
        ({"a": "8", "b": "z"}, {"n": 8, "t": "z"}),
    ]
    columns, _ = next(fit_columns(task_of(pairs)))
    assert columns == [("a", "n", "int", 0), ("b", "t", "text", None)]
    assert list(fit_columns(task_of([({"a": 1}, {"n": 2})]))) == []  # nothing explains 2
    assert list(fit_columns(task_of([("text", {"n": 2})]))) == []


def test_templates_read_numbers_from_the_statement():
    statement = (
        "Flag outliers: further than 2 population standard deviations; fewer than 3 values none."
    )
    values = [1, 1, 1, 1, 1, 1, 9]
    found = solve("templates", task_of([(values, [False] * 6 + [True])], statement))
    assert found([2, 2, 2, 2, 2, 2, -9])[-1] is True
    assert found([1, 9]) == [False, False]


def test_templates_fit_the_keys_of_rows():
    rows = [{"k": "a", "v": 1}, {"k": "b", "v": 2}, {"k": "a", "v": 3}]
    statement = "Deduplicate rows with the same 'k' record; the last is kept."
    found = solve("templates", task_of([(rows, [rows[2], rows[1]])], statement))
    assert found([{"k": "x", "v": 1}, {"k": "x", "v": 2}]) == [{"k": "x", "v": 2}]


@pytest.mark.parametrize(
    ("source", "change"),
    [
        ("a < b", "a <= b"),
        ("a in b", "a not in b"),
        ("a is b", "a is not b"),
        ("a + b", "a - b"),
        ("a * b", "a / b"),
        ("a + b", "a"),
        ("a and b", "a or b"),
        ("a if b else c", "a if not b else c"),
        ("a + 1", "a + 2"),
        ("a * 10", "a * 100"),
        ("f(True)", "f(False)"),
        ("a.decode('utf-8')", "a.decode('latin-1')"),
        ("min(a, b)", "max(a, b)"),
        ("a.lower()", "a.upper()"),
        ("a.strip()", "a"),
        ("f(a)", "f(a).strip()"),
        ("a[0]", "a[0] + 1"),
        ("x", "a"),
        ("x", "abs(x)"),
        ("x", "len(a)"),
        ("x", "' '.join(x.split())"),
    ],
)
def test_every_kind_of_change_is_made(source: str, change: str):
    program = f"def f(a, b, c):\n    return {source}"
    assert program.replace(source, change) in set(mutate(program))


def test_guards_are_added_to_functions_and_loops():
    program = "def f(values):\n    for value in values:\n        print(value)"
    changed = list(mutate(program))
    assert any(text.startswith("def f(values):\n    if not values:") for text in changed)
    assert any(re.search(r"in values:\n        if value is None:\n +continue", t) for t in changed)


def test_a_starter_that_only_raises_is_not_repaired():
    assert solve("repair", task_of([(1, 2)])) is None
    right = "def solve(value):\n    return value + 1\n"
    assert solve("repair", task_of([(1, 2)], starter=right))(4) == 5  # passes as it is
