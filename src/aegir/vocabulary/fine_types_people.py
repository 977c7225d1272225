"""Finer types of people and places: names, documents, contact, addresses, coordinates."""

from aegir.vocabulary.fine_type import FineType

_S = "https://schema.org/"

PEOPLE_AND_PLACES = (
    FineType(
        "first_name", "Person/name", "The given name of a person.", "Ines", True, _S + "givenName"
    ),
    FineType(
        "last_name",
        "Person/name",
        "The family name of a person.",
        "Okafor",
        True,
        _S + "familyName",
    ),
    FineType(
        "full_name",
        "Person/name",
        "Given and family name of a person.",
        "Ines Okafor",
        True,
        _S + "name",
    ),
    FineType(
        "honorific", None, "A form of address before a name.", "Dr.", True, _S + "honorificPrefix"
    ),
    FineType(
        "user_name",
        "IdentifierAT",
        "The name somebody signs in with.",
        "ines.okafor",
        True,
        _S + "alternateName",
    ),
    FineType("gender", "GenderType", "The gender of a person.", "female", True, _S + "gender"),
    FineType("age", "Number", "The age of a person in years.", "42", True),
    FineType(
        "date_of_birth", "Date", "The day a person was born.", "1984-03-07", True, _S + "birthDate"
    ),
    FineType(
        "nationality",
        "Country",
        "The citizenship of a person.",
        "Portuguese",
        True,
        _S + "nationality",
    ),
    FineType("body_height", "Distance", "How tall a person is.", "178 cm", True, _S + "height"),
    FineType("body_weight", "weight", "How heavy a person is.", "72 kg", True, _S + "weight"),
    FineType("blood_type", None, "Blood group and rhesus factor.", "AB+", True),
    FineType(
        "diagnosis_code",
        "CategoryCode",
        "An ICD-10 code for a disease.",
        "E11.9",
        True,
        _S + "code",
    ),
    FineType(
        "national_id", "IdentifierAT", "A number a state gives to a person.", "12345678Z", True
    ),
    FineType(
        "us_ssn", "IdentifierAT", "A United States social security number.", "219-09-9999", True
    ),
    FineType(
        "uk_nino", "IdentifierAT", "A British national insurance number.", "AB 12 34 56 C", True
    ),
    FineType("passport_number", "IdentifierAT", "The number of a passport.", "P1234567", True),
    FineType(
        "driving_licence",
        "IdentifierAT",
        "The number of a driving licence.",
        "MORGA657054SM9IJ",
        True,
    ),
    FineType(
        "licence_plate", "IdentifierAT", "The registration plate of a vehicle.", "W-4711 AB", True
    ),
    FineType(
        "telephone_number",
        "telephone",
        "A telephone number.",
        "+43 1 58858 0",
        True,
        _S + "telephone",
    ),
    FineType("fax_number", "faxNumber", "A fax number.", "+43 1 58858 99", True, _S + "faxNumber"),
    FineType(
        "street_address",
        "streetAddress",
        "Street and house number.",
        "12 Harbour Road",
        True,
        _S + "streetAddress",
    ),
    FineType(
        "postal_address",
        "PostalAddress",
        "A whole address on one line.",
        "12 Harbour Road, Porto, Portugal",
        True,
        _S + "PostalAddress",
    ),
    FineType("city", "addressLocality", "A town or city.", "Porto", False, _S + "addressLocality"),
    FineType(
        "region",
        "addressRegion",
        "A state, province or district.",
        "Tyrol",
        False,
        _S + "addressRegion",
    ),
    FineType(
        "us_state",
        "addressRegion",
        "A state of the United States, by name or code.",
        "OR",
        False,
        _S + "addressRegion",
    ),
    FineType(
        "postal_code",
        "postalCode",
        "A postal code of any country.",
        "SW1A 1AA",
        True,
        _S + "postalCode",
    ),
    FineType(
        "country_name", "Country", "The name of a country.", "Portugal", False, _S + "Country"
    ),
    FineType(
        "country_code_alpha2",
        "Country",
        "An ISO 3166-1 two-letter country code.",
        "PT",
        False,
        _S + "addressCountry",
    ),
    FineType(
        "country_code_alpha3",
        "Country",
        "An ISO 3166-1 three-letter country code.",
        "PRT",
        False,
        _S + "addressCountry",
    ),
    FineType(
        "continent", "Place/name", "The name of a continent.", "Africa", False, _S + "Continent"
    ),
    FineType(
        "latitude",
        "CoordinateAT",
        "Degrees north of the equator.",
        "48.2082",
        False,
        _S + "latitude",
    ),
    FineType(
        "longitude",
        "CoordinateAT",
        "Degrees east of Greenwich.",
        "16.3738",
        False,
        _S + "longitude",
    ),
    FineType(
        "coordinate_pair",
        "CoordinateAT",
        "Latitude and longitude together.",
        "48.2082, 16.3738",
        False,
        _S + "GeoCoordinates",
    ),
    FineType(
        "coordinate_dms",
        "CoordinateAT",
        "A coordinate in degrees, minutes, seconds.",
        "48°12'30\"N",
    ),
    FineType("geohash", "CoordinateAT", "A geohash cell.", "u2edk8"),
    FineType("plus_code", "CoordinateAT", "An open location code.", "8FWR6954+8F"),
    FineType("wkt_geometry", None, "A geometry in well-known text.", "POINT (16.37 48.21)"),
    FineType(
        "geojson", None, "A GeoJSON object.", '{"type": "Point", "coordinates": [16.4, 48.2]}'
    ),
    FineType(
        "airport_code", None, "A three-letter IATA airport code.", "VIE", False, _S + "iataCode"
    ),
    FineType("un_locode", None, "A UN/LOCODE place code.", "AT VIE"),
)
