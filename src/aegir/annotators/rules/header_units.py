"""Units at the end of a header, and what is measured in them.

    "length_mm" → ("length", "mm")      "Humidity (%)" → ("percentage", "%")      "vitamin_c" → None

A unit says more than the word before it: `length_mm` is a length, though `length` alone is often a
duration. Short units are words of their own ("min" is a minimum, "in" a direction, "C" a class), so they
count only in brackets or after a word of their dimension.
"""

from collections.abc import Iterable

_BY_MEASURE = {
    "length": "mm cm km metres meters miles ft feet inches yards yd",
    "mass": "kg mg lb lbs oz kilograms grams pounds tonnes tons",
    "duration": "ms msec sec secs seconds mins minutes hrs hours millis milliseconds",
    "percentage": "percent pct perc percentage %",
    "temperature": "celsius fahrenheit kelvin degc degf °c °f",
    "volume": "ml cl litres liters ltr gallons cc m3 m³",
    "energy": "kcal kj calories kilojoules",
    "file_size": "bytes kb gb tb kib mib gib",
    "measurement": "kw kwh mwh hp bhp watts volts hz khz mhz ghz rpm kmh kph mph mps hpa kpa psi mmhg db dbm lux ppm"
    " dpi px sqft sqm m2 m² km2 km² ha acres knots mah bpm nm",
}
_SHORT_BY_MEASURE = {
    "length": "m in mi",
    "mass": "g t",
    "duration": "s min h",
    "temperature": "c f k",
    "volume": "l",
    "file_size": "mb b",
    "measurement": "w v a",
}
_DIMENSION_WORDS = {
    "length": "length width height depth distance altitude elevation diameter radius thickness size wingspan range",
    "mass": "mass weight payload",
    "duration": "duration time elapsed runtime latency length delay wait",
    "temperature": "temp temperature dewpoint tmin tmax tavg",
    "volume": "volume capacity",
    "file_size": "size memory disk file ram",
    "measurement": "power voltage current",
}
_MEASURE_OF = {unit: name for name, units in _BY_MEASURE.items() for unit in units.split()}
_SHORT_MEASURE_OF = {
    unit: name for name, units in _SHORT_BY_MEASURE.items() for unit in units.split()
}
_WORDS_OF = {name: frozenset(text.split()) for name, text in _DIMENSION_WORDS.items()}
MEASURES = frozenset(_BY_MEASURE) | {"quantity", "time_of_day", "rating", "age", "currency_amount"}
"""Fine types that a unit of another dimension rules out."""


def names_a_dimension(words: Iterable[str]) -> bool:
    """Whether a header speaks of a length, a mass, a duration or the like, with or without its unit."""
    return any(word in names for word in words for names in _WORDS_OF.values())


def measure_in(words: list[str], bracketed: str) -> tuple[str, str] | None:
    """What the bracket or the last word of a header measures, and its unit; None without a unit."""
    bracketed = bracketed.casefold().strip()
    if "%" in bracketed:
        return "percentage", "%"
    last = words[-1] if len(words) > 1 else ""
    for unit in (bracketed, last):
        if unit in _MEASURE_OF:
            return _MEASURE_OF[unit], unit
    for unit, others in ((bracketed, words), (last, words[:-1])):
        measure = _SHORT_MEASURE_OF.get(unit)
        sure = unit == bracketed and unit != "s"  # `Month(s)` is a plural
        if measure and (sure or not _WORDS_OF[measure].isdisjoint(others)):
            return measure, unit
    return None
