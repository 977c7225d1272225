"""Weights files and manifests whose figures and texts are not what they should be: every place in their JSON, one at a time."""

import json
import resource
import signal
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import deepcopy
from pathlib import Path
from typing import Any

from aegir_rl.base.errors import LONGEST_SENTENCE, UsageError
from aegir_rl.base.safetensors_file import read_safetensors, safetensors_bytes

HOSTILE: tuple[Any, ...] = (
    2**60,
    10**4000,
    -1,
    0,
    0.5,
    1e308,
    float("nan"),
    True,
    None,
    "\x1b[31m\ud800" * 20_000,
    "7",
    [],
    {},
    [[[2**60]]],
    {"a": -1},
)
USED, REFUSED = "used", "refused"
MANY = 50
SECONDS, MEMORY = 20, 1 << 30


def hostile_records(record: Any) -> Iterator[tuple[str, Any]]:
    """Yield a place and the record with one of HOSTILE there, or without it; the first three entries of a list, or of many keys, stand for all."""
    for place in _places(record, ()):
        for value in HOSTILE:
            yield f"{place} = {str(value)[:30]!r}", _changed(record, place, value)
        yield f"{place} missing", _changed(record, place, _REMOVED)


def hostile_weights(path: Path, key: str) -> Iterator[tuple[str, bytes]]:
    """Yield what is changed, and the content of the weights file with that change in the JSON under a key of its metadata."""
    tensors, metadata = read_safetensors(path)
    for change, record in hostile_records(json.loads(metadata[key])):
        yield change, safetensors_bytes(tensors, {**metadata, key: json.dumps(record)})
    for text in ("[" * 100_000, "nonsense", "", '"text"', "[]", "7"):
        yield text[:20], safetensors_bytes(tensors, {**metadata, key: text})
    without = {name: text for name, text in metadata.items() if name != key}
    yield f"no {key}", safetensors_bytes(tensors, without)


def use_or_refusal(change: str, use: Callable[[], object]) -> str:
    """Return USED, REFUSED if that was done in one printable sentence within bounds of time and memory, or else what happened."""
    try:
        with _bounds():
            use()
    except UsageError as error:
        sentence = str(error)
        proper = sentence.isprintable() and 10 < len(sentence) < LONGEST_SENTENCE + 100
        return REFUSED if proper else f"{change}: {sentence!r}"
    except BaseException as error:
        frame = traceback.extract_tb(error.__traceback__)[-1]
        place = f"{Path(frame.filename).name}:{frame.lineno}"
        return f"{change}: {type(error).__name__}: {str(error)[:100]} ({place})"
    return USED


_REMOVED = object()
_Place = tuple[str | int, ...]


def _places(value: Any, place: _Place) -> Iterator[_Place]:
    if place:
        yield place
    entries: list[tuple[Any, Any]] = []
    if isinstance(value, list):
        entries = list(enumerate(value[:3]))
    elif isinstance(value, dict):
        entries = list(value.items())[: 3 if len(value) > MANY else None]
    for key, part in entries:
        yield from _places(part, (*place, key))


def _changed(record: Any, place: _Place, value: Any) -> Any:
    changed = deepcopy(record)
    inner = changed
    for key in place[:-1]:
        inner = inner[key]
    if value is _REMOVED:
        del inner[place[-1]]
    else:
        inner[place[-1]] = value
    return changed


@contextmanager
def _bounds() -> Iterator[None]:
    """Raise TimeoutError after SECONDS, and MemoryError for an allocation that does not fit into MEMORY more."""

    def stop(*_: object) -> None:
        raise TimeoutError

    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    earlier = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, SECONDS)
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + MEMORY, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, earlier)
