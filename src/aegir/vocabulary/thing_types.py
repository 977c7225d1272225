"""Column types for people, organisations, places, products and how to reach or pay them.

Each entry reads: name -> (class it is filed under, invented example, definition). `types.py` turns these
entries into `ColumnType`s; nothing else should import this module.
"""

THING_TYPES: dict[str, tuple[str, str, str]] = {
    "Person/name": (
        "Person",
        "Marisol Tennfjord",
        "The name of a human being: an author, actor, doctor or contact. Bands and composers are "
        "MusicArtistAT.",
    ),
    "email": (
        "Person",
        "orders@example.org",
        "An e-mail address of a person or an office.",
    ),
    "telephone": (
        "Person",
        "+44 20 7946 0123",
        "A number to call, in any national or international notation. Numbers for fax machines are "
        "faxNumber; without a header the two cannot be told apart.",
    ),
    "faxNumber": (
        "Person",
        "(555) 555-0199",
        "A number that answers with a fax machine. It looks like telephone; header and a second number "
        "column beside it decide.",
    ),
    "Organization": (
        "Organization",
        "Brightwater Press Ltd",
        "The name of a company, publisher, school, club or public body. A shop or practice one can "
        "visit is LocalBusiness/name, a make of goods is Brand.",
    ),
    "SportsTeam": (
        "Organization",
        "Eastmere United",
        "The name of a team or of the single athlete who takes a team's place in a match.",
    ),
    "Place/name": (
        "Place",
        "Riverside Community Hall",
        "What a venue, sight or other place is called; often where an event happens. Businesses, "
        "hotels, restaurants and museums have types of their own.",
    ),
    "LocalBusiness/name": (
        "LocalBusiness",
        "Pike Street Dental Care",
        "The name of a shop, practice, agency or branch that serves customers at a place.",
    ),
    "Hotel/name": (
        "Hotel",
        "Hotel Zur Alten Fähre",
        "The name of a hotel, motel, lodge or holiday home.",
    ),
    "Hotel/description": (
        "Hotel",
        "A family-run house with twelve rooms, five minutes from the ferry.",
        "Prose about a hotel or other lodging: its position, rooms and services.",
    ),
    "Restaurant/name": (
        "Restaurant",
        "The Crooked Ladle",
        "The name of a restaurant, café, bar or other place to eat.",
    ),
    "Museum/name": (
        "Museum",
        "Museum of Tidal Clocks",
        "The name of a museum, gallery or comparable house that shows a collection.",
    ),
    "LocationFeatureSpecification": (
        "Place",
        "Free Wi-Fi, lift, indoor pool",
        "What a place has to offer its guests: amenities, services, accessibility; often several in "
        "one cell.",
    ),
    "PostalAddress": (
        "Place",
        "14 Mill Lane, Eastmere, EX1 9ZZ",
        "A whole address in one cell: street with town, code or country. Only the street line is "
        "streetAddress.",
    ),
    "streetAddress": (
        "Place",
        "14 Mill Lane",
        "The street and house number of an address, perhaps with suite or floor, without the town.",
    ),
    "addressLocality": (
        "Place",
        "Eastmere",
        "The town, city or village of an address.",
    ),
    "addressRegion": (
        "Place",
        "CA",
        "The state, province, county or other first-order region of an address, by name or short code.",
    ),
    "postalCode": (
        "Place",
        "EX1 9ZZ",
        "The postal or ZIP code of an address; may have lost its leading zeros on the way.",
    ),
    "Country": (
        "Place",
        "Portugal",
        "A country, by name or by ISO code; also as nationality or country of origin.",
    ),
    "CoordinateAT": (
        "Place",
        "48.2082",
        "A latitude or longitude in degrees, or the pair of them in one cell.",
    ),
    "openingHours": (
        "Place",
        "Mo-Fr 09:00-17:00",
        "When a place serves visitors: weekdays with times. Hours of a job are workHours, weekdays "
        "alone are DayOfWeek, a single time is Time.",
    ),
    "paymentAccepted": (
        "LocalBusiness",
        "Cash, Visa, Mastercard",
        "How customers may pay at a place: cash, cards, cheques, payment services.",
    ),
    "priceRange": (
        "LocalBusiness",
        "$$ - $$$",
        "How dear a place is, as a span of prices or a row of currency signs. One amount for one "
        "thing is price.",
    ),
    "Product/name": (
        "Product",
        "Folding Camp Stool, Olive",
        "What an article for sale is called, often with size, colour or pack. Its maker's type number "
        "is ProductModel.",
    ),
    "Product/description": (
        "Product",
        "Sturdy oak frame, washable cover, folds flat for storage.",
        "Prose about an article for sale: material, use, care.",
    ),
    "ProductModel": (
        "Product",
        "XR-450B",
        "The model name or type number a maker gives a product. Keys of shops and registers (SKU, "
        "GTIN) are IdentifierAT.",
    ),
    "Brand": (
        "Product",
        "Nordlys",
        "The make under which goods or a chain of places are sold. The company behind it is "
        "Organization.",
    ),
    "price": (
        "Offer",
        "24.90",
        "What one thing costs its buyer: an amount with or without a currency sign. A span for a whole "
        "place is priceRange, pay is MonetaryAmount.",
    ),
    "currency": (
        "Offer",
        "EUR",
        "The currency of an amount, as ISO 4217 code, sign or name, without the amount.",
    ),
}
