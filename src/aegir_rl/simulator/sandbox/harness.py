"""Runs inside a sandbox: loads untrusted source, makes the calls, sends their results. Uses the standard library only.

    harness.py once R C         one program: order on standard input, results to descriptor R, calls from C   (cold)
    harness.py serve N          programs one after the other, each in a fork of its own; control socket N     (warm)
    harness.py relay            one program: order and calls on standard input, all it writes in tagged frames
                                on standard output                                                            (container)

A warm server never sees a program. It gets file descriptors over its control socket and forks a keeper, which reads the order,
makes new namespaces and forks `init`, process 1 of them; `init` forks the task. Whatever a task leaves behind is in these
namespaces and ends with `init`:

    server ── keeper (waits, reports) ── init (1) ── task (2): no capabilities, limits, seccomp filter, then the source
                                                      └── its children

An order is JSON: `source`, `function`, `files` (base64) and the limits that processes impose on themselves. A frame is four bytes
of length and JSON. Result frames: first `{}` when the source is about to be loaded, then `value` or `error` for each call. Calls
are frames of arguments, of which the host sends one when it has the result of the one before, so that no process in here has
the arguments of a later call; after the last result it closes the pipe.

Nothing that the task's process says is trusted by the host: untrusted code can change all of it. Process 1 is out of its reach.
When the task has ended, process 1 kills and waits for all others, so that the kernel adds their CPU time up; no process can
have its children's time forgotten, because the filter denies changing what SIGCHLD does.
"""

import base64
import contextlib
import fcntl
import gc
import json
import math
import os
import resource
import select
import signal
import sys
import time
import types
from collections.abc import Callable
from typing import Any, NoReturn

FOLDER = "/tmp"  # noqa: S108, a private file system of this program
PACKAGES = "/packages"
"""Folders of packages that a user mounts; they come last on the path."""
RESULTS, CALLS = 3, 4
OPEN_FILES = 64
MOST_OPEN = 4096
"""No file that a sandbox has open has this number or a higher one."""
ADDRESS_SPACE, PACKAGES_SPACE = 64 << 20, 512 << 20
"""Bytes beyond the memory limit and what is mapped at the start that may be mapped: libraries loaded later, those of packages."""
OWN_PROCESSES = 2
"""Processes of the sandbox itself that count as the program's."""
INODES = 2000
ERROR_LENGTH = 500
GRACE_SECONDS = 2.0
"""After which a container whose host does not end it ends by itself."""
STDOUT, STDERR, RESULT, END = KINDS = b"o", b"e", b"r", b"x"
"""Tags of frames: what the program wrote, and at last its CPU seconds and the signal that ended it."""
PRELOADED = (
    "bisect collections copy csv dataclasses datetime decimal difflib enum fractions functools hashlib heapq html io itertools "
    "math operator random re statistics string struct textwrap traceback typing unicodedata urllib.parse zoneinfo"
)
"""What solutions import most; importing these costs the warm server once."""

MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC = 1, 2, 4, 8
NEW_NAMESPACES = 0x00020000 | 0x04000000 | 0x08000000 | 0x10000000 | 0x20000000
"""CLONE_NEWNS, NEWUTS, NEWIPC, NEWUSER, NEWPID; the network is that of the server, which has none."""
PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_SECCOMP, PR_CAPBSET_DROP, PR_SET_NO_NEW_PRIVS = (
    1,
    4,
    22,
    24,
    38,
)
CAPABILITY_VERSION = 0x20080522
CAPABILITIES = 64


def run_program(order: dict[str, Any]) -> None:
    """Load the source and make the calls; this process is within its limits from here on."""
    os.chdir(FOLDER)
    for name, content in order["files"].items():
        os.makedirs(os.path.dirname(os.path.join(FOLDER, name)), exist_ok=True)  # noqa: PTH103, PTH118, PTH120
        with open(name, "wb") as file:  # noqa: PTH123
            file.write(base64.b64decode(content))
    limit_resources(order)
    if order["filter"] is not None:
        give_up_rights(base64.b64decode(order["filter"]))
    send({})
    try:
        function = load(order["source"], order["function"])
    except BaseException as error:
        failure = {"error": describe(error)}
        while receive() is not None:
            send(failure)
    else:
        while (arguments := receive()) is not None:
            send(call(function, arguments))


