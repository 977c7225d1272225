"""A container per program: Docker or Podman around the same harness.

    host ── order, calls one at a time ──▶ docker run -i aegir-sim:latest ── harness.py relay ── the program
         ◀── frames ──

The container has no network, a read-only file system with a private /tmp, no capabilities, no way to new ones, an unprivileged
user, the default seccomp profile of the engine and ours on top of it; memory and the number of processes are held by its control
group, time and output by the host. `sim/Dockerfile` builds the image.

It starts a container for every program, some tenths of a second each: the local sandbox is faster. CPU time of all processes is
summed by process 1, out of the program's reach. A program that the kernel kills counts as out of memory.
"""

import os
import resource
import secrets
import shutil
import signal
import subprocess
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from aegir_rl.base.errors import UsageError
from aegir_rl.simulator.sandbox import harness
from aegir_rl.simulator.sandbox.calls import encode_frame
from aegir_rl.simulator.sandbox.launch import OpenFiles, check_packages
from aegir_rl.simulator.sandbox.messages import RESULT_BYTES, build_execution, encode_order
from aegir_rl.simulator.sandbox.program import Execution, Limits, Program, Sandbox
from aegir_rl.simulator.sandbox.seccomp import AUDIT_ARCH, build_filter
from aegir_rl.simulator.sandbox.watch import ProgramEnd, Stream, follow

IMAGE = "aegir-sim:latest"
BUILD = "build -t aegir-sim:latest -f sim/Dockerfile src/aegir_rl/simulator/sandbox"
USER = "65534:65534"
OWN_PROCESSES = 4096
"""Processes that the user of all containers may have."""
SECONDS_TO_ANSWER = 10.0
"""How long the engine may take to say its version, or to end a container."""
HEAD = 5
"""Bytes before the content of a frame: its tag and length."""
FRAMES = 1 << 16
"""Bytes that the tags and lengths of frames may take."""


class ContainerSandbox(Sandbox):
    """Runs programs in containers of an image, one each."""

    def __init__(self, engine: str, image: str = IMAGE, packages: Sequence[Path] = ()) -> None:
        self._packages = check_packages(packages)
        self._command = find_engine(engine)
        check_engine_answers(self._command[0], engine)
        self._engine, self._image = engine, image
        machine = os.uname().machine
        self._filter = build_filter(machine) if machine in AUDIT_ARCH else None
        self._lock = threading.Lock()

    def run(self, program: Program, limits: Limits | None = None) -> Execution:
        """Run a program within limits, the default ones if none are given."""
        with self._lock:
            return self._run(program, limits or Limits())

    def close(self) -> None:
        """Nothing is left between two programs."""

    def _run(self, program: Program, limits: Limits) -> Execution:
        order = encode_order(program, limits, filter_=self._filter, count_processes=False)
        name = f"aegir-sim-{secrets.token_hex(8)}"
        frames = TaggedFrames()
        with OpenFiles() as files:
            calls, stdin = files.calls(
                program.calls, frames.parts[harness.RESULT], encode_frame(order)
            )
            process = subprocess.Popen(
                [*self._command, *self._options(name, limits), self._image],
                stdin=stdin,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
            )
        with process:
            assert process.stdout is not None
            assert process.stderr is not None
            most = RESULT_BYTES + 2 * limits.output_bytes + FRAMES
            streams = [
                Stream(process.stdout.fileno(), most, take_over=frames.add),
                Stream(process.stderr.fileno(), limits.output_bytes),
            ]
            done = os.pidfd_open(process.pid)
            try:
                outcome = follow(
                    streams, done, limits, lambda: self._end(name), lambda: None, calls
                )
            except BaseException:
                self._end(name)
                raise
            finally:
                process.kill()
                os.close(done)
                calls.close()
        if outcome.ended is None and not streams[0].content:
            raise UsageError(self._describe_failure(bytes(streams[1].content)))
        return _read_frames(outcome, frames.parts, limits, len(program.calls))

    def _options(self, name: str, limits: Limits) -> list[str]:
        # The engine's default for nproc may be above what it can set; the number of processes is held by --pids-limit.
        _, most = resource.getrlimit(resource.RLIMIT_NPROC)
        most = OWN_PROCESSES if most == resource.RLIM_INFINITY else min(most, OWN_PROCESSES)
        return [
            *f"run --rm -i --pull never --name {name} --hostname sandbox --log-driver none".split(),
            *f"--network none --read-only --cap-drop ALL --user {USER}".split(),
            *f"--security-opt no-new-privileges --pids-limit {limits.processes + 2}".split(),
            *f"--memory {_container_memory(limits)} --memory-swap {_container_memory(limits)}".split(),
            *f"--ulimit nofile=1024:1024 --ulimit nproc={most}:{most} --ulimit core=0:0".split(),
            *f"--env PYTHONHASHSEED=0 --workdir {harness.FOLDER}".split(),
            "--tmpfs",
            f"{harness.FOLDER}:rw,nosuid,nodev,noexec,size={4 * limits.file_bytes},mode=1777",
            *(
                word
                for number, path in enumerate(self._packages)
                for word in ("--volume", f"{path}:{harness.PACKAGES}/{number}:ro")
            ),
        ]

    def _end(self, name: str) -> None:
        """End a container and all in it; `--rm` then removes it."""
        command = [self._command[0], "kill", name]
        with suppress(subprocess.TimeoutExpired):  # an engine that no longer answers
            subprocess.run(
                command,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                timeout=SECONDS_TO_ANSWER,
                check=False,
            )

    def _describe_failure(self, said: bytes) -> str:
        reason = _shorten(said) or "no reason given"
        sentence = f"{self._engine} cannot start a container of {self._image} ({reason})"
        lacks_image = "image" in reason.lower()
        return (
            f"{sentence}; build the image with: {self._engine} {BUILD}" if lacks_image else sentence
        )


