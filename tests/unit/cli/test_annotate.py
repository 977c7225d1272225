"""`aegir annotate`: answers to stdout or a file, talk to stderr, failures in sentences."""

import csv
import io
import json
import os
import shutil
from pathlib import Path
from unittest.mock import patch

import pytest

from aegir.answers.annotation import annotation_as_dict
from aegir.answers.parquet_metadata import embed_annotation
from aegir.answers.writers import FORMATS
from aegir.pipeline.run import annotate
from command_line import run
from nasty_files import REFUSED
from parquet_answers import embedded_annotation

EXAMPLES = Path(__file__).parents[3] / "examples"
BOOKS = EXAMPLES / "books.csv"


@pytest.fixture
def lake(tmp_path: Path) -> Path:
    folder = tmp_path / "lake"
    folder.mkdir()
    for name in ("books.csv", "films.csv", "shop.xlsx"):
        shutil.copy(EXAMPLES / name, folder / name)
    return folder


def test_one_file_gives_a_readable_report_and_no_talk():
    done = run("annotate", BOOKS)
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("books.csv   one row is a book (work 0.")
    assert "  11 columns, subject: title" in done.out.partition("\n\n")[0]
    assert "\x1b" not in done.out


def test_asked_why_it_prints_every_reason_whole(tmp_path: Path):
    (column, *_) = annotate(BOOKS)[0].columns[1:]
    shown = run("annotate", BOOKS, "--why").out
    for reason in column.reasons:
        assert f"    - {reason}\n" in shown
    assert run("annotate", BOOKS, "--why", "--out", tmp_path / "report").code == 0
    assert (tmp_path / "report").read_text(encoding="utf-8") == shown
    assert run("annotate", BOOKS, "--why", "--json").out == run("annotate", BOOKS, "--json").out


def test_the_command_gives_what_the_python_call_gives():
    done = run("annotate", BOOKS, "--json")
    assert json.loads(done.out) == json.loads(json.dumps(annotation_as_dict(annotate(BOOKS)[0])))


@pytest.mark.parametrize(
    ("absent", "sentence"),
    [
        ("no.csv", "there is no file or folder no.csv"),
        ("no/*.csv", "no file matches no/*.csv"),
        ("{empty}", "the folder {empty} holds no tables"),
        ("", "the name of a table is empty"),
    ],
)
def test_a_name_that_leads_nowhere_stops_no_other_file(
    absent: str, sentence: str, lake: Path, tmp_path: Path
):
    empty = tmp_path / "empty"
    empty.mkdir()
    absent, sentence = absent.format(empty=empty), sentence.format(empty=empty)
    alone = run("annotate", absent, "--json")
    assert (alone.code, alone.out, len(alone.said)) == (2, "", 1)
    assert alone.said[0].startswith(f"aegir: {sentence}")
    done = run("annotate", lake / "books.csv", absent, lake / "films.csv", "--json")
    assert done.code == 2
    assert [json.loads(line)["table"] for line in done.out.splitlines()] == [
        "books.csv",
        "films.csv",
    ]
    assert done.said[0].startswith(f"aegir: {sentence}")
    assert done.said[1:] == [
        "aegir: 2 tables with 22 columns from 3 files",
        "aegir: 1 of 3 files failed: " + (absent or "''"),
    ]


def test_several_names_that_lead_nowhere_are_one_sentence_and_write_nothing(tmp_path: Path):
    out = tmp_path / "answers.json"
    done = run("annotate", "no.csv", "not.csv", "--format", "json", "--out", out)
    assert done.code == 2
    assert done.said == [
        "aegir: there is no file or folder no.csv; there is no file or folder not.csv"
    ]
    assert not out.exists()


def test_json_is_one_object_per_table_and_line(lake: Path):
    done = run("annotate", lake, "--json")
    names = [json.loads(line)["table"] for line in done.out.splitlines()]
    assert names == ["books.csv", "films.csv", "shop.xlsx#Orders", "shop.xlsx#Stores"]
    assert done.said == ["aegir: 4 tables with 36 columns from 3 files"]


def test_a_folder_in_two_runs_gives_the_lines_of_one_run(lake: Path):
    parts = [run("annotate", file, "--json").out for file in sorted(lake.iterdir())]
    assert run("annotate", lake, "--json").out == "".join(parts)


def test_standard_input_is_a_table():
    done = run("annotate", "-", "--json", stdin=BOOKS.read_bytes())
    found = json.loads(done.out)
    assert (done.code, found["table"]) == (0, "stdin")
    assert [column["name"] for column in found["columns"]][:2] == ["title", "author"]


