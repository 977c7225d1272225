"""Repositories: small data packages of several files with seeded bugs, and a test suite that fails.

The right packages lie in packages/ and run here for expected values; their text, with as many bugs as the level says in different places, goes
into the sandbox. The tests (repositories.toml) are public, each a case of its own; hidden cases call functions and command lines with
other data and settings. The solution is a patch.
"""

import ast
import contextlib
import io
import json
import tempfile
from collections.abc import Callable
from functools import cache
from importlib import import_module
from pathlib import Path
from random import Random
from typing import Any

from aegir_rl.simulator.families.family import Draft, chance, read_table, sample, words
from aegir_rl.simulator.kinds import PASSED
from aegir_rl.simulator.patches import make_patch
from aegir_rl.simulator.task import Case

PACKAGES = f"{__package__}.packages"
ROUNDS = 7
"""Of calls with data of their own; with fewer, a bug may show on none of them."""
Call = tuple[str, str, list[Any]]
"""`call` or `command`, the function as `module:name` inside the package, and its arguments."""


@cache
def package_files(name: str) -> dict[str, str]:
    """The right files of a package and its tests, by path."""
    folder = Path(__file__).parent / "packages" / name
    files = {
        f"{name}/{path.name}": path.read_text("utf-8").replace(f"{PACKAGES}.", "")
        for path in sorted(folder.glob("*.py"))
    }
    tests: str = read_table("repositories.toml")[name]["tests"]
    return {**files, "tests/__init__.py": "", f"tests/test_{name}.py": tests.lstrip()}


def _draw(
    random: Random, level: int, name: str, about: str, calls: Callable[[Random], list[Call]]
) -> Draft:
    files = package_files(name)
    bugs = read_table("repositories.toml")[name]["bugs"]
    broken, count = dict(files), 0
    for file, good, bad in random.sample(bugs, len(bugs)):
        path = f"{name}/{file}"
        if count < level and broken[path].count(good) == 1:
            broken[path], count = broken[path].replace(good, bad), count + 1
    hidden = [_case(name, call) for _ in range(ROUNDS) for call in calls(random)]
    failing = "a test fails" if count == 1 else "tests fail"
    return Draft(
        statement=f"The package {name} {about} Since a change, {failing}. Repair the package so that it does what its docstrings "
        "say, on other data too, and answer with a patch; the tests are right and stay as they are.",
        solution=make_patch(broken, files),
        public=[Case(("test", test), PASSED) for test in _test_names(name)],
        hidden=list({repr(case.arguments): case for case in hidden}.values()),
        files=broken,
        difficulty={"bugs": count, "files": len(files)},
    )


@cache
def _test_names(name: str) -> list[str]:
    module = f"tests.test_{name}"
    return [
        f"{module}.{group.name}.{test.name}"
        for group in ast.parse(package_files(name)[f"{module.replace('.', '/')}.py"]).body
        if isinstance(group, ast.ClassDef)
        for test in group.body
        if isinstance(test, ast.FunctionDef) and test.name.startswith("test_")
    ]


def _case(package: str, call: Call) -> Case:
    """A call with the value that the right package gives."""
    action, target, arguments = call
    module, _, name = target.partition(":")
    function = getattr(import_module(f"{PACKAGES}.{package}.{module}"), name)
    copied = json.loads(json.dumps(arguments))
    value = _run_command(function, *copied) if action == "command" else function(*copied)
    return Case((action, f"{package}.{target}", *arguments), json.loads(json.dumps(value)))


def _run_command(function: Any, arguments: list[str], files: dict[str, str]) -> dict[str, Any]:
    """What the driver in the sandbox gives for the same command."""
    out = io.StringIO()
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        for name, text in files.items():
            Path(name).write_text(text, encoding="utf-8")
        with contextlib.redirect_stdout(out):
            code = function(arguments)
    return {"exit": code, "stdout": out.getvalue()}


def draw_repository_ledger(random: Random, level: int) -> Draft:
    """Delimited files with amounts and days, added up by category."""
    return _draw(random, level, "ledger", "adds up the amounts of a ledger.", _ledger_calls)


