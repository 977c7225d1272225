"""`aegir` as people run it: a process of its own, real files, real pipes."""

import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from aegir.answers.writers import FORMATS
from aegir.pipeline.registry import ANNOTATORS
from command_line import run, run_process
from nasty_files import REFUSED
from parquet_answers import embedded_annotation

EXAMPLES = Path(__file__).parents[2] / "examples"
BOOKS = EXAMPLES / "books.csv"
NOT_FOUND_IN_FOLDERS = ("folder.csv", "pipe.csv", "archive.tar")
"""An empty folder, a pipe, and a file without a suffix of tables: passed over unless named."""


@pytest.mark.slow
def test_a_folder_of_nasty_files_is_read_as_far_as_it_can_be(nasty: dict[str, Path]):
    folder = nasty["empty.csv"].parent
    done = run_process("annotate", folder, "--json")
    refused = sorted(name for name in REFUSED if name not in NOT_FOUND_IN_FOLDERS)
    answered = {Path(json.loads(line)["source"]).name for line in done.out.splitlines()}
    assert done.code == 2
    assert "Traceback" not in done.err
    assert all(line.startswith("aegir: ") for line in done.said), done.err
    assert answered == set(nasty) - set(REFUSED)
    for name in refused:
        assert any(name in line for line in done.said[:-1]), name
    files = len(answered) + len(refused)
    assert f"from {files} files" in done.said[-2]
    assert done.said[-1].startswith(f"aegir: {len(refused)} of {files} files failed: {folder}/")
    assert done.said[-1].endswith(f"and {len(refused) - 10} more")


def test_all_examples_are_annotated():
    done = run_process("annotate", EXAMPLES, "--json")
    tables = [json.loads(line) for line in done.out.splitlines()]
    assert done.code == 0, done.err
    assert (
        len(tables) == 31
    )  # of 21 files: several sheets, lists and tables of a database among them
    columns = [column for table in tables for column in table["columns"]]
    silent = [column["name"] for column in columns if column["label"] is None]
    assert len(silent) <= 0.03 * len(columns), silent


def test_a_reader_that_leaves_early_ends_the_run_quietly():
    command = [sys.executable, "-m", "aegir", "annotate", str(EXAMPLES)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        assert running.stdout is not None
        assert running.stderr is not None
        assert b"access_log.csv" in running.stdout.readline()
        running.stdout.close()
        said = running.stderr.read().decode()
        assert running.wait(timeout=60) == 0
    assert "Traceback" not in said
    assert "BrokenPipe" not in said


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
@pytest.mark.parametrize(
    "arguments",
    [("annotate", BOOKS), ("annotate", BOOKS, "-f", "json"), ("types", "list"), ("--help",)],
)
def test_a_full_disk_behind_stdout_is_one_sentence_and_exit_code_1(arguments: tuple):
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "aegir", *map(str, arguments)],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            timeout=100,
            check=False,
        )
    assert done.returncode == 1
    assert done.stderr == "aegir: cannot write the answer: No space left on device\n"


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        ("annotate - <&-", 2, "standard input is closed; give a file, or pipe a table in"),
        (f"annotate {BOOKS} >&-", 1, "cannot write the answer: Bad file descriptor"),
        ("types list >&-", 1, "cannot write the answer: Bad file descriptor"),
        ("--help >&-", 1, "cannot write the answer: Bad file descriptor"),
    ],
)
def test_a_closed_stream_is_one_sentence(arguments: str, code: int, said: str):
    done = subprocess.run(
        f"'{sys.executable}' -m aegir {arguments}",
        shell=True,
        stderr=subprocess.PIPE,
        text=True,
        timeout=100,
        check=False,
    )
    assert (done.returncode, done.stderr) == (code, f"aegir: {said}\n")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
def test_messages_that_cannot_be_written_change_neither_answer_nor_exit_code(tmp_path: Path):
    (tmp_path / "empty.csv").touch()
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "aegir", "annotate", tmp_path / "empty.csv", BOOKS, "--json"],
            stdout=subprocess.PIPE,
            stderr=full,
            timeout=100,
            check=False,
        )
    assert done.returncode == 2
    assert json.loads(done.stdout)["table"] == "books.csv"


def test_an_answer_to_a_file_needs_no_open_stream(tmp_path: Path):
    out = tmp_path / "answers.jsonl"
    command = f"'{sys.executable}' -m aegir annotate {BOOKS} --json --out {out} <&- >&- 2>&-"
    assert subprocess.run(command, shell=True, timeout=100, check=False).returncode == 0
    assert json.loads(out.read_text())["table"] == "books.csv"