@pytest.mark.parametrize("format_name", ["text", *FORMATS])
def test_a_file_holds_what_stdout_would_show(tmp_path: Path, lake: Path, format_name: str):
    out = tmp_path / "answers"
    shown = run("annotate", lake, "--format", format_name)
    done = run("annotate", lake, "--format", format_name, "--out", out)
    assert (done.code, done.out) == (0, "")
    assert out.read_text(encoding="utf-8") == shown.out
    assert done.said == [f"aegir: 4 tables with 36 columns from 3 files, written to {out}"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["answers", "lake"]
    umask = os.umask(0)
    os.umask(umask)
    assert out.stat().st_mode & 0o777 == 0o666 & ~umask


def test_csv_has_one_header_whatever_the_number_of_tables(lake: Path):
    rows = list(csv.reader(io.StringIO(run("annotate", lake, "-f", "csv").out)))
    assert len(rows) == 1 + 36
    assert sum(row[0] == "table" for row in rows) == 1


def test_a_table_that_is_read_is_never_written_over(lake: Path):
    before = (lake / "books.csv").read_bytes()
    done = run("annotate", lake / "books.csv", "--format", "csv", "--out", lake / "books.csv")
    assert done.code == 2
    assert "would write over a table to be read" in done.err
    assert (lake / "books.csv").read_bytes() == before


def test_an_earlier_answer_in_the_same_folder_is_replaced_not_read(lake: Path):
    out = lake / "answers.jsonl"
    for times in range(2):
        done = run("annotate", lake, "--json", "--out", out)
        assert done.code == 0
        assert len(out.read_text().splitlines()) == 4
        said = [f"aegir: {out} is an earlier answer (jsonl); it is not annotated"]
        assert done.said[:-1] == said * times


@pytest.mark.parametrize("format_name", ["text", *FORMATS])
def test_a_table_in_a_folder_that_is_read_is_never_written_over(lake: Path, format_name: str):
    films = lake / "films.csv"
    before = films.read_bytes()
    for source in (lake, f"{lake}/*.csv"):
        done = run("annotate", source, "-f", format_name, "--out", films)
        assert (done.code, done.out) == (2, "")
        assert done.said == [
            f"aegir: --out {films} would write over a table to be read; give another name"
        ]
    assert films.read_bytes() == before


def test_an_answer_in_another_format_is_not_written_over_unseen(lake: Path):
    out = lake / "answers.csv"
    assert run("annotate", lake, "-f", "csv", "--out", out).code == 0
    before = out.read_bytes()
    assert run("annotate", lake, "-f", "json", "--out", out).code == 2
    assert out.read_bytes() == before


def test_a_folder_that_is_missing_is_made(tmp_path: Path):
    for format_name in ("text", "json"):
        file = tmp_path / format_name / "no" / "x"
        assert run("annotate", BOOKS, "-f", format_name, "--out", file).code == 0
        assert file.stat().st_size > 0


@pytest.mark.parametrize("format_name", ["json", "jsonl"])
def test_links_and_pipes_are_written_through_never_replaced(tmp_path: Path, format_name: str):
    shown = run("annotate", BOOKS, "--format", format_name).out
    link, pipe = tmp_path / "link", tmp_path / "pipe"
    link.symlink_to(tmp_path / "target")
    os.mkfifo(pipe)
    reading = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    for out in (link, pipe):
        assert run("annotate", BOOKS, "--format", format_name, "--out", out).code == 0
    assert link.is_symlink()
    assert (tmp_path / "target").read_text(encoding="utf-8") == shown
    assert pipe.is_fifo()
    assert os.read(reading, 1 << 20).decode() == shown
    os.close(reading)


def test_an_old_answer_stays_when_no_table_could_be_annotated(tmp_path: Path):
    (tmp_path / "empty.csv").touch()
    out = tmp_path / "answers.json"
    for format_name in ("json", "csv"):
        out.write_text("the old answer")
        done = run("annotate", tmp_path / "empty.csv", "-f", format_name, "--out", out)
        assert done.code == 2
        assert done.said == [
            f"aegir: {tmp_path / 'empty.csv'} is empty; expected a table",
            f"aegir: no table could be annotated; {out} is as it was",
        ]
        assert out.read_text() == "the old answer"


def test_a_dash_is_standard_output(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    assert run("annotate", BOOKS, "--out", "-").out == run("annotate", BOOKS).out
    assert list(tmp_path.iterdir()) == []


def test_a_file_is_no_folder_to_write_into():
    done = run("annotate", BOOKS, "--format", "json", "--out", BOOKS / "x.json")
    assert (done.code, len(done.said)) == (2, 1)
    assert done.said == [f"aegir: {BOOKS / 'x.json'} cannot be written (Not a directory)"]


def test_embedding_leaves_the_answer_in_the_parquet_file(tmp_path: Path):
    shutil.copy(EXAMPLES / "sensors.parquet", tmp_path)
    shutil.copy(BOOKS, tmp_path)
    path = tmp_path / "sensors.parquet"
    done = run("annotate", tmp_path, "--embed", "--json")
    assert done.code == 0
    assert f"aegir: answers embedded in {path} under the key aegir.annotation" in done.said
    embedded = embedded_annotation(path)
    assert embedded is not None
    assert annotation_as_dict(embedded) == json.loads(done.out.splitlines()[1])
    assert annotate(path)[0].columns == annotate(EXAMPLES / "sensors.parquet")[0].columns
    assert (tmp_path / "books.csv").read_bytes() == BOOKS.read_bytes()


def test_a_file_and_a_link_to_it_are_both_embedded_into(tmp_path: Path):
    shutil.copy(EXAMPLES / "sensors.parquet", tmp_path)
    (tmp_path / "link.parquet").symlink_to("sensors.parquet")
    done = run("annotate", tmp_path, "--embed", "--json")
    assert done.code == 0
    assert "aegir: answers embedded in 2 Parquet files under the key aegir.annotation" in done.said


def test_a_file_that_was_replaced_after_it_was_read_is_not_embedded_into(tmp_path: Path):
    path, other = tmp_path / "sensors.parquet", tmp_path / "other"
    shutil.copy(EXAMPLES / "sensors.parquet", path)
    shutil.copy(EXAMPLES / "sensors.parquet", other)
    expected = other.read_bytes()

    def replaced(*arguments: object, **options: object) -> None:
        other.replace(path)
        embed_annotation(*arguments, **options)

    with patch("aegir.answers.parquet_metadata.embed_annotation", replaced):
        done = run("annotate", path, "--embed", "--json")
    assert done.code == 2
    assert done.said[0] == (
        f"aegir: {path} was changed by another program in the meantime and is left as it is; run again"
    )
    assert path.read_bytes() == expected
    assert json.loads(done.out)["table"] == "sensors.parquet"


def test_embedding_says_when_there_was_nothing_to_embed_into():
    done = run("annotate", BOOKS, "--embed")
    assert (done.code, done.said) == (0, ["aegir: answers embedded in no Parquet file"])


def test_what_cannot_be_embedded_fails_alone(tmp_path: Path):
    (tmp_path / "a.parquet").write_text("id,name\n1,Ann\n2,Bob\n")
    shutil.copy(BOOKS, tmp_path)
    done = run("annotate", tmp_path, "--embed", "--json")
    assert done.code == 2
    assert [json.loads(line)["table"] for line in done.out.splitlines()] == [
        "a.parquet",
        "books.csv",
    ]
    assert "a.parquet is not a Parquet file" in done.err
    assert done.said[-1] == f"aegir: 1 of 2 files failed: {tmp_path / 'a.parquet'}"
    assert (tmp_path / "a.parquet").read_text() == "id,name\n1,Ann\n2,Bob\n"


def test_a_link_to_nothing_is_a_failure_not_a_silence(lake: Path):
    (lake / "gone.csv").symlink_to(lake / "nowhere.csv")
    (lake / "old.jsonl").touch()
    done = run("annotate", lake, "--json", "--out", lake / "old.jsonl")
    assert (done.code, len((lake / "old.jsonl").read_text().splitlines())) == (2, 4)
    assert f"aegir: {lake / 'gone.csv'} is a link to a file that is not there" in done.said


@pytest.mark.skipif(not Path("/proc/self/mem").exists(), reason="needs a file that fails when read")
def test_a_read_error_is_the_failure_of_that_file_alone(lake: Path):
    (lake / "bad.csv").symlink_to("/proc/self/mem")  # an I/O error at the first byte
    done = run("annotate", lake, "--json", "--out", lake / "old.jsonl")
    assert done.code == 2
    assert len((lake / "old.jsonl").read_text().splitlines()) == 4
    assert "bad.csv" in done.said[0]
    assert done.said[0].endswith("(Input/output error)")
    assert done.said[-1] == f"aegir: 1 of 4 files failed: {lake / 'bad.csv'}"


def test_names_with_line_breaks_and_colours_stay_on_their_line(tmp_path: Path):
    odd = tmp_path / "a\naegir: all is well\x1b[31m.csv"
    odd.write_bytes(b"id,name\n1,A\0nn\n2,Bob\n")
    (tmp_path / "empty\r\n.csv").touch()
    done = run("annotate", tmp_path, "--json")
    assert done.said == [
        r"aegir: a\naegir: all is well\x1b[31m.csv: NUL characters were removed",
        rf"aegir: {tmp_path}/empty\r\n.csv is empty; expected a table",
        "aegir: 1 table with 2 columns from 2 files",
        rf"aegir: 1 of 2 files failed: {tmp_path}/empty\r\n.csv",
    ]


def test_one_of_each_is_said_in_the_singular(tmp_path: Path):
    (tmp_path / "t.csv").write_text("city\nParis\nRome\nOslo\n")
    done = run("annotate", tmp_path, "--out", tmp_path / "answer")
    assert done.said == [
        f"aegir: 1 table with 1 column from 1 file, written to {tmp_path / 'answer'}"
    ]


def test_confidence_and_precision_make_it_abstain():
    sure = json.loads(run("annotate", BOOKS, "--json", "--min-confidence", "1").out)
    assert None in [column["type"] for column in sure["columns"]]
    modest = json.loads(run("annotate", BOOKS, "--json", "--precision", "0.8").out)
    strict = json.loads(run("annotate", BOOKS, "--json", "--precision", "0.95").out)
    for one, other in zip(modest["columns"], strict["columns"], strict=True):
        assert other["type"] in (None, one["type"])


def test_the_seed_and_the_number_of_rows_decide_what_is_looked_at(tmp_path: Path):
    table = tmp_path / "t.csv"
    table.write_text("n\n" + "".join(f"{number}\n" for number in range(5000)))
    one, again, other = (
        run("annotate", table, "--json", "--rows", "5", "--seed", seed).out for seed in (1, 1, 2)
    )
    assert one == again
    assert one != other


def test_a_file_of_tags_maps_levels_to_tags(tmp_path: Path):
    table, tags, old = tmp_path / "t.csv", tmp_path / "tags.toml", tmp_path / "old.jsonl"
    table.write_text("mail,size\nann@example.org,1\nbob@example.org,2\ncyd@example.org,3\n")
    tags.write_text('[levels]\ndirect = ["PII.High", "Contact"]\n')
    arguments = ("annotate", str(table), "--annotator", "rules", "--json")
    done = run(*arguments, "--tags", str(tags), "--out", str(old))
    assert done.code == 0
    mail, size = json.loads(old.read_text())["columns"]
    assert mail["tags"] == ["PII.High", "Contact"]
    assert "tags" not in size
    kept = run(*arguments, "--previous", str(old))
    assert "tags" not in json.loads(kept.out)["columns"][0]
    called = annotate(table, annotator="rules", tags=str(tags))
    assert called[0].columns[0].tags == ("PII.High", "Contact")
    tags.write_text('[levels]\nhigh = "A"\n[special]\nhelth = "B"\n')
    refused = run(*arguments, "--tags", str(tags))
    assert (refused.code, refused.out) == (2, "")
    (line,) = refused.said
    assert "unknown names: 'high' in [levels], 'helth' in [special]; there are any, direct" in line


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("no.csv",), "there is no file or folder no.csv"),
        (("",), "the name of a table is empty"),
        (("*.nothing",), "no file matches *.nothing"),
        ((BOOKS, "-f", "xml"), "unknown format 'xml'; there are text, json"),
        ((BOOKS, "--annotator", "magic"), "unknown annotator 'magic'; there are dispatch"),
        ((BOOKS, "--model", "no.safetensors"), "no.safetensors cannot be read as a model"),
        ((BOOKS, "--model", "x", "--annotator", "rules"), "the annotator 'rules' has no weights"),
        ((BOOKS, "--precision", "0.9999"), "precision 0.9999 was not reached"),
        ((BOOKS, "--precision", "7"), "precision is 7.0; expected a number between 0 and 1"),
    ],
)
def test_what_was_asked_wrongly_is_said_in_one_sentence(arguments: tuple, sentence: str):
    done = run("annotate", *arguments)
    assert (done.code, done.out) == (2, "")
    (line,) = done.said
    assert line.startswith(f"aegir: {sentence}")


@pytest.mark.parametrize(
    "arguments", [(), (BOOKS, "--rows", "0"), (BOOKS, "--min-confidence", "2")]
)
def test_wrong_options_show_how_to_ask(arguments: tuple):
    done = run("annotate", *arguments)
    assert done.code == 2
    assert done.err.startswith("Usage: aegir annotate")


def test_every_nasty_file_gives_an_answer_or_one_sentence_that_names_it(nasty: dict[str, Path]):
    for name, path in nasty.items():
        done = run("annotate", path, "--json")
        assert "Traceback" not in done.err
        assert all(line.startswith("aegir: ") for line in done.said), (name, done.err)
        if name in REFUSED:
            assert (done.code, done.out) == (2, ""), name
            (line,) = done.said
            assert name in line
        else:
            assert done.code == 0, (name, done.err)
            assert all(json.loads(line)["columns"] for line in done.out.splitlines()), name
