"""Real database servers for tests, each in a temporary folder and run by a user without privileges; skipped where there is none."""

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

POSTGRES_PROGRAMS = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: path.parts)
PASSWORD = "s3cret-of-tests"
START_SECONDS = 60


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    """The URL of a PostgreSQL server."""
    pytest.importorskip(
        "psycopg", reason="psycopg is not installed: pip install 'aegir-tables[postgres]'"
    )
    with postgres_process() as (url, _):
        yield url


@contextmanager
def postgres_process() -> Iterator[tuple[str, int]]:
    """A PostgreSQL server: its URL and the number of its main process."""
    if not POSTGRES_PROGRAMS:
        pytest.skip("no PostgreSQL in /usr/lib/postgresql: apt-get install postgresql")
    programs = POSTGRES_PROGRAMS[-1]
    with _folder("postgres") as folder:
        data, port = folder / "data", _free_port()
        _run(folder, programs / "initdb", "--auth=trust", "--username=aegir", "-N", "-D", data)
        settings = f"-p {port} -c listen_addresses=127.0.0.1 -c unix_socket_directories={folder}"
        control = [programs / "pg_ctl", "-D", data, "-w"]
        try:
            _run(folder, *control, "-l", folder / "log", "-o", settings, "start")
            main = int((data / "postmaster.pid").read_text().splitlines()[0])
            yield f"postgresql://aegir:{PASSWORD}@127.0.0.1:{port}/postgres", main
        finally:
            _run(folder, *control, "-m", "immediate", "stop", check=False)


@pytest.fixture(scope="session")
def mariadb_server() -> Iterator[str]:
    """The URL of a MariaDB server."""
    pytest.importorskip(
        "pymysql", reason="PyMySQL is not installed: pip install 'aegir-tables[mysql]'"
    )
    install, program = shutil.which("mariadb-install-db"), shutil.which("mariadbd", path=_PATH)
    if install is None or program is None:
        pytest.skip("no MariaDB here: apt-get install mariadb-server")
    with _folder("mariadb") as folder:
        port = _free_port()
        _run(
            folder,
            install,
            "--no-defaults",
            f"--datadir={folder}/data",
            "--skip-test-db",
        )
        start = folder / "start.sql"
        start.write_text(
            "CREATE DATABASE shop;\n"
            f"CREATE USER aegir@'127.0.0.1' IDENTIFIED BY '{PASSWORD}';\n"
            "GRANT ALL ON *.* TO aegir@'127.0.0.1';\n"
        )
        command = [
            *(
                program,
                "--no-defaults",
                f"--datadir={folder}/data",
                f"--port={port}",
                f"--init-file={start}",
            ),
            *(
                "--bind-address=127.0.0.1",
                f"--socket={folder}/socket",
                f"--pid-file={folder}/pid",
                "--innodb-buffer-pool-size=16M",
            ),
            "--skip-log-bin",
            "--skip-name-resolve",
        ]
        with (folder / "log").open("w") as log:
            server = subprocess.Popen(command, cwd=folder, stdout=log, stderr=log, **_identity())
        try:
            _wait_until_open(port, server)
            yield f"mysql://aegir:{PASSWORD}@127.0.0.1:{port}/shop"
        finally:
            server.kill()
            server.wait()


_PATH = f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin"


def _user() -> pwd.struct_passwd:
    return pwd.getpwnam("nobody") if os.geteuid() == 0 else pwd.getpwuid(os.geteuid())


def _identity() -> dict[str, int]:
    return {"user": _user().pw_uid, "group": _user().pw_gid} if os.geteuid() == 0 else {}


@contextmanager
def _folder(name: str) -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix=f"aegir-{name}-", dir="/tmp"))
    os.chown(folder, _user().pw_uid, _user().pw_gid)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _run(folder: Path, *command: object, check: bool = True) -> None:
    subprocess.run(
        [str(word) for word in command],
        check=check,
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        **_identity(),
    )


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def _wait_until_open(port: int, server: "subprocess.Popen[bytes]") -> None:
    end = time.monotonic() + START_SECONDS
    while server.poll() is None and time.monotonic() < end:
        with socket.socket() as door:
            if door.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    pytest.fail("the server did not start")
