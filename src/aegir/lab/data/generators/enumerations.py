"""Schema.org's closed lists as publishers write them: as URLs, as bare members, in words, in their own language.

    https://schema.org/InStock · InStock · In stock · Auf Lager

The members come from the Schema.org and GoodRelations vocabularies; the shares imitate what web tables show
(nearly every event is scheduled, most goods are new and in stock).
"""

from collections.abc import Callable, Mapping
from random import Random

from aegir.lab.data.generators.cells import (
    Cell,
    Generator,
    choose,
    lists_of,
    mixture,
    one_of,
    repeated,
    spaced,
    weighted,
)

_PREFIXES = weighted("schema.org prefixes")
_WORD_CASINGS: tuple[Callable[[str], str], ...] = (str, str, str.lower, str.capitalize)
_GOOD_RELATIONS = {"http://purl.org/goodrelations/v1#": 0.9, "": 0.1}


def members(
    names: str | Mapping[str, float],
    prefixes: Mapping[str, float] = _PREFIXES,
    several: float = 0.0,
    words: float = 0.1,
) -> Generator:
    """Columns of an enumeration, given by weights or by the name of a list; `several` and `words` are shares."""
    weights = weighted(names) if isinstance(names, str) else names

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
            members("availability"): 0.88,
            one_of("availability in words", 1, 3): 0.12,
        }
    )
)
condition = repeated(
    mixture(
        {
            members("condition"): 0.85,
            one_of("condition in words", 1, 2): 0.12,
            one_of("condition of books", 2, 4): 0.03,
        }
    )
)
event_status = members("event status", words=0.05)
attendance_mode = members("attendance mode", words=0.03)
diet = mixture(
    {
        members("diet", several=0.4, words=0.08): 0.85,
        lists_of("diet in words", 1, 3): 0.15,
    }
)
delivery_method = mixture(
    {
        members("delivery method", _GOOD_RELATIONS, several=0.4, words=0.0): 0.85,
        members({"OnSitePickup": 3, "ParcelService": 2, "LockerDelivery": 0.5}, words=0.1): 0.15,
    }
)
book_format = mixture(
    {
        members("book format"): 0.6,
        one_of("book format in English", 1, 4): 0.28,
        one_of("book format in other languages", 1, 3): 0.12,
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
        one_of("film ratings", 2, 6): 0.65,
        one_of("television ratings", 1, 4): 0.15,
        one_of("British film ratings", 2, 5): 0.05,
        one_of("German film ratings", 1, 4): 0.05,
        one_of(["0+", "6+", "12+", "16+", "18+"], 1, 4): 0.04,
        one_of("other film ratings", 2, 5): 0.06,
    }
)
payment = mixture(
    {
        lists_of("payment", 1, 6): 0.7,
        lists_of("payment in German", 1, 4): 0.08,
        lists_of("payment in French", 1, 5): 0.08,
        lists_of("payment in Spanish", 1, 4): 0.05,
        lists_of("payment in Italian", 1, 4): 0.05,
        one_of("payment in words", 1, 1): 0.04,
    }
)
