"""What rules test a value with: patterns and check digits, both loaded on first use.

    is_issn = checked_by("issn")        # python-stdnum is not imported until a value reaches it

Most columns meet few of the rules; compiling every pattern at import would cost each start of the program 30 ms.
Callers of python-stdnum test a pattern first, so that only plausible ASCII text gets there.
"""

import re
from collections.abc import Callable
from functools import cache
from importlib import import_module


class Pattern:
    """A regular expression that is compiled on its first use."""

    __slots__ = ("_compiled", "_flags", "_source")

    def __init__(self, source: str, flags: int = 0) -> None:
        self._source = source
        self._flags = flags
        self._compiled: re.Pattern[str] | None = None

    def fullmatch(self, value: str) -> re.Match[str] | None:
        """Return the match if the whole value has this pattern."""
        if self._compiled is None:
            self._compiled = re.compile(self._source, self._flags)
        return self._compiled.fullmatch(value)

    def search(self, value: str) -> re.Match[str] | None:
        """Return the first match anywhere in the value."""
        if self._compiled is None:
            self._compiled = re.compile(self._source, self._flags)
        return self._compiled.search(value)


def checked_by(module: str) -> Callable[[str], bool]:
    """Return the validator of `stdnum.<module>`; it is False for anything it cannot parse."""

    def is_valid(value: str) -> bool:
        try:
            return bool(_validator(module)(value))
        except (ValueError, LookupError):  # stdnum indexes into text without checking its length
            return False

    return is_valid


def matched_and_checked(pattern: Pattern, module: str) -> Callable[[str], bool]:
    """Return a test for values that match the pattern and have the check digits of `stdnum.<module>`."""
    check = checked_by(module)
    return lambda value: bool(pattern.fullmatch(value)) and check(value)


def has_luhn_digit(digits: str) -> bool:
    """Return whether the last digit is the check digit of payment cards, IMEI and SIM numbers."""
    total = 0
    for position, digit in enumerate(reversed(digits)):
        number = int(digit) * (1 + position % 2)
        total += number - 9 if number > 9 else number
    return total % 10 == 0


@cache
def _validator(module: str) -> Callable[[str], bool]:
    validator: Callable[[str], bool] = import_module(f"stdnum.{module}").is_valid
    return validator
