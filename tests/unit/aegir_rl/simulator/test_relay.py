"""The container backend with the local sandbox in the place of an engine: a command that takes the options of `docker run`
and starts the harness as process 1 of new namespaces. What an engine adds itself is not tested here (test_container.py)."""

import os
import sys
from pathlib import Path

import pytest

from aegir_rl.simulator.sandbox import CallResult, Limits, Program, Sandbox, open_sandbox
from sandboxes import open_or_skip

ENGINE = """#!{python}
import os, signal, sys
sys.path[:0] = {path}
from aegir_rl.simulator.sandbox.launch import BwrapCommand, OpenFiles, find_bwrap
if sys.argv[1] == "kill":
    with open({folder!r} + "/" + sys.argv[2]) as file:
        os.kill(int(file.read()), signal.SIGKILL)
elif sys.argv[1] == "run":
    options = dict(zip(sys.argv, sys.argv[1:]))
    packages = [options["--volume"].split(":")[0]] if "--volume" in options else []
    with OpenFiles() as files:
        command = BwrapCommand(find_bwrap(), files, packages, 1 << 25)
        process = command.start(["relay"], stdin=0, stdout=1, stderr=2)
        command.open_first_process()
        with open({folder!r} + "/" + options["--name"], "w") as file:
            file.write(str(command._child))
        os.closerange(0, 2)
        process.wait()
"""
BURN = """
import os, signal, time
def burn(seconds):
    until = time.process_time() + seconds
    while time.process_time() < until:
        pass
def work(count):
    try:
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    except OSError:
        pass
    ready, done = os.pipe()
    for _ in range(count):
        if os.fork() == 0:
            if os.fork() == 0:
                burn(0.05)
                os.write(done, b"x")
            os._exit(0)
        os.read(ready, 1)
    if os.fork() == 0:
        time.sleep(1000)
    return count
"""


@pytest.fixture
def open_relay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    open_or_skip(cold=True).close()
    engine = tmp_path / "docker"
    engine.write_text(ENGINE.format(python=sys.executable, path=sys.path, folder=str(tmp_path)))
    engine.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    return lambda *packages: open_sandbox("docker", packages=packages)


def test_calls_are_answered_one_by_one_through_the_relay(open_relay):
    source = """
import os
def look(text):
    print("seen", text[:3])
    os.set_blocking(4, False)
    try:
        return [len(text), len(os.read(4, 1))]
    except BlockingIOError:
        return [len(text), len(open("a.csv").read())]
    finally:
        os.set_blocking(4, True)
"""
    calls = (("one" * 100_000,), ("two",), (3,))
    execution = open_relay().run(Program(source, "look", calls, {"a.csv": b"1234"}))
    *values, failure = execution.results
    assert values == [CallResult([300_000, 4], None), CallResult([3, 4], None)]
    assert failure.error == "TypeError: 'int' object is not subscriptable (line 4)"
    assert (execution.ended, execution.stdout) == ("finished", "seen one\nseen two\n")


def test_the_cpu_time_of_all_processes_is_stated_and_limited(open_relay):
    relay: Sandbox = open_relay()
    worked = relay.run(Program(BURN, "work", ((6,),)), Limits(wall_seconds=60))
    assert (worked.ended, worked.results) == ("finished", (CallResult(6, None),))
    assert worked.cpu_seconds >= 0.29
    stopped = relay.run(Program(BURN, "work", ((100,),)), Limits(cpu_seconds=0.5, wall_seconds=60))
    assert stopped.ended == "timeout"
    assert 0.5 <= stopped.cpu_seconds < 2
    slept = Program("import time\ndef f():\n    time.sleep(1000)", "f", ((),))
    assert relay.run(slept, Limits(wall_seconds=0.3)).ended == "timeout"


def test_packages_are_mounted_as_volumes(open_relay, tmp_path: Path):
    packages = tmp_path / "packages"
    packages.mkdir()
    (packages / "amounts.py").write_text("FIVE = 5\n")
    program = Program("import amounts\ndef f():\n    return amounts.FIVE", "f", ((),))
    assert open_relay(packages).run(program).results == (CallResult(5, None),)
