"""Regular expressions that every value of a fine type matches, for formats that let other programs check values.

They say less than the rules that found the type (check digits, ranges), and nothing that a right value could break.
"""

import re
from functools import cache
from pathlib import Path

from aegir_rl.base.text import read_tsv


@cache
def value_patterns() -> dict[str, re.Pattern[str]]:
    """The expressions by fine type."""
    rows = read_tsv(Path(__file__).with_name("value_patterns.tsv"), "fine_type pattern")
    return {name: re.compile(pattern) for _, (name, pattern) in rows}
