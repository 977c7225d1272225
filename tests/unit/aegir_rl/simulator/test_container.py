"""The container backend, through Podman where that runs, with an image made from this machine's interpreter."""

import json
import os
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from aegir_rl.base.errors import UsageError
from aegir_rl.simulator.sandbox import Limits, Program, Sandbox, open_sandbox
from aegir_rl.simulator.sandbox import harness as inside
from aegir_rl.simulator.sandbox.container import BUILD, TaggedFrames, find_engine
from aegir_rl.simulator.sandbox.interpreter import interpreter
from aegir_rl.simulator.sandbox.launch import INTERPRETER
from aegir_rl.simulator.task import write_tasks
from command_line import refused, run
from small_tasks import adding_task

IMAGE = "aegir-sim-test:latest"
DOCKERFILE = Path(__file__).parents[4] / "sim" / "Dockerfile"
LEFT_OUT = (
    "site-packages",
    "dist-packages",
    "test",
    "tests",
    "idlelib",
    "tkinter",
    "config-",
    "__pycache__",
    ".a",
)


def write_image(path: Path) -> None:
    """A root file system: the interpreter, its standard library, what these link to, and the harness."""
    stdlib = Path(os.__file__).parent
    modules = ("_ctypes", "binascii", "zlib")  # those of the harness that link to more than libc
    extensions = [path for name in modules for path in stdlib.glob(f"lib-dynload/{name}.*.so")]
    binaries = [Path(interpreter()), *extensions]
    linked = subprocess.run(
        ["ldd", *map(str, binaries)], capture_output=True, text=True, check=False
    ).stdout
    libraries = {word for word in linked.split() if word.startswith("/") and not word.endswith(":")}
    with tarfile.open(path, "w", dereference=True) as archive:
        for name in [interpreter(), str(stdlib), *sorted(libraries)]:
            archive.add(name, name, filter=_without_large_parts)
        archive.add(inside.__file__, "/harness.py")


def _without_large_parts(member: tarfile.TarInfo) -> tarfile.TarInfo | None:
    name = Path(member.name).name
    return None if name.startswith(LEFT_OUT[:-1]) or name.endswith(LEFT_OUT[-1]) else member


@pytest.fixture(scope="module")
def container(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sandbox]:
    """A sandbox of containers, or skipped tests: a machine may have Podman and still be unable to run it."""
    if shutil.which("podman") is None:
        pytest.skip("podman is not installed")
    archive = tmp_path_factory.mktemp("image") / "root.tar"
    write_image(archive)
    entry = json.dumps([interpreter(), *INTERPRETER, "/harness.py", "relay"])
    change = ["--change", f"ENTRYPOINT {entry}"]
    made = subprocess.run(
        ["podman", "import", *change, str(archive), IMAGE],
        capture_output=True,
        text=True,
        check=False,
    )
    if made.returncode:
        pytest.skip(f"podman cannot import an image: {made.stderr[-200:]}")
    try:
        try:
            sandbox = open_sandbox("podman", image=IMAGE)
        except UsageError as error:
            pytest.skip(str(error))
        yield sandbox
    finally:
        subprocess.run(["podman", "rmi", "--force", IMAGE], capture_output=True, check=False)


def test_a_container_runs_a_program_without_network_rights_or_places_to_write(container: Sandbox):
    source = """
import os, socket
def look(text):
    print("seen", text)
    found = []
    for folder in ("/", "/usr", "/dev", "/etc"):
        try:
            open(os.path.join(folder, "new"), "w").close()
            found.append(folder)
        except OSError:
            pass
    try:
        socket.socket(socket.AF_INET)
        found.append("socket")
    except OSError:
        pass
    status = dict(line.split(":", 1) for line in open("/proc/self/status"))
    return [found, os.getuid(), status["CapEff"].strip(), status["Seccomp"].strip(), os.listdir(".")]
"""
    execution = container.run(Program(source, "look", (("é",),), {"a.csv": b"1"}))
    assert execution.ended == "finished", execution
    (result,) = execution.results
    assert result.value == [[], 65534, "0" * 16, "2", ["a.csv"]]
    assert execution.stdout == "seen é\n"


