"""The configurations of specialists: those that ship can be read and share their folds; nonsense is refused."""

import json
import math
import re
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest

from aegir.lab.byte_network.config import read_byte_training
from aegir.lab.specialists.config import (
    DistilSettings,
    SpecialistSettings,
    SpecialistTraining,
    read_specialist_training,
)
from aegir.lab.specialists.teacher import DISTIL
from aegir.readers.bytes.checkpoint import expected_shapes
from aegir.readers.bytes.heads import HEAD_SIZES, all_sizes
from aegir_rl.base.errors import UsageError
from aegir_rl.base.settings import settings_from

ROOT = Path(__file__).parents[4]
CONFIGS = sorted((ROOT / "configs" / "specialists").glob("*.toml"))
REAL = [path for path in CONFIGS if path.stem != "tiny"]


def test_six_specialists_or_more_have_names_and_domains_of_their_own():
    found = [read_specialist_training(path).specialist for path in REAL]
    assert len(found) >= 6
    assert len({settings.domain for settings in found}) == len(found)
    assert [settings.name for settings in found] == [path.stem for path in REAL]


@pytest.mark.parametrize("path", REAL, ids=lambda path: path.stem)
def test_a_specialist_has_the_sources_and_folds_of_the_primary(path: Path):
    config = read_specialist_training(path)
    primary = read_byte_training(ROOT / "configs" / "bytes-finetune.toml")
    assert (
        config.data.sources == primary.data.sources
    )  # other sources make other groups, and so other folds
    assert config.seed == primary.seed
    assert config.held_out == replace(primary.held_out, validation=config.held_out.validation)
    assert config.architecture.reading == primary.architecture.reading
    taught = config.supervised.tables_per_step.get(DISTIL, 0) > 0
    assert taught == (config.distil.texts > 0)


def test_several_have_another_width_and_head_size_than_the_primary():
    primary = read_byte_training(ROOT / "configs" / "bytes-finetune.toml").architecture
    others = [read_specialist_training(path).architecture for path in REAL]
    assert sum(one.head_size != primary.head_size for one in others) >= 2
    assert sum(one.column_width != primary.column_width for one in others) >= 2


def test_all_specialists_together_take_less_than_18_million_bytes():
    # A byte per number of a large matrix, and 8 per n-gram for its scale and hash; 48 MB are for the whole package.
    total = 0
    for path in REAL:
        architecture = read_specialist_training(path).architecture
        shapes = expected_shapes(architecture, all_sizes(HEAD_SIZES))
        total += sum(math.prod(shape) for shape in shapes.values())
        total += 8 * architecture.gram_rows
    assert total < 18e6


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        (
            {"specialist": {"kinds": ["plase"]}},
            "kinds has an unknown name 'plase'; did you mean 'place'? ([specialist] of c.toml)",
        ),
        (
            {"specialist": {"types": ["prize"]}},
            "types has an unknown name 'prize'; did you mean 'price'?",
        ),
        (
            {"specialist": {"types": [7]}},
            "types has an unknown name 7; see them with: aegir types list",
        ),
        (
            {"specialist": {"outside": 1.0}},
            "outside is 1.0; expected a number at least 0 and below",
        ),
        (
            {"specialist": {"tables": "some"}},
            "tables is 'some'; expected one of all, everyday, web",
        ),
        ({"specialist": {"name": "No Name"}}, "'No Name' cannot be the name of a specialist"),
        (
            {"specialist": {"kind": ["place"]}},
            "unknown key 'kind' in [specialist] of c.toml; did you",
        ),
        ({"distil": {"texts": -1}}, "texts is -1; expected a number at least 0"),
        ({"distil": {"start_rows": True}}, "start_rows needs vectors of the encoder; set texts"),
    ],
)
def test_what_cannot_work_is_refused_before_it_starts(given: dict[str, Any], sentence: str):
    with pytest.raises(UsageError) as refused:
        settings_from(given, SpecialistTraining(), "c.toml")
    assert str(refused.value).startswith(sentence)


@pytest.mark.parametrize("missing", ["name", "domain"])
def test_a_specialist_without_name_or_domain_is_refused(tmp_path: Path, missing: str):
    given = {"name": "x", "domain": "y"} | {missing: " "}
    path = tmp_path / "c.toml"
    lines = [f"{key} = {json.dumps(value)}" for key, value in given.items() if value.strip()]
    path.write_text("[specialist]\n" + "\n".join(lines))
    with pytest.raises(UsageError, match=rf"\[specialist\] of .*c.toml has no {missing}; give it"):
        read_specialist_training(path)


def test_the_page_lists_every_setting_with_its_default():
    page = (ROOT / "docs" / "parl.md").read_text(encoding="utf-8")
    page = page.split("### Settings of a specialist")[1].split("\n### ")[0]
    rows = re.findall(r"^\| `([a-z]+\.[a-z_]+)` \| (.+?) \| .+ \|$", page, re.M)
    settings = {"specialist": SpecialistSettings(), "distil": DistilSettings()}
    assert rows == [
        (f"{section}.{each.name}", json.dumps(getattr(given, each.name)))
        for section, given in settings.items()
        for each in fields(given)
    ]
