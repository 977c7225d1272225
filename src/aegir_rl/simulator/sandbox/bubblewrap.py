"""The local sandbox: bubblewrap around a Python interpreter, warm or cold.

    host ── control socket ──▶ bwrap ── server ──▶ a fork in new namespaces per program       (warm)
    host ── one per program ─▶ bwrap ── interpreter                                           (cold)

The host alone holds the limits on wall time, output, and the memory and CPU time of all processes (watch.py); each process
imposes the others on itself before it loads the source (harness.py). The order goes in as a sealed memory file, arguments go
in call by call (calls.py), results and output come back, through pipes that belong to one program.

Needs Linux with user namespaces, and bwrap 0.8 or later. How bwrap is started is in launch.py.
"""

import json
import os
import socket
import threading
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from aegir_rl.base.errors import AegirError, UsageError
from aegir_rl.simulator.sandbox.launch import (
    BwrapCommand,
    OpenFiles,
    check_packages,
    describe_start_failure,
    find_bwrap,
    kill,
)
from aegir_rl.simulator.sandbox.messages import build_execution, encode_order
from aegir_rl.simulator.sandbox.program import Execution, Limits, Program, Sandbox
from aegir_rl.simulator.sandbox.seccomp import build_filter
from aegir_rl.simulator.sandbox.watch import (
    SECONDS_TO_START,
    ProcessMeter,
    ProcessUsage,
    follow,
    list_processes,
)
from aegir_rl.simulator.task import Json


class BubblewrapSandbox(Sandbox):
    """Runs programs under bubblewrap; `cold` starts a new interpreter for each. They may import from `packages`."""

    def __init__(self, *, cold: bool = False, packages: Sequence[Path] = ()) -> None:
        self._bwrap = find_bwrap()
        self._filter = build_filter(os.uname().machine)
        self._packages = check_packages(packages)
        self._cold = cold
        self._server: _Server | None = None
        self._lock = threading.Lock()

    def run(self, program: Program, limits: Limits | None = None) -> Execution:
        """Run a program within limits, the default ones if none are given."""
        limits = limits or Limits()
        with self._lock:
            try:
                return (
                    self._run_cold(program, limits)
                    if self._cold
                    else self._run_warm(program, limits)
                )
            except BaseException:
                self._stop()
                raise

    def close(self) -> None:
        """End everything that was started."""
        with self._lock:
            self._stop()

    def _run_warm(self, program: Program, limits: Limits) -> Execution:
        order = encode_order(program, limits, filter_=self._filter)
        for attempt in (1, 2):
            if self._server is None or not self._server.is_usable:
                self._stop()
                self._server = _Server(self._bwrap, self._packages)
            try:
                return self._server.run(order, limits, program.calls)
            except ConnectionError:  # killed, or the thread that started it has ended
                self._stop()
                if attempt == 2:
                    raise AegirError(
                        "the server inside the sandbox ended twice in a row; is the machine out of memory?"
                    ) from None
        raise AssertionError

    def _run_cold(self, program: Program, limits: Limits) -> Execution:
        order = encode_order(program, limits, filter_=self._filter)
        with OpenFiles() as files:
            streams, ends = files.streams(limits)
            calls, calls_end = files.calls(program.calls, streams[0].content)
            command = BwrapCommand(self._bwrap, files, self._packages, 4 * limits.file_bytes)
            process = command.start(
                ["once", str(ends[0]), str(calls_end)],
                stdin=files.sealed(order),
                stdout=ends[1],
                stderr=ends[2],
                passed=[ends[0], calls_end],
            )
            files.close(*ends, calls_end)
            sandbox = _ColdProcesses(command)
            try:
                first = command.open_first_process()
                if first is None:
                    raise UsageError(describe_start_failure(os.read(streams[2].file, 4096)))
                outcome = follow(
                    streams, first, limits, lambda: kill(first), sandbox.measure, calls
                )
            finally:
                calls.close()
                usage = command.end(process)
        outcome.cpu_seconds = max(outcome.cpu_seconds, usage.ru_utime + usage.ru_stime)
        return build_execution(
            outcome, [one.content for one in streams], limits, len(program.calls)
        )

    def _stop(self) -> None:
        if self._server is not None:
            self._server.close()
            self._server = None


