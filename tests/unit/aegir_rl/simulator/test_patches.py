"""Patches: what is made applies, what is written carelessly applies where it can, and what cannot says why."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aegir_rl.base.errors import UsageError
from aegir_rl.simulator.patches import LONGEST_PATCH, apply_patch, make_patch

FILES = {"pack/a.py": "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\n", "tests/test_a.py": "x\n"}
LINES = st.lists(
    st.sampled_from(["", "a", "b", "-- a", "+c", "@@ x", " d", "e\x0cf"]), min_size=1, max_size=8
)
TEXTS = LINES.map(lambda lines: "".join(f"{line}\n" for line in lines))


@given(before=st.dictionaries(st.sampled_from(["a.py", "p/b.py", "p/c.txt"]), TEXTS), after=TEXTS)
def test_a_patch_that_was_made_gives_the_second_files(before, after):
    second = {name: text for name, text in before.items() if name != "p/c.txt"} | {"a.py": after}
    assert apply_patch(before, make_patch(before, second)) == second


def test_a_hunk_with_wrong_numbers_applies_at_the_only_place_that_fits():
    patch = (
        "diff --git a/pack/a.py b/pack/a.py\nindex 1..2 100644\n--- a/pack/a.py\n+++ b/pack/a.py\n"
    )
    patch += "@@ -90,2 +90,2 @@ def f():\n six\n-seven\n+SEVEN\n\n"
    changed = apply_patch(FILES, f"Here it is:\n{patch}")
    assert changed["pack/a.py"] == FILES["pack/a.py"].replace("seven", "SEVEN")
    assert FILES["pack/a.py"].endswith("seven\neight\n")


def test_files_are_added_removed_and_renamed_and_an_empty_patch_changes_nothing():
    added = apply_patch(FILES, "--- /dev/null\n+++ b/pack/new.py\n@@ -0,0 +1 @@\n+x\n")
    assert added["pack/new.py"] == "x\n"
    lines = "".join(f"-{line}\n" for line in FILES["pack/a.py"].split())
    removed = apply_patch(FILES, f"--- a/pack/a.py\n+++ /dev/null\n@@ -1,8 +0,0 @@\n{lines}")
    assert list(removed) == ["tests/test_a.py"]
    renamed = apply_patch(FILES, "--- a/pack/a.py\n+++ b/pack/b.py\n@@ -1 +1 @@\n-one\n+1\n")
    assert "pack/a.py" not in renamed
    assert renamed["pack/b.py"].startswith("1\ntwo")
    assert apply_patch(FILES, "") == FILES


@pytest.mark.parametrize(
    ("patch", "said"),
    [
        ("words", "the answer is no patch; expected a unified diff"),
        ("@@ -1 +1 @@\n-a\n+b\n", "line 1 of the patch is a hunk before any"),
        ("--- a/no.py\n+++ b/no.py\n@@ -1 +1 @@\n-a\n+b\n", "changes 'no.py', which is no file"),
        ("--- a/no.py\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n", "removes 'no.py', which is no file"),
        ("--- a/pack/a.py\n+++ b/pack/a.py\n@@ -1 +1 @@\n-nine\n+b\n", "fits nowhere"),
        ("--- a/tests/test_a.py\n+++ b/tests/test_a.py\n@@ -1 +1 @@\n-x\n+y\n", "tests are given"),
        ("--- a/pack/a.py\n+++ b/tests/test_a.py\n@@ -1 +1 @@\n-one\n+y\n", "tests are given"),
        ("--- /dev/null\n+++ b/../x.py\n@@ -0,0 +1 @@\n+x\n", "names the file '../x.py'"),
        ("--- /dev/null\n+++ /etc/passwd\n@@ -0,0 +1 @@\n+x\n", "names the file '/etc/passwd'"),
        ("x" * (LONGEST_PATCH + 1), "the patch has more than 1,048,576 characters"),
    ],
)
def test_a_patch_that_does_not_apply_says_why_in_one_sentence(patch: str, said: str):
    with pytest.raises(UsageError) as refused:
        apply_patch(FILES, patch)
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_hunk_that_fits_twice_is_refused():
    patch = "--- a/x.py\n+++ b/x.py\n@@ -9 +9 @@\n-a\n+b\n"
    with pytest.raises(UsageError, match="fits in 2 places"):
        apply_patch({"x.py": "a\nc\na\n"}, patch)
