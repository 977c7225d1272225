"""Weak labels by header: a short map, checked by hand and by measurement, from clear names to our types.

    a column of raw/ called 'zip code'  -->  postalCode, unless the rules say its cells cannot be that

Only names that mean one thing are here. A label is dropped where the rules veto the type for the cells (they read the
values, never the header), and `check_headers` measures the rest: how often an annotator that sees the cells alone
agrees. docs/data-engine.md has the table of agreements that this map was pruned by.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from aegir.annotators.rules.judge import judge_columns
from aegir.annotators.scores import Annotator
from aegir.data.raw_tables import plain_header, without_headers
from aegir.data.sources import Source, TrainingTable
from aegir.seeding import Seeds
from aegir.tables.labelled import LabelledTable
from aegir.tables.table import Table
from aegir.vocabulary.terms import TYPE_INDEX

HEADER_TYPES = Source("raw/header types", cta_weight=0.3, cpa_weight=0.2, weak=True)
COLUMNS_PER_TYPE = 600
COLUMNS_PER_HEADER = 300
TABLES_AT_ONCE = 256

Meaning = tuple[str, str | None]
"""A type and, where the header settles it whatever the subject is, a relation."""


def _named(names: str, type_name: str, relation: str | None = None) -> dict[str, Meaning]:
    return dict.fromkeys(names.split("|"), (type_name, relation))


MEANINGS: Mapping[str, Meaning] = {
    **_named("telephone|phone|phone number|telephone number|tel", "telephone", "telephone"),
    **_named("fax|fax number", "faxNumber", "faxNumber"),
    **_named("email|e mail|email address", "email", "email"),
    **_named("url|website|web site|homepage|link", "URL", "url"),
    **_named("zip|zip code|zipcode|postal code|postcode", "postalCode", "postalCode"),
    **_named("latitude|lat", "CoordinateAT", "latitude"),
    **_named("longitude|lon|lng", "CoordinateAT", "longitude"),
    **_named("isbn|isbn13|isbn10", "IdentifierAT", "isbn"),
    **_named("currency|currency code", "currency", "priceCurrency"),
    **_named("country|country name", "Country"),
    **_named("nationality", "Country", "nationality"),
    **_named("city|city name|town", "addressLocality"),
    **_named("state|state name|province", "addressRegion"),
    **_named("street address|address 1", "streetAddress", "streetAddress"),
    **_named("gender|sex", "GenderType", "gender"),
    **_named("language", "Language"),
    **_named("day of week|weekday", "DayOfWeek", "dayOfWeek"),
    **_named("date of birth|birthdate|birth date|dob|birthday", "Date", "birthDate"),
    **_named("date of death|death date", "Date", "deathDate"),
    **_named("release date", "Date", "releaseDate"),
    **_named("original air date|original airdate|air date|launch date", "Date"),
    **_named("price", "price", "price"),
    **_named("director|directed by", "Person/name", "director"),
    **_named("player|player name|athlete|driver|full name|head coach|manager|jockey|candidate", "Person/name"),
    **_named("first name|given name", "Person/name", "givenName"),
    **_named("last name|surname|family name", "Person/name", "familyName"),
    **_named("author|authors", "Person/name", "author"),
    **_named("artist", "MusicArtistAT"),
    **_named("album", "MusicAlbum/name"),
    **_named("song|song title|single", "MusicRecording/name"),
    **_named("film|movie|movie title|film title", "Movie/name"),
    **_named("home team", "SportsTeam", "homeTeam"),
    **_named("away team", "SportsTeam", "awayTeam"),
    **_named("team|club|team name", "SportsTeam"),
    **_named("company|company name|organization|employer|institution|university", "Organization"),
    **_named("publisher", "Organization", "publisher"),
    **_named("image|image url|photo|thumbnail", "Photograph", "image"),
    **_named("genre|genres", "category"),
    **_named("job title", "JobPosting/name", "jobTitle"),
    **_named("model number", "ProductModel", "model"),
    **_named("brand", "Brand", "brand"),
    **_named("weight kg", "weight", "weight"),
    **_named("height m|height cm|length km|elevation m", "Distance"),
    **_named("created at|datetime|date time", "DateTime"),
    **_named("opening hours", "openingHours", "openingHours"),
    **_named("amenities", "LocationFeatureSpecification", "amenityFeature"),
    **_named("calories", "Energy"),
    **_named("ingredients", "ItemList", "recipeIngredient"),
    **_named("stadium|arena", "Place/name"),
    **_named("hotel|hotel name", "Hotel/name"),
    **_named("restaurant|restaurant name", "Restaurant/name"),
    **_named("museum|museum name", "Museum/name"),
    **_named("episode title", "TVEpisode/name"),
    **_named("product name", "Product/name"),
    **_named("recipe name", "Recipe/name"),
    **_named("book title", "Book/name"),
    **_named("population|votes|attendance|points|wins|capacity|losses|goals", "Number"),
    **_named("start time|end time", "Time"),
    **_named("payment method", "paymentAccepted", "paymentAccepted"),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class HeaderCheck:
    """How a header's columns fared: vetoed by the rules, agreed with by an annotator."""

    header: str
    type: str
    columns: int
    vetoed: int
    agreed: int
    """Of the columns not vetoed, those whose best-scored type, read from the cells alone, is this one."""

    @property
    def agreement(self) -> float:
        """The share of the kept columns that the annotator would have called the same."""
        return self.agreed / max(1, self.columns - self.vetoed)


