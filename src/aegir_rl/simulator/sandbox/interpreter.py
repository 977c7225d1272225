"""The interpreter and the standard library as a sandbox gets them: private copies of a list of files, and nothing else.

    for each in interpreter_files():
        each.destination, each.file          # where it lies inside; an open file in memory with its content

    /python/bin/python3                      the interpreter behind this one, outside of virtual environments
    /python/lib/python311.zip                modules of the standard library, as byte code where the machine has it
    /python/lib/python3.11/lib-dynload/      its extension modules
    /lib/…                                   the loader, and the shared libraries that all of these load

A module is copied if `sys.stdlib_module_names` names it and `LEFT_OUT` does not; a name, not a folder, decides, so whatever else
lies in the folders of the interpreter (site-packages, dist-packages, .pth files, packages of the system) is not there. Which
shared libraries are needed is asked of the loader, in a process that imports the extension modules.

Copies, not mounts: a lock or a watch on them reaches no other program of the machine, and their place on it is not shown.
"""

import io
import json
import os
import struct
import subprocess
import sys
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import MAGIC_NUMBER, cache_from_source
from pathlib import Path
from typing import Any

from aegir_rl.base.errors import UsageError

TIME_ZONES = "/usr/share/zoneinfo"
HOME = "/python"
PYTHON = f"{HOME}/bin/python3"
LEFT_OUT = (
    "antigravity asynchat asyncore cgi cgitb curses distutils ensurepip ftplib idlelib imaplib lib2to3 mailbox nntplib pdb "
    "poplib pydoc pydoc_data smtpd smtplib socketserver ssl telnetlib this tkinter turtle turtledemo venv webbrowser wsgiref xmlrpc "
    "_curses _curses_panel _dbm _gdbm _ssl _tkinter nis ossaudiodev readline"
)
"""Modules of the standard library that need a terminal, a window, a network or other packages."""
NEVER_COPIED = ("test", "tests", "__pycache__", "site-packages", "dist-packages")
"""Folders inside packages of the standard library."""
LATE = (
    *("libgcc_s.so.1", "libstdc++.so.6", "libpthread.so.0"),
    *("libdl.so.2", "librt.so.1", "libutil.so.1"),
)
"""The library that threads load when they end, and those that packages may expect (manylinux)."""
UTF8_LOCALE = "/usr/lib/locale/C.utf8/LC_CTYPE"
SECONDS_TO_ASK = 60.0

_ASK = """
import ctypes, importlib, importlib.machinery, json, sys, sysconfig
sources, extensions, libraries = {}, {}, []
left_out = sys.argv[1].split()
sys.modules.update(dict.fromkeys(left_out))
for name in sorted(sys.stdlib_module_names - set(left_out)):
    spec = importlib.machinery.PathFinder.find_spec(name, sys.path)
    if spec is None or spec.origin is None:
        continue
    if isinstance(spec.loader, importlib.machinery.ExtensionFileLoader):
        try:
            importlib.import_module(name)
        except ImportError:
            continue
        extensions[name] = spec.origin
    else:
        sources[name] = spec.origin
for name in sys.argv[2:]:
    try:
        ctypes.CDLL(name)
    except OSError:
        pass
@ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_char_p * 2), ctypes.c_size_t, ctypes.c_void_p)
def note(entry, size, data):
    libraries.append((entry[0][1] or b"").decode())
    return 0
ctypes.CDLL(None).dl_iterate_phdr(note, None)
names = "%d%d" % sys.version_info[:2], "%d.%d" % sys.version_info[:2], sys.platlibdir, sysconfig._get_sysconfigdata_name()
json.dump({"sources": sources, "extensions": extensions, "libraries": libraries, "names": names}, sys.stdout)
"""


@dataclass(frozen=True, slots=True)
class InsideFile:
    """A file of the sandbox: its content, in memory of this process, and where it lies inside."""

    destination: str
    file: int


def interpreter() -> str:
    """The interpreter behind this one, outside of virtual environments."""
    return os.path.realpath(getattr(sys, "_base_executable", None) or sys.executable)


def mode_of(destination: str) -> str:
    """The permissions of a file inside: the interpreter and its loader can be executed, nothing can be written."""
    return "0555" if destination == PYTHON or _is_loader(destination) else "0444"


