"""Verdicts have symbols and colours on a terminal, and are plain words elsewhere."""

import os
import pty
import subprocess
import sys
from contextlib import closing, suppress
from types import SimpleNamespace

import click
import pytest

from ccmatic.answers import reports
from ccmatic.base import markup
from support import ROOT
from support.cli import run

DRAIN = ROOT / "results/gallery/late_drain.json"


@pytest.fixture
def terminal(monkeypatch):
    """Standard output as of a terminal, whatever the tests run in."""
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    stream = SimpleNamespace(isatty=lambda: True, encoding="utf-8")
    monkeypatch.setattr(markup, "sys", SimpleNamespace(stdout=stream))
    return stream


@pytest.mark.parametrize("word, symbol, colour", [("holds", "✓", 32), ("violated", "✗", 31), ("unknown", "?", 33)])
def test_on_a_terminal(terminal, word, symbol, colour):
    assert markup.shown_verdict(word, width=9) == f"\033[{colour}m{symbol} {word:<9}\033[0m"
    assert markup.shown_verdict("another word", word) == f"\033[{colour}m{symbol} another word\033[0m"


@pytest.mark.parametrize("setting", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_people_who_want_no_colours_see_plain_words(terminal, setting, monkeypatch):
    monkeypatch.setenv(*next(iter(setting.items())))
    assert markup.shown_verdict("holds", width=9) == "holds    "


def test_a_terminal_without_the_symbols_shows_plain_words(terminal):
    terminal.encoding = "iso8859-1"
    assert markup.shown_verdict("violated") == "violated"


def test_a_pipe_shows_plain_words():
    _, out, _ = run("replay", DRAIN)
    assert out == click.unstyle(out) and "passes, " in out and "✓" not in out


def test_a_colour_takes_no_room_on_a_screen(terminal):
    text = markup.shown_verdict("violated")
    assert reports.on_a_screen(text.ljust(80 + len(text)), "One.\nTwo.").endswith("Two.")
    assert reports._rows([click.style("x" * 80, fg="red")]) == 1


def test_a_command_in_a_terminal():
    """On a real terminal, the output contains colour codes."""
    code = "import sys; from ccmatic.base import shown_verdict; import click; click.echo(shown_verdict('holds'))"
    environment = {**os.environ, "TERM": "xterm", "PYTHONIOENCODING": "utf-8"}
    environment.pop("NO_COLOR", None)
    ours, theirs = pty.openpty()
    with closing(os.fdopen(ours, "rb", buffering=0)) as screen:
        subprocess.run([sys.executable, "-c", code], stdout=theirs, env=environment, check=True)
        os.close(theirs)
        shown = b""
        with suppress(OSError):  # as a terminal ends
            while part := screen.read(1000):
                shown += part
    assert shown.decode().strip() == "\033[32m✓ holds\033[0m"
