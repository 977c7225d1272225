"""What a sandbox gives back, warm and cold; the system-call filter; what bytes from inside are taken for."""

import os
import re
import signal
import struct
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aegir_rl.base.errors import UsageError
from aegir_rl.simulator.sandbox import CallResult, Limits, Program, Sandbox, open_sandbox
from aegir_rl.simulator.sandbox.bubblewrap import BubblewrapSandbox
from aegir_rl.simulator.sandbox.messages import decode_results
from aegir_rl.simulator.sandbox.seccomp import AUDIT_ARCH, build_filter, denied_calls
from sandboxes import open_or_skip

ALLOW, KILL, DENY, ABSENT = 0x7FFF0000, 0x80000000, 0x00050001, 0x00050026
"""Verdicts of the kernel's interface; errors 1 (EPERM) and 38 (ENOSYS)."""


@pytest.fixture(scope="module", params=["warm", "cold"])
def either(request: pytest.FixtureRequest) -> Iterator[Sandbox]:
    with open_or_skip(cold=request.param == "cold") as opened:
        yield opened


def test_values_errors_output_and_files_come_back(either: Sandbox):
    source = """
import sys
def read(name, times):
    print("reading", name)
    print("é", file=sys.stderr)
    return {"text": open(name).read() * times, "shape": (1, 2.5, None, True)}
"""
    calls = (("data/a.csv", 2), ("data/b.csv", 1), ("data/a.csv", None))
    execution = either.run(Program(source, "read", calls, {"data/a.csv": b"x,y"}))
    first, missing, wrong = execution.results
    assert first == CallResult({"text": "x,yx,y", "shape": [1, 2.5, None, True]}, None)
    assert (
        missing.error
        == "FileNotFoundError: [Errno 2] No such file or directory: 'data/b.csv' (line 6)"
    )
    assert (wrong.error or "").startswith("TypeError: can't multiply sequence")
    assert execution.ended == "finished"
    assert execution.stdout == "reading data/a.csv\nreading data/b.csv\nreading data/a.csv\n"
    assert execution.stderr == "é\n" * 3
    assert 0 < execution.cpu_seconds < 5


@pytest.mark.parametrize(
    ("source", "error"),
    [
        ("def f(:", "SyntaxError: invalid syntax (solution.py, line 1) (line 1)"),
        ("1 / 0", "ZeroDivisionError: division by zero (line 1)"),
        ("f = 3", "NameError: the solution defines no function 'f'"),
        ("def f():\n    return float('nan')", "ValueError: Out of range float values"),
        ("def f():\n    return {1, 2}", "TypeError: Object of type set is not JSON"),
        ("def f():\n    raise SystemExit(3)", "SystemExit: 3 (line 2)"),
        ("def f():\n    return f()", "RecursionError: maximum recursion depth exceeded"),
    ],
)
def test_a_source_that_fails_gives_its_error_for_every_call(
    sandbox: Sandbox, source: str, error: str
):
    execution = sandbox.run(Program(source, "f", ((), ())))
    assert execution.ended == "finished"
    assert [(one.error or "")[: len(error)] for one in execution.results] == [error] * 2


def test_results_of_the_calls_before_a_timeout_are_kept(either: Sandbox):
    source = "import time\ndef wait(seconds):\n    time.sleep(seconds)\n    return seconds"
    program = Program(source, "wait", ((0,), (0.001,), (60,), (0,)))
    execution = either.run(program, Limits(wall_seconds=0.5))
    assert execution.ended == "timeout"
    assert [one.value for one in execution.results] == [0, 0.001]


def test_arguments_and_values_may_be_larger_than_a_pipe(either: Sandbox):
    source = "def turn(text):\n    return text[::-1]"
    texts = [letter * 300_000 + "." for letter in "abc"]
    execution = either.run(Program(source, "turn", tuple((text,) for text in texts)))
    assert [one.value for one in execution.results] == [text[::-1] for text in texts]
    ended = either.run(Program("import os\nos._exit(0)", "turn", ((texts[0],),)))
    assert ended.ended == "crashed"


def test_a_program_without_calls_finishes(either: Sandbox):
    assert either.run(Program("print('loaded')", "f", ())).stdout == "loaded\n"


