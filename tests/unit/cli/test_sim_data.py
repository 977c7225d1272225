"""`aegir sim import` and `aegir sim export`: suites become tasks, tasks become data sets."""

import json

from command_line import run
from sandboxes import open_or_skip
from small_suites import DS1000, HUMANEVAL, write_suite


def test_a_suite_is_imported_solved_and_exported(tmp_path):
    open_or_skip().close()
    tasks, data = tmp_path / "tasks.jsonl", tmp_path / "data.parquet"
    path = write_suite(tmp_path, HUMANEVAL)
    made = run("sim", "import", "humaneval", path, "--out", tasks, "--json")
    assert json.loads(made.out) == {
        "out": str(tasks),
        "problems": 2,
        "solutions_passed": 2,
        "starters_passed": 0,
        "tasks": 2,
    }
    solved = run("sim", "run", "--tasks", tasks, "--workers", 1)
    assert "2 of      2 solved by known" in solved.out
    exported = run("sim", "export", tasks, "--out", data, "--json")
    assert json.loads(exported.out) == {"out": str(data), "entries": 2}
    assert data.read_bytes()[:4] == b"PAR1"


def test_packages_that_a_suite_needs_are_mounted(tmp_path):
    open_or_skip().close()
    folder = tmp_path / "packages"
    folder.mkdir()
    (folder / "rulers.py").write_text("LENGTH = 30\n")
    code = "import rulers\n" + DS1000[0]["code_context"]
    path = write_suite(tmp_path, [{**DS1000[0], "code_context": code}])
    out = tmp_path / "tasks.jsonl"
    failed = run("sim", "import", "ds1000", path, "--out", out)
    assert failed.code == 2
    assert "no problem of" in failed.err
    assert "No module named 'rulers'" in failed.err
    assert not out.exists()
    made = run("sim", "import", "ds1000", path, "--out", out, "--packages", folder)
    assert made.out.splitlines()[0] == "1 of 1 solutions pass, 0 of 1 starters"


def test_what_is_no_suite_and_no_ending_is_refused_with_one_sentence(tmp_path):
    path = tmp_path / "empty.jsonl"
    path.write_text("")
    refused = run("sim", "import", "mbpp", path, "--out", tmp_path / "x.jsonl")
    assert (refused.code, len(refused.err.strip().splitlines())) == (2, 1)
    assert "holds no problem; expected JSON lines of mbpp as published" in refused.err
