"""The system calls that untrusted code may not make, as a seccomp filter.

    program = build_filter("x86_64")        # bytes of `struct sock_filter`, as bwrap --seccomp and prctl take them

What the filter does, in this order
  - a call of another architecture, or of the x32 convention, ends the process;
  - calls that are newer than Linux 6.7 do not exist (ENOSYS), nor does clone3, whose flags a filter cannot see: the C library
    then uses clone;
  - the calls of denied_calls.tsv are not permitted (EPERM): mounting, namespaces, tracing other processes, keys, bpf,
    perf, io_uring, kexec, modules, clock, memory that is charged to no process, device files, …;
  - clone is not permitted with a flag that makes a namespace; socket is permitted for AF_UNIX only; of ioctl, TIOCSTI and
    TIOCLINUX, which type into a terminal, are not permitted;
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
    "x86_64": {"clone": 56, "socket": 41, "ioctl": 16, "clone3": 435},
    "aarch64": {"clone": 220, "socket": 198, "ioctl": 29, "clone3": 435},
}
X32_BIT = 0x40000000
NEWEST_CALL = 456
"""futex_requeue, of Linux 6.7; from 424 on numbers are the same on all architectures."""
NAMESPACE_FLAGS = 0x7E020000
"""CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID and NEWNET."""
AF_UNIX = 1
TIOCSTI, TIOCLINUX = 0x5412, 0x541C

LOAD, EQUAL, GREATER, AT_LEAST, ANY_BIT, RETURN = 0x20, 0x15, 0x25, 0x35, 0x45, 0x06
NUMBER, ARCHITECTURE, FIRST, SECOND = 0, 4, 16, 24
"""Offsets in `struct seccomp_data`; of arguments, the low half on a little-endian machine."""
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
        *_when(calls["clone"], (ANY_BIT, NAMESPACE_FLAGS, DENY, ALLOW), FIRST),
        *_when(calls["socket"], (EQUAL, AF_UNIX, ALLOW, DENY), FIRST),
        *_when(calls["ioctl"], (EQUAL, TIOCSTI, DENY, NEXT), SECOND),
        (EQUAL, TIOCLINUX, DENY, NEXT),
    ]
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
"""Code, operand, and where to go when it holds or does not: a verdict, or the next rule."""
_SKIP_TWO = -2


def _when(number: int, test: _Rule, argument: int) -> list[_Rule]:
    """Rules that test an argument of one call; others pass by."""
    return [(EQUAL, number, NEXT, _SKIP_TWO), (LOAD, argument, NEXT, NEXT), test]


def _assemble(rules: list[_Rule]) -> bytes:
    """Machine code: the rules, then a return for each verdict, ALLOW first, which the last rule runs into."""
    verdicts = (ALLOW, DENY, ABSENT, KILL)
    code = []
    for place, (operation, operand, if_true, if_false) in enumerate(rules):
        offsets = [
            {NEXT: 0, _SKIP_TWO: 2}[goal]
            if goal < 0
            else len(rules) + verdicts.index(goal) - place - 1
            for goal in (if_true, if_false)
        ]
        code.append(struct.pack("=HBBI", operation, *offsets, operand))
    code += [struct.pack("=HBBI", RETURN, 0, 0, verdict) for verdict in verdicts]
    return b"".join(code)