def test_a_container_is_ended_at_its_limits(container: Sandbox):
    source = """
import os, time
def work(kind):
    if kind == "wall":
        time.sleep(100)
    if kind == "output":
        while True:
            os.write(1, b"x" * 65536)
    children = 0
    try:
        while children < 40:
            if os.fork() == 0:
                time.sleep(100)
                os._exit(0)
            children += 1
    except OSError:
        return children
"""
    ended = {}
    for kind in ("wall", "output"):
        limits = Limits(wall_seconds=0.3 if kind == "wall" else 10, output_bytes=1000)
        ended[kind] = container.run(Program(source, "work", ((kind,),)), limits).ended
    assert ended == {"wall": "timeout", "output": "output"}
    forked = container.run(Program(source, "work", (("fork",),)), Limits(processes=8))
    assert forked.results[0].value in range(6, 11)
    left = subprocess.run(
        ["podman", "ps", "-aq", "--filter", "name=aegir-sim-"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert left.stdout == ""


def test_an_engine_that_is_not_installed_is_refused(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PATH", "")
    for engine in ("docker", "podman"):
        with pytest.raises(UsageError, match=f"{engine} is not installed"):
            find_engine(engine)


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        (
            "echo 'Cannot connect to the Docker daemon.' >&2; exit 1",
            "Cannot connect to the Docker daemon.",
        ),
        ("exec /bin/sleep 60", "nothing in 0 seconds"),
        ("exit 125", "no reason given"),
    ],
)
def test_an_engine_whose_daemon_does_not_answer_is_refused_in_a_sentence(
    script: str, reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    docker = tmp_path / "docker"
    docker.write_text(f"#!/bin/sh\n{script}\n")
    docker.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("aegir_rl.simulator.sandbox.container.SECONDS_TO_ANSWER", 0.2)
    sentence = f"docker is installed but does not answer ({reason}); start it, or use the local sandbox, without --docker"
    tasks = tmp_path / "tasks.jsonl"
    write_tasks([adding_task(1)], tasks)
    refused(run("sim", "run", "--tasks", tasks, "--docker"), sentence)
    states = [json.loads(line) for line in run("doctor", "--json").out.splitlines()]
    expected = {"part": "sandbox", "name": "docker", "works": False, "sentence": sentence}
    assert expected in states


def test_frames_are_split_by_their_tags_up_to_the_first_that_is_none():
    content = b"o\0\0\0\2hi" + b"r\0\0\0\1x" + b"o\0\0\0\1!" + b"?\0\0\0\1x" + b"o\0\0\0\1-"
    for size in range(1, len(content) + 1):
        frames = TaggedFrames()
        for place in range(0, len(content), size):
            frames.add(content[place : place + size])
        assert frames.parts == {b"o": b"hi!", b"e": b"", b"r": b"x", b"x": b""}
    cut = TaggedFrames()
    cut.add(b"e\xff\xff\xff\xffcut")
    assert cut.parts[b"e"] == b"cut"


def test_the_image_starts_the_harness_as_the_host_expects():
    lines = DOCKERFILE.read_text(encoding="utf-8").splitlines()
    (entry,) = (line for line in lines if line.startswith("ENTRYPOINT"))
    assert json.loads(entry.removeprefix("ENTRYPOINT ")) == [
        "python",
        *INTERPRETER,
        "/harness.py",
        "relay",
    ]
    version = f"FROM python:{sys.version_info.major}."
    assert any(line.startswith(version) for line in lines)


def test_the_command_that_builds_the_image_names_files_that_exist():
    *_, dockerfile, folder = BUILD.split()
    root = DOCKERFILE.parents[1]
    assert (root / dockerfile).samefile(DOCKERFILE)
    assert (root / folder / "harness.py").is_file()
    assert BUILD in DOCKERFILE.read_text(encoding="utf-8")
