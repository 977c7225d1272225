"""N-gram models with small random weights, and tables for them to read: every layer matters, no file is needed."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from aegir.readers.calibration import NgramCalibration
from aegir.readers.mixing import Mixing, RuleTrust, Weights
from aegir.readers.ngrams.column_inputs import CELLS, FACTS, header_view, own_name
from aegir.readers.ngrams.features import BUCKETS, View, hashed_features
from aegir.readers.ngrams.model import CONTEXT_FEATURES, RELATIONS, SCORES, TYPES, NgramModel
from aegir.readers.ngrams.network import (
    HEADER_VECTORS,
    HEADS,
    LAYER_OUTPUTS,
    NORMS,
    Dense,
    HashedLinear,
    NgramNetwork,
    network_tensors,
)
from aegir.tables.table import Column, Table
from aegir.vocabulary.terms import FINE_NAMES
from aegir_rl.base.safetensors_file import safetensors_bytes

EMBEDDING, FACTS_WIDTH, WIDTH = 8, 6, 12
WEB = Weights((0.7, 0.4), (0.6, 0.5), (0.5, 0.5), 0.0)
EVERYDAY = Weights((0.1, 0.9), (0.0, 1.1), (0.4, 0.6), 0.3, 1.2)
TRUST, NO_TRUST = (RuleTrust(dict.fromkeys(FINE_NAMES, share)) for share in (0.5, 0.0))
MIXING = Mixing(WEB, EVERYDAY)
PEOPLE = Table(
    "export/people.csv",
    (
        Column("custId", tuple(f"K{number:03d}" for number in range(8))),
        Column("E-Mail", tuple(f"user{number}@example.org" for number in range(8))),
        Column("born", tuple(f"19{60 + number}-0{number % 9 + 1}-12" for number in range(8))),
        Column("city", ("Oslo", "Rome", "Bonn", "Lima", "Quito", "Hanoi", "Accra", "Oslo")),
        Column("", ("",) * 8),
        Column("amount_2", ("1,200.50", "3", "", "n/a", "-7", "12 %", "$4", "0.5")),
    ),
)
TABLES = (
    PEOPLE,
    Table("none", ()),
    Table("one", (Column("状態", ("開", "閉", "開")),)),
    Table("bare", tuple(Column(None, column.values) for column in PEOPLE.columns)),
    Table("named", PEOPLE.columns[1:4], subject=1),
    Table("empty", (Column("a", ()), Column(None, ()))),
)


def halved(numbers: np.ndarray) -> np.ndarray:
    """The numbers as float16 holds them, which is how a file has them."""
    return numbers.astype(np.float16).astype(np.float32)


def random_bag(views: Sequence[View], outputs: int, seed: int, most: int = 400) -> HashedLinear:
    """A layer over some n-grams of these views."""
    random = np.random.default_rng(seed)
    found = np.unique(hashed_features(views).features)
    buckets = np.sort(random.permutation(found)[:most]).astype(np.int32)
    return HashedLinear(
        buckets,
        halved(random.random(len(buckets)) + 1),
        random.integers(-127, 128, (len(buckets), outputs), np.int8),
        halved((random.random(len(buckets)) + 0.1) / 60),
        np.zeros(outputs, np.float32),
    )


def random_network(seed: int = 0) -> NgramNetwork:
    """A network that embeds n-grams of TABLES."""
    random = np.random.default_rng(seed)
    columns = [column for table in TABLES for column in table.columns]
    headers = [header_view(column.name) for column in columns]
    names = [header_view(own_name(table)) for table in TABLES]
    bags = {
        "headers": random_bag([*headers, *names], EMBEDDING, seed),
        "values": random_bag([column.spread(CELLS) for column in columns], EMBEDDING, seed + 1),
    }
    tensors = {
        f"{name}.{field}": getattr(bag, field)
        for name, bag in bags.items()
        for field in HashedLinear.__dataclass_fields__
    }
    shapes = {
        "facts": (FACTS_WIDTH, FACTS + 1),
        "own": (WIDTH, (HEADER_VECTORS + 1) * EMBEDDING + FACTS_WIDTH),
        "table": (WIDTH, 4 * WIDTH),
        "pool": (WIDTH, 2 * WIDTH + EMBEDDING),
        **{f"heads.{head}": (count, WIDTH) for head, count in LAYER_OUTPUTS.items()},
    }
    for name, shape in shapes.items():
        tensors[f"{name}.weight"] = random.normal(0, shape[1] ** -0.5, shape).astype(np.float16)
        tensors[f"{name}.bias"] = random.normal(0, 0.3, shape[0]).astype(np.float16)
    for name in NORMS:
        tensors[f"{name}.weight"] = (1 + random.normal(0, 0.2, WIDTH)).astype(np.float16)
        tensors[f"{name}.bias"] = random.normal(0, 0.3, WIDTH).astype(np.float16)
    return NgramNetwork.of(tensors)


def random_layer(features: int, seed: int = 0) -> HashedLinear:
    """The first linear stage, over any n-grams."""
    random = np.random.default_rng(seed)
    return HashedLinear(
        np.sort(random.choice(BUCKETS, features, replace=False)).astype(np.int32),
        halved(random.random(features) + 1),
        random.integers(-127, 128, (features, SCORES), np.int8),
        halved(random.random(features)),
        random.random(SCORES, np.float32),
    )


def random_shares(rows: int, outputs: int, seed: int) -> np.ndarray:
    """(rows, outputs) shares that sum to 1, as float16 holds them."""
    random = np.random.default_rng(seed)
    shares = random.dirichlet(np.full(outputs, 0.1), rows)
    return halved(shares)


def random_model(seed: int = 0, networks: int = 2) -> NgramModel:
    """A whole model; its confidence means nothing."""
    random = np.random.default_rng(seed)
    return NgramModel(
        random_layer(BUCKETS // 16, seed),
        Dense(random.normal(0, 1, (SCORES, 1)).astype(np.float32), np.zeros(1, np.float32)),
        Dense(
            halved(random.normal(0, 0.05, (CONTEXT_FEATURES, SCORES))),
            random.normal(0, 1, SCORES).astype(np.float32),
        ),
        random.random((RELATIONS, TYPES), np.float32),
        tuple(random_network(seed + 10 * number) for number in range(networks)),
        random_shares(HEADS["fine"], HEADS["types"], seed),
        NgramCalibration({"cta": 0.1 + 0.2, "cpa": 1.0}, MIXING, TRUST),
        {"städte": ["Köln"]},
    )


def write_networks(path: Path, seed: int = 0) -> None:
    """A file of one random network, as `aegir train ngrams` leaves it for a fold."""
    path.write_bytes(safetensors_bytes(network_tensors([random_network(seed)]), {}))
