"""Verdicts as text: words with a symbol and a colour on a terminal, and plain words elsewhere."""

import os
import sys

import click

#: The symbol and the colour that stand for each verdict.
STYLES = {"holds": ("✓", "green"), "violated": ("✗", "red"), "unknown": ("?", "yellow")}


def shown_verdict(word, verdict=None, width=0):
    """Return a verdict as text.

    Args:
        word: The printed word.
        verdict: The verdict that the word means: `holds`, `violated` or `unknown`. By default, the word itself.
        width: The width to which the word is padded.
    """
    text = f"{word:<{width}}"
    if not _has_styles():
        return text
    symbol, colour = STYLES[verdict or word]
    return click.style(f"{symbol} {text}", fg=colour)


def _has_styles():
    """Return whether standard output is a terminal that can print the symbols, with colours not disabled."""
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb" or not sys.stdout.isatty():
        return False
    return "utf" in (sys.stdout.encoding or "").lower()
