"""Finer types of time and values: dates and their parts, quantities with units, codes, flags, text."""

from aegir.vocabulary.fine_type import FineType

_S = "https://schema.org/"

TIME_AND_VALUES = (
    FineType(
        "iso_date", "Date", "A date written year-month-day.", "2021-03-07", False, _S + "Date"
    ),
    FineType(
        "date",
        "Date",
        "A calendar date in any common spelling.",
        "7 March 2021",
        False,
        _S + "Date",
    ),
    FineType("compact_date", "Date", "A date of eight digits.", "20210307", False, _S + "Date"),
    FineType(
        "iso_datetime",
        "DateTime",
        "A date and time as in ISO 8601.",
        "2021-03-07T14:30:00Z",
        False,
        _S + "DateTime",
    ),
    FineType(
        "datetime",
        "DateTime",
        "A date with a time of day.",
        "07.03.2021 14:30",
        False,
        _S + "DateTime",
    ),
    FineType("unix_timestamp", "DateTime", "Seconds or milliseconds since 1970.", "1615127400"),
    FineType("time_of_day", "Time", "A time of day.", "14:30", False, _S + "Time"),
    FineType("time_range", None, "From one time of day to another.", "09:00-17:30"),
    FineType(
        "iso_duration", "Duration", "A duration as in ISO 8601.", "PT1H30M", False, _S + "Duration"
    ),
    FineType("duration", "Duration", "A length of time.", "95 min", False, _S + "Duration"),
    FineType("year", "Date", "A calendar year.", "1998"),
    FineType("year_month", "Date", "A month of a year.", "2021-03"),
    FineType("month_number", None, "A month of the year as a number.", "11"),
    FineType("month_name", None, "The name of a month.", "March"),
    FineType("quarter", None, "A quarter of a year.", "2021-Q3"),
    FineType("week", None, "A week of a year.", "2021-W09"),
    FineType("weekday", "DayOfWeek", "A day of the week.", "Monday", False, _S + "DayOfWeek"),
    FineType(
        "opening_hours",
        "openingHours",
        "Days and hours of opening.",
        "Mo-Fr 09:00-17:00",
        False,
        _S + "openingHours",
    ),
    FineType(
        "weekly_hours",
        "workHours",
        "Working hours per week.",
        "40 hours per week",
        False,
        _S + "workHours",
    ),
    FineType("time_zone", None, "An IANA time zone.", "Europe/Vienna"),
    FineType("utc_offset", None, "An offset from UTC.", "+02:00"),
    FineType("percentage", "Number", "A share of a hundred.", "12.5 %"),
    FineType("temperature", "QuantitativeValue", "A temperature.", "21 °C"),
    FineType(
        "file_size", "QuantitativeValue", "A number of bytes.", "3.4 MB", False, _S + "contentSize"
    ),
    FineType("energy", "Energy", "An amount of energy.", "320 kcal", False, _S + "Energy"),
    FineType("mass", "Mass", "A mass with its unit.", "250 g", False, _S + "Mass"),
    FineType("length", "Distance", "A length with its unit.", "15 cm", False, _S + "Distance"),
    FineType("volume", "QuantitativeValue", "A volume with its unit.", "500 ml"),
    FineType(
        "measurement",
        "QuantitativeValue",
        "Any other number with its unit.",
        "75 kW",
        False,
        _S + "QuantitativeValue",
    ),
    FineType(
        "servings",
        "QuantitativeValue",
        "How many a recipe serves.",
        "4 servings",
        False,
        _S + "recipeYield",
    ),
    FineType("quantity", "Number", "A count of things.", "12", False, _S + "amount"),
    FineType("rating", "Number", "A mark on a scale.", "4.5 / 5", False, _S + "ratingValue"),
    FineType(
        "content_rating",
        "Rating",
        "For which age a work is released.",
        "PG-13",
        False,
        _S + "contentRating",
    ),
    FineType("ordinal", None, "An ordinal number.", "3rd"),
    FineType("roman_numeral", None, "A Roman numeral.", "XIV"),
    FineType("boolean_flag", "Boolean", "True or false, yes or no.", "true", False, _S + "Boolean"),
    FineType("unit_code", "unitCode", "A UN/CEFACT unit code.", "KGM", False, _S + "unitCode"),
    FineType("unit_name", "unitText", "A unit of measurement.", "kg", False, _S + "unitText"),
    FineType(
        "language_name", "Language", "The name of a language.", "Portuguese", False, _S + "Language"
    ),
    FineType(
        "language_code", "Language", "An ISO 639 language code.", "pt", False, _S + "inLanguage"
    ),
    FineType(
        "locale_code", "Language", "A language with a country.", "pt-BR", False, _S + "inLanguage"
    ),
    FineType("colour_name", None, "The name of a colour.", "dark blue", False, _S + "color"),
    FineType(
        "colour_code",
        None,
        "A colour as a hexadecimal or RGB code.",
        "#1e90ff",
        False,
        _S + "color",
    ),
    FineType(
        "category_code",
        "CategoryCode",
        "A short code for a class of things.",
        "B2",
        False,
        _S + "CategoryCode",
    ),
    FineType("row_number", "Number", "Numbers in sequence, one per row.", "17"),
    FineType(
        "primary_key",
        "IdentifierAT",
        "A key that differs in every row.",
        "10432",
        False,
        _S + "identifier",
    ),
    FineType("foreign_key", "IdentifierAT", "A key that refers to rows elsewhere.", "C-204"),
    FineType("constant", None, "The same value in every row.", "active"),
    FineType(
        "free_text",
        None,
        "Prose of a sentence or more.",
        "A quiet house with a view of the harbour.",
    ),
    FineType("emoji", None, "Emoji and nothing else.", "🎉"),
)
