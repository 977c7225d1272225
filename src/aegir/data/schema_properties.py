"""What a Schema.org property says about its column: our relation and our type, where that is near-certain.

    offers.price          -> relation price,    type price
    author.name           -> relation author,   type Person/name
    nutrition.fatContent  -> relation nutrition, type Mass
    name of a Recipe      -> no relation (it is the subject), type Recipe/name

A nested property counts as its last part, because SOTAB flattened markup the same way: containers such as
`address` and `offers` are dropped, and the `name` of an author or brand is the author or brand itself.
A type is given where at least nine in ten SOTAB columns of the relation have it, and where the columns of these
publishers looked like that type to a reader (docs/data-engine.md has the figures). Everything else says nothing.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from aegir.vocabulary.terms import RELATION_NAMES

_CONTAINERS = frozenset(
    [
        "address",
        "geo",
        "offers",
        "aggregateRating",
        "contactPoint",
        "openingHoursSpecification",
        "reviewRating",
        "priceSpecification",
        "nutrition",
        "location",
        "baseSalary",
    ]
)
_NAMED = frozenset(
    [
        "author",
        "brand",
        "publisher",
        "location",
        "organizer",
        "performer",
        "manufacturer",
        "director",
        "actor",
        "byArtist",
        "inAlbum",
        "hiringOrganization",
        "addressCountry",
        "inLanguage",
        "availableLanguage",
        "alumniOf",
        "birthPlace",
    ]
)
"""Properties whose value is a thing; SOTAB shows the thing's name."""

_TYPES: Mapping[str, str] = {
    **dict.fromkeys(["author", "director", "actor", "givenName", "familyName"], "Person/name"),
    **dict.fromkeys(["publisher", "organizer", "manufacturer", "legalName"], "Organization"),
    **dict.fromkeys(["image", "thumbnailUrl", "logo"], "Photograph"),
    **dict.fromkeys(["url", "sameAs", "mainEntityOfPage"], "URL"),
    **dict.fromkeys(["prepTime", "cookTime", "totalTime", "duration"], "Duration"),
    **dict.fromkeys(["recipeCategory", "recipeCuisine", "genre", "category"], "category"),
    **dict.fromkeys(["recipeIngredient", "recipeInstructions"], "ItemList"),
    **dict.fromkeys(["latitude", "longitude"], "CoordinateAT"),
    **dict.fromkeys(
        ["sku", "mpn", "productID", "isbn", "gtin", "gtin8", "gtin12", "gtin13"], "IdentifierAT"
    ),
    **dict.fromkeys(
        ["ratingValue", "bestRating", "worstRating", "ratingCount", "reviewCount", "numberOfPages"],
        "Number",
    ),
    **dict.fromkeys(["wordCount", "commentCount", "upvoteCount", "answerCount"], "Number"),
    **dict.fromkeys(
        [
            *(
                "fatContent",
                "carbohydrateContent",
                "proteinContent",
                "sodiumContent",
                "fiberContent",
            ),
            *("sugarContent", "saturatedFatContent", "cholesterolContent", "unsaturatedFatContent"),
            "transFatContent",
        ],
        "Mass",
    ),
    **dict.fromkeys(["opens", "closes"], "Time"),
    **dict.fromkeys(["addressCountry", "nationality", "countryOfOrigin"], "Country"),
    **dict.fromkeys(["inLanguage", "availableLanguage"], "Language"),
    "addressLocality": "addressLocality",
    "addressRegion": "addressRegion",
    "postalCode": "postalCode",
    "streetAddress": "streetAddress",
    "telephone": "telephone",
    "faxNumber": "faxNumber",
    "email": "email",
    "price": "price",
    "priceCurrency": "currency",
    "priceRange": "priceRange",
    "openingHours": "openingHours",
    "dayOfWeek": "DayOfWeek",
    "availability": "ItemAvailability",
    "itemCondition": "OfferItemCondition",
    "brand": "Brand",
    "calories": "Energy",
    "recipeYield": "QuantitativeValue",
    "suitableForDiet": "RestrictedDiet",
    "contentRating": "Rating",
    "gender": "GenderType",
    "jobTitle": "JobPosting/name",
    "location": "Place/name",
    "performer": "MusicArtistAT",
    "byArtist": "MusicArtistAT",
    "eventAttendanceMode": "EventAttendanceModeEnumeration",
    "eventStatus": "EventStatusType",
    "unitCode": "unitCode",
    "unitText": "unitText",
    "reviewBody": "Review",
    "isAccessibleForFree": "Boolean",
}
_DATES = frozenset(
    [
        "datePublished",
        "dateCreated",
        "dateModified",
        "startDate",
        "endDate",
        "uploadDate",
        "birthDate",
        "deathDate",
        "releaseDate",
        "datePosted",
        "validFrom",
        "validThrough",
    ]
)
"""A Date or a DateTime, as the cells say."""
_HAS_TIME = re.compile(r"\d[T ]\d{1,2}:\d\d")

