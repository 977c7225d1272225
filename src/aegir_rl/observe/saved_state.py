"""Reading saved states: every value is checked before anything is changed.

    saved = read_state(state, "the saved reward", {"episodes": read_count, "weights": array_of((3,), low=0)})

Everything that remembers offers `state_dict` and `load_state_dict`. A file that was cut off or edited, or the state of
something else, gets one sentence (UsageError):

    the saved reward has no 'weights'; expected what its state_dict gives: episodes, weights
    'episodes' of the saved reward is -3; expected a whole number from 0 to below 2**53

A reader takes a value and where it stands, and returns the value checked and converted, or raises.
"""

import math
import operator
import reprlib
from collections.abc import Callable, Mapping
from numbers import Real
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from aegir_rl.base.errors import UsageError

Reader = Callable[[object, str], Any]

MOST = 2**53
"""Counts are below it: floats are exact up to here, and sums of counts fit into 64 bits."""


def read_state(state: object, whose: str, readers: Mapping[str, Reader]) -> dict[str, Any]:
    """The checked values of a state; raise if it is not a mapping, lacks a key or holds a wrong value."""
    check_state(state, whose, *readers)
    assert isinstance(state, Mapping)
    return {key: reader(state[key], f"{key!r} of {whose}") for key, reader in readers.items()}


def check_state(state: object, whose: str, *keys: str) -> None:
    """Raise if a state is not a mapping or lacks one of `keys`; values are not checked."""
    expected = f"expected what its state_dict gives: {', '.join(keys)}"
    if not isinstance(state, Mapping):
        raise UsageError(f"{whose} is of type {type(state).__name__}; {expected}")
    missing = [repr(key) for key in keys if key not in state]
    if missing:
        raise UsageError(f"{whose} has no {' and no '.join(missing)}; {expected}")


def whole_below(limit: int) -> Reader:
    """A reader of whole numbers from 0 to below `limit`."""

    def read(value: object, where: str) -> int:
        try:
            number = operator.index(value)  # type: ignore[arg-type]
        except TypeError:
            number = -1
        if 0 <= number < limit:
            return number
        return reject(value, where, f"a whole number from 0 to below 2**{limit.bit_length() - 1}")

    return read


read_count = whole_below(MOST)


def number_within(low: float, high: float) -> Reader:
    """A reader of finite numbers from `low` to `high`."""

    def read(value: object, where: str) -> float:
        try:
            number = float(value) if isinstance(value, Real) else math.nan
        except OverflowError:  # an integer beyond the range of floats
            number = math.nan
        if low <= number <= high and math.isfinite(number):
            return number
        bounds = "" if (low, high) == (-math.inf, math.inf) else f" from {low:g} to {high:g}"
        return reject(value, where, f"a finite number{bounds}")

    return read


read_number = number_within(-math.inf, math.inf)


def read_flag(value: object, where: str) -> bool:
    """True or False."""
    return bool(value) if isinstance(value, bool | np.bool_) else reject(value, where, "a bool")


def read_text(value: object, where: str) -> str:
    """A string."""
    return value if isinstance(value, str) else reject(value, where, "text")


def optional(reader: Reader) -> Reader:
    """A reader of None or what `reader` reads."""
    return lambda value, where: None if value is None else reader(value, where)


def record_of(readers: Mapping[str, Reader]) -> Reader:
    """A reader of a nested state."""
    return lambda value, where: read_state(value, where, readers)


def list_of(reader: Reader, length: int | None = None) -> Reader:
    """A reader of a list, each entry read by `reader`, of any or of this length."""

    def read(value: object, where: str) -> list[Any]:
        if not isinstance(value, list | tuple) or (length is not None and len(value) != length):
            entries = "" if length is None else f" of {length}"
            return reject(value, where, f"a list{entries}")
        return [reader(entry, f"entry {i} of {where}") for i, entry in enumerate(value)]

    return read


def array_of(
    shape: tuple[int | None, ...],
    *,
    whole: bool = False,
    low: float = -math.inf,
    high: float = math.inf,
    nan: bool = False,
) -> Reader:
    """A reader of float64 (or, if `whole`, int64) arrays of this shape, None being any length.

    Entries are finite and from `low` to `high`; nan is accepted only if `nan` is set.
    """

    def read(value: object, where: str) -> npt.NDArray[Any]:
        sizes = " × ".join("any" if size is None else str(size) for size in shape)
        expected = f"{'whole numbers' if whole else 'numbers'} of shape {sizes}"
        try:
            given = np.asarray(value)
        except ValueError:
            return reject(value, where, expected)
        fits = given.ndim == len(shape) and all(
            size in (None, there) for size, there in zip(shape, given.shape, strict=True)
        )
        if not fits or given.dtype.kind not in ("iu" if whole and given.size else "iuf"):
            return reject(value, where, expected)
        most = min(high, MOST) if whole else high
        good = np.isfinite(given) & (given >= low) & (given <= most)
        if not (good | np.isnan(given) if nan else good).all():
            return reject(given[~good].flat[0], where, f"finite numbers from {low:g} to {most:g}")
        return given.astype(np.int64 if whole else np.float64)  # a copy

    return read


def read_generator(value: object, where: str) -> np.random.Generator:
    """A random generator in the saved state."""
    bits = whole_below(2**128)
    readers = {
        "bit_generator": read_text,
        "state": record_of({"state": bits, "inc": bits}),
        "has_uint32": whole_below(2),
        "uinteger": whole_below(2**32),
    }
    saved = read_state(value, where, readers)
    if saved["bit_generator"] != "PCG64":
        reject(saved["bit_generator"], f"'bit_generator' of {where}", "PCG64")
    made = np.random.PCG64(0)
    made.state = saved  # type: ignore[assignment]
    return np.random.Generator(made)


def reject(value: object, where: str, expected: str) -> NoReturn:
    """Raise for a value that is not what was expected."""
    shown = " ".join(reprlib.repr(value).split())
    raise UsageError(f"{where} is {shown}; expected {expected}")
