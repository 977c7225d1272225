"""What exec'ed workers of these tests run."""

from collections.abc import Iterator
from contextlib import contextmanager

from aegir_rl.processes.worker import Answer, serve_parent
from toy_worker import open_toy


@contextmanager
def opening(_requests: Iterator[bytes]) -> Iterator[Answer]:
    with open_toy() as answer:
        yield answer


def main() -> None:
    serve_parent(opening)