def load(source: str, function: str) -> Callable[..., Any]:
    """The function that the source defines; whatever loading raises passes through."""
    module = types.ModuleType("solution")
    sys.modules["solution"] = module
    exec(compile(source, "solution.py", "exec"), module.__dict__)  # noqa: S102, what this is for
    found = getattr(module, function, None)
    if not callable(found):
        raise NameError(f"the solution defines no function {function!r}")
    return found  # type: ignore[no-any-return]


def call(function: Callable[..., Any], arguments: list[Any]) -> dict[str, Any]:
    """The result of one call as JSON; dictionary keys become text, tuples become lists."""
    try:
        value = function(*arguments)
        json.dumps(value, allow_nan=False)
    except BaseException as error:
        return {"error": describe(error)}
    return {"value": value}


def describe(error: BaseException) -> str:
    """One line: the kind of error, its text, and the line of the solution it came from."""
    line, frame = None, error.__traceback__
    while frame is not None:
        if frame.tb_frame.f_code.co_filename == "solution.py":
            line = frame.tb_lineno
        frame = frame.tb_next
    if isinstance(error, SyntaxError):
        line = error.lineno
    try:
        text = " ".join(str(error).split())
    except BaseException:
        text = ""
    place = f" (line {line})" if line else ""
    return f"{type(error).__name__}: {text}"[:ERROR_LENGTH] + place


def send(message: dict[str, Any]) -> None:
    """Write one frame to the results."""
    body = json.dumps(message).encode()
    write_all(RESULTS, len(body).to_bytes(4, "big") + body)


def receive() -> list[Any] | None:
    """The arguments of the next call; None after the last one."""
    head = read_exactly(CALLS, 4)
    body = None if head is None else read_exactly(CALLS, int.from_bytes(head, "big"))
    return None if body is None else list(json.loads(body))


def read_exactly(file: int, length: int) -> bytes | None:
    """So many bytes of a pipe and none beyond them; None at its end."""
    parts = []
    while length:
        part = os.read(file, min(length, 1 << 20))
        if not part:
            return None
        parts.append(part)
        length -= len(part)
    return b"".join(parts)


def write_all(file: int, content: bytes) -> None:
    """Write everything; a pipe may take less at a time."""
    while content:
        content = content[os.write(file, content) :]


def read_all(file: int) -> bytes:
    """Everything up to the end of a file."""
    parts = []
    while part := os.read(file, 1 << 20):
        parts.append(part)
    return b"".join(parts)


def limit_resources(order: dict[str, Any]) -> None:
    """Limits that the kernel holds for each process; sums are watched from outside."""
    memory, seconds = order["memory_bytes"], math.ceil(order["cpu_seconds"]) + 1
    with open("/proc/self/statm") as file:  # noqa: PTH123
        mapped = int(file.read().split()[0]) * resource.getpagesize()
    space = PACKAGES_SPACE if os.path.isdir(PACKAGES) else ADDRESS_SPACE  # noqa: PTH112
    limits = {
        resource.RLIMIT_AS: mapped + memory + space,
        resource.RLIMIT_DATA: memory,
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_CPU: seconds,
        resource.RLIMIT_FSIZE: order["file_bytes"],
        resource.RLIMIT_MEMLOCK: 0,
        resource.RLIMIT_MSGQUEUE: 0,
        resource.RLIMIT_NOFILE: OPEN_FILES,
    }
    if order["processes"] is not None:
        limits[resource.RLIMIT_NPROC] = order["processes"] + OWN_PROCESSES
    for kind, most in limits.items():
        _, hard = resource.getrlimit(kind)
        most = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(kind, (most, most))