_ARTICLES = [
    "Article",
    "BlogPosting",
    "NewsArticle",
    "ReportageNewsArticle",
    "ScholarlyArticle",
    "WebPage",
    "VideoObject",
    "CreativeWork",
    "TechArticle",
    "DiscussionForumPosting",
    "CollectionPage",
]
_ORGANIZATIONS = [
    "Organization",
    "NewsMediaOrganization",
    "Corporation",
    "CollegeOrUniversity",
    "organization",
]
NAME_TYPES: Mapping[str, str | None] = {
    **{kind: f"{kind}/name" for kind in ("Recipe", "Product", "Movie", "Book", "Event", "Place")},
    **{
        kind: f"{kind}/name"
        for kind in ("LocalBusiness", "Hotel", "Restaurant", "Museum", "Person")
    },
    **{
        kind: f"{kind}/name"
        for kind in ("MusicAlbum", "MusicRecording", "TVEpisode", "SportsEvent")
    },
    **dict.fromkeys(_ARTICLES, "CreativeWork/name"),
    **dict.fromkeys(_ORGANIZATIONS, "Organization"),
    "product": "Product/name",
    "MusicEvent": "Event/name",
    "MusicGroup": "MusicArtistAT",
    "Brand": "Brand",
    # Useful columns, but a name that is none of ours (or none at all).
    **dict.fromkeys(
        [
            "Review",
            "Offer",
            "PostalAddress",
            "Comment",
            "Answer",
            "AggregateRating",
            "NutritionInformation",
            "ContactPoint",
            "GeoCoordinates",
            "QuantitativeValue",
            "UnitPriceSpecification",
            "OpeningHoursSpecification",
            "Rating",
            "SingleFamilyResidence",
            "Course",
            "SoftwareApplication",
        ]
    ),
}
"""The kinds of entity worth a table, and the type of their names."""
_DESCRIBED = frozenset(["Recipe", "Product", "Movie", "Book", "Event", "Hotel", "JobPosting"])
_SAME_KIND = {"product": "Product", "MusicEvent": "Event"}


@dataclass(frozen=True, slots=True)
class ColumnLabels:
    """Our labels for one column; None where the property does not settle it."""

    type: str | None = None
    relation: str | None = None


def labels_of(kind: str, path: str, cells: Sequence[str]) -> ColumnLabels:
    """Our labels for the column of property `path` (dotted) in a table of `kind`."""
    name = flat_name(path)
    if name is None:
        return ColumnLabels()
    relation = "nutrition" if _TYPES.get(name) == "Mass" else name
    return ColumnLabels(
        _type_of(kind, name, cells), relation if relation in RELATION_NAMES else None
    )


def flat_name(path: str) -> str | None:
    """The property a dotted path stands for once flattened; None when it belongs to another thing."""
    *outer, last = path.split(".")
    if (last == "name" and outer and outer[-1] in _NAMED) or (
        last in ("url", "contentUrl") and outer and outer[-1] in ("image", "logo")
    ):
        last = outer.pop()
    if not outer:
        return last
    return last if last != "name" and _CONTAINERS.issuperset(outer) else None


def _type_of(kind: str, name: str, cells: Sequence[str]) -> str | None:
    kind = _SAME_KIND.get(kind, kind)
    if name == "name" or (name == "headline" and kind in _ARTICLES):
        return NAME_TYPES.get(kind)
    if name == "description":
        return f"{kind}/description" if kind in _DESCRIBED else None
    if name in _DATES:
        return "DateTime" if any(_HAS_TIME.search(cell) for cell in cells) else "Date"
    return _TYPES.get(name)