@lru_cache(maxsize=2)
def interpreter_files(*, with_packages: bool = False) -> tuple[InsideFile, ...]:
    """What a sandbox needs to run the interpreter, made once; with packages, also what those compiled from C++ load."""
    python = interpreter()
    parts = _ask(python, LATE if with_packages else LATE[:1])
    zip_name, version, library, settings = parts["names"]
    modules = f"{HOME}/{library}/python{version}"
    extensions = set(parts["extensions"].values())
    libraries = [
        path
        for path in parts["libraries"]
        if path not in extensions and os.path.isabs(path)  # noqa: PTH117
    ]
    (libc,) = (path for path in libraries if "libc.so" in path or "ld-musl" in path)
    # The loader looks for libraries where the C library is, wherever else they were found here.
    near_libc = os.path.dirname(libc)  # noqa: PTH120
    places = {PYTHON: python, UTF8_LOCALE: UTF8_LOCALE}
    places |= {f"{modules}/lib-dynload/{Path(path).name}": path for path in extensions}
    places |= {
        path if _is_loader(path) else f"{near_libc}/{Path(path).name}": path for path in libraries
    }
    content = {to: _loadable(Path(path)) for to, path in places.items() if os.path.exists(path)}  # noqa: PTH110
    content[f"{HOME}/{library}/python{zip_name}.zip"] = _zip(parts["sources"], settings)
    return tuple(InsideFile(to, _in_memory(content[to])) for to in sorted(content))


def _is_loader(path: str) -> bool:
    return Path(path).name.startswith("ld-")


def _ask(python: str, late: Sequence[str]) -> dict[str, Any]:
    """Where the modules of a standard library are, and the shared libraries they need."""
    command = [python, "-I", "-S", "-c", _ASK, LEFT_OUT, *late]
    try:
        done = subprocess.run(
            command, env={}, capture_output=True, timeout=SECONDS_TO_ASK, check=True
        )
        found: dict[str, Any] = json.loads(done.stdout)
    except (OSError, subprocess.SubprocessError, ValueError) as error:
        raise UsageError(
            f"the interpreter {python} does not say which files it needs ({type(error).__name__}); "
            "is it installed whole? Or use --docker"
        ) from None
    return found


def _zip(sources: dict[str, str], settings: str) -> bytes:
    """Modules and packages of the standard library as an archive that the interpreter imports from."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        # How the interpreter was built is left out, but for what zoneinfo asks of it.
        archive.writestr(f"{settings}.py", f"build_time_vars = {{'TZPATH': {TIME_ZONES!r}}}")
        for name, origin in sources.items():
            path = Path(origin)
            whole = path.parent if path.name == "__init__.py" and path.parent.name == name else path
            for file in _files_in(whole) if whole.is_dir() else (path,):
                inside = str(file.relative_to(whole.parent))
                code = _byte_code(file, whole.parent) if file.suffix == ".py" else None
                if code is None:
                    archive.writestr(inside, file.read_bytes())
                else:
                    archive.writestr(f"{inside}c", code)
    return packed.getvalue()


def _files_in(folder: Path) -> Iterator[Path]:
    for parent, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if name not in NEVER_COPIED)
        yield from (Path(parent, name) for name in sorted(names))


def _byte_code(source: Path, folder: Path) -> bytes | None:
    """The compiled module next to a source, if it belongs to it as it is now; the name of the folder is blanked."""
    try:
        code = Path(cache_from_source(str(source))).read_bytes()
        status = source.stat()
    except OSError:
        return None
    belongs = struct.pack("<4sIII", MAGIC_NUMBER, 0, int(status.st_mtime), status.st_size)
    place = os.fsencode(folder)
    return code.replace(place, b"/" * len(place)) if code[:16] == belongs else None


def _loadable(path: Path) -> bytes:
    """A file; of a 64-bit ELF file the part that is loaded, without what only debuggers read."""
    content = path.read_bytes()
    if content[:6] != b"\x7fELF\x02\x01":
        return content
    (first,) = struct.unpack_from("<Q", content, 32)
    size, count = struct.unpack_from("<HH", content, 54)
    end = first + size * count
    for number in range(count):
        offset, _, _, length = struct.unpack_from("<4Q", content, first + number * size + 8)
        end = max(end, offset + length)
    return content[:end]


def _in_memory(content: bytes) -> int:
    file = os.memfd_create("inside", os.MFD_CLOEXEC)
    with open(file, "wb", closefd=False) as out:
        out.write(content)
    return file
