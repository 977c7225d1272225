"""The fast hashing gives what a slow, readable twin gives, whatever the cells and whatever is beside them."""

import html
import re
from collections import Counter
from itertools import pairwise

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from aegir.readers.ngrams.features import SparseRows, hashed_features, views_of
from aegir.tables.table import Column

BASE, MIX, WORD_SIZE = 0x9E3779B97F4A7C15, 0xD6E8FEB86659FD93, 1 << 64
CELL = st.one_of(
    st.text(max_size=30),
    st.text(alphabet="aZ09 \x02\x03&;#<é日😀\t", max_size=20),
    st.sampled_from(
        ["", " ", "R&amp;D", "&lt;b&gt;", "Main St 12", "x" * 400, "é" * 200, "\ud800"]
    ),
)
VIEW = st.lists(CELL, max_size=5).map(tuple)


def polynomial(run: bytes) -> int:
    return sum((byte + 1) * pow(BASE, place, WORD_SIZE) for place, byte in enumerate(run))


def bucket(number: int, salt: int) -> int:
    mixed = (number + salt * BASE) * MIX % WORD_SIZE
    mixed ^= mixed >> 32
    return (mixed * MIX % WORD_SIZE) >> 44


def cell_bytes(value: str) -> bytes:
    text = html.unescape(value[:640]).strip()[:160]
    return re.sub("[\x02\x03]", " ", text).encode("utf-8", "replace")[:160]


def runs(data: bytes, longest: int, salt: int) -> set[int]:
    return {
        bucket(polynomial(data[start : start + length]), salt + length)
        for length in range(1, longest + 1)
        for start in range(len(data) - length + 1)
    }


def character_class(byte: int) -> bytes:
    character = bytes([byte])
    if byte > 127:
        return b"u"
    if character.isdigit():
        return b"9"
    if character.isalpha():
        return b"A" if character.isupper() else b"a"
    return character


def slow_buckets(value: str) -> set[int]:
    """Every feature of one cell, one at a time."""
    cell = b"\x02" + cell_bytes(value) + b"\x03"
    lowered = cell.lower()
    words = re.findall(rb"[a-z0-9\x80-\xff]+", lowered)
    shape = re.sub(rb"A+|a+|u+", lambda run: run[0][:1], b"".join(map(character_class, cell)))
    return {
        *runs(lowered, 5, salt=1),
        *(bucket(polynomial(word), 20) for word in words),
        *(bucket(polynomial(a) * MIX + polynomial(b), 21) for a, b in pairwise(words)),
        bucket(polynomial(lowered[:-1]), 22),
        *runs(shape, 4, salt=40),
        bucket(polynomial(shape[:-1]), 50),
    }


def slow_features(view: tuple[str, ...]) -> dict[int, float]:
    """The share of the view's cells that have each feature."""
    cells = Counter(found for value in view for found in slow_buckets(value))
    return {found: float(np.float32(count / len(view))) for found, count in cells.items()}


def features(rows: SparseRows, view: int) -> dict[int, float]:
    part = slice(rows.starts[view], rows.starts[view + 1])
    return dict(zip(rows.features[part].tolist(), rows.shares[part].tolist(), strict=True))


@given(st.lists(VIEW, min_size=1, max_size=4))
@settings(max_examples=150, deadline=None)
def test_fast_hashing_gives_what_the_slow_twin_gives(views: list[tuple[str, ...]]) -> None:
    rows = hashed_features(views)
    assert len(rows) == len(views)
    for number, view in enumerate(views):
        assert features(rows, number) == slow_features(view)


@given(st.lists(VIEW, min_size=1, max_size=5), st.randoms(use_true_random=False))
@settings(max_examples=100, deadline=None)
def test_a_view_has_the_same_features_whatever_is_beside_it(views, random) -> None:
    alone = [features(hashed_features([view]), 0) for view in views]
    order = random.sample(range(len(views)), len(views))
    together = hashed_features([views[number] for number in order])
    for place, number in enumerate(order):
        assert features(together, place) == alone[number]


@given(st.lists(VIEW, min_size=1, max_size=3))
@settings(max_examples=100, deadline=None)
def test_features_come_sorted_once_each_with_shares_above_0_and_at_most_1(views) -> None:
    rows = hashed_features(views)
    for number in range(len(views)):
        part = slice(rows.starts[number], rows.starts[number + 1])
        assert (np.diff(rows.features[part]) > 0).all()
        assert ((rows.shares[part] > 0) & (rows.shares[part] <= 1)).all()


@given(st.lists(st.text(max_size=4), max_size=80).map(tuple))
def test_views_share_out_present_cells_evenly(values: tuple[str, ...]) -> None:
    column = Column(None, values)
    views = views_of(column)
    cells = [cell for view in views for cell in view]
    assert len(cells) == min(len(column.present), 30)
    assert not Counter(cells) - Counter(column.present)
    assert len(views) == -(-len(cells) // 5)
    sizes = [len(view) for view in views]
    assert not sizes or max(sizes) - min(sizes) <= 1
