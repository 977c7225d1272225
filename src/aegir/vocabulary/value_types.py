"""Column types that are bare values: dates, numbers, quantities, codes, links and closed lists.

Each entry reads: name -> (class it is filed under, invented example, definition). `types.py` turns these
entries into `ColumnType`s; nothing else should import this module.
"""

VALUE_TYPES: dict[str, tuple[str, str, str]] = {
    "Boolean": (
        "DataType",
        "true",
        "A yes-or-no answer, written with two opposite marks such as true/false, yes/no or 1/0.",
    ),
    "Date": (
        "DataType",
        "2031-04-17",
        "A calendar day, month or bare year without a time of day. With a time of day it is DateTime.",
    ),
    "DateTime": (
        "DataType",
        "2031-04-17T18:30:00+02:00",
        "A calendar day together with a time of day, with or without an offset: a moment, as in logs "
        "and feeds. Without the time of day it is Date, without the day it is Time.",
    ),
    "Time": (
        "DataType",
        "18:30",
        "A time of day that belongs to no particular date, such as a check-in or opening time. A "
        "length of time is Duration.",
    ),
    "Number": (
        "DataType",
        "42",
        "A plain count or score without unit or currency: pages, episodes, ratings, votes. With a unit "
        "it is a quantity (Mass, Distance, Energy), and a count of things made or offered is a "
        "QuantitativeValue.",
    ),
    "URL": (
        "DataType",
        "https://www.example.org/events/17",
        "A link to a page or other resource, absolute or relative. A link to a picture is Photograph.",
    ),
    "Distance": (
        "Quantity",
        "182 cm",
        "A length: height, width, depth or the way between two points, usually with its unit. People's "
        "heights in feet and inches belong here.",
    ),
    "Duration": (
        "Quantity",
        "PT1H25M",
        "A length of time: a running time, a cooking time or the length of a stay, as ISO 8601 (PT25M) "
        "or in words (25 min). A time on the clock is Time.",
    ),
    "Energy": (
        "Quantity",
        "310 kcal",
        "An amount of energy, nearly always the calories or kilojoules of a dish.",
    ),
    "Mass": (
        "Quantity",
        "14 g",
        "An amount of a substance given with a unit of mass, typically a nutrient per serving (fat, "
        "sugar, sodium). How heavy a product or person is belongs to weight.",
    ),
    "weight": (
        "Quantity",
        "78 kg",
        "How heavy one product or person is, with or without its unit. Amounts of nutrients are Mass.",
    ),
    "QuantitativeValue": (
        "Quantity",
        "12 pancakes",
        "How many of something are made, offered, left or fit in: servings, rooms, places, stock; "
        "sometimes with the thing counted. Scores and page counts are Number.",
    ),
    "unitCode": (
        "Quantity",
        "KGM",
        "The unit of a measurement as a short UN/CEFACT code in capitals (KGM, CMT, INH, LBR). Units "
        "as people write them are unitText.",
    ),
    "unitText": (
        "Quantity",
        "kg",
        "The unit of a measurement as people write it (kg, mm, troy oz). Three-letter standard codes "
        "are unitCode.",
    ),
    "BookFormatType": (
        "Enumeration",
        "Hardcover",
        "How a book is bound or delivered: hardcover, paperback, e-book, audiobook.",
    ),
    "DayOfWeek": (
        "Enumeration",
        "Tuesday",
        "One or several names of weekdays, without times. Weekdays with times are openingHours.",
    ),
    "DeliveryMethod": (
        "Enumeration",
        "http://purl.org/goodrelations/v1#DeliveryModePickUp",
        "How a purchase reaches its buyer: post, courier, pick-up, download; often a GoodRelations term.",
    ),
    "EventAttendanceModeEnumeration": (
        "Enumeration",
        "https://schema.org/MixedEventAttendanceMode",
        "Whether an event is attended on site, online or both ways. Whether it takes place at all is "
        "EventStatusType.",
    ),
    "EventStatusType": (
        "Enumeration",
        "https://schema.org/EventPostponed",
        "Whether an event goes ahead as planned, is cancelled, postponed, rescheduled or moved online.",
    ),
    "GenderType": (
        "Enumeration",
        "female",
        "The gender of a person, spelt out or as a letter.",
    ),
    "ItemAvailability": (
        "Enumeration",
        "https://schema.org/InStock",
        "Whether an offer can be had now: in stock, sold out, pre-order, online only.",
    ),
    "OfferItemCondition": (
        "Enumeration",
        "https://schema.org/UsedCondition",
        "The state of what is offered: new, used, refurbished or damaged.",
    ),
    "RestrictedDiet": (
        "Enumeration",
        "https://schema.org/VeganDiet",
        "A diet that a dish respects, from Schema.org's list: vegan, gluten-free, halal, low-fat.",
    ),
    "Rating": (
        "Intangible",
        "PG-13",
        "For which audience a film, programme or game is suitable, as an age or content rating. Stars "
        "and scores are Number; opinions in words are Review.",
    ),
    "CategoryCode": (
        "DefinedTerm",
        "27-1024.00 Graphic Designers",
        "A class from a scheme of classes with its code or standard wording, mostly occupations of "
        "job offers. Free shop or content categories are category.",
    ),
    "category": (
        "DefinedTerm",
        "Garden > Tools > Rakes",
        "The group a product, offer or ticket is put in by its seller, as free words or a path of "
        "groups. Entries of an official scheme are CategoryCode.",
    ),
    "IdentifierAT": (
        "Intangible",
        "978-3-16-148410-0",
        "A code that names one thing among its kind: ISBN, GTIN, SKU, order or record number. A name "
        "for a make of product is ProductModel.",
    ),
    "Language": (
        "Intangible",
        "pt-BR",
        "A human language, by name or by code (English, eng, pt-BR).",
    ),
}