def _ledger_calls(random: Random) -> list[Call]:
    decimal, thousands = random.choice([(",", "."), (".", ","), (",", " "), (".", "'")])
    settings = {
        "delimiter": random.choice([";", "|", "\t"]),
        "comment": random.choice(["#", "%", "//"]),
        "decimal": decimal,
        "thousands": thousands,
        "missing": ["", *sample(random, ["n/a", "none", "?", "tbd"], 1, 3)],
    }

    def amount() -> str:
        number = f"{random.randint(0, 99_999):,}".replace(",", thousands)
        number += f"{decimal}{random.randint(0, 99):02}"
        missing = random.choice(settings["missing"])
        shown: list[str] = [number, number, f"({number})", f"-{number}", missing.upper(), "0"]
        return random.choice(shown)

    def row() -> str:
        day = f"{random.randint(1, 31)}.{random.randint(1, 12)}.{random.randint(2019, 2021)}"
        day = random.choice([day, "15.3.2020", "15.4.2020"])
        name = random.choice(
            ["Rent", "food", "FOOD", "", '"a ""b"""', f'"x{settings["delimiter"]}y"']
        )
        fields = [day, name, amount()]
        return str(settings["delimiter"]).join(fields[: random.choice([2, 3, 3, 3, 3])])

    header = str(settings["delimiter"]).join(["Day", " category", "Amount"])
    lines = [header, *(row() for _ in range(random.randint(4, 9)))]
    lines.insert(2, random.choice(["", "   ", f"{settings['comment']} note"]))
    files = {"settings.json": json.dumps(settings), "in.csv": "\n".join(lines)}
    days = sorted(random.sample(["2019-12-31", "2020-03-15", "2020-04-15"], 2))
    return [
        ("call", "cleaner:read_amount", [amount(), settings]),
        ("call", "cleaner:read_day", [f"{random.randint(13, 31)}.{random.randint(1, 12)}.2020"]),
        ("call", "reader:read_rows", ["\n".join(lines), settings]),
        ("command", "cli:main", [["in.csv"], files]),
        ("command", "cli:main", [["in.csv", *days], files]),
    ]


def draw_repository_sensors(random: Random, level: int) -> Draft:
    """Logs of sensors, cleaned and summarised by hour."""
    return _draw(random, level, "sensors", "summarises a log of sensors by hour.", _sensor_calls)


def _sensor_calls(random: Random) -> list[Call]:
    settings = {
        "unit": random.choice("CFK"),
        "low": random.randint(-30, 0),
        "high": random.randint(30, 60),
    }
    names = random.sample(["roof", "Cellar", "yard", "ICE", "attic"], 2)

    def line() -> str:
        hour, minute = random.choice([7, 7, 8, 24]), random.choice([0, 5, 5, 30, 59, 60])
        unit, middle = random.choice([("C", 20), ("F", 70), ("K", 290), ("", 25), ("V", 5)])
        value = middle + random.randint(-15, 25)
        text = f"{hour:02}:{minute:02} {random.choice(names)}={value}.{random.randint(0, 9)} {unit}"
        return random.choice(
            [text, text, text, f" {text}", f"{text} later", text.replace("0", "6", 1)]
        )

    text = "\n".join(line() for _ in range(random.randint(6, 14)))
    edge = f"10:00 {names[0]}={settings['high']} C\n10:07 {names[0]}={settings['low']} C"
    files = {"settings.json": json.dumps(settings), "in.log": f"{text}\n{edge}"}
    readings: list[Any] = [
        {
            "minute": random.randint(60, 64),
            "sensor": name,
            "value": random.randint(0, 30),
            "unit": "C",
        }
        for name in random.choices("abc", k=6)
    ]
    asked = random.choice([*names, names[0].title(), "none"])
    return [
        ("call", "reader:read_log", [text, settings]),
        ("call", "cleaner:clean", [readings, settings]),
        ("call", "summary:longest_gap", [readings[: random.randint(1, 3)], readings[0]["sensor"]]),
        ("call", "cleaner:to_celsius", [random.randint(0, 400) / 2, random.choice("CFKV")]),
        ("command", "cli:main", [["in.log"], files]),
        ("command", "cli:main", [["in.log", asked], files]),
    ]


def draw_repository_contacts(random: Random, level: int) -> Draft:
    """Blocks of contacts, cleaned and merged."""
    return _draw(random, level, "contacts", "cleans and merges a list of contacts.", _contact_calls)


def _contact_calls(random: Random) -> list[Call]:
    settings = {"country": random.choice(["49", "1", "351"])}
    people = random.sample(words("given"), 2)

    def phone() -> str:
        number = f"{random.randint(10, 99)} {random.randint(100, 9_999)}"
        return f"{random.choice(['', '0', '+', '00', '00 0'])}{number}"

    def mail() -> str:
        host = random.choice(
            ["web.org", "Mail.com", "web.org", random.choice(["home", ".x", "a@b.c"])]
        )
        return f"{random.choice(people)}@{host}"

    def block() -> str:
        lines = [f"{random.choice(['Name', 'name', 'NAME'])}: {random.choice(people)}  Berg"]
        lines += [f"mail: {mail()}"] if chance(random, 0.8) else []
        lines += [f"Phone:{phone()}"] if chance(random, 0.7) else []
        lines += random.choice(
            [[], ["name: again"], ["note: see: that", "  and this"], ["no sign"]]
        )
        return "\n".join(lines[1:] if chance(random, 0.2) and len(lines) > 1 else lines)

    text = "\n\n".join(block() for _ in range(random.randint(5, 9)))
    files = {"settings.json": json.dumps(settings), "in.txt": text}
    return [
        ("call", "reader:read_blocks", [text]),
        ("call", "cleaner:clean_phone", [phone(), settings["country"]]),
        ("command", "cli:main", [["in.txt"], files]),
        ("command", "cli:main", [["in.txt", "--hosts"], files]),
    ]
