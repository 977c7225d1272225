"""Recognise files that `aegir annotate --out` wrote before: only those are overwritten, and in folders they are no tables.

Promises
  - `is_earlier_output` recognises what a format makes of any annotations, and an empty file;
  - `answer_format` recognises the same without an empty file, whatever the format;
  - a table of the user's, which must not be overwritten, is not mistaken for an answer.
"""

import re
from pathlib import Path

from aegir.answers.catalogues import GLOSSARY, GLOSSARY_MEANING
from aegir.answers.html_page import BEGINNING
from aegir.answers.load_duckdb import DuckDb
from aegir.answers.load_postgres import Postgres
from aegir.answers.markdown_summary import HEADING
from aegir.answers.metadata_formats import CSVW_CONTEXT
from aegir.answers.sarif import SCHEMA
from aegir.answers.sql_comments import FIRST_LINE

LONGEST_BEGINNING = 64 << 10
_TEXT = r'"(?:[^"\\]|\\.)*"'
_ANSWER = (
    rf'\{{\s*(?:"form": \d+,\s*)?"table": {_TEXT},\s*"source": (?:null|{_TEXT}),\s*'
    r'"subject": (?:null|\d+),\s*(?:"subject_repeats": true,\s*)?'
    rf'(?:"row": \{{\s*"class": (?:null|{_TEXT}),\s*"noun": (?:null|{_TEXT}),[^}}]*\}},\s*)?"annotator": "'
)
BEGINNINGS = {  # of this form and of form 1, so that nobody has to remove old answers by hand
    "text": r".*\n(?:  \d[^\n]*\n)?\n  column +(?:label|type) +sure +relation +personal|[^\n]*   0 columns\n",
    "json": rf"\[(?:\]\n|\s*{_ANSWER})",
    "jsonl": _ANSWER,
    "csv": r"table,source,index,name,subject,(?:label,confidence,kind|type,confidence,fine_type),",
    "frictionless": r'\{\s*"name": "annotated-tables",\s*"resources": \[',
    "csvw": (
        rf'\{{\s*"@context": "{re.escape(CSVW_CONTEXT)}",\s*"tables": \['
        rf'(?:\]|\s*\{{\s*"url": {_TEXT},\s*"dc:title": )'
    ),
    "html": re.escape(BEGINNING),
    "openmetadata": (
        rf'\{{\s*"glossary": \{{\s*"name": "{GLOSSARY}",\s*"displayName": "{GLOSSARY}",\s*'
        rf'"description": "{re.escape(GLOSSARY_MEANING)}"'
    ),
    "datahub": (
        r'\[(?:\]\n|\s*\{\s*"entityType": "(?:tag|glossaryTerm|dataset)",\s*"entityUrn": "urn:li:'
        rf"(?:tag:personal|glossaryTerm:{GLOSSARY}\.|dataset:\())"
    ),
    "sql": re.escape(FIRST_LINE),
    "load": re.escape(DuckDb.first_line),
    "load_postgres": re.escape(Postgres.first_line.partition("\n")[0]),
    "sarif": rf'\{{\s*"\$schema": "{re.escape(SCHEMA)}",\s*"version": "2.1.0",\s*"runs": \[\s*\{{\s*"tool": \{{\s*"driver": \{{\s*"name": "aegir"',
    "markdown": re.escape(HEADING),
    "great_expectations": (rf'\[(?:\]\n|\s*\{{\s*"name": {_TEXT},\s*"expectations": \[)'),
    "dbt": rf'version: 2\nmodels:(?: \[\]\n|\n  - name: {_TEXT}\n    description: "Read from )',
}


def is_earlier_output(path: Path, format_name: str) -> bool:
    """Whether this file is empty or begins exactly as answers in this format begin."""
    try:
        with path.open("rb") as file:
            beginning = file.read(LONGEST_BEGINNING).decode("utf-8", "replace")
    except OSError:
        return False
    return not beginning or re.match(BEGINNINGS[format_name], beginning) is not None


def answer_format(path: Path) -> str | None:
    """Return the format of the answers that a file holds; None for anything else."""
    try:
        if not path.is_file() or not path.stat().st_size:
            return None
    except OSError:
        return None
    return next((name for name in BEGINNINGS if is_earlier_output(path, name)), None)
