"""Invented tables of any size from a seed: six kinds, 52 column types, no real data.

    a kind of table  ->  [("author", "Person/name"), …]  ->  labelled tables or CSV text

Words come from the tables in examples/; numbers, dates and codes are drawn. Cells are about as long as those
of SOTAB (mean 26 characters to its 29, median 13 to 14), so that speed carries over. Accuracy does not:
these columns are far easier to tell apart than real ones, and no accuracy is quoted on them.

Promise: the same seed gives the same bytes.
"""

import csv
import io
import random
from collections.abc import Callable, Sequence
from functools import cache

from aegir.tables.labelled import ColumnLabels, LabelledTable
from aegir.tables.table import Column, Table
from benchmarks.recording import ROOT

EXAMPLES = ROOT / "examples"
ROWS_IN_LABELLED_TABLE = 5
WIDTHS = (10, 22, 22, 19, 9, 5, 4, 3, 2, 2, 2)
"""How often a labelled table has 1, 2, 3 … columns, per cent: much like SOTAB, wide tables included."""
Draw = Callable[[random.Random], str]
Field = tuple[str, str]
"""A header and the type of the column below it."""

KINDS: tuple[tuple[Field, ...], ...] = tuple(
    tuple((field.split(":")[0], field.split(":")[1]) for field in kind.split())
    for kind in (
        "title:Book/name author:Person/name blurb:Book/description isbn:IdentifierAT pages:Number "
        "format:BookFormatType publisher:Organization published:Date language:Language price:price "
        "currency:currency",
        "name:Person/name email:email phone:telephone gender:GenderType street:streetAddress "
        "city:addressLocality postcode:postalCode country:Country newsletter:Boolean "
        "joined:DateTime birth_date:Date",
        "hotel:Hotel/name description:Hotel/description street:streetAddress town:addressLocality "
        "latitude:CoordinateAT longitude:CoordinateAT telephone:telephone fax:faxNumber "
        "check_in:Time price_range:priceRange payment:paymentAccepted rating:Rating",
        "recipe:Recipe/name summary:Recipe/description prep_time:Duration cook_time:Duration "
        "calories:Energy fat:Mass diet:RestrictedDiet ingredients:ItemList published:Date "
        "author:Person/name review:Review",
        "name:Product/name description:Product/description brand:Brand price:price "
        "currency:currency gtin:IdentifierAT availability:ItemAvailability "
        "condition:OfferItemCondition weight:weight unit:unitCode url:URL category:category",
        "event:Event/name about:Event/description starts:DateTime status:EventStatusType "
        "attendance:EventAttendanceModeEnumeration venue:Place/name city:addressLocality "
        "country:Country url:URL organiser:Organization fee:MonetaryAmount day:DayOfWeek",
    )
)


def labelled_tables(count: int, seed: random.Random) -> list[LabelledTable]:
    """Five-row tables of one to eleven columns without headers, as in the SOTAB benchmark."""
    return [_labelled_table(f"synthetic-{number}", seed) for number in range(count)]


def csv_text(columns: int, rows: int, seed: random.Random) -> str:
    """A CSV file with a header; the first column is the subject."""
    fields = seed.choice(KINDS)[:columns]
    assert len(fields) == columns, "no kind of table has that many columns"
    lines = csv_rows(fields, rows, seed)
    return _as_csv([[name for name, _ in fields]]) + lines


def csv_rows(fields: Sequence[Field], rows: int, seed: random.Random) -> str:
    """Rows of a CSV file, without the header."""
    draws = [DRAWS[label] for _, label in fields]
    return _as_csv([draw(seed) for draw in draws] for _ in range(rows))


def _labelled_table(name: str, seed: random.Random) -> LabelledTable:
    kind = seed.choice(KINDS)
    width = seed.choices(range(1, len(WIDTHS) + 1), WIDTHS)[0]
    labels = [label for _, label in sorted(seed.sample(kind, width), key=kind.index)]
    columns = tuple(
        Column(None, tuple(DRAWS[label](seed) for _ in range(ROWS_IN_LABELLED_TABLE)))
        for label in labels
    )
    return LabelledTable(Table(name, columns), tuple(map(ColumnLabels.of, labels)), {})


def _as_csv(rows: object) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()


@cache
def _cells(file: str, column: str) -> tuple[str, ...]:
    """The distinct cells of a column of an example table, in order."""
    path = EXAMPLES / file
    dialect = "excel-tab" if path.suffix == ".tsv" else "excel"
    with path.open(encoding="utf-8", newline="") as lines:
        return tuple(dict.fromkeys(row[column] for row in csv.DictReader(lines, dialect=dialect)))


@cache
def _words(file: str, column: str) -> tuple[str, ...]:
    return tuple(word for cell in _cells(file, column) for word in cell.split())


def _one_of(file: str, column: str) -> Draw:
    return lambda seed: seed.choice(_cells(file, column))


def _title(file: str, column: str) -> Draw:
    """Two to five words of a column, shuffled: a name nobody has seen."""
    return lambda seed: " ".join(seed.choices(_words(file, column), k=seed.randint(2, 5)))


