"""Relations of people, organisations and places: names, contact, address, hours, life dates.

Each entry reads: name -> (kinds of subject it describes, invented example, definition). `relations.py`
turns these entries into `Relation`s and files each under its first kind; nothing else should import
this module.
"""

PERSON_AND_PLACE_RELATIONS: dict[str, tuple[tuple[str, ...], str, str]] = {
    "address": (
        ("Place", "Organization", "Event", "Person"),
        "14 Mill Lane, Eastmere, EX1 9ZZ",
        "Where the subject is, as a whole address in one cell. Its parts have relations of their own.",
    ),
    "addressCountry": (
        ("Place", "Organization", "Event", "Person"),
        "Portugal",
        "The country of the subject's address. Where a person belongs is nationality, where a work was "
        "made is countryOfOrigin.",
    ),
    "addressLocality": (
        ("Place", "Organization", "Event", "Person"),
        "Eastmere",
        "The town of the subject's address.",
    ),
    "addressRegion": (
        ("Place", "Organization", "Event", "Person"),
        "CA",
        "The state, province or county of the subject's address.",
    ),
    "alumniOf": (
        ("Person",),
        "Eastmere College of Law, 2019",
        "The school or university a person attended.",
    ),
    "amenityFeature": (
        ("Place",),
        "Lift, sauna, bicycle hire",
        "What a place has to offer its guests.",
    ),
    "availableLanguage": (
        ("Place", "Organization"),
        "Deutsch, English",
        "The languages in which guests or callers are served. The language of a text is inLanguage.",
    ),
    "birthDate": (
        ("Person",),
        "1987-11-02",
        "The day or year a person was born.",
    ),
    "birthPlace": (
        ("Person",),
        "Port Almera",
        "The town or country where a person was born.",
    ),
    "checkInTime": (
        ("LodgingBusiness",),
        "15:00",
        "From when a guest may take the room.",
    ),
    "checkoutTime": (
        ("LodgingBusiness",),
        "11:00",
        "By when a guest must leave the room.",
    ),
    "closes": (
        ("Place", "Organization"),
        "18:00",
        "The time of day at which the subject stops serving visitors.",
    ),
    "currenciesAccepted": (
        ("LocalBusiness",),
        "GBP, EUR",
        "The currencies a business takes. The currency of one offer is priceCurrency.",
    ),
    "dayOfWeek": (
        ("Place", "Organization"),
        "Monday Tuesday Friday",
        "The weekdays on which the subject's hours apply.",
    ),
    "deathDate": (
        ("Person",),
        "2021-03-30",
        "The day or year a person died.",
    ),
    "email": (
        ("Person", "Organization", "Place", "Event"),
        "orders@example.org",
        "An e-mail address at which the subject, or its organiser, is reached.",
    ),
    "familyName": (
        ("Person",),
        "Tennfjord",
        "A person's surname.",
    ),
    "faxNumber": (
        ("Person", "Organization", "Place"),
        "(555) 555-0199",
        "The number of the subject's fax machine.",
    ),
    "gender": (
        ("Person",),
        "female",
        "A person's gender.",
    ),
    "givenName": (
        ("Person",),
        "Marisol",
        "A person's first name or names.",
    ),
    "honorificSuffix": (
        ("Person",),
        "PhD, RN",
        "Degrees and titles written after a person's name.",
    ),
    "jobTitle": (
        ("Person", "JobPosting"),
        "Head of Procurement",
        "What a person does for a living, or the position a job offer fills.",
    ),
    "latitude": (
        ("Place", "Event"),
        "48.2082",
        "How far north or south of the equator the subject lies, in degrees from -90 to 90.",
    ),
    "longitude": (
        ("Place", "Event"),
        "16.3738",
        "How far east or west of Greenwich the subject lies, in degrees from -180 to 180.",
    ),
    "nationality": (
        ("Person",),
        "Norwegian",
        "The country or people a person belongs to.",
    ),
    "openingHours": (
        ("Place", "Organization"),
        "Mo-Fr 09:00-17:00",
        "On which weekdays and at what times the subject serves visitors. Split columns are dayOfWeek, "
        "opens and closes.",
    ),
    "opens": (
        ("Place", "Organization"),
        "09:00",
        "The time of day from which the subject serves visitors.",
    ),
    "paymentAccepted": (
        ("LocalBusiness",),
        "Cash, Visa, Mastercard",
        "How customers may pay.",
    ),
    "postalCode": (
        ("Place", "Organization", "Event", "Person"),
        "EX1 9ZZ",
        "The postal code of the subject's address.",
    ),
    "priceRange": (
        ("LocalBusiness",),
        "$$",
        "How dear a business is as a whole, as a span or currency signs. One offer's amount is price.",
    ),
    "servesCuisine": (
        ("Restaurant",),
        "Georgian",
        "The cuisine a restaurant cooks. The cuisine of a recipe is recipeCuisine.",
    ),
    "streetAddress": (
        ("Place", "Organization", "Event", "Person"),
        "14 Mill Lane",
        "The street line of the subject's address.",
    ),
    "telephone": (
        ("Person", "Organization", "Place", "Event"),
        "+44 20 7946 0123",
        "A number at which the subject, or its organiser, is called.",
    ),
}
