"""Guess the encoding of text that is not Unicode.

    guess_encoding("Москва, Казань, Тверь …".encode("cp1251"))  ->  Encoding("cp1251", "Windows-1251")
    guess_encoding("Orléans, Nîmes …".encode("mac_roman"))      ->  Encoding("mac_roman", "MacRoman")
    guess_encoding("Orléans, Nîmes, Besançon".encode("cp1252")) ->  None, which means Western

East Asian encodings use two bytes per character. One is accepted if every byte is valid, nearly all
characters are common ones, and most of them are adjacent: in Western text accented letters and curly quotes
occur one at a time. Cyrillic, Greek, Hebrew and Arabic use one byte per letter: words of such bytes are
decoded with each encoding, and the one whose letters have the frequencies of the language is chosen.

Promises
  - Western text (Windows-1252, Latin-1) is never taken for anything else;
  - if no encoding is clearly the best, the result is None.

Limits: Central European, Baltic and Turkish encodings differ from Western in a few letters and are not
detected (except Polish, whose letters would be symbols inside words). Japanese in EUC-JP without any kana is
taken for Chinese. About a dozen characters are needed.
"""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from aegir_rl.base.text import read_tsv

LEAST_CHARACTERS = 6
LEAST_LETTERS = 12
COMMON_SHARE = 0.9
NEIGHBOUR_SHARE = 0.7
"""Share of two-byte characters that must be next to another one."""
LONG_RUN_SHARE = 0.6
"""Share of bytes above ASCII that must be in runs of at least three."""
ENOUGH_WORDS = 500
LEAST_INSIDE = 2
"""Words with a letter of MacRoman inside."""
APOSTROPHE = b"\x92"
CLEAR_LEAD = 0.25
"""Nats per letter by which the best encoding must beat the next best."""


@dataclass(frozen=True, slots=True)
class Encoding:
    """An encoding: the name of its Python codec, and its usual name."""

    codec: str
    name: str


WESTERN = Encoding("cp1252", "Windows-1252")
POLISH = Encoding("cp1250", "Windows-1250")
MACINTOSH = Encoding("mac_roman", "MacRoman")


@dataclass(frozen=True, slots=True)
class _TwoBytes:
    """An East Asian encoding as patterns of byte pairs: valid, common, and distinctive ones."""

    encoding: Encoding
    pair: bytes
    common: bytes
    sign: bytes
    """Pairs that similar encodings lack, and the share of all pairs that they must have."""
    sign_share: float


_ROWS = [
    (Encoding(codec, name), patterns, letters)
    for _, (codec, name, *patterns, letters, _) in read_tsv(
        Path(__file__).with_name("legacy_encodings.tsv"),
        "codec name pair common sign sign_share letters note",
    )
]
TWO_BYTES = [
    _TwoBytes(encoding, pair.encode(), common.encode(), sign.encode(), float(share))
    for encoding, (pair, common, sign, share), letters in _ROWS
    if not letters
]
ONE_BYTE = [(encoding, letters) for encoding, _, letters in _ROWS if letters]
"""With the letters of a language, most frequent first."""
RANK_DECAY = 9.0
"""Each letter is about exp(-1/9) as frequent as the one before it, in all four languages."""
UNKNOWN_LETTER = math.log(0.0005)
_HIGH = re.compile(rb"[\x80-\xff]")
_HIGH_RUN = re.compile(rb"[\x80-\xff]+")
# ł, ą, ż and ź between letters; read as Western they are ³ ¹ ¿ Ÿ, which no Western word contains.
_POLISH = re.compile(rb"(?<=[a-z])[\xb3\xb9\xbf\x9f](?=[a-z])")
_INSIDE_WORD = re.compile(rb"(?<=[A-Za-z])[\x80-\xff]+(?=[a-z])")


def guess_encoding(raw: bytes) -> Encoding | None:
    """Return the encoding of text that is not UTF-8; None if it is Western or not clear."""
    for candidate in TWO_BYTES:
        if _fits(raw, candidate):
            return candidate.encoding
    high = len(_HIGH.findall(raw))
    runs = _HIGH_RUN.findall(raw)
    if high >= LEAST_LETTERS and _share_in_runs(runs, 3) >= LONG_RUN_SHARE:
        return _most_plausible(runs)
    if len(_POLISH.findall(raw)) >= max(2, 0.05 * high):
        return POLISH
    return MACINTOSH if _is_macintosh(raw) else None


def _is_macintosh(raw: bytes) -> bool:
    """Whether bytes inside words are small letters in MacRoman and mostly are not in Windows-1252.

    Most of what Windows-1252 has for these bytes are capitals and signs, which do not occur there; apostrophes do.
    """
    inside = [run for run in _INSIDE_WORD.findall(raw) if run != APOSTROPHE]
    letters: list[int] = [
        sum(run.decode(codec, "replace").islower() for run in inside)
        for codec in (MACINTOSH.codec, WESTERN.codec)
    ]
    return (
        letters[0] >= LEAST_INSIDE
        and letters[0] >= COMMON_SHARE * len(inside)
        and (letters[1] <= letters[0] / 2)
    )


def _fits(raw: bytes, candidate: _TwoBytes) -> bool:
    pairs = re.findall(candidate.pair, raw, re.DOTALL)
    if len(pairs) < LEAST_CHARACTERS:
        return False
    left_over = _HIGH.search(re.sub(candidate.pair, b"", raw, flags=re.DOTALL))
    common = sum(bool(re.match(candidate.common, pair, re.DOTALL)) for pair in pairs)
    signs = sum(bool(re.match(candidate.sign, pair, re.DOTALL)) for pair in pairs)
    if left_over or common < COMMON_SHARE * len(pairs) or signs < candidate.sign_share * len(pairs):
        return False
    runs = [match[0] for match in re.finditer(b"(?:" + candidate.pair + b")+", raw, re.DOTALL)]
    return _share_in_runs(runs, 4) >= NEIGHBOUR_SHARE and _decodes(raw, candidate.encoding)


def _decodes(raw: bytes, encoding: Encoding) -> bool:
    try:
        raw.decode(encoding.codec)
    except UnicodeDecodeError:
        return False
    return True


def _share_in_runs(runs: Sequence[bytes], least: int) -> float:
    """The share of bytes that are in runs of at least `least`."""
    long = sum(len(run) for run in runs if len(run) >= least)
    return long / max(1, sum(map(len, runs)))


def _most_plausible(runs: Sequence[bytes]) -> Encoding | None:
    words = [run for run in runs if len(run) > 1][:ENOUGH_WORDS]
    scored = sorted(
        ((_plausibility(words, encoding, letters), encoding) for encoding, letters in ONE_BYTE),
        key=lambda pair: -pair[0],
    )
    (best, encoding), (second, _) = scored[:2]
    return encoding if best > second + CLEAR_LEAD and best > UNKNOWN_LETTER / 2 else None


def _plausibility(words: Sequence[bytes], encoding: Encoding, letters: str) -> float:
    """The mean log frequency of the letters; a capital inside a word counts as an unknown letter."""
    known = {
        letter: -rank / RANK_DECAY - math.log(RANK_DECAY) for rank, letter in enumerate(letters)
    }
    total = count = 0.0
    for word in words:
        text = word.decode(encoding.codec, "replace")
        all_capitals = text.isupper()
        for position, sign in enumerate(text):
            misplaced = position > 0 and sign.isupper() and not all_capitals
            total += UNKNOWN_LETTER if misplaced else known.get(sign.lower(), UNKNOWN_LETTER)
            count += 1
    return total / max(1.0, count)
