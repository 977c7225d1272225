"""Folders of requests: used again, and never with anything of an earlier request in them."""

import asyncio
from pathlib import Path

import pytest

from aegir.service.limits import Refused
from aegir.service.request_folders import RequestFolders


def test_a_folder_is_emptied_and_used_again(tmp_path: Path):
    folders = RequestFolders(tmp_path)
    with folders.take() as first:
        (first / "a.csv").write_text("a")
    with pytest.raises(Refused), folders.take() as second:
        raise Refused(413, "too large")
    with folders.take() as third, folders.take() as beside:
        assert first == second == third != beside
        assert list(third.iterdir()) == list(beside.iterdir()) == []


def test_the_folder_of_an_abandoned_request_is_not_used_again(tmp_path: Path):
    folders = RequestFolders(tmp_path)
    with pytest.raises(asyncio.CancelledError), folders.take() as abandoned:
        raise asyncio.CancelledError
    with folders.take() as folder:
        assert folder != abandoned
        assert not abandoned.exists()


def test_a_folder_that_cannot_be_emptied_is_deleted(tmp_path: Path):
    folders = RequestFolders(tmp_path)
    with folders.take() as odd:
        (odd / "inner").mkdir()
    assert not odd.exists()
