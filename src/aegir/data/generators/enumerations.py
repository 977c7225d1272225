"""Schema.org's closed lists as publishers write them: as URLs, as bare members, in words, in their own language.

    https://schema.org/InStock · InStock · In stock · Auf Lager

The members come from the Schema.org and GoodRelations vocabularies; the shares imitate what web tables show
(nearly every event is scheduled, most goods are new and in stock).
"""

from collections.abc import Callable, Mapping
from random import Random

from aegir.data.generators.cells import (
    Cell,
    Generator,
    choose,
    lists_of,
    mixture,
    one_of,
    options,
    repeated,
    spaced,
)

_PREFIXES = {
    "http://schema.org/": 0.34,
    "https://schema.org/": 0.34,
    "": 0.28,
    "http://www.schema.org/": 0.02,
    "schema:": 0.02,
}
_WORD_CASINGS: tuple[Callable[[str], str], ...] = (str, str, str.lower, str.capitalize)
_GOOD_RELATIONS = {"http://purl.org/goodrelations/v1#": 0.9, "": 0.1}


def members(
    weights: Mapping[str, float],
    prefixes: Mapping[str, float] = _PREFIXES,
    several: float = 0.0,
    words: float = 0.1,
) -> Generator:
    """Columns of an enumeration; `several` and `words` are shares of columns."""

    def generator(random: Random) -> Cell:
        in_words = random.random() < words
        prefix = "" if in_words else choose(random, prefixes)
        listing = random.random() < several
        casing = random.choice(_WORD_CASINGS) if in_words else str
        used = dict(random.sample(list(weights.items()), random.randint(1, len(weights))))
        used[max(weights, key=lambda name: weights[name])] = max(weights.values())

        def one(member: str) -> str:
            return prefix + (casing(spaced(member)) if in_words else member)

        def cell() -> str:
            count = random.randint(1, min(4, len(used))) if listing else 1
            drawn = dict.fromkeys(choose(random, used) for _ in range(count))  # in the order drawn
            return " ".join(one(member) for member in sorted(drawn, key=lambda _: random.random()))

        return cell

    return generator


