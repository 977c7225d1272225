"""Read a delimited text into rows: objects by the names of the header, in small letters."""

from typing import Any


def split_line(line: str, delimiter: str) -> list[str]:
    """The fields of a line; a field may stand in double quotes, in which a doubled quote is one."""
    fields, field, quoted, place = [], "", False, 0
    while place < len(line):
        sign = line[place]
        if quoted and line[place : place + 2] == '""':
            field += '"'
            place += 1
        elif sign == '"':
            quoted = not quoted
        elif sign == delimiter and not quoted:
            fields.append(field)
            field = ""
        else:
            field += sign
        place += 1
    return [*fields, field]


def read_rows(text: str, settings: dict[str, Any]) -> list[dict[str, Any]]:
    """Blank lines and those that begin with the comment sign are left out; absent fields are empty, further ones dropped."""
    lines = [
        line
        for line in text.split("\n")
        if line.strip() and not line.startswith(settings["comment"])
    ]
    if not lines:
        return []
    names = [name.strip().lower() for name in split_line(lines[0], settings["delimiter"])]
    rows = []
    for line in lines[1:]:
        fields = [field.strip() for field in split_line(line, settings["delimiter"])]
        fields += [""] * (len(names) - len(fields))
        rows.append(dict(zip(names, fields, strict=False)))
    return rows
