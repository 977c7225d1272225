"""Source of a solution module, put together from functions of this package and fitted values.

    module_source("clean(value)", "strip_prefix(value, prefix='x-')", strip_prefix)

    from __future__ import annotations
    import re
    def strip_prefix(value: str, prefix: str) -> str: ...
    def clean(value):
        return strip_prefix(value, prefix='x-')

So a function that runs here, on made-up data, is the same text that later runs in the sandbox. The modules and functions that
it uses come along; it must use nothing else but its arguments.
"""

import dis
import inspect
from collections.abc import Callable, Iterator
from functools import cache
from types import CodeType, FunctionType, ModuleType
from typing import Any


def module_source(signature: str, expression: str, *functions: Callable[..., Any]) -> str:
    """A module with these functions and what they use, and one with this signature that returns the expression."""
    used = dict.fromkeys(each for function in functions for each in used_by(function))
    imports = sorted(each.__name__ for each in used if isinstance(each, ModuleType))
    head = "from __future__ import annotations\n\n" + "".join(
        f"import {name}\n" for name in imports
    )
    parts = [function_source(each) for each in used if isinstance(each, FunctionType)]
    return "\n\n\n".join([head.rstrip(), *parts, f"def {signature}:\n    return {expression}\n"])


def call_source(function: Callable[..., Any], *parameters: Any, first: str = "value") -> str:
    """The text of a call with one argument by name and these fitted values."""
    return f"{function.__name__}({', '.join([first, *map(repr, parameters)])})"


@cache
def used_by(function: Callable[..., Any]) -> tuple[Any, ...]:
    """The modules and functions that a function uses, those they use first, and at last the function itself."""
    found: dict[Any, None] = {}
    for name in _global_names(function.__code__):
        value = function.__globals__.get(name)
        if isinstance(value, ModuleType):
            found[value] = None
        elif isinstance(value, FunctionType) and value is not function:
            found |= dict.fromkeys(used_by(value))
    return *found, function


def _global_names(code: CodeType) -> Iterator[str]:
    yield from (each.argval for each in dis.get_instructions(code) if each.opname == "LOAD_GLOBAL")
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _global_names(constant)


@cache
def function_source(function: Callable[..., Any]) -> str:
    """The text of a function, as its module has it."""
    return inspect.getsource(function).strip()
