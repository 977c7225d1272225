"""Find the table in a grid of cells: the lines above it, its header, its width.

    Annual report, 2024            <- above the table, left out
    # made by hand, in May, by me  <- a comment, left out
    id,name,price                  <- header
    1,Tea,3.50                     <- body
    id,name,price                  <- the header again, left out
    Total,,3.50                    <- totals at the end, left out

Text files and spreadsheets share this. Rows may be ragged. A header of two rows (`Sales` above `2023` and `2024`, or a
name continued in the row below) is joined: `Sales 2023`. Everything left out or joined is in a warning.

Whether the first row is a header is decided by a linear score over features that headers have and data rows
have not, each a share between 0 and 1 of the first row's cells; a positive score means header. `WEIGHTS` were
fitted on 3,094 public tables, each read once with and once without its header, and rounded. Fitted on half of
the sources, they found 97.9 % of the headers of the other half and kept the first row of 97.8 % of the tables
without one. A row of plain words above rows of plain words counts as data.

Limits: the list of header words is mostly English; of other languages it holds the commonest ones.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from aegir.tables.datatype import cell_datatype, infer_datatype, is_typed
from aegir.tables.overrides import NO_HEADER
from aegir_rl.base.errors import UsageError
from aegir_rl.base.text import amount

COMMENTS = ("#", "//", "%")
ABOVE_LIMIT = 50
"""If the table has not begun after this many rows, it begins at the first one."""
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
    vorname nachname geburtsdatum betrag währung bezeichnung apellido apellidos importe cantidad montant quantité
    cognome importo sobrenome preço imię nazwisko miasto kwota ilość şehir tarih fiyat tutar adres
    имя фамилия отчество фио дата телефон адрес город страна цена сумма количество название наименование код
    номер год пол возраст должность отдел статус описание тип регион область
    氏名 名前 姓 名 住所 性別 年齢 電話番号 郵便番号 生年月日 部署 商品名 価格 金額 数量 日付 備考 番号 名称 姓名 性别
    年龄 地址 电话 手机号 身份证号 出生日期 日期 时间 价格 单价 金额 编号 类型 状态 城市 备注
    이름 성명 주소 성별 나이 전화번호 우편번호 주민등록번호 생년월일 부서 날짜 가격 금액 수량 상태 번호 비고
    الاسم الرقم العنوان الهاتف المدينة البلد التاريخ السعر المبلغ الكمية الجنس العمر القسم الراتب
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
LEAST_ROWS = 3
"""Below fewer rows than this, a header is in one row."""
MISSING_WORDS = ("n/a", "na", "nan", "null", "none", "unknown", "-", "--", "?", ".", "x")
_WORD = re.compile(r"[^\W\d_]+")
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_IDENTIFIER = re.compile(r"[A-Za-z_]+(?:[_.][A-Za-z0-9_]+)+|[a-z]+(?:[A-Z][a-z0-9]+)+")
_NUMBERED = re.compile(r"(?:col|column|field|var|attr|v|x|c|unnamed:)[ _]?\d+", re.IGNORECASE)
_YEAR = re.compile(r"(?:1[89]|20)\d\d")
_SENTENCE_LENGTH = 40


@dataclass(frozen=True, slots=True)
class Layout:
    """A header cell per column (None if unnamed), and the row at which the body starts."""

    header: tuple[str | None, ...]
    body_start: int
    width: int
    """Cells in a typical row; one more than in the header if every line ends with a delimiter."""
    warnings: tuple[str, ...]


def find_layout(rows: Sequence[Sequence[str]], header_line: int | None = None) -> Layout:
    """Return the layout of a grid that has at least one row; `header_line` overrules where the names are, 0 if nowhere."""
    width = _common_width(rows)
    if header_line is not None:
        return _layout_with_header(rows, width, header_line)
    above = _rows_above(rows, width)
    joined = find_two_row_header(rows, above, width)
    if joined is not None:
        above, names = joined
    warnings = [f"left out: {amount(above, 'line')} above the table"] if above else []
    if joined is not None:
        warnings.append("the header is in two rows, which were joined")
        return Layout(tuple(names), above + 2, width, tuple(warnings))
    table = rows[above:]
    if not first_row_is_header(table):
        return Layout((None,) * width, above, width, tuple(warnings))
    header = _fit_header(list(table[0]), table[1:], width)
    if len(header) > len(table[0]):
        which = "first" if header[0] is None else "last"
        warnings.append(
            f"the header has {amount(len(table[0]), 'name')} for {amount(len(header), 'column')}; "
            f"the {which} one is left unnamed"
        )
    return Layout(tuple(header), above + 1, max(width, len(header)), tuple(warnings))


def _layout_with_header(rows: Sequence[Sequence[str]], width: int, line: int) -> Layout:
    """The layout if the names are in this row, counted from 1, or nowhere (0)."""
    if line > len(rows):
        raise UsageError(
            f"the header is line {line}, but only {amount(len(rows), 'line')} were read to find it"
        )
    if line == NO_HEADER:
        return Layout((None,) * width, 0, width, ())
    above = [f"left out: {amount(line - 1, 'line')} above the table"] if line > 1 else []
    names = _fit_header(list(rows[line - 1]), rows[line:], width)
    return Layout(tuple(names), line, max(width, len(names)), tuple(above))


def _common_width(rows: Sequence[Sequence[str]]) -> int:
    """The most common number of cells per row; the larger one of two equally common numbers."""
    counts = Counter(map(len, rows))
    return max(counts, key=lambda width: (counts[width], width))


def _rows_above(rows: Sequence[Sequence[str]], width: int) -> int:
    """The number of titles and comments above the table: rows with far fewer cells than its own."""
    start = _comment_rows(rows, width)
    if width == 1:
        return start
    filled = [sum(bool(cell.strip()) for cell in row) for row in rows[: 2 * ABOVE_LIMIT]]
    ordered = sorted(filled)
    typical = (ordered[(len(ordered) - 1) // 2] + ordered[len(ordered) // 2]) / 2
    for index, row in enumerate(rows[start:ABOVE_LIMIT], start):
        if len(row) < width:
            above = len(row) < width - 1 or filled[index] <= 1
        else:
            above = width > 2 and filled[index] <= min(width, typical) / 3
        if not above:
            return index
    return start


def _comment_rows(rows: Sequence[Sequence[str]], width: int) -> int:
    """The number of comments at the beginning; a header that begins as they do (#chrom) is none of them."""
    marked = [row[0].lstrip().startswith(COMMENTS) for row in rows[:ABOVE_LIMIT]]
    count = marked.index(False) if False in marked else 0
    if not count or width == 1:
        return count
    is_comment = len(rows[count - 1]) != width or first_row_is_header(rows[count:])
    return count if is_comment else count - 1


def _fit_header(
    header: list[str | None], body: Sequence[Sequence[str]], width: int
) -> list[str | None]:
    """Return one name per column. If one is missing, the first column is unnamed, as in files from R.

    The first column of R holds row names, which never repeat; if they do, the last column is unnamed.
    """
    missing = width - len(header)
    if missing == 1 and any(len(row) == width and row[-1].strip() for row in body):
        first = [row[0] for row in body if len(row) == width]
        header.insert(0 if len(set(first)) == len(first) else width, None)
    elif missing > 0:
        header += [None] * missing
    while len(header) > 1 and not (header[-1] or "").strip():
        if any(len(row) >= len(header) and row[len(header) - 1].strip() for row in body):
            break
        header.pop()  # a delimiter at the end of every line
    return header


def first_row_is_header(rows: Sequence[Sequence[str]]) -> bool:
    """Whether the first row holds the names of the columns."""
    features = header_features(rows)
    return sum(WEIGHTS[name] * value for name, value in features.items()) > 0


def header_features(rows: Sequence[Sequence[str]]) -> dict[str, float]:
    """The features of the first row, on its own and compared with the rows below it."""
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
    # Years are frequent as headers, so they do not count as typed cells.
    kinds = [cell_datatype(cell) for cell in named if not _YEAR.fullmatch(cell)]
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
        present = [text for value in values if (text := value.strip())]
        if not cell or not present:
            continue
        kind = infer_datatype(present)
        if is_typed(kind):
            fits = kind in (infer_datatype([cell]), infer_datatype([*present[:1], cell]))
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


def find_two_row_header(
    rows: Sequence[Sequence[str]], above: int, width: int
) -> tuple[int, list[str | None]] | None:
    """Return where a header of two rows begins and its joined names; None for other headers."""
    for start in (above - 1, above):
        if start < 0 or start + 1 + LEAST_ROWS >= len(rows) or width < 2:
            continue
        upper, lower = (_padded(row, width) for row in rows[start : start + 2])
        if len(rows[start]) > width or len(rows[start + 1]) > width or not _may_be_names(lower):
            continue
        if sum(map(bool, upper)) < 2 or not _may_be_names(upper):
            continue
        body = rows[start + 2 :]
        groups = _spread(upper, lower)
        names = [" ".join(filter(None, pair)) for pair in zip(groups, lower, strict=True)]
        # A row of years alone would fit the numbers below it.
        lowest = [
            name if _YEAR.fullmatch(below) else below or name
            for name, below in zip(names, lower, strict=True)
        ]
        if not all(names) or not first_row_is_header([lowest, *body]):
            continue
        spans = any(top and not own for top, own in zip(groups, upper, strict=True))
        if spans or (start == above and all(upper) and _continues(upper, lower, body)):
            return start, [name or None for name in names]
    return None


def _padded(row: Sequence[str], width: int) -> list[str]:
    return [cell.strip() for cell in row] + [""] * (width - len(row))


def _may_be_names(row: Sequence[str]) -> bool:
    """Whether every cell has a letter or is a year, and none is a number, a date or a word for a missing value."""
    cells = [cell for cell in row if cell and not _YEAR.fullmatch(cell)]
    return all(
        _WORD.search(cell)
        and cell.lower() not in MISSING_WORDS
        and not is_typed(cell_datatype(cell))
        for cell in cells
    )


def _spread(upper: Sequence[str], lower: Sequence[str]) -> list[str]:
    """The names of groups, each over the columns up to the next one that have a name of their own below."""
    spread: list[str] = []
    for top, below in zip(upper, lower, strict=True):
        inherits = not top and below and spread
        spread.append(spread[-1] if inherits else top)
    return spread


def _continues(upper: Sequence[str], lower: Sequence[str], body: Sequence[Sequence[str]]) -> bool:
    """Whether a second full row of words stands above columns of which most are numbers or dates."""
    columns = [
        [row[index].strip() for row in body[:BODY_ROWS] if index < len(row) and row[index].strip()]
        for index in range(len(lower))
    ]
    typed = [bool(values) and is_typed(infer_datatype(values)) for values in columns]
    seen = any(cell in values for cell, values in zip(lower, columns, strict=True))
    filled = sum(map(bool, lower)) >= len(lower) - 1
    return filled and not seen and sum(typed) * 2 >= len(typed) and upper != lower
