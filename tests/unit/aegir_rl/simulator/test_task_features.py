"""What a policy sees of a task: numbers worked by hand, and nothing of what is hidden."""

import math
from dataclasses import replace

import numpy as np
import pytest

from aegir_rl.simulator.task import Case, PublicTask
from aegir_rl.simulator.task_features import TASK_FEATURES, WORD_BUCKETS, describe_tasks
from small_tasks import adding_task

TASK = PublicTask(
    statement="add one ADD",
    function="solve",
    files={"a.txt": "12345"},
    starter="def solve(x):\n    return x\n",
    public=(Case(("ab1",), "ab"), Case(("cd2",), "cd")),
    difficulty={"level": 2},
)


def seen(task: PublicTask) -> dict[str, float]:
    return dict(zip(TASK_FEATURES, describe_tasks([task])[0].tolist(), strict=True))


@pytest.mark.parametrize(
    ("feature", "value"),
    [
        ("cases", math.log(3)),
        ("arguments", 1.0),
        ("statement_length", math.log(12)),
        ("starter_statements", math.log(3)),  # a function and a return
        ("files", 1.0),
        ("files_length", math.log(6)),
        ("level", 2.0),
        ("argument_text", 1.0),
        ("expected_number", 0.0),
        ("argument_length", math.log(4)),
        ("expected_length", math.log(3)),
        ("expected_distinct", 1.0),
        ("unchanged", 0.0),
        ("contained", 1.0),  # ab stands in ab1
        ("characters_kept", 1.0),
        ("argument_digits", 1 / 3),
        ("list_length", 0.0),
    ],
)
def test_worked_numbers(feature: str, value: float):
    assert seen(TASK)[feature] == pytest.approx(value, rel=1e-6)


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        ("x", "text"),
        (1, "number"),
        (True, "boolean"),
        ([1], "list"),
        ({}, "object"),
        (None, "null"),
    ],
)
def test_kinds_of_values(value: object, kind: str):
    features = seen(replace(TASK, public=(Case((value,), value),)))
    assert features[f"argument_{kind}"] == features[f"expected_{kind}"] == 1.0
    assert features["unchanged"] == 1.0
    assert sum(features[name] for name in TASK_FEATURES if name.startswith("argument_")) >= 1.0


def test_words_are_counted_in_buckets_whatever_their_case():
    counts = np.expm1([seen(TASK)[f"word_{number:02}"] for number in range(WORD_BUCKETS)])
    assert counts.sum() == pytest.approx(3)  # add, one, add
    assert counts.max() == pytest.approx(2)


def test_starters_that_do_not_parse_and_cases_without_arguments_are_described_too():
    odd = replace(TASK, starter="def (", public=(Case((), [1, 2]),))
    features = seen(odd)
    assert features["starter_statements"] == 0.0
    assert np.isfinite(describe_tasks([odd, TASK])).all()
    assert describe_tasks([]).shape == (0, len(TASK_FEATURES))


def test_nothing_hidden_is_seen():
    task = adding_task(3)
    changed = replace(task, solution="other", hidden=(Case((9,), 9),))
    assert (describe_tasks([task.public_view()]) == describe_tasks([changed.public_view()])).all()
