"""Countries, regions, towns, addresses and telephone numbers in the ways of many countries.

Country and language names come from CLDR (babel), addresses from faker's locales, telephone numbers from the
numbering plans of phonenumbers: the example of a region with its last digits drawn anew.
"""

from functools import lru_cache
from random import Random

from aegir.data.generators.cells import (
    CASINGS,
    Cell,
    choose,
    mixture,
    one_of,
    options,
    repeated,
)
from aegir.data.generators.people import speaker

_ADDRESS_LOCALES = (
    *(
        "en_US",
        "en_US",
        "en_US",
        "en_US",
        "en_GB",
        "en_GB",
        "en_AU",
        "en_CA",
        "en_CA",
        "en_IN",
        "de_DE",
        "de_DE",
    ),
    *(
        "fr_FR",
        "es_ES",
        "it_IT",
        "nl_NL",
        "pt_BR",
        "pl_PL",
        "sv_SE",
        "da_DK",
        "fi_FI",
        "cs_CZ",
        "es_MX",
        "ja_JP",
    ),
)
_REAL_TOWNS = (
    "de_DE",
    "es_ES",
    "it_IT",
    "nl_NL",
    "sv_SE",
    "da_DK",
    "fi_FI",
    "cs_CZ",
    "pl_PL",
    "en_IN",
)
"""Locales in which faker's towns exist."""
_LANGUAGES = ("en", "en", "en", "en", "de", "fr", "es", "it", "nl", "pl", "ru", "pt")
_SHORT_NAMES = options("US|USA|U.S.A.|UK|GBR|DEU|FRA|ESP|ITA|AUS|CAN|NZL|IND|BRA|NLD|CHE|AUT|MEX")


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
    main = random.choice(["US", "US", "US", "GB", "CA", "AU", "DE", "FR", "IT", "IN", "NZ", "ZA"])
    used = [main] * 6 + [code for code, _ in random.sample(_countries("en"), random.randint(1, 5))]
    return lambda: random.choice(used)


country = repeated(
    mixture({_country_names: 0.55, _country_codes: 0.35, one_of(_SHORT_NAMES, 1, 2): 0.1}), 0.03
)


def language(random: Random) -> Cell:
    """Names in one language, codes, or tags with a region."""
    style = choose(random, {"name": 5, "code": 2, "tag": 2, "list": 1})
    common = options("en|en|en|de|fr|es|it|nl|pt|ru|zh|ja|ar|pl|sv|ca")
    used = random.sample(common, random.randint(1, 4))
    if style == "code":
        return lambda: random.choice(used)
    if style == "tag":
        regions = {
            "en": ["US", "GB"],
            "pt": ["BR", "PT"],
            "zh": ["CN"],
            "ja": ["JP"],
            "sv": ["SE"],
            "ar": ["SA"],
            "ca": ["ES"],
        }
        return lambda: (
            (code := random.choice(used)) + "-" + random.choice(regions.get(code, [code.upper()]))
        )
    names = dict(_languages(random.choice(_LANGUAGES)))
    title = random.random() < 0.8

    def name(code: str) -> str:
        return names[code].capitalize() if title else names[code]

    if style == "name":
        return lambda: name(random.choice(used))
    joint = random.choice([", ", " ", "/"])
    return lambda: joint.join(name(code) for code in dict.fromkeys(random.choices(common, k=3)))


_STATES = options(
    "AL|AK|AZ|AR|CA|CO|CT|DE|FL|GA|HI|ID|IL|IN|IA|KS|KY|LA|ME|MD|MA|MI|MN|MS|MO|MT|"
    "NE|NV|NH|NJ|NM|NY|NC|ND|OH|OK|OR|PA|RI|SC|SD|TN|TX|UT|VT|VA|WA|WV|WI|WY"
)
_OTHER_CODES = options("ON|QC|BC|AB|SK|MB|NS|NB|NL|PE|NSW|QLD|VIC|WA|SA|TAS|ACT|NT")


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
    layout = random.choice(
        options(
            "{s}{j}{t}{j}{p}|{s}{j}{p} {t}|{s}{j}{t}{j}{r} {p}|{t}{j}{r}{j}{c}|"
            "{s}{j}{p} {t}{j}{c}|{t}{j}{r}"
        )
    )
    land = random.choice(["USA", "United States", "Germany", "France", "GB", "US", "Australia"])

    def cell() -> str:
        return layout.format(
            s=str(voice.street_address()).replace("\n", ", "), t=voice.city(), p=voice.postcode(),
            r=voice.administrative_unit(), c=land, j=joint,
        )  # fmt: skip

    return cell


_REGIONS = ("US", "US", "US", "US", "CA", "GB", "GB", "AU", "NZ", "IN", "DE", "DE", "FR", "FR", "ES", "IT", "NL", "BE", "CH",
            "AT", "SE", "NO", "DK", "FI", "PL", "CZ", "PT", "BR", "MX", "ZA", "MY", "SG", "JP", "IE", "GR", "TR", "RO")  # fmt: skip


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
    american = choose(
        random,
        {
            "({}) {}-{}": 4,
            "{}-{}-{}": 4,
            "{}.{}.{}": 1.5,
            "{}{}{}": 1,
            "+1-{}-{}-{}": 1,
            "1-{}-{}-{}": 0.5,
            "{} {} {}": 0.5,
        },
    )
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
