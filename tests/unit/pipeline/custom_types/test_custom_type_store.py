"""Taught types on disk: what is kept, where, and what is refused."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from aegir.pipeline.custom_types.head import TypeHead
from aegir.pipeline.custom_types.store import (
    CustomType,
    file_of,
    forget_type,
    load_type,
    load_types,
    save_type,
    type_files,
    types_folder,
)
from aegir_rl.base.errors import UsageError
from taught_types import NAMES, cloud, random_evidence

HEAD = TypeHead(random_evidence(7), np.array([0.1, -1 / 3, 1e-9, 4.0]), -0.7, 1.8)
WARD = CustomType("Ward/bed", HEAD, "abc", ("wards.csv:bed",), (), 1, figures={"known": 10})


def test_a_saved_type_comes_back_bit_for_bit(tmp_path: Path):
    path = save_type(
        tmp_path / "new" / "types", replace(WARD, personal=True, about="Où ça dort", kind="place")
    )
    back = load_type(path)
    assert back.kind == "place"
    assert back.about == "Où ça dort"
    assert back.personal
    assert (back.name, back.fingerprint, back.examples) == ("Ward/bed", "abc", ("wards.csv:bed",))
    assert back.figures == {"known": 10}
    given, kept = HEAD.evidence, back.head.evidence
    assert np.array_equal(kept.names.ratios, given.names.ratios)
    assert kept.headers == given.headers
    for line, saved in ((given.vectors, kept.vectors), (given.values, kept.values)):
        for part in ("centre", "scale", "weights"):
            assert np.array_equal(getattr(saved, part), getattr(line, part))
    assert np.array_equal(back.head.weights, HEAD.weights)
    assert (back.head.bias, back.head.ceiling) == (-0.7, 1.8)
    columns = cloud(9, 1, 0, "bed")
    assert np.array_equal(back.head.log_odds(columns), HEAD.log_odds(columns))


def test_saving_again_replaces_and_leaves_no_other_file(tmp_path: Path):
    for about in ("first", "second"):
        save_type(tmp_path, replace(WARD, about=about))
    assert [one.about for one in load_types(tmp_path, pytest.fail)] == ["second"]
    assert [path.name for path in tmp_path.iterdir()] == [file_of(tmp_path, "Ward/bed").name]


def test_names_that_differ_in_case_only_are_two_types(tmp_path: Path):
    for name in ("Ward/bed", "ward/bed"):
        save_type(tmp_path, replace(WARD, name=name))
    assert len({path.name.lower() for path in tmp_path.iterdir()}) == 2


@pytest.mark.parametrize("name", ["../../x", "/etc/passwd", "..", "a\\b", "con", "x" * 60])
def test_no_name_leaves_the_folder(tmp_path: Path, name: str):
    folder = tmp_path / "types"
    path = save_type(folder, replace(WARD, name=name))
    assert path.resolve().parent == folder.resolve()
    assert [one.name for one in load_types(folder, pytest.fail)] == [name]


@pytest.mark.parametrize("name", ["", " bed", "a\nb", "\x1b[31mred", "x" * 61])
def test_a_name_that_cannot_be_shown_is_refused(tmp_path: Path, name: str):
    with pytest.raises(UsageError, match="cannot be the name of a type"):
        save_type(tmp_path, replace(WARD, name=name))


@pytest.mark.parametrize(
    ("name", "level"),
    [
        *(("email", "column type"), ("iban", "fine type"), ("gene", "fine type")),
        *(("actor", "relation"), ("money", "kind")),
    ],
)
def test_a_name_that_means_something_already_is_refused(tmp_path: Path, name: str, level: str):
    with pytest.raises(UsageError, match=f"{name!r} is a {level} already; give the new type"):
        save_type(tmp_path, replace(WARD, name=name))


@pytest.mark.parametrize(
    ("name", "other"),
    [
        *(("Area Code", "fine type 'area_code'"), ("areaCode", "fine type 'area_code'")),
        *(("POSTAL-CODE", "column type 'postalCode'"), ("Money", "kind 'money'")),
        ("quantity", "fine type 'count'"),
    ],
)
def test_a_spelling_of_a_name_is_refused_with_the_name(tmp_path: Path, name: str, other: str):
    with pytest.raises(UsageError, match=f"{name!r} is the {other} already; give the new type"):
        save_type(tmp_path, replace(WARD, name=name))


def damaged(change) -> str:
    """A file with a change."""
    line = {"centre": [0.0], "scale": [1.0], "weights": [1.0]}
    given: dict = {
        "format": "aegir-custom-type-2",
        "name": "a",
        "about": "",
        "personal": False,
        "fingerprint": "",
        "columns": 1,
        "examples": [],
        "counter_examples": [],
        "figures": {},
        "head": {
            "names": [0.5] * NAMES,
            "headers": {"^be": [0.5, 1.0]},
            "vectors": dict(line),
            "values": dict(line),
            "weights": [1.0, 0.0, 0.5, 0.5],
            "bias": 0.0,
            "ceiling": 1.0,
        },
    }
    change(given)
    return json.dumps(given)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "holds no type"),
        ("[1]", "holds no type"),
        (damaged(lambda one: one.pop("head")), "holds no type"),
        (damaged(lambda one: one.update(format="aegir-custom-type-9")), "no type of this version"),
        (
            damaged(lambda one: one.update(format="aegir-custom-type-1")),
            "no type of this version .*'aegir-custom-type-1', .*; learn it again or remove",
        ),
        (
            damaged(lambda one: one["head"].update(weights=[1.0, 2.0])),
            r"shape \(2,\), expected \(4",
        ),
        (damaged(lambda one: one["head"].update(names=[1.0])), r"the shape \(1,\), expected"),
        (damaged(lambda one: one["head"].update(headers={"a": [1.0]})), r"the shape \(1,\)"),
        (damaged(lambda one: one["head"].update(headers=["a"])), "holds no type"),
        (damaged(lambda one: one["head"]["values"].update(weights=[1.0, 2.0])), "the shape"),
        (damaged(lambda one: one["head"].update(bias=float("nan"))), "not finite"),
        (damaged(lambda one: one["head"]["vectors"].update(scale=[0.0])), "not positive"),
        (damaged(lambda one: one["head"].pop("values")), "holds no type"),
        (damaged(lambda one: one.update(name="email")), "which is a column type now"),
        (
            damaged(lambda one: one.update(name="Status")),
            "which is the fine type 'status' now; forget it, and learn it under another",
        ),
        (damaged(lambda one: one.update(kind="bed")), "holds no type .*unknown kind 'bed'"),
    ],
)
def test_a_file_that_holds_no_type_is_refused_in_a_sentence(
    tmp_path: Path, content: str, said: str
):
    path = tmp_path / "broken.json"
    path.write_text(content)
    with pytest.raises(UsageError, match=said):
        load_type(path)


def test_an_undamaged_file_is_read_and_a_kind_may_be_missing(tmp_path: Path):
    path = tmp_path / "whole.json"
    path.write_text(damaged(lambda one: None))
    assert load_type(path).name == "a"
    assert load_type(path).kind == "category"


def test_a_file_that_cannot_be_used_does_not_hide_the_others(tmp_path: Path):
    save_type(tmp_path, WARD)
    (tmp_path / "old.json").write_text(damaged(lambda one: one.update(name="Status")))
    said: list[str] = []
    assert [one.name for one in load_types(tmp_path, said.append)] == ["Ward/bed"]
    (sentence,) = said
    assert sentence.startswith("a taught type is not used: ")
    assert "is the fine type 'status' now" in sentence
    with pytest.raises(UsageError, match="there are Ward/bed"):
        forget_type(tmp_path, "Zork")


def test_what_is_forgotten_is_gone_and_what_is_unknown_is_refused(tmp_path: Path):
    save_type(tmp_path, WARD)
    with pytest.raises(UsageError, match="no type 'Ward/bet' was taught; did you mean 'Ward/bed'"):
        forget_type(tmp_path, "Ward/bet")
    forget_type(tmp_path, "Ward/bed")
    assert "Ward/bed" not in [one.name for one in load_types(tmp_path, pytest.fail)]
    with pytest.raises(UsageError, match="there are none"):
        forget_type(tmp_path, "Ward/bed")


def test_a_user_without_a_home_has_no_types_and_is_told_what_to_set():
    assert type_files(None) == []
    with pytest.raises(UsageError, match="set AEGIR_HOME"):
        save_type(None, WARD)


def test_the_folder_is_named_by_aegir_home_then_xdg_then_home(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("AEGIR_HOME", "/here")
    monkeypatch.setenv("XDG_DATA_HOME", "/data")
    monkeypatch.setattr("sys.platform", "linux")
    assert types_folder() == Path("/here/types")
    monkeypatch.delenv("AEGIR_HOME")
    assert types_folder() == Path("/data/aegir/types")
    monkeypatch.setenv("XDG_DATA_HOME", "not/absolute")
    monkeypatch.setenv("HOME", "/home/ann")
    assert types_folder() == Path("/home/ann/.local/share/aegir/types")
