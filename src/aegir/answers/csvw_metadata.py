"""Annotations as CSVW metadata: a table group with dialect, datatypes and properties of columns.

Promises
  - a datatype is stated only where every value parses, for delimited text every value of the file (tables/whole_file.py), and
    where CSVW has a format for it; else it is `string`;
  - the dialect says what a reader must know: encoding, delimiter, quotes, rows above the header.

Specifications: https://www.w3.org/TR/tabular-metadata/, https://www.w3.org/TR/tabular-data-model/ (formats).
"""

from collections.abc import Sequence
from urllib.parse import quote

from aegir.answers.annotation import ColumnAnnotation, TableAnnotation
from aegir.answers.data_package import Document, stated_notations
from aegir.answers.metadata_formats import (
    CSVW_CONTEXT,
    describe,
    describe_rows,
    known_facts,
    relative_path,
    unique_names,
)
from aegir.tables.table import Notation, TextFormat

SCHEMA_NAME = "https://schema.org/name"
CSVW_TYPES = {"datetime": "dateTime", "empty": "string"}
ENCODINGS = {
    "utf-8-sig": "utf-8",
    "utf-16": "utf-16",
    "latin-1": "iso-8859-1",
    "cp932": "shift_jis",
    "euc_jp": "euc-jp",
    "cp949": "euc-kr",
    "koi8_r": "koi8-r",
    "cp866": "ibm866",
    **{f"cp125{number}": f"windows-125{number}" for number in range(9)},
    "iso8859_5": "iso-8859-5",
}
"""The names of the Encoding standard, by those of Python where they differ."""
ZONE = 3 * "X"
"""The pattern of +05:30 or Z (Unicode Technical Standard 35)."""
DIRECTIVES = {"%Y": "yyyy", "%m": "MM", "%d": "dd", "%H": "HH", "%M": "mm", "%S": "ss"}
DATE_FORMATS = ("%Y-%m-%d", "%d-%m-%Y", "%m-%d-%Y", "%d/%m/%Y", "%m/%d/%Y", "%d.%m.%Y")
TIME_FORMATS = ("%H:%M", "%H:%M:%S", "%H:%M:%S.%f")


def csvw_document(annotations: Sequence[TableAnnotation]) -> Document:
    """A CSVW table group with one table description per table."""
    return {"@context": CSVW_CONTEXT, "tables": [_csvw_table(each) for each in annotations]}


def _csvw_table(annotation: TableAnnotation) -> Document:
    names = unique_names([column.name for column in annotation.columns])
    checked = stated_notations(annotation)
    columns: list[Document] = []
    schema: Document = {"columns": columns}
    for name, column in zip(names, annotation.columns, strict=True):
        known = column.index < len(checked.notations)
        notation = checked.notations[column.index] if known else None
        is_subject = column.index == annotation.subject
        columns.append(_csvw_column(name, column, notation, is_subject=is_subject))
        if is_subject:
            schema["aboutUrl"] = f"#{{{_template_variable(name)}}}"
    source, rows = annotation.source or annotation.table, describe_rows(annotation)
    table: Document = {
        "url": quote(_file_name_bytes(relative_path(source)), safe="/:?&=%#"),
        "dc:title": annotation.table,
        **({"dc:description": rows} if rows else {}),
        "tableSchema": schema,
    }
    if annotation.text is not None:
        table["dialect"] = _dialect(annotation.text, checked.encoding)
    elif annotation.columns and all(column.name is None for column in annotation.columns):
        table["dialect"] = {"header": False}
    return table


def _dialect(text: TextFormat, encoding: str | None) -> Document:
    dialect: Document = {
        "delimiter": text.delimiter,
        "quoteChar": text.quote,
        "doubleQuote": text.escape is None,
        "header": text.header_rows > 0,
        "headerRowCount": text.header_rows,
        "skipBlankRows": True,
        "commentPrefix": None,  # by default a row that begins with # is none
    }
    if encoding is not None:
        dialect["encoding"] = ENCODINGS.get(encoding, encoding)
    if text.rows_above:
        dialect["skipRows"] = text.rows_above
    return dialect


