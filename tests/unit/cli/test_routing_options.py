"""Routing on the command line: tables, policies, explanations, logs and corrections."""

import json
from pathlib import Path

import pytest

from aegir.pipeline.settings import DEFAULT_ANNOTATOR
from command_line import run

BOOKS = Path(__file__).parents[3] / "examples" / "books.csv"
LABELLED = (
    '{"id": "shop", "columns": [{"name": "mail", "values": ["a@example.org", "b@example.org"], "cta": "email"}, '
    '{"name": "x", "values": ["1", "2"], "cta": null}]}\n'
)


def test_every_column_is_explained_beside_the_answer(tmp_path: Path):
    routing = tmp_path / "routing.yaml"
    routing.write_text("rules:\n  - columns > 3 -> ngrams\n  - otherwise -> combined\n")
    done = run("annotate", BOOKS, "--json", "--explain-routing", "--routing", routing)
    assert done.code == 0
    assert json.loads(done.out)["annotator"] == "dispatch"
    assert len(done.said) == 11
    assert done.said[0].startswith(
        "aegir: books.csv, column 0 (title): ngrams by static table: columns > 3 -> ngrams; propensity 1, "
    )


def test_a_table_that_cannot_be_parsed_is_one_sentence(tmp_path: Path):
    routing = tmp_path / "routing.yaml"
    routing.write_text("rules:\n  - columns >> 3 -> ngrams\n")
    done = run("annotate", BOOKS, "--routing", routing)
    assert done.code == 2
    assert done.said[0].startswith(f"aegir: {routing}, line 2, column 5: 'columns >> 3' is no")


@pytest.mark.parametrize("by", ["option", "environment"])
def test_without_a_usable_policy_the_table_decides_and_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, by: str
):
    missing = tmp_path / "none.safetensors"
    options = ("--policy", missing) if by == "option" else ()
    if by == "environment":
        monkeypatch.setenv("AEGIR_RL_POLICY", "1")
        monkeypatch.setenv("AEGIR_RL_CHECKPOINT", str(missing))
    done = run("annotate", BOOKS, "--json", "--explain-routing", *options)
    assert done.code == 0
    assert "the routing table decides, without a policy: " in done.said[0]
    assert "none.safetensors" in done.said[0]
    assert "by static table" in done.said[1]


