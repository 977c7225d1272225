"""The system calls that untrusted code may not make, as a seccomp filter.

    program = build_filter("x86_64")        # bytes of `struct sock_filter`, as bwrap --seccomp and prctl take them

What the filter does, in this order
  - a call of another architecture, or of the x32 convention, ends the process;
  - calls that are newer than Linux 6.7 do not exist (ENOSYS), nor does clone3, whose flags a filter cannot see: the C library
    then uses clone;
  - the calls of denied_calls.tsv are not permitted (EPERM): mounting, namespaces, tracing other processes, keys, bpf,
    perf, io_uring, kexec, modules, clock, memory that is charged to no process, device files, other programs, …;
  - clone is not permitted with a flag that makes a namespace; socket is permitted for AF_UNIX only; of ioctl, TIOCSTI and
    TIOCLINUX, which type into a terminal, are not permitted; of fcntl, leases and notices on files; of prctl, PR_SET_DUMPABLE;
    of rt_sigaction, SIGCHLD, since the CPU time of children is lost when that is ignored; of mmap, shared memory without a file,
    whose pages stay when no process maps them any more;
  - everything else is permitted.

Numbers of calls are from the kernel's unistd.h; other constants from linux/seccomp.h, linux/filter.h and linux/audit.h.
"""

import errno
import struct
from pathlib import Path

from aegir_rl.base.errors import UsageError
from aegir_rl.base.text import read_tsv

AUDIT_ARCH = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
CALLS = {
    "x86_64": {
        "clone": 56,
        "socket": 41,
        "ioctl": 16,
        "clone3": 435,
        "fcntl": 72,
        "prctl": 157,
        "rt_sigaction": 13,
        "mmap": 9,
    },
    "aarch64": {
        "clone": 220,
        "socket": 198,
        "ioctl": 29,
        "clone3": 435,
        "fcntl": 25,
        "prctl": 167,
        "rt_sigaction": 134,
        "mmap": 222,
    },
}
X32_BIT = 0x40000000
NEWEST_CALL = 456
"""futex_requeue, of Linux 6.7; from 424 on numbers are the same on all architectures."""
NAMESPACE_FLAGS = 0x7E020000
"""CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID and NEWNET."""
AF_UNIX = 1
MAP_SHARED, MAP_ANONYMOUS = 0x01, 0x20
"""MAP_SHARED_VALIDATE has the bit of MAP_SHARED too, MAP_PRIVATE has not."""
DENIED_ARGUMENTS = {
    "ioctl": (24, (0x5412, 0x541C)),  # TIOCSTI, TIOCLINUX
    "fcntl": (24, (1024, 1026)),  # F_SETLEASE, F_NOTIFY
    "prctl": (16, (4,)),  # PR_SET_DUMPABLE
    "rt_sigaction": (16, (17,)),  # SIGCHLD
}
"""Values that an argument of a call may not have, and its offset in `struct seccomp_data`."""

LOAD, EQUAL, GREATER, AT_LEAST, ANY_BIT, RETURN = 0x20, 0x15, 0x25, 0x35, 0x45, 0x06
NUMBER, ARCHITECTURE, FIRST, FOURTH = 0, 4, 16, 40
"""Offsets in `struct seccomp_data`; of an argument, the low half on a little-endian machine."""
ALLOW, KILL = 0x7FFF0000, 0x80000000
DENY, ABSENT = 0x00050000 | errno.EPERM, 0x00050000 | errno.ENOSYS
NEXT = -1

_TABLE = Path(__file__).with_name("denied_calls.tsv")


def build_filter(machine: str) -> bytes:
    """The filter for a machine, named as by `os.uname`."""
    if machine not in AUDIT_ARCH:
        raise UsageError(
            f"the local sandbox has no system-call filter for {machine} processors; "
            f"it runs on {' and '.join(AUDIT_ARCH)}, elsewhere use --docker"
        )
    calls = CALLS[machine]
    rules = [
        (LOAD, ARCHITECTURE, NEXT, NEXT),
        (EQUAL, AUDIT_ARCH[machine], NEXT, KILL),
        (LOAD, NUMBER, NEXT, NEXT),
        (AT_LEAST, X32_BIT, KILL, NEXT),
        (GREATER, NEWEST_CALL, ABSENT, NEXT),
        (EQUAL, calls["clone3"], ABSENT, NEXT),
        *((EQUAL, number, DENY, NEXT) for number in denied_calls(machine).values()),
        *_when(calls["clone"], FIRST, (ANY_BIT, NAMESPACE_FLAGS, DENY, ALLOW)),
        *_when(calls["socket"], FIRST, (EQUAL, AF_UNIX, ALLOW, DENY)),
        *_when(
            calls["mmap"],
            FOURTH,
            (ANY_BIT, MAP_ANONYMOUS, NEXT, ALLOW),
            (ANY_BIT, MAP_SHARED, DENY, ALLOW),
        ),
    ]
    for name, (argument, values) in DENIED_ARGUMENTS.items():
        *first, last = [(EQUAL, value, DENY, NEXT) for value in values]
        rules += _when(calls[name], argument, *first, (*last[:3], ALLOW))
    return _assemble(rules)


def denied_calls(machine: str) -> dict[str, int]:
    """Names and numbers of the calls that are not permitted, whatever their arguments."""
    machines = list(AUDIT_ARCH)
    return {
        fields[0]: int(fields[1 + machines.index(machine)])
        for _, fields in read_tsv(_TABLE, "name x86_64 aarch64 reason")
        if fields[1 + machines.index(machine)]
    }


_Rule = tuple[int, int, int, int]
"""Code, operand, and where to go when it holds or does not: a verdict, or NEXT, or less by as many rules as are skipped."""


def _when(number: int, argument: int, *tests: _Rule) -> list[_Rule]:
    """Rules that test an argument of one call and end with a verdict; others pass by."""
    skip = NEXT - 1 - len(tests)
    return [(EQUAL, number, NEXT, skip), (LOAD, argument, NEXT, NEXT), *tests]


def _assemble(rules: list[_Rule]) -> bytes:
    """Machine code: the rules, then a return for each verdict, ALLOW first, which the last rule runs into."""
    verdicts = (ALLOW, DENY, ABSENT, KILL)
    code = []
    for place, (operation, operand, if_true, if_false) in enumerate(rules):
        offsets = [
            NEXT - goal if goal < 0 else len(rules) + verdicts.index(goal) - place - 1
            for goal in (if_true, if_false)
        ]
        code.append(struct.pack("=HBBI", operation, *offsets, operand))
    code += [struct.pack("=HBBI", RETURN, 0, 0, verdict) for verdict in verdicts]
    return b"".join(code)
