"""Made-up tables: for each kind of page, a subject and some of the columns such pages have.

    LocalBusiness --> [name, telephone, streetAddress, postalCode, openingHours] x 5 rows, some cells missing

Every table has the origin `"source": "synthetic"` and a Source with `synthetic=True`. Columns of scarce types are
drawn more often, so that a few thousand tables hold every type here at least five hundred times.

Limits: made-up columns teach form, not world knowledge; long texts and famous titles are left to real tables.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from random import Random

from aegir.lab.data.generators import (
    amounts,
    enumerations,
    identifiers,
    people,
    places,
    times,
    work,
)
from aegir.lab.data.generators.cells import Generator
from aegir.lab.data.sources import Source, TrainingTable
from aegir.tables.labelled import ColumnLabels, LabelledTable
from aegir.tables.table import Column, Table
from aegir.vocabulary.terms import RELATION_NAMES
from aegir_rl.base.seeding import Seeds

SYNTHETIC = Source("synthetic", cta_weight=0.3, cpa_weight=0.3, synthetic=True)
TABLES = 10_000
"""With these, every type here has about five hundred made-up columns or more."""
ROWS = (3, 4, 5, 5, 5, 5, 5, 6, 8)
MISSING_COLUMNS, MISSING_CELLS = 0.25, 0.25
"""A quarter of the columns have gaps; in those, a quarter of the cells are missing."""
_RELATIONS = frozenset(RELATION_NAMES)
_NOTHING = ("", "", "", "N/A", "-", "NA")


@dataclass(frozen=True, slots=True)
class Recipe:
    """How columns of one property are made, and what they are called."""

    type: str | None
    make: Generator
    constant: float = 0.15
    """Share of columns that repeat one value in every row."""
    weight: float = 1.0
    """How readily a table takes such a column: higher for what real tables have too few of."""


_R = Recipe
PROPERTIES: Mapping[str, Recipe] = {
    "availability": _R("ItemAvailability", enumerations.availability, 0.3),
    "itemCondition": _R("OfferItemCondition", enumerations.condition, 0.6, 2),
    "eventStatus": _R("EventStatusType", enumerations.event_status, 0.5, 2.5),
    "eventAttendanceMode": _R(
        "EventAttendanceModeEnumeration", enumerations.attendance_mode, 0.5, 2.5
    ),
    "suitableForDiet": _R("RestrictedDiet", enumerations.diet, 0.1, 3),
    "availableDeliveryMethod": _R("DeliveryMethod", enumerations.delivery_method, 0.4, 3),
    "bookFormat": _R("BookFormatType", enumerations.book_format, 0.3, 3),
    "gender": _R("GenderType", enumerations.gender, 0.1, 4),
    "isAccessibleForFree": _R("Boolean", enumerations.boolean, 0.4, 2),
    "contentRating": _R("Rating", enumerations.content_rating, 0.1, 3),
    "paymentAccepted": _R("paymentAccepted", enumerations.payment, 0.5, 2.5),
    "dayOfWeek": _R("DayOfWeek", times.weekday, 0.3, 2.5),
    "opens": _R("Time", times.clock, 0.3, 1.3),
    "closes": _R("Time", times.clock, 0.3, 1.3),
    "checkInTime": _R("Time", times.clock, 0.5, 1.3),
    "checkoutTime": _R("Time", times.clock, 0.5, 1.3),
    "openingHours": _R("openingHours", times.opening_hours, 0.4, 2.5),
    "workHours": _R("workHours", times.work_hours, 0.3, 3),
    "duration": _R("Duration", times.duration),
    "prepTime": _R("Duration", times.duration),
    "cookTime": _R("Duration", times.duration),
    "totalTime": _R("Duration", times.duration),
    "startDate": _R("DateTime", times.moment, 0.05),
    "endDate": _R("DateTime", times.moment, 0.05),
    "validFrom": _R("DateTime", times.moment, 0.1),
    "datePublished": _R("Date", times.day, 0.05),
    "birthDate": _R("Date", times.day, 0.02),
    "datePosted": _R("Date", times.day, 0.1),
    "price": _R("price", amounts.price, 0.15),
    "priceCurrency": _R("currency", amounts.currency, 0.6),
    "priceRange": _R("priceRange", amounts.price_range, 0.4, 2.5),
    "baseSalary": _R("MonetaryAmount", amounts.pay, 0.15, 3),
    "calories": _R("Energy", amounts.energy, 0.02, 2),
    "nutrition": _R("Mass", amounts.mass, 0.02, 2),
    "weight": _R("weight", amounts.weight, 0.05),
    "measurements": _R("Distance", amounts.distance, 0.05),
    "inventoryLevel": _R("QuantitativeValue", amounts.quantity, 0.1, 1.5),
    "unitCode": _R("unitCode", amounts.unit_code, 0.6, 2.5),
    "unitText": _R("unitText", amounts.unit_text, 0.6, 2.5),
    "ratingValue": _R("Number", amounts.number, 0.05, 0.5),
    "latitude": _R("CoordinateAT", amounts.latitude, 0.05, 1.3),
    "longitude": _R("CoordinateAT", amounts.longitude, 0.05, 1.3),
    "isbn": _R("IdentifierAT", identifiers.isbn, 0.02),
    "gtin": _R("IdentifierAT", identifiers.trade_number, 0.02),
    "productID": _R("IdentifierAT", identifiers.product_id, 0.02),
    "model": _R("ProductModel", identifiers.model_number, 0.05, 3),
    "addressCountry": _R("Country", places.country, 0.5),
    "nationality": _R("Country", places.country, 0.2),
    "addressRegion": _R("addressRegion", places.region, 0.3),
    "addressLocality": _R("addressLocality", places.town, 0.2),
    "postalCode": _R("postalCode", places.postal_code, 0.2, 1.3),
    "streetAddress": _R("streetAddress", places.street_address, 0.15, 1.3),
    "address": _R("PostalAddress", places.postal_address, 0.15),
    "telephone": _R("telephone", places.telephone, 0.3, 1.3),
    "faxNumber": _R("faxNumber", places.fax, 0.1, 1.8),
    "inLanguage": _R("Language", places.language, 0.5),
    "email": _R("email", people.email, 0.3, 1.2),
    "url": _R("URL", people.page, 0.02, 0.4),
    "image": _R("Photograph", people.picture, 0.1, 0.4),
    "author": _R("Person/name", people.person, 0.1),
    "director": _R("Person/name", people.person, 0.02),
    "givenName": _R("Person/name", people.given_name, 0.0),
    "familyName": _R("Person/name", people.family_name, 0.0),
    "hiringOrganization": _R("Organization", people.company, 0.3),
    "publisher": _R("Organization", people.company, 0.3),
    "organizer": _R("Organization", people.company, 0.3),
    "homeTeam": _R("SportsTeam", people.team, 0.05),
    "awayTeam": _R("SportsTeam", people.team, 0.05),
    "partOfSeries": _R("CreativeWorkSeries", people.series, 0.35, 4),
    "video": _R("CreativeWork", people.video_id, 0.02, 1.2),
    "amenityFeature": _R("LocationFeatureSpecification", work.amenities, 0.1, 5),
    "occupationalCategory": _R("CategoryCode", work.occupation, 0.2, 3),
    "experienceRequirements": _R("OccupationalExperienceRequirements", work.experience, 0.2, 3),
    "educationRequirements": _R("EducationalOccupationalCredential", work.credential, 0.2, 3),
    "jobTitle": _R("JobPosting/name", work.job_title, 0.05),
}
"""Property names are our relations where we have them; others (baseSalary, video) only carry a type."""

_PLACE = "telephone faxNumber streetAddress addressLocality addressRegion postalCode addressCountry address latitude longitude email url image"
_SHOP = "price priceCurrency availability itemCondition url image"


@dataclass(frozen=True, slots=True)
class Page:
    """A kind of page: what it names and what stands beside the name."""

    subject: Recipe
    properties: tuple[str, ...]
    weight: float = 1.0

    @classmethod
    def of(cls, subject: Recipe, properties: str, weight: float = 1.0) -> "Page":
        """A page with space-separated properties."""
        return cls(subject, tuple(properties.split()), weight)


_UNLABELLED = Recipe(None, people.title, 0.0)
"""A subject whose type cannot be taught with made-up words."""
PAGES: Mapping[str, Page] = {
    "LocalBusiness": Page.of(
        Recipe("LocalBusiness/name", people.local_business, 0.1),
        f"{_PLACE} openingHours paymentAccepted priceRange dayOfWeek opens closes",
        1.8,
    ),
    "Restaurant": Page.of(
        Recipe("Restaurant/name", people.restaurant, 0.05),
        f"{_PLACE} openingHours paymentAccepted priceRange dayOfWeek",
        2.2,
    ),
    "Hotel": Page.of(
        Recipe("Hotel/name", people.hotel, 0.05),
        f"{_PLACE} amenityFeature checkInTime checkoutTime priceRange paymentAccepted ratingValue priceCurrency",
        2.4,
    ),
    "Museum": Page.of(
        Recipe("Museum/name", people.museum),
        f"{_PLACE} openingHours isAccessibleForFree dayOfWeek opens closes",
        3.2,
    ),
    "Event": Page.of(
        _UNLABELLED,
        "startDate endDate eventStatus eventAttendanceMode organizer price priceCurrency availability validFrom url "
        "addressLocality addressCountry streetAddress telephone email duration isAccessibleForFree",
        2,
    ),
    "SportsEvent": Page.of(
        Recipe("SportsEvent/name", people.sports_event, 0.0),
        "startDate homeTeam awayTeam eventStatus eventAttendanceMode addressLocality url",
        3,
    ),
    "JobPosting": Page.of(
        Recipe("JobPosting/name", work.job_title, 0.05),
        "hiringOrganization datePosted workHours baseSalary experienceRequirements educationRequirements "
        "occupationalCategory addressLocality addressRegion addressCountry postalCode priceCurrency unitText email",
        3,
    ),
    "Person": Page.of(
        Recipe("Person/name", people.person, 0.02),
        "givenName familyName gender birthDate nationality weight measurements jobTitle email telephone faxNumber image address",
        2.4,
    ),
    "Product": Page.of(
        _UNLABELLED,
        f"{_SHOP} model gtin productID weight measurements unitCode unitText inventoryLevel ratingValue availableDeliveryMethod",
        3,
    ),
    "Book": Page.of(
        _UNLABELLED,
        f"{_SHOP} isbn author publisher bookFormat inLanguage datePublished isAccessibleForFree video",
        2.2,
    ),
    "Recipe": Page.of(
        _UNLABELLED,
        "author prepTime cookTime totalTime calories nutrition suitableForDiet inventoryLevel datePublished image ratingValue video",
        3,
    ),
    "Movie": Page.of(
        _UNLABELLED,
        "director duration contentRating datePublished image url ratingValue inLanguage video",
        1.5,
    ),
    "TVEpisode": Page.of(
        Recipe("TVEpisode/name", people.episode, 0.0),
        "partOfSeries datePublished duration contentRating url image",
        2.2,
    ),
}


def synthetic_tables(count: int, seed: int) -> list[TrainingTable]:
    """Return `count` made-up tables; the first ones do not depend on the count."""
    kinds = list(PAGES)
    weights = [PAGES[kind].weight for kind in kinds]
    tables = []
    for number in range(count):
        random = Random(Seeds(seed).derive("synthetic", number))  # noqa: S311 (no secret)
        kind = random.choices(kinds, weights)[0]
        tables.append(TrainingTable(_table(kind, number, random), SYNTHETIC))
    return tables


def _table(kind: str, number: int, random: Random) -> LabelledTable:
    page = PAGES[kind]
    names = _properties(page, random)
    rows = random.choice(ROWS)
    recipes = [page.subject, *(PROPERTIES[name] for name in names)]
    columns = tuple(Column(None, _cells(recipe, rows, random)) for recipe in recipes)
    # Table names contain no site, so that no group of real tables takes them in.
    return LabelledTable(
        Table(f"synthetic/{kind}/{number}", columns, subject=0),
        (
            ColumnLabels.of(page.subject.type),
            *(
                ColumnLabels.of(PROPERTIES[name].type, name if name in _RELATIONS else None)
                for name in names
            ),
        ),
        {"source": "synthetic"},
    )


def _properties(page: Page, random: Random) -> list[str]:
    """Return some of the page's properties in random order, preferring those of scarce types."""
    count = min(len(page.properties), random.randint(3, 8))
    ranked = sorted(
        page.properties,
        key=lambda name: random.random() ** (1 / PROPERTIES[name].weight),
        reverse=True,
    )
    chosen = ranked[:count]
    random.shuffle(chosen)
    return chosen


def _cells(recipe: Recipe, rows: int, random: Random) -> tuple[str, ...]:
    cell = recipe.make(random)
    constant = random.random() < recipe.constant
    cells = [cell()] * rows if constant else [cell() for _ in range(rows)]
    if random.random() < MISSING_COLUMNS:
        nothing = random.choice(_NOTHING)
        cells = [nothing if random.random() < MISSING_CELLS else text for text in cells]
    return tuple(cells) if any(text.strip() for text in cells) else (cell(),) * rows
