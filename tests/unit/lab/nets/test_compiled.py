"""How kernels are compiled and spread over threads, and the exponential they use."""

import math
import os
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import torch

from aegir.lab.nets.kernels.compiled import compiled, exponential, run_kernel


@compiled
def count_jobs(first: Any, last: Any, done: Any) -> None:
    for job in range(first, last):
        done[job] += 1


@compiled
def exponentials(first: Any, last: Any, x: Any, into: Any) -> None:
    for place in range(first, last):
        into[place] = exponential(x[place])


@pytest.fixture
def threads() -> Iterator[Any]:
    """Set the number of threads for one test."""
    before = torch.get_num_threads()
    yield torch.set_num_threads
    torch.set_num_threads(before)


@pytest.mark.parametrize("count", [1, 2, 3, 8])
@pytest.mark.parametrize("jobs", [0, 1, 2, 7, 100])
def test_every_job_is_done_once_by_any_number_of_threads(
    threads: Any, count: int, jobs: int
) -> None:
    threads(count)
    done = torch.zeros(jobs)
    run_kernel(count_jobs, jobs, done)
    assert done.tolist() == [1.0] * jobs


def test_the_exponential_is_right_to_5e_7_of_its_value() -> None:
    x = torch.cat([torch.linspace(-86, 87, 100_001), torch.linspace(-1, 1, 100_001)])
    found = torch.empty_like(x)
    run_kernel(exponentials, len(x), x, found)
    error = found.double() / x.double().exp() - 1
    assert error.abs().max() < 5e-7


def test_the_exponential_stays_finite_at_both_ends() -> None:
    x = torch.tensor([0.0, -math.inf, -100.0, 100.0, math.inf])
    found = torch.empty_like(x)
    run_kernel(exponentials, len(x), x, found)
    assert found[0] == 1
    assert torch.equal(found[1:3], torch.full((2,), found[1].item()))
    assert 0 < found[1] < 2e-38
    assert 1e38 < found[3] == found[4] < math.inf


def test_a_function_without_a_file_is_compiled_without_a_cache() -> None:
    names: dict[str, Any] = {}
    exec("def double(first, last, x):\n    for i in range(first, last):\n        x[i] *= 2", names)
    x = torch.arange(4.0)
    run_kernel(compiled(names["double"]), 3, x)
    assert x.tolist() == [0.0, 2.0, 4.0, 3.0]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
def test_a_forked_child_makes_threads_of_its_own(threads: Any) -> None:
    threads(2)
    done = torch.zeros(8)
    run_kernel(count_jobs, 8, done)  # the parent's threads exist now
    child = os.fork()
    if child == 0:
        run_kernel(count_jobs, 8, done)
        os._exit(0 if np.array_equal(done.numpy(), np.full(8, 2.0)) else 1)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0


def test_a_tensor_with_gaps_is_refused_by_an_assertion() -> None:
    with pytest.raises(AssertionError, match="strides"):
        run_kernel(count_jobs, 4, torch.zeros(8)[::2])
