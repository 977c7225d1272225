"""One attack per promise of `aegir_rl.simulator.sandbox`, warm and cold, run from a process with mounts of its own."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import aegir_rl
import aegir_rl.simulator.sandbox
from aegir_rl.simulator.checking import check
from aegir_rl.simulator.sandbox import Program
from aegir_rl.simulator.sandbox.interpreter import interpreter
from aegir_rl.simulator.sandbox.seccomp import denied_calls
from aegir_rl.simulator.task import Case, Task
from sandboxes import SECRET, Attack, open_or_skip

LIBC = "import ctypes, os, errno\nlibc = ctypes.CDLL(None, use_errno=True)\n"
FIND_IN_MEMORY = """
import ctypes
def find(first, second):
    # The whole marker is never put together here: it would be found.
    first, second = first.encode(), second.encode()
    for line in open("/proc/self/maps"):
        begin, end = (int(number, 16) for number in line.split()[0].split("-"))
        if "r" in line.split()[1] and "[v" not in line:
            content = ctypes.string_at(begin, end - begin)
            place = content.find(first)
            while place >= 0:
                if content[place + len(first) :].startswith(second):
                    return True
                place = content.find(first, place + 1)
    return False
"""


def test_every_promise_has_an_attack_of_its_name():
    text = (aegir_rl.simulator.sandbox.__doc__ or "").split("What it does not stop")[0]
    promises = re.findall(r"^  - (\w+):", text, re.MULTILINE)
    assert len(promises) == 28
    assert [name for name in promises if f"test_{name}" not in globals()] == []


def test_writing_outside_its_folder(attack: Attack):
    written = attack("""
import os
def attack():
    written = []
    for folder, folders, names in os.walk("/"):
        if folder.count("/") > 2 or folder.startswith(("/proc/", "/tmp")):
            folders.clear()
            continue
        try:
            open(os.path.join(folder, "new"), "w").close()
            written.append(folder)
        except OSError:
            pass
    for name in ("/harness.py", os.__file__, "/proc/sys/kernel/hostname", "/proc/sysrq-trigger"):
        for work in (lambda: open(name, "a").close(), lambda: os.unlink(name), lambda: os.rename(name, "/tmp/x"), lambda: os.chmod(name, 0o777)):
            try:
                work()
                written.append(name)
            except OSError:
                pass
    return [written, os.listdir("/tmp")]
""").value
    assert written == [[], []]


def test_using_the_network(attack: Attack):
    families, interfaces = attack("""
import socket
def attack():
    opened = []
    for family in range(2, 46):
        for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_RAW):
            try:
                socket.socket(family, kind)
                opened.append(family)
            except OSError:
                pass
    socket.socket(socket.AF_UNIX).close()
    return [opened, [line.split(":")[0].strip() for line in open("/proc/net/dev")][2:]]
""").value
    assert families == []
    assert interfaces == ["lo"]


def test_reading_secrets(attack: Attack):
    found = attack(
        """
import os
def attack(marker):
    found = []
    if marker in str(dict(os.environ)):
        found.append("environment")
    for pid in filter(str.isdigit, os.listdir("/proc")):
        for name in ("environ", "cmdline"):
            try:
                if marker.encode() in open(f"/proc/{pid}/{name}", "rb").read():
                    found.append(f"{pid}/{name}")
            except OSError:
                pass
    for name in ("/etc/passwd", "/etc/shadow", "/home", "/var", "/run", "/sys", "/usr/bin", "/usr/share/doc", "/bin/sh"):
        if os.path.exists(name):
            found.append(name)
    return [found, os.listdir("/tmp"), len(list(filter(str.isdigit, os.listdir("/proc")))) <= 3, sorted(os.environ), sorted(os.listdir("/proc/self/fd"))]
""",
        SECRET,
    ).value
    names = ["LC_CTYPE", "PWD", "PYTHONHASHSEED"]
    # Open are the standard streams, the results, the calls, and what lists the open files.
    assert found == [[], [], True, names, ["0", "1", "2", "3", "4", "5"]]


def test_forking_without_end(attack: Attack):
    bomb = attack(
        """
import os, time, threading
def attack():
    children = 0
    for _ in range(100):
        try:
            if os.fork() == 0:
                time.sleep(20)
                os._exit(0)
            children += 1
        except OSError:
            pass
    try:
        threading.Thread(target=time.sleep, args=(20,)).start()
    except RuntimeError:
        return children
