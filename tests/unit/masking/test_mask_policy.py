"""Mask policies: the one that ships, files on top of it, and what they get wrong."""

import re
from pathlib import Path

import pytest

from aegir.masking.policy import ACTIONS, DEFAULT_FILE, LEVELS, load_policy
from aegir.vocabulary.terms import PERSONAL_LEVELS
from aegir_rl.base.errors import UsageError
from masked_columns import answer_column


def written(folder: Path, text: str) -> Path:
    path = folder / "policy.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_the_policy_that_ships_names_only_what_exists_and_covers_every_level(tmp_path: Path):
    copy = written(tmp_path, DEFAULT_FILE.read_text(encoding="utf-8"))
    assert load_policy(copy) == load_policy(None)
    policy = load_policy(None)
    assert {*PERSONAL_LEVELS} <= {*LEVELS}
    for level in LEVELS:
        assert getattr(policy, level)["default"] in ACTIONS


def test_a_file_says_only_what_differs(tmp_path: Path):
    policy = load_policy(written(tmp_path, '[direct]\nemail_address = "redact"\n'))
    assert policy.direct == {"default": "tokenise", "email_address": "redact"}
    assert policy.indirect == load_policy(None).indirect


def test_the_most_specific_name_decides(tmp_path: Path):
    policy = load_policy(
        written(tmp_path, '[direct]\nperson = "redact"\nemail_address = "tokenise"\n')
    )
    mail = answer_column(label="email_address", fine_type="email_address", kind="person")
    name = answer_column(label="full_name", fine_type="full_name", kind="person")
    assert policy.action_for(mail) == "tokenise"
    assert policy.action_for(name) == "redact"


def test_a_special_column_goes_by_its_own_section_unless_it_is_direct():
    policy = load_policy(None)
    pulse = {"label": "physiological", "kind": "number", "personal_level": "about"}
    assert policy.action_for(answer_column(**pulse)) == "generalise"
    assert policy.action_for(answer_column(**pulse, special=True)) == "redact"
    assert policy.action_for(answer_column(special=True)) == "tokenise"
    pay = {"label": "salary", "kind": "money", "personal_level": "indirect"}
    assert policy.action_for(answer_column(**pay)) == "generalise"


def test_a_level_that_a_policy_does_not_know_is_redacted():
    assert load_policy(None).action_for(answer_column(personal_level="secret")) == "redact"


def test_all_unknown_names_are_listed_in_one_sentence(tmp_path: Path):
    path = written(tmp_path, '[direct]\nemial_address = "redact"\n[about]\nmony = "keep"\n')
    with pytest.raises(UsageError) as refused:
        load_policy(path)
    said = str(refused.value)
    assert "'emial_address' in [direct] (did you mean 'email_address'?)" in said
    assert "'mony' in [about]" in said
    assert "\n" not in said


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ('unsre = "list"', "did you mean 'unsure'?"),
        ('unsure = "ignore"', "redact, tokenise or list"),
        ('[direct]\ndefault = "hide"', "there are keep, redact, tokenise, shift, generalise"),
        ("[generalise]\nages = 1", "at least 2"),
        ('[generalise]\ndates = "day"', "year or month"),
        ('[shift]\nby = "row"', "subject or table"),
        ('redacted = " "', "some text on one line"),
        ("unsure", "no TOML file"),
    ],
)
def test_a_wrong_policy_is_refused_in_one_sentence(tmp_path: Path, text: str, part: str):
    with pytest.raises(UsageError, match=r"^[^\n]*$") as refused:
        load_policy(written(tmp_path, text))
    assert part in str(refused.value)


def test_a_taught_type_may_be_named(tmp_path: Path):
    path = written(tmp_path, '[direct]\nstaff_badge = "redact"\n')
    with pytest.raises(UsageError, match="staff_badge"):
        load_policy(path)
    assert load_policy(path, ["staff_badge"]).direct["staff_badge"] == "redact"


def test_the_policy_on_the_page_can_be_used(tmp_path: Path):
    page = Path(__file__).parents[3] / "docs" / "masking.md"
    (block,) = re.findall(r"^```toml\n(.*?)^```", page.read_text(), re.DOTALL | re.MULTILINE)
    policy = load_policy(written(tmp_path, block))
    assert (policy.unsure, policy.shift.by, policy.columns["note*"]) == ("list", "table", "redact")
