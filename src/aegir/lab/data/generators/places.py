"""Countries, regions, towns, addresses and telephone numbers in the ways of many countries.

Country and language names come from CLDR (babel), addresses from faker's locales, telephone numbers from the
numbering plans of phonenumbers: the example of a region with its last digits drawn anew.
"""

from functools import lru_cache
from random import Random

from aegir.lab.data.generators.cells import CASINGS, Cell, choose, listed, mixture, one_of, repeated
from aegir.lab.data.generators.people import speaker

_ADDRESS_LOCALES = listed("locales of addresses")
_REAL_TOWNS = listed("locales with real towns")
"""Locales in which faker's towns exist."""
_LANGUAGES = listed("languages of country names")
_SHORT_NAMES = listed("short country names")


_NO_COUNTRIES = frozenset(["EU", "EZ", "UN", "XA", "XB", "ZZ"])


@lru_cache(maxsize=16)
def _countries(language: str) -> tuple[tuple[str, str], ...]:
    from babel import Locale

    territories = Locale(language).territories
    return tuple(
        (code, str(name))
        for code, name in sorted(territories.items())
        if code.isalpha() and code not in _NO_COUNTRIES
    )


@lru_cache(maxsize=16)
def _languages(language: str) -> tuple[tuple[str, str], ...]:
    from babel import Locale

    names = Locale(language).languages
    return tuple((code, str(name)) for code, name in sorted(names.items()) if len(code) == 2)


def _country_names(random: Random) -> Cell:
    casing = random.choice(CASINGS)
    used = random.sample(_countries(random.choice(_LANGUAGES)), random.randint(1, 12))
    return lambda: casing(random.choice(used)[1])


def _country_codes(random: Random) -> Cell:
    main = random.choice(listed("main country codes"))
    used = [main] * 6 + [code for code, _ in random.sample(_countries("en"), random.randint(1, 5))]
    return lambda: random.choice(used)


country = repeated(
    mixture({_country_names: 0.55, _country_codes: 0.35, one_of(_SHORT_NAMES, 1, 2): 0.1}), 0.03
)


def language(random: Random) -> Cell:
    """Names in one language, codes, or tags with a region."""
    style = choose(random, {"name": 5, "code": 2, "tag": 2, "list": 1})
    common = listed("language codes")
    used = random.sample(common, random.randint(1, 4))
    if style == "code":
        return lambda: random.choice(used)
    if style == "tag":
        tags = listed("language tags")

        def tag() -> str:
            code = random.choice(used)
            own = [tag for tag in tags if tag.startswith(f"{code}-")]
            return random.choice(own or [f"{code}-{code.upper()}"])

        return tag
    names = dict(_languages(random.choice(_LANGUAGES)))
    title = random.random() < 0.8

    def name(code: str) -> str:
        return names[code].capitalize() if title else names[code]

    if style == "name":
        return lambda: name(random.choice(used))
    joint = random.choice([", ", " ", "/"])
    return lambda: joint.join(name(code) for code in dict.fromkeys(random.choices(common, k=3)))


_STATES = listed("states of the USA")
_OTHER_CODES = listed("other region codes")


def _region_names(random: Random) -> Cell:
    voice = speaker(random, _ADDRESS_LOCALES)
    used = [str(voice.administrative_unit()) for _ in range(random.randint(1, 6))]
    casing = random.choice(CASINGS)
    return lambda: casing(random.choice(used))


region = mixture(
    {_region_names: 0.55, one_of(_STATES, 1, 8): 0.35, one_of(_OTHER_CODES, 1, 4): 0.1}
)


def town(random: Random) -> Cell:
    """Towns that exist, of one country, few or many of them."""
    voice, casing = speaker(random, _REAL_TOWNS), random.choice(CASINGS)
    used = [str(voice.city()) for _ in range(random.choice([1, 3, 8]))]
    return lambda: casing(random.choice(used))


def postal_code(random: Random) -> Cell:
    """Postal codes of one country."""
    voice = speaker(random, _ADDRESS_LOCALES)
    used = [str(voice.postcode()) for _ in range(random.choice([1, 3, 8]))]
    return lambda: random.choice(used)


def street_address(random: Random) -> Cell:
    """Street and number, on one line."""
    voice = speaker(random, _ADDRESS_LOCALES)
    return lambda: str(voice.street_address()).replace("\n", ", ")


def postal_address(random: Random) -> Cell:
    """A whole address on one line, parts left out the same way throughout."""
    voice, joint = (
        speaker(random, _ADDRESS_LOCALES),
        random.choice([", ", ", ", ", ", " ", ",", " - "]),
    )
    layout = random.choice(listed("postal address"))
    land = random.choice(listed("countries in addresses"))

    def cell() -> str:
        return layout.format(
            s=str(voice.street_address()).replace("\n", ", "),
            t=voice.city(),
            p=voice.postcode(),
            r=voice.administrative_unit(),
            c=land,
            j=joint,
        )

    return cell


_REGIONS = listed("telephone regions")


def telephone(random: Random) -> Cell:
    """Numbers of one region written one way; some sites repeat the same number in every row."""
    import phonenumbers

    region_code = random.choice(_REGIONS)
    example = phonenumbers.example_number_for_type(
        region_code, phonenumbers.PhoneNumberType.FIXED_LINE
    )
    assert example is not None
    form = random.choice([0, 1, 1, 2, 2, 2])  # E164, international, national
    marks = str.maketrans(random.choice([{}, {}, {" ": "-"}, {" ": "."}, {" ": "", "-": ""}]))
    american = choose(random, "American telephone")
    areas = random.sample(range(201, 990), random.choice([1, 3, 8]))

    def cell() -> str:
        if region_code in ("US", "CA"):
            return american.format(
                random.choice(areas), random.randint(200, 999), f"{random.randrange(10000):04}"
            )
        text = str(phonenumbers.format_number(example, form)).translate(marks)
        kept = 4
        return text[:kept] + "".join(
            str(random.randrange(10)) if mark.isdigit() else mark for mark in text[kept:]
        )

    return cell


def fax(random: Random) -> Cell:
    """As telephone; a few sites say that it is a fax."""
    cell = telephone(random)
    word = random.choice(["Fax: ", "Fax ", "F: "]) if random.random() < 0.07 else ""
    return lambda: word + cell()
