"""Regular expressions that are compiled when first used.

The rules hold some 150 patterns and most columns meet a handful of them; compiling all of them at import
would cost every start of the program 30 ms. A `Shape` has the two methods the rules use.
"""

import re


class Shape:
    """A regular expression, compiled on its first use."""

    __slots__ = ("_compiled", "_flags", "_pattern")

    def __init__(self, pattern: str, flags: int = 0) -> None:
        self._pattern = pattern
        self._flags = flags
        self._compiled: re.Pattern[str] | None = None

    def fullmatch(self, value: str) -> re.Match[str] | None:
        """The match if the whole value has this shape."""
        if self._compiled is None:
            self._compiled = re.compile(self._pattern, self._flags)
        return self._compiled.fullmatch(value)

    def search(self, value: str) -> re.Match[str] | None:
        """The first place in the value that has this shape."""
        if self._compiled is None:
            self._compiled = re.compile(self._pattern, self._flags)
        return self._compiled.search(value)
