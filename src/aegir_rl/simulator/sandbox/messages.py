"""The bytes between host and harness: orders that go in, frames of results that come out.

What comes out was written by untrusted code. It is bounded before it is parsed, and it is parsed as JSON of bounded depth and
nothing else; bytes that are no such frames count as a crash of the program. Errors are cut and cleaned, since they are shown,
stored, and sent to language models.
"""

import base64
import json
import math
from collections.abc import Sequence
from typing import Any, NoReturn

from aegir_rl.simulator.sandbox.program import CallResult, Ended, Execution, Limits, Program
from aegir_rl.simulator.sandbox.watch import ProgramEnd
from aegir_rl.simulator.task import Json

RESULT_BYTES = 1 << 20
"""Bytes of the results of all calls; more of them end the program."""
DEEPEST = 64
OUT_OF_MEMORY = "MemoryError:"
LONGEST_ERROR = 520
"""Characters of an error: those that the harness sends, and the line of the solution."""


def encode_order(
    program: Program, limits: Limits, *, filter_: bytes | None, count_processes: bool = True
) -> bytes:
    """What the harness needs to load a program; neither arguments nor expected values are among it."""
    order = {
        "source": program.source,
        "function": program.function,
        "files": {name: _base64(content) for name, content in program.files.items()},
        "filter": None if filter_ is None else _base64(filter_),
        "processes": limits.processes if count_processes else None,
        "memory_bytes": limits.memory_bytes,
        "wall_seconds": limits.wall_seconds,
        "cpu_seconds": limits.cpu_seconds,
        "file_bytes": limits.file_bytes,
    }
    return json.dumps(order).encode()


def build_execution(
    outcome: ProgramEnd, contents: Sequence[bytes | bytearray], limits: Limits, calls: int
) -> Execution:
    """What a program did, from how it ended and the contents of its results, output and errors."""
    results_content, stdout, stderr = contents
    whole, results = decode_results(bytes(results_content), calls)
    ended: Ended = outcome.ended or ("finished" if whole else "crashed")
    if ended == "crashed" and outcome.cpu_seconds >= limits.cpu_seconds:
        ended = "timeout"  # the kernel was faster
    elif ended == "finished" and any(
        (one.error or "").startswith(OUT_OF_MEMORY) for one in results
    ):
        ended = "memory"
    return Execution(
        ended=ended,
        results=results,
        stdout=stdout[: limits.output_bytes].decode(errors="replace"),
        stderr=stderr[: limits.output_bytes].decode(errors="replace"),
        wall_seconds=outcome.wall_seconds,
        cpu_seconds=outcome.cpu_seconds,
    )


def decode_results(content: bytes, calls: int) -> tuple[bool, tuple[CallResult, ...]]:
    """The results in the frames, and whether they are whole: a first frame, then one for each call."""
    results: list[CallResult] = []
    place, began = 0, False
    while len(content) - place >= 4:
        length = int.from_bytes(content[place : place + 4], "big")
        body = content[place + 4 : place + 4 + length]
        place += 4 + length
        if len(body) < length:
            break
        message = _decode(body)
        if not began:
            began = message == {}
            if not began:
                return False, ()
            continue
        result = _as_result(message)
        if result is None or len(results) == calls:
            return False, tuple(results)
        results.append(result)
    return began and place == len(content) and len(results) == calls, tuple(results)


def _base64(content: bytes) -> str:
    return base64.b64encode(content).decode()


def _decode(body: bytes) -> Any:
    """The JSON value in a frame; a number if it is none or too deep."""
    try:
        value = json.loads(body, parse_constant=_refuse, parse_float=_finite)
    except (ValueError, RecursionError, UnicodeDecodeError):
        return 0
    return 0 if _is_too_deep(value) else value


def _as_result(message: Any) -> CallResult | None:
    if not isinstance(message, dict) or len(message) != 1:
        return None
    if "value" in message:
        return CallResult(message["value"], None)
    error = message.get("error")
    return CallResult(None, clean_error(error)) if isinstance(error, str) else None


def clean_error(text: str) -> str:
    """An error in one line of bounded length, with a replacement for every character that is not printable.

    Whatever the harness would have sent, a program may have written the frame itself.
    """
    text = " ".join(text[: 2 * LONGEST_ERROR].split())
    shown = "".join(each if each.isprintable() else "\N{REPLACEMENT CHARACTER}" for each in text)
    return shown if len(shown) <= LONGEST_ERROR else shown[: LONGEST_ERROR - 1] + "…"


def _is_too_deep(value: Json) -> bool:
    """Whether lists and objects are nested beyond `DEEPEST`, found without recursion."""
    level: list[Json] = [value]
    for _ in range(DEEPEST):
        level = [
            inner
            for outer in level
            if isinstance(outer, list | dict)
            for inner in (outer.values() if isinstance(outer, dict) else outer)
        ]
        if not level:
            return False
    return True


def _finite(digits: str) -> float:
    """A number; one that is too large for a float, such as 1e999, is none."""
    value = float(digits)
    return value if math.isfinite(value) else _refuse(digits)


def _refuse(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number of JSON")
