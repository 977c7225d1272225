"""Source of a solution module, put together from functions of this package and fitted values.

    module_source("clean(value)", "strip_prefix(value, prefix='x-')", strip_prefix)

    from __future__ import annotations
    def strip_prefix(value: str, prefix: str) -> str: ...
    def clean(value):
        return strip_prefix(value, prefix='x-')

So a function that runs here, on made-up data, is the same text that later runs in the sandbox. A function must use nothing
but its arguments, modules named in `imports`, and other functions that are given.
"""

import inspect
from collections.abc import Callable
from functools import cache
from typing import Any


def module_source(
    signature: str, expression: str, *functions: Callable[..., Any], imports: str = ""
) -> str:
    """A module that defines these functions, and one with this signature that returns the expression."""
    head = "from __future__ import annotations\n\n"
    head += "".join(f"import {name}\n" for name in imports.split())
    parts = [head.rstrip(), *(function_source(function) for function in functions)]
    return "\n\n\n".join([*parts, f"def {signature}:\n    return {expression}\n"])


def call_source(function: Callable[..., Any], *parameters: Any, first: str = "value") -> str:
    """The text of a call with one argument by name and these fitted values."""
    return f"{function.__name__}({', '.join([first, *map(repr, parameters)])})"


@cache
def function_source(function: Callable[..., Any]) -> str:
    """The text of a function, as its module has it."""
    return inspect.getsource(function).strip()