def test_threads_time_zones_hashes_and_databases_work(either: Sandbox):
    """They need files besides the modules: libraries that are loaded late, and tables of the machine."""
    source = """
import ctypes, datetime, hashlib, locale, lzma, sqlite3, threading, uuid, zlib, zoneinfo
import asyncio, concurrent.futures, decimal, email.message, multiprocessing, unicodedata, xml.etree.ElementTree
def work():
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        total = sum(pool.map(int, "123"))
    hour = datetime.datetime(2026, 7, 1, 12, tzinfo=zoneinfo.ZoneInfo("Europe/Paris")).utcoffset().seconds
    row = sqlite3.connect("a.db").execute("SELECT 1 + 1").fetchone()[0]
    ended = threading.Thread(target=ctypes.CDLL(None).pthread_exit, args=(None,))
    ended.start()
    ended.join(5)
    return [total, hour, row, hashlib.sha3_256(b"").hexdigest()[:4], lzma.decompress(lzma.compress(b"x")).decode()]
"""
    execution = either.run(Program(source, "work", ((),)))
    assert execution.results == (CallResult([6, 7200, 2, "a7ff", "x"], None),), execution


def test_modules_do_not_say_where_they_lie_on_the_machine(either: Sandbox):
    source = "import json, sys\ndef look():\n    return [json.dumps.__code__.co_filename, json.__file__, sys.prefix]"
    (result,) = either.run(Program(source, "look", ((),))).results
    assert isinstance(result.value, list)
    assert not any(sys.base_prefix in str(each) for each in result.value)


def test_runs_are_repeatable(either: Sandbox):
    """Hashes of texts are the same in every run, so sets come in the same order."""
    source = "def order(words):\n    return list(set(words))"
    program = Program(source, "order", ((["north", "south", "east", "west"],),))
    assert either.run(program).results == either.run(program).results


def test_a_server_that_is_killed_is_replaced(sandbox: Sandbox):
    program = Program("def f():\n    return 1", "f", ((),))
    sandbox.run(program)
    assert isinstance(sandbox, BubblewrapSandbox)
    assert sandbox._server is not None
    os.kill(sandbox._server._process.pid, signal.SIGKILL)
    assert sandbox.run(program).results == (CallResult(1, None),)


def test_a_fork_of_the_host_gets_a_server_of_its_own(sandbox: Sandbox):
    program = Program("def f():\n    return 1", "f", ((),))
    sandbox.run(program)
    child = os.fork()
    if child == 0:
        code = 1
        try:
            code = 0 if sandbox.run(program).ended == "finished" else 2
            sandbox.close()
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert sandbox.run(program).ended == "finished"


def open_files() -> list[str]:
    return sorted(path.name for path in Path("/proc/self/fd").iterdir())


def test_nothing_is_left_open(sandbox: Sandbox):
    program = Program("def f():\n    return 1", "f", ((),))
    sandbox.run(program)
    before = open_files()
    for _ in range(5):
        sandbox.run(program)
    assert open_files() == before


@pytest.mark.parametrize("name", ["../up", "/etc/x", "a//b", "a/../../b", "", ".", "a/", "x\0y"])
def test_a_file_name_that_leaves_the_folder_is_refused(name: str):
    with pytest.raises(UsageError, match="leaves its folder or has no plain name"):
        Program("", "f", (), {name: b""})


def test_limits_and_backends_that_are_none_are_refused():
    with pytest.raises(UsageError, match=r"limit wall_seconds is -1; expected a number above 0"):
        Limits(wall_seconds=-1)
    with pytest.raises(UsageError, match="limit cpu_seconds is nan"):
        Limits(cpu_seconds=float("nan"))
    with pytest.raises(UsageError, match="unknown sandbox backend 'chroot'"):
        open_sandbox("chroot")
    with pytest.raises(UsageError, match="no system-call filter for riscv64"):
        build_filter("riscv64")


def test_a_bubblewrap_that_fails_is_refused(monkeypatch: pytest.MonkeyPatch):
    """Here `false` takes its place; /nowhere stands for one that cannot be started."""
    for command, said in (("/bin/false", "cannot start a sandbox"), ("/nowhere", "be started")):
        monkeypatch.setattr("aegir_rl.simulator.sandbox.bubblewrap.find_bwrap", lambda c=command: c)
        for cold in (False, True):
            with pytest.raises(UsageError, match=said):
                open_sandbox(cold=cold)


