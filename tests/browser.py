"""Fixtures: an installed Chromium for tests of pages, and pages that may ask for nothing (a plug-in of conftest.py)."""

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

NAMES = ("chromium", "chromium-browser", "google-chrome")
OPTIONS = ["--disable-background-networking", *(["--no-sandbox"] if os.geteuid() == 0 else [])]

Open = Callable[[str], "Page"]


@pytest.fixture(scope="module")
def browser() -> "Iterator[Browser]":
    """An installed Chromium, or the one that Playwright installs."""
    from playwright.sync_api import Error, sync_playwright  # most tests need none

    installed = next(filter(None, map(shutil.which, NAMES)), None)
    with sync_playwright() as playwright:
        try:
            launched = playwright.chromium.launch(executable_path=installed, args=OPTIONS)
        except Error as error:
            if installed is None and "Executable doesn't exist" in str(error):
                pytest.skip("no browser is installed; expected chromium on the path")
            raise
        yield launched
        launched.close()


@pytest.fixture
def open_page(browser: "Browser", tmp_path: Path) -> Iterator[Open]:
    """Open a page from a file; afterwards, check that it asked for nothing and that nothing went wrong in it."""
    page = browser.new_page()
    page.set_default_timeout(10_000)
    asked: list[str] = []
    wrong: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("console", lambda message: wrong.append(message.text))
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("dialog", lambda dialog: wrong.append(dialog.message))
    path = tmp_path / "page.html"

    def opened(html: str) -> "Page":
        path.write_text(html, encoding="utf-8")
        page.goto(path.as_uri())
        return page

    yield opened
    page.close()
    assert asked == [path.as_uri()]
    assert wrong == []