class _ColdProcesses:
    """Measures the processes of a cold sandbox once its harness runs."""

    def __init__(self, command: BwrapCommand) -> None:
        self._command = command
        self._meter: ProcessMeter | None = None

    def measure(self) -> ProcessUsage | None:
        if self._meter is None and (proc := self._command.open_proc()) is not None:
            self._meter = ProcessMeter(proc)
        with suppress(OSError):
            return None if self._meter is None else self._meter.measure()
        return None


class _Server:
    """A warm interpreter inside bwrap that forks for every program."""

    def __init__(self, bwrap: str, packages: Sequence[str]) -> None:
        self._owner = os.getpid()
        self._files = OpenFiles()
        self._control, inside = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        self._control.settimeout(SECONDS_TO_START)
        nothing = self._files.add(os.open(os.devnull, os.O_RDWR))
        errors, errors_end = self._files.pipe()
        self._command = BwrapCommand(bwrap, self._files, packages, None)
        try:
            self._process = self._command.start(
                ["serve", str(inside.fileno())],
                stdin=nothing,
                stdout=nothing,
                stderr=errors_end,
                passed=[inside.fileno()],
            )
        except UsageError:
            self._control.close()
            self._files.__exit__()
            raise
        finally:
            inside.close()
        self._files.close(errors_end)
        try:
            if self._control.recv(5) != b"ready":
                raise self._failure(os.read(errors, 4096))
        except TimeoutError:
            raise self._failure(b"it does not answer") from None
        started = self._command.open_first_process() is not None
        proc = self._command.open_proc()
        if not started or proc is None:
            raise self._failure(b"its processes cannot be watched")
        self._proc = proc
        self._own = list_processes(proc)

    @property
    def is_usable(self) -> bool:
        """Whether it runs and belongs to this process; a fork of the process that started it needs its own."""
        return self._owner == os.getpid() and self._process.poll() is None

    def run(self, order: bytes, limits: Limits, calls: Sequence[Sequence[Json]]) -> Execution:
        """Run one order; `ConnectionError` when the server has ended."""
        meter = ProcessMeter(self._proc, self._own)

        def measure() -> ProcessUsage | None:
            with suppress(OSError):
                return meter.measure()
            return None

        with OpenFiles() as files:
            streams, ends = files.streams(limits)
            feed, calls_end = files.calls(calls, streams[0].content)
            status, inside = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            with status:
                status.settimeout(SECONDS_TO_START)
                sealed = files.sealed(order)
                try:
                    passed = [sealed, calls_end, *ends, inside.fileno()]
                    socket.send_fds(self._control, [b"p"], passed)
                finally:
                    inside.close()
                files.close(*ends, calls_end, sealed)
                pidfd = self._await_start(status, files)
                try:
                    outcome = follow(
                        streams, status.fileno(), limits, lambda: kill(pidfd), measure, feed
                    )
                finally:
                    feed.close()
                if outcome.stuck:
                    raise ConnectionError("a killed program is still there")
                report = _parse_report(status.recv(4096))
                if not report and outcome.ended is None:
                    raise ConnectionError("the keeper ended, which no program can bring about")
        outcome.cpu_seconds = max(outcome.cpu_seconds, float(report.get("cpu_seconds", 0.0)))
        return build_execution(outcome, [one.content for one in streams], limits, len(calls))

    def close(self) -> None:
        """End the server and all in it; in a fork of its owner, only forget it."""
        self._control.close()
        if self._owner == os.getpid() and self._process.returncode is None:
            self._command.end(self._process)
        self._process.returncode = 0
        self._files.__exit__()

    def _await_start(self, status: socket.socket, files: OpenFiles) -> int:
        """The process file descriptor of the program's process 1."""
        message, received, _, _ = socket.recv_fds(status, 4096, 1)
        if not message:
            raise ConnectionError("the server ended")
        if not received:
            reason = _parse_report(message).get("failure", "it gives no reason")
            raise UsageError(
                f"the warm sandbox cannot make namespaces on this machine ({reason}); "
                "try the cold one (--cold) or --docker"
            )
        return files.add(received[0])

    def _failure(self, said: bytes) -> UsageError:
        self.close()
        return UsageError(describe_start_failure(said))


def _parse_report(message: bytes) -> dict[str, Any]:
    """What a keeper says; it is our own code, outside the namespaces of the program."""
    return json.loads(message) if message else {}
