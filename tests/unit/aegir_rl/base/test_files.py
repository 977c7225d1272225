"""Files are replaced whole or not at all, with the attributes they had."""

import os
import signal
import subprocess
import sys
from pathlib import Path
from unittest.mock import patch

import pytest

from aegir_rl.base.errors import UsageError
from aegir_rl.base.files import replace_file, replacing, utf8_path


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_new_file_gets_the_mode_that_open_would_give(tmp_path: Path):
    old_umask = os.umask(0o027)
    try:
        replace_file(tmp_path / "new", b"x")
    finally:
        os.umask(old_umask)
    assert (tmp_path / "new").stat().st_mode & 0o777 == 0o640


def test_the_mode_of_the_old_file_is_kept(tmp_path: Path):
    path = tmp_path / "old"
    path.write_bytes(b"old")
    path.chmod(0o604)
    replace_file(path, b"new")
    assert path.read_bytes() == b"new"
    assert path.stat().st_mode & 0o777 == 0o604


@pytest.mark.skipif(not hasattr(os, "setxattr"), reason="no extended attributes here")
def test_extended_attributes_of_the_old_file_are_kept(tmp_path: Path):
    path = tmp_path / "old"
    path.write_bytes(b"old")
    try:
        os.setxattr(path, "user.origin", b"sensor 7")
    except OSError:
        pytest.skip("this file system has no extended attributes")
    replace_file(path, b"new")
    assert os.getxattr(path, "user.origin") == b"sensor 7"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may give files away")
def test_the_owner_of_the_old_file_is_kept(tmp_path: Path):
    path = tmp_path / "old"
    path.write_bytes(b"old")
    os.chown(path, 12345, 54321)
    replace_file(path, b"new")
    assert (path.stat().st_uid, path.stat().st_gid) == (12345, 54321)


def test_an_owner_that_may_not_be_set_is_no_reason_to_fail(tmp_path: Path):
    path = tmp_path / "old"
    path.write_bytes(b"old")
    with patch(
        "aegir_rl.base.files.os.chown", side_effect=PermissionError(1, "Operation not permitted")
    ):
        replace_file(path, b"new")
    assert path.read_bytes() == b"new"


def test_a_link_stays_a_link_and_its_file_is_replaced_whole(tmp_path: Path):
    link, target = tmp_path / "link", tmp_path / "target"
    target.write_bytes(b"old")
    link.symlink_to(target)
    with pytest.raises(TypeError), replacing(link) as new:
        new.write("not bytes")
    assert target.read_bytes() == b"old"
    replace_file(link, b"new")
    assert link.is_symlink()
    assert target.read_bytes() == b"new"
    assert names(tmp_path) == ["link", "target"]


def test_a_link_to_itself_is_refused_and_stays(tmp_path: Path):
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    with pytest.raises(UsageError, match="loop cannot be written"):
        replace_file(loop, b"x")
    assert loop.is_symlink()


def test_a_device_is_written_to(tmp_path: Path):
    replace_file(Path("/dev/null"), b"x")
    assert Path("/dev/null").is_char_device()


def test_a_file_that_may_not_be_written_is_not_replaced(tmp_path: Path):
    path = tmp_path / "old"
    path.write_bytes(b"old")
    with (
        patch("aegir_rl.base.files.os.access", return_value=False),
        pytest.raises(UsageError, match=r"old cannot be written \(Permission denied\); what was"),
    ):
        replace_file(path, b"new")
    assert path.read_bytes() == b"old"
    assert names(tmp_path) == ["old"]


def test_an_error_of_the_caller_is_not_blamed_on_the_file(tmp_path: Path):
    with pytest.raises(OSError, match="cannot read the source"), replacing(tmp_path / "x"):
        raise OSError("cannot read the source")
    assert names(tmp_path) == []


def start_writing(path: Path) -> subprocess.Popen[str]:
    """A process that is in the middle of replacing a file."""
    code = (
        "import sys, time\nfrom pathlib import Path\nfrom aegir_rl.base.files import replacing\n"
        "with replacing(Path(sys.argv[1])) as new:\n"
        "    new.write(b'half'); print('written', flush=True); time.sleep(60)"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code, str(path)], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "written\n"
    return process


def test_what_a_killed_process_left_is_removed_and_what_a_living_one_writes_is_not(tmp_path: Path):
    killed, living = start_writing(tmp_path / "a"), start_writing(tmp_path / "b")
    (tmp_path / ".aegir-of-the-user.partial").touch()
    with killed, living:
        killed.send_signal(signal.SIGKILL)
        killed.wait(timeout=10)
        assert len(names(tmp_path)) == 3
        replace_file(tmp_path / "c", b"x")
        assert len(names(tmp_path)) == 3  # that of the living process, that of the user, and c
        assert {".aegir-of-the-user.partial", "c"} < set(names(tmp_path))
        living.kill()


def test_a_path_that_is_no_utf8_gets_a_link_that_is(tmp_path: Path):
    path = tmp_path / "caf\udce9.db"
    path.write_bytes(b"content")
    Path(f"{path}-wal").write_bytes(b"log")
    with utf8_path(path) as plain:
        assert str(plain).isascii()
        assert plain.read_bytes() == b"content"
        assert Path(f"{plain}-wal").read_bytes() == b"log"
    assert not plain.parent.exists()
    with utf8_path(tmp_path / "café") as plain:
        assert plain == tmp_path / "café"


def test_what_was_written_so_far_is_kept_whole_under_a_name_that_is_free(tmp_path: Path):
    (tmp_path / "x").write_bytes(b"old")
    for content, name in ((b"first", "x.interrupted"), (b"second", "x.interrupted-2")):
        with replacing(tmp_path / "x") as new:
            new.write(content)
            with (
                patch("aegir_rl.base.files.os.write", interrupted_write),
                pytest.raises(KeyboardInterrupt),
            ):
                new.write(b"cut off")
            assert new.keep() == tmp_path / name
        assert (tmp_path / name).read_bytes() == content
    assert (tmp_path / "x").read_bytes() == b"old"
    assert names(tmp_path) == ["x", "x.interrupted", "x.interrupted-2"]


def interrupted_write(handle: int, content: bytes) -> int:
    os.pwrite(handle, content[:3], os.lseek(handle, 0, os.SEEK_CUR))
    raise KeyboardInterrupt
