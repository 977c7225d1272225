"""The generated parts of docs/architecture.md: the three ladders, and the walk of `aegir annotate FILE`.

    python tests/architecture_page.py       writes them anew (`make reference`); a test fails when the page differs

The ladders are those of test_architecture.py, one line per package: the first sentence of its docstring. The walk is WALK; a test
runs the command under a profiler (`walk`) and fails when it does not pass through one of these files.
"""

import json
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from test_architecture import LADDERS, MODULES, SOURCE

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "architecture.md"
ROOFS = {
    "aegir_rl": "an RL library that stands alone: numpy only, the distribution `aegir-rl`",
    "aegir": "the product: numpy, no torch; may import `aegir_rl`",
    "aegir.lab": "with `aegir.swarm`, all that learns or measures: torch, numba, scikit-learn; may import both",
}
WALK = {
    "cli/annotate.py": "reads the options into `AnnotationSettings`, starts the run, writes the answers as they come",
    "pipeline/settings.py": "`AnnotationSettings`: everything that decides how tables are annotated, in one frozen object",
    "pipeline/run.py": "finds the sources, reads them, batches tables, calls the pipeline: one generator from sources to answers",
    "tables/readers.py": "the first bytes give the format; text is decoded here, native formats are read in a process with limits",
    "tables/delimited.py": "delimiter, quotes and header; sampled rows become a `Table` of text columns",
    "pipeline/pipeline.py": "rules and n-grams read every column, a plan calls further readers, rules and pairs correct",
    "readers/rules/judge.py": "the rules that fit a column support types, veto types and name the fine type",
    "readers/ngrams/annotator.py": "networks over n-grams of values and headers, and linear stages for tables of the web",
    "pipeline/decide.py": "probabilities become one coherent answer: label, type, fine type, relation, personal or not, subject",
    "answers/writers.py": "the answer in the format asked for",
}
"""What a reader opens to follow one column of a CSV file, in this order; the two readers are one station of nine."""
PROFILED = """
import inspect, json, sys, threading
import click
from aegir.cli.main import main

seen = set()
def note(frame, event, argument):
    if frame.f_code.co_flags & inspect.CO_OPTIMIZED:  # a function, not the body of a module or class
        seen.add(frame.f_code.co_filename)

def invoke(command, context, invoke=click.Command.invoke):
    if command.name == "annotate":
        threading.setprofile(note)
        sys.setprofile(note)
    return invoke(command, context)

click.Command.invoke = invoke
sys.argv = ["aegir", "annotate", sys.argv[1], "--out", sys.argv[2]]
try:
    main()
except SystemExit:
    pass
sys.setprofile(None)
ours = [name for name in sys.modules if name.split(".")[0] in ("aegir", "aegir_rl")]
print(json.dumps([sorted(seen), ours]))
"""


@dataclass(frozen=True)
class Walk:
    """What `aegir annotate examples/books.csv` goes through."""

    files: list[str]
    """Below src/, those in which a function is called after the verb begins."""
    modules: list[str]
    """Those of ours that are loaded at the end."""


def walk(folder: Path) -> Walk:
    """Annotate a file under a profiler."""
    done = subprocess.run(
        [sys.executable, "-c", PROFILED, str(ROOT / "examples" / "books.csv"), str(folder / "out")],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    names, modules = json.loads(done.stdout.splitlines()[-1])
    files = [Path(name) for name in names]
    return Walk(
        [file.relative_to(SOURCE).as_posix() for file in files if file.is_relative_to(SOURCE)],
        modules,
    )


def render_ladders() -> str:
    """Three code blocks, the highest rung first; packages of one rung share a number and do not import each other."""
    return "\n".join(_ladder(name, rungs) for name, rungs in LADDERS.items())


def render_walk() -> str:
    """The files of the walk as a table."""
    rows = [f"| `{file}` | {what} |" for file, what in WALK.items()]
    return "\n".join(["| file of `src/aegir/` | what happens there |", "|---|---|", *rows, ""])


def render_page(text: str) -> str:
    """The page with its generated parts written anew."""
    for name, part in (("ladders", render_ladders()), ("walk", render_walk())):
        marks = rf"(<!-- {name}: .*? -->\n).*?(<!-- end of {name} -->)"
        found = re.search(marks, text, re.DOTALL)
        assert found, f"docs/architecture.md needs a pair of marks for the {name}"
        text = f"{text[: found.end(1)]}\n{part}\n{text[found.start(2) :]}"
    return text


def _ladder(name: str, rungs: list[str]) -> str:
    lines = [
        f"{number:2} {package.split('.')[-1]:12}{_first_sentence(name, package)}"
        for number, rung in reversed(list(enumerate(rungs, 1)))
        for package in rung.split()
        if not package.startswith("__")
    ]
    return f"**`{name}`**: {ROOFS[name]}\n\n```\n" + "\n".join(lines) + "\n```\n"


def _first_sentence(name: str, package: str) -> str:
    module = MODULES[f"{name.split('.')[0]}.{package}"]
    found = re.match(r'"""(.+?)(?:\n\n|"""|\.(?=\s))', module.read_text("utf-8"), re.DOTALL)
    assert found, f"{module} needs a docstring that says what the package holds"
    return " ".join(found[1].split()).rstrip(".")


if __name__ == "__main__":
    PAGE.write_text(render_page(PAGE.read_text("utf-8")), "utf-8")
