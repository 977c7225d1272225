"""Relations of products, offers, ratings, events and jobs: price, stock, identity, dates, opponents.

Each entry reads: name -> (kinds of subject it describes, invented example, definition). `relations.py`
turns these entries into `Relation`s and files each under its first kind; nothing else should import
this module.
"""

OFFER_RELATIONS: dict[str, tuple[tuple[str, ...], str, str]] = {
    "availability": (
        ("Offer", "Product", "Event", "Book"),
        "https://schema.org/InStock",
        "Whether the subject can be bought now.",
    ),
    "availableDeliveryMethod": (
        ("Offer", "Product"),
        "http://purl.org/goodrelations/v1#DeliveryModePickUp",
        "How the subject reaches its buyer.",
    ),
    "awayTeam": (
        ("SportsEvent",),
        "Eastmere United",
        "The guest side of a match.",
    ),
    "bestRating": (
        ("Thing",),
        "5",
        "The top of the scale on which the subject is rated; the same in nearly every row.",
    ),
    "brand": (
        ("Product", "Organization", "Place"),
        "Nordlys",
        "The make under which the subject is sold or run. Who builds it is manufacturer.",
    ),
    "category": (
        ("Offer", "Product", "Event"),
        "Garden > Tools > Rakes",
        "The group a seller puts the offer in.",
    ),
    "color": (
        ("Product",),
        "Moss green",
        "The colour of a product.",
    ),
    "datePosted": (
        ("JobPosting",),
        "2031-02-11",
        "When a job offer was put up. Its last day is validThrough.",
    ),
    "employmentType": (
        ("JobPosting",),
        "Part-time",
        "The kind of employment: full-time, temporary, freelance.",
    ),
    "endDate": (
        ("Event",),
        "2031-04-17T22:00:00+02:00",
        "When an event ends.",
    ),
    "eventAttendanceMode": (
        ("Event",),
        "https://schema.org/OnlineEventAttendanceMode",
        "Whether an event is attended on site, online or both ways.",
    ),
    "eventStatus": (
        ("Event",),
        "https://schema.org/EventScheduled",
        "Whether an event goes ahead as planned.",
    ),
    "gtin": (
        ("Product",),
        "2001234567893",
        "The number under a product's bar code (GTIN, EAN, UPC). Other shop keys are productID.",
    ),
    "hiringOrganization": (
        ("JobPosting",),
        "Brightwater Press Ltd",
        "Who offers a job.",
    ),
    "homeTeam": (
        ("SportsEvent",),
        "Northgate Rovers",
        "The side that plays at home.",
    ),
    "itemCondition": (
        ("Offer", "Product", "Book"),
        "https://schema.org/UsedCondition",
        "Whether the subject is new, used or refurbished.",
    ),
    "location": (
        ("Event", "Organization"),
        "Riverside Community Hall",
        "Where an event happens: a venue, its address, or the word online.",
    ),
    "manufacturer": (
        ("Product",),
        "Nordlys Werke AG",
        "Who builds a product. The make it is sold under is brand.",
    ),
    "material": (
        ("Product",),
        "Solid oak",
        "What a product is made of.",
    ),
    "measurements": (
        ("Product", "Person"),
        "182 cm",
        "A length of the subject: height, width or depth. Schema.org has a term for each; this is "
        "the group of them.",
    ),
    "model": (
        ("Product",),
        "XR-450B",
        "The maker's model name or type number.",
    ),
    "organizer": (
        ("Event",),
        "Eastmere Pottery Guild",
        "Who runs an event.",
    ),
    "performer": (
        ("Event",),
        "The Copper Lanterns",
        "Who appears at an event.",
    ),
    "price": (
        ("Offer", "Product", "Event", "Book"),
        "24.90",
        "What the subject costs.",
    ),
    "priceCurrency": (
        ("Offer", "Product", "Event", "Book"),
        "EUR",
        "The currency of the subject's price.",
    ),
    "productID": (
        ("Product",),
        "NL-20417",
        "The key of a product in a shop's or maker's catalogue, such as an SKU.",
    ),
    "ratingValue": (
        ("Thing",),
        "4.3",
        "The score users gave the subject, between worstRating and bestRating.",
    ),
    "releaseDate": (
        ("Product", "CreativeWork"),
        "2030-06-20",
        "When a product, album or version came on the market.",
    ),
    "review": (
        ("Thing",),
        "Friendly staff and a quiet room, but breakfast ends far too early.",
        "An opinion in words about the subject.",
    ),
    "startDate": (
        ("Event",),
        "2031-04-17T19:30:00+02:00",
        "When an event begins.",
    ),
    "unitCode": (
        ("Product",),
        "KGM",
        "The UN/CEFACT code of the unit in which a property of the subject is measured.",
    ),
    "unitText": (
        ("Product",),
        "kg",
        "The written unit in which a property of the subject is measured.",
    ),
    "url": (
        ("Thing",),
        "https://www.example.org/events/17",
        "The page about the subject.",
    ),
    "validFrom": (
        ("Offer", "Event"),
        "2031-01-15T10:00:00+01:00",
        "From when an offer can be taken up, such as the start of ticket sales.",
    ),
    "validThrough": (
        ("Offer", "JobPosting", "Event"),
        "2031-03-31",
        "Until when an offer or job posting stands.",
    ),
    "weight": (
        ("Product", "Person"),
        "78 kg",
        "How heavy the subject is.",
    ),
    "worstRating": (
        ("Thing",),
        "1",
        "The bottom of the scale on which the subject is rated; the same in nearly every row.",
    ),
}