def finish() -> NoReturn:
    """End this process at once, with what was printed; threads and exit handlers of the source do not run."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except BaseException:  # noqa: S112, a stream that the source replaced or closed
            continue
    os._exit(0)


def run_once(results: int, calls: int) -> NoReturn:
    """The cold mode: this interpreter, process 1, is for one program and ends with it, and everything with both."""
    hide_memory()
    task = os.fork()
    if task == 0:
        be_task(json.loads(read_all(0)), calls, results, 1, 2)
    os.closerange(0, MOST_OPEN)
    end_with(task)


def serve(control_number: int) -> None:
    """The warm mode: run programs until the control socket is closed."""
    import ctypes
    import importlib
    import socket

    for name in PRELOADED.split():
        importlib.import_module(name)
    ctypes.CDLL(None, use_errno=True)
    control = socket.socket(fileno=control_number)
    gc.collect()
    gc.freeze()  # collecting in a fork would copy the pages of all of it
    control.send(b"ready")
    while True:
        message, files, _, _ = socket.recv_fds(control, 1, 6)
        if not message:
            return
        keeper = os.fork()
        if keeper == 0:
            control.close()
            keep(*files)
        for file in files:
            os.close(file)
        while os.wait()[0] != keeper:
            pass


def keep(
    order_file: int, calls: int, results: int, out: int, err: int, status_file: int
) -> NoReturn:
    """Make namespaces for one program, start it, and report its end on the status socket."""
    import socket

    status = socket.socket(fileno=status_file)
    try:
        order = json.loads(read_all(order_file))
        os.close(order_file)
        enter_namespaces(order["file_bytes"])
        init = os.fork()
        if init == 0:
            status.close()
            be_init(order, calls, results, out, err)
        for file in (calls, results, out, err):
            os.close(file)
        socket.send_fds(status, [b"s"], [os.pidfd_open(init)])
        _, _, usage = os.wait4(init, 0)
        status.send(json.dumps({"cpu_seconds": usage.ru_utime + usage.ru_stime}).encode())
    except Exception as error:
        status.send(json.dumps({"failure": f"{type(error).__name__}: {error}"}).encode())
    finally:
        os._exit(0)


def enter_namespaces(file_bytes: int) -> None:
    """Leave this process in new namespaces, with an empty folder for files; its next child is process 1."""
    user, group = os.getuid(), os.getgid()
    system("unshare", NEW_NAMESPACES)
    for name, text in {
        "self/setgroups": "deny",
        "self/uid_map": f"{user} {user} 1",
        "self/gid_map": f"{group} {group} 1",
        "sys/user/max_user_namespaces": "0",
    }.items():
        with open(f"/proc/{name}", "w") as file:  # noqa: PTH123
            file.write(text)
    options = f"size={4 * file_bytes},nr_inodes={INODES},mode=0700"
    flags = MS_NOSUID | MS_NODEV | MS_NOEXEC
    system("mount", b"tmpfs", FOLDER.encode(), b"tmpfs", flags, options.encode())


def be_init(order: dict[str, Any], *files: int) -> NoReturn:
    """Process 1 of the namespaces: start the task, reap orphans, end with the task, and everything with it."""
    try:
        flags = MS_RDONLY | MS_NOSUID | MS_NODEV | MS_NOEXEC
        system("mount", b"proc", b"/proc", b"proc", flags, None)
        system("prctl", PR_SET_PDEATHSIG, 9, 0, 0, 0)
        hide_memory()
        task = os.fork()
        if task == 0:
            be_task(order, *files)
        os.closerange(0, MOST_OPEN)
    except BaseException:
        os._exit(1)
    end_with(task)


def hide_memory() -> None:
    """No process may look into this one and those it forks, and a crash of theirs starts nothing on the machine."""
    system("prctl", PR_SET_DUMPABLE, 0, 0, 0, 0)


def end_with(task: int) -> NoReturn:
    """Reap orphans until the task ends; end all others and reap them, for their CPU time; then end."""
    while os.wait()[0] != task:
        pass
    end_others()
    os._exit(0)


def end_others() -> None:
    """Kill every other process of this namespace and wait until none is left, if this is its process 1."""
    if os.getpid() != 1:
        return  # what would be killed is not ours
    try:
        while True:
            with contextlib.suppress(
                ProcessLookupError
            ):  # all have ended, some were not waited for
                os.kill(-1, signal.SIGKILL)
            os.wait()
    except ChildProcessError:
        return


def be_task(order: dict[str, Any], calls: int, results: int, out: int, err: int) -> NoReturn:
    """The process that runs the source, with nothing open but its standard streams, the results and the calls."""
    try:
        if os.getpid() != os.getsid(0):
            os.setsid()
        nothing = os.open(os.devnull, os.O_RDONLY)
        files = (nothing, out, err, results, calls)
        high = [fcntl.fcntl(file, fcntl.F_DUPFD, CALLS + 1) for file in files]
        for number, file in enumerate(high):
            os.dup2(file, number)
        os.closerange(CALLS + 1, MOST_OPEN)
        run_program(order)
    except BaseException as error:
        os.write(2, f"{type(error).__name__}: {error}\n".encode())
    finally:
        finish()


def give_up_rights(program: bytes) -> None:
    """Drop all capabilities for good and install the filter of system calls."""
    import ctypes

    control = ctypes.CDLL(None).prctl
    for number in range(CAPABILITIES):
        if control(PR_CAPBSET_DROP, number, 0, 0, 0) != 0:
            break  # the kernel has no more, or there were none to drop
    header = (ctypes.c_uint32 * 2)(CAPABILITY_VERSION, 0)
    system("capset", ctypes.byref(header), ctypes.byref((ctypes.c_uint32 * 6)()))
    system("prctl", PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    code = ctypes.create_string_buffer(program, len(program))
    # struct sock_fprog: the number of instructions, eight bytes each, and where they are.
    filter_ = (ctypes.c_uint64 * 2)(len(program) // 8, ctypes.addressof(code))
    system("prctl", PR_SET_SECCOMP, 2, ctypes.byref(filter_), 0, 0)


def system(function: str, *arguments: Any) -> None:
    """Call a function of the C library; raise if it fails."""
    import ctypes

    if getattr(ctypes.CDLL(None, use_errno=True), function)(*arguments) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{function}: {os.strerror(number)}")


def relay() -> NoReturn:
    """The container mode: process 1 runs the program in a child and sends all that it writes as tagged frames."""
    hide_memory()
    order = json.loads(read_exactly(0, int.from_bytes(read_exactly(0, 4) or b"", "big")) or b"")
    pipes = {kind: os.pipe() for kind in (RESULT, STDOUT, STDERR)}
    child = os.fork()
    if child == 0:
        be_task(order, 0, pipes[RESULT][1], pipes[STDOUT][1], pipes[STDERR][1])
    kinds = {}
    for kind, (reader, writer) in pipes.items():
        os.close(writer)
        kinds[reader] = kind
    deadline = time.monotonic() + order["wall_seconds"] + GRACE_SECONDS
    ended, number = False, 0
    while kinds or not ended:
        if not ended:
            if (status := reap(child)) is not None:
                ended, number = True, os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
            elif time.monotonic() > deadline:
                ended, number = True, int(signal.SIGALRM)
            elif count_seconds() > order["cpu_seconds"]:
                ended, number = True, int(signal.SIGXCPU)
            if ended:
                end_others()
        ready, _, _ = select.select(list(kinds), [], [], 0 if ended else 0.02)
        if ended and not ready:
            break
        for reader in ready:
            if part := os.read(reader, 1 << 16):
                send_tagged(kinds[reader], part)
            else:
                del kinds[reader]
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    send_tagged(END, f"{usage.ru_utime + usage.ru_stime} {number}".encode())
    os._exit(0)


def reap(child: int) -> int | None:
    """Wait for every process that has ended; the status of this child if it is among them."""
    while (ended := os.waitpid(-1, os.WNOHANG))[0] != 0:
        if ended[0] == child:
            return ended[1]
    return None


def count_seconds() -> float:
    """CPU time of all other processes here, and of those that were waited for."""
    ticks = 0
    for pid in filter(str.isdigit, os.listdir("/proc")):  # noqa: PTH208
        try:
            with open(f"/proc/{pid}/stat", "rb") as file:  # noqa: PTH123
                numbers = file.read().rpartition(b")")[2].split()
        except OSError:
            continue  # it has ended
        ticks += sum(map(int, numbers[13 if int(pid) == os.getpid() else 11 : 15]))
    return ticks / os.sysconf("SC_CLK_TCK")


def send_tagged(kind: bytes, content: bytes) -> None:
    """Write one frame of a stream to standard output."""
    write_all(1, kind + len(content).to_bytes(4, "big") + content)


if __name__ == "__main__":
    if os.path.isdir(PACKAGES):  # noqa: PTH112
        sys.path += sorted(entry.path for entry in os.scandir(PACKAGES))
    if sys.argv[1] == "serve":
        serve(int(sys.argv[2]))
    elif sys.argv[1] == "relay":
        relay()
    else:
        run_once(int(sys.argv[2]), int(sys.argv[3]))
