"""Fixtures of the tests of pages."""

from browser import browser, open_page

__all__ = ["browser", "open_page"]