def typed_by_header(tables: Sequence[Table], seed: int) -> list[TrainingTable]:
    """Tables with at least one column whose header settles its type; headers hidden, vetoed labels dropped."""
    per_type: Counter[str] = Counter()
    per_header: Counter[str] = Counter()
    found = []
    for i in Seeds(seed).generator("header types").permutation(len(tables)):
        meanings = _meanings(tables[i])
        for place, (header, (name, _)) in list(meanings.items()):
            if per_type[name] >= COLUMNS_PER_TYPE or per_header[header] >= COLUMNS_PER_HEADER:
                del meanings[place]
        for place in _vetoed(tables[i], meanings):
            del meanings[place]
        if meanings:
            per_type.update(name for _, (name, _) in meanings.values())
            per_header.update(header for header, _ in meanings.values())
            found.append(TrainingTable(_labelled(tables[i], meanings), HEADER_TYPES))
    return found


def check_headers(tables: Iterable[Table], annotator: Annotator) -> list[HeaderCheck]:
    """Measure every header of the map that occurs, on tables whose headers are hidden from the annotator."""
    useful = [table for table in tables if _meanings(table)]
    columns: Counter[str] = Counter()
    vetoed: Counter[str] = Counter()
    agreed: dict[str, int] = defaultdict(int)
    for start in range(0, len(useful), TABLES_AT_ONCE):
        batch = useful[start : start + TABLES_AT_ONCE]
        scored = annotator.score([without_headers(table) for table in batch])
        for table, scores in zip(batch, scored, strict=True):
            meanings = _meanings(table)
            ruled_out = _vetoed(table, meanings)
            for place, (header, (name, _)) in meanings.items():
                columns[header] += 1
                vetoed[header] += place in ruled_out
                best = int(scores.types[place].argmax())
                agreed[header] += place not in ruled_out and best == TYPE_INDEX[name]
    return [
        HeaderCheck(header, MEANINGS[header][0], count, vetoed[header], agreed[header])
        for header, count in columns.most_common()
    ]


def _meanings(table: Table) -> dict[int, tuple[str, Meaning]]:
    """For each column whose header is in the map: its place, the header and what it means."""
    headers = [plain_header(column.name) for column in table.columns]
    return {
        place: (header, MEANINGS[header])
        for place, (header, column) in enumerate(zip(headers, table.columns, strict=True))
        if header in MEANINGS and column.present
    }


def _vetoed(table: Table, meanings: Mapping[int, tuple[str, Meaning]]) -> set[int]:
    bare = without_headers(table)
    verdicts = judge_columns([bare.columns[place] for place in meanings])
    return {
        place
        for (place, (_, (name, _))), verdict in zip(meanings.items(), verdicts, strict=True)
        if name in verdict.vetoes
    }


def _labelled(table: Table, meanings: Mapping[int, tuple[str, Meaning]]) -> LabelledTable:
    known = [meanings[i][1] if i in meanings else None for i in range(len(table.columns))]
    return LabelledTable(
        without_headers(table),
        tuple((meaning[0],) if meaning else () for meaning in known),
        tuple((meaning[1],) if meaning and meaning[1] else () for meaning in known),
        {"source": table.source},
    )