def test_a_policy_that_is_switched_off_is_not_loaded(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("AEGIR_RL_POLICY", "0")
    monkeypatch.setenv("AEGIR_RL_CHECKPOINT", "none.safetensors")
    done = run("annotate", BOOKS, "--json")
    assert (done.code, done.err) == (0, "")


@pytest.mark.parametrize("verb", ["diff", "eval", "review"])
def test_verbs_without_options_about_routing_take_the_policy_of_the_environment(
    verb: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("AEGIR_RL_POLICY", "1")
    monkeypatch.setenv("AEGIR_RL_CHECKPOINT", str(tmp_path / "none.safetensors"))
    labelled = tmp_path / "labelled.jsonl"
    labelled.write_text(LABELLED)
    arguments = {
        "diff": (BOOKS, BOOKS),
        "eval": (labelled,),
        "review": (BOOKS, "--memory", tmp_path / "memory.db"),
    }
    done = run(verb, *arguments[verb], stdin=b"q\n")
    assert done.code == 0
    assert "the routing table decides, without a policy: " in done.err


def test_the_dispatcher_is_the_default_and_others_are_chosen_by_name():
    answers = [
        json.loads(run("annotate", BOOKS, "--json", *options).out)
        for options in ((), ("--annotator", DEFAULT_ANNOTATOR), ("--annotator", "combined"))
    ]
    assert [each["annotator"] for each in answers] == ["dispatch", "dispatch", "combined"]
    assert answers[0] == answers[1]


def test_only_the_dispatcher_routes():
    done = run("annotate", BOOKS, "--annotator", "rules", "--explain-routing")
    assert done.code == 2
    assert "the annotator 'rules' does not route columns" in done.err


def test_a_run_is_logged_and_corrected(tmp_path: Path):
    store, file = tmp_path / "log.db", tmp_path / "fix.csv"
    done = run("annotate", BOOKS, "--json", "--log-decisions", store)
    assert done.code == 0
    assert f"11 decisions logged in {store} as run " in done.said[-1]
    file.write_text("table,column,label\nbooks.csv,isbn,isbn\n")
    done = run("feedback", file, "--store", store)
    assert (done.code, done.out) == (0, f"1 correction recorded in {store}\n")
    done = run("feedback", file, "--store", store, "--json", "--by", "ann")
    assert json.loads(done.out)["id"].endswith("/0/books.csv/3")
    done = run("feedback", file, "--store", tmp_path / "other.db")
    assert done.code == 2
    assert "there is no store" in done.err
    assert not (tmp_path / "other.db").exists()


def test_decisions_about_labelled_tables_are_collected(tmp_path: Path):
    (tmp_path / "a.jsonl").write_text(LABELLED * 3)
    store = tmp_path / "log.db"
    done = run("rl", "collect", "--tables", tmp_path, "--store", store, "--exploration", "softmax")
    assert done.code == 0, done.err
    assert done.out.startswith(f"3 decisions logged in {store} as run ")
    assert "ngrams for all: 1.000 right" in done.out
    done = run("rl", "collect", "--tables", tmp_path, "--store", store, "--json", "--most", "1")
    assert json.loads(done.out)["decisions"] == 1
    (tmp_path / "a.jsonl").write_text(LABELLED.replace('"email"', "null"))
    done = run("rl", "collect", "--tables", tmp_path, "--store", store)
    assert done.code == 2
    assert "has no table with labelled types" in done.err


def test_a_language_model_needs_an_endpoint_and_a_name():
    done = run("annotate", BOOKS, "--llm-model", "m")
    assert done.code == 2
    assert "--llm-model m needs --llm-endpoint" in done.err
    done = run("annotate", BOOKS, "--llm-endpoint", "http://127.0.0.1:9/v1")
    assert done.code == 2
    assert "no model of http://127.0.0.1:9/v1 is named" in done.err


def test_a_language_model_that_is_not_there_costs_no_answer(tmp_path: Path):
    routing = tmp_path / "routing.yaml"
    routing.write_text("rules:\n  - columns > 3 -> llm\n  - otherwise -> ngrams\n")
    options = ("--llm-endpoint", "http://127.0.0.1:9/v1", "--llm-model", "m", "--routing", routing)
    done = run("annotate", BOOKS, "--json", *options)
    assert done.code == 0
    assert len(json.loads(done.out)["columns"]) == 11
    assert done.said == [
        "aegir: m: 3 calls, 2 repeated, 1 failure, 0 tokens sent, 0 received, cost 0"
    ]


def test_effort_is_refused_where_it_means_nothing(tmp_path: Path):
    table = tmp_path / "t.csv"
    table.write_text("a,b\n1,Oslo\n2,Rome\n")
    for options, sentence in (
        (("--effort", "most"), "the effort is 'most'; expected low, normal, high or a number"),
        (
            ("--within", "0ms"),
            "--within is '0ms'; expected a time above 0 and up to a day, such as 200ms",
        ),
        (("--within", "9" * 400 + "s"), "expected a time above 0 and up to a day"),
        (("--effort", ""), "the effort is ''; expected low"),
        (("--effort", "low", "--annotator", "search@high"), "search@high says its effort already"),
        (("--effort", "high", "--annotator", "rules"), "'rules' has no effort to choose"),
    ):
        refused = run("annotate", str(table), *options)
        assert refused.code == 2
        assert sentence in refused.err
    searched = run("annotate", str(table), "--effort", "low", "--json")
    assert searched.code == 0
    assert '"annotator": "search"' in searched.out


def test_effort_combines_with_whoever_routes_logs_and_explains(tmp_path: Path):
    routing, store = tmp_path / "routing.yaml", tmp_path / "log.db"
    routing.write_text(
        "rules:\n  - otherwise -> r\nroles:\n  r:\n    primary: ngrams\n    fallback: llm\n    confidence: 0.5\n"
    )
    table = tmp_path / "t.csv"
    table.write_text("a,b\n" + "".join(f"x{number} y,{number}\n" for number in range(40)))
    done = run(
        *("annotate", table, "--json", "--effort", "0.6", "--within", "60s", "--routing", routing),
        *("--llm-endpoint", "http://127.0.0.1:9/v1", "--llm-model", "m"),
        *("--policy", tmp_path / "none.safetensors", "--log-decisions", store, "--explain-routing"),
    )
    assert done.code == 0, done.err
    assert "the routing table decides, without a policy: " in done.said[0]
    assert any("then search@0.6 by effort: ngrams was 0." in line for line in done.said)
    assert f"2 decisions logged in {store}" in done.err


@pytest.mark.parametrize("verb", ["eval", "diff", "review"])
def test_other_verbs_take_an_effort_too(verb: str, tmp_path: Path):
    labelled = tmp_path / "labelled.jsonl"
    labelled.write_text(LABELLED)
    arguments = {
        "diff": (BOOKS, BOOKS),
        "eval": (labelled,),
        "review": (BOOKS, "--memory", tmp_path / "memory.db"),
    }
    done = run(verb, *arguments[verb], "--effort", "low", stdin=b"q\n")
    assert done.code == 0, done.err
    assert run(verb, *arguments[verb], "--effort", "most", stdin=b"q\n").code == 2
