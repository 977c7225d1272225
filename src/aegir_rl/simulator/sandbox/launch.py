"""Start bwrap around the interpreter, with an empty environment and without rights.

What a sandbox has of files are the copies of interpreter.py, the harness, time zones, and folders of packages that the user
names, read-only at /packages/0, /packages/1, …

As root, the user id is dropped before bwrap is started, to one that nobody has, since the kernel holds root to no limit on
processes. That user may be unable to reach the packages (below /root, for instance): before the id is dropped, they are mounted
at reachable places in a mount namespace that only bwrap sees.
"""

import ctypes
import fcntl
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Any, Self

from aegir_rl.base.errors import UsageError
from aegir_rl.simulator.sandbox import harness
from aegir_rl.simulator.sandbox.calls import CallFeed
from aegir_rl.simulator.sandbox.interpreter import PYTHON, TIME_ZONES, interpreter_files, mode_of
from aegir_rl.simulator.sandbox.messages import RESULT_BYTES
from aegir_rl.simulator.sandbox.program import Limits
from aegir_rl.simulator.sandbox.watch import Stream
from aegir_rl.simulator.task import Json

OWN_PACKAGES = ("aegir_rl", "aegir")
"""With which a solution could draw its task again, hidden cases and all."""
_OWN = re.compile(rf"(?:{'|'.join(OWN_PACKAGES)})(?:[.-].*)?")
"""Names of folders, modules, archives and descriptions of these packages."""
MOST_FILES = 200_000
"""Files and folders of a packages folder, all of which are looked at."""
FOR_OTHERS = 0o005
"""Permission to list a folder and to open what is in it."""
STAGE = "/tmp"  # noqa: S108, covered in a namespace of bwrap's own
FIRST_USER, USERS = 61184, 4336
"""User ids that are handed out for a while and belong to nobody (systemd's range for dynamic users)."""
CLONE_NEWNS, MS_BIND, MS_REC, MS_PRIVATE = 0x00020000, 0x1000, 0x4000, 0x40000
ISOLATION = (
    *("--unshare-user", "--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts"),
    *("--unshare-cgroup-try", "--as-pid-1", "--die-with-parent", "--new-session", "--clearenv"),
    *("--cap-drop", "ALL", "--hostname", "sandbox"),
)
HARNESS = "/harness.py"
INTERPRETER = ("-P", "-s", "-S", "-B", "-X", "utf8")
"""Options of Python: no folder of ours and no site-packages on its path, no byte code written."""


