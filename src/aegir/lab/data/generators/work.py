"""What job offers list: titles, degrees, experience, occupation codes.

Occupation codes are groups of the Standard Occupational Classification (a public list).
"""

from random import Random

from aegir.lab.data.generators.cells import (
    Cell,
    choose,
    listed,
    listed_mixture,
    lists_of,
    mixture,
    one_of,
)
from aegir.lab.data.generators.people import speaker

_FIELDS = listed("field of work")


def _occupation_codes(random: Random) -> Cell:
    form = choose(random, {"{code} {name}": 4, "{name} {code}": 3, "{code}": 1.5, "{name}": 1})
    used = random.sample(listed("occupation"), random.randint(1, 6))

    def cell() -> str:
        code, _, name = random.choice(used).partition(" ")
        return form.format(code=code, name=name)

    return cell


occupation = mixture(
    {_occupation_codes: 0.4, one_of(_FIELDS, 1, 6): 0.4, lists_of(_FIELDS, 1, 3): 0.2}
)


def _fill_years(random: Random, template: str) -> str:
    low = random.randint(1, 8)
    return template.format(
        n=low,
        m=low + random.randint(1, 5),
        k=random.choice([3, 6, 12, 18, 24, 36, 60]),
        w=["one", "two", "three", "four", "five", "six", "seven", "eight"][low - 1],
    )


def _fill_credential(random: Random, template: str) -> str:
    return template.format(f=random.choice(_FIELDS[:30]), n=random.randint(1, 6))


experience = listed_mixture("experience", _fill_years)
credential = listed_mixture("credential", _fill_credential)


def job_title(random: Random) -> Cell:
    """Job titles of one site, with its way of adding level, contract or place."""
    voice = speaker(random, ("en_US", "en_US", "en_GB", "de_DE", "fr_FR", "es_ES", "nl_NL"))
    roles = listed("role")
    form = choose(random, "job title")

    def cell() -> str:
        return form.format(
            j=voice.job(),
            l=random.choice(["Senior", "Junior", "Lead", "Assistant", "Head", "Principal"]),
            f=random.choice(_FIELDS[:30]),
            r=random.choice(roles),
            c=voice.city(),
        )

    return cell
