"""Runs inside a sandbox: tests written as Python, beside a solution that lives in a process of its own.

    run("load", source)      forks; the child loads the solution and answers calls
    run("test", code)        executes tests here; names that the solution defines stand for calls of the child
    run("hold", source)      keeps the text of a solution for
    run("script", code)      which executes tests that insert the text `answer` somewhere and run it themselves

    task: tests ── name, arguments ──▶ child: solution
                ◀── value or error ───

The tests enter when the child is there already and are executed in this process, so a solution can neither read them nor forge
what comes of them: the child has neither the pipes of the harness nor this memory. Values cross as plain built-in
ones, so an object that claims to equal everything is refused. What is none (instances of the solution's classes) stays in the child and
is passed around by number. Arguments are copies: tests cannot see that a solution changed one.

None of this holds for scripts (DS-1000), which run the solution in their own process, where it can read and change all of them.
"""

import builtins
import json
import os
import sys
import types
from collections.abc import Callable
from itertools import islice
from typing import Any, NoReturn

SIMPLE = (bool, int, float, str)
LISTS: dict[str, Any] = {"list": list, "tuple": tuple, "set": set, "frozenset": frozenset}
MOST_ITEMS = 100_000
"""Of an iterator; it crosses as a list."""
LONGEST = 32 << 20
LAST_FILE = 64


class Held:
    """An object that stays in the child."""

    def __init__(self, number: int) -> None:
        self.number = number


class Link:
    """One end of the pipes: values as JSON with their kinds."""

    def __init__(self, reader: int, writer: int) -> None:
        self._reader, self._writer = reader, writer
        self.objects: list[Any] = []

    def send(self, *values: Any) -> None:
        """Send values as one frame."""
        body = json.dumps([self.encode(value) for value in values]).encode()
        content = len(body).to_bytes(4, "big") + body
        while content:
            content = content[os.write(self._writer, content) :]

    def receive(self) -> list[Any]:
        """The values of the next frame; EOFError if the other side is gone."""
        length = int.from_bytes(self._read(4), "big")
        if length > LONGEST:
            raise ValueError("the answer is too long")
        return [self.decode(value) for value in json.loads(self._read(length))]

    def _read(self, length: int) -> bytes:
        parts = []
        while length:
            part = os.read(self._reader, min(length, 1 << 20))
            if not part:
                raise EOFError("the process of the solution ended")
            parts.append(part)
            length -= len(part)
        return b"".join(parts)

    def encode(self, value: Any) -> Any:
        """A value as JSON: null, or its kind and content; subclasses count as what they extend."""
        if value is None:
            return None
        for kind in SIMPLE:
            if isinstance(value, kind):
                plain = kind(value)
                return [kind.__name__, repr(plain) if kind in (int, float) else plain]
        if isinstance(value, complex):
            return ["complex", repr(complex(value))]
        if isinstance(value, bytes | bytearray):
            return ["bytes", bytes(value).hex()]
        if isinstance(value, dict):
            pairs = dict.items(value)
            return ["dict", [[self.encode(key), self.encode(each)] for key, each in pairs]]
        for name, sort in LISTS.items():
            if isinstance(value, sort):
                return [name, [self.encode(each) for each in sort.__iter__(value)]]
        if isinstance(value, Held):
            return ["held", value.number]
        if hasattr(value, "__next__"):
            return ["list", [self.encode(each) for each in islice(value, MOST_ITEMS)]]
        self.objects.append(value)
        return ["object", len(self.objects) - 1]

    def decode(self, value: Any) -> Any:
        """The value of such JSON."""
        if value is None:
            return None
        kind, content = value
        if kind in ("bool", "str"):
            return content
        if kind in ("int", "float", "complex"):
            return getattr(builtins, kind)(content)
        if kind == "bytes":
            return bytes.fromhex(content)
        if kind == "dict":
            return {self.decode(key): self.decode(each) for key, each in content}
        if kind == "held":
            return self.objects[content]
        if kind == "object":
            return Held(content)
        return LISTS[kind](self.decode(each) for each in content)


class Tests:
    """The process in which tests run."""

    link: Link
    names: tuple[str, ...] = ()
    answer = ""
    failure = "no solution was loaded"


def run(action: str, text: str) -> str:
    """Load a solution, or run tests on it; raise what they raise."""
    if action == "load":
        start_child(text)
        return "loaded"
    if action == "hold":
        Tests.answer = text
        return "held"
    if action == "script":
        namespace: dict[str, Any] = {"__name__": "tests", "answer": Tests.answer}
        exec(compile(text, "tests.py", "exec"), namespace)  # noqa: S102
        return "passed"
    if Tests.failure:
        raise RuntimeError(f"the solution was not loaded: {Tests.failure}")
    namespace = {"__name__": "tests", **{name: proxy(name) for name in Tests.names}}
    exec(compile(text, "tests.py", "exec"), namespace)  # noqa: S102, what this is for
    return "passed"


def start_child(source: str) -> None:
    """Fork the process of the solution and wait until it has loaded it."""
    here, there = os.pipe(), os.pipe()
    if os.fork() == 0:
        try:
            be_child(source, here[0], there[1])
        finally:
            os._exit(1)
    os.close(here[0])
    os.close(there[1])
    Tests.link = Link(there[0], here[1])
    try:
        failure, names = Tests.link.receive()
    except (EOFError, ValueError) as error:
        failure, names = str(error), []
    Tests.failure, Tests.names = str(failure), tuple(map(str, names))
    if Tests.failure:
        raise RuntimeError(Tests.failure)


def be_child(source: str, reader: int, writer: int) -> NoReturn:
    """Load the solution and answer calls until the tests end; no file but these pipes is open."""
    kept = os.dup2(reader, LAST_FILE - 2), os.dup2(writer, LAST_FILE - 1)
    os.closerange(3, LAST_FILE - 2)
    link, module = Link(*kept), types.ModuleType("solution")
    sys.modules["solution"] = module
    try:
        exec(compile(source, "solution.py", "exec"), module.__dict__)  # noqa: S102
    except BaseException as error:
        link.send(describe(error), [])
        os._exit(0)
    names = [name for name, value in vars(module).items() if name[:2] != "__" and callable(value)]
    link.send("", names)
    while True:
        name, positional, named = link.receive()
        try:
            link.send("", getattr(module, name)(*positional, **named))
        except Exception as error:
            link.send(type(error).__name__, describe(error))


def describe(error: BaseException) -> str:
    """One line about an error."""
    try:
        return " ".join(f"{type(error).__name__}: {error}".split())[:400]
    except Exception:
        return type(error).__name__


def proxy(name: str) -> Callable[..., Any]:
    """A function that calls the solution's function of this name."""

    def call(*arguments: Any, **named: Any) -> Any:
        Tests.link.send(name, arguments, named)
        kind, value = Tests.link.receive()
        if not kind:
            return value
        sort = vars(builtins).get(str(kind))
        if isinstance(sort, type) and issubclass(sort, Exception):
            raise sort(value)
        raise RuntimeError(value)

    return call