class BwrapCommand:
    """One start of bwrap around the interpreter, and the process numbers it reports."""

    def __init__(
        self, bwrap: str, files: "OpenFiles", packages: Sequence[str], folder_bytes: int | None
    ) -> None:
        self._bwrap, self._files = bwrap, files
        self._packages, self._folder_bytes = packages, folder_bytes
        self._info, self._info_end = files.pipe()
        self._child: int | None = None
        self._first: int | None = None

    def start(
        self,
        arguments: Sequence[str],
        *,
        stdin: int,
        stdout: int,
        stderr: int,
        passed: Sequence[int] = (),
    ) -> subprocess.Popen[bytes]:
        """Start it with an empty environment; `passed` are open files that the harness gets under their numbers."""
        inside = interpreter_files(with_packages=bool(self._packages))
        copies = {each.destination: self._files.reopen(each.file) for each in inside}
        copies[HARNESS] = self._files.sealed(Path(harness.__file__).read_bytes())
        copied = [
            word
            for to, file in copies.items()
            for word in ("--perms", mode_of(to), "--file", str(file), to)
        ]
        prepare = _Preparation(self._packages)
        binds = [word for bind in prepare.binds for word in ("--ro-bind", *bind)]
        inherited = [*copies.values(), self._info_end, *passed]
        command = [
            *(self._bwrap, *copied, *binds, *self._options()),
            *("--", PYTHON, *INTERPRETER, HARNESS),
        ]
        try:
            process = subprocess.Popen(
                [*command, *arguments],
                stdin=stdin,
                stdout=stdout,
                stderr=stderr,
                env={},
                pass_fds=inherited,
                preexec_fn=prepare,
                cwd="/",
            )
        except (OSError, subprocess.SubprocessError) as error:
            raise UsageError(f"{self._bwrap} cannot be started: {error}") from None
        self._files.close(self._info_end, *copies.values())
        return process

    def open_first_process(self) -> int | None:
        """A process file descriptor of process 1 inside, which ends after all others; None if bwrap failed."""
        said = b""
        while not said.rstrip().endswith(b"}"):  # bwrap writes it in pieces
            part = os.read(self._info, 4096)
            if not part:
                return None
            said += part
        self._child = int(json.loads(said)["child-pid"])
        with suppress(OSError):
            self._first = self._files.add(os.pidfd_open(self._child))
        return self._first

    def end(self, process: subprocess.Popen[bytes]) -> resource.struct_rusage:
        """Kill what is left, wait for it, and return what all of it used.

        Process 1 is killed, not bwrap, which then waits for it: otherwise it would be left to the machine's first process.
        """
        if self._first is None:
            os.kill(process.pid, signal.SIGKILL)
        else:
            kill(self._first)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        return usage

    def open_proc(self) -> int | None:
        """The sandbox's own /proc as an open folder, once its processes are inside."""
        with suppress(OSError):
            proc = os.open(f"/proc/{self._child}/root/proc", os.O_RDONLY | os.O_DIRECTORY)
            if os.fstat(proc).st_dev != os.stat("/proc").st_dev:  # noqa: PTH116
                return self._files.add(proc)
            os.close(proc)  # the machine's: bwrap is not done yet
        return None

    def _options(self) -> list[str]:
        # A warm server makes namespaces itself; its /tmp is covered by one of each program.
        cold = self._folder_bytes is not None
        size = ["--size", str(self._folder_bytes)] if cold else []
        return [
            *(*ISOLATION, *(["--disable-userns"] if cold else [])),
            *("--setenv", "PYTHONHASHSEED", "0", "--proc", "/proc", "--dev", "/dev"),
            *(
                "--ro-bind",
                "/dev/null",
                "/dev/zero",
            ),  # cannot be opened: mapped, it is shared memory
            *(*size, "--perms", "0700", "--tmpfs", harness.FOLDER),
            *("--remount-ro", "/dev", "--remount-ro", "/", "--chdir", harness.FOLDER),
            *("--info-fd", str(self._info_end)),
        ]


class OpenFiles:
    """Open files that are closed together; `add` takes one over."""

    def __init__(self) -> None:
        self._open: set[int] = set()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close(*self._open)

    def add(self, file: int) -> int:
        self._open.add(file)
        return file

    def close(self, *files: int) -> None:
        for file in files:
            self._open.discard(file)
            os.close(file)

    def pipe(self) -> tuple[int, int]:
        reader, writer = os.pipe()
        return self.add(reader), self.add(writer)

    def reopen(self, file: int) -> int:
        """Another handle of an open file, for reading from its start."""
        return self.add(os.open(f"/proc/self/fd/{file}", os.O_RDONLY))

    def streams(self, limits: Limits) -> tuple[list[Stream], list[int]]:
        """Pipes for results, output and errors: the ends that the host reads, and those of the program."""
        pipes = [self.pipe() for _ in range(3)]
        most = (RESULT_BYTES, limits.output_bytes, limits.output_bytes)
        streams = [Stream(reader, bytes_) for (reader, _), bytes_ in zip(pipes, most, strict=True)]
        return streams, [writer for _, writer in pipes]

    def calls(
        self, calls: Sequence[Sequence[Json]], results: bytearray, first: bytes = b""
    ) -> tuple[CallFeed, int]:
        """What sends arguments through a pipe, and the program's end of it; the feed closes the other one itself."""
        reader, writer = os.pipe2(os.O_CLOEXEC)
        os.set_blocking(writer, False)
        return CallFeed(writer, calls, results, first), self.add(reader)

    def sealed(self, content: bytes) -> int:
        """A file in memory that nobody can change."""
        file = self.add(os.memfd_create("order", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING))
        harness.write_all(file, content)
        seals = fcntl.F_SEAL_WRITE | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_SEAL
        fcntl.fcntl(file, fcntl.F_ADD_SEALS, seals)
        os.lseek(file, 0, os.SEEK_SET)
        return file


