"""`aegir mask`: its report, its key, and what it refuses."""

import json
from pathlib import Path

import pytest

from command_line import refused, run

ROWS = [
    (f"CUST-{70000 + 7 * number}", f"{name.lower()}{number}@mail.example.org", "Austria")
    for number, name in enumerate(["Ada", "Grace", "Linus", "Mary", "Olof", "Ines", "Jonas", "Petra", "Amir", "Yuki"])
]  # fmt: skip


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "people.csv"
    lines = [",".join(row) for row in (("customer_id", "email", "country"), *ROWS)]
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture
def key(tmp_path: Path) -> Path:
    path = tmp_path / "mask.key"
    path.write_text("0123456789abcdef0123456789abcdef\n")
    return path


def test_the_report_is_plain_text_and_a_random_key_is_said(table: Path, tmp_path: Path):
    out = tmp_path / "masked.csv"
    done = run("mask", table, "--out", out, "--no-memory")
    assert done.code == 0
    assert "email" in done.out
    assert "tokenise" in done.out
    assert "a random key was used" in done.err
    assert not any(value in out.read_text() for row in ROWS for value in row[:2])


def test_the_report_as_json_has_every_column(table: Path, key: Path, tmp_path: Path):
    done = run("mask", table, "-o", tmp_path / "m.csv", "--key-file", key, "--json", "--no-memory")
    report = json.loads(done.out)
    assert done.err == ""
    assert (report["rows"], report["key"], report["format"]) == (10, "given", "delimited text")
    email = report["columns"][1]
    assert (email["column"], email["level"], email["kind"]) == ("email", "direct", "person")
    assert (email["action"], email["changed"], email["left"]) == ("tokenise", 10, 0)


def test_a_key_from_a_file_and_from_the_environment_mask_alike(
    table: Path, key: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    run("mask", table, "--out", tmp_path / "a.csv", "--key-file", key, "--no-memory")
    monkeypatch.setenv("AEGIR_MASK_KEY", key.read_text().strip())
    run("mask", table, "--out", tmp_path / "b.csv", "--no-memory")
    assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()


def test_a_policy_is_followed_and_a_wrong_one_refused(table: Path, tmp_path: Path):
    policy, out = tmp_path / "p.toml", tmp_path / "m.csv"
    policy.write_text('redacted = "xxx"\n[columns]\nemail = "redact"\n')
    assert run("mask", table, "--out", out, "--mask-policy", policy, "--no-memory").code == 0
    assert [line.split(",")[1] for line in out.read_text().splitlines()] == ["email", *["xxx"] * 10]
    policy.write_text('[direct]\nemial = "redact"\nnaem = "redact"\n')
    done = run("mask", table, "--out", tmp_path / "n.csv", "--mask-policy", policy)
    refused(done, "'emial' in [direct]", "'naem' in [direct]")
    assert not (tmp_path / "n.csv").exists()


def test_the_table_itself_is_not_written_over(table: Path, tmp_path: Path):
    before = table.read_bytes()
    refused(run("mask", table, "--out", table), "is the table itself")
    link = tmp_path / "link.csv"
    link.symlink_to(table)
    refused(run("mask", table, "--out", link), "is the table itself")
    around = tmp_path / "not-there" / ".." / table.name
    refused(run("mask", table, "--out", around), "is the table itself")
    hard = tmp_path / "hard.csv"
    hard.hardlink_to(table)
    refused(run("mask", table, "--out", hard), "is the table itself")
    assert table.read_bytes() == before


@pytest.mark.parametrize(
    ("option", "content", "what"),
    [
        ("--key-file", "0123456789abcdef0123456789abcdef\n", "is the key"),
        ("--mask-policy", 'redacted = "xxx"\n', "is the mask policy"),
    ],
)
def test_a_file_that_is_read_is_not_written_over(
    table: Path, tmp_path: Path, option: str, content: str, what: str
):
    read = tmp_path / "read"
    read.write_text(content)
    for out in (read, tmp_path / "not-there" / ".." / "read"):
        refused(run("mask", table, "--out", out, option, read, "--no-memory"), what)
    assert read.read_text() == content


def test_the_memory_is_not_written_over(table: Path, tmp_path: Path):
    memory = tmp_path / "memory"
    refused(run("mask", table, "--out", memory, "--memory", memory), "is the memory")
    assert not memory.exists()


@pytest.mark.parametrize(
    ("source", "part"),
    [("gone.csv", "there is no file"), (".", "is a folder"), ("-", "standard input")],
)
def test_what_cannot_be_masked_is_refused(tmp_path: Path, source: str, part: str):
    path = source if source == "-" else tmp_path / source
    refused(run("mask", path, "--out", tmp_path / "m.csv"), part)


def test_a_key_that_cannot_be_used_is_refused(table: Path, tmp_path: Path):
    out = tmp_path / "m.csv"
    done = run("mask", table, "--out", out, "--key-file", tmp_path / "gone.key")
    refused(done, "cannot be read", "openssl rand -hex 32")
    (tmp_path / "short.key").write_text("short")
    done = run("mask", table, "--out", out, "--key-file", tmp_path / "short.key")
    refused(done, "expected at least 16")
    assert not out.exists()


def test_a_device_is_refused_as_output(table: Path):
    refused(run("mask", table, "--out", "/dev/null", "--no-memory"), "regular file")


def test_stdout_is_refused_as_output(table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    done = run("mask", table, "--out", "-", "--no-memory")
    assert done.code == 2
    assert "stdout does not take it" in done.err
    assert not (tmp_path / "-").exists()


def test_an_interrupted_run_leaves_nothing_and_keeps_an_older_copy(
    table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    def interrupt(*_: object) -> list[str]:
        raise KeyboardInterrupt

    out = tmp_path / "m.csv"
    out.write_text("older")
    monkeypatch.setattr("aegir.masking.rows.RowMasker.mask_rows", interrupt)
    assert run("mask", table, "--out", out, "--no-memory").code == 130
    assert out.read_text() == "older"
    assert {each.name for each in tmp_path.iterdir()} == {"people.csv", "m.csv"}


def test_a_guessed_encoding_can_be_overruled(table: Path, tmp_path: Path):
    table.write_bytes(table.read_text().replace("Austria", "Österreich").encode("cp1252"))
    out = tmp_path / "m.csv"
    done = run("mask", table, "--out", out, "--no-memory")
    assert "--encoding" in done.out
    done = run("mask", table, "--out", out, "--encoding", "cp1252", "--no-memory")
    assert (done.code, "--encoding" in done.out) == (0, False)
    refused(run("mask", table, "--out", out, "--sheet", "1", "--no-memory"), "does not apply")