""",
        processes=8,
    )
    assert 6 <= bomb.value <= 8
    assert bomb.after == bomb.before


def test_memory_of_one_process(attack: Attack):
    greedy = "def attack():\n    return len(bytearray(100 << 20))"
    assert attack(greedy, memory_bytes=64 << 20).execution.ended == "memory"
    assert attack(greedy, memory_bytes=160 << 20).value == 100 << 20


def test_memory_of_many_processes(attack: Attack):
    greedy = """
import mmap, os, time
def attack():
    for _ in range(6):
        if os.fork() == 0:
            held = mmap.mmap(-1, 24 << 20, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
            for place in range(0, len(held), 4096):
                held[place] = 1
            time.sleep(20)
    time.sleep(20)
"""
    many = attack(greedy, memory_bytes=64 << 20, wall_seconds=8)
    assert many.execution.ended == "memory"
    assert many.after == many.before


def test_memory_that_no_process_maps(attack: Attack):
    """Shared pages are filled and given back, piece by piece: no process maps them, and they stay."""
    greedy = """
import mmap, os
PIECE, PIECES = 10 << 20, 28
def share(kind):
    if kind == "zeros":
        return mmap.mmap(os.open("/dev/zero", os.O_RDWR), PIECE * PIECES)
    flags = {"shared": mmap.MAP_SHARED, "validated": 3}[kind]
    return mmap.mmap(-1, PIECE * PIECES, flags | mmap.MAP_ANONYMOUS)
def fill(kind):
    try:
        held = share(kind)
    except PermissionError:
        return 13
    for start in range(0, PIECE * PIECES, PIECE):
        for place in range(start, start + PIECE, 4096):
            held[place] = 1
        held.madvise(mmap.MADV_DONTNEED, start, PIECE)
    return 0
def attack(kind):
    children = []
    for _ in range(4):
        children.append(os.fork())
        if children[-1] == 0:
            os._exit(fill(kind))
    return [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
"""
    for kind in ("shared", "validated", "zeros"):
        assert attack(greedy, kind, wall_seconds=60).value == [13] * 4, kind
    permitted = """
import mmap, os
def attack():
    private = mmap.mmap(-1, 1 << 20, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    private[0] = 5
    with open("file", "w+b") as file:
        file.truncate(1 << 20)
        shared = mmap.mmap(file.fileno(), 0)
    if os.fork() == 0:
        shared[0] = 6
        os._exit(0)
    os.wait()
    return [private[0], shared[0]]
"""
    assert attack(permitted).value == [5, 6]


def test_running_forever(attack: Attack):
    busy = "import os\ndef attack():\n    os.fork(); os.fork()\n    while True: pass"
    sleepy = """
import os, signal, time
def attack():
    for number in range(1, 32):
        try:
            signal.signal(number, signal.SIG_IGN)
        except (OSError, ValueError):
            pass
    os.closerange(0, 64)
    time.sleep(1000)
"""
    worked = attack(busy, cpu_seconds=0.4)
    assert worked.execution.ended == "timeout"
    assert worked.execution.cpu_seconds < 2
    slept = attack(sleepy, wall_seconds=0.3)
    assert slept.execution.ended == "timeout"
    assert slept.execution.wall_seconds < 3
    assert (worked.after, slept.after) == (worked.before, slept.before)


def test_memory_behind_an_ended_thread(attack: Attack):
    """A process whose main thread has ended has no memory of its own name in /proc."""
    greedy = """
import ctypes, mmap, os, threading, time
def hold():
    held = mmap.mmap(-1, 30 << 20, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    for place in range(0, len(held), 4096):
        held[place] = 1
    time.sleep(60)
def attack():
    for _ in range(3):
        if os.fork() == 0:
            threading.Thread(target=hold).start()
            ctypes.CDLL(None).syscall(60 if os.uname().machine == "x86_64" else 93, 0)  # exit, of this thread alone
    time.sleep(60)
"""
    many = attack(greedy, memory_bytes=64 << 20, wall_seconds=30)
    assert many.execution.ended == "memory"
    assert many.after == many.before


def test_cpu_time_of_children(attack: Attack):
    """However children end, their time is stated: 6 of them that work for 0.05 s make at least 0.3 s."""
    source = """
import ctypes, os, signal, time
def burn(seconds):
    until = time.process_time() + seconds
    while time.process_time() < until:
        pass
def attack(kind, count, seconds):
    if kind == "ignored":
        try:
            signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        except OSError:
            pass
        action = (ctypes.c_uint64 * 19)(1, 0, 2)  # of the C library: the handler, the mask, SA_NOCLDWAIT
        ctypes.CDLL(None).sigaction(17, action, None)
    ready, done = os.pipe()
    for _ in range(count):
        child = os.fork()
        if child == 0:
            if kind == "orphans" and os.fork() != 0:
                os._exit(0)
            burn(seconds)
            os.write(done, b"x")
            if kind == "left":
                time.sleep(60)
            os._exit(0)
        if kind != "left":
            try:
                os.waitpid(child, 0)
            except ChildProcessError:
                pass
        os.read(ready, 1)
    return "done"
"""
    for kind in ("waited for", "ignored", "orphans", "left"):
        worked = attack(source, kind, 6, 0.05, wall_seconds=60)
        assert worked.value == "done"
        assert worked.execution.cpu_seconds >= 0.29, kind
    for kind in ("ignored", "orphans"):
        stopped = attack(source, kind, 100, 0.05, cpu_seconds=0.5, wall_seconds=60)
        assert stopped.execution.ended == "timeout"
        assert 0.5 <= stopped.execution.cpu_seconds < 2


def test_flooding_the_output(attack: Attack):
    endless = "import os\ndef attack(stream):\n    while True: os.write(stream, b'x' * 65536)"
    for stream, wanted in ((1, "stdout"), (2, "stderr"), (3, "results")):
        flooded = attack(endless, stream, output_bytes=1000).execution
        assert flooded.ended == "output"
        assert len(flooded.stdout) == (1000 if wanted == "stdout" else 0)
        assert len(flooded.stderr) == (1000 if wanted == "stderr" else 0)
    assert attack("def attack():\n    return 'x' * (2 << 20)").execution.ended == "output"


def test_filling_the_disk(attack: Attack):
    one, all_ = attack(
        """
def write(name):
    done = 0
    try:
        with open(name, "wb", 0) as file:
            while True:
                done += file.write(b"x" * 65536)
    except OSError as error:
        return done, error.errno
def attack():
    sizes = [write(str(number))[0] for number in range(12)]
    return [max(sizes), sum(sizes)]
""",
        file_bytes=1 << 20,
    ).value
    assert one == 1 << 20
    assert 3 << 20 < all_ <= 4 << 20


def test_leaving_processes_behind(attack: Attack):
    left = attack("""
import os, time
def attack():
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            os.closerange(0, 64)
            time.sleep(1000)
        os._exit(0)
    os.wait()
    return len([pid for pid in os.listdir("/proc") if pid.isdigit()])
""")
    assert left.value >= 3
    assert left.after == left.before


def test_mounting_file_systems(attack: Attack):
    source = f"""{LIBC}
def attack():
    tries = [
        lambda: libc.mount(b"tmpfs", b"/tmp", b"tmpfs", 0, None),
        lambda: libc.mount(b"/usr", b"/tmp", None, 4096, None),
        lambda: libc.mount(None, b"/", None, 32 | 4096, None),
        lambda: libc.umount2(b"/proc", 2),
        lambda: libc.chroot(b"/tmp"),
        lambda: libc.syscall({denied_calls("x86_64")["pivot_root"]}, b"/tmp", b"/tmp"),
    ]
    return [(attempt(), errno.errorcode[ctypes.get_errno()]) for attempt in tries]
"""
    assert attack(source).value == [[-1, "EPERM"]] * 6


def test_making_namespaces(attack: Attack):
    source = f"""{LIBC}
def attack():
    flags = [0x20000, 0x2000000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000]
    made = [flag for flag in flags if libc.unshare(flag) == 0 or libc.syscall(56, flag | 17, 0, 0, 0, 0) != -1]
    clone3 = (libc.syscall(435, ctypes.create_string_buffer(88), 88), errno.errorcode[ctypes.get_errno()])
    joined = libc.setns(os.open("/proc/self/ns/user", os.O_RDONLY), 0)
    return [made, clone3, joined]
"""
    assert attack(source).value == [[], [-1, "ENOSYS"], -1]


def test_gaining_rights(attack: Attack):
    source = f"""{LIBC}
def attack():
    status = dict(line.split(":", 1) for line in open("/proc/self/status"))
    rights = [status[name].strip() for name in ("CapInh", "CapPrm", "CapEff", "CapAmb", "NoNewPrivs", "Seccomp")]
    for change in (os.setuid, os.setgid, lambda number: os.setgroups([number]), os.seteuid):
        try:
            change(0)
            rights.append("changed")
        except OSError:
            pass
    open("/tmp/tool", "w").close()
    os.chmod("/tmp/tool", 0o6777)
    return [rights, os.getuid() == 0, os.path.exists("/usr/bin/su")]
"""
    nothing = "0" * 16
    assert attack(source).value == [[*[nothing] * 4, "1", "2"], False, False]


def test_running_other_programs(attack: Attack):
    started, failed, programs = attack("""
import os, subprocess, sys
def attack():
    started, programs = [], []
    for folder, folders, names in os.walk("/"):
        folders[:] = [name for name in folders if os.path.join(folder, name) not in ("/proc", "/dev")]
        for path in (os.path.join(folder, name) for name in names):
            if os.access(path, os.X_OK):
                programs.append(os.path.basename(path))
                try:
                    os.posix_spawn(path, [path], {})
                    started.append(path)
                except PermissionError:
                    pass
    try:
        subprocess.run([sys.executable, "-c", "1"])
        started.append("interpreter")
    except PermissionError as error:
        return [started, error.errno, sorted(programs)]
""").value
    assert (started, failed) == ([], 1)
    assert [name for name in programs if not name.startswith("ld-")] == ["python3"]


def test_locking_files_of_the_machine(attack: Attack):
    source = f"""{LIBC}
import fcntl
def attack():
    tries = [lambda: libc.inotify_init1(0), lambda: libc.inotify_init()]
    for name in ("/usr/share/zoneinfo/UTC", "/dev/null", "/python/bin/python3"):
        file = os.open(name, os.O_RDONLY)
        tries += [lambda f=file: libc.flock(f, 2), lambda f=file: libc.fcntl(f, fcntl.F_SETLEASE, 1), lambda f=file: libc.fcntl(f, fcntl.F_NOTIFY, 1)]
    roots = {{line.split()[3] for line in open("/proc/self/mountinfo")}}
    return [{{(attempt(), errno.errorcode[ctypes.get_errno()]) for attempt in tries}} == {{(-1, "EPERM")}}, sorted(roots)]
"""
    denied, roots = attack(source).value
    assert denied
    # Of the machine's file systems, time zones and a few devices are seen.
    devices = {f"/{name}" for name in ("null", "zero", "full", "random", "urandom", "tty")}
    assert set(roots) <= {"/", "/newroot", "/usr/share/zoneinfo", *devices}


def test_dumping_memory(attack: Attack):
    source = f"""{LIBC}
def attack():
    child = os.fork()
    if child == 0:
        os._exit(libc.prctl(3, 0, 0, 0, 0))
    of_child = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return [libc.prctl(3, 0, 0, 0, 0), of_child, libc.prctl(4, 1, 0, 0, 0), errno.errorcode[ctypes.get_errno()]]
"""
    assert attack(source).value == [0, 0, -1, "EPERM"]


def test_steering_other_processes(attack: Attack):
    source = f"""{LIBC}
import signal
def attack():
    steered = []
    for pid in (1, os.getppid()):
        if pid == 0:
            continue
        if libc.ptrace(16, pid, 0, 0) != -1:
            steered.append("traced")
        try:
            open(f"/proc/{{pid}}/mem", "rb", 0).read(1)
            steered.append("read")
        except OSError:
            pass
        os.kill(pid, signal.SIGSTOP)
        os.kill(pid, signal.SIGTERM)
    try:
        os.kill(-1, signal.SIGTERM)
    except OSError:
        pass
    return steered
"""
    assert attack(source).value == []


def test_calling_denied_system_calls(attack: Attack):
    numbers = list(denied_calls(os.uname().machine).values())
    source = f"""{LIBC}
def attack(numbers):
    permitted = [n for n in numbers if (libc.syscall(n, 0, 0, 0, 0, 0, 0), ctypes.get_errno()) != (-1, errno.EPERM)]
    typed = [libc.ioctl(0, code, b"x") for code in (0x5412, 0x541C)]
    denied = ctypes.get_errno() == errno.EPERM
    newer = libc.syscall(467, 0, 0, 0, 0, 0, 0), errno.errorcode[ctypes.get_errno()]
    return [permitted, typed, denied, newer]
"""
    assert len(numbers) > 70
    assert attack(source, numbers).value == [[], [-1, -1], True, [-1, "ENOSYS"]]
    other = "import ctypes\ndef attack():\n    return ctypes.CDLL(None).syscall(0x40000027)"
    if os.uname().machine == "x86_64":
        assert attack(other).execution.ended == "crashed"  # getpid of the x32 convention


def test_following_links_and_archives(attack: Attack):
    found = attack("""
import io, os, tarfile, zipfile
def attack():
    found = []
    for number, target in enumerate(["/etc/shadow", "/root/.ssh", "../../../../etc/passwd", "/proc/1/root/etc/shadow", "/proc/self/root/../etc/shadow"]):
        os.symlink(target, f"link{number}")
        try:
            found.append(open(f"link{number}").read())
        except OSError:
            pass
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        for name, link in (("/etc/cron", None), ("../../escaped", None), ("way", "/usr/lib"), ("way/escaped", None)):
            member = tarfile.TarInfo(name)
            if link:
                member.type, member.linkname = tarfile.SYMTYPE, link
            archive.addfile(member)
    packed.seek(0)
    with tarfile.open(fileobj=packed) as archive:
        for member in archive:
            try:
                archive.extract(member)
            except (OSError, tarfile.TarError):
                pass
    bomb = io.BytesIO()
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as archive:
        for number in range(8):
            archive.writestr(f"zeros{number}", bytes(7 << 20))
    try:
        zipfile.ZipFile(bomb).extractall("unpacked")
        found.append("unpacked 56 MiB")
    except OSError:
        pass
    return [found, [name for name in ("/etc/cron", "/escaped", "/usr/lib/escaped") if os.path.exists(name)]]
""").value
    assert found == [[], []]


@pytest.mark.parametrize("cold", [False, True], ids=["warm", "cold"])
def test_reading_the_expected_values(cold: bool):
    """A marker is found in the memory of a program to which it was sent, and not where it was only expected."""
    source = FIND_IN_MEMORY + "def solve(text, *halves):\n    return find(*halves)"
    halves = ("an-answer-that-", "the-host-knows")
    case = Case(("nothing", *halves), "".join(halves))
    task = Task("t", "f", "", "solve", {}, "", source, (case,), (case,))
    with open_or_skip(cold=cold) as sandbox:  # in this process, where the answer is known
        verdict = check(sandbox, source, task, task.hidden)
        sent = sandbox.run(Program(source, "solve", (("".join(halves), *halves),)))
    assert "returned False" in verdict.failures[0]
    assert [one.value for one in sent.results] == [True]


@pytest.mark.parametrize("cold", [False, True], ids=["warm", "cold"])
def test_reading_arguments_ahead(cold: bool):
    """In the first call, nothing of the second is in memory, nor can it be had without an answer to the first."""
    source = f"""{FIND_IN_MEMORY}
import os
def look(text, *halves):
    os.set_blocking(4, False)
    try:
        ahead = os.read(4, 1)
    except BlockingIOError:
        ahead = b""
    os.set_blocking(4, True)
    return [find(*halves), len(ahead)]
"""
    halves = ("an-argument-of-", "the-second-call")
    calls = (("nothing", *halves), ("".join(halves), *halves))
    with open_or_skip(cold=cold) as sandbox:
        execution = sandbox.run(Program(source, "look", calls))
    assert [one.value for one in execution.results] == [[False, 0], [True, 0]]


@pytest.mark.parametrize("cold", [False, True], ids=["warm", "cold"])
def test_importing_the_answer(cold: bool, tmp_path: Path):
    """The sandbox is opened by an interpreter with this package in every folder that its own may have packages in."""
    open_or_skip(cold=cold).close()
    look = """
import os, sys
def attack():
    folders = [folder for folder, names, _ in os.walk("/") if "aegir_rl" in names or folder.endswith("-packages")]
    prefix = os.path.dirname(os.path.dirname(sys.executable))
    library = os.path.dirname(os.__file__)
    sys.path += [*folders, prefix, library, f"{library}/site-packages", BASE]
    try:
        import aegir_rl.simulator.families
        folders.append("imported")
    except ImportError:
        pass
    return [folders, sorted(set(sys.modules) & {"aegir_rl", "site", "sitecustomize"})]
"""
    code = f"""
import sys
from aegir_rl.simulator.sandbox import Program, open_sandbox
assert sys.base_prefix == {str(tmp_path)!r}
with open_sandbox(cold={cold}) as sandbox:
    print(sandbox.run(Program({look.replace("BASE", repr(f"{tmp_path}/lib/site-packages"))!r}, "attack", ((),))).results[0].value)
"""
    python = build_base(tmp_path)
    source = str(Path(aegir_rl.__file__).parents[1])
    told = subprocess.run(
        [python, "-S", "-c", code],
        env={**os.environ, "PYTHONPATH": source},
        capture_output=True,
        text=True,
        check=False,
    )
    assert told.stdout == "[[], []]\n", told.stderr


def build_base(folder: Path) -> Path:
    """An installation of this interpreter, with this package beside, in and below its standard library."""
    library = folder / "lib" / Path(os.__file__).parent.name
    without = shutil.ignore_patterns("*-packages", "test", "idlelib", "config-*", "ensurepip")
    shutil.copytree(Path(os.__file__).parent, library, ignore=without)
    for shared in Path(sys.base_prefix, "lib").glob("libpython*.so*"):
        shutil.copy(shared, folder / "lib")
    for place in (folder / "lib", library):
        for packages in ("site-packages", "dist-packages", ""):
            shutil.copytree(Path(aegir_rl.__file__).parent, place / packages / "aegir_rl")
    (library / "site-packages" / "own.pth").write_text(f"{library}/site-packages\n")
    python = folder / "bin" / "python3"
    python.parent.mkdir()
    shutil.copy(interpreter(), python)
    return python


def test_forging_errors(attack: Attack):
    source = """
import json, os
class Odd(Exception):
    def __str__(self):
        return "\\x1b[31m" * 50_000
Odd.__name__ = "\\x1b]0;title\\x07"
def attack(forged):
    if not forged:
        raise Odd
    body = json.dumps({"error": "\\x1b[2J\\u202e\\ud800" * 5_000}).encode()
    os.write(3, len(body).to_bytes(4, "big") + body)
    os._exit(0)
"""
    for forged in (False, True):
        (result,) = attack(source, forged).execution.results
        assert result.error is not None
        assert result.error.startswith("\ufffd")
        assert len(result.error) <= 520
        assert result.error.isprintable()


def test_forging_results(attack: Attack):
    forge = "import os\ndef attack(text, leave=True):\n    os.write(3, text.encode('latin-1'))\n    if leave: os._exit(0)\n    return 7"
    frame = '{"value": 42}'
    whole = len(frame).to_bytes(4, "big").decode("latin-1") + frame
    assert attack(forge, whole).value == 42  # a value like any other: it is compared on the host
    deep = "[" * 100_000 + "]" * 100_000
    crashes = [
        attack(forge, "garbage" * 100).execution,
        attack(forge, "\xff\xff\xff\xff" + frame).execution,
        attack(forge, len(deep).to_bytes(4, "big").decode("latin-1") + deep).execution,
        attack(forge, whole, False).execution,  # two results for one call
        attack(forge, "\x00\x00\x00\x03NaN").execution,
        attack(forge, '\x00\x00\x00\x10{"value": 1e999}').execution,
        attack(forge, '\x00\x00\x00\x13{"value": [-1e999]}').execution,
        attack("import os\ndef attack():\n    os._exit(0)").execution,
        attack("import os\ndef attack():\n    os.kill(os.getpid(), 9)").execution,
    ]
    assert {one.ended for one in crashes} == {"crashed"}
    patched = "import sys\nmain = sys.modules['__main__']\nmain.json.dumps = lambda *a, **k: '{\"value\": [1]}'\ndef attack():\n    return 2"
    assert attack(patched).value == [1]


def test_finding_traces_of_earlier_programs(attack: Attack):
    leave = """
import builtins, os, sys, types
def attack(*halves):
    marker = "".join(halves)
    builtins.left = marker
    sys.modules["left"] = types.ModuleType(marker)
    open("/tmp/left", "w").write(marker)
    os.environ["LEFT"] = marker
    return find(*halves)
"""
    look = """
import os, sys, builtins
def attack(*halves):
    return [find(*halves), os.listdir("/tmp"), "left" in sys.modules, hasattr(builtins, "left"), "LEFT" in os.environ]
"""
    halves = ("left-by-", "an-earlier-program")
    assert attack(FIND_IN_MEMORY + leave, *halves).value is True
    assert attack(FIND_IN_MEMORY + look, *halves).value == [False, [], False, False, False]