class _Preparation:
    """Called in the child before bwrap starts: as root, makes packages reachable and drops the user id."""

    def __init__(self, packages: Sequence[str]) -> None:
        self._is_root = os.geteuid() == 0
        self._staged = [(path, f"{STAGE}/{number}") for number, path in enumerate(packages)]
        self._user = sandbox_user()
        self._libc = _libc()

    @property
    def binds(self) -> list[tuple[str, str]]:
        """Sources and destinations of what the sandbox sees of the machine's files."""
        packages = [
            (staged if self._is_root else path, f"{harness.PACKAGES}/{number}")
            for number, (path, staged) in enumerate(self._staged)
        ]
        return [*packages, *([(TIME_ZONES, TIME_ZONES)] if Path(TIME_ZONES).is_dir() else [])]

    def __call__(self) -> None:
        if self._is_root:
            self._check(self._libc.unshare(CLONE_NEWNS))
            handles = [(os.open(path, os.O_PATH), place) for path, place in self._staged]
            self._mount(None, "/", None, MS_REC | MS_PRIVATE)
            self._mount("tmpfs", STAGE, "tmpfs", 0)
            for handle, place in handles:
                os.mkdir(place, 0o755)  # noqa: PTH102
                self._mount(f"/proc/self/fd/{handle}", place, None, MS_BIND | MS_REC)
                os.close(handle)
            os.chmod(STAGE, 0o755)  # noqa: PTH101, S103
            os.setgroups([])
            os.setresgid(self._user, self._user, self._user)
            os.setresuid(self._user, self._user, self._user)

    def _mount(self, source: str | None, target: str, kind: str | None, flags: int) -> None:
        words = [None if word is None else word.encode() for word in (source, target, kind)]
        self._check(self._libc.mount(*words, flags, None))

    def _check(self, code: int) -> None:
        if code != 0:
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def find_bwrap() -> str:
    """Where bubblewrap is; one sentence if it is not."""
    if sys.platform != "linux":
        raise UsageError("the local sandbox needs Linux; elsewhere use --docker")
    found = shutil.which("bwrap")
    if found is None:
        raise UsageError(
            "the local sandbox needs bubblewrap, which is not installed; "
            "install it (apt-get install bubblewrap) or use --docker"
        )
    return found


def describe_start_failure(said: bytes) -> str:
    """The sentence for a sandbox that does not start."""
    reason = " ".join(said.decode(errors="replace").split())[-300:] or "no reason given"
    return (
        f"bubblewrap cannot start a sandbox on this machine ({reason}); "
        "`aegir doctor` says what is missing, or use --docker"
    )


def kill(pidfd: int) -> None:
    """Kill a process by its file descriptor; one that has ended is left alone."""
    with suppress(ProcessLookupError):
        signal.pidfd_send_signal(pidfd, signal.SIGKILL)


def sandbox_user() -> int:
    """The user id of programs: as root one that nobody has, else the own one."""
    own = os.geteuid()
    return own if own else FIRST_USER + os.getpid() % USERS


@lru_cache(maxsize=1)
def _libc() -> Any:
    return ctypes.CDLL(None, use_errno=True)


def check_packages(folders: Sequence[Path]) -> tuple[str, ...]:
    """Folders of packages as absolute paths; raise `UsageError` for one that cannot be used."""
    for folder in folders:
        if not folder.is_dir():
            raise UsageError(
                f"the packages folder {folder} is not a folder; make one with: pip install --target {folder} pandas"
            )
        if os.geteuid() == 0 and folder.stat().st_mode & FOR_OTHERS != FOR_OTHERS:
            raise UsageError(
                f"the packages folder {folder} cannot be read by the user that programs run as; try: chmod -R a+rX {folder}"
            )
        _check_content(folder)
    return tuple(str(folder.resolve()) for folder in folders)


def _check_content(folder: Path) -> None:
    """Raise `UsageError` if a folder of packages holds, at any depth, what a solution may not import."""
    advice = (
        "use a folder with only what tasks may import, made with: pip install --target DIR pandas"
    )
    seen = 0
    for parent, folders, files in os.walk(folder):
        seen += len(folders) + len(files)
        if seen > MOST_FILES:
            raise UsageError(
                f"the packages folder {folder} holds more than {MOST_FILES:,} files; {advice}"
            )
        for name in (*folders, *files):
            inside = Path(parent, name).relative_to(folder)
            if _OWN.fullmatch(name):
                raise UsageError(
                    f"the packages folder {folder} holds {inside}, with which a solution could draw its task again; {advice}"
                )
            if name.endswith(".pth"):
                raise UsageError(
                    f"the packages folder {folder} holds {inside}, which leads to other folders and is not read in a sandbox; delete it"
                )