availability = repeated(
    mixture(
        {
            members(
                {
                    "InStock": 8,
                    "OutOfStock": 3,
                    "PreOrder": 0.7,
                    "BackOrder": 0.4,
                    "InStoreOnly": 0.3,
                    "LimitedAvailability": 0.5,
                    "OnlineOnly": 0.6,
                    "SoldOut": 0.8,
                    "Discontinued": 0.4,
                    "PreSale": 0.2,
                    "MadeToOrder": 0.2,
                }
            ): 0.88,
            one_of(
                options(
                    "Auf Lager|Nicht vorrätig|Sofort lieferbar|Lieferbar in 3-5 Tagen|En stock|"
                    "Disponible|Rupture de stock|Sur commande|Agotado|Disponibile|Non disponibile|"
                    "Op voorraad|In voorraad|Uitverkocht|Skladem|Na dotaz|Dostępny|Brak w magazynie|"
                    "I lager|Slut i lager|В наличии|Нет в наличии|In stock, ready to ship|"
                    "Usually ships within 24 hours|Out of stock|Available|Unavailable|"
                    "Temporarily unavailable|Available to order|Em estoque|Esgotado"
                ),
                1,
                3,
            ): 0.12,
        }
    )
)
condition = repeated(
    mixture(
        {
            members(
                {
                    "NewCondition": 8,
                    "UsedCondition": 3,
                    "RefurbishedCondition": 0.6,
                    "DamagedCondition": 0.2,
                }
            ): 0.85,
            one_of(
                options("New|Used|new|used|Refurbished|Neu|Gebraucht|Neuf|Occasion|Nuevo|Usado"),
                1,
                2,
            ): 0.12,
            one_of(
                ["Like New", "Very Good", "Good", "Acceptable", "Fine", "As New", "Mint"], 2, 4
            ): 0.03,
        }
    )
)
event_status = members(
    {
        "EventScheduled": 20,
        "EventCancelled": 2,
        "EventPostponed": 1.5,
        "EventRescheduled": 1,
        "EventMovedOnline": 0.7,
    },
    words=0.05,
)
attendance_mode = members(
    {
        "OfflineEventAttendanceMode": 6,
        "OnlineEventAttendanceMode": 3,
        "MixedEventAttendanceMode": 2,
    },
    words=0.03,
)
_DIETS = {
    "GlutenFreeDiet": 5,
    "VegetarianDiet": 5,
    "VeganDiet": 4,
    "LowCalorieDiet": 2,
    "LowFatDiet": 2,
    "DiabeticDiet": 1.5,
    "LowLactoseDiet": 2,
    "LowSaltDiet": 1,
    "HalalDiet": 0.7,
    "KosherDiet": 0.5,
    "HinduDiet": 0.3,
}
diet = mixture(
    {
        members(_DIETS, several=0.4, words=0.08): 0.85,
        lists_of(
            options(
                "Vegetarian|Vegan|Gluten Free|Gluten-free|Dairy Free|Keto|Paleo|Low Carb|"
                "Nut Free|Whole30|Vegetarisch|Glutenfrei|Laktosefrei|Végétarien|Sans gluten|"
                "Sin gluten|Vegetariano"
            ),
            1,
            3,
        ): 0.15,
    }
)
delivery_method = mixture(
    {
        members(
            {
                "DeliveryModeFreight": 3,
                "DeliveryModeMail": 3,
                "DeliveryModeOwnFleet": 2,
                "UPS": 3,
                "DeliveryModePickUp": 2,
                "DeliveryModeDirectDownload": 1,
                "DHL": 2,
                "FederalExpress": 1,
            },
            _GOOD_RELATIONS,
            several=0.4,
            words=0.0,
        ): 0.85,
        members({"OnSitePickup": 3, "ParcelService": 2, "LockerDelivery": 0.5}, words=0.1): 0.15,
    }
)
book_format = mixture(
    {
        members(
            {
                "Paperback": 5,
                "Hardcover": 4,
                "EBook": 5,
                "AudiobookFormat": 1.5,
                "GraphicNovel": 0.3,
            }
        ): 0.6,
        one_of(
            options(
                "Paperback|Hardback|Hardcover|eBook|ebook|Ebook|Kindle Edition|"
                "Mass Market Paperback|Audio CD|Board book|Spiral-bound|Trade Paperback|"
                "Library Binding|PDF|ePub|MP3 CD|Softcover"
            ),
            1,
            4,
        ): 0.28,
        one_of(
            options(
                "Taschenbuch|Gebundene Ausgabe|Broschiert|Broché|Relié|Poche|Grand format|"
                "Rústica|Tapa dura|Tapa blanda|Brossura|Rilegato|Copertina flessibile|"
                "Oprawa miękka|Oprawa twarda|Häftad|Inbunden|Твердый переплет|Мягкая обложка|"
                "Capa comum|Capa dura"
            ),
            1,
            3,
        ): 0.12,
    }
)
gender = mixture(
    {
        members(
            {"Male": 5, "Female": 5},
            {"": 0.8, "http://schema.org/": 0.15, "https://schema.org/": 0.05},
        ): 0.62,
        one_of(["male", "female"], 1, 2): 0.2,
        one_of(["M", "F"], 1, 2): 0.06,
        one_of(["Männlich", "Weiblich"], 1, 2): 0.03,
        one_of(["Homme", "Femme"], 1, 2): 0.03,
        one_of(["Hombre", "Mujer"], 1, 2): 0.03,
        one_of(["Male", "Female", "Non-binary", "Other", "Prefer not to say", "N/A"], 2, 4): 0.03,
    }
)
boolean = mixture(
    {
        one_of(["true", "false"], 1, 2): 0.5,
        one_of(["True", "False"], 1, 2): 0.35,
        one_of(["TRUE", "FALSE"], 1, 2): 0.05,
        one_of(["Yes", "No"], 1, 2): 0.05,
        one_of(["yes", "no"], 1, 2): 0.05,
    }
)
content_rating = mixture(
    {
        one_of(
            options("G|PG|PG-13|R|NC-17|Not Rated|Unrated|NR|N/A|TV-14|TV-MA|TV-PG"),
            2,
            6,
        ): 0.65,
        one_of(["TV-Y", "TV-Y7", "TV-G", "TV-PG", "TV-14", "TV-MA", "Not Rated"], 1, 4): 0.15,
        one_of(["U", "PG", "12", "12A", "15", "18"], 2, 5): 0.05,
        one_of(
            ["FSK 0", "FSK 6", "FSK 12", "FSK 16", "FSK 18", "FSK ab 12 freigegeben"], 1, 4
        ): 0.05,
        one_of(["0+", "6+", "12+", "16+", "18+"], 1, 4): 0.04,
        one_of(["M", "MA15+", "R18+", "PG", "G", "R16", "R13", "TBC"], 2, 5): 0.06,
    }
)
_PAYMENTS = options(
    "Cash|Credit Card|Debit Card|Visa|MasterCard|Mastercard|American Express|AMEX|"
    "Amex|Discover|Check|Checks|Diners Club|PayPal|Paypal|Apple Pay|Google Pay|"
    "Invoice|Bank transfer|Wire Transfer|Maestro|JCB|ATM|EFTPOS|Financing|"
    "Money Order|Travelers Checks|Gift Card"
)
payment = mixture(
    {
        lists_of(_PAYMENTS, 1, 6): 0.7,
        lists_of(
            options("Barzahlung|EC-Karte|Kreditkarte|Rechnung|Überweisung|PayPal|Vorkasse|Visa"),
            1,
            4,
        ): 0.08,
        lists_of(
            options(
                "Carte bleue|Chèques|Espèces|Chèques vacances|Virement|Visa|Eurocard - Mastercard"
            ),
            1,
            5,
        ): 0.08,
        lists_of(
            ["Efectivo", "Tarjeta de crédito", "Tarjeta de débito", "Transferencia", "PayPal"], 1, 4
        ): 0.05,
        lists_of(["Contanti", "Bonifico", "Carta di credito", "Bancomat", "Assegno"], 1, 4): 0.05,
        one_of(
            [
                "cash, credit card",
                "Cash, Credit Card",
                "Cash, Check, Credit Card",
                "All major credit cards",
            ],
            1,
            1,
        ): 0.04,
    }
)