def find_engine(engine: str) -> list[str]:
    """The command of a container engine; one sentence if it is not installed."""
    found = shutil.which(engine)
    if found is None:
        raise UsageError(
            f"{engine} is not installed; install it, or use the local sandbox, without --{engine}"
        )
    # Podman's first choice, crun, fails where control groups are of version 1.
    runtime = ["--runtime", "runc"] if engine == "podman" and shutil.which("runc") else []
    return [found, *runtime]


def check_engine_answers(command: str, engine: str) -> None:
    """Raise `UsageError` if a container engine is installed and its daemon does not answer."""
    try:
        asked = subprocess.run(
            [command, "version"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=SECONDS_TO_ANSWER,
            check=False,
        )
        reason = "" if asked.returncode == 0 else _shorten(asked.stderr) or "no reason given"
    except subprocess.TimeoutExpired:
        reason = f"nothing in {SECONDS_TO_ANSWER:.0f} seconds"
    except OSError as error:
        reason = error.strerror or str(error)
    if reason:
        raise UsageError(
            f"{engine} is installed but does not answer ({reason}); start it, or use the local sandbox, without --{engine}"
        )


def _shorten(said: bytes) -> str:
    """The end of what a program said, on one line."""
    return " ".join(said.decode(errors="replace").split())[-300:]


class TaggedFrames:
    """The streams in the tagged frames that come from a container; from bytes that are no frame on, nothing is taken."""

    def __init__(self) -> None:
        self.parts: dict[bytes, bytearray] = {kind: bytearray() for kind in harness.KINDS}
        self._head = bytearray()
        self._kind, self._left = b"", 0
        self._broken = False

    def add(self, content: bytes) -> None:
        """Take more bytes, wherever they are cut."""
        while content and not self._broken:
            if self._left:
                part, content = content[: self._left], content[self._left :]
                self.parts[self._kind] += part
                self._left -= len(part)
                continue
            missing = HEAD - len(self._head)
            self._head += content[:missing]
            content = content[missing:]
            self._kind = bytes(self._head[:1])
            self._broken = self._kind not in self.parts
            if len(self._head) == HEAD:
                self._left = int.from_bytes(self._head[1:], "big")
                self._head.clear()


def _read_frames(
    outcome: ProgramEnd, contents: Mapping[bytes, bytearray], limits: Limits, calls: int
) -> Execution:
    """What a program did, from what its harness sent."""
    limited = {
        harness.RESULT: RESULT_BYTES,
        harness.STDOUT: limits.output_bytes,
        harness.STDERR: limits.output_bytes,
    }
    outcome.cpu_seconds, number = _parse_end(contents[harness.END])
    if outcome.ended is None:
        if any(len(contents[kind]) > most for kind, most in limited.items()):
            outcome.ended = "output"
        elif number in (signal.SIGALRM, signal.SIGXCPU):
            outcome.ended = "timeout"
        elif number == signal.SIGKILL:
            outcome.ended = "timeout" if outcome.cpu_seconds >= limits.cpu_seconds else "memory"
    return build_execution(outcome, [contents[kind] for kind in limited], limits, calls)


def _container_memory(limits: Limits) -> int:
    """The limit of the control group, which also counts the harness and the files."""
    return limits.memory_bytes + 4 * limits.file_bytes + (32 << 20)


def _parse_end(content: bytes | bytearray) -> tuple[float, int]:
    """CPU seconds and the signal that ended the program, as the harness says; zeros if it does not."""
    try:
        seconds, number = content.decode().split()
        return float(seconds), int(number)
    except ValueError:
        return 0.0, 0
