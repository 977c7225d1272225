import io
from typing import Any
from unittest.mock import patch

import pytest

from aegir.cli.progress import ProgressLine
from aegir.cli.terminal import BAR_CELLS, Bar, track


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True

    def last_line(self) -> str:
        """What stands on the line after all that was written over it."""
        return self.getvalue().rsplit("\r", 1)[-1].removesuffix("\x1b[K")


def terminal() -> Any:
    """For `with`: what is written to stderr goes to a terminal."""
    return patch("sys.stderr", Terminal())


def test_a_bar_shows_how_much_is_done_on_one_line():
    with terminal() as shown:
        Bar("reading").draw(40, 40, "x\x1b[31m\n")
    assert "#" * BAR_CELLS in shown.last_line()
    assert shown.last_line().endswith("40/40  x\\x1b[31m\\n")


def test_a_bar_is_no_wider_than_the_terminal(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("COLUMNS", "30")
    with terminal() as shown:
        Bar("reading").draw(1, 1, "a long description of it all")
    assert len(shown.last_line()) == 29


def test_items_pass_through_a_bar_that_is_removed():
    with terminal() as shown:
        assert list(track(range(30), "reading")) == list(range(30))
    assert "0/30" in shown.getvalue()
    assert shown.last_line() == ""


def test_a_bar_is_removed_after_an_error():
    def read() -> None:
        for item in track(range(30), "reading"):
            assert item < 3, "stop"

    with terminal() as shown, pytest.raises(AssertionError, match="stop"):
        read()
    assert "0/30" in shown.getvalue()
    assert shown.last_line() == ""


def test_few_items_and_other_streams_have_no_bar():
    with terminal() as shown:
        assert list(track([1, 2], "reading")) == [1, 2]
    assert shown.getvalue() == ""
    with patch("sys.stderr", io.StringIO()) as stream:
        assert list(track(range(30), "reading")) == list(range(30))
    assert stream.getvalue() == ""


def test_a_line_of_progress_replaces_the_bar_for_a_moment():
    with terminal() as shown:
        line = ProgressLine("masking", 2)
        line.show(1, "books.csv")
        line.say("a note\x07")
        line.show(2, "films.csv")
        assert shown.last_line().startswith("masking  [")
        line.close()
    assert "a note\\x07\n" in shown.getvalue()
    assert shown.last_line() == ""
