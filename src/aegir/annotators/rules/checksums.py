"""Check digits and published number formats, by way of python-stdnum, imported when first needed.

    is_isbn = checked_by("isbn")        # nothing is imported until a value reaches it

Callers test the plain shape with a regular expression first; only plausible ASCII text gets here.
"""

from collections.abc import Callable
from functools import cache
from importlib import import_module


@cache
def _validator(module: str) -> Callable[[str], bool]:
    validator: Callable[[str], bool] = import_module(f"stdnum.{module}").is_valid
    return validator


def checked_by(module: str) -> Callable[[str], bool]:
    """The validator of `stdnum.<module>`; False for anything it cannot take apart."""

    def is_valid(value: str) -> bool:
        try:
            return bool(_validator(module)(value))
        except (ValueError, LookupError):  # stdnum indexes into text it has not measured
            return False

    return is_valid


def shaped_and_checked(shape: Callable[[str], object], module: str) -> Callable[[str], bool]:
    """Values of the given shape whose check digits agree."""
    check = checked_by(module)
    return lambda value: bool(shape(value)) and check(value)


def luhn(digits: str) -> bool:
    """The check used by payment cards, IMEI and SIM numbers."""
    total = 0
    for position, digit in enumerate(reversed(digits)):
        number = int(digit) * (1 + position % 2)
        total += number - 9 if number > 9 else number
    return total % 10 == 0
