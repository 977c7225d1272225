"""Dataclasses as JSON and back, for messages between processes and machines.

    from_plain(Answer, json.loads(to_json(answer))) == answer

Promises
  - every field arrives as it was sent, every bit of every number included; nothing is rounded or left out;
  - an error arrives as the class that was raised, if the receiver has loaded it, else as `AegirError`.

A class with `as_dict` and `from_dict` says itself what is sent.

Limits: dataclasses, named tuples, enumerations of text, tuples, lists, dictionaries with names as keys, and plain values; a union may hold one
dataclass at most, and None.
"""

import json
import types
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import cache
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

from aegir_rl.base.errors import AegirError

Made = TypeVar("Made")
_Decode = Callable[[Any], Any]


def to_json(value: object) -> bytes:
    """Return a value as JSON; dataclasses become objects, classes their names."""
    return json.dumps(value, default=_plain, separators=(",", ":")).encode()


def from_plain(kind: type[Made], value: Any) -> Made:
    """Return the object of this class that `to_json` was given; `value` is what `json.loads` made of it."""
    plain_kind: Any = kind
    decode = _decoder(plain_kind)
    made: Made = value if decode is None else decode(value)
    return made


def error_as_plain(error: AegirError) -> list[str]:
    """Return the class and the sentence of an error."""
    return [type(error).__name__, str(error)]


def error_from_plain(value: Any) -> AegirError:
    """Return the error that `error_as_plain` was given."""
    name, sentence = value
    return _class_named(AegirError, name)(sentence)


@cache
def _names(kind: Any) -> tuple[str, ...]:
    return tuple(each.name for each in fields(kind) if each.init)


def _plain(value: object) -> object:
    if isinstance(value, type):
        return value.__name__
    kind: Any = type(value)
    if hasattr(kind, "from_dict"):
        return kind.as_dict(value)
    return {name: getattr(value, name) for name in _names(kind)}


@cache
def _decoder(kind: Any) -> _Decode | None:
    """Return what turns plain values into objects of a type; None for plain values themselves."""
    origin, arguments = get_origin(kind), get_args(kind)
    if hasattr(kind, "from_dict"):
        own: _Decode = kind.from_dict
        return own
    if is_dataclass(kind) and isinstance(kind, type):
        return _object_decoder(kind)
    if isinstance(kind, type) and issubclass(kind, Enum):
        return kind
    if isinstance(kind, type) and issubclass(kind, tuple) and hasattr(kind, "_fields"):
        parts = [_decoder(each) for each in get_type_hints(kind).values()]
        return lambda value: kind(*_each(parts, value))
    if origin is tuple and len(arguments) == 2 and arguments[1] is Ellipsis:
        part = _decoder(arguments[0])
        return tuple if part is None else lambda value: tuple(map(part, value))
    if origin is tuple:
        parts = [_decoder(each) for each in arguments]
        return lambda value: tuple(_each(parts, value))
    if origin in (Union, types.UnionType):
        for inner in filter(None, map(_decoder, arguments)):
            return lambda value: None if value is None else inner(value)
    if origin is type:
        return lambda value: _class_named(arguments[0], value)
    return None


def _object_decoder(kind: type) -> _Decode:
    hints = get_type_hints(kind)
    parts = {name: part for name in _names(kind) if (part := _decoder(hints[name])) is not None}

    def decode(value: dict[str, Any]) -> Any:
        return kind(
            **value | {name: part(value[name]) for name, part in parts.items() if name in value}
        )

    return decode


def _each(parts: list[_Decode | None], values: Any) -> list[Any]:
    return [
        value if part is None else part(value) for part, value in zip(parts, values, strict=True)
    ]


def _class_named(base: type[Made], name: str) -> type[Made]:
    """Return the class of this name among one and those below it; the class itself if there is none."""
    if base.__name__ == name:
        return base
    below = (_class_named(each, name) for each in base.__subclasses__())
    return next((each for each in below if each.__name__ == name), base)
