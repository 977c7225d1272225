"""Names of people, firms, hotels, museums and teams; e-mail addresses, web pages and pictures.

People, firms and words come from faker in many locales. Hotels, museums, restaurants, teams and episodes follow naming patterns; the words in
them are faker's own towns and surnames, so no real place or show is copied.
"""

from collections.abc import Sequence
from functools import lru_cache
from random import Random
from string import ascii_letters, digits
from typing import TYPE_CHECKING, Any, cast

from aegir.lab.data.generators.cells import Cell, Generator, choose, listed

if TYPE_CHECKING:
    from faker import Faker

_LOCALES = listed("locales")
_LATIN = tuple(locale for locale in _LOCALES if locale not in ("ru_RU", "ja_JP"))


@lru_cache(maxsize=64)
def _voice(locale: str) -> "Faker":
    from faker import Faker

    voice: Any = Faker(locale)
    for provider in voice.providers:
        if "it_IT" in type(provider).__module__ and hasattr(provider, "cities"):
            provider.cities = sorted(provider.cities)  # faker takes them out of a set
    return cast("Faker", voice)


def speaker(random: Random, locales: tuple[str, ...] = _LOCALES) -> "Faker":
    """Return a faker in one of these locales that draws from `random` alone."""
    voice: Any = _voice(random.choice(locales))
    voice.random = random
    return cast("Faker", voice)


def person(random: Random) -> Cell:
    """Full names in one order; some sites give first names or handles only."""
    voice = speaker(random)
    style = choose(random, {"full": 8, "reversed": 1.5, "first": 0.7, "handle": 0.4, "titled": 0.5})
    title = random.choice([", MD", ", PhD", ", DO", ", RN", " MD"])

    def cell() -> str:
        first, last = voice.first_name(), voice.last_name()
        if style == "reversed":
            return f"{last}, {first}"
        if style == "handle":
            return f"{first}{random.randint(1, 99)}".lower()
        return first if style == "first" else f"{first} {last}{title if style == 'titled' else ''}"

    return cell


def _spoken(method: str) -> Generator:
    """Columns of what faker calls this, in one locale."""

    def generator(random: Random) -> Cell:
        voice = speaker(random)
        return lambda: str(getattr(voice, method)())

    return generator


given_name, family_name, company = map(_spoken, ("first_name", "last_name", "company"))


def email(random: Random) -> Cell:
    """Addresses at one domain, at several, or at free mail hosts; some sites repeat one."""
    voice = speaker(random, _LATIN)
    own = str(voice.domain_name())
    style = choose(random, {"own": 5, "any": 3, "free": 2})
    role = random.choice(
        ["info", "contact", "office", "sales", "events", "hello", None, None, None]
    )
    free = listed("mail hosts")

    def cell() -> str:
        host = (
            own
            if style == "own"
            else random.choice(free)
            if style == "free"
            else voice.domain_name()
        )
        return f"{role if role and style != 'free' else voice.user_name()}@{host}"

    return cell


def _slug(voice: "Faker", random: Random) -> str:
    return "-".join(str(voice.word()).lower() for _ in range(random.randint(1, 5)))


def page(random: Random) -> Cell:
    """Pages of one site."""
    voice = speaker(random, ("en_US",))
    site = random.choice(["https://www.", "https://", "http://www.", "http://"]) + str(
        voice.domain_name()
    )
    folder = random.choice(["/", "/product/", "/events/", "/blog/", "/en/", "/p/", "/shop/item/"])
    end = random.choice(["/", "/", "", ".html", ".php"])
    return lambda: f"{site}{folder}{_slug(voice, random)}{end}"


def picture(random: Random) -> Cell:
    """Image files of one site."""
    voice = speaker(random, ("en_US",))
    host = random.choice(
        ["https://cdn.", "https://www.", "https://images.", "//cdn.", "http://"]
    ) + str(voice.domain_name())
    folder = random.choice(
        [
            "/wp-content/uploads/2020/0{n}/",
            "/images/",
            "/media/catalog/",
            "/files/1/{n}/products/",
            "/img/",
        ]
    )
    end = random.choice([".jpg", ".jpg", ".png", ".jpeg", ".webp", "-300x300.jpg", ".jpg?v=15832"])
    return lambda: f"{host}{folder.format(n=random.randint(1, 9))}{_slug(voice, random)}{end}"


def _named(texts: str, fewest: int, most: int) -> Generator:
    """Columns of names that follow a few patterns of the list."""

    def generator(random: Random) -> Cell:
        voice = speaker(random, _LATIN)
        return _pattern(random, voice, random.sample(listed(texts), random.randint(fewest, most)))

    return generator


hotel, restaurant, museum = (
    _named("hotel", 2, 6),
    _named("restaurant", 3, 8),
    _named("museum", 4, 9),
)


def local_business(random: Random) -> Cell:
    """Shops, offices and branches of one chain in many towns."""
    voice = speaker(random, _LATIN)
    chain = str(voice.company())
    forms: Sequence[str] = listed("local business")
    if random.random() < 0.4:
        forms = [random.choice([f"{chain} {{c}}", f"{chain} - {{c}}", f"{chain} of {{c}}"])]
    return _pattern(random, voice, random.sample(forms, min(len(forms), random.randint(1, 6))))


def team(random: Random) -> Cell:
    """Sports teams of one league, by town, nickname or both."""
    voice = speaker(random, _LATIN)
    nicknames = listed("team nicknames")
    form = choose(random, "team")
    return lambda: form.format(c=voice.city(), k=random.choice(nicknames))


def sports_event(random: Random) -> Cell:
    """Matches between two teams, fights between two people, and races."""
    side = team(random) if random.random() < 0.8 else person(random)
    voice = speaker(random, _LATIN)
    form = choose(random, "sports event")
    races = listed("race")

    def cell() -> str:
        return (
            random.choice(races).format(voice.city())
            if form == "race"
            else form.format(a=side(), b=side())
        )

    return cell


def episode(random: Random) -> Cell:
    """Episodes, mostly counted within their season."""
    voice = speaker(random, ("en_US",))
    form = choose(random, "episode")
    return lambda: form.format(
        t=_title(voice, random), s=random.randint(1, 20), e=random.randint(1, 24)
    )


def video_id(random: Random) -> Cell:
    """Eleven characters that stand for a film on a video site."""
    return lambda: "".join(random.choices(ascii_letters + digits + "-_", k=11))


def title(random: Random) -> Cell:
    """A few words in title case, such as a television series has; says nothing about what it names."""
    voice = speaker(random, ("en_US",))
    return lambda: _title(voice, random)


def _title(voice: "Faker", random: Random) -> str:
    words = " ".join(str(voice.word()).capitalize() for _ in range(random.choice([1, 2, 2, 3, 3])))
    return random.choice(["The ", "", "", ""]) + words


def _pattern(random: Random, voice: "Faker", forms: list[str]) -> Cell:
    def cell() -> str:
        form = random.choice(forms)
        return form.format(n=voice.last_name(), m=voice.last_name(), c=voice.city())

    return cell
