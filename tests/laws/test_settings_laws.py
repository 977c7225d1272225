"""Settings written into a run folder and read back are the same settings, whatever they are."""

import tomllib
from dataclasses import asdict

from hypothesis import given
from hypothesis import strategies as st

from aegir.lab.byte_network.batches import Augmentation
from aegir.lab.byte_network.config import (
    CURRICULA,
    ByteTraining,
    DataSettings,
    HeldOutSettings,
    Phase,
    TableCurriculum,
)
from aegir.lab.byte_network.losses import LossWeights
from aegir.readers.bytes.architecture import Architecture
from aegir_rl.base.run_folder import render_toml
from aegir_rl.base.settings import settings_from

SHARES = st.floats(0, 1)
WEIGHTS = st.floats(0, 1e6)
COUNTS = st.integers(1, 10**9)
NAMES = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12)

LOSSES = st.builds(
    LossWeights, WEIGHTS, WEIGHTS, WEIGHTS, WEIGHTS, st.floats(1.1, 99), st.floats(0, 0.9)
)
AUGMENTATIONS = st.builds(Augmentation, *[SHARES] * 9, COUNTS, COUNTS)
PHASES = st.builds(
    Phase,
    COUNTS,
    st.dictionaries(NAMES, st.integers(0, 99), max_size=3),
    st.floats(1e-9, 1),
    SHARES,
    SHARES,
    WEIGHTS,
    st.floats(0.01, 9),
    COUNTS,
    LOSSES,
    AUGMENTATIONS,
)
DATA = st.builds(
    DataSettings,
    st.lists(NAMES, max_size=3).map(tuple),
    st.dictionaries(NAMES, st.one_of(st.booleans(), st.integers(0, 99)), max_size=3),
)
ARCHITECTURES = st.sampled_from(
    [
        Architecture(),
        Architecture(["w2"], (64,), gram_rows=7),
        Architecture(["w1", ["w0", ["w3"], "w2"], "w1"], (32, 64, 96)),
    ]
)
CONFIGS = st.builds(
    ByteTraining,
    st.integers(-(2**63), 2**63 - 1),
    st.integers(0, 99),
    ARCHITECTURES,
    DATA,
    st.builds(HeldOutSettings, st.integers(2, 9), st.integers(-1, 1), st.booleans()),
    st.builds(TableCurriculum, st.sampled_from(CURRICULA), SHARES, SHARES),
    PHASES,
    PHASES,
)


@given(CONFIGS)
def test_settings_written_and_read_back_are_the_same(config: ByteTraining):
    given = tomllib.loads(render_toml(asdict(config)))
    assert settings_from(given, ByteTraining(), "config.toml") == config


@given(CONFIGS, CONFIGS)
def test_what_is_given_wins_over_any_defaults(config: ByteTraining, defaults: ByteTraining):
    given = tomllib.loads(render_toml(asdict(config)))
    read = settings_from(given, defaults, "config.toml")
    assert read == config