def _file_name_bytes(path: str) -> bytes:
    """The path as the file system holds it."""
    try:
        return path.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:  # other surrogates: no file is called so
        return path.encode("utf-8", "replace")


def _csvw_column(
    name: str, column: ColumnAnnotation, notation: Notation | None, *, is_subject: bool
) -> Document:
    described: Document = {
        "name": _template_variable(name),
        "datatype": CSVW_TYPES.get(column.datatype, column.datatype),
    }
    if notation is not None:
        described["datatype"] = _datatype(notation)
        if notation.missing:
            described["null"] = ["", *notation.missing]
    if column.name:
        described["titles"] = column.name
    if column.relation_iri:
        described["propertyUrl"] = column.relation_iri
    elif is_subject and column.iri == SCHEMA_NAME:
        described["propertyUrl"] = SCHEMA_NAME
    described["dc:description"] = describe(column)
    if column.iri:
        described["dc:type"] = {"@id": column.iri}
    facts = {**known_facts(column), "personal": column.personal}
    described["schema:additionalProperty"] = [
        {"@type": "schema:PropertyValue", "schema:name": name, "schema:value": value}
        for name, value in facts.items()
    ]
    return described


def _datatype(notation: Notation) -> object:
    """The datatype that describes a notation, with its format where the default is another; string where there is none."""
    kind = notation.datatype
    if notation.padded or kind in ("string", "empty"):
        return "string"
    if kind in ("integer", "number"):
        return _numeric_datatype(notation)
    if kind == "boolean":
        if len(notation.true) != 1 or len(notation.false) != 1:
            return "string"
        words = f"{notation.true[0]}|{notation.false[0]}"
        return "boolean" if words == "true|false" else {"base": "boolean", "format": words}
    pattern = _date_pattern(notation)
    base = CSVW_TYPES.get(kind, kind)
    return {"base": base, "format": pattern} if pattern else "string"


def _numeric_datatype(notation: Notation) -> object:
    if notation.exponent:
        return "double" if (notation.decimal, notation.group) == (".", "") else "string"
    base = "integer" if notation.datatype == "integer" else "decimal"
    format_ = {}
    if notation.decimal != ".":
        format_["decimalChar"] = notation.decimal
    if notation.group:
        format_["groupChar"] = notation.group
    return {"base": base, "format": format_} if format_ else base


def _date_pattern(notation: Notation) -> str | None:
    """The CSVW pattern of a format; None where CSVW has none."""
    format_, zone = notation.format or "", ""
    if format_.endswith("%z"):
        format_, zone = format_.removesuffix("%z").rstrip(), ZONE
        if notation.format != format_ + "%z":
            return None
    date, between, time = format_, "", ""
    if notation.datatype == "datetime":
        between = "T" if "T%" in format_ else " "
        date, _, time = format_.partition(between)
    elif notation.datatype == "time":
        date, time = "", format_
    if (date and date not in DATE_FORMATS) or (time and time not in TIME_FORMATS):
        return None
    if not notation.two_digits and (time or date == DATE_FORMATS[0]):
        return None
    pattern = date + between + time
    for directive, letters in DIRECTIVES.items():
        pattern = pattern.replace(directive, letters)
    pattern = pattern.replace("%f", "SSSSSS") + zone
    return pattern if notation.two_digits else pattern.replace("dd", "d").replace("MM", "M")


def _template_variable(name: str) -> str:
    """A CSVW column name: URI template variables know letters, digits, `_` and percent escapes only."""
    escaped = "".join(
        char if char.isascii() and char.isalnum() else _percent(char) for char in name
    )
    # CSVW keeps names that begin with an underscore for itself.
    return "%5F" + escaped[1:] if escaped.startswith("_") else escaped


def _percent(char: str) -> str:
    if char == "_":
        return char
    return "".join(f"%{byte:02X}" for byte in char.encode("utf-8", "replace"))
