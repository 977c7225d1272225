"""What a header leaves open for numbers: may these be telephones, postal codes, places on a map, ratings?

    "Home phone" → {telephone, faxNumber}    "population" → {}    "column_3", "Y", None → all of them

A bare 31094 fits a postal code, a population and a key alike, so the header decides. Numbers that reach a
person or a place nearly always stand under a header that says so; a header that names anything else
closes the question, and one that says nothing (a letter, `column_3`, a script without a word list here)
leaves it open.

Limits: the words are English and the main European languages, and a few others for telephones.
"""

import re
from functools import lru_cache

from aegir.annotators.rules.gazetteers.word_sets import words
from aegir.annotators.rules.headers import words_of
from aegir.annotators.rules.shapes import Shape

TELEPHONES = words("telephone faxNumber")
OPEN_TO_NUMBERS = TELEPHONES | words("postalCode CoordinateAT Rating")
"""Column types that plain numbers get only with a header's consent."""

_TELEPHONE = Shape(
    r"^(?:.*(?<!micro)(?<!head)(?<!saxo)(?<!ear)(?<!xylo)phones?(?:no|nr|num|number)?\d*$|t[eé]l[eéè](?:f|ph)|telno|telnr|(?:tele)?fax"
    r"|mobile?(?:no|nr|nummer|number)?\d*$|(?:tel|tlf|cell?|celular|cellulare|gsm|msisdn|whatsapp|handy|hotline|helpline|sms|m[óo]vil"
    r"|rufnummer|portable|puhelin|sími|contacts?|kontakt|contacto|contatto|contato)\d*$|телефон|тел$|факс|電話|电话|手机|전화)"
)
_POSTAL_CODE = Shape(
    r"^(?:.*zip(?!p)|.*zcta|post(?:al|code|cd|nr|nummer|leitzahl|kod)|codepostal|(?:plz|cp|cap|cep|psc|psč|tk|irsz|pin|pincode)\d*$)"
)
_ON_A_MAP = Shape(
    r"^(?:lat(?:s|itud\w*|deg|dec|dd|lon|lng|long)?\d*$|lon(?:s|g|g\w*tud\w*|gs|deg|dec|dd)?\d*$|lng|.*(?:latitud|longitud)|coord|koord"
    r"|geo(?:$|loc|point|graph|coord|lat|lon|lng|x|y)|gps|(?:northing|easting|north|south|east|west|nord|ost|position|pos|point|location"
    r"|loc|centroid|center|centre|breite|länge|laenge|breitengrad|längengrad|wgs\d*|utm|[xy](?:min|max)?)$)"
)
_RATING = Shape(
    r"^(?:.*(?:rating|bewertung|review|valutazione|puntuaci)|(?:stars?|score|note|grade|voto)$)"
)
_PLACES = words(
    "address addr adresse adress adres dirección direccion indirizzo location place city town ort ville locality"
)
_CODES = words("code codes codigo código codice kod kód")
"""`city code` and `location` may hold postal codes, though they do not name them; `code` alone is any code."""
_COUNTED = words(
    "count counts total totals sum avg average mean median min max population pop volume size amount area id ids key index"
    " rank year percent pct rate ratio share score price cost distance length seconds lines calls users subscribers"
    " subscriptions sales anzahl menge summe einwohner nombre cantidad población quantité quantità"
    " aantal liczba antal"
)
"""`zip_population` and `Telephone lines` count something; as first or last word these outweigh the rest."""
_SAYS_NOTHING = words(
    "column columns col cols field unnamed var variable data attr attribute feature unknown spalte"
    " colonne columna kolom property info text string other misc v c f x y"
)
_YEAR = re.compile(r"(?:1[89]|20)\d\d")
_LATIN = re.compile("[a-zµßà-ɏ]")


def left_open(header: str | None) -> frozenset[str]:
    """Which of `OPEN_TO_NUMBERS` a column of plain numbers may still be under this header."""
    return named_by(header) if says_something(header) else OPEN_TO_NUMBERS


@lru_cache(maxsize=4096)
def named_by(header: str | None) -> frozenset[str]:
    """Which of `OPEN_TO_NUMBERS` the header itself speaks of."""
    return _named(words_of(header)) if header and says_something(header) else frozenset()


@lru_cache(maxsize=4096)
def says_something(header: str | None) -> bool:
    """Whether a header names anything: not `column_3`, `x`, `0`, nor scripts we have no words for."""
    spoken = words_of(header) if header else ()
    return bool(_named(spoken)) if _is_foreign(spoken) else any(map(_is_telling, spoken))


def _named(spoken: tuple[str, ...]) -> frozenset[str]:
    found: set[str] = set()
    if _COUNTED.isdisjoint((*spoken[:1], *spoken[-1:])):
        if any(map(_TELEPHONE.search, spoken)):
            found |= TELEPHONES
        if any(map(_POSTAL_CODE.search, spoken)) or _is_place_code(spoken):
            found.add("postalCode")
    if any(map(_ON_A_MAP.search, spoken)):
        found.add("CoordinateAT")
    if any(map(_RATING.search, spoken)):
        found.add("Rating")
    return frozenset(found)


def _is_place_code(spoken: tuple[str, ...]) -> bool:
    return not _PLACES.isdisjoint(spoken) and (_PLACES | _CODES).issuperset(spoken)


def _is_foreign(spoken: tuple[str, ...]) -> bool:
    """Whether some word is in a script other than Latin: what it names we may not know."""
    return any(word.isalpha() and not _LATIN.match(word) for word in spoken)


def _is_telling(word: str) -> bool:
    """No filler and no lone letter; a column headed 1998 holds what was counted then."""
    if word.isdigit():
        return bool(_YEAR.fullmatch(word))
    return len(word) > 1 and word.rstrip("0123456789") not in _SAYS_NOTHING
