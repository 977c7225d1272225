"""A TOML file as a dataclass: defaults for what it leaves out, one sentence for what it gets wrong.

    read_settings(Path("run.toml"), Training()) -> Training

The dataclass of defaults is the schema: a key must be the name of a field, its value of the kind of the default,
and a field that is itself a dataclass is a section. A mapping field takes any keys. A key that does not exist is
refused with the nearest one that does.
"""

import difflib
import tomllib
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any, TypeVar

from aegir.errors import AskedWrongly

Settings = TypeVar("Settings")


def read_settings(path: Path, defaults: Settings) -> Settings:
    """The settings in a TOML file."""
    try:
        given = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise AskedWrongly(f"cannot read {path}: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise AskedWrongly(f"{path} is no TOML file: {error}") from None
    return settings_from(given, defaults, str(path))


def settings_from(given: Mapping[str, Any], defaults: Settings, path: str) -> Settings:
    """The defaults with what was given in their place; `path` is named in complaints."""
    made: Settings = _build(defaults, given, path, "")
    return made


def _build(defaults: Any, given: Mapping[str, Any], path: str, section: str) -> Any:
    names = [each.name for each in fields(defaults)]
    values: dict[str, Any] = {name: getattr(defaults, name) for name in names}
    for key, value in given.items():
        where = f"{key!r} in {f'[{section}] of ' if section else ''}{path}"
        if key not in values:
            near = difflib.get_close_matches(key, names, 1, 0.5)
            hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(names)}"
            raise AskedWrongly(f"unknown key {where}; {hint}")
        inner = f"{section}.{key}" if section else key
        values[key] = _value(values[key], value, where, path, inner)
    return type(defaults)(**values)


def _value(default: Any, given: Any, where: str, path: str, section: str) -> Any:
    if is_dataclass(default) or isinstance(default, Mapping):
        if not isinstance(given, dict):
            raise AskedWrongly(f"{where} is {given!r}; expected a section [{section}]")
        return _build(default, given, path, section) if is_dataclass(default) else given
    expected = _expected(default, given)
    if expected:
        raise AskedWrongly(f"{where} is {given!r}; expected {expected}")
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
        return None if right else "a number" if isinstance(default, float) else "a whole number"
    if isinstance(default, str):
        return None if isinstance(given, str) else "text"
    assert isinstance(default, list | tuple), f"no TOML value is a {type(default).__name__}"
    return None if isinstance(given, list) else "a list"
