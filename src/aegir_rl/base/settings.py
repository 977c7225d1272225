"""A TOML file as a dataclass: defaults for what it leaves out, one sentence for what it gets wrong.

    read_settings(Path("run.toml"), Training()) -> Training

The dataclass of defaults is the schema: a key must be the name of a field, its value of the kind of the default,
and a field that is itself a dataclass is a section. A mapping field takes any keys. A key that does not exist is
refused with the nearest one that does. `base = "other.toml"` in the first lines begins with the settings of another file, named
from the folder of this one; sections are joined key by key.

    def __post_init__(self) -> None:                     a dataclass of settings refuses numbers that cannot work
        check_numbers(self, "learning_rate", above=0)

What a dataclass refuses on being made is said with the section and the file it came from.
"""

import math
import operator
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any, TypeVar

from aegir_rl.base.errors import UsageError, reason_of, require

Settings = TypeVar("Settings")

MOST_BASES = 16
"""Files that a settings file may stand on, one on the other."""
LARGEST = 2**63 - 1
"""A larger whole number is of no use and cannot be made a float if it is large enough."""


def read_settings(path: Path, defaults: Settings) -> Settings:
    """The settings in a TOML file, on top of those of its base."""
    files = _with_bases(path)
    given: dict[str, Any] = {}
    for said in reversed(files.values()):
        given = _joined(given, said)
    given.pop("base", None)
    return settings_from(given, defaults, " on ".join(map(str, files)))


def read_toml(path: Path) -> dict[str, Any]:
    """What a TOML file says."""
    import tomllib  # few runs read a file of settings

    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from None
    except (ValueError, RecursionError) as error:  # also of a number with thousands of digits
        raise UsageError(f"{path} is no TOML file: {reason_of(error)}") from None


def _with_bases(path: Path) -> dict[Path, dict[str, Any]]:
    """What a TOML file, its base, the base of that … say, in this order."""
    files = {path: read_toml(path)}
    while (base := files[path].get("base")) is not None:
        if not isinstance(base, str) or "\0" in base:
            raise UsageError(f"'base' in {path} is {base!r}; expected the name of a TOML file")
        path = path.parent / base
        if path in files or len(files) > MOST_BASES:
            raise UsageError(
                f"{path} is a base of itself, or one of more than {MOST_BASES}; take `base` out of one of the files"
            )
        files[path] = read_toml(path)
    return files


def _joined(base: dict[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    joined = dict(base)
    for key, value in given.items():
        below = joined.get(key)
        if isinstance(below, dict) and isinstance(value, dict):
            joined[key] = _joined(below, value)
        else:
            joined[key] = value
    return joined


def settings_from(given: Mapping[str, Any], defaults: Settings, path: str) -> Settings:
    """The defaults with what was given in their place; `path` is named in complaints."""
    made: Settings = _build(defaults, given, path, "")
    return made


def check_numbers(
    settings: Any,
    *names: str,
    above: float | None = None,
    at_least: float | None = None,
    at_most: float | None = None,
    below: float | None = None,
) -> None:
    """Refuse a number outside these bounds, or one that is not finite."""
    bounds = (
        ("above", operator.gt, above),
        ("at least", operator.ge, at_least),
        ("at most", operator.le, at_most),
        ("below", operator.lt, below),
    )
    given = [(word, within, end) for word, within, end in bounds if end is not None]
    words = " and ".join(f"{word} {bound}" for word, _, bound in given)
    for name in names:
        value = getattr(settings, name)
        holds = math.isfinite(value) and all(within(value, bound) for _, within, bound in given)
        require(holds, name, value, f"a number {words}")


def _build(defaults: Any, given: Mapping[str, Any], path: str, section: str) -> Any:
    names = [each.name for each in fields(defaults)]
    values: dict[str, Any] = {name: getattr(defaults, name) for name in names}
    for key, value in given.items():
        where = f"{key!r} in {f'[{section}] of ' if section else ''}{path}"
        if key not in values:
            from difflib import get_close_matches  # few runs have a name to correct

            near = get_close_matches(key, names, 1, 0.5)
            hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(names)}"
            raise UsageError(f"unknown key {where}; {hint}")
        inner = f"{section}.{key}" if section else key
        values[key] = _value(values[key], value, where, path, inner)
    try:
        return type(defaults)(**values)
    except UsageError as error:
        raise UsageError(f"{error} ({f'[{section}] of ' if section else ''}{path})") from None


def _value(default: Any, given: Any, where: str, path: str, section: str) -> Any:
    if is_dataclass(default) or isinstance(default, Mapping):
        if not isinstance(given, dict):
            raise UsageError(f"{where} is {given!r}; expected a section [{section}]")
        return _build(default, given, path, section) if is_dataclass(default) else given
    expected = _expected(default, given)
    if expected:
        raise UsageError(f"{where} is {given!r}; expected {expected}")
    if isinstance(default, float):
        return float(given)
    return tuple(given) if isinstance(default, tuple) else given


def _expected(default: Any, given: Any) -> str | None:
    """What should have come, in words; None when it did."""
    if isinstance(default, bool):
        return None if isinstance(given, bool) else "true or false"
    if isinstance(default, int | float):
        kinds = (int, float) if isinstance(default, float) else (int,)
        right = isinstance(given, kinds) and not isinstance(given, bool)
        if right and isinstance(given, int) and not -LARGEST - 1 <= given <= LARGEST:
            return f"a number from {-LARGEST - 1} to {LARGEST}"
        return None if right else "a number" if isinstance(default, float) else "a whole number"
    if isinstance(default, str):
        return None if isinstance(given, str) else "text"
    assert isinstance(default, list | tuple), f"no TOML value is of type {type(default).__name__}"
    return None if isinstance(given, list) else "a list"