def test_an_interruption_ends_with_130_and_a_word():
    command = [sys.executable, "-m", "aegir", "annotate", "-"]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, **pipes) as running:
        assert running.stdin is not None
        # More than a pipe holds: when all is written, the table is being read.
        running.stdin.write(b"id,name\n" + b"1,Ann\n" * 50_000)
        running.stdin.flush()
        running.send_signal(signal.SIGINT)
        assert running.wait(timeout=60) == 130
        said = running.stderr.read().decode() if running.stderr else ""
    assert said.strip() == "aegir: interrupted"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_run_that_is_stopped_leaves_the_old_answer_and_keeps_the_new_ones(
    tmp_path: Path, number: signal.Signals
):
    (tmp_path / "wide.csv").write_text(  # as many columns as are annotated at once
        ",".join(f"c{column}" for column in range(600)) + "\n" + ",".join(["1"] * 600) + "\n"
    )
    out = tmp_path / "answers.jsonl"
    out.write_text("the old answer\n")
    command = [sys.executable, "-m", "aegir", "annotate", "wide.csv", "-", "--json", "-o", out]
    pipes = {"stdin": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen([*map(str, command)], cwd=tmp_path, **pipes) as running:
        while not any(path.stat().st_size for path in tmp_path.glob(".aegir-*.partial")):
            assert running.poll() is None
            time.sleep(0.02)
        time.sleep(0.5)  # until it waits for standard input
        running.send_signal(number)
        code = running.wait(timeout=60)
        said = running.stderr.read().decode().split("\n") if running.stderr else []
    assert out.read_text() == "the old answer\n"
    if number == signal.SIGKILL:
        assert run_process("annotate", BOOKS, "--json", "-o", out).code == 0
        assert not list(tmp_path.glob(".*"))
        return
    kept = tmp_path / "answers.jsonl.interrupted"
    assert code == 128 + number
    assert [line for line in said if line] == [
        f"aegir: {out} is as it was; the answers so far (1 table) are in {kept}",
        f"aegir: {'interrupted' if number == signal.SIGINT else 'terminated'}",
    ]
    assert json.loads(kept.read_text())["table"] == "wide.csv"
    assert sorted(path.name for path in tmp_path.iterdir()) == [out.name, kept.name, "wide.csv"]


def test_help_starts_within_three_tenths_of_a_cpu_second():
    spent = []
    for _ in range(3):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        assert run_process("--help").code == 0
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        spent.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    assert min(spent) < 0.3


def test_a_table_comes_through_a_pipe():
    done = run_process("annotate", "-", "--json", stdin=(EXAMPLES / "sensors.parquet").read_bytes())
    assert done.code == 0, done.err
    assert json.loads(done.out)["table"] == "stdin"


@pytest.mark.parametrize("annotator", sorted(set(ANNOTATORS) - {"swarm"}))
def test_annotating_never_loads_what_only_training_needs(annotator: str):
    code = (
        "import json, sys\n"
        "from aegir.cli.main import main\n"
        "try: main()\n"
        "except SystemExit as left: assert not left.code\n"
        "print(json.dumps(sorted({name.split('.')[0] for name in sys.modules})), file=sys.stderr)"
    )
    done = run_process("annotate", EXAMPLES, "--json", "--annotator", annotator, python=code)
    loaded = set(json.loads(done.said[-1]))
    assert "numpy" in loaded
    assert not loaded & {"torch", "sklearn", "scipy", "pandas", "polars", "pyarrow", "joblib"}


def test_the_python_call_with_blas_threads_gives_the_bytes_of_the_command_line():
    code = "import sys, numpy, aegir; sys.stdout.write(aegir.annotate(sys.argv[1]).to('json'))"
    called = run_process(EXAMPLES, python=code, OPENBLAS_NUM_THREADS="4")
    assert called.code == 0, called.err
    assert called.out == run_process("annotate", EXAMPLES, "--format", "json").out


def test_reading_text_does_not_load_a_database():
    code = (
        "import sys, aegir\n"
        "aegir.annotate(sys.argv[1])\n"
        "print([name for name in ('duckdb', 'nanoarrow') if name in sys.modules])"
    )
    assert run_process(EXAMPLES / "books.csv", python=code).out == "[]\n"


def test_a_terminal_that_knows_only_ascii_gets_an_answer(tmp_path: Path):
    (tmp_path / "città.csv").write_text("città,n\nForlì,1\nCantù,2\n", encoding="utf-8")
    text = run_process("annotate", tmp_path / "città.csv", PYTHONIOENCODING="ascii")
    assert (text.code, text.err) == (0, "")
    assert "citt?" in text.out
    data = run_process("annotate", tmp_path / "città.csv", "--json", PYTHONIOENCODING="latin-1")
    assert json.loads(data.out)["columns"][0]["name"] == "città"


def test_a_file_name_that_is_no_utf8_is_read_and_shown_with_its_bytes(tmp_path: Path):
    for suffix, example in ((b".csv", "books.csv"), (b".parquet", "sensors.parquet")):
        shutil.copy(EXAMPLES / example, os.fsencode(tmp_path) + b"/caf\xe9" + suffix)
    (tmp_path / "empty\udce9.csv").touch()
    for format_name in ("text", *FORMATS):
        go = run_process if format_name == "text" else run
        done = go("annotate", tmp_path, "--format", format_name)
        assert done.code == 2, done.err
        assert done.said == [
            rf"aegir: {tmp_path}/empty\xe9.csv is empty; expected a table",
            "aegir: 2 tables with 20 columns from 3 files",
            rf"aegir: 1 of 3 files failed: {tmp_path}/empty\xe9.csv",
        ]
        if format_name == "sarif":  # lists findings, not tables
            continue
        for name in ("caf\\xe9.csv", "caf\\xe9.parquet"):
            shown = (
                name
                if format_name in ("text", "html", "csv", "sql", "load", "load_postgres")
                else name.replace("\\", "\\\\")
            )
            assert shown in done.out, format_name


def test_a_parquet_file_whose_name_is_no_utf8_is_embedded_into(tmp_path: Path):
    path = tmp_path / "caf\udce9.parquet"
    shutil.copy(EXAMPLES / "sensors.parquet", path)
    done = run_process("annotate", path, "--embed", "--json", "--out", tmp_path / "answers\udce9")
    assert done.code == 0, done.err
    assert rf"aegir: answers embedded in {tmp_path}/caf\xe9.parquet under" in done.said[0]
    assert embedded_annotation(path) is not None


@pytest.mark.skipif(sys.platform != "linux", reason="workers are forked on Linux only")
@pytest.mark.parametrize("format_name", FORMATS)
def test_several_workers_write_the_bytes_of_one(format_name: str):
    one, two = (
        run("annotate", EXAMPLES, "-f", format_name, "--annotator", "rules", "--workers", workers)
        for workers in (1, 2)
    )
    assert one.code == 0
    assert two == one


@pytest.mark.skipif(sys.platform != "linux", reason="workers are forked on Linux only")
def test_several_workers_embed_in_every_parquet_file(tmp_path: Path):
    paths = [tmp_path / f"sensors{number}.parquet" for number in range(4)]
    for path in paths:
        shutil.copy(EXAMPLES / "sensors.parquet", path)
    os.link(paths[0], tmp_path / "twin.parquet")
    (tmp_path / "link.parquet").symlink_to(paths[1])
    done = run("annotate", tmp_path, "--embed", "--workers", 3, "--annotator", "rules")
    assert done.code == 0, done.err
    assert all(embedded_annotation(path) for path in paths)


@pytest.mark.skipif(sys.platform != "linux", reason="workers are forked on Linux only")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_run_with_workers_that_is_stopped_keeps_its_answers_and_leaves_no_process(
    tmp_path: Path, number: signal.Signals
):
    for table in range(400):
        (tmp_path / f"t{table:03}.csv").write_text("id,city\n1,Oslo\n2,Rome\n" * 20)
    out = tmp_path / "answers.jsonl"
    command = [sys.executable, "-m", "aegir", "annotate", tmp_path, "--json", "-o", out]
    with subprocess.Popen(
        [*map(str, command), "--workers", "2"], stderr=subprocess.PIPE, start_new_session=True
    ) as running:
        while not any(path.stat().st_size for path in tmp_path.glob(".aegir-*.partial")):
            assert running.poll() is None
            time.sleep(0.02)
        children = Path(f"/proc/{running.pid}/task/{running.pid}/children").read_text().split()
        os.killpg(running.pid, number)
        code = running.wait(timeout=60)
        said = running.stderr.read().decode() if running.stderr else ""
    assert len(children) == 2
    assert code == 128 + number
    assert "Traceback" not in said
    assert "the answers so far" in said
    assert not [child for child in children if Path(f"/proc/{child}").exists()]
    lines = (tmp_path / "answers.jsonl.interrupted").read_text().splitlines()
    assert [json.loads(line)["table"] for line in lines] == [
        f"t{table:03}.csv" for table in range(len(lines))
    ]