def decide(program: bytes, architecture: int, number: int, *arguments: int) -> int:
    """What the kernel would do: an interpreter of the few instructions that the filter uses."""
    rules = list(struct.iter_unpack("=HBBI", program))
    data = struct.pack(
        "=IIQ6Q", number, architecture, 0, *(*arguments, *[0] * (6 - len(arguments)))
    )
    place, held = 0, 0
    while True:
        code, yes, no, operand = rules[place]
        if code == 0x06:
            return int(operand)
        if code == 0x20:
            (held,) = struct.unpack_from("=I", data, operand)
            place += 1
            continue
        holds = {
            0x15: held == operand,
            0x25: held > operand,
            0x35: held >= operand,
            0x45: bool(held & operand),
        }[code]
        place += 1 + (yes if holds else no)


@pytest.mark.parametrize("machine", AUDIT_ARCH)
def test_the_filter_denies_what_it_says_and_nothing_else(machine: str):
    program, architecture = build_filter(machine), AUDIT_ARCH[machine]
    denied = set(denied_calls(machine).values())
    numbers = {"x86_64": (56, 41, 16, 72, 157, 13), "aarch64": (220, 198, 29, 25, 167, 134)}
    clone, socket, ioctl, fcntl, prctl, sigaction = numbers[machine]
    special = {*numbers[machine], 435}
    for number in range(460):
        if number not in special:
            wanted = DENY if number in denied else ABSENT if number > 456 else ALLOW
            assert decide(program, architecture, number) == wanted, number
    assert decide(program, architecture, 435) == ABSENT
    assert decide(program, architecture, clone, 0x01200011) == ALLOW  # fork
    assert decide(program, architecture, clone, 0x10000011) == DENY  # with a new user namespace
    assert [decide(program, architecture, socket, family) for family in (1, 2, 10, 16)] == [
        ALLOW,
        DENY,
        DENY,
        DENY,
    ]
    assert [decide(program, architecture, ioctl, 0, code) for code in (0x5401, 0x5412, 0x541C)] == [
        ALLOW,
        DENY,
        DENY,
    ]
    locks_leases_notices = [
        decide(program, architecture, fcntl, 3, code) for code in (6, 1024, 1026)
    ]
    assert locks_leases_notices == [ALLOW, DENY, DENY]
    assert [decide(program, architecture, prctl, code) for code in (4, 38)] == [DENY, ALLOW]
    assert [decide(program, architecture, sigaction, code) for code in (15, 17)] == [ALLOW, DENY]
    assert decide(program, 0x40000003, 1) == KILL  # 32-bit x86
    assert decide(program, architecture, 0x40000001) == KILL  # x32


def test_numbers_of_denied_calls_are_those_of_the_system():
    headers = Path("/usr/include/x86_64-linux-gnu/asm/unistd_64.h")
    if not headers.exists():
        pytest.skip("the headers of the kernel are not installed")
    known = dict(re.findall(r"#define __NR_(\w+) (\d+)", headers.read_text()))
    wrong = {
        name: number
        for name, number in denied_calls("x86_64").items()
        if known.get(name, str(number)) != str(number)
    }
    assert wrong == {}


@given(st.binary(max_size=200))
def test_bytes_that_are_no_frames_never_pass_for_results(content: bytes):
    whole, results = decode_results(content, 1)
    assert not whole or len(results) == 1


def test_frames_are_read_up_to_the_first_that_is_wrong():
    def frame(body: bytes) -> bytes:
        return len(body).to_bytes(4, "big") + body

    start, one = frame(b"{}"), frame(b'{"value": 1}')
    assert decode_results(start + one, 1) == (True, (CallResult(1, None),))
    assert decode_results(start + one, 2) == (False, (CallResult(1, None),))
    assert decode_results(one, 1) == (False, ())
    assert decode_results(start + one + one, 1) == (False, (CallResult(1, None),))
    for body in (b'{"value": NaN}', b'{"error": 3}', b'{"value": 1, "error": "x"}', b"[]", b"\xff"):
        assert decode_results(start + one + frame(body), 2) == (False, (CallResult(1, None),))
    deep = b'{"value": ' + b"[" * 80 + b"]" * 80 + b"}"
    assert decode_results(start + frame(deep), 1) == (False, ())