def _prose(file: str, column: str) -> Draw:
    return lambda seed: " ".join(seed.choices(_words(file, column), k=seed.randint(12, 36)))


def _choice(*texts: str) -> Draw:
    return lambda seed: seed.choice(texts)


def _number(low: float, high: float, digits: int, pattern: str = "{}") -> Draw:
    form = f"{{:.{digits}f}}"
    return lambda seed: pattern.format(form.format(seed.uniform(low, high)))


def _person(seed: random.Random) -> str:
    names = [name.split() for name in _cells("customers.csv", "full_name")]
    return f"{seed.choice(names)[0]} {seed.choice(names)[-1]}"


def _email(seed: random.Random) -> str:
    return f"{_person(seed).lower().replace(' ', '.')}{seed.randint(1, 999)}@example.org"


def _date(seed: random.Random) -> str:
    return f"{seed.randint(1950, 2031)}-{seed.randint(1, 12):02}-{seed.randint(1, 28):02}"


def _time(seed: random.Random) -> str:
    return f"{seed.randint(0, 23):02}:{seed.randint(0, 59):02}"


def _phone(seed: random.Random) -> str:
    return f"+44 1632 960{seed.randint(0, 999):03}"  # a range kept for fiction


def _street(seed: random.Random) -> str:
    return f"{seed.randint(1, 199)} {' '.join(seed.choice(_cells('hotels.csv', 'street')).split()[1:])}"


def _url(seed: random.Random) -> str:
    slug = "-".join(seed.choices(_words("products.tsv", "name"), k=3)).lower().replace(",", "")
    return f"https://www.example.org/{slug}/{seed.randint(100, 99999)}"


def _schema(*names: str) -> Draw:
    return lambda seed: f"https://schema.org/{seed.choice(names)}"


DRAWS: dict[str, Draw] = {
    "Book/name": _title("books.csv", "title"),
    "Book/description": _prose("books.csv", "blurb"),
    "BookFormatType": _one_of("books.csv", "format"),
    "Boolean": _choice("true", "false"),
    "Brand": _one_of("products.tsv", "brand"),
    "CoordinateAT": _number(-90, 90, 5),
    "Country": _one_of("customers.csv", "country"),
    "Date": _date,
    "DateTime": lambda seed: f"{_date(seed)}T{_time(seed)}:00Z",
    "DayOfWeek": _choice("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"),
    "Duration": lambda seed: f"PT{seed.randint(1, 3)}H{seed.randint(0, 11) * 5}M",
    "Energy": _number(80, 900, 0, "{} kcal"),
    "Event/name": _title("books.csv", "title"),
    "Event/description": _prose("films.csv", "plot"),
    "EventAttendanceModeEnumeration": _schema(
        "OfflineEventAttendanceMode", "OnlineEventAttendanceMode", "MixedEventAttendanceMode"
    ),
    "EventStatusType": _schema("EventScheduled", "EventPostponed", "EventCancelled"),
    "GenderType": _choice("female", "male"),
    "Hotel/name": _title("hotels.csv", "hotel"),
    "Hotel/description": _prose("hotels.csv", "description"),
    "IdentifierAT": lambda seed: f"97819{seed.randrange(10**8):08}",
    "ItemAvailability": _schema("InStock", "OutOfStock", "PreOrder"),
    "ItemList": _prose("recipes.csv", "ingredients"),
    "Language": _choice("de", "en", "fr", "es", "nl"),
    "Mass": _number(1, 60, 0, "{} g"),
    "MonetaryAmount": _number(1, 500, 2, "EUR {}"),
    "Number": _number(20, 1500, 0),
    "OfferItemCondition": _schema("NewCondition", "UsedCondition", "RefurbishedCondition"),
    "Organization": _one_of("books.csv", "publisher"),
    "Person/name": _person,
    "Place/name": _title("hotels.csv", "hotel"),
    "Product/name": _title("products.tsv", "name"),
    "Product/description": _prose("products.tsv", "description"),
    "Rating": _number(1, 5, 1),
    "Recipe/name": _title("recipes.csv", "recipe"),
    "Recipe/description": _prose("recipes.csv", "summary"),
    "RestrictedDiet": _one_of("recipes.csv", "diet"),
    "Review": _prose("hotels.csv", "description"),
    "Time": _time,
    "URL": _url,
    "addressLocality": _one_of("customers.csv", "city"),
    "category": _title("products.tsv", "name"),
    "currency": _one_of("books.csv", "currency"),
    "email": _email,
    "faxNumber": _phone,
    "paymentAccepted": _one_of("hotels.csv", "payment"),
    "postalCode": _one_of("customers.csv", "postcode"),
    "price": _number(1, 900, 2),
    "priceRange": _one_of("hotels.csv", "price_range"),
    "streetAddress": _street,
    "telephone": _phone,
    "unitCode": _choice("KGM", "GRM", "LTR", "MTR"),
    "weight": _number(0.1, 40, 2, "{} kg"),
}
