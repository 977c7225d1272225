"""What can be counted in a text without a model: features of prompts for `aegir rl import --text`.

    measure_text("What is 3 + 4?")["digits"]        share of characters that are digits: 2 / 14

Shares are of characters, or of words; lengths are logarithms of 1 + count, because prompts differ by orders of magnitude.
"""

import math
import re
from collections.abc import Callable, Mapping

WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
SENTENCE_END = re.compile(r"[.!?](?:\s|$)")
OPTION = re.compile(r"(?m)^\s*\(?[A-Ea-e][.):]")
ASKING = frozenset(["what", "which", "who", "whom", "whose", "when", "where", "why", "how"])
NEGATING = frozenset(
    ["not", "no", "never", "none", "except", "neither", "nor", "false", "incorrect", "least"]
)
JOINING = frozenset(
    ["if", "then", "because", "therefore", "however", "although", "unless", "while", "and", "or"]
)
POINTING = frozenset(["i", "you", "he", "she", "we", "they", "his", "her", "my", "your", "their"])


def measure_text(text: str) -> Mapping[str, float]:
    """Every measurement by name."""
    words = [word.lower() for word in WORD.findall(text)]
    return {name: measure(text, words) for name, measure in MEASUREMENTS.items()}


def _share(text: str, count: int) -> float:
    return count / max(len(text), 1)


def _share_of(names: frozenset[str]) -> Callable[[str, list[str]], float]:
    return lambda _, words: sum(word in names for word in words) / max(len(words), 1)


def _counted(characters: str) -> Callable[[str, list[str]], float]:
    return lambda text, _: math.log1p(sum(text.count(each) for each in characters))


MEASUREMENTS: Mapping[str, Callable[[str, list[str]], float]] = {
    "characters": lambda text, _: math.log1p(len(text)),
    "words": lambda _, words: math.log1p(len(words)),
    "lines": lambda text, _: math.log1p(text.count("\n")),
    "sentences": lambda text, _: math.log1p(len(SENTENCE_END.findall(text))),
    "numbers": lambda text, _: math.log1p(len(NUMBER.findall(text))),
    "options": lambda text, _: math.log1p(len(OPTION.findall(text))),
    "word_length": lambda _, words: sum(map(len, words)) / max(len(words), 1),
    "longest_word": lambda _, words: float(max(map(len, words), default=0)),
    "distinct_words": lambda _, words: len(set(words)) / max(len(words), 1),
    "digits": lambda text, _: _share(text, sum(char.isdigit() for char in text)),
    "capitals": lambda text, _: _share(text, sum(char.isupper() for char in text)),
    "spaces": lambda text, _: _share(text, sum(char.isspace() for char in text)),
    "punctuation": lambda text, _: _share(text, sum(char in ".,;:!?\"'()-" for char in text)),
    "not_ascii": lambda text, _: _share(text, sum(ord(char) > 127 for char in text)),
    "question_marks": _counted("?"),
    "commas": _counted(","),
    "quotes": _counted('"“”‘’'),
    "brackets": _counted("()[]{}"),
    "operators": _counted("+=*/^<>"),
    "backslashes": _counted("\\$"),
    "money_and_percent": _counted("$€£%"),
    "blanks": lambda text, _: math.log1p(text.count("__")),
    "asking": _share_of(ASKING),
    "negating": _share_of(NEGATING),
    "joining": _share_of(JOINING),
    "pointing": _share_of(POINTING),
}
"""Name to a function of the text and its words."""
