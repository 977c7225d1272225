"""What the command line says on stderr: one line per sentence, whatever names stand in it."""

import re

import click

# A file may be called anything: line breaks would fake sentences, escape sequences would colour them.
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")


def tell(sentence: str) -> None:
    """Say one sentence to the person at the terminal."""
    click.echo(f"aegir: {on_one_line(sentence)}", err=True)


def on_one_line(text: str) -> str:
    """The text with control characters spelt out."""
    return _CONTROL.sub(lambda match: repr(match[0])[1:-1], text)
