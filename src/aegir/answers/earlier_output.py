"""Whether a file is an answer that Aegir wrote before, so that it may be written over.

    is_earlier_output(Path("lake/annotations.csv"), "csv")

A run over a folder may keep its answer in that same folder; the next run replaces it. A table of the
user's must never be taken for one, so a file counts only when it begins exactly as that format begins.

Promises
  - what a writer in writers.py makes of any annotations is recognised under its own format;
  - an empty file, and an empty list of answers, count: there is nothing in them to lose;
  - anything else, and what cannot be read, does not count.
"""

import re
from pathlib import Path

from aegir.answers.metadata_formats import CSVW_CONTEXT
from aegir.answers.writers import CSV_HEADER

LOOKED_AT = 64 << 10
_TEXT = r'"(?:[^"\\]|\\.)*"'
_ANSWER = (
    rf'\{{\s*"table": {_TEXT},\s*"source": (?:null|{_TEXT}),\s*'
    r'"subject": (?:null|\d+),\s*"annotator": "'
)
BEGINNINGS = {
    "text": r".*\n\n  column +type +sure +relation +personal|[^\n]*   0 columns\n",
    "json": rf"\[(?:\]\n|\s*{_ANSWER})",
    "jsonl": _ANSWER,
    "csv": re.escape(",".join(CSV_HEADER)) + "\n",
    "frictionless": r'\{\s*"name": "annotated-tables",\s*"resources": \[',
    "csvw": (
        rf'\{{\s*"@context": "{re.escape(CSVW_CONTEXT)}",\s*"tables": \['
        rf'(?:\]|\s*\{{\s*"url": {_TEXT},\s*"dc:title": )'
    ),
    "dbt": rf'version: 2\nmodels:(?: \[\]\n|\n  - name: {_TEXT}\n    description: "Read from )',
}


def is_earlier_output(path: Path, format_name: str) -> bool:
    """Whether this file begins as our answers in this format do, or is empty."""
    try:
        with path.open("rb") as file:
            beginning = file.read(LOOKED_AT).decode("utf-8", "replace")
    except OSError:
        return False
    return not beginning or re.match(BEGINNINGS[format_name], beginning) is not None
