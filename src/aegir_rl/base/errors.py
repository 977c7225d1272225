"""What can go wrong, told to a person: where, what came, what was expected, what to try.

Every error that a user can cause is an `AegirError` whose text is one sentence. The command line prints
that sentence and leaves with `exit_code`; nothing below it catches these errors to hide them.

Names and values in a sentence may come from anywhere: it is cut to `LONGEST_SENTENCE`, and control characters are
written as escapes, so that it can be printed, logged and sent as it is.
"""

from aegir_rl.base.text import escape_controls

LONGEST_SENTENCE = 4000


class AegirError(Exception):
    """Something failed at work; the text is a sentence for the user."""

    exit_code = 1

    def __init__(self, sentence: str = "") -> None:
        super().__init__(_printable(sentence))


class UsageError(AegirError, ValueError):
    """A flag, a name, a configuration, a file or an argument that cannot be used; also a ValueError.

    An `except ValueError` around code that may raise this one needs `except UsageError: raise` before it.
    """

    exit_code = 2


class UnreadableTable(UsageError):
    """A file or object that holds no table Aegir can read; the sentence names it."""


class CheckFailed(AegirError):
    """The work was done and the answer is no: a score below `--at-least`, a check that fails."""

    exit_code = 3


def reason_of(error: BaseException) -> str:
    """Why an operation failed, for the brackets of a sentence that names the file itself.

    The text of an OSError names the file again, behind a number; that of a RecursionError is about Python.
    """
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    if isinstance(error, RecursionError):
        return "it is nested too deep"
    return str(error).strip().rstrip(".") or type(error).__name__


def _printable(sentence: str) -> str:
    """The beginning and the end of a sentence, on one line, without characters that a terminal would interpret."""
    return _cut(escape_controls(_cut(sentence)))


def _cut(text: str) -> str:
    half = LONGEST_SENTENCE // 2 - 2
    return text if len(text) <= LONGEST_SENTENCE else f"{text[:half]} … {text[-half:]}"


def require(holds: bool, name: str, value: object, expected: str) -> None:
    """Raise a `UsageError` unless what is expected of this value holds."""
    if not holds:
        shown = repr(value) if isinstance(value, str) else value
        raise UsageError(f"{name} is {shown}; expected {expected}")
